/* Planning: which nodes are needed, how long each value lives, and its place in the arena. Values
 * with disjoint lifetimes share memory. The largest are placed first, each at the lowest offset
 * that is free during its life. An elementwise operation overwrites a source that is not read
 * afterwards. */
#include "program/internal.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN_FLOATS = 16 };

/* Marks what the kept nodes need, sources before users. */
static void mark_live(struct program *p)
{
    for (node x = p->count - 1; x >= 0; x--) {
        struct node_info *info = &p->node[x];
        info->live = info->live || info->keep;
        for (int i = 0; info->live && i < NODE_SOURCES; i++)
            if (info->src[i] != POISON)
                p->node[info->src[i]].live = true;
    }
}

/* A fixed matrix times a constant is constant, and so are a given single number and nodes that
 * compose.c recorded as constant. */
static void mark_constant(struct program *p)
{
    for (node x = 0; x < p->count; x++) {
        struct node_info *info = &p->node[x];
        if (info->op == OP_FILL && info->rows * info->cols == 1)
            info->constant = true;
        if (info->op == OP_SPMM && !info->attr.csr->changes)
            info->constant = p->node[info->src[0]].constant;
    }
}

/* A value's lifetime and place. */
struct span {
    node x;
    int32_t born, dies;
    size_t floats, offset;
};

static int larger_first(const void *a, const void *b)
{
    const struct span *s = a, *t = b;
    if (s->floats != t->floats)
        return s->floats < t->floats ? 1 : -1;
    return s->x < t->x ? -1 : 1;
}

static int lower_first(const void *a, const void *b)
{
    const struct span *s = *(const struct span *const *)a, *t = *(const struct span *const *)b;
    return s->offset < t->offset ? -1 : s->offset > t->offset;
}

/* The lowest offset at which s fits beside the spans placed so far that live at the same time. */
static size_t find_place(const struct span *s, struct span *placed, size_t count,
                         struct span **meeting)
{
    size_t met = 0, offset = 0;
    for (size_t i = 0; i < count; i++)
        if (placed[i].born <= s->dies && s->born <= placed[i].dies)
            meeting[met++] = &placed[i];
    qsort(meeting, met, sizeof(struct span *), lower_first);
    for (size_t i = 0; i < met; i++) {
        if (offset + s->floats <= meeting[i]->offset)
            break;
        size_t end = meeting[i]->offset + meeting[i]->floats;
        if (end > offset)
            offset = end;
    }
    return offset;
}

/* A constant that is read in every run lives through all of them; one that only leads to others may
 * end with them. */
static void mark_lasting(struct program *p)
{
    for (node x = 0; x < p->count; x++)
        for (int i = 0; p->node[x].live && i < NODE_SOURCES; i++)
            if (p->node[x].src[i] != POISON && !p->node[x].constant)
                p->node[p->node[x].src[i]].lasts = p->node[p->node[x].src[i]].constant;
}

/* Fills spans with every planned value; returns how many. */
static size_t collect_spans(struct program *p, struct span *spans)
{
    size_t count = 0;
    for (node x = 0; x < p->count; x++) {
        struct node_info *info = &p->node[x];
        if (!info->live || info->place != PLACE_ARENA)
            continue;
        int64_t floats = (info->rows * info->cols + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
        bool lasts = info->lasts || info->common || (info->keep && info->constant);
        bool stays = info->keep || lasts;
        node born = info->op == OP_BESIDE ? info->src[0] : x;
        spans[count] = (struct span){x, lasts ? 0 : born, stays ? p->count : x, (size_t)floats, 0};
        info->instr = (int32_t)count++;
    }
    for (node x = 0; x < p->count; x++)
        for (int i = 0; p->node[x].live && i < NODE_SOURCES; i++) {
            node source = p->node[x].src[i];
            if (source == POISON || p->node[source].instr < 0)
                continue;
            struct span *s = &spans[p->node[source].instr];
            s->dies = s->dies > x ? s->dies : x;
        }
    return count;
}

bool program_in_place(const struct program *p, node x, node source)
{
    const struct node_info *info = &p->node[x];
    bool reads = false;
    for (int i = 0; i < NODE_SOURCES; i++) {
        if (info->src[i] != source)
            continue;
        if (!op_in_place(info->op, i))
            return false;
        reads = true;
    }
    return reads;
}

/* The source that x overwrites, because x is its last reader; POISON: none. */
static node overwritten(const struct program *p, const struct span *spans, node x)
{
    const struct node_info *info = &p->node[x];
    for (int i = 0; i < NODE_SOURCES; i++) {
        node source = info->src[i];
        if (source != POISON && p->node[source].instr >= 0 && !p->node[source].keep &&
            ROWS(p, source) == info->rows && COLS(p, source) == info->cols &&
            spans[p->node[source].instr].dies == x && program_in_place(p, x, source))
            return source;
    }
    return POISON;
}

/* Joins the spans of values with the same place; owner[x] is the first of them. Returns the number
 * of spans left. */
static size_t join_spans(struct program *p, struct span *spans, size_t count, node *owner)
{
    size_t left = 0;
    for (node x = 0; x < p->count; x++) {
        struct node_info *info = &p->node[x];
        owner[x] = x;
        if (!info->live || info->place != PLACE_ARENA)
            continue;
        node source = overwritten(p, spans, x);
        if (source == POISON)
            continue;
        struct span *mine = &spans[info->instr], *theirs = &spans[p->node[source].instr];
        owner[x] = owner[source];
        theirs->dies = mine->dies;
        theirs->born = mine->born < theirs->born ? mine->born : theirs->born; /* it may be kept */
        info->instr = p->node[source].instr;
        mine->x = POISON;
    }
    for (size_t i = 0; i < count; i++)
        if (spans[i].x != POISON)
            spans[left++] = spans[i];
    return left;
}

/* Whether every value has its own memory: the backend wants it, and they are small. */
static bool separate(const struct program *p, const struct span *spans, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += spans[i].floats * sizeof(float);
    return bytes <= p->backend->kind->separate;
}

static consm_status place_values(struct program *p)
{
    consm_status st = CONSM_OK;
    struct span *spans = NULL, **meeting = NULL;
    node *owner = NULL;
    TRY(NEW(spans, p->count));
    TRY(NEW(meeting, p->count));
    TRY(NEW(owner, p->count));
    size_t count = collect_spans(p, spans);
    if (separate(p, spans, count)) {
        for (size_t i = 0; i < count; i++)
            spans[i].dies = p->count;
        for (node x = 0; x < p->count; x++)
            owner[x] = x;
    } else {
        count = join_spans(p, spans, count, owner);
    }
    qsort(spans, count, sizeof *spans, larger_first);
    for (size_t i = 0; i < count; i++) {
        spans[i].offset = find_place(&spans[i], spans, i, meeting);
        p->node[spans[i].x].offset = spans[i].offset;
        size_t end = spans[i].offset + spans[i].floats;
        if (end > p->arena_floats)
            p->arena_floats = end;
    }
    for (node x = 0; x < p->count; x++)
        p->node[x].offset = p->node[owner[x]].offset;
done:
    mem_free(spans);
    mem_free(meeting);
    mem_free(owner);
    return st;
}

consm_status program_plan(struct program *p)
{
    consm_status st = CONSM_OK;
    mark_live(p);
    mark_constant(p);
    mark_lasting(p);
    TRY(program_common(p));
    TRY(place_values(p));
done:
    return st;
}
