/* Assigns many point sets at once; threads take them one by one. */
#include "ot/linear_ot.h"

#include "ot/cost.h"
#include <stdatomic.h>

struct job {
    int32_t *reference;
    const float *h, *r;
    int64_t n, c, f;
    const struct ot_sets *sets;
    const struct consm_ot_options *options;
    struct ot_plans *plans;
    atomic_int_fast64_t next;
};

static consm_status check_sets(const struct ot_sets *sets, int64_t n, int64_t *largest)
{
    *largest = 1;
    if (!sets->point && sets->count > 1)
        return status_fail(CONSM_EINVAL, "transport: %lld sets, but their points are NULL",
                           (long long)sets->count);
    if (sets->count < 0 || sets->start[0] != 0)
        return status_fail(CONSM_EINVAL, "transport: %lld sets start at entry %lld: expected 0",
                           (long long)sets->count, (long long)sets->start[0]);
    for (int64_t i = 0; i < sets->count; i++) {
        int64_t size = sets->start[i + 1] - sets->start[i];
        if (size < 0 || size > INT32_MAX)
            return status_fail(CONSM_EINVAL,
                               "transport: set %lld has %lld points: expected 0 or more",
                               (long long)i, (long long)size);
        *largest = size > *largest ? size : *largest;
    }
    for (int64_t e = 0; e < sets->start[sets->count]; e++) {
        int64_t point = sets->point ? sets->point[e] : e;
        if (point < 0 || point >= n)
            return status_fail(
                CONSM_EINVAL,
                "transport: entry %lld of the sets is point %lld: expected a point below %lld",
                (long long)e, (long long)point, (long long)n);
    }
    return CONSM_OK;
}

static void solve_sets(void *arg, struct worker who)
{
    struct job *job = arg;
    const struct ot_sets *sets = job->sets;
    int64_t i;
    while ((i = atomic_fetch_add(&job->next, 1)) < sets->count) {
        int64_t first = sets->start[i], size = sets->start[i + 1] - first;
        const int32_t *point = sets->point ? sets->point + first : NULL;
        ot_plans_assign(job->plans, who.id, job->reference + first, point, size);
    }
}

static consm_status solve_job(struct job *job, int64_t *unconverged, struct team *team)
{
    consm_status st = CONSM_OK;
    int threads = team ? team_size(team) : 1;
    int64_t largest;
    TRY(ot_check_sizes(job->c, job->n));
    TRY(ot_check_points(job->r, job->c, job->f, "reference"));
    TRY(ot_check_points(job->h, job->n, job->f, "point"));
    TRY(ot_check_options(job->options));
    TRY(check_sets(job->sets, job->n, &largest));
    TRY(ot_plans_new(&job->plans, job->n, job->c, largest, job->options, threads));
    ot_plans_costs(job->plans, job->h, job->r, job->f, team);
    team_run_or_alone(team, solve_sets, job);
    if (unconverged)
        *unconverged = ot_plans_unconverged(job->plans);
done:
    ot_plans_free(job->plans);
    return st;
}

consm_status ot_assign(int32_t *reference, int64_t *unconverged, const float *h, const float *r,
                       int64_t n, int64_t c, int64_t f, const struct ot_sets *sets,
                       const struct consm_ot_options *options, struct team *team)
{
    struct job job = {.reference = reference,
                      .h = h,
                      .r = r,
                      .n = n,
                      .c = c,
                      .f = f,
                      .sets = sets,
                      .options = options};
    return solve_job(&job, unconverged, team);
}
