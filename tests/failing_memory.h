/* Simulates running out of memory: calls are repeated with their first, second, third … allocation
 * and all later ones refused. Each time the call must fail with a message and leak nothing.
 * Counters are atomic, because a call may use several threads. */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#include "check.h"

#include <stdatomic.h>

static atomic_long memory_until_failure, memory_blocks;

static void *memory_take(void *ctx, size_t bytes)
{
    (void)ctx;
    if (atomic_fetch_sub(&memory_until_failure, 1) <= 0)
        return NULL;
    atomic_fetch_add(&memory_blocks, 1);
    return aligned_alloc(64, bytes);
}

static void memory_give(void *ctx, void *block)
{
    (void)ctx;
    atomic_fetch_sub(&memory_blocks, 1);
    free(block);
}

/* Every call must succeed in the end, after at least `least` refusals. */
static inline void memory_runs_out(consm_status (*const *calls)(void), size_t count, int least)
{
    static const struct consm_allocator counting = {memory_take, memory_give, NULL};
    consm_set_allocator(&counting);
    for (size_t i = 0; i < count; i++) {
        consm_status status = CONSM_ENOMEM;
        int refused = 0;
        for (; status != CONSM_OK && refused < 2000; refused++) {
            atomic_store(&memory_until_failure, refused);
            status = calls[i]();
            if (status != CONSM_OK && status != CONSM_ENOMEM)
                fail_msg("call %zu with allocation %d refused: status %d: %s", i, refused, status,
                         consm_errmsg());
            if (atomic_load(&memory_blocks) != 0)
                fail_msg("call %zu with allocation %d refused: %ld blocks left", i, refused,
                         atomic_load(&memory_blocks));
        }
        assert_true(status == CONSM_OK && refused > least);
    }
    consm_set_allocator(NULL);
}

#endif
