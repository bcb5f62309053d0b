/* Runs programs as captured CUDA graphs. */

/*
 * A program's first run launches its kernels one by one, which also triggers lazy loading in
 * libraries and driver. Its second run captures a whole step, including the optimiser. From then on
 * a step is one launch; runs of many steps use a graph of several. Values that change from step to
 * step (seed and step number) are read on the card, where the last kernel of a step increments
 * them. Only downloads wait for the card, so they report earlier failures.
 */
#include "cuda/backend.cuh"
#include "cuda/device.cuh"

enum { BUNCH = 16 }; /* steps of the larger graph */

struct compiled {
    struct card *card;
    const struct planned *plan;
    struct instr *instr;    /* (instrs) with addresses of the card */
    struct card_leaf *copy; /* (leaves) our copies */
    const void **leaf;      /* (leaves) what instructions read */
    int32_t *chain_of;      /* (instrs) */
    struct lanes lanes;
    cudaEvent_t *event;  /* (instrs) of their ends, once captured */
    struct room scratch; /* of all lanes, one after the other */
    struct step *step;   /* (BUNCH) on the card: the next steps */
    struct step next;    /* the first of them, on the host */
    bool moved;          /* leaves have other addresses than the instructions know */
    bool settled;        /* constants have been computed */
    bool awake;          /* every kernel has run once */
    cudaGraphExec_t one, bunch;
};

static __global__ void set_steps(struct step *step, uint64_t seed, uint64_t number)
{
    step[threadIdx.x].seed = seed;
    step[threadIdx.x].number = number + threadIdx.x;
}

static __global__ void advance(struct step *step, unsigned steps)
{
    begin();
    step[threadIdx.x].number += steps;
}

bool cuda_supports(const struct backend *b, enum op op)
{
    (void)b;
    return cuda_kernels[op] != NULL;
}

static void forget_graphs(struct compiled *c)
{
    if (c->one)
        cudaGraphExecDestroy(c->one);
    if (c->bunch)
        cudaGraphExecDestroy(c->bunch);
    c->one = c->bunch = NULL;
}

void cuda_discard(struct compiled *c)
{
    if (!c)
        return;
    struct card *card = c->card;
    cudaSetDevice(card->number);
    if (c->one || c->bunch)
        cudaStreamSynchronize(card->stream);
    forget_graphs(c);
    for (int32_t i = 0; c->copy && i < c->plan->leaves; i++)
        leaf_forget(card, &c->copy[i]);
    for (int32_t i = 0; c->event && i < c->plan->instrs; i++)
        if (c->event[i])
            cudaEventDestroy(c->event[i]);
    room_free(card, &c->scratch);
    card_give(card, c->step, BUNCH * sizeof *c->step);
    card->host->free(c->instr);
    card->host->free(c->lanes.of);
    card->host->free(c->lanes.meets);
    card->host->free(c->event);
    card->host->free(c->chain_of);
    card->host->free(c->copy);
    card->host->free(c->leaf);
    card->host->free(c);
}

/* Our copy of the leaf that an instruction names by its address. The same numbers may be leaves of
 * several lengths; the longest contains them all. */
static const void *own(const struct compiled *c, enum leaf_kind kind, const void *theirs)
{
    const struct leaf *leaf = c->plan->leaf;
    int32_t found = -1;
    for (int32_t i = 0; theirs && i < c->plan->leaves; i++)
        if (leaf[i].kind == kind && leaf[i].data == theirs &&
            (found < 0 || leaf[i].count > leaf[found].count))
            found = i;
    return found < 0 ? NULL : c->leaf[found];
}

