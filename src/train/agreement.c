/* The agreement model: two programs over its own parameters, one that learns from a batch of pairs
 * and one that scores edges, a fixed number at a time. */
#include "train/agreement.h"

#include "base/rng.h"
#include "nn/layers.h"
#include <math.h>
#include <string.h>

enum { BATCH_PAIRS = 256, SCORE_PAIRS = 16384 };

struct agreement {
    struct session *s;
    struct params *params;
    struct program *train, *score;
    node loss, chance;
    struct index *left, *right;             /* (BATCH_PAIRS) */
    struct index *score_left, *score_right; /* (chunk) */
    int64_t chunk;
    float *target, *weight; /* (BATCH_PAIRS) */
    int32_t *ends[2];       /* (chunk or batch, the larger) rows on their way into an index */
    int64_t steps;
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
    TRY(params_new(&a->params));
    TRY(program_new(&a->train, a->params, true));
    node x = session_features(a->s, a->train);
    node value = agreement_record(a->train, x, a->left, a->right, c);
    node target = input(a->train, a->target, BATCH_PAIRS, 1);
    node weight = input(a->train, a->weight, BATCH_PAIRS, 1);
    a->loss = program_minimize(a->train, bce(a->train, value, target, weight));
    program_optimize(a->train,
                     &(struct adam_options){c->match_lr, 0.9, 0.999, 1e-8, c->weight_decay});
    TRY(program_compile(a->train, a->s->backend));
    TRY(program_new(&a->score, a->params, false));
    x = session_features(a->s, a->score);
    a->chance = sigmoid(a->score, agreement_record(a->score, x, a->score_left, a->score_right, c));
    program_keep(a->score, a->chance);
    TRY(program_compile(a->score, a->s->backend));
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
    TRY(record_programs(a));
    TRY(params_init(a->params, s->options.seed + 1));
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
    program_free(a->train);
    program_free(a->score);
    params_free(a->params);
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
    program_touch(a->train, a->target);
    program_touch(a->train, a->weight);
done:
    return st;
}

consm_status agreement_train(struct agreement *a, const int32_t *known, int64_t count,
                             const int32_t *class_of, int64_t steps)
{
    consm_status st = CONSM_OK;
    const struct config *c = &a->s->options.config;
    const float *value;
    for (int64_t i = 0; i < steps; i++) {
        struct step step = {a->s->options.seed + 1, (uint64_t)a->steps};
        TRY(draw_pairs(a, known, count, class_of));
        TRY(program_run(a->train, &step));
        a->steps++;
        TRY(program_read(&value, a->train, a->loss));
        double loss = (double)value[0];
        if (!isfinite(loss))
            TRY(status_fail(CONSM_ENUMERIC,
                            "the agreement model's loss is %g after %lld steps with learning rate "
                            "%g; a smaller --match-lr may help",
                            loss, (long long)a->steps, c->match_lr));
    }
done:
    return st;
}

consm_status agreement_score(struct agreement *a, float *w, const struct edges *edges)
{
    consm_status st = CONSM_OK;
    struct step step = {a->s->options.seed, 0};
    const float *chance;
    for (int64_t first = 0; first < edges->count; first += a->chunk) {
        int64_t some = edges->count - first < a->chunk ? edges->count - first : a->chunk;
        for (int64_t k = 0; k < a->chunk; k++) {
            a->ends[0][k] = edges->left[first + (k < some ? k : 0)];
            a->ends[1][k] = edges->right[first + (k < some ? k : 0)];
        }
        TRY(index_set(a->score_left, a->ends[0]));
        TRY(index_set(a->score_right, a->ends[1]));
        TRY(program_run(a->score, &step));
        TRY(program_read(&chance, a->score, a->chance));
        memcpy(w + first, chance, (size_t)some * sizeof *w);
    }
done:
    return st;
}

consm_status agreement_memory(struct agreement *a, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    TRY(params_memory(a->params, PLACE_VALUE, "agreement.parameters", see, ctx));
    TRY(params_memory(a->params, PLACE_MOMENT1, "agreement.moment1", see, ctx));
    TRY(params_memory(a->params, PLACE_MOMENT2, "agreement.moment2", see, ctx));
    see(ctx, "agreement.steps", &a->steps, sizeof a->steps);
    see(ctx, "agreement.random", &a->random, sizeof a->random);
done:
    return st;
}

bool agreement_sound(const struct agreement *a)
{
    return a && a->steps >= 0 && a->random.used >= 0 && a->random.used <= 4;
}
