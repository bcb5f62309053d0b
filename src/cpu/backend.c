/* Compiles and runs programs on the CPU. A run wakes the team once and calls every kernel in turn,
 * with a barrier if one needs another's results. If the number of threads is not set, each program
 * finds its own. */
#include "cpu/backend.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/threads.h"
#include "cpu/kernels.h"
#include "cpu/pace.h"
#include <string.h>

struct compiled {
    struct team *team;
    const struct planned *plan;
    struct instr *instr;
    bool *waits; /* (instrs) a barrier comes before it */
    void *base[PLACES], *scratch;
    const void **leaf; /* (leaves) addresses at the last run */
    uint64_t *seen;    /* (leaves) versions at the last run */
    bool settled;      /* constants have been computed */
    bool paced;        /* on the best number of threads, else on all */
    struct pace pace;
};

struct cpu {
    struct backend base;
    bool paced;
};

static bool cpu_supports(const struct backend *b, enum op op)
{
    (void)b;
    return cpu_kernels[op] != NULL;
}

/* ---- memory ---- */

static consm_status cpu_allocate(struct backend *b, struct memory **out, size_t bytes)
{
    consm_status st = CONSM_OK;
    struct memory *m = NULL;
    (void)b;
    *out = NULL;
    TRY(NEW(m, 1));
    m->bytes = bytes;
    m->host = mem_zalloc(1, bytes);
    if (!m->host)
        TRY(CONSM_ENOMEM);
    *out = m;
    m = NULL;
done:
    mem_free(m);
    return st;
}

static void cpu_release(struct backend *b, struct memory *m)
{
    (void)b;
    mem_free(m->host);
    mem_free(m);
}

static consm_status cpu_upload(struct backend *b, struct memory *to, size_t at, const void *from,
                               size_t bytes)
{
    (void)b;
    memcpy((char *)to->host + at, from, bytes);
    return CONSM_OK;
}

static consm_status cpu_download(struct backend *b, void *to, const struct memory *from, size_t at,
                                 size_t bytes)
{
    (void)b;
    memcpy(to, (const char *)from->host + at, bytes);
    return CONSM_OK;
}

static consm_status cpu_copy(struct backend *b, struct memory *to, const struct memory *from)
{
    (void)b;
    memcpy(to->host, from->host, from->bytes);
    return CONSM_OK;
}

/* ---- programs ---- */

static void cpu_discard(struct compiled *c)
{
    if (!c)
        return;
    mem_free(c->instr);
    mem_free(c->waits);
    mem_free(c->scratch);
    mem_free(c->leaf);
    mem_free(c->seen);
    mem_free(c);
}

static void resolve(struct compiled *c)
{
    for (int32_t i = 0; i < c->plan->instrs; i++)
        instr_resolve(&c->instr[i], c->base, c->leaf);
}

/* Approximate work of an operation: the larger of output and input; rows that a sparse product
 * gathers count each time. */
static double instr_elements(const struct instr *in)
{
    double most = (double)in->rows * (double)in->cols;
    if (in->attr.csr && in->attr.csr->nnz > in->rows)
        most = (double)in->attr.csr->nnz * (double)in->cols;
    for (int i = 0; i < NODE_SOURCES; i++) {
        double source = (double)in->src_rows[i] * (double)in->src_cols[i];
        most = source > most ? source : most;
    }
    return in->once ? 0 : most;
}

static consm_status cpu_compile(struct backend *b, struct compiled **out,
                                const struct planned *plan)
{
    consm_status st = CONSM_OK;
    struct compiled *c = NULL;
    size_t scratch = 0;
    *out = NULL;
    TRY(ZNEW(c, 1));
    c->team = b->host;
    c->plan = plan;
    TRY(NEW(c->instr, plan->instrs));
    TRY(NEW(c->waits, plan->instrs));
    TRY(ZNEW(c->leaf, plan->leaves));
    TRY(ZNEW(c->seen, plan->leaves));
    for (int place = 0; place < PLACES; place++)
        c->base[place] = plan->memory[place] ? plan->memory[place]->host : NULL;
    for (int32_t i = 0; i < plan->leaves; i++) {
        c->leaf[i] = plan->leaf[i].data;
        c->seen[i] = leaf_version(&plan->leaf[i]);
    }
    double elements = 0;
    for (int32_t i = 0; i < plan->instrs; i++) {
        c->instr[i] = plan->instr[i];
        elements += instr_elements(&c->instr[i]);
        size_t bytes = scratch_bytes(&c->instr[i]);
        scratch = bytes > scratch ? bytes : scratch;
    }
    c->scratch = mem_alloc(1, scratch);
    if (!c->scratch)
        TRY(CONSM_ENOMEM);
    for (int32_t i = 0; i < plan->instrs; i++)
        c->instr[i].scratch = c->scratch;
    resolve(c);
    mark_barriers(c->waits, c->instr, plan->instrs);
    c->paced = ((const struct cpu *)b)->paced;
    pace_begin(&c->pace, team_size(c->team), plan->instrs > 0 ? elements / plan->instrs : 0);
    *out = c;
    c = NULL;
done:
    cpu_discard(c);
    return st;
}

