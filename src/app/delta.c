/* The tree of changes. A leaf holds those of 64 nodes, a branch 64 leaves or branches. Leaves and
 * branches know the write that made them: that one may still change them, any other copies them
 * first. The memory of a write is freed as a whole; it keeps the memory of earlier writes alive. */
#include "app/delta.h"

#include <stdatomic.h>
#include <string.h>

enum { BITS = 6, FAN = 1 << BITS, FIRST_SLAB = 4 << 10, LAST_SLAB = 1 << 20, MOST_HEIGHT = 5 };

struct slab {
    struct slab *next;
    int64_t unused; /* for the alignment of what follows */
};

struct written {
    atomic_int owners;
    struct written *before;
    struct slab *slab; /* the newest one; room is left in it */
    size_t used, room, next_slab;
    size_t bytes; /* of this write and those before */
    struct consm_dataset **kept;
    int64_t keeps;
    size_t keep_room;
};

struct branch {
    const struct written *of;
    void *child[FAN];
};

struct few { /* a leaf */
    const struct written *of;
    uint64_t there;         /* bit i: node i of the leaf has changes */
    int64_t room;           /* of change */
    struct change change[]; /* in the order of the nodes */
};

/* ---- memory -------------------------------------------------------------- */

static void written_free(struct written *b)
{
    while (b && atomic_fetch_sub(&b->owners, 1) == 1) {
        struct written *before = b->before;
        for (struct slab *s = b->slab, *next; s; s = next) {
            next = s->next;
            mem_free(s);
        }
        for (int64_t i = 0; i < b->keeps; i++)
            consm_dataset_free(b->kept[i]);
        mem_free(b->kept);
        mem_free(b);
        b = before;
    }
}

consm_status delta_next(struct delta *out, const struct delta *before)
{
    consm_status st = CONSM_OK;
    struct written *b;
    *out = (struct delta){0};
    TRY(ZNEW(b, 1));
    atomic_init(&b->owners, 1);
    b->next_slab = FIRST_SLAB;
    if (before) {
        *out = *before;
        b->before = before->written;
        atomic_fetch_add(&b->before->owners, 1);
        b->bytes = b->before->bytes;
    }
    out->written = b;
done:
    return st;
}

void delta_free(struct delta *c)
{
    written_free(c->written);
    *c = (struct delta){0};
}

size_t delta_bytes(const struct delta *c)
{
    return c->written->bytes;
}

void *delta_room(struct delta *c, size_t bytes)
{
    struct written *b = c->written;
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > b->room - b->used) {
        size_t size = bytes > b->next_slab ? bytes : b->next_slab;
        struct slab *s = mem_alloc(1, sizeof *s + size);
        if (!s)
            return NULL;
        s->next = b->slab;
        b->slab = s;
        b->used = 0;
        b->room = size;
        b->bytes += size;
        b->next_slab = b->next_slab < LAST_SLAB ? 2 * b->next_slab : LAST_SLAB;
    }
    void *room = (char *)(b->slab + 1) + b->used;
    b->used += bytes;
    return room;
}

consm_status delta_keep(struct delta *c, struct consm_dataset *dataset)
{
    struct written *b = c->written;
    consm_status st = GROW(b->kept, b->keeps, b->keep_room, 1);
    if (st < 0) {
        consm_dataset_free(dataset);
        return st;
    }
    b->kept[b->keeps++] = dataset;
    b->bytes += (size_t)(dataset->data->nodes * dataset->data->features) * sizeof(float);
    return CONSM_OK;
}

/* ---- looking ------------------------------------------------------------- */

static bool outside(const struct delta *c, int64_t number)
{
    return number >> (BITS * (c->height + 1)) != 0;
}

static int64_t child_at(int64_t number, int height)
{
    return number >> (BITS * height) & (FAN - 1);
}

/* How many of the leaf's nodes with changes come before the node. */
static int64_t rank_in(const struct few *leaf, int64_t number)
{
    uint64_t bit = (uint64_t)1 << (number & (FAN - 1));
    return __builtin_popcountll(leaf->there & (bit - 1));
}

static bool is_there(const struct few *leaf, int64_t number)
{
    return leaf->there >> (number & (FAN - 1)) & 1;
}

