/* The processes: join them, check that they have the same data and options, and end. The library's
 * only exported name is here. */
#include "mpi/inside.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct world world;
static MPI_Comm parting; /* used by world_end only: a barrier there meets no other message */

enum {
    SHOWN = 256,  /* characters of a text */
    PATIENCE = 3, /* seconds for the others to fail, too */
    NAP = 50000,  /* nanoseconds between two checks */
    YIELDS = 200, /* checks without a nap */
    NAPPING = 100 /* waits with naps only, after a yield that took long */
};

static const double LONG_YIELD = 0.001; /* seconds */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Lets other processes run. A yield returns soon if only waiting ranks run besides this one, else
 * after the others' time slices: then naps are faster, because a process that wakes up runs
 * first. */
static void let_others_run(int checks)
{
    const struct timespec nap = {.tv_nsec = NAP};
    if (checks >= YIELDS || world.napping > 0) {
        nanosleep(&nap, NULL);
        return;
    }
    double since = now();
    sched_yield();
    if (now() - since > LONG_YIELD)
        world.napping = NAPPING;
}

void wait_all(MPI_Request *request, int count)
{
    int here = 0;
    if (!world.crowded) {
        MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
        return;
    }
    for (int checks = 0; !here; checks++) {
        MPI_Testall(count, request, &here, MPI_STATUSES_IGNORE);
        if (!here)
            let_others_run(checks);
    }
    world.napping -= world.napping > 0;
}

static void broadcast(void *data, int count, MPI_Datatype type, int from)
{
    MPI_Request here;
    MPI_Ibcast(data, count, type, from, world.comm, &here);
    wait_all(&here, 1);
}

static void reduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op)
{
    MPI_Request here;
    MPI_Iallreduce(mine, all, count, type, op, world.comm, &here);
    wait_all(&here, 1);
}

/* FNV-1a over words, then bytes. */
static uint64_t hash_bytes(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = 0xcbf29ce484222325u ^ bytes, word;
    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    for (; bytes > 0; bytes--)
        hash = (hash ^ *at++) * 0x100000001b3u;
    return hash;
}

/* Whether all ranks have the same number: then its minimum is its maximum. */
static bool all_same(uint64_t mine)
{
    uint64_t ends[2] = {mine, ~mine}, least[2];
    reduce(ends, least, 2, MPI_UINT64_T, MPI_MIN);
    return least[0] == ~least[1];
}

/* The first rank whose number differs from rank 0's; 0: none. */
static int first_other(uint64_t mine)
{
    uint64_t theirs = mine;
    int me = world.ranks.rank, none = world.ranks.size, other;
    broadcast(&theirs, 1, MPI_UINT64_T, 0);
    int differs = theirs == mine ? none : me;
    reduce(&differs, &other, 1, MPI_INT, MPI_MIN);
    return other == none ? 0 : other;
}

static consm_status agree_on(const struct alike *thing)
{
    char shown[2][SHOWN] = {"", ""};
    int other = first_other(hash_bytes(thing->data, thing->bytes));
    if (other == 0)
        return CONSM_OK;
    if (!thing->text)
        return world.os->fail(CONSM_EINVAL,
                              "the ranks disagree: rank %d differs from rank 0 in its %s", other,
                              thing->what);
    for (int i = 0; i < 2; i++) {
        snprintf(shown[i], SHOWN, "%.*s", (int)(thing->bytes < SHOWN ? thing->bytes : SHOWN - 1),
                 (const char *)thing->data);
        broadcast(shown[i], SHOWN, MPI_CHAR, i ? other : 0);
    }
    return world.os->fail(CONSM_EINVAL, "the ranks disagree: rank 0 has %s %s, but rank %d has %s",
                          thing->what, shown[0], other, shown[1]);
}

/* Usually all is the same, and one message says so. Else the things are compared one by one. */
static consm_status world_agree(const struct alike *thing, int count)
{
    consm_status st = CONSM_OK;
    uint64_t hash = 0;
    for (int i = 0; i < count; i++) {
        uint64_t both[2] = {hash, hash_bytes(thing[i].data, thing[i].bytes)};
        hash = hash_bytes(both, sizeof both);
    }
    if (all_same(hash))
        return CONSM_OK;
    for (int i = 0; i < count; i++)
        TRY(agree_on(&thing[i]));
done:
    return st;
}

static double world_first(double mine)
{
    broadcast(&mine, 1, MPI_DOUBLE, 0);
    return mine;
}

static int64_t world_sent(void)
{
    int64_t all;
    reduce(&world.sent, &all, 1, MPI_INT64_T, MPI_SUM);
    return all;
}

/* A failure that all ranks share ends like that of one process. A failure of one rank would leave
 * the others waiting for ever. */
static bool world_end(bool failed)
{
    if (failed) {
        const struct timespec nap = {.tv_nsec = 10000000};
        MPI_Request all;
        int here = 0;
        MPI_Ibarrier(parting, &all);
        for (double until = now() + PATIENCE; !here && now() < until;) {
            MPI_Test(&all, &here, MPI_STATUS_IGNORE);
            if (!here)
                nanosleep(&nap, NULL);
        }
        if (!here)
            return true;
    }
    MPI_Finalize();
    return false;
}

static void world_abandon(int code)
{
    MPI_Abort(world.comm, code);
}

/* Processors that were busy with other work in the last minute. */
static double busy_before(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? (double)(int)load : 0;
}

static consm_status join(void)
{
    int provided = 0;
    MPI_Comm machine;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED)
        return world.os->fail(CONSM_EIO, "MPI does not support threads here");
    MPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &parting);
    MPI_Comm_rank(world.comm, &world.ranks.rank);
    MPI_Comm_size(world.comm, &world.ranks.size);
    MPI_Comm_split_type(world.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &world.ranks.here);
    MPI_Comm_free(&machine);
    world.crowded = busy_before() + world.ranks.here > (double)sysconf(_SC_NPROCESSORS_ONLN);
    world.count = world.os->zalloc(2 * (size_t)world.ranks.size, sizeof *world.count);
    return world.count ? CONSM_OK : CONSM_ENOMEM;
}

__attribute__((visibility("default"))) ranks_open_fn consm_ranks;

consm_status consm_ranks(const struct ranks **out, const struct plugin_services *services,
                         uint64_t layout)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    if (layout != plugin_layout())
        return services->fail(CONSM_ENOTFOUND, "libconsm_mpi.so is from another build of consm");
    world.os = services;
    world.ranks.divide = divided_open;
    world.ranks.agree = world_agree;
    world.ranks.sent = world_sent;
    world.ranks.first = world_first;
    world.ranks.end = world_end;
    world.ranks.abandon = world_abandon;
    partition_join(&world.ranks);
    TRY(join());
    *out = &world.ranks;
done:
    return st;
}