/* Gives instructions their addresses and scratch. */
static consm_status resolve(struct compiled *c)
{
    consm_status st = CONSM_OK;
    struct card *card = c->card;
    void *base[PLACES], *scratch = NULL;
    size_t most = 0;
    const size_t lanes = (size_t)lanes_of(c->plan);
    bool blas = false;
    for (int place = 0; place < PLACES; place++)
        base[place] = data_of(c->plan->memory[place]);
    for (int32_t i = 0; i < c->plan->instrs; i++) {
        const struct attr *attr = &c->plan->instr[i].attr;
        struct instr *in = &c->instr[i];
        *in = c->plan->instr[i];
        in->attr.csr = (const struct csr *)own(c, LEAF_CSR, attr->csr);
        in->attr.index = (const struct index *)own(c, LEAF_INDEX, attr->index);
        in->attr.other = (const struct index *)own(c, LEAF_INDEX, attr->other);
        in->attr.label = (const int32_t *)own(c, LEAF_LABELS, attr->label);
        in->attr.weight = (const float *)own(c, LEAF_FLOATS, attr->weight);
        in->attr.number = (const int64_t *)own(c, LEAF_NUMBERS, attr->number);
        card->host->resolve(in, base, c->leaf);
        size_t bytes = cuda_scratch_bytes(in);
        most = bytes > most ? bytes : most;
        blas = blas || cuda_calls_blas(in);
    }
    if (blas && !card->blas)
        TRY(card_open_blas(card));
    most = (most + 255) / 256 * 256;
    if (lanes * most > c->scratch.bytes) {
        TRY(card_take(card, &scratch, lanes * most));
        room_free(card, &c->scratch);
        c->scratch = {scratch, lanes * most};
        CHECK(cudaMemsetAsync(scratch, 0, lanes * most, card->stream), "clearing memory");
    }
    for (int32_t i = 0; i < c->plan->instrs; i++)
        c->instr[i].scratch = (float *)((char *)c->scratch.data +
                                        (size_t)c->lanes.of[i].lane * (c->scratch.bytes / lanes));
done:
    return st;
}

/* Updates the copies of the leaves. */
static consm_status follow_leaves(struct compiled *c)
{
    consm_status st = CONSM_OK;
    for (int32_t i = 0; i < c->plan->leaves; i++) {
        bool changed = false;
        TRY(leaf_follow(c->card, &c->copy[i], &c->plan->leaf[i], &changed, &c->moved));
        c->leaf[i] = c->copy[i].data;
        c->settled = c->settled && !(changed && c->plan->leaf[i].constant);
    }
    if (c->moved) {
        forget_graphs(c);
        TRY(resolve(c));
        c->moved = false;
    }
done:
    return st;
}

/* Puts all that a program needs on the card, so that lack of memory is reported before its first
 * step. */
consm_status cuda_compile(struct backend *b, struct compiled **out, const struct planned *plan)
{
    consm_status st = CONSM_OK;
    struct card *card = card_of(b);
    const struct plugin_services *host = card->host;
    struct compiled *c = (struct compiled *)host->zalloc(1, sizeof *c);
    void *step = NULL;
    *out = NULL;
    if (!c)
        return CONSM_ENOMEM;
    c->card = card;
    c->plan = plan;
    c->instr = (struct instr *)host->zalloc((size_t)plan->instrs, sizeof *c->instr);
    c->copy = (struct card_leaf *)host->zalloc((size_t)plan->leaves, sizeof *c->copy);
    c->leaf = (const void **)host->zalloc((size_t)plan->leaves, sizeof *c->leaf);
    c->lanes.of = (struct lane_plan *)host->zalloc((size_t)plan->instrs, sizeof *c->lanes.of);
    c->lanes.meets = (bool *)host->zalloc((size_t)plan->instrs, (size_t)plan->instrs);
    c->event = (cudaEvent_t *)host->zalloc((size_t)plan->instrs, sizeof *c->event);
    c->chain_of = (int32_t *)host->zalloc((size_t)plan->instrs, sizeof *c->chain_of);
    if (!c->instr || !c->copy || !c->leaf || !c->lanes.of || !c->lanes.meets || !c->event ||
        !c->chain_of)
        TRY(CONSM_ENOMEM);
    chains_plan(plan, c->chain_of);
    c->lanes.plan = plan;
    c->lanes.chain_of = c->chain_of;
    lanes_plan(&c->lanes);
    TRY(card_turn(card));
    TRY(card_take(card, &step, BUNCH * sizeof *c->step));
    c->step = (struct step *)step;
    set_steps<<<1, BUNCH, 0, card->stream>>>(c->step, 0, 0);
    TRY(follow_leaves(c));
    TRY(resolve(c));
    *out = c;
    return CONSM_OK;
done:
    cuda_discard(c);
    return st;
}

/* Launches the kernels of a step, or those of constants. */
static void launch_all(struct compiled *c, bool once)
{
    const struct cuda_context cx = {c->card->stream, c->step, c->card->blas, false, NULL};
    for (int32_t i = 0; i < c->plan->instrs; i++)
        if (c->instr[i].once == once && c->chain_of[i] == i)
            chain_launch(c->instr, c->plan->instrs, c->chain_of, i, &cx);
    if (!once)
        launch(&cx, advance, dim3(1), BUNCH, c->step, 1u);
}

