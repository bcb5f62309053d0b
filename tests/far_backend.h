/* A backend for tests whose memory the host does not see: the CPU behind a wall. It copies every
 * leaf into its own memory and copies again only if the leaf's version changes, as a card would.
 * Code that rewrites numbers without a new version computes with the old ones here. */

/*
 * It can be told to refuse an operation and to fail a run.
 */
#ifndef TESTS_FAR_BACKEND_H
#define TESTS_FAR_BACKEND_H

#include "programs.h"

#include "base/alloc.h"

struct far {
    struct backend base;
    struct backend *near;
    enum op refused;                  /* OP_COUNT: none */
    consm_status failure;             /* of the next run, then none */
    int64_t uploads, downloads, runs; /* of memory, twice; of programs */
    int64_t sent;                     /* leaves */
};

struct far_memory {
    struct memory base; /* base.host is NULL */
    struct memory *near;
};

/* A plan over copies of its leaves. */
struct far_compiled {
    struct far *far;
    const struct planned *plan;
    struct planned near_plan;
    struct instr *instr;
    struct leaf *leaf;
    uint64_t *seen; /* versions sent, + 1 */
    struct compiled *near;
};

static inline bool far_supports(const struct backend *b, enum op op)
{
    const struct far *far = (const struct far *)b;
    return op != far->refused && far->near->kind->supports(far->near, op);
}

static inline consm_status far_allocate(struct backend *b, struct memory **out, size_t bytes)
{
    consm_status st = CONSM_OK;
    struct far *far = (struct far *)b;
    struct far_memory *m = NULL;
    *out = NULL;
    TRY(ZNEW(m, 1));
    m->base.bytes = bytes;
    TRY(far->near->kind->allocate(far->near, &m->near, bytes));
    *out = &m->base;
    m = NULL;
done:
    mem_free(m);
    return st;
}

static inline void far_release(struct backend *b, struct memory *memory)
{
    struct far *far = (struct far *)b;
    struct far_memory *m = (struct far_memory *)memory;
    far->near->kind->release(far->near, m->near);
    mem_free(m);
}

static inline consm_status far_upload(struct backend *b, struct memory *to, size_t at,
                                      const void *from, size_t bytes)
{
    struct far *far = (struct far *)b;
    far->uploads++;
    return far->near->kind->upload(far->near, ((struct far_memory *)to)->near, at, from, bytes);
}

static inline consm_status far_download(struct backend *b, void *to, const struct memory *from,
                                        size_t at, size_t bytes)
{
    struct far *far = (struct far *)b;
    far->downloads++;
    return far->near->kind->download(far->near, to, ((const struct far_memory *)from)->near, at,
                                     bytes);
}

static inline consm_status far_copy(struct backend *b, struct memory *to, const struct memory *from)
{
    struct far *far = (struct far *)b;
    return far->near->kind->copy(far->near, ((struct far_memory *)to)->near,
                                 ((const struct far_memory *)from)->near);
}

/* ---- copies of leaves ---- */

static inline void *far_clone(const void *data, int64_t count, size_t size)
{
    void *copy = data ? mem_alloc((size_t)count, size) : NULL;
    if (copy)
        memcpy(copy, data, (size_t)count * size);
    return copy;
}

static inline void far_forget_csr(struct csr *a)
{
    mem_free(a->start);
    mem_free(a->col);
    mem_free(a->val);
    mem_free(a->t_entry);
}

static inline void far_fill_csr(struct csr *to, const struct csr *from)
{
    *to = *from;
    to->start = far_clone(from->start, from->rows + 1, sizeof *from->start);
    to->col = far_clone(from->col, from->nnz, sizeof *from->col);
    to->val = far_clone(from->val, from->nnz, sizeof *from->val);
    to->t_entry = far_clone(from->t_entry, from->nnz, sizeof *from->t_entry);
    to->t = NULL;
}

/* The address of a leaf's copy stays, because instructions name it; its content is freed. */
static inline void far_forget(struct leaf *leaf)
{
    if (leaf->kind == LEAF_CSR) {
        struct csr *a = (struct csr *)leaf->data;
        if (a->t && a->t != a) {
            far_forget_csr(a->t);
            mem_free(a->t);
        }
        far_forget_csr(a);
        *a = (struct csr){0};
    }
    if (leaf->kind == LEAF_INDEX) {
        struct index *index = (struct index *)leaf->data;
        mem_free(index->row);
        mem_free(index->start);
        mem_free(index->item);
        *index = (struct index){0};
    }
}

static inline size_t far_size(const struct leaf *leaf)
{
    switch (leaf->kind) {
    case LEAF_LABELS: return (size_t)leaf->count * sizeof(int32_t);
    case LEAF_NUMBERS: return (size_t)leaf->count * sizeof(int64_t);
    case LEAF_INDEX: return sizeof(struct index);
    case LEAF_CSR: return sizeof(struct csr);
    default: return (size_t)leaf->count * sizeof(float);
    }
}

