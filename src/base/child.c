/* A forked process whose outcome comes back through a pipe. */
#include "base/child.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child sends before the bytes of its result. */
struct outcome {
    struct first_failure failure;
    double peak_mb;
};

static pid_t caller; /* of this process, if it is a child */

bool child_is_orphan(void)
{
    return caller > 0 && getppid() != caller;
}

static bool send_all(int to, const void *data, size_t bytes)
{
    for (size_t sent = 0; sent < bytes;) {
        ssize_t part = write(to, (const char *)data + sent, bytes - sent);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return false;
        sent += (size_t)part;
    }
    return true;
}

/* Not exit(): what waits in the caller's streams would be written twice. */
static _Noreturn void be_child(int to, void *out, size_t bytes, const struct child *c)
{
    struct outcome o = {.peak_mb = 0};
    consm_status st = c->work(out, c->arg);
    if (st < 0)
        first_failure_keep(&o.failure, st);
    o.peak_mb = clock_peak_rss_mb();
    _exit(send_all(to, &o, sizeof o) && send_all(to, out, bytes) ? 0 : 1);
}

enum { PAUSE = 100 }; /* milliseconds between two questions whether to stop */

/* CONSM_EIO: the child closed the pipe before it sent everything. */
static consm_status receive(int from, void *data, size_t bytes, const struct child *c)
{
    for (size_t got = 0; got < bytes;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if (c->stop && c->stop(c->ctx))
            return status_fail(CONSM_ECANCEL, "stopped");
        if (poll(&ready, 1, PAUSE) <= 0)
            continue;
        ssize_t part = read(from, (char *)data + got, bytes - got);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return status_fail(CONSM_EIO, "a child process ended without a result");
        got += (size_t)part;
    }
    return CONSM_OK;
}

/* Waits, so that no zombie stays. Says how a child died that sent nothing. */
static consm_status bury(pid_t child, consm_status st)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (st == CONSM_EIO && WIFSIGNALED(status))
        return status_fail(CONSM_EIO, "a child process was ended by signal %d (%s)%s",
                           WTERMSIG(status), strsignal(WTERMSIG(status)),
                           WTERMSIG(status) == SIGKILL ? ": perhaps memory ran out" : "");
    return st;
}

consm_status child_run(void *out, size_t bytes, double *peak_mb, const struct child *c)
{
    consm_status st = CONSM_OK;
    struct outcome o;
    int ends[2];
    pid_t self = getpid();
    if (pipe(ends) != 0)
        return status_fail(CONSM_EIO, "no pipe to a child process: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        caller = self;
        close(ends[0]);
        be_child(ends[1], out, bytes, c);
    }
    int fault = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return status_fail(CONSM_EIO, "no child process: %s", strerror(fault));
    }
    TRY(receive(ends[0], &o, sizeof o, c));
    TRY(receive(ends[0], out, bytes, c));
done:
    close(ends[0]);
    if (st == CONSM_ECANCEL)
        kill(child, SIGKILL);
    st = bury(child, st);
    if (st == CONSM_OK)
        st = first_failure_report(&o.failure);
    if (st == CONSM_OK && peak_mb)
        *peak_mb = o.peak_mb;
    return st;
}
