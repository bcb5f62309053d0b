/*
 * A backend that hides another one's memory: the same kernels, but the host cannot reach its
 * blocks, and leaves are copied when their version says so, as for a card. Whoever reads or writes
 * behind a backend's back, or keeps an address over a run, gets other bits here.
 */
#ifndef TESTS_APART_H
#define TESTS_APART_H

#include "programs.h"

#include "reference/leaves.h"

struct apart {
    struct backend base;
    struct backend *inner;
};

static inline struct backend *apart_inner(const struct backend *b)
{
    return ((const struct apart *)b)->inner;
}

struct apart_memory {
    struct memory base; /* host is NULL */
    struct memory *inner;
};

static inline struct memory *memory_inner(const struct memory *m)
{
    return m ? ((const struct apart_memory *)m)->inner : NULL;
}

static bool apart_supports(const struct backend *b, enum op op)
{
    return apart_inner(b)->kind->supports(apart_inner(b), op);
}

static consm_status apart_allocate(struct backend *b, struct memory **out, size_t bytes)
{
    consm_status st = CONSM_OK;
    struct apart_memory *m = NULL;
    *out = NULL;
    TRY(ZNEW(m, 1));
    m->base.bytes = bytes;
    TRY(apart_inner(b)->kind->allocate(apart_inner(b), &m->inner, bytes));
    *out = &m->base;
    m = NULL;
done:
    mem_free(m);
    return st;
}

static void apart_release(struct backend *b, struct memory *m)
{
    apart_inner(b)->kind->release(apart_inner(b), memory_inner(m));
    mem_free(m);
}

static consm_status apart_upload(struct backend *b, struct memory *to, size_t at, const void *from,
                                 size_t bytes)
{
    return apart_inner(b)->kind->upload(apart_inner(b), memory_inner(to), at, from, bytes);
}

static consm_status apart_download(struct backend *b, void *to, const struct memory *from,
                                   size_t at, size_t bytes)
{
    return apart_inner(b)->kind->download(apart_inner(b), to, memory_inner(from), at, bytes);
}

static consm_status apart_copy(struct backend *b, struct memory *to, const struct memory *from)
{
    return apart_inner(b)->kind->copy(apart_inner(b), memory_inner(to), memory_inner(from));
}

/* ---- programs ---- */

struct compiled {
    const struct backend_kind *kind; /* of the inner one */
    struct compiled *inner;
    const struct planned *theirs;
    struct planned plan; /* over copies of the leaves */
    struct instr *instr;
    struct leaf *leaf;
    struct leaf_copy *copy;
};

static void apart_discard(struct compiled *c)
{
    if (!c)
        return;
    if (c->inner)
        c->kind->discard(c->inner);
    for (int32_t i = 0; c->copy && i < c->plan.leaves; i++)
        leaf_forget(&c->copy[i]);
    mem_free(c->instr);
    mem_free(c->leaf);
    mem_free(c->copy);
    mem_free(c);
}

static const void *apart_leaf(const struct compiled *c, const void *theirs)
{
    for (int32_t i = 0; theirs && i < c->plan.leaves; i++)
        if (c->theirs->leaf[i].data == theirs)
            return c->leaf[i].data;
    return NULL;
}

static consm_status apart_follow(struct compiled *c)
{
    consm_status st = CONSM_OK;
    for (int32_t i = 0; i < c->plan.leaves; i++) {
        bool changed = false;
        TRY(leaf_follow(&c->copy[i], &c->theirs->leaf[i], &changed));
        c->leaf[i] = c->theirs->leaf[i];
        c->leaf[i].data = c->copy[i].data;
    }
done:
    return st;
}

static consm_status apart_compile(struct backend *b, struct compiled **out,
                                  const struct planned *plan)
{
    consm_status st = CONSM_OK;
    struct compiled *c = NULL;
    *out = NULL;
    TRY(ZNEW(c, 1));
    c->kind = apart_inner(b)->kind;
    c->theirs = plan;
    c->plan = *plan;
    TRY(NEW(c->instr, plan->instrs));
    TRY(NEW(c->leaf, plan->leaves));
    TRY(ZNEW(c->copy, plan->leaves));
    TRY(apart_follow(c));
    for (int32_t i = 0; i < plan->instrs; i++) {
        struct attr *attr = &c->instr[i].attr;
        c->instr[i] = plan->instr[i];
        attr->csr = apart_leaf(c, attr->csr);
        attr->index = apart_leaf(c, attr->index);
        attr->other = apart_leaf(c, attr->other);
        attr->label = apart_leaf(c, attr->label);
        attr->weight = apart_leaf(c, attr->weight);
        attr->number = apart_leaf(c, attr->number);
    }
    for (int place = 0; place < PLACES; place++)
        c->plan.memory[place] = memory_inner(plan->memory[place]);
    c->plan.instr = c->instr;
    c->plan.leaf = c->leaf;
    TRY(c->kind->compile(apart_inner(b), &c->inner, &c->plan));
    *out = c;
    c = NULL;
done:
    apart_discard(c);
    return st;
}

static consm_status apart_run(struct compiled *c, const struct step *first, int64_t steps)
{
    consm_status st = apart_follow(c);
    return st < 0 ? st : c->kind->run(c->inner, first, steps);
}

static void apart_close(struct backend *b)
{
    backend_close(apart_inner(b));
    mem_free(b);
}

/* Opens a backend by name and hides its memory. */
static inline void apart_open(struct backend **out, const char *name, int threads)
{
    static const struct backend_kind kind = {
        .name = "apart",
        .supports = apart_supports,
        .allocate = apart_allocate,
        .release = apart_release,
        .upload = apart_upload,
        .download = apart_download,
        .copy = apart_copy,
        .compile = apart_compile,
        .run = apart_run,
        .discard = apart_discard,
        .close = apart_close,
    };
    struct apart *apart;
    OK(ZNEW(apart, 1));
    OK(backend_open(&apart->inner, name, threads));
    apart->base.kind = &kind;
    apart->base.host = apart->inner->host;
    *out = &apart->base;
}

#endif
