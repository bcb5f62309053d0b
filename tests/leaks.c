/* Skips LeakSanitizer's search if it is not needed. The search takes four seconds of processor time
 * at every exit on aarch64 (it visits all 2^28 regions of its allocator), but it is needed only if
 * a block is still allocated at exit. So all blocks are recorded in a set: if all were freed, the
 * search is skipped; if one is left, LeakSanitizer decides whether something still points to it. */

/*
 * Linked into what is built with AddressSanitizer: the tests and the command.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern int __sanitizer_install_malloc_and_free_hooks(void (*made)(const volatile void *, size_t),
                                                     void (*freed)(const volatile void *));
extern void __libc_freeres(void)
    __attribute__((weak)); /* glibc's own blocks: threads' stacks and so on */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

/* Addresses by open addressing, because a hook may not allocate; inverted, so that the search does
 * not find a block through this table. */
enum { SLOTS = 1 << 20 };
static uintptr_t slot[SLOTS];
static size_t held;
static bool too_many;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static uintptr_t hidden(const volatile void *block)
{
    return ~(uintptr_t)block;
}

static size_t home(uintptr_t inverted)
{
    return (size_t)((uint64_t)inverted * 0x9e3779b97f4a7c15u >> 44);
}

static void take(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void leave(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static void keep(const volatile void *block, size_t size)
{
    (void)size;
    if (!block)
        return;
    take();
    too_many |= held >= SLOTS / 2;
    if (!too_many) {
        size_t i = home(hidden(block));
        while (slot[i])
            i = (i + 1) % SLOTS;
        slot[i] = hidden(block);
        held++;
    }
    leave();
}

/* Blocks that were allocated before the set existed are not in it. */
static void forget(const volatile void *block)
{
    if (!block)
        return;
    take();
    size_t i = home(hidden(block));
    while (slot[i] && slot[i] != hidden(block))
        i = (i + 1) % SLOTS;
    if (slot[i]) {
        held--;
        slot[i] = 0;
        for (size_t k = (i + 1) % SLOTS; slot[k];
             k = (k + 1) % SLOTS) /* moves up entries that may move */
            if ((k - home(slot[k])) % SLOTS >= (k - i) % SLOTS) {
                slot[i] = slot[k];
                slot[k] = 0;
                i = k;
            }
    }
    leave();
}

__attribute__((constructor(101))) static void begin(void)
{
    if (__sanitizer_install_malloc_and_free_hooks(keep, forget) <= 0 ||
        pthread_atfork(take, leave, leave) != 0)
        abort();
    /* The stream's own buffer would be a block that is never freed. */
    static char out[4096];
    setvbuf(stdout, out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof out);
}

/* LeakSanitizer asks at exit, before it searches. */
int __lsan_is_turned_off(void)
{
    if (held > 0 && __libc_freeres) {
        fflush(NULL);
        __libc_freeres();
    }
    return held == 0 && !too_many;
}
