/* The kernels of src/cuda behind program/backend.h, on the card of cuda_runtime.h. Memory is the host's
 * but hidden, as a card's is, so that training and evaluation run as one program; leaves are read where
 * they are. Kernels run one after the other, but in an order that is as far from the program's as their
 * lanes allow: whoever waits for too little reads old numbers. On a card the scratch of another lane
 * follows a kernel's own; here a fence follows it, which is checked. */
#include "cuda/device.cuh"
#include "cuda/lanes.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <vector>

extern "C" {
#include "base/threads.h"
consm_status card_open(struct backend **out, int threads);
}

struct compiled {
    const struct planned *plan;
    std::vector<struct instr> instr;
    std::vector<const void *> leaf;
    std::vector<int32_t> chain_of;
    std::vector<struct lane_plan> lane;
    std::vector<char> meets;
    struct lanes lanes;
    char *scratch;
    bool settled;
    uint64_t versions; /* of all leaves, added up */
};

struct card_memory {
    struct memory base; /* host is NULL */
    char *data;
};

static char *data_of(const struct memory *m)
{
    return m ? ((const struct card_memory *)m)->data : NULL;
}

static bool card_supports(const struct backend *, enum op op)
{
    return cuda_kernels[op] != NULL;
}

static consm_status card_allocate(struct backend *, struct memory **out, size_t bytes)
{
    struct card_memory *m = (struct card_memory *)calloc(1, sizeof *m);
    m->base.bytes = bytes;
    m->data = (char *)aligned_alloc(64, (bytes / 64 + 2) * 64);
    memset(m->data, 0, bytes);
    *out = &m->base;
    return CONSM_OK;
}

static void card_release(struct backend *, struct memory *m)
{
    free(data_of(m));
    free(m);
}

static consm_status card_upload(struct backend *, struct memory *to, size_t at, const void *from,
                                size_t bytes)
{
    memcpy(data_of(to) + at, from, bytes);
    return CONSM_OK;
}

static consm_status card_download(struct backend *, void *to, const struct memory *from, size_t at,
                                  size_t bytes)
{
    memcpy(to, data_of(from) + at, bytes);
    return CONSM_OK;
}

static consm_status card_copy(struct backend *, struct memory *to, const struct memory *from)
{
    memcpy(data_of(to), data_of(from), from->bytes);
    return CONSM_OK;
}

/* The fence behind an instruction's scratch. It is as large as the scratch, so that a size that is too
 * small by up to half is found. */
enum { FENCE_LEAST = 4096, FENCE_BYTE = 0xa5 };

static size_t fence_bytes(size_t scratch)
{
    return scratch + FENCE_LEAST;
}

static consm_status card_compile(struct backend *, struct compiled **out,
                                 const struct planned *plan)
{
    struct compiled *c = new compiled();
    size_t most = 0;
    c->plan = plan;
    c->instr.assign(plan->instr, plan->instr + plan->instrs);
    c->leaf.resize((size_t)plan->leaves);
    c->chain_of.resize((size_t)plan->instrs);
    chains_plan(plan, c->chain_of.data());
    c->lane.resize((size_t)plan->instrs);
    c->meets.resize((size_t)plan->instrs * (size_t)plan->instrs);
    c->lanes = {plan, c->chain_of.data(), c->lane.data(), (bool *)c->meets.data(), {}};
    lanes_plan(&c->lanes);
    for (const struct instr &in : c->instr)
        most = cuda_scratch_bytes(&in) > most ? cuda_scratch_bytes(&in) : most;
    c->scratch = (char *)calloc(2, most + FENCE_LEAST);
    *out = c;
    return CONSM_OK;
}

/* Launches an instruction with its chain. Aborts if the kernel writes behind the scratch it asked for, or
 * leaves a counter that is not zero. */
