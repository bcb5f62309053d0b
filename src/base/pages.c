/* Medium blocks (0.1 to 2 MB) that share huge pages. With pages of 4 KB a model on a small graph
 * spends a tenth to a fifth of its time in page lookups; a huge page for each block would multiply
 * its memory. */

/* Regions of two huge pages are cut into spans, first fit. Free neighbours merge. One empty region
 * is kept, because mapping and clearing its pages takes longer than a question about one node; a
 * second one is unmapped. */
#include "base/pages.h"

#include "base/os.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SMALL_PAGE = 4096, REGION = 2 * HUGE_PAGE };

/* A stretch of a region, in address order. */
struct span {
    size_t from, bytes;
    bool taken;
    struct span *next;
};

struct region {
    char *memory;
    struct span *first;
    struct region *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static struct region *empty; /* the one that is kept, or NULL */

void pages_wish(void *block, size_t bytes)
{
    os_want_huge_pages(block, bytes / HUGE_PAGE * HUGE_PAGE);
}

static struct span *span_new(size_t from, size_t bytes, struct span *next)
{
    struct span *s = malloc(sizeof *s);
    if (s)
        *s = (struct span){.from = from, .bytes = bytes, .next = next};
    return s;
}

/* Maps address space aligned to a huge page; NULL on failure. */
static char *region_map(void)
{
    char *raw =
        mmap(NULL, REGION + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    const size_t skip = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
    if (skip > 0)
        munmap(raw, skip);
    munmap(raw + skip + REGION, HUGE_PAGE - skip); /* never an empty range */
    return raw + skip;
}

/* Makes a region and puts it first; NULL on failure. */
static struct region *region_new(void)
{
    struct region *r = malloc(sizeof *r);
    struct span *all = span_new(0, REGION, NULL);
    char *memory = r && all ? region_map() : NULL;
    if (!memory) {
        free(r);
        free(all);
        return NULL;
    }
    pages_wish(memory, REGION);
    *r = (struct region){memory, all, regions};
    return regions = r;
}

/* Takes the first free span of at least `bytes`, cut to size; NULL if there is none. */
static void *region_take(struct region *r, size_t bytes)
{
    for (struct span *s = r->first; s; s = s->next) {
        if (s->taken || s->bytes < bytes)
            continue;
        if (s->bytes > bytes) {
            struct span *rest = span_new(s->from + bytes, s->bytes - bytes, s->next);
            if (!rest)
                return NULL;
            s->bytes = bytes;
            s->next = rest;
        }
        s->taken = true;
        if (r == empty)
            empty = NULL;
        return r->memory + s->from;
    }
    return NULL;
}

void *pages_alloc(size_t bytes)
{
    void *block = NULL;
    bytes = (bytes + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE;
    pthread_mutex_lock(&lock);
    for (struct region *r = regions; r && !block; r = r->next)
        block = region_take(r, bytes);
    if (!block && region_new())
        block = region_take(regions, bytes);
    pthread_mutex_unlock(&lock);
    return block;
}

/* Merges s with the next span if both are free. */
static void span_join(struct span *s)
{
    struct span *next = s->next;
    if (s->taken || !next || next->taken)
        return;
    s->bytes += next->bytes;
    s->next = next->next;
    free(next);
}

static void region_give(struct region *r, size_t from)
{
    struct span *before = NULL, *s = r->first;
    while (s->from != from) {
        before = s;
        s = s->next;
    }
    s->taken = false;
    span_join(s);
    if (before)
        span_join(before);
}

bool pages_free(void *block)
{
    if ((uintptr_t)block % SMALL_PAGE != 0) /* true for almost every block from elsewhere */
        return false;
    pthread_mutex_lock(&lock);
    struct region **at = &regions;
    while (*at && (uintptr_t)block - (uintptr_t)(*at)->memory >= REGION)
        at = &(*at)->next;
    struct region *r = *at;
    if (r) {
        region_give(r, (size_t)((char *)block - r->memory));
        bool unused = !r->first->taken && !r->first->next;
        if (unused && !empty) {
            empty = r;
        } else if (unused) {
            *at = r->next;
            free(r->first);
            munmap(r->memory, REGION);
            free(r);
        }
    }
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

size_t pages_held(void)
{
    size_t held = 0;
    pthread_mutex_lock(&lock);
    for (const struct region *r = regions; r; r = r->next)
        held += REGION;
    pthread_mutex_unlock(&lock);
    return held;
}
