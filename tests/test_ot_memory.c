/* Memory runs out: every public transport call is repeated with its first, second, third …
 * allocation refused. Each time it fails cleanly and leaks nothing. THREADED */
#include "failing_memory.h"
#include "ot_cases.h"

static struct problem p;
static struct consm_ot_result results[4];
static float image[MOST];
static int32_t assignment[MOST];
static const int64_t starts[] = {0, 5, 5, 12, 20};
static const int32_t classes[] = {0, 1, 1, 2};

static consm_status exact(void)
{
    return consm_ot_exact(p.plan, p.dual_r, p.dual_h, results, p.cost, p.a, p.b, p.c, p.n);
}

static consm_status sinkhorn(void)
{
    struct consm_ot_options options = {.size = sizeof options};
    consm_ot_defaults(&options);
    return consm_ot_sinkhorn(p.plan, results, p.cost, p.a, p.b, p.c, p.n, &options);
}

static consm_status batch(void)
{
    struct consm_ot_options options = {.size = sizeof options};
    consm_ot_defaults(&options);
    return consm_ot_sinkhorn_batch(p.plan, results, p.cost, starts, 4, p.c, &options, 3);
}

static consm_status assign_exact(void)
{
    struct consm_ot_options options = {.size = sizeof options};
    consm_ot_defaults(&options);
    return consm_ot_assign(assignment, p.r, p.h, p.c, p.n, p.f, &options);
}

static consm_status assign_sinkhorn(void)
{
    struct consm_ot_options options = {.size = sizeof options};
    consm_ot_defaults(&options);
    options.method = CONSM_OT_SINKHORN;
    return consm_ot_assign(assignment, p.r, p.h, p.c, p.n, p.f, &options);
}

static consm_status linear(void)
{
    return consm_ot_linear(image, p.cost, p.h, p.c, p.n, p.f, CONSM_OT_SCALE_NONE);
}

static consm_status project(void)
{
    return consm_ot_project(image, NULL, p.cost, p.h, p.c, p.n, p.f);
}

static consm_status monge(void)
{
    return consm_ot_monge(image, NULL, NULL, p.cost, p.h, p.c, p.n, p.f, CONSM_OT_MEAN);
}

static consm_status kmeans(void)
{
    return consm_ot_kmeans(image, p.h, p.c, p.n, p.f, 1);
}

static consm_status barycentres(void)
{
    return consm_ot_barycentres(image, p.h, starts, classes, 4, 3, 2, p.f, 1);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    consm_status (*const calls[])(void) = {exact,  sinkhorn, batch, assign_exact, assign_sinkhorn,
                                           linear, project,  monge, kmeans,       barycentres};
    random_problem(&p, 4, 20, 3, 1);
    memory_runs_out(calls, sizeof calls / sizeof *calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
