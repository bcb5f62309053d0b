/* Memory: nested limits, blocks that grow within them, shared huge pages, and poisoned slack.
 * THREADED */
#include "check.h"

#include "base/alloc.h"
#include "base/pages.h"
#include "base/rng.h"
#include <pthread.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define POISONED(p) __asan_address_is_poisoned(p)
#endif
#elif defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISONED(p) __asan_address_is_poisoned(p)
#endif

static void bounds_nest(void **state)
{
    (void)state;
    struct mem_bound outer, inner;
    mem_bound_begin(&outer, 4096);
    mem_bound_begin(&inner, 1 << 20);
    void *small = mem_alloc(1024, 1);
    assert_non_null(small);
    assert_null(mem_alloc(8192, 1)); /* too much for the outer one */
    assert_false(mem_bound_end(&inner));
    assert_null(mem_alloc(3072, 1)); /* what the inner one used counts */
    void *more = mem_alloc(1024, 1);
    assert_non_null(more);
    mem_bound_raise(1 << 20);
    void *large = mem_alloc(100000, 1);
    assert_non_null(large);
    assert_true(mem_bound_end(&outer));
    void *unbound = mem_alloc(10 << 20, 1);
    assert_non_null(unbound);
    mem_free(small);
    mem_free(more);
    mem_free(large);
    mem_free(unbound);
}

/* Growing by halves to 1 MB takes 3 MB in all, but at most two blocks exist at a time. */
static void growing_counts_what_is_there(void **state)
{
    (void)state;
    struct mem_bound bound;
    uint8_t *block = NULL;
    size_t capacity = 0, used = 0;
    mem_bound_begin(&bound, 5 << 19);
    while (used < 1 << 20) {
        OK(GROW(block, used, capacity, 64));
        used += 64;
    }
    assert_false(mem_bound_end(&bound));
    mem_free(block);
}

static void overflow_is_refused(void **state)
{
    (void)state;
    assert_null(mem_alloc(SIZE_MAX / 2, 4));
    assert_null(mem_alloc(SIZE_MAX, 1));
    assert_non_null(strstr(consm_errmsg(), "out of memory"));
}

/* ---- huge pages that are shared ------------------------------------------ */

enum { BLOCKS = 24 };

/* Blocks come and go, each filled with its own number from end to end. */
static void *come_and_go(void *arg)
{
    unsigned char *block[BLOCKS] = {0};
    size_t bytes[BLOCKS];
    struct rng rng;
    rng_init(&rng, (uint64_t)(uintptr_t)arg, 1);
    for (int step = 0; step < 300; step++) {
        const size_t i = (size_t)rng_below(&rng, BLOCKS);
        if (block[i]) {
            assert_true(block[i][0] == i && block[i][bytes[i] / 2] == i);
            assert_int_equal(memcmp(block[i], block[i] + 1, bytes[i] - 1), 0);
            assert_true(pages_free(block[i]));
            block[i] = NULL;
        } else {
            const size_t most = step % 3 ? HUGE_PAGE / 8 : HUGE_PAGE;
            bytes[i] = PAGES_LEAST + (size_t)rng_below(&rng, most - PAGES_LEAST + 1);
            block[i] = pages_alloc(bytes[i]);
            assert_non_null(block[i]);
            assert_int_equal((uintptr_t)block[i] % 4096, 0);
            memset(block[i], (int)i, bytes[i]);
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        if (block[i])
            assert_true(pages_free(block[i]));
    return NULL;
}

/* Leaves one empty region, the one that is always kept. */
static size_t held_when_unused(void)
{
    assert_true(pages_free(pages_alloc(HUGE_PAGE)));
    return pages_held();
}

static void pages_are_shared(void **state)
{
    (void)state;
    pthread_t thread[3];
    const size_t before = held_when_unused();
    for (uintptr_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, come_and_go, (void *)(i + 1)), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(pages_held(), before);
}

/* Free memory is reused, in one piece, before a new region is mapped. One empty region is kept: a
 * block that comes and goes is not mapped each time. */
static void pages_are_used_again(void **state)
{
    (void)state;
    char *block[16], *other, stranger[64];
    const size_t before = held_when_unused();
    for (int i = 0; i < 16; i++) /* sixteen halves of a MB: two regions, one of them new */
        assert_non_null(block[i] = pages_alloc(HUGE_PAGE / 4));
    assert_int_equal(pages_held() - before, 2 * HUGE_PAGE);
    for (int i = 3; i < 7; i++) /* in an order that joins forwards and backwards */
        assert_true(pages_free(block[i == 3 ? 4 : i == 4 ? 3 : i == 5 ? 6 : 5]));
    assert_non_null(other = pages_alloc(HUGE_PAGE));
    assert_ptr_equal(other, block[3]);
    assert_int_equal(pages_held() - before, 2 * HUGE_PAGE);
    assert_false(pages_free(stranger));
    assert_true(pages_free(other));
    for (int i = 0; i < 16; i++)
        if (i < 3 || i > 6)
            assert_true(pages_free(block[i]));
    assert_int_equal(pages_held(), before);
    assert_non_null(other = pages_alloc(HUGE_PAGE));
    assert_int_equal(pages_held(), before);
    assert_true(pages_free(other));
}

#if defined(POISONED)
static void slack_is_poisoned(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < 300; bytes += 7) {
        char *block = mem_alloc(bytes, 1);
        assert_non_null(block);
        assert_false(POISONED(block) || POISONED(block + bytes - 1));
        for (size_t i = bytes; i < bytes + 64; i++)
            assert_true(POISONED(block + i));
        mem_free(block);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(POISONED)
        cmocka_unit_test(slack_is_poisoned),
#endif
        cmocka_unit_test(bounds_nest),
        cmocka_unit_test(growing_counts_what_is_there),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(pages_are_shared),
        cmocka_unit_test(pages_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
