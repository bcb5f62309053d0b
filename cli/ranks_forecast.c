/* The cost model of docs/explanation/distributed.md, for one graph. */
#include "ranks_forecast.h"

#include "graph/cut.h"
#include "graph/structural.h"

#include <stdio.h>

enum { HIDDEN = 64, FLOAT = 4, BLOCK_ROWS = 512, MOST_BLOCKS = 32, COLUMN_ROWS = 1024 };

/* A graph without features gets structural ones. */
static int64_t features_of(const struct dataset *d)
{
    return d->features > 0 ? d->features : STRUCTURAL_FEATURES;
}

/* Rows per partial sum of a weight's gradient: src/cpu/gemm.c. */
static int64_t block_rows(int64_t nodes)
{
    int64_t length = (nodes + MOST_BLOCKS - 1) / MOST_BLOCKS;
    return length < BLOCK_ROWS ? BLOCK_ROWS : length;
}

static int64_t blocks_of(int64_t nodes, int64_t length)
{
    return (nodes + length - 1) / length;
}

/* Rows that ranks need to complete the blocks that start among theirs. */
static int64_t reached_into(const struct cut_size *part, int ranks, int64_t nodes, int64_t length)
{
    int64_t rows = 0, cut = 0;
    for (int p = 0; p + 1 < ranks; p++) {
        cut += part[p].rows;
        int64_t end = blocks_of(cut, length) * length;
        rows += (end < nodes ? end : nodes) - cut;
    }
    return rows;
}

/* Sums over rows: gradients of weights and biases. Partial sums go to all other ranks. With sparse
 * features the first weight's gradient is a sparse product, for which all rows go to all ranks. */
static int64_t sum_bytes(const struct dataset *d, const struct cut_size *part, int ranks)
{
    int64_t n = d->nodes, c = d->classes, f = features_of(d), others = ranks - 1;
    int64_t product = block_rows(n), first = d->sparse || f >= 512 ? 0 : f * HIDDEN;
    int64_t partial =
        blocks_of(n, product) * (HIDDEN * c + first) + blocks_of(n, COLUMN_ROWS) * (HIDDEN + c);
    int64_t reached = reached_into(part, ranks, n, product) * (HIDDEN + c + (first ? HIDDEN : 0)) +
                      reached_into(part, ranks, n, COLUMN_ROWS) * (HIDDEN + c);
    int64_t whole = first ? 0 : (n + f) * HIDDEN;
    return (others * (partial + whole) + reached) * FLOAT;
}

/* What a rank reads of the data, wherever its rows are: all of it. */
static int64_t held_bytes(const struct dataset *d, const struct csr *graph)
{
    int64_t n = d->nodes, edges = d->edges * 8, clean = graph->nnz * 4 + n * 8;
    int64_t normal = (graph->nnz + n) * 8 + n * 8;
    int64_t features = d->sparse ? 2 * (d->sparse->nnz * 8 + n * 8) : n * features_of(d) * FLOAT;
    return edges + clean + normal + features + n * 8;
}

/* Of sparse features and their transpose, about the same share as of the nodes. */
static int64_t sparse_bytes(const struct dataset *d, const struct ranks_forecast *f)
{
    double part = d->nodes ? (double)f->most_rows / (double)d->nodes : 1;
    return (int64_t)(part * (double)d->sparse->nnz * 24) + d->nodes * 8 + d->features * 8;
}

/* The same for a folder in parts: columns, Â, features as stored and standardised, those of the
 * halo; arrays over every node; and scores of a rank's own nodes and of those that may have a role.
 */
static int64_t in_parts_bytes(const struct dataset *d, const struct ranks_forecast *f)
{
    int64_t dense = (2 * f->most_rows + f->most_halo) * features_of(d) * FLOAT, known = 0;
    for (int64_t i = 0; d->label && i < d->nodes; i++)
        known += d->label[i] >= 0;
    int64_t scores = known + f->most_rows < d->nodes ? known + f->most_rows : d->nodes;
    return f->most_entries * 4 + (f->most_entries + f->most_rows) * 8 +
           (d->sparse ? sparse_bytes(d, f) : dense) + d->nodes * 25 +
           scores * FLOAT * (int64_t)d->classes;
}

