/* The agreement model: two programs over its own parameters, one that learns from a batch of pairs
 * and one that scores edges, a fixed number at a time. */
#include "train/agreement.h"

#include "base/rng.h"
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
    int32_t *ends[2];       /* (chunk or batch, the larger) rows on their way into an index */
    struct rng random;
};

node agreement_record(struct program *p, node x, const struct index *i, const struct index *j,
                      const struct config *c)
{
    node e = hidden_step(p, linear(p, "1", x, c->hidden), c->match_dropout);
    node h = relu(p, linear(p, "2", pair_squared(p, e, i, j), c->match_hidden));
    return linear(p, "3", h, 1);
}

static consm_status record_programs(struct agreement *a)
{
    consm_status st = CONSM_OK;
    const struct config *c = &a->s->options.config;
    struct learner *l = &a->learner;
    struct program *p = NULL;
    TRY(program_new(&p, l->params, true));
    node value = agreement_record(p, session_features(a->s, p), a->left, a->right, c);
    node target = input(p, a->target, BATCH_PAIRS, 1), weight = input(p, a->weight, BATCH_PAIRS, 1);
    TRY(learner_lesson(l, &l->train, p, bce(p, value, target, weight), c->match_lr,
                       c->weight_decay));
    TRY(program_new(&l->eval, l->params, false));
    p = l->eval;
    value = agreement_record(p, session_features(a->s, p), a->score_left, a->score_right, c);
    a->chance = sigmoid(p, value);
    program_keep(p, a->chance);
    TRY(program_compile(p, l->backend));
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
    TRY(learner_open(&a->learner, s->backend, s->options.seed + 1));
    a->learner.what = "the agreement model's loss";
    a->learner.unit = "step";
    a->learner.advice = "a smaller --match-lr may help";
    TRY(record_programs(a));
    TRY(learner_start(&a->learner, s->options.seed + 1, false));
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

/* A partner of node i that is alike or not, by drawing until one fits; -1 after many failures, when
 * there is probably none. */
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

consm_status agreement_score(struct agreement *a, float *w, const struct edges *edges)
{
    consm_status st = CONSM_OK;
    const float *chance;
    for (int64_t first = 0; first < edges->count; first += a->chunk) {
        int64_t some = edges->count - first < a->chunk ? edges->count - first : a->chunk;
        for (int64_t k = 0; k < a->chunk; k++) {
            a->ends[0][k] = edges->left[first + (k < some ? k : 0)];
            a->ends[1][k] = edges->right[first + (k < some ? k : 0)];
        }
        TRY(index_set(a->score_left, a->ends[0]));
        TRY(index_set(a->score_right, a->ends[1]));
        TRY(learner_read(&chance, &a->learner, a->learner.eval, a->chance));
        memcpy(w + first, chance, (size_t)some * sizeof *w);
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
