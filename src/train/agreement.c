/* The agreement model: two programs over its parameters. One learns from a batch of pairs; one
 * scores edges, a fixed number at a time. */
#include "train/agreement.h"

#include "base/rng.h"
#include "graph/partition.h"
#include "nn/layers.h"
#include <string.h>

enum { BATCH_PAIRS = 256, SCORE_PAIRS = 16384 };

struct agreement {
    struct session *s;
    struct learner learner;
    node chance;                            /* of learner.eval */
    struct index *left, *right;             /* (BATCH_PAIRS) */
    struct index *score_left, *score_right; /* (chunk) */
    int64_t chunk;
    float *target, *weight; /* (BATCH_PAIRS) */
    int32_t *ends[2];       /* (chunk or batch, the larger) rows to put into an index */
    struct rng random;

    /* For a graph in parts: e comes from learner.eval, and every process scores its own edges. */
    node embedding;
    struct learner near;   /* its eval program compares pairs */
    float *e;              /* (n, hidden) embeddings of the partition's nodes and its neighbours */
    struct row_halo *halo; /* of the neighbours */
};

node agreement_encode(struct program *p, node x, const struct config *c)
{
    return hidden_step(p, linear(p, "1", x, c->hidden), c->match_dropout);
}

node agreement_compare(struct program *p, node e, const struct index *i, const struct index *j,
                       const struct config *c, bool gathers)
{
    node difference =
        gathers ? square(p, sub(p, gather(p, e, i), gather(p, e, j))) : pair_squared(p, e, i, j);
    return linear(p, "3", relu(p, linear(p, "2", difference, c->match_hidden)), 1);
}

static const struct partition *partition_of(const struct agreement *a)
{
    return a->s->problem->graph->partition;
}

/* Records the program that scores edges: from the features of all nodes, or from a given e. */
static consm_status record_scoring(struct agreement *a)
{
    consm_status st = CONSM_OK;
    const struct config *c = &a->s->options.config;
    struct learner *l = &a->learner, *scores = partition_of(a) ? &a->near : l;
    struct program *p;
    if (partition_of(a)) {
        TRY(program_new(&l->eval, l->params, false));
        a->embedding = agreement_encode(l->eval, session_features(a->s, l->eval), c);
        program_keep(l->eval, a->embedding);
        TRY(program_compile(l->eval, l->backend));
        TRY(learner_open(&a->near, l->backend->near ? l->backend->near : l->backend, 0));
    }
    TRY(program_new(&scores->eval, scores->params, false));
    p = scores->eval;
    node e = partition_of(a) ? input(p, a->e, a->s->problem->nodes, c->hidden)
                             : agreement_encode(p, session_features(a->s, p), c);
    a->chance = sigmoid(p, agreement_compare(p, e, a->score_left, a->score_right, c, false));
    program_keep(p, a->chance);
    TRY(program_compile(p, scores->backend));
done:
    return st;
}

static consm_status record_programs(struct agreement *a)
{
    consm_status st = CONSM_OK;
    const struct config *c = &a->s->options.config;
    struct learner *l = &a->learner;
    struct program *p = NULL;
    TRY(program_new(&p, l->params, true));
    node e = agreement_encode(p, session_features(a->s, p), c);
    node value = agreement_compare(p, e, a->left, a->right, c, partition_of(a) != NULL);
    node target = input(p, a->target, BATCH_PAIRS, 1), weight = input(p, a->weight, BATCH_PAIRS, 1);
    TRY(learner_lesson(l, &l->train, p, bce(p, value, target, weight), c->match_lr,
                       c->weight_decay));
    TRY(record_scoring(a));
done:
    return st;
}

/* Allocates e of the partition's nodes and of their neighbours. */
static consm_status open_in_parts(struct agreement *a)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = a->s->problem;
    if (!problem->graph->partition)
        return CONSM_OK;
    a->e = mem_sparse_alloc((size_t)(problem->nodes * a->s->options.config.hidden), sizeof *a->e);
    if (!a->e)
        TRY(CONSM_ENOMEM);
    TRY(partition_neighbours(&a->halo, problem->graph));
done:
    return st;
}

consm_status agreement_new(struct agreement **out, struct session *s)
{
    consm_status st = CONSM_OK;
    struct agreement *a;
    int64_t n = s->problem->nodes, edges = s->problem->graph->nnz / 2;
    *out = NULL;
    TRY(ZNEW(a, 1));
    a->s = s;
    a->chunk = edges < SCORE_PAIRS ? (edges > 0 ? edges : 1) : SCORE_PAIRS;
    TRY(index_new(&a->left, BATCH_PAIRS, n));
    TRY(index_new(&a->right, BATCH_PAIRS, n));
    TRY(index_new(&a->score_left, a->chunk, n));
    TRY(index_new(&a->score_right, a->chunk, n));
    TRY(ZNEW(a->target, BATCH_PAIRS));
    TRY(ZNEW(a->weight, BATCH_PAIRS));
    for (int side = 0; side < 2; side++)
        TRY(ZNEW(a->ends[side], a->chunk > BATCH_PAIRS ? a->chunk : BATCH_PAIRS));
    TRY(open_in_parts(a));
    TRY(learner_open(&a->learner, s->backend, s->options.seed + 1));
    a->learner.what = "the agreement model's loss";
    a->learner.unit = "step";
    a->learner.advice = "try a smaller --match-lr";
    TRY(record_programs(a));
    TRY(learner_start(&a->learner, s->options.seed + 1, false));
    if (a->near.params)
        TRY(learner_start(&a->near, 0, false));
    rng_init(&a->random, s->options.seed, 0x6a6d);
    *out = a;
    return CONSM_OK;
done:
    agreement_free(a);
    return st;
}

