/* Reads an edge list in parts, in two passes over the file. */

/*
 * First every process counts how often its blocks name each node; the sums decide who owns which
 * nodes and how much room their entries need. Then edges are sent in turns: in each, process p
 * reads block turn·P + p, so that they arrive in file order, which decides the weight of a repeated
 * edge.
 */
#include "data/readers/edges_in_parts.h"

#include <stdlib.h>
#include <string.h>

#include "graph/cut.h"
#include "graph/partition.h"

struct sharing {
    struct dataset *d;
    const struct partition *partition; /* with rows once they are known: d->partition */
    struct edge_reader *reader;
    struct node_ids *ids;
    int64_t n, blocks;
    int64_t *named; /* (n+2): how often a node is an end; then all edges, and loops */
    int64_t *start; /* (own rows+1): start of their entries */
    int64_t *fill;  /* (own rows): how far they are filled */
    int32_t *col;
    float *val;     /* or NULL */
    int64_t differ; /* pairs of own rows with different weights */
};

/* ---- who there is --------------------------------------------------------- */

/* The new names of a block, each terminated. */
static consm_status list_new(char **out, size_t *used, const struct sharing *s, int64_t block)
{
    consm_status st = CONSM_OK;
    struct node_ids met = {0};
    size_t capacity = 0;
    const struct names *n = &met.names;
    *used = 0;
    TRY(edge_blocks_names(&met, s->reader, block));
    for (int64_t i = 0; i < n->count; i++) {
        size_t length = names_length(n, i);
        if (names_find(&s->ids->names, names_at(n, i), length) >= 0)
            continue;
        TRY(GROW(*out, *used, capacity, length + 1));
        memcpy(*out + *used, names_at(n, i), length);
        (*out)[*used + length] = 0;
        *used += length + 1;
    }
done:
    node_ids_free(&met);
    return st;
}

/* In turns, so that names come in file order: every process adds what all have found. */
static consm_status meet(struct sharing *s, char *text, size_t bytes)
{
    consm_status st = CONSM_OK;
    void *all = NULL;
    int64_t *got = NULL, index;
    TRY(NEW(got, s->partition->parts + 1));
    TRY(partition_tell(&all, got, text, (int64_t)bytes, s->partition));
    const char *at = all, *end = at + got[s->partition->parts];
    while (at < end) {
        size_t length = strlen(at);
        TRY(names_add(&index, &s->ids->names, at, length));
        at += length + 1;
    }
done:
    mem_free(all);
    mem_free(got);
    return st;
}

static consm_status find_nodes(struct sharing *s)
{
    consm_status st = CONSM_OK, fault = CONSM_OK;
    const struct partition *partition = s->partition;
    int64_t block = partition->part, place = 0;
    char *text = NULL;
    size_t bytes;
    for (; block - partition->part < s->blocks; block += partition->parts) {
        bytes = 0;
        if (block < s->blocks && fault == CONSM_OK) {
            fault = list_new(&text, &bytes, s, block);
            place = block;
        }
        TRY(meet(s, text, fault < 0 ? 0 : bytes));
        mem_free(text);
        text = NULL;
    }
    TRY(partition_status(partition, fault, place));
    TRY(node_ids_from_names(s->ids, NULL, NULL, 0));
    s->ids->expected = "a node of the edges";
done:
    mem_free(text);
    return st;
}

/* ---- who has what --------------------------------------------------------- */

static consm_status count_block(struct sharing *s, int64_t block)
{
    struct edge_block b;
    consm_status st = edge_blocks_read(&b, s->reader, block);
    if (st < 0)
        return st;
    for (int64_t e = 0; e < b.count; e++) {
        bool loop = b.from[e] == b.to[e];
        s->named[b.from[e]] += !loop;
        s->named[b.to[e]] += !loop;
        s->named[s->n + 1] += loop;
    }
    s->named[s->n] += b.count;
    return CONSM_OK;
}

/* All processes report the first fault of the file. */
static consm_status count_ends(struct sharing *s)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = s->partition;
    int64_t block = partition->part;
    TRY(ZNEW(s->named, s->n + 2));
    for (; block < s->blocks && st == CONSM_OK; block += partition->parts)
        st = count_block(s, block);
    TRY(partition_status(partition, st, block));
    TRY(partition_sum(s->named, s->n + 2, partition));
    s->d->edges = s->named[s->n];
done:
    return st;
}

