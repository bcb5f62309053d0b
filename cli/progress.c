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
    double begin, drawn, share; /* share: of the work, or -1: units are alike */
    bool shown, quiet;
    double said; /* when the last line off a terminal was printed */
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
    line.share = -1;
    line.shown = isatty(STDERR_FILENO) && !line.quiet;
    line.said = line.begin;
}

static void say_left(char text[32], double seconds)
{
    long long whole = (long long)seconds;
    if (whole < 120)
        snprintf(text, 32, "%lld s", whole);
    else if (whole < 7200)
        snprintf(text, 32, "%lld min", whole / 60);
    else
        snprintf(text, 32, "%lld h %lld min", whole / 3600, whole / 60 % 60);
}

static void draw(double now, const char *note)
{
    char bar[21];
    double took = now - line.begin + 1e-9, rate = (double)line.done / took;
    double share = line.total ? (double)line.done / (double)line.total : 0;
    share = share > 1 ? 1 : share; /* plans are estimates */
    char left[32], count[64] = "";
    if (line.share >= 0) {
        share = line.share;
        snprintf(count, sizeof count, "%lld/%lld  ", (long long)line.done, (long long)line.total);
    }
    say_left(left, share > 0 ? took * (1 - share) / share : 0);
    for (int i = 0; i < 20; i++)
        bar[i] = i < (int)(share * 20) ? '#' : '.';
    bar[20] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f%%  %s%.*f %s/s  %s left  %s", line.what, bar,
            100 * share, count, rate < 10 ? 1 : 0, rate, line.unit, left, note ? note : "");
    fflush(stderr);
    line.drawn = now;
}

void progress_quiet(void)
{
    line.quiet = true;
}

/* Off a terminal, a line a minute: that it is alive, and how far. */
static void beat(int64_t units, double share, const char *note)
{
    enum { EVERY = 60 };
    double now = clock_seconds();
    char left[32];
    if (line.quiet || !line.what)
        return;
    pthread_mutex_lock(&line.lock);
    line.done += units;
    if (now - line.said >= EVERY) {
        double took = now - line.begin;
        share = share >= 0 ? share : line.total ? (double)line.done / (double)line.total : 0;
        share = share > 1 ? 1 : share;
        say_left(left, share > 0 ? took * (1 - share) / share : 0);
        fprintf(stderr, "%s: %.0f %% after %.0f s, %s left  %s\n", line.what, 100 * share, took,
                left, note ? note : "");
        line.said = now;
    }
    pthread_mutex_unlock(&line.lock);
}

void progress_add(int64_t units, const char *note)
{
    if (!line.shown) {
        beat(units, -1, note);
        return;
    }
    pthread_mutex_lock(&line.lock);
    line.done += units;
    double now = clock_seconds();
    if (now - line.drawn > 0.1)
        draw(now, note);
    pthread_mutex_unlock(&line.lock);
}

void progress_share(int64_t units, double share, const char *note)
{
    if (!line.shown) {
        beat(units, share, note);
        return;
    }
    pthread_mutex_lock(&line.lock);
    line.done += units;
    line.share = share;
    draw(clock_seconds(), note);
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
    line.what = NULL;
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
    signal(SIGHUP, on_interrupt);
}

bool progress_stopped(void)
{
    return interrupted;
}
