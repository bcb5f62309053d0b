/* The allocation hook and its counter. The default hook is aligned_alloc. Large blocks ask for huge
 * pages, because kernels that access hundreds of megabytes at random spend most of their time in
 * page lookups. Medium blocks share huge pages (pages.c), except under AddressSanitizer, which
 * watches the space between blocks. */
#include "base/alloc.h"

#include "base/pages.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON_SLACK
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISON_SLACK
#endif
#if defined(POISON_SLACK)
#include <sanitizer/asan_interface.h>
#endif

enum { ALIGNMENT = 64, SLACK = 64 };

static void *libc_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    if (bytes > HUGE_PAGE) {
        void *block;
        if (posix_memalign(&block, HUGE_PAGE, bytes) != 0)
            return NULL;
        pages_wish(block, bytes);
        return block;
    }
#if !defined(POISON_SLACK)
    if (bytes >= PAGES_LEAST)
        return pages_alloc(bytes);
#endif
    return aligned_alloc(ALIGNMENT, bytes);
}

static void libc_free(void *ctx, void *block)
{
    (void)ctx;
    if (!pages_free(block))
        free(block);
}

static const struct consm_allocator libc_allocator = {libc_alloc, libc_free, NULL};
static struct consm_allocator hook = {libc_alloc, libc_free, NULL};
static atomic_uint_fast64_t allocations;

void consm_set_allocator(const struct consm_allocator *allocator)
{
    hook = allocator && allocator->alloc && allocator->free ? *allocator : libc_allocator;
}

uint64_t consm_alloc_count(void)
{
    return atomic_load(&allocations);
}

/* A block's bytes with its slack. */
static size_t with_slack(size_t bytes)
{
    return (bytes + SLACK + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static _Thread_local struct mem_bound *bound;

void mem_bound_begin(struct mem_bound *b, size_t bytes)
{
    *b = (struct mem_bound){.left = bytes, .outer = bound};
    bound = b;
}

void mem_bound_raise(size_t bytes)
{
    if (bound && __builtin_add_overflow(bound->left, bytes, &bound->left))
        bound->left = SIZE_MAX;
}

bool mem_bound_end(struct mem_bound *b)
{
    bound = b->outer;
    return b->exceeded;
}

static bool within_bounds(size_t bytes)
{
    for (struct mem_bound *b = bound; b; b = b->outer)
        if (bytes > b->left) {
            b->exceeded = true;
            return false;
        }
    for (struct mem_bound *b = bound; b; b = b->outer)
        b->left -= bytes;
    return true;
}

void *mem_alloc(size_t count, size_t size)
{
    size_t bytes;
    void *block = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX / 2 &&
        within_bounds(with_slack(bytes))) {
        atomic_fetch_add(&allocations, 1);
        block = hook.alloc(hook.ctx, with_slack(bytes));
    }
    if (!block)
        status_fail(CONSM_ENOMEM, "out of memory: %zu elements of %zu bytes", count, size);
#if defined(POISON_SLACK)
    else if (hook.alloc == libc_alloc)
        ASAN_POISON_MEMORY_REGION((char *)block + bytes, with_slack(bytes) - bytes);
#endif
    return block;
}

void *mem_zalloc(size_t count, size_t size)
{
    void *block = mem_alloc(count, size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

/* Returns a block of new_count elements that begins with the old ones. The old block is freed on
 * success and unchanged on failure. */
static void *mem_grow(void *old, size_t old_count, size_t new_count, size_t size)
{
    void *block = mem_alloc(new_count, size);
    if (!block)
        return NULL;
    if (old)
        memcpy(block, old, (old_count < new_count ? old_count : new_count) * size);
    if (old)
        for (struct mem_bound *b = bound; b; b = b->outer)
            b->left += with_slack(old_count * size);
    mem_free(old);
    return block;
}

consm_status mem_reserve(void **block, size_t used, size_t *capacity, size_t more, size_t size)
{
    if (more <= *capacity && used <= *capacity - more)
        return CONSM_OK;
    size_t wanted = *capacity < 16 ? 16 : *capacity;
    while (wanted < used + more)
        wanted = wanted + wanted / 2;
    void *grown = mem_grow(*block, used, wanted, size);
    if (!grown)
        return CONSM_ENOMEM;
    *block = grown;
    *capacity = wanted;
    return CONSM_OK;
}

/* A page in front of the block holds the mapping's size. It uses small pages, because one written
 * row would make a whole page of 2 MB resident. */
enum { FRONT = 4096 };

void *mem_sparse_alloc(size_t count, size_t size)
{
    size_t bytes;
    char *front = MAP_FAILED;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX / 2) {
        bytes += FRONT + SLACK;
        atomic_fetch_add(&allocations, 1);
        front = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (front == MAP_FAILED) {
        status_fail(CONSM_ENOMEM, "no address space for %zu elements of %zu bytes", count, size);
        return NULL;
    }
#ifdef MADV_NOHUGEPAGE
    madvise(front, bytes, MADV_NOHUGEPAGE);
#endif
    memcpy(front, &bytes, sizeof bytes);
    return front + FRONT;
}

void mem_sparse_free(void *block)
{
    size_t bytes;
    if (!block)
        return;
    memcpy(&bytes, (char *)block - FRONT, sizeof bytes);
    munmap((char *)block - FRONT, bytes);
}

char *mem_strndup(const char *text, size_t length)
{
    char *copy = mem_alloc(length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

void mem_free(void *block)
{
    if (block)
        hook.free(hook.ctx, block);
}

void mem_free_texts(char **text, int64_t count)
{
    for (int64_t i = 0; text && i < count; i++)
        mem_free(text[i]);
    mem_free(text);
}

consm_status mem_copy_texts(char ***out, char *const *text, int64_t count)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    if (!text)
        return CONSM_OK;
    TRY(ZNEW(*out, count));
    for (int64_t i = 0; i < count; i++)
        if (!((*out)[i] = mem_strdup(text[i])))
            TRY(CONSM_ENOMEM);
done:
    if (st < 0) {
        mem_free_texts(*out, count);
        *out = NULL;
    }
    return st;
}