/* Leaves are read in place. Follows those that were bound elsewhere, and computes constants again
 * if needed. */
static void follow_leaves(struct compiled *c)
{
    bool moved = false;
    for (int32_t i = 0; i < c->plan->leaves; i++) {
        const struct leaf *leaf = &c->plan->leaf[i];
        uint64_t version = leaf_version(leaf);
        if (version == c->seen[i])
            continue;
        c->seen[i] = version;
        moved = moved || c->leaf[i] != leaf->data;
        c->leaf[i] = leaf->data;
        c->settled = c->settled && !leaf->constant;
    }
    if (moved)
        resolve(c);
}

/* Elements [from, to) of rows picked from x. */
static void pick_rows(const struct instr *in, const float *x, const int32_t *row, int64_t from,
                      int64_t to)
{
    for (int64_t e = from; e < to;) {
        const int64_t r = e / in->cols, c = e % in->cols;
        const int64_t count = to - e < in->cols - c ? to - e : in->cols - c;
        memcpy(in->out + e, x + row[r] * in->cols + c, (size_t)count * sizeof(float));
        e += count;
    }
}

/* Copies what the instruction would compute from where it already is. */
static void take_over(const struct compiled *c, int32_t i, const struct step *step,
                      struct worker who)
{
    const struct instr *planned = &c->plan->instr[i];
    const char *other = c->plan->memory[PLACE_OTHER]->host;
    struct instr in = c->instr[i];
    int64_t from, to;
    in.op = planned->reuse == REUSE_DROPPED ? OP_DROPOUT : OP_RESHAPE;
    in.src[0] = (const float *)(const void *)(other + planned->reuse_at);
    if (planned->reuse_rows) {
        range_elements(&in, who, &from, &to);
        if (in.op == OP_DROPOUT && in.attr.number) { /* it works by rows */
            range_rows(in.rows, who, &from, &to);
            from *= in.cols;
            to *= in.cols;
        }
        pick_rows(&in, in.src[0], planned->reuse_rows, from, to);
        in.src[0] = in.out;
    }
    if (in.op == OP_DROPOUT || !planned->reuse_rows)
        cpu_kernels[in.op](&in, step, who);
}

struct cpu_run {
    const struct compiled *compiled;
    struct step first;
    int64_t steps;
};

static void run_worker(void *arg, struct worker who)
{
    const struct cpu_run *run = arg;
    const struct compiled *c = run->compiled;
    struct step step = run->first;
    bool settled = c->settled, fresh = settled && c->plan->fresh;
    for (int64_t k = 0; k < run->steps; k++, step.number++) {
        for (int32_t i = 0; i < c->plan->instrs; i++) {
            const struct instr *in = &c->instr[i];
            if (c->waits[i])
                team_barrier(who);
            enum reuse reuse = fresh ? c->plan->instr[i].reuse : REUSE_NOTHING;
            if (reuse >= REUSE_VALUE)
                take_over(c, i, &step, who);
            else if (reuse == REUSE_NOTHING && (!in->once || !settled))
                cpu_kernels[in->op](in, &step, who);
        }
        team_barrier(who);
        settled = true;
        fresh = false;
    }
}

static consm_status cpu_run(struct compiled *c, const struct step *first, int64_t steps)
{
    struct cpu_run run = {c, *first, steps};
    follow_leaves(c);
    int threads = c->paced ? pace_threads(&c->pace) : team_size(c->team);
    double begin = c->paced ? clock_seconds() : 0;
    team_run_on(c->team, threads, run_worker, &run);
    if (c->paced && c->settled && steps > 0)
        pace_took(&c->pace, (clock_seconds() - begin) / (double)steps);
    c->settled = c->settled || steps > 0;
    return CONSM_OK;
}

/* ---- life ---- */

static void cpu_close(struct backend *b)
{
    team_free(b->host);
    mem_free(b);
}

static consm_status cpu_another(struct backend **out, const struct backend *b, int threads)
{
    (void)b;
    return cpu_open(out, threads);
}

static const struct backend_kind cpu_kind = {
    .name = "cpu",
    .supports = cpu_supports,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .upload = cpu_upload,
    .download = cpu_download,
    .copy = cpu_copy,
    .compile = cpu_compile,
    .run = cpu_run,
    .discard = cpu_discard,
    .close = cpu_close,
    .composes = 16 << 20,
    .reuses = true,
    .another = cpu_another,
};

consm_status cpu_open(struct backend **out, int threads)
{
    consm_status st = CONSM_OK;
    struct cpu *b = NULL;
    *out = NULL;
    TRY(simd_check());
    TRY(ZNEW(b, 1));
    b->base.kind = &cpu_kind;
    b->base.device = cpu_kind.name;
    b->paced = threads == 0;
    TRY(team_new(&b->base.host, threads));
    *out = &b->base;
    b = NULL;
done:
    mem_free(b);
    return st;
}