/* Captures the kernels of a step in lanes, which all start with the first step. A kernel that waits
 * for another lane is not launched early. */
static void capture_step(struct compiled *c, int64_t number, bool entered[LANES])
{
    const struct card *card = c->card;
    const int32_t count = c->plan->instrs;
    for (int32_t i = 0; i < count; i++) {
        const int mine = c->lanes.of[i].lane;
        int64_t wait[LANES];
        if (c->instr[i].once || c->chain_of[i] != i)
            continue;
        struct cuda_context cx = {card->lane[mine], c->step + number, card->blas, entered[mine],
                                  NULL};
        if (!entered[mine])
            cudaStreamWaitEvent(cx.stream, card->start, 0);
        entered[mine] = true;
        lanes_next(&c->lanes, wait, number, i);
        for (int lane = 0; lane < LANES; lane++)
            if (wait[lane] >= 0) {
                cudaStreamWaitEvent(cx.stream, c->event[wait[lane] % count], 0);
                cx.early = false;
            }
        chain_launch(c->instr, count, c->chain_of, i, &cx);
        cudaEventRecord(c->event[i], cx.stream);
    }
}

/* Captures all steps of a graph, then the update of the step numbers after every lane has ended. */
static void capture_steps(struct compiled *c, int steps)
{
    const struct card *card = c->card;
    const struct cuda_context last = {card->stream, c->step, NULL, false, NULL};
    bool entered[LANES] = {true};
    cudaEventRecord(card->start, card->stream);
    lanes_begin(&c->lanes);
    for (int k = 0; k < steps; k++)
        capture_step(c, k, entered);
    for (int lane = 1; lane < LANES; lane++)
        if (c->lanes.tail[lane] >= 0)
            cudaStreamWaitEvent(card->stream, c->event[c->lanes.tail[lane] % c->plan->instrs], 0);
    launch(&last, advance, dim3(1), BUNCH, c->step, (unsigned)steps);
}

/* Leaves *out empty while others load code. */
static consm_status capture(struct compiled *c, cudaGraphExec_t *out, int steps)
{
    consm_status st = CONSM_OK;
    struct card *card = c->card;
    cudaGraph_t graph = NULL;
    cudaError_t error;
    for (int32_t i = 0; i < c->plan->instrs; i++)
        if (!c->event[i] && !c->instr[i].once && c->chain_of[i] == i)
            CHECK(cudaEventCreateWithFlags(&c->event[i], cudaEventDisableTiming),
                  "capturing a program");
    if (!card_capture())
        return CONSM_OK;
    error = cudaStreamBeginCapture(card->stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        capture_steps(c, steps);
        error = cudaStreamEndCapture(card->stream, &graph);
    }
    card_captured();
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(out, graph, 0);
    if (graph)
        cudaGraphDestroy(graph);
    CHECK(error, "capturing a program");
done:
    return st;
}

consm_status cuda_run(struct compiled *c, const struct step *first, int64_t steps)
{
    consm_status st = CONSM_OK;
    struct card *card = c->card;
    int64_t left = steps;
    TRY(card_turn(card));
    TRY(follow_leaves(c));
    if (steps <= 0)
        return CONSM_OK;
    if (c->next.seed != first->seed || c->next.number != first->number)
        set_steps<<<1, BUNCH, 0, card->stream>>>(c->step, first->seed, first->number);
    if (!c->settled || !c->awake)
        card_load();
    if (!c->settled)
        launch_all(c, true);
    if (!c->awake) {
        launch_all(c, false);
        left--;
    }
    if (!c->settled || !c->awake)
        card_loaded();
    c->settled = c->awake = true;
    CHECK(cudaGetLastError(), "launching a kernel");
    for (; left >= BUNCH; left -= BUNCH) {
        if (!c->bunch)
            TRY(capture(c, &c->bunch, BUNCH));
        if (!c->bunch)
            break;
        CHECK(cudaGraphLaunch(c->bunch, card->stream), "launching a program");
    }
    for (; left > 0; left--) {
        if (!c->one)
            TRY(capture(c, &c->one, 1));
        if (c->one)
            CHECK(cudaGraphLaunch(c->one, card->stream), "launching a program");
        else
            launch_all(c, false);
    }
    CHECK(cudaGetLastError(), "launching a kernel");
    c->next = {first->seed, first->number + (uint64_t)steps};
done:
    return st;
}
