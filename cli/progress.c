/* The progress line: redrawn at most ten times a second, under a lock. */
#include "progress.h"

#include "base/clock.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    const char *what, *unit;
    int64_t total, done;
    double begin, drawn;
    bool shown, quiet;
    double said; /* when the last line outside a terminal was printed */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double (*now_seconds)(void) = clock_seconds;

static volatile sig_atomic_t interrupted;

void progress_use_clock(double (*seconds)(void))
{
    now_seconds = seconds;
}

void progress_begin(const char *what, const char *unit, int64_t total)
{
    line.what = what;
    line.unit = unit;
    line.total = total;
    line.done = 0;
    line.begin = now_seconds();
    line.drawn = 0;
    line.shown = isatty(STDERR_FILENO) && !line.quiet;
    line.said = line.begin;
}

/* "12 s left", or unknown. */
static void say_left(char text[40], double took, double fraction)
{
    double seconds = fraction > 0 ? took * (1 - fraction) / fraction : 0;
    long long whole = seconds < 1e9 ? (long long)seconds : 1000000000;
    if (fraction <= 0)
        snprintf(text, 40, "time left unknown");
    else if (whole < 120)
        snprintf(text, 40, "%lld s left", whole);
    else if (whole < 7200)
        snprintf(text, 40, "%lld min left", whole / 60);
    else
        snprintf(text, 40, "%lld h %lld min left", whole / 3600, whole / 60 % 60);
}

static void draw(double now, double fraction, const char *note)
{
    char bar[21], left[40], count[64] = "";
    double took = now - line.begin + 1e-9, rate = (double)line.done / took;
    if (line.total > 0)
        snprintf(count, sizeof count, "%lld/%lld  ", (long long)line.done, (long long)line.total);
    say_left(left, took, fraction);
    for (int i = 0; i < 20; i++)
        bar[i] = i < (int)(fraction * 20) ? '#' : '.';
    bar[20] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f%%  %s%.*f %s/s  %s  %s", line.what, bar, 100 * fraction,
            count, rate < 10 ? 1 : 0, rate, line.unit, left, note ? note : "");
    fflush(stderr);
    line.drawn = now;
}

void progress_quiet(void)
{
    line.quiet = true;
}

/* Outside a terminal, one line a minute shows that it is running, and the progress. */
static void beat(double now, double fraction, const char *note)
{
    enum { EVERY = 60 };
    double took = now - line.begin;
    char left[40];
    if (line.quiet || !line.what || now - line.said < EVERY)
        return;
    say_left(left, took, fraction);
    fprintf(stderr, "%s: %.0f %% after %.0f s, %s  %s\n", line.what, 100 * fraction, took, left,
            note ? note : "");
    line.said = now;
}

void progress_fraction(int64_t units, double fraction, const char *note)
{
    pthread_mutex_lock(&line.lock);
    double now = now_seconds();
    fraction = fraction > 1 ? 1 : fraction;
    line.done += units;
    if (!line.shown)
        beat(now, fraction, note);
    else if (now - line.drawn > 0.1)
        draw(now, fraction, note);
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

static const char *volatile last_words;

static void on_interrupt(int number)
{
    const char *words = last_words;
    interrupted = 1;
    if (number == SIGTERM && words)
        (void)!write(STDERR_FILENO, words, strlen(words));
    signal(number, SIG_DFL);
}

void progress_last_words(const char *text)
{
    last_words = text;
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
