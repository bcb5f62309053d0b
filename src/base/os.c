/* System calls of Linux, and of macOS where they differ. The macOS code was compiled but never run.
 */
#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#ifdef __APPLE__

bool os_random(void *out, size_t bytes)
{
    return getentropy(out, bytes) == 0;
}

int os_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

int os_rename(const char *from, const char *to, bool exchange)
{
    return exchange ? renamex_np(from, to, RENAME_SWAP) : rename(from, to);
}

#else

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>

#ifndef RENAME_EXCHANGE /* musl has the system call but no function for it */
#define RENAME_EXCHANGE (1u << 1)
static int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned how)
{
    return (int)syscall(SYS_renameat2, from_at, from, to_at, to, how);
}
#endif

bool os_random(void *out, size_t bytes)
{
    return getrandom(out, bytes, 0) == (ssize_t)bytes;
}

int os_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return 1;
}

int os_rename(const char *from, const char *to, bool exchange)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, exchange ? RENAME_EXCHANGE : 0);
}

#endif

void os_want_huge_pages(void *begin, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(begin, bytes, MADV_HUGEPAGE);
#else
    (void)begin;
    (void)bytes;
#endif
}