void agreement_free(struct agreement *a)
{
    if (!a)
        return;
    learner_close(&a->learner);
    learner_close(&a->near);
    row_halo_free(a->halo);
    mem_sparse_free(a->e);
    index_free(a->left);
    index_free(a->right);
    index_free(a->score_left);
    index_free(a->score_right);
    mem_free(a->target);
    mem_free(a->weight);
    mem_free(a->ends[0]);
    mem_free(a->ends[1]);
    mem_free(a);
}

/* Draws a partner of node i that is alike or not; -1 after many failures, when there is probably
 * none. */
static int32_t draw_partner(struct agreement *a, int32_t i, bool alike, const int32_t *known,
                            int64_t count, const int32_t *class_of)
{
    for (int tries = 0; tries < 200; tries++) {
        int32_t j = known[rng_below(&a->random, (uint64_t)count)];
        if (j != i && (class_of[i] == class_of[j]) == alike)
            return j;
    }
    return -1;
}

static consm_status draw_pairs(struct agreement *a, const int32_t *known, int64_t count,
                               const int32_t *class_of)
{
    consm_status st = CONSM_OK;
    for (int k = 0; k < BATCH_PAIRS; k++) {
        bool alike = k % 2;
        int32_t i = known[rng_below(&a->random, (uint64_t)count)];
        int32_t j = draw_partner(a, i, alike, known, count, class_of);
        a->ends[0][k] = i;
        a->ends[1][k] = j < 0 ? i : j;
        a->target[k] = alike;
        a->weight[k] = j < 0 ? 0 : 1.0f / BATCH_PAIRS;
    }
    TRY(index_set(a->left, a->ends[0]));
    TRY(index_set(a->right, a->ends[1]));
    program_touch(a->learner.train.program, a->target);
    program_touch(a->learner.train.program, a->weight);
done:
    return st;
}

consm_status agreement_train(struct agreement *a, const int32_t *known, int64_t count,
                             const int32_t *class_of, int64_t steps)
{
    consm_status st = CONSM_OK;
    double loss;
    for (int64_t i = 0; i < steps; i++) {
        TRY(draw_pairs(a, known, count, class_of));
        TRY(learner_step(&a->learner, &a->learner.train, &loss));
    }
done:
    return st;
}

/* w (some ≤ chunk) of the pairs in `ends`; entries after them are unchanged. */
static consm_status score_chunk(struct agreement *a, float *w, int64_t some)
{
    consm_status st = CONSM_OK;
    struct learner *l = a->near.params ? &a->near : &a->learner;
    const float *chance;
    for (int64_t k = some; k < a->chunk; k++)
        for (int side = 0; side < 2; side++)
            a->ends[side][k] = a->ends[side][0];
    TRY(index_set_rows(a->score_left, a->ends[0]));
    TRY(index_set_rows(a->score_right, a->ends[1]));
    TRY(learner_read(&chance, l, l->eval, a->chance));
    memcpy(w, chance, (size_t)some * sizeof *w);
done:
    return st;
}

consm_status agreement_score(struct agreement *a, float *w, const struct edges *edges)
{
    consm_status st = CONSM_OK;
    for (int64_t first = 0; first < edges->count; first += a->chunk) {
        int64_t some = edges->count - first < a->chunk ? edges->count - first : a->chunk;
        memcpy(a->ends[0], edges->left + first, (size_t)some * sizeof *edges->left);
        memcpy(a->ends[1], edges->right + first, (size_t)some * sizeof *edges->right);
        TRY(score_chunk(a, w + first, some));
    }
done:
    return st;
}

/* Computes e of the partition's nodes and fetches that of their neighbours. */
static consm_status fetch_embedding(struct agreement *a)
{
    consm_status st = CONSM_OK;
    const float *e;
    static const int32_t nobody = 0;
    TRY(params_follow(a->near.params, a->learner.params));
    TRY(learner_read_rows(&e, &a->learner, a->learner.eval, a->embedding, &nobody, 0));
    TRY(row_halo_fill(a->halo, a->e, e, a->s->options.config.hidden));
    program_touch(a->near.eval, a->e);
done:
    return st;
}

consm_status agreement_score_in_parts(struct agreement *a, float *w)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = a->s->problem->graph;
    const struct partition *partition = graph->partition;
    int64_t some = 0, first = graph->start[partition->low];
    TRY(fetch_embedding(a));
    for (int64_t r = partition->low; r < partition->high; r++)
        for (int64_t k = graph->start[r]; k < graph->start[r + 1]; k++) {
            a->ends[0][some] = (int32_t)r;
            a->ends[1][some++] = graph->col[k];
            if (some < a->chunk && k + 1 < graph->start[partition->high])
                continue;
            TRY(score_chunk(a, w + first, some));
            first += some;
            some = 0;
        }
done:
    return st;
}

consm_status agreement_memory(struct agreement *a, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    TRY(learner_memory(&a->learner, "agreement.", see, ctx));
    see(ctx, "agreement.steps", &a->learner.steps, sizeof a->learner.steps);
    see(ctx, "agreement.random", &a->random, sizeof a->random);
done:
    return st;
}

bool agreement_sound(const struct agreement *a)
{
    return a && a->learner.steps >= 0 && a->learner.steps <= LEARNER_MOST_STEPS &&
           a->random.used >= 0 && a->random.used <= 4;
}
