/* Finds out whether mpirun started this process, and forwards all calls to the plug-in. */
#include "backends/ranks.h"

#include "backends/plugin.h"
#include "base/alloc.h"
#include "base/threads.h"
#include "cpu/simd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ranks *joined;  /* NULL: alone */
static const struct ranks *parted;  /* ranks that work on their own */
static const struct handout *calls; /* calls between them */

/* Environment variables that Open MPI, MPICH and PMIx set. */
static bool started_by_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

consm_status ranks_begin(void)
{
    if (joined || !started_by_mpirun())
        return CONSM_OK;
    char what[64];
    consm_status st = plugin_ranks(&joined);
    if (st < 0)
        return st;
    snprintf(what, sizeof what, "%s with %s kernels", consm_version(), simd_best()->name);
    return ranks_agree_text("version", what);
}

int ranks_rank(void)
{
    return joined ? joined->rank : 0;
}

int ranks_size(void)
{
    return joined ? joined->size : 1;
}

int ranks_threads(int threads)
{
    const struct ranks *all = joined ? joined : parted;
    if (!all || threads > 0)
        return threads;
    int each = threads_available() / all->here;
    return each > 1 ? each : 1;
}

consm_status ranks_divide(struct backend **b)
{
    struct backend *inner = *b;
    if (!joined)
        return CONSM_OK;
    *b = NULL;
    return joined->divide(b, inner);
}

consm_status ranks_agree(const char *what, const void *data, size_t bytes)
{
    return joined ? joined->agree(what, data, bytes, false) : CONSM_OK;
}

consm_status ranks_agree_text(const char *what, const char *text)
{
    return joined ? joined->agree(what, text, strlen(text), true) : CONSM_OK;
}

consm_status ranks_settle(int64_t rows, const int64_t *cut)
{
    return joined ? joined->settle(rows, cut) : CONSM_OK;
}

consm_status ranks_gather(void *array, size_t bytes)
{
    return joined ? joined->gather(array, bytes) : CONSM_OK;
}

uint64_t ranks_total(uint64_t mine)
{
    return joined ? joined->total(mine) : mine;
}

consm_status ranks_want(const int32_t *row, int64_t count)
{
    return joined ? joined->want(row, count) : CONSM_OK;
}

consm_status ranks_swap(void **out, int64_t *got, const void *record, const int64_t *send,
                        size_t bytes)
{
    if (joined)
        return joined->swap(out, got, record, send, bytes);
    *out = mem_zalloc((size_t)send[1] + 1, bytes);
    if (!*out)
        return CONSM_ENOMEM;
    memcpy(got, send, 2 * sizeof *got);
    memcpy(*out, record, (size_t)send[1] * bytes);
    return CONSM_OK;
}

int64_t ranks_sent(void)
{
    return joined ? joined->sent() : 0;
}

double ranks_first(double mine)
{
    return joined ? joined->first(mine) : mine;
}

bool ranks_end(bool failed)
{
    const struct ranks *all = joined ? joined : parted;
    return all ? all->end(failed) : failed;
}

void ranks_abandon(int code)
{
    const struct ranks *all = joined ? joined : parted;
    if (all)
        all->abandon(code);
}

/* ---- handout: ranks that run what rank 0 gives them ---- */

consm_status ranks_part(void)
{
    if (!joined)
        return CONSM_OK;
    consm_status st = plugin_handout(&calls);
    if (st < 0)
        return st;
    parted = joined;
    joined = NULL;
    return CONSM_OK;
}

int ranks_worker(void)
{
    return parted ? parted->rank : 0;
}

int ranks_workers(void)
{
    return parted ? parted->size : 1;
}

consm_status ranks_compare(const char *what, const void *data, size_t bytes)
{
    return parted ? parted->agree(what, data, bytes, false) : CONSM_OK;
}

double ranks_word(double mine)
{
    return parted ? parted->first(mine) : mine;
}

consm_status ranks_ask(int64_t *answer, const char *text)
{
    return calls->ask(answer, text);
}

consm_status ranks_poll(char **text, int *from)
{
    return calls->poll(text, from);
}

void ranks_reply(int to, int64_t number)
{
    calls->reply(to, number);
}