static void play(struct compiled *c, int32_t at, const struct cuda_context *cx)
{
    const size_t bytes = cuda_scratch_bytes(&c->instr[(size_t)at]);
    const char *counters = c->scratch;
    char *fence = c->scratch + bytes;
    const char *wrong = NULL;
    if (bytes == 0) { /* its scratch is NULL */
        chain_launch(c->instr.data(), c->plan->instrs, c->chain_of.data(), at, cx);
        return;
    }
    memset(fence, FENCE_BYTE, fence_bytes(bytes));
    chain_launch(c->instr.data(), c->plan->instrs, c->chain_of.data(), at, cx);
    for (size_t i = 0; i < fence_bytes(bytes) && !wrong; i++)
        if (fence[i] != (char)FENCE_BYTE)
            wrong = "writes behind its scratch";
    for (size_t i = 0; i < COUNTER_BYTES && !wrong; i++)
        if (counters[i] != 0)
            wrong = "leaves counters that are not zero";
    if (!wrong)
        return;
    fprintf(stderr, "card: %s %s\n", op_name(c->instr[(size_t)at].op), wrong);
    abort();
}

/* A kernel of one of several steps that are played together, and whom it waits for. */
struct played {
    int64_t number, wait[LANES]; /* as lanes.cuh counts */
};

enum { TOGETHER = 3 }; /* steps */

/* Some steps: always the last lane that need not wait. */
static void run_steps(struct compiled *c, struct step first, int64_t steps)
{
    std::vector<struct played> lane[LANES];
    size_t next[LANES] = {};
    int64_t done[LANES];
    struct step step[TOGETHER];
    const int32_t count = c->plan->instrs;
    lanes_begin(&c->lanes);
    for (int64_t s = 0; s < steps; s++) {
        step[s] = {first.seed, first.number + (uint64_t)s};
        for (int32_t i = 0; i < count; i++) {
            struct played p = {s * count + i, {}};
            if (c->instr[(size_t)i].once || c->chain_of[(size_t)i] != i)
                continue;
            lanes_next(&c->lanes, p.wait, s, i);
            lane[c->lane[(size_t)i].lane].push_back(p);
        }
    }
    for (int k = 0; k < LANES; k++)
        done[k] = -1;
    for (int at = LANES - 1; at >= 0;) {
        bool ready = next[at] < lane[at].size();
        for (int k = 0; ready && k < LANES; k++)
            ready = lane[at][next[at]].wait[k] <= done[k];
        if (!ready) {
            at--;
            continue;
        }
        const int64_t number = lane[at][next[at]++].number;
        const struct cuda_context cx = {NULL, &step[number / count], NULL, true, NULL};
        play(c, (int32_t)(number % count), &cx);
        done[at] = number;
        at = LANES - 1;
    }
    for (int k = 0; k < LANES; k++)
        if (next[k] < lane[k].size())
            abort(); /* lanes that wait for each other */
}

static consm_status card_run(struct compiled *c, const struct step *first, int64_t steps)
{
    void *base[PLACES];
    uint64_t versions = 0;
    for (int place = 0; place < PLACES; place++)
        base[place] = data_of(c->plan->memory[place]);
    for (int32_t i = 0; i < c->plan->leaves; i++) {
        c->leaf[(size_t)i] = c->plan->leaf[i].data;
        versions += leaf_version(&c->plan->leaf[i]);
    }
    c->settled = c->settled && versions == c->versions;
    c->versions = versions;
    for (struct instr &in : c->instr) {
        in.scratch = cuda_scratch_bytes(&in) > 0 ? (float *)c->scratch : NULL;
        instr_resolve(&in, base, c->leaf.data());
    }
    const struct cuda_context cx = {NULL, first, NULL, true, NULL};
    for (int32_t i = 0; i < c->plan->instrs && !c->settled && steps > 0; i++)
        if (c->instr[(size_t)i].once)
            play(c, i, &cx);
    c->settled = c->settled || steps > 0;
    for (int64_t k = 0; k < steps; k += TOGETHER)
        run_steps(c, {first->seed, first->number + (uint64_t)k},
                  steps - k < TOGETHER ? steps - k : TOGETHER);
    return CONSM_OK;
}

static void card_discard(struct compiled *c)
{
    if (!c)
        return;
    free(c->scratch);
    delete c;
}

static void card_close(struct backend *b)
{
    team_free(b->host);
    free(b);
}

static const struct backend_kind card_kind = {
    "card",    card_supports, card_allocate, card_release, card_upload, card_download,
    card_copy, card_compile,  card_run,      card_discard, card_close,   32 << 20, 0,
    false,     NULL,
};

consm_status card_open(struct backend **out, int threads)
{
    struct backend *b = (struct backend *)calloc(1, sizeof *b);
    b->kind = &card_kind;
    *out = b;
    return team_new(&b->host, threads);
}
