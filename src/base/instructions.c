/* Instructions by perf_event_open(2) of Linux; elsewhere nothing is counted. */
#include "base/instructions.h"

#include <math.h>

#ifdef __linux__

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int instructions_begin(void)
{
    struct perf_event_attr what;
    memset(&what, 0, sizeof what);
    what.size = sizeof what;
    what.type = PERF_TYPE_HARDWARE;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.inherit = 1;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    what.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

double instructions_end(int counter)
{
    uint64_t value[3] = {0}; /* instructions, time since the begin, time that was counted */
    if (counter < 0)
        return (double)NAN;
    ssize_t length = read(counter, value, sizeof value);
    close(counter);
    /* A counter that others share counts a part of the time. */
    if (length != (ssize_t)sizeof value || value[2] == 0)
        return (double)NAN;
    return (double)value[0] * (double)value[1] / (double)value[2];
}

#else

int instructions_begin(void)
{
    return -1;
}

double instructions_end(int counter)
{
    (void)counter;
    return (double)NAN;
}

#endif