consm_status forecast_make(struct ranks_forecast *f, const struct dataset *d,
                           const struct csr *graph, int ranks)
{
    consm_status st = CONSM_OK;
    struct cut_size *part = NULL;
    int64_t c = d->classes, width, outside = 0;
    *f = (struct ranks_forecast){.ranks = ranks, .nodes = graph->rows};
    TRY(NEW(part, ranks));
    TRY(cut_sizes(part, graph, ranks));
    for (int p = 0; p < ranks; p++) {
        f->most_rows = part[p].rows > f->most_rows ? part[p].rows : f->most_rows;
        f->most_entries = part[p].entries > f->most_entries ? part[p].entries : f->most_entries;
        f->most_halo = part[p].halo > f->most_halo ? part[p].halo : f->most_halo;
        f->halo += part[p].halo;
        outside += part[p].outside;
    }
    f->cut = outside / 2;
    /* Sparse features: both layers send, forwards and backwards, and once more to validate. Dense
     * ones are averaged over neighbours once, so only the classes are sent. */
    width = d->sparse ? HIDDEN + c : c;
    f->halo_bytes = 3 * f->halo * width * FLOAT;
    f->sum_bytes = sum_bytes(d, part, ranks);
    f->held = held_bytes(d, graph);
    f->held_in_parts = in_parts_bytes(d, f);
    f->divided = (f->most_rows + f->most_halo) * 6 * (HIDDEN + c) * FLOAT;
done:
    mem_free(part);
    return st;
}

bool forecast_is_slower(int64_t nodes, int ranks)
{
    return ranks > 1 && nodes < (int64_t)RANK_NODES * ranks;
}

/* The numbers of ranks that are slower than one process. */
static void print_slower(const struct ranks_forecast *f, int count)
{
    int slower = 0;
    for (int i = 0; i < count; i++)
        if (forecast_is_slower(f[i].nodes, f[i].ranks))
            printf("%s%d", slower++ ? ", " : "\n  One process is faster than ", f[i].ranks);
    if (slower)
        printf(" ranks: use ranks from %d nodes each on.\n", RANK_NODES);
}

static double megabytes(int64_t bytes)
{
    return (double)bytes / 1e6;
}

void forecast_print(const struct ranks_forecast *f, int count)
{
    printf("  %5s %11s %12s %11s %12s %10s %10s %10s %11s\n", "ranks", "max rows", "max entries",
           "max halo", "cut edges", "MB whole", "MB part", "MB values", "MB/epoch");
    for (int i = 0; i < count; i++)
        printf("  %5d %11lld %12lld %11lld %12lld %10.1f %10.1f %10.1f %11.3f\n", f[i].ranks,
               (long long)f[i].most_rows, (long long)f[i].most_entries, (long long)f[i].most_halo,
               (long long)f[i].cut, megabytes(f[i].held), megabytes(f[i].held_in_parts),
               megabytes(f[i].divided), megabytes(f[i].halo_bytes + f[i].sum_bytes));
    printf("\n  Estimate for a two-layer GCN with 64 hidden units, trained on all nodes.\n"
           "  max rows, entries, halo (rows read from other ranks): of the largest rank.\n"
           "  MB whole, part: data of a rank if it holds the whole graph or only its part.\n"
           "  MB values: computed values of a rank. MB/epoch: sent by all ranks together.\n");
    print_slower(f, count);
}

json_t *forecast_json(const struct ranks_forecast *f)
{
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "ranks",
                     f->ranks, "most_rows", (json_int_t)f->most_rows, "most_entries",
                     (json_int_t)f->most_entries, "most_halo", (json_int_t)f->most_halo, "halo",
                     (json_int_t)f->halo, "cut_edges", (json_int_t)f->cut, "data_bytes",
                     (json_int_t)f->held, "value_bytes", (json_int_t)f->divided, "halo_bytes",
                     (json_int_t)f->halo_bytes, "sum_bytes", (json_int_t)f->sum_bytes,
                     "share_bytes", (json_int_t)f->held_in_parts, "one_process_is_faster",
                     (int)forecast_is_slower(f->nodes, f->ranks));
}