/* Ranges of nodes that are named about equally often. */
static consm_status settle_rows(struct sharing *s)
{
    consm_status st = CONSM_OK;
    int64_t *weight = NULL, *cut = NULL;
    struct dataset *d = s->d;
    int parts = s->partition->parts, part = s->partition->part;
    TRY(NEW(weight, s->n + 1));
    TRY(NEW(cut, parts + 1));
    weight[0] = 0;
    for (int64_t i = 0; i < s->n; i++)
        weight[i + 1] = weight[i] + s->named[i] + 1;
    cut_rows(cut, weight, s->n, parts);
    TRY(NEW(d->partition, 1));
    *d->partition = *s->partition;
    d->partition->low = cut[part];
    d->partition->high = cut[part + 1];
    d->partition->cut = cut;
    cut = NULL;
    s->partition = d->partition;
done:
    mem_free(weight);
    mem_free(cut);
    return st;
}

static consm_status make_room(struct sharing *s, bool weighted)
{
    consm_status st = CONSM_OK;
    int64_t rows = s->partition->high - s->partition->low;
    TRY(NEW(s->start, rows + 1));
    TRY(NEW(s->fill, rows));
    s->start[0] = 0;
    for (int64_t r = 0; r < rows; r++) {
        s->fill[r] = s->start[r];
        s->start[r + 1] = s->start[r] + s->named[s->partition->low + r];
    }
    TRY(NEW(s->col, s->start[rows]));
    if (weighted)
        TRY(NEW(s->val, s->start[rows]));
done:
    return st;
}

/* ---- turns --------------------------------------------------------------- */

struct entry {
    int32_t row, col;
    float value;
};

/* The two entries of an edge, for the owners of its ends. */
static void post(struct entry *out, int64_t *next, const struct partition *partition, int32_t from,
                 int32_t to, float value)
{
    out[next[partition_owner(partition, from)]++] = (struct entry){from, to, value};
    out[next[partition_owner(partition, to)]++] = (struct entry){to, from, value};
}

/* send (parts+1), *out: a block's entries by owner. */
static consm_status sort_block(struct entry **out, int64_t *send, const struct sharing *s,
                               const struct edge_block *b)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = s->partition;
    int64_t *next = NULL;
    memset(send, 0, (size_t)(partition->parts + 1) * sizeof *send);
    for (int64_t e = 0; e < b->count; e++)
        if (b->from[e] != b->to[e]) {
            send[partition_owner(partition, b->from[e]) + 1]++;
            send[partition_owner(partition, b->to[e]) + 1]++;
        }
    for (int p = 0; p < partition->parts; p++)
        send[p + 1] += send[p];
    TRY(NEW(*out, send[partition->parts] + 1));
    TRY(NEW(next, partition->parts + 1));
    memcpy(next, send, (size_t)(partition->parts + 1) * sizeof *next);
    for (int64_t e = 0; e < b->count; e++)
        if (b->from[e] != b->to[e])
            post(*out, next, partition, b->from[e], b->to[e], b->weight ? b->weight[e] : 1);
done:
    mem_free(next);
    return st;
}

/* Appends what arrived to its row. */
static consm_status keep(struct sharing *s, const struct entry *came, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t r = came[i].row - s->partition->low;
        if (s->fill[r] == s->start[r + 1])
            return status_fail(CONSM_EIO, "%s: changed while it was being read", s->d->name);
        if (s->val)
            s->val[s->fill[r]] = came[i].value;
        s->col[s->fill[r]++] = came[i].col;
    }
    return CONSM_OK;
}

static consm_status take_turn(struct sharing *s, int64_t block)
{
    consm_status st = CONSM_OK;
    struct edge_block b = {0};
    struct entry *entry = NULL;
    int64_t *send = NULL, *got, places = s->partition->parts + 1;
    void *came = NULL;
    TRY(NEW(send, 2 * places));
    got = send + places;
    if (block < s->blocks)
        TRY(edge_blocks_read(&b, s->reader, block));
    TRY(sort_block(&entry, send, s, &b));
    TRY(s->partition->swap(&came, got, entry, send, sizeof *entry));
    TRY(keep(s, came, got[s->partition->parts]));
done:
    mem_free(send);
    mem_free(entry);
    mem_free(came);
    return st;
}

/* ---- rows ---------------------------------------------------------------- */

