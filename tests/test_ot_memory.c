/* Memory that runs out: every public transport call is repeated with its first, second, third …
 * allocation refused; each time it fails cleanly and leaves nothing behind. THREADED */
#include "ot_cases.h"

#include <stdatomic.h>

static struct {
    atomic_llong until_failure, blocks;
} memory;

static void *counting_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    if (atomic_fetch_sub(&memory.until_failure, 1) <= 0)
        return NULL;
    atomic_fetch_add(&memory.blocks, 1);
    return aligned_alloc(64, bytes);
}

static void counting_free(void *ctx, void *block)
{
    (void)ctx;
    atomic_fetch_sub(&memory.blocks, 1);
    free(block);
}

static const struct consm_allocator counting = {counting_alloc, counting_free, NULL};

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
    struct consm_ot_options options;
    consm_ot_defaults(&options);
    return consm_ot_sinkhorn(p.plan, results, p.cost, p.a, p.b, p.c, p.n, &options);
}

static consm_status batch(void)
{
    struct consm_ot_options options;
    consm_ot_defaults(&options);
    return consm_ot_sinkhorn_batch(p.plan, results, p.cost, starts, 4, p.c, &options, 3);
}

static consm_status assign_exact(void)
{
    struct consm_ot_options options;
    consm_ot_defaults(&options);
    return consm_ot_assign(assignment, p.r, p.h, p.c, p.n, p.f, &options);
}

static consm_status assign_sinkhorn(void)
{
    struct consm_ot_options options;
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
    consm_set_allocator(&counting);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        consm_status status = CONSM_ENOMEM;
        int refused = 0;
        for (; status != CONSM_OK && refused < 1000; refused++) {
            atomic_store(&memory.until_failure, refused);
            status = calls[i]();
            if (status != CONSM_OK && status != CONSM_ENOMEM)
                fail_msg("call %zu with allocation %d refused: status %d", i, refused, status);
            if (atomic_load(&memory.blocks) != 0)
                fail_msg("call %zu with allocation %d refused: blocks left", i, refused);
        }
        assert_true(status == CONSM_OK && refused > 1);
    }
    consm_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
