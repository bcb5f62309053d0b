/* The reference backend: memory apart from the host's, programs as lists of loops. */
#include "reference/backend.h"

#include "base/alloc.h"
#include "base/threads.h"
#include "reference/kernels.h"
#include "reference/leaves.h"
#include <string.h>

typedef void loop_fn(const struct instr *in, const struct step *step);

/* Leaves are not operations: nothing to do. */
#define reference_param  NULL
#define reference_input  NULL
#define reference_sparse NULL
#define reference_beside NULL

static loop_fn *const loops[OP_COUNT] = {
#define OP(NAME, name, ...) [OP_##NAME] = reference_##name,
#include "program/ops.def"
#undef OP
};

static bool reference_supports(const struct backend *b, enum op op)
{
    (void)b;
    return loops[op] != NULL;
}

/* ---- memory ---- */

struct own_memory {
    struct memory base; /* host is NULL: the host cannot reach this memory */
    char *data;
};

static char *data_of(const struct memory *m)
{
    return m ? ((const struct own_memory *)m)->data : NULL;
}

static consm_status reference_allocate(struct backend *b, struct memory **out, size_t bytes)
{
    consm_status st = CONSM_OK;
    struct own_memory *m = NULL;
    (void)b;
    *out = NULL;
    TRY(ZNEW(m, 1));
    m->base.bytes = bytes;
    TRY(ZNEW(m->data, bytes));
    *out = &m->base;
    m = NULL;
done:
    mem_free(m);
    return st;
}

static void reference_release(struct backend *b, struct memory *m)
{
    (void)b;
    mem_free(data_of(m));
    mem_free(m);
}

static consm_status reference_upload(struct backend *b, struct memory *to, size_t at,
                                     const void *from, size_t bytes)
{
    (void)b;
    memcpy(data_of(to) + at, from, bytes);
    return CONSM_OK;
}

static consm_status reference_download(struct backend *b, void *to, const struct memory *from,
                                       size_t at, size_t bytes)
{
    (void)b;
    memcpy(to, data_of(from) + at, bytes);
    return CONSM_OK;
}

static consm_status reference_copy(struct backend *b, struct memory *to, const struct memory *from)
{
    (void)b;
    memcpy(data_of(to), data_of(from), from->bytes);
    return CONSM_OK;
}

/* ---- programs ---- */

struct compiled {
    const struct planned *plan;
    struct instr *instr;    /* (instrs) with our own addresses */
    struct leaf_copy *copy; /* (leaves) */
    const void **leaf;      /* (leaves) addresses of the copies */
    bool settled;           /* constants have been computed */
};

static void reference_discard(struct compiled *c)
{
    if (!c)
        return;
    for (int32_t i = 0; c->copy && i < c->plan->leaves; i++)
        leaf_forget(&c->copy[i]);
    mem_free(c->instr);
    mem_free(c->copy);
    mem_free(c->leaf);
    mem_free(c);
}

static consm_status reference_compile(struct backend *b, struct compiled **out,
                                      const struct planned *plan)
{
    consm_status st = CONSM_OK;
    struct compiled *c = NULL;
    (void)b;
    *out = NULL;
    TRY(ZNEW(c, 1));
    c->plan = plan;
    TRY(NEW(c->instr, plan->instrs));
    TRY(ZNEW(c->copy, plan->leaves));
    TRY(ZNEW(c->leaf, plan->leaves));
    *out = c;
    c = NULL;
done:
    reference_discard(c);
    return st;
}

/* Our copy of the leaf at that address. */
static const void *own(const struct compiled *c, const void *theirs)
{
    for (int32_t i = 0; theirs && i < c->plan->leaves; i++)
        if (c->plan->leaf[i].data == theirs)
            return c->leaf[i];
    return NULL;
}

static void resolve(struct compiled *c)
{
    void *base[PLACES];
    for (int place = 0; place < PLACES; place++)
        base[place] = data_of(c->plan->memory[place]);
    for (int32_t i = 0; i < c->plan->instrs; i++) {
        const struct attr *attr = &c->plan->instr[i].attr;
        struct instr *in = &c->instr[i];
        *in = c->plan->instr[i];
        in->attr.csr = own(c, attr->csr);
        in->attr.index = own(c, attr->index);
        in->attr.other = own(c, attr->other);
        in->attr.label = own(c, attr->label);
        in->attr.weight = own(c, attr->weight);
        in->attr.number = own(c, attr->number);
        instr_resolve(in, base, c->leaf);
    }
}

/* Updates the copies of the leaves. */
static consm_status follow_leaves(struct compiled *c)
{
    consm_status st = CONSM_OK;
    bool any = false;
    for (int32_t i = 0; i < c->plan->leaves; i++) {
        bool changed = false;
        TRY(leaf_follow(&c->copy[i], &c->plan->leaf[i], &changed));
        c->leaf[i] = c->copy[i].data;
        c->settled = c->settled && !(changed && c->plan->leaf[i].constant);
        any = any || changed;
    }
    if (any || c->plan->leaves == 0)
        resolve(c);
done:
    return st;
}

static consm_status reference_run(struct compiled *c, const struct step *first, int64_t steps)
{
    consm_status st = CONSM_OK;
    struct step step = *first;
    TRY(follow_leaves(c));
    for (int64_t k = 0; k < steps; k++, step.number++) {
        for (int32_t i = 0; i < c->plan->instrs; i++)
            if (!c->instr[i].once || !c->settled)
                loops[c->instr[i].op](&c->instr[i], &step);
        c->settled = true;
    }
done:
    return st;
}

/* ---- life ---- */

static void reference_close(struct backend *b)
{
    team_free(b->host);
    mem_free(b);
}

static const struct backend_kind reference_kind = {
    .name = "reference",
    .supports = reference_supports,
    .allocate = reference_allocate,
    .release = reference_release,
    .upload = reference_upload,
    .download = reference_download,
    .copy = reference_copy,
    .compile = reference_compile,
    .run = reference_run,
    .discard = reference_discard,
    .close = reference_close,
    .composes = 16 << 20,
};

consm_status reference_open(struct backend **out, int threads)
{
    consm_status st = CONSM_OK;
    struct backend *b = NULL;
    *out = NULL;
    TRY(ZNEW(b, 1));
    b->kind = &reference_kind;
    b->device = b->kind->name;
    TRY(team_new(&b->host, threads));
    *out = b;
    b = NULL;
done:
    mem_free(b);
    return st;
}
