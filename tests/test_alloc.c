/* Memory: bounds that nest, blocks that grow within them, and slack that belongs to nobody. */
#include "check.h"

#include "base/alloc.h"

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
    assert_null(mem_alloc(3072, 1)); /* what the inner one spent is spent */
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

/* Growing by halves to 1 MB takes 3 MB in all, of which no more than two blocks are there. */
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
        cmocka_unit_test(overflow_is_refused)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
