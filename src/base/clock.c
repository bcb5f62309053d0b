/* Time and memory use, by clock_gettime and getrusage. */
#include "base/clock.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

double clock_peak_rss_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

bool clock_reset_peak_rss(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w"); /* Linux only; see proc(5) */
    if (!file)
        return false;
    bool written = fputs("5", file) >= 0;
    return fclose(file) == 0 && written;
}