static inline void far_send(struct leaf *to, const struct leaf *from)
{
    far_forget(to);
    if (from->kind == LEAF_CSR) {
        const struct csr *a = from->data;
        struct csr *copy = (struct csr *)to->data;
        far_fill_csr(copy, a);
        if (a->t == a)
            copy->t = copy;
        else if (a->t && (copy->t = mem_alloc(1, sizeof *copy->t)))
            far_fill_csr(copy->t, a->t);
    } else if (from->kind == LEAF_INDEX) {
        const struct index *index = from->data;
        struct index *copy = (struct index *)to->data;
        *copy = *index;
        copy->row = far_clone(index->row, index->count, sizeof *index->row);
        copy->start = far_clone(index->start, index->targets + 1, sizeof *index->start);
        copy->item = far_clone(index->item, index->count, sizeof *index->item);
    } else if (from->data) {
        memcpy((void *)to->data, from->data, far_size(from));
    }
    to->version++;
}

/* ---- programs ---- */

/* The copy of what an instruction names by its address. */
static inline const void *far_address(const struct far_compiled *c, const void *data)
{
    for (int32_t i = 0; data && i < c->plan->leaves; i++)
        if (c->plan->leaf[i].data == data)
            return c->leaf[i].data;
    return data;
}

static inline void far_discard(struct compiled *compiled)
{
    struct far_compiled *c = (struct far_compiled *)compiled;
    if (!c)
        return;
    c->far->near->kind->discard(c->near);
    for (int32_t i = 0; i < c->plan->leaves; i++) {
        far_forget(&c->leaf[i]);
        mem_free((void *)c->leaf[i].data);
    }
    mem_free(c->instr);
    mem_free(c->leaf);
    mem_free(c->seen);
    mem_free(c);
}

static inline consm_status far_compile(struct backend *b, struct compiled **out,
                                       const struct planned *plan)
{
    struct far *far = (struct far *)b;
    struct far_compiled *c;
    OK(ZNEW(c, 1));
    OK(NEW(c->instr, plan->instrs));
    OK(NEW(c->leaf, plan->leaves));
    OK(ZNEW(c->seen, plan->leaves));
    c->far = far;
    c->plan = plan;
    for (int32_t i = 0; i < plan->leaves; i++) {
        c->leaf[i] = plan->leaf[i];
        c->leaf[i].data = mem_zalloc(1, far_size(&plan->leaf[i]));
        assert_non_null(c->leaf[i].data);
        far_send(&c->leaf[i], &plan->leaf[i]);
        c->seen[i] = leaf_version(&plan->leaf[i]);
    }
    for (int32_t i = 0; i < plan->instrs; i++) {
        struct attr *attr = &c->instr[i].attr;
        c->instr[i] = plan->instr[i];
        attr->csr = far_address(c, attr->csr);
        attr->index = far_address(c, attr->index);
        attr->other = far_address(c, attr->other);
        attr->label = far_address(c, attr->label);
        attr->weight = far_address(c, attr->weight);
        attr->number = far_address(c, attr->number);
    }
    c->near_plan = *plan;
    c->near_plan.instr = c->instr;
    c->near_plan.leaf = c->leaf;
    for (int place = 0; place < PLACES; place++)
        if (plan->memory[place])
            c->near_plan.memory[place] = ((struct far_memory *)plan->memory[place])->near;
    *out = (struct compiled *)c;
    return far->near->kind->compile(far->near, &c->near, &c->near_plan);
}

static inline consm_status far_run(struct compiled *compiled, const struct step *first,
                                   int64_t steps)
{
    struct far_compiled *c = (struct far_compiled *)compiled;
    consm_status failure = c->far->failure;
    c->far->failure = CONSM_OK;
    if (failure < 0)
        return status_fail(failure, "the far backend is gone");
    for (int32_t i = 0; i < c->plan->leaves; i++) {
        uint64_t version = leaf_version(&c->plan->leaf[i]);
        if (c->seen[i] == version)
            continue;
        far_send(&c->leaf[i], &c->plan->leaf[i]);
        c->seen[i] = version;
        c->far->sent++;
    }
    c->far->runs++;
    return c->far->near->kind->run(c->near, first, steps);
}

static inline void far_close(struct backend *b)
{
    struct far *far = (struct far *)b;
    backend_close(far->near);
    mem_free(far);
}

/* Over the backend of that name; NULL: the default one. */
static inline struct far *far_open_over(const char *near, int threads)
{
    static struct backend_kind kind = {
        .name = "far",
        .supports = far_supports,
        .allocate = far_allocate,
        .release = far_release,
        .upload = far_upload,
        .download = far_download,
        .copy = far_copy,
        .compile = far_compile,
        .run = far_run,
        .discard = far_discard,
        .close = far_close,
    };
    struct far *far;
    OK(ZNEW(far, 1));
    OK(backend_open(&far->near, near, threads));
    if (kind.composes != far->near->kind->composes) /* tracks open side by side */
        kind.composes = far->near->kind->composes;  /* the same plan gives the same bits */
    far->base.kind = &kind;
    far->base.device = kind.name;
    far->base.host = far->near->host;
    far->refused = OP_COUNT;
    return far;
}

static inline struct far *far_open(int threads)
{
    return far_open_over(NULL, threads);
}

#endif
