/* Finds out whether mpirun started this process, and what one process answers in the place of
 * ranks. */
#include "backends/ranks.h"

#include "backends/open.h"
#include "backends/plugin.h"
#include "base/alloc.h"
#include "base/threads.h"
#include "cpu/simd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one process --------------------------------------------------------- */

static consm_status alone_divide(struct backend **out, struct backend *inner,
                                 const struct partition *rows, const struct partition *columns)
{
    (void)rows;
    (void)columns;
    *out = inner;
    return CONSM_OK;
}

static consm_status alone_agree(const struct alike *thing, int count)
{
    (void)thing;
    (void)count;
    return CONSM_OK;
}

static int64_t alone_sent(void)
{
    return 0;
}

static double alone_first(double mine)
{
    return mine;
}

static consm_status alone_gather(const int64_t *cut, void *array, size_t bytes)
{
    (void)cut;
    (void)array;
    (void)bytes;
    return CONSM_OK;
}

static uint64_t alone_total(uint64_t mine)
{
    return mine;
}

static consm_status alone_swap(void **out, int64_t *got, const void *record, const int64_t *send,
                               size_t bytes)
{
    *out = mem_zalloc((size_t)send[1] + 1, bytes);
    if (!*out)
        return CONSM_ENOMEM;
    memcpy(got, send, 2 * sizeof *got);
    memcpy(*out, record, (size_t)send[1] * bytes);
    return CONSM_OK;
}

static bool alone_end(bool failed)
{
    (void)failed;
    return false;
}

static void alone_abandon(int code)
{
    (void)code;
}

const struct ranks ranks_alone = {
    .size = 1,
    .here = 1,
    .divide = alone_divide,
    .agree = alone_agree,
    .sent = alone_sent,
    .first = alone_first,
    .gather = alone_gather,
    .total = alone_total,
    .swap = alone_swap,
    .end = alone_end,
    .abandon = alone_abandon,
};

/* ---- several ------------------------------------------------------------- */

/* Environment variables that Open MPI, MPICH and PMIx set. */
static bool started_by_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

consm_status ranks_join(const struct ranks **out)
{
    const struct ranks *joined;
    char what[64];
    *out = &ranks_alone;
    if (!started_by_mpirun())
        return CONSM_OK;
    consm_status st = plugin_ranks(&joined);
    if (st < 0)
        return st;
    *out = joined;
    snprintf(what, sizeof what, "%s with %s kernels", consm_version(), simd_best()->name);
    return ranks_agree_text(joined, "version", what);
}

consm_status ranks_agree_text(const struct ranks *ranks, const char *what, const char *text)
{
    return ranks->agree(&(struct alike){what, text, strlen(text), true}, 1);
}

int ranks_threads(const struct ranks *ranks, int threads)
{
    if (ranks == &ranks_alone || threads > 0)
        return threads;
    int each = threads_available() / ranks->here;
    return each > 1 ? each : 1;
}

consm_status ranks_backend(struct backend **out, const struct ranks *ranks,
                           const struct partition *rows, const struct partition *columns,
                           const char *device, int threads)
{
    struct backend *inner;
    *out = NULL;
    consm_status st = backend_open(&inner, device, ranks_threads(ranks, threads));
    return st < 0 ? st : ranks->divide(out, inner, rows, columns);
}

const struct ranks *backend_ranks(const struct backend *b)
{
    return b->ranks ? b->ranks : &ranks_alone;
}

struct partition ranks_partition(const struct ranks *ranks)
{
    return (struct partition){.gather = ranks->gather,
                              .total = ranks->total,
                              .swap = ranks->swap,
                              .parts = ranks->size,
                              .part = ranks->rank};
}

consm_status ranks_part(struct workers *out, const struct ranks *ranks)
{
    *out = (struct workers){&ranks_alone, NULL};
    if (ranks == &ranks_alone)
        return CONSM_OK;
    consm_status st = plugin_handout(&out->calls);
    if (st == CONSM_OK)
        out->ranks = ranks;
    return st;
}
