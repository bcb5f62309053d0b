/* Measurements in separate processes, so that each has its own peak memory. */
#include "bench.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

consm_status bench_own_process(consm_status (*measure)(void *out, void *arg), void *out,
                               size_t bytes, void *arg, double *peak_mb)
{
    int ends[2], status = 0;
    struct rusage usage = {0};
    if (pipe(ends) != 0)
        return status_fail(CONSM_EIO, "no pipe to a child process");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        consm_status st = measure(out, arg);
        if (st < 0)
            fprintf(stderr, "consm-bench: %s\n", consm_errmsg());
        _exit(st == CONSM_OK && write(ends[1], out, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    close(ends[1]);
    bool heard = child > 0 && read(ends[0], out, bytes) == (ssize_t)bytes;
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0 || !heard)
        return status_fail(CONSM_EIO, "a measurement in a process of its own failed");
    *peak_mb = (double)usage.ru_maxrss * 1024 / 1e6;
    return CONSM_OK;
}
