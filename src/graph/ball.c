/* Grows a ball step by step, with a hash table of the nodes in it. */
#include "graph/ball.h"

#include "base/known.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

static int64_t slot_of(const struct ball *b, int32_t node)
{
    uint64_t hash = (uint64_t)(uint32_t)node * 0x9e3779b97f4a7c15u;
    int64_t at = (int64_t)(hash >> 32) & (b->slots - 1);
    while (b->key[at] >= 0 && b->key[at] != node)
        at = (at + 1) & (b->slots - 1);
    return at;
}

static consm_status table_new(struct ball *b, int64_t slots)
{
    consm_status st = CONSM_OK;
    mem_free(b->key);
    mem_free(b->place);
    b->key = b->place = NULL;
    b->slots = slots;
    TRY(NEW(b->key, slots));
    TRY(NEW(b->place, slots));
    memset(b->key, 0xff, (size_t)slots * sizeof *b->key);
done:
    return st;
}

static void enter(struct ball *b, int64_t place)
{
    int64_t at = slot_of(b, b->node[place]);
    b->key[at] = b->node[place];
    b->place[at] = (int32_t)place;
}

/* Adds a node unless it is there already; there is room for it. */
static consm_status add(struct ball *b, int32_t node, int32_t distance)
{
    consm_status st = CONSM_OK;
    int64_t at = slot_of(b, node);
    if (b->key[at] == node)
        return CONSM_OK;
    b->node[b->nodes] = node;
    b->distance[b->nodes] = distance;
    b->key[at] = node;
    b->place[at] = (int32_t)b->nodes++;
    if (b->nodes * 2 > b->slots) {
        TRY(table_new(b, b->slots * 4));
        for (int64_t i = 0; i < b->nodes; i++)
            enter(b, i);
    }
done:
    return st;
}

struct placed {
    int32_t node, distance;
};

/* Sorts by node, by digits of 8 bits up to the largest number. spare (count). Returns the one of
 * the two that holds the result. */
static struct placed *sort_nodes(struct placed *list, struct placed *spare, int64_t count,
                                 int32_t largest)
{
    for (int shift = 0; shift < 32 && largest >> shift != 0; shift += 8) {
        int64_t at[257] = {0};
        for (int64_t i = 0; i < count; i++)
            at[(list[i].node >> shift & 255) + 1]++;
        for (int d = 1; d < 256; d++)
            at[d] += at[d - 1];
        for (int64_t i = 0; i < count; i++)
            spare[at[list[i].node >> shift & 255]++] = list[i];
        struct placed *sorted = spare;
        spare = list;
        list = sorted;
    }
    return list;
}

/* Numbers the ball's nodes in the order of the graph, so that a row's entries keep their order. */
static consm_status put_in_order(struct ball *b)
{
    consm_status st = CONSM_OK;
    struct placed *memory = NULL;
    int32_t largest = 0;
    TRY(NEW(memory, 2 * b->nodes));
    for (int64_t i = 0; i < b->nodes; i++) {
        memory[i] = (struct placed){b->node[i], b->distance[i]};
        largest = b->node[i] > largest ? b->node[i] : largest;
    }
    const struct placed *list = sort_nodes(memory, memory + b->nodes, b->nodes, largest);
    for (int64_t i = 0; i < b->nodes; i++) {
        b->node[i] = list[i].node;
        b->distance[i] = list[i].distance;
        b->place[slot_of(b, list[i].node)] = (int32_t)i;
    }
done:
    mem_free(memory);
    return st;
}

/* Asks for a row from memory before it is read; only the start of a long one. */
static void fetch_entries(const struct csr_row *row)
{
    enum { LINE = 16, MOST = 64 };
    for (int64_t k = 0; k < row->count && k < MOST; k += LINE) {
        __builtin_prefetch(row->col + k);
        if (row->val)
            __builtin_prefetch(row->val + k);
    }
}

consm_status ball_new(struct ball *out, const struct csr_rows *graph, const int32_t *centre,
                      int64_t centres, int64_t radius, int64_t most)
{
    consm_status st = CONSM_OK;
    size_t room = 0, room_too = 0;
    *out = (struct ball){.radius = radius};
    TRY(table_new(out, FIRST_SLOTS));
    TRY(GROW(out->node, 0, room, centres > FIRST_SLOTS ? centres : FIRST_SLOTS));
    TRY(GROW(out->distance, 0, room_too, centres > FIRST_SLOTS ? centres : FIRST_SLOTS));
    for (int64_t k = 0; k < centres; k++)
        TRY(add(out, centre[k], 0));
    for (int64_t i = 0; i < out->nodes && out->distance[i] < radius && out->nodes <= most; i++) {
        const struct csr_row row = csr_row(graph, out->node[i]);
        if (i + 2 < out->nodes && out->distance[i + 2] < radius) {
            const struct csr_row soon = csr_row(graph, out->node[i + 2]);
            fetch_entries(&soon);
        }
        TRY(GROW(out->node, out->nodes, room, row.count));
        TRY(GROW(out->distance, out->nodes, room_too, row.count));
        for (int64_t k = 0; k < row.count; k++)
            TRY(add(out, row.col[k], out->distance[i] + 1));
    }
    out->too_large = out->nodes > most;
    if (!out->too_large)
        TRY(put_in_order(out));
done:
    if (st < 0)
        ball_free(out);
    return st;
}

void ball_free(struct ball *b)
{
    mem_free(b->node);
    mem_free(b->distance);
    mem_free(b->key);
    mem_free(b->place);
    *b = (struct ball){0};
}

int64_t ball_find(const struct ball *b, int32_t node)
{
    int64_t at = slot_of(b, node);
    return b->key[at] == node ? b->place[at] : -1;
}

consm_status ball_cut(struct csr **out, const struct ball *b, const struct csr_rows *a,
                      int64_t complete)
{
    consm_status st = CONSM_OK;
    struct csr *cut = NULL;
    int64_t nnz = 0;
    *out = NULL;
    for (int64_t i = 0; i < b->nodes; i++) {
        if (b->distance[i] > complete)
            continue;
        const struct csr_row row = csr_row(a, b->node[i]);
        fetch_entries(&row);
        nnz += row.count;
    }
    TRY(csr_new(&cut, b->nodes, b->nodes, nnz, a->base->val != NULL));
    nnz = 0;
    for (int64_t i = 0; i < b->nodes; i++) {
        cut->start[i + 1] = nnz;
        if (b->distance[i] > complete)
            continue;
        const struct csr_row row = csr_row(a, b->node[i]);
        KNOWN(row.val || !cut->val);
        for (int64_t k = 0; k < row.count; k++) {
            cut->col[nnz] = (int32_t)ball_find(b, row.col[k]);
            if (cut->val)
                cut->val[nnz] = row.val[k];
            nnz++;
        }
        cut->start[i + 1] = nnz;
    }
    cut->changes = a->base->changes; /* models record changing matrices differently */
    *out = cut;
done:
    return st;
}
