/* A team of threads. A generation counter wakes them and a counting barrier joins them. The counter
 * also says how many threads a run needs; the others continue to sleep. */

/* A waiting thread first spins, then sleeps. The spin is limited by time, not by turns, because a
 * turn costs ten times as much on some processors. The limit adapts: it halves when the partner
 * came late (another process uses its processor) and is restored when it came in time. */

/* Inside a team subnormal numbers (below 1.2e-38) are zero. The gradients of a confident model are
 * full of them, and on x86-64 an operation on one takes as long as a hundred others: a product in a
 * step of APPNP took 207 µs with them and 15 µs without. The caller's own setting is restored. */
#include "base/threads.h"

#include "base/alloc.h"
#include "base/os.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_THREADS = 1024, MOST_PATIENCE = 100000, LEAST_PATIENCE = 1000 }; /* nanoseconds */

/* A generation is the number of runs times GENERATION, plus the number of threads in the last run.
 */
enum { GENERATION = 2048 };

struct seat {
    pthread_t thread;
    pthread_cond_t wake;
    bool asleep;
};

struct team {
    int size;
    team_fn fn;
    void *arg;
    pthread_mutex_t lock;
    atomic_int patience; /* ns to spin before sleeping; 0: more threads than processors */
    bool leaving;
    _Alignas(64) atomic_ullong generation; /* increased by every team_run */
    _Alignas(64) atomic_int arrived;       /* at the current barrier */
    _Alignas(64) atomic_ullong passed;     /* barriers passed so far */
    atomic_int dozing;                     /* threads asleep at the barrier */
    pthread_cond_t opened;
    int started;
    struct seat seat[];
};

struct start {
    struct team *team;
    int id;
};

static void relax(void)
{
#if defined(__aarch64__)
    __asm__ volatile("isb");
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Makes subnormal numbers zero, as operands and as results; returns the previous setting. */
static uint64_t flush_subnormals(void)
{
#if defined(__aarch64__)
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | UINT64_C(1) << 24));
    return before;
#elif defined(__x86_64__)
    uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040);
    return before;
#else
    return 0;
#endif
}

static void restore_subnormals(uint64_t before)
{
#if defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
#elif defined(__x86_64__)
    __builtin_ia32_ldmxcsr((uint32_t)before);
#else
    (void)before;
#endif
}

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Spins until the counter differs from the value seen, while that is likely to happen soon. */
static bool spin(struct team *team, atomic_ullong *counter, unsigned long long seen)
{
    enum { TURNS = 32 }; /* between two readings of the clock */
    int patience = atomic_load_explicit(&team->patience, memory_order_relaxed);
    if (patience == 0)
        return false;
    for (int64_t begin = nanoseconds(); nanoseconds() - begin < patience;)
        for (int i = 0; i < TURNS; i++) {
            if (atomic_load_explicit(counter, memory_order_acquire) != seen) {
                int more = patience + patience / 4;
                atomic_store_explicit(&team->patience, more < MOST_PATIENCE ? more : MOST_PATIENCE,
                                      memory_order_relaxed);
                return true;
            }
            relax();
        }
    int less = patience / 2;
    atomic_store_explicit(&team->patience, less > LEAST_PATIENCE ? less : LEAST_PATIENCE,
                          memory_order_relaxed);
    return false;
}

static bool takes_part(unsigned long long generation, int id)
{
    return id < (int)(generation % GENERATION);
}

/* Waits for a generation after the one seen that needs this thread. Spins first, then sleeps. */
static unsigned long long await_generation(struct team *team, int id, unsigned long long seen)
{
    struct seat *seat = &team->seat[id];
    unsigned long long now = seen;
    if (spin(team, &team->generation, seen)) {
        now = atomic_load(&team->generation);
        if (takes_part(now, id))
            return now;
    }
    pthread_mutex_lock(&team->lock);
    seat->asleep = true;
    for (;;) {
        unsigned long long before = now;
        now = atomic_load(&team->generation);
        if (now != before && takes_part(now, id))
            break;
        pthread_cond_wait(&seat->wake, &team->lock);
    }
    seat->asleep = false;
    pthread_mutex_unlock(&team->lock);
    return now;
}

static void *thread_main(void *arg)
{
    struct start start = *(struct start *)arg;
    struct team *team = start.team;
    mem_free(arg);
    flush_subnormals();
    for (unsigned long long seen = 0;;) {
        seen = await_generation(team, start.id, seen);
        if (team->leaving)
            return NULL;
        struct worker who = {start.id, (int)(seen % GENERATION), team};
        team->fn(team->arg, who);
        team_barrier(who);
    }
}