/* An entry's column, and its order of arrival. */
static int by_column(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts row r and merges its repeats, as csr_from_edges() does; returns the remaining number.
 * Entries arrived in file order. key, value: scratch for a row. */
static int64_t clean_row(struct sharing *s, int64_t r, uint64_t *key, float *value)
{
    int64_t begin = s->start[r], count = s->fill[r] - begin, kept = 0;
    for (int64_t k = 0; k < count; k++) {
        key[k] = (uint64_t)s->col[begin + k] << 32 | (uint64_t)k;
        if (s->val)
            value[k] = s->val[begin + k];
    }
    if (count > 0)
        qsort(key, (size_t)count, sizeof *key, by_column);
    for (int64_t k = 0, end; k < count; k = end) {
        int32_t col = (int32_t)(key[k] >> 32);
        double sum = 0;
        bool same = true;
        for (end = k; end < count && (int32_t)(key[end] >> 32) == col && s->val; end++) {
            float weight = value[key[end] & UINT32_MAX];
            sum += (double)weight;
            same &= weight == value[key[k] & UINT32_MAX];
        }
        while (end < count && (int32_t)(key[end] >> 32) == col)
            end++;
        s->differ += !same && col > s->partition->low + r;
        s->col[begin + kept] = col;
        if (s->val)
            s->val[begin + kept] = end > k + 1 && s->d->duplicates == DUPLICATES_MEAN
                                       ? (float)(sum / (double)(end - k))
                                       : value[key[k] & UINT32_MAX];
        kept++;
    }
    return kept;
}

static consm_status clean_rows(struct sharing *s)
{
    consm_status st = CONSM_OK;
    uint64_t *key = NULL;
    float *value = NULL;
    int64_t rows = s->partition->high - s->partition->low, most = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t length = s->start[r + 1] - s->start[r];
        most = length > most ? length : most;
    }
    if (most > INT32_MAX)
        return status_fail(CONSM_ELIMIT, "%s: a node has %lld edges, which is too many", s->d->name,
                           (long long)most);
    TRY(NEW(key, most));
    TRY(NEW(value, most));
    for (int64_t r = 0; r < rows; r++)
        s->fill[r] = clean_row(s, r, key, value);
done:
    mem_free(key);
    mem_free(value);
    return st;
}

/* Puts the rows at their places in the whole; the other rows take no memory. */
static consm_status place_rows(struct sharing *s)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = s->partition;
    struct csr *a;
    int64_t *start;
    TRY(ZNEW(start, s->n + 1));
    for (int64_t r = partition->low; r < partition->high; r++)
        start[r + 1] = s->fill[r - partition->low];
    TRY(partition_of_lengths(&a, partition, start, s->n, s->n, s->val != NULL));
    s->d->rows = a;
    for (int64_t r = partition->low; r < partition->high; r++) {
        int64_t from = s->start[r - partition->low], to = a->start[r];
        size_t count = (size_t)(a->start[r + 1] - to);
        memcpy(a->col + to, s->col + from, count * sizeof *a->col);
        if (a->val)
            memcpy(a->val + to, s->val + from, count * sizeof *a->val);
    }
done:
    return st;
}

consm_status edges_in_parts_read(struct dataset *d, const struct partition *partition,
                                 struct node_ids *ids, struct wanted *wanted,
                                 const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct sharing s = {.d = d, .partition = partition, .ids = ids};
    TRY(edge_blocks_new(&s.reader, ids, wanted, file));
    edge_blocks_about(d, s.reader);
    s.blocks = edge_blocks_count(s.reader);
    if (!ids->expected)
        TRY(find_nodes(&s));
    s.n = ids->count;
    if (s.n <= 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: no nodes", d->name));
    TRY(count_ends(&s));
    TRY(settle_rows(&s));
    TRY(make_room(&s, edge_blocks_weighted(s.reader)));
    mem_free(s.named);
    s.named = NULL;
    for (int64_t block = partition->part; block - partition->part < s.blocks;
         block += partition->parts)
        TRY(take_turn(&s, block));
    TRY(clean_rows(&s));
    TRY(partition_sum(&s.differ, 1, partition));
    TRY(dataset_refuse_duplicates(d, s.differ));
    if (partition->part == 0)
        dataset_say_duplicates(d, s.differ);
    TRY(place_rows(&s));
done:
    edge_blocks_free(s.reader);
    mem_free(s.named);
    mem_free(s.start);
    mem_free(s.fill);
    mem_free(s.col);
    mem_free(s.val);
    return st;
}
