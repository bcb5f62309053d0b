/* A graph of which every rank has some rows: ranges with about as many entries each. A rank checks
 * only its own rows; together the ranks check all. */
#include "app/prepare.h"

#include "data/readers/parts.h"
#include "graph/cut.h"
#include "graph/partition.h"
#include <string.h>

/* A sum over entries that is 0 if every entry (r, c) has its mirror (c, r) with the same weight;
 * otherwise it is not 0, except by a 64-bit coincidence. */
static uint64_t one_sided(const struct csr *a)
{
    uint64_t sum = 0;
    for (int64_t r = a->partition->low; r < a->partition->high; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            int64_t c = a->col[k], low = r < c ? r : c, high = r < c ? c : r;
            union {
                float value;
                uint32_t bits;
            } weight = {.value = a->val ? a->val[k] : 1};
            uint64_t h = ((uint64_t)low << 32 | (uint64_t)high) * 0x9e3779b97f4a7c15u;
            h = (h ^ h >> 29 ^ weight.bits) * 0xbf58476d1ce4e5b9u;
            h ^= h >> 32;
            sum += r < c ? h : -h;
        }
    return sum;
}

/* The owner of each row: as the files were read, or ranges with about as many entries. */
static consm_status cut_parts(int64_t *cut, const struct dataset *d, int ranks)
{
    consm_status st = CONSM_OK;
    const struct csr *rows = d->rows;
    int64_t n = rows->rows, *weight = NULL, borders;
    const int64_t *border;
    if (d->partition) {
        memcpy(cut, d->partition->cut, (size_t)(ranks + 1) * sizeof *cut);
        return CONSM_OK;
    }
    TRY(NEW(weight, n + 1));
    for (int64_t r = 0; r <= n; r++)
        weight[r] = rows->start[r] + r;
    cut_rows(cut, weight, n, ranks);
    TRY(parts_borders(&border, &borders, d));
    cut_snap(cut, weight, n, ranks, border, borders);
done:
    mem_free(weight);
    return st;
}

static consm_status take_in_parts(struct prepared *out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    const struct csr *rows = d->rows;
    int64_t *cut = NULL;
    const struct ranks *ranks = out->ranks;
    TRY(NEW(cut, ranks->size + 1));
    TRY(cut_parts(cut, d, ranks->size));
    TRY(NEW(out->partition, 1));
    *out->partition = ranks_partition(ranks);
    out->partition->low = cut[ranks->rank];
    out->partition->high = cut[ranks->rank + 1];
    out->partition->cut = cut;
    out->cut = cut;
    cut = NULL;
    TRY(ZNEW(out->graph, 1));
    *out->graph = *rows;
    out->graph->borrowed = true;
    out->graph->partition = out->partition;
    out->facts = (struct edge_facts){.stored = d->edges, .kept = rows->nnz};
done:
    mem_free(cut);
    return st;
}

/* Sparse features: the rows of this rank's nodes, and the transpose by ranges of columns with about
 * as many entries each. Programs find owners by the number of rows alone, so if there are as many
 * columns as nodes, columns are divided like nodes. */
static consm_status take_features(struct prepared *out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    int64_t f = d->features, *start = NULL, *cut;
    int ranks = out->ranks->size, me = out->ranks->rank;
    if (!d->sparse)
        return CONSM_OK;
    TRY(ZNEW(out->sparse, 1));
    *out->sparse = *d->sparse;
    out->sparse->borrowed = true;
    out->sparse->t = NULL;
    out->sparse->t_entry = NULL;
    out->sparse->partition = out->partition;
    TRY(NEW(start, f + 1));
    TRY(NEW(out->column_cut, ranks + 1));
    cut = out->column_cut;
    TRY(partition_columns(start, out->sparse));
    for (int64_t c = 0; c <= f; c++)
        start[c] += c;
    cut_rows(cut, start, f, ranks);
    if (f == d->nodes)
        memcpy(cut, out->cut, (size_t)(ranks + 1) * sizeof *cut);
    TRY(NEW(out->columns, 1));
    *out->columns = *out->partition;
    out->columns->low = cut[me];
    out->columns->high = cut[me + 1];
    out->columns->cut = cut;
    TRY(partition_turn(out->sparse, out->columns));
done:
    mem_free(start);
    return st;
}

consm_status prepare_parts(struct prepared *out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    TRY(ranks_agree_text(out->ranks, "a folder with the checksum", d->sha256));
    TRY(take_in_parts(out, d));
    st = parts_check_rows(d, out->partition->low, out->partition->high);
    TRY(partition_status(out->partition, st,
                         out->partition->low)); /* all ranks report the same failure */
    if (out->ranks->total(one_sided(out->graph)) != 0)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: rows.safetensors has an edge in one direction only: expected the file "
                        "that `consm partition` wrote",
                        d->name));
    TRY(take_features(out, d));
done:
    return st;
}

consm_status prepare_whole(const struct prepared *p, const char *who)
{
    if (!p->graph->partition)
        return CONSM_OK;
    return status_fail(
        CONSM_EINVAL, "%s: %s needs the whole graph, but this one is in parts: %s", p->data->name,
        who, p->data->partition ? "omit --in-parts" : "use graph.safetensors from its folder");
}
