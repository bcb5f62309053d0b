/* Many Sinkhorn problems on a team of threads. Threads take problems one by one, so a large one
 * does not delay the others. One thread solves each problem, so the result does not depend on the
 * team's size. */
#include "ot/sinkhorn.h"

#include "base/alloc.h"
#include <stdatomic.h>

struct batch {
    double *plans;
    struct consm_ot_result *results;
    const double *costs;
    const int64_t *start;
    int64_t count, c;
    const struct consm_ot_options *options;
    struct ot_sinkhorn_work **work; /* one per thread */
    atomic_int_fast64_t next;       /* the first problem that no thread has taken */
};

static void solve_some(void *arg, struct worker who)
{
    struct batch *batch = arg;
    int64_t i;
    while ((i = atomic_fetch_add(&batch->next, 1)) < batch->count) {
        int64_t first = batch->start[i] * batch->c, n = batch->start[i + 1] - batch->start[i];
        if (n > 0)
            ot_sinkhorn_solve(batch->work[who.id], batch->plans + first, &batch->results[i],
                              batch->costs + first, NULL, NULL, batch->c, n, batch->options);
        else
            batch->results[i] = (struct consm_ot_result){0, 0, 0, true};
    }
}

consm_status ot_sinkhorn_batch(double *plans, struct consm_ot_result *results, const double *costs,
                               const int64_t *start, int64_t count, int64_t c,
                               const struct consm_ot_options *options, struct team *team)
{
    consm_status st = CONSM_OK;
    int threads = team ? team_size(team) : 1;
    int64_t most = 1;
    struct batch batch = {plans, results, costs, start, count, c, options, NULL, 0};
    for (int64_t i = 0; i < count; i++)
        most = start[i + 1] - start[i] > most ? start[i + 1] - start[i] : most;
    TRY(ZNEW(batch.work, threads));
    for (int t = 0; t < threads; t++)
        TRY(ot_sinkhorn_work_new(&batch.work[t], c, most));
    team_run_or_alone(team, solve_some, &batch);
done:
    for (int t = 0; batch.work && t < threads; t++)
        ot_sinkhorn_work_free(batch.work[t]);
    mem_free(batch.work);
    return st;
}