const struct change *delta_find(const struct delta *c, int64_t number)
{
    const void *at = outside(c, number) ? NULL : c->root;
    for (int h = c->height; h > 0 && at; h--)
        at = ((const struct branch *)at)->child[child_at(number, h)];
    const struct few *leaf = at;
    return leaf && is_there(leaf, number) ? &leaf->change[rank_in(leaf, number)] : NULL;
}

/* ---- changing ------------------------------------------------------------ */

/* *at becomes a branch of this write, a copy of what was there. */
static consm_status own_branch(struct delta *c, void **at)
{
    const struct branch *old = *at;
    if (old && old->of == c->written)
        return CONSM_OK;
    struct branch *b = delta_room(c, sizeof *b);
    if (!b)
        return CONSM_ENOMEM;
    *b = old ? *old : (struct branch){0};
    b->of = c->written;
    *at = b;
    return CONSM_OK;
}

/* The same of a leaf, with room for one more change; twice that if it grew in this write. */
static consm_status own_leaf(struct delta *c, void **at)
{
    const struct few *old = *at;
    int64_t count = old ? __builtin_popcountll(old->there) : 0;
    bool mine = old && old->of == c->written;
    if (mine && count < old->room)
        return CONSM_OK;
    int64_t room = mine ? 2 * count : count + 1;
    struct few *l = delta_room(c, sizeof *l + (size_t)room * sizeof *l->change);
    if (!l)
        return CONSM_ENOMEM;
    l->there = old ? old->there : 0;
    if (count > 0)
        memcpy(l->change, old->change, (size_t)count * sizeof *l->change);
    l->of = c->written;
    l->room = room;
    *at = l;
    return CONSM_OK;
}

/* Adds levels until the tree reaches the node. */
static consm_status reach(struct delta *c, int64_t number)
{
    consm_status st = CONSM_OK;
    while (outside(c, number)) {
        void *above = NULL;
        if (c->root) {
            TRY(own_branch(c, &above));
            ((struct branch *)above)->child[0] = c->root;
        }
        c->root = above;
        c->height++;
    }
done:
    return st;
}

consm_status delta_touch(struct change **out, struct delta *c, int64_t number)
{
    consm_status st = CONSM_OK;
    TRY(reach(c, number));
    void **at = &c->root;
    for (int h = c->height; h > 0; h--) {
        TRY(own_branch(c, at));
        at = &((struct branch *)*at)->child[child_at(number, h)];
    }
    TRY(own_leaf(c, at));
    struct few *leaf = *at;
    int64_t rank = rank_in(leaf, number);
    *out = &leaf->change[rank];
    if (!is_there(leaf, number)) {
        int64_t after = __builtin_popcountll(leaf->there) - rank;
        memmove(*out + 1, *out, (size_t)after * sizeof **out);
        **out = (struct change){.node = (int32_t)number};
        leaf->there |= (uint64_t)1 << (number & (FAN - 1));
        c->count++;
    }
done:
    return st;
}

/* ---- all of them --------------------------------------------------------- */

struct visitor {
    consm_status (*visit)(void *ctx, const struct change *change);
    void *ctx;
};

/* What two states share did not change. `height` is a variable because leaves have no branches. */
static consm_status each(const struct visitor *v, const void *now, const void *since, int height)
{
    consm_status st = CONSM_OK;
    if (!now || now == since)
        return CONSM_OK;
    const struct branch *branch = now, *old = since;
    const struct few *leaf = now;
    for (int64_t i = 0; height > 0 && i < FAN; i++)
        TRY(each(v, branch->child[i], old ? old->child[i] : NULL, height - 1));
    int64_t count = height > 0 ? 0 : __builtin_popcountll(leaf->there);
    for (int64_t i = 0; i < count; i++)
        TRY(v->visit(v->ctx, &leaf->change[i]));
done:
    return st;
}

consm_status delta_each(const struct delta *c, const struct delta *since,
                        consm_status (*visit)(void *ctx, const struct change *change), void *ctx)
{
    const struct visitor v = {visit, ctx};
    struct branch above[MOST_HEIGHT + 1] = {0};
    void *root = since ? since->root : NULL;
    for (int h = since ? since->height : c->height; root && h < c->height; h++) {
        above[h].child[0] = root; /* as high as the newer tree */
        root = &above[h];
    }
    return each(&v, c->root, root, c->height);
}