static void begin_generation(struct team *team, int workers)
{
    pthread_mutex_lock(&team->lock);
    unsigned long long count = atomic_load(&team->generation) / GENERATION + 1;
    atomic_store(&team->generation, count * GENERATION + (unsigned long long)workers);
    for (int id = 1; id < workers; id++)
        if (team->seat[id].asleep)
            pthread_cond_signal(&team->seat[id].wake);
    pthread_mutex_unlock(&team->lock);
}

consm_status team_new(struct team **out, int size)
{
    consm_status st = CONSM_OK;
    struct team *team = NULL;
    *out = NULL;
    if (size == 0)
        size = threads_available();
    if (size < 0 || size > MAX_THREADS)
        return status_fail(CONSM_EINVAL, "%d threads: expected 1 to %d", size, MAX_THREADS);
    team = mem_zalloc(1, sizeof *team + (size_t)size * sizeof(struct seat));
    if (!team)
        return CONSM_ENOMEM;
    team->size = size;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->opened, NULL);
    for (int id = 0; id < size; id++)
        pthread_cond_init(&team->seat[id].wake, NULL);
    atomic_init(&team->patience, size <= threads_available() ? MOST_PATIENCE : 0);
    for (int id = 1; id < size; id++) {
        struct start *start;
        TRY(NEW(start, 1));
        *start = (struct start){team, id};
        if (pthread_create(&team->seat[id].thread, NULL, thread_main, start) != 0) {
            mem_free(start);
            TRY(status_fail(CONSM_ELIMIT, "the system cannot start thread %d of %d", id + 1, size));
        }
        team->started++;
    }
    *out = team;
    return CONSM_OK;
done:
    team_free(team);
    return st;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    team->leaving = true;
    begin_generation(team, team->size);
    for (int id = 1; id <= team->started; id++)
        pthread_join(team->seat[id].thread, NULL);
    for (int id = 0; id < team->size; id++)
        pthread_cond_destroy(&team->seat[id].wake);
    pthread_cond_destroy(&team->opened);
    pthread_mutex_destroy(&team->lock);
    mem_free(team);
}

int team_size(const struct team *team)
{
    return team->size;
}

void team_run(struct team *team, team_fn fn, void *arg)
{
    team_run_on(team, team->size, fn, arg);
}

void team_run_or_alone(struct team *team, team_fn fn, void *arg)
{
    if (team)
        team_run(team, fn, arg);
    else
        fn(arg, (struct worker){.size = 1});
}

void team_run_on(struct team *team, int workers, team_fn fn, void *arg)
{
    struct worker me = {0, workers < team->size ? workers : team->size, team};
    if (me.size > 1) {
        team->fn = fn;
        team->arg = arg;
        begin_generation(team, me.size);
    }
    uint64_t before = flush_subnormals();
    fn(arg, me);
    restore_subnormals(before);
    team_barrier(me);
}

/* Waits for the barrier that `before` counts. Spins first, because a kernel takes microseconds;
 * then sleeps, because others may need the processor. */
static void await_barrier(struct team *team, unsigned long long before)
{
    if (spin(team, &team->passed, before))
        return;
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->dozing, 1);
    while (atomic_load(&team->passed) == before)
        pthread_cond_wait(&team->opened, &team->lock);
    atomic_fetch_sub(&team->dozing, 1);
    pthread_mutex_unlock(&team->lock);
}

void team_barrier(struct worker who)
{
    struct team *team = who.team;
    if (who.size == 1)
        return;
    unsigned long long before = atomic_load_explicit(&team->passed, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) != who.size - 1) {
        await_barrier(team, before);
        return;
    }
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    atomic_store(&team->passed, before + 1);
    if (atomic_load(&team->dozing)) {
        pthread_mutex_lock(&team->lock);
        pthread_cond_broadcast(&team->opened);
        pthread_mutex_unlock(&team->lock);
    }
}

void team_range(struct worker who, int64_t count, int64_t grain, int64_t *from, int64_t *to)
{
    int64_t grains = (count + grain - 1) / grain;
    *from = grains * who.id / who.size * grain;
    *to = grains * (who.id + 1) / who.size * grain;
    if (*from > count)
        *from = count;
    if (*to > count)
        *to = count;
}

int threads_available(void)
{
    return os_processors();
}
