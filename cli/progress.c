/* The progress line: redrawn at most ten times a second, under a lock. */
#include "progress.h"

#include "base/clock.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    const char *what, *unit;
    int64_t total, done;
    double begin, drawn;
    bool shown;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static volatile sig_atomic_t interrupted;

void progress_begin(const char *what, const char *unit, int64_t total)
{
    line.what = what;
    line.unit = unit;
    line.total = total;
    line.done = 0;
    line.begin = clock_seconds();
    line.drawn = 0;
    line.shown = isatty(STDERR_FILENO);
}

static void draw(double now, const char *note)
{
    char bar[21];
    double share = line.total ? (double)line.done / (double)line.total : 0;
    double rate = (double)line.done / (now - line.begin + 1e-9);
    double left = rate > 0 ? (double)(line.total - line.done) / rate : 0;
    for (int i = 0; i < 20; i++)
        bar[i] = i < (int)(share * 20) ? '#' : '.';
    bar[20] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f%%  %.0f %s/s  %.0f s left  %s", line.what, bar,
            100 * share, rate, line.unit, left, note ? note : "");
    fflush(stderr);
    line.drawn = now;
}

void progress_add(int64_t units, const char *note)
{
    if (!line.shown)
        return;
    pthread_mutex_lock(&line.lock);
    line.done += units;
    double now = clock_seconds();
    if (now - line.drawn > 0.1)
        draw(now, note);
    pthread_mutex_unlock(&line.lock);
}

void progress_clear(void)
{
    if (line.shown)
        fputs("\r\033[K", stderr);
}

void progress_end(void)
{
    progress_clear();
    line.shown = false;
}

static void on_interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL);
}

void progress_catch_interrupt(void)
{
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
}

bool progress_stopped(void)
{
    return interrupted;
}
