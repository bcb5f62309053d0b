/* The training labels that trust uses, also when a saved model scores its training graph. The model
 * file stores each node's number, its class and a hash of its features. A node counts as taught if
 * number and hash match, or if it alone has that hash. So nodes may come in another order, and on
 * another graph hardly any node counts. Not in the paper. */
#include "train/consm/consm.h"

#include "graph/partition.h"
#include "train/edge_trust.h"
#include <stdlib.h>
#include <string.h>

/* FNV-1a over the bytes of a number. */
static uint64_t mix(uint64_t hash, uint32_t number)
{
    for (int byte = 0; byte < 4; byte++)
        hash = (hash ^ (number >> 8 * byte & 0xff)) * 0x100000001b3u;
    return hash;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    value = value == 0 ? 0 : value; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Two times 22 bits, each of which a float holds exactly. */
enum { HASH_BITS = 22 };
static uint64_t hash_of(const struct problem *p, int64_t i)
{
    uint64_t hash = 0xcbf29ce484222325u;
    if (p->sparse)
        for (int64_t k = p->sparse->start[i]; k < p->sparse->start[i + 1]; k++) {
            hash = mix(hash, (uint32_t)p->sparse->col[k]);
            hash = mix(hash, p->sparse->val ? bits_of(p->sparse->val[k]) : 1);
        }
    else
        for (int64_t k = 0; k < p->features; k++)
            hash = mix(hash, bits_of(p->dense[i * p->features + k]));
    return (hash ^ hash >> 2 * HASH_BITS) & (((uint64_t)1 << 2 * HASH_BITS) - 1);
}

/* What a model file stores of a node: its number in two halves, its class, the hash in two halves.
 */
static void note(float row[TAUGHT_COLUMNS], const struct problem *p, int64_t i)
{
    uint64_t hash = hash_of(p, i);
    row[0] = (float)(i >> 16);
    row[1] = (float)(i & 0xffff);
    row[2] = (float)p->label[i];
    row[3] = (float)(hash >> HASH_BITS);
    row[4] = (float)(hash & (((uint64_t)1 << HASH_BITS) - 1));
}

/* ---- finding them again -------------------------------------------------- */

struct hashed {
    uint64_t hash;
    int64_t node;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash ? 1 : x->node < y->node ? -1 : 1;
}

/* All nodes here, sorted by hash; the caller frees *table (*count). */
static consm_status hash_all(struct hashed **table, int64_t *count, const struct problem *p)
{
    const struct partition *partition = p->graph->partition;
    int64_t low = partition_low(partition), high = partition_high(partition, p->nodes);
    consm_status st = NEW(*table, high - low + 1);
    for (int64_t i = low; st == CONSM_OK && i < high; i++)
        (*table)[i - low] = (struct hashed){hash_of(p, i), i};
    *count = high - low;
    if (st == CONSM_OK)
        qsort(*table, (size_t)*count, sizeof **table, by_hash);
    return st;
}

static int64_t number_of(const float row[TAUGHT_COLUMNS])
{
    return (int64_t)row[0] << 16 | (int64_t)row[1];
}

/* A node here with the hash of a row, if possible with its number; -1: none. tally: whether the
 * number is that of the row; how many nodes here have the hash. A model file may hold any numbers.
 */
static int64_t find(int64_t tally[2], const float row[TAUGHT_COLUMNS], const struct hashed *table,
                    int64_t count, int32_t classes)
{
    const float most = (float)(1 << HASH_BITS);
    bool possible = row[0] >= 0 && row[0] < 32768 && row[1] >= 0 && row[1] < 65536 && row[2] >= 0 &&
                    row[2] < (float)classes && row[3] >= 0 && row[3] < most && row[4] >= 0 &&
                    row[4] < most;
    if (!possible)
        return -1;
    uint64_t hash = (uint64_t)row[3] << HASH_BITS | (uint64_t)row[4];
    int64_t number = number_of(row), low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (table[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t k = low; k < count && table[k].hash == hash; k++, tally[1]++)
        if (table[k].node == number) {
            tally[0] = 1;
            return number;
        }
    return tally[1] > 0 ? table[low].node : -1;
}

static bool is_taught(const struct problem *p, int64_t i)
{
    return p->label[i] >= 0 && p->role[i] == SPLIT_TRAIN;
}

/* Marks the nodes that the model was trained on: those with a row's hash and number, or the only
 * node of the graph with the hash. */
static consm_status mark_taught(int32_t *taught, const struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    struct hashed *table = NULL;
    int64_t count = 0, rows = s->options.taughts, *found = NULL, *tally = NULL;
    TRY(hash_all(&table, &count, p));
    TRY(NEW(found, rows));
    TRY(ZNEW(tally, 2 * rows));
    for (int64_t k = 0; k < rows; k++)
        found[k] =
            find(tally + 2 * k, s->options.taught + k * TAUGHT_COLUMNS, table, count, p->classes);
    TRY(partition_sum(tally, 2 * rows, p->graph->partition));
    for (int64_t k = 0; k < rows; k++) {
        const float *row = s->options.taught + k * TAUGHT_COLUMNS;
        bool only = tally[2 * k] == 0 && tally[2 * k + 1] == 1;
        if (found[k] >= 0 && (only || found[k] == number_of(row)))
            taught[found[k]] = (int32_t)row[2];
    }
done:
    mem_free(table);
    mem_free(found);
    mem_free(tally);
    return st;
}

consm_status consm_open_taught(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *p = s->problem;
    if (own->taught)
        return CONSM_OK;
    TRY(NEW(own->taught, p->nodes));
    for (int64_t i = 0; i < p->nodes; i++)
        own->taught[i] = !s->options.eval_only && is_taught(p, i) ? p->label[i] : -1;
    if (s->options.eval_only && s->options.taughts > 0)
        TRY(mark_taught(own->taught, s));
    if (own->neighbours)
        TRY(row_halo_fetch(own->neighbours, own->taught, sizeof *own->taught));
done:
    return st;
}

consm_status session_taught(float **out, int64_t *rows, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    const struct partition *partition = p->graph->partition;
    float *mine = NULL;
    void *all;
    int64_t low = partition_low(partition), high = partition_high(partition, p->nodes), count = 0;
    *out = NULL;
    *rows = 0;
    if (!session_matches(s) || s->options.eval_only)
        return CONSM_OK;
    for (int64_t i = low; i < high; i++)
        count += is_taught(p, i);
    TRY(NEW(mine, count * TAUGHT_COLUMNS + 1));
    count = 0;
    for (int64_t i = low; i < high; i++)
        if (is_taught(p, i))
            note(mine + TAUGHT_COLUMNS * count++, p, i);
    TRY(partition_all(&all, rows, partition, mine, count, TAUGHT_COLUMNS * sizeof *mine));
    *out = all;
done:
    mem_free(mine);
    return st;
}
