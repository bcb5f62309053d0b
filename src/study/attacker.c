/* Attackers with their own model. */

/*
 * All train a two-layer GCN (the surrogate) on the clean graph and follow its gradient. PGD knows
 * the training labels and uses the surrogate's predictions for all other nodes. Two attackers know
 * every label and what ConSM trusts, and join only trusted pairs of different classes. One judges
 * trust from outside (the agreement of the surrogate's predictions is 0.5 or more, and the features
 * are as similar as those of the median edge). The other trained ConSM itself and uses its trust
 * and threshold.
 */
#include "study/attacker.h"
#include "base/order.h"

#include "backends/open.h"
#include "match/near.h"
#include "nn/layers.h"
#include "study/plant.h"
#include "train/consm/consm.h"
#include "train/edge_trust.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Drawn pairs per change of the budget (few of them are trusted, so attackers that need trusted
 * ones draw more), near pairs per node, gradient steps. */
enum {
    DRAWN = 20,
    DRAWN_TO_TRUST = 200,
    MOST_DRAWN = 500000,
    NEAR = 20,
    STEPS = 60,
    STREAM_PAIRS = 161
};

struct attacker {
    const struct task_input *in;
    uint8_t *role;
    struct problem problem;
    struct backend *backend;
    struct session *gcn;
    float *h;           /* (n, hidden) X W1 */
    const float *value; /* the GCN's parameters */
    struct surrogate surrogate;
    int32_t *label;    /* (n) the classes that victims should lose */
    uint8_t *attacked; /* (n) 1: not labelled for training */
};

static void attacker_free(struct attacker *a)
{
    session_free(a->gcn);
    backend_close(a->backend);
    mem_free(a->role);
    mem_free(a->h);
    mem_free(a->label);
    mem_free(a->attacked);
}

/* ---- the surrogate --------------------------------------------------------------------------- */

static consm_status train(struct session **out, struct attacker *a, const char *model,
                          const struct config *config)
{
    consm_status st = CONSM_OK;
    struct train_options options = task_options(a->in);
    struct train_result trained;
    options.config = *config;
    TRY(model_find(&options.model, model));
    TRY(session_new(out, &a->problem, &options, a->backend));
    TRY(session_train(*out, &trained));
done:
    return st;
}

static const float *parameter(const struct attacker *a, const char *name)
{
    const struct params *params = a->gcn->learner.params;
    return a->value + params->item[params_find(params, name)].offset;
}

/* X W1; the surrogate's other numbers are in its store. */
static consm_status read_surrogate(struct attacker *a)
{
    consm_status st = CONSM_OK;
    struct program *p = NULL;
    struct session *s = a->gcn;
    const float *found;
    int64_t hidden = s->options.config.hidden, n = a->problem.nodes;
    TRY(program_new(&p, s->learner.params, false));
    struct inputs in = session_inputs(s, p);
    node h = linear_no_bias(p, layer_name(1).text, in.x, hidden);
    program_keep(p, h);
    TRY(program_compile(p, s->backend));
    TRY(learner_read(&found, &s->learner, p, h));
    TRY(NEW(a->h, n * hidden));
    memcpy(a->h, found, (size_t)(n * hidden) * sizeof *a->h);
    TRY(params_read(&a->value, s->learner.params, PLACE_VALUE));
    a->surrogate = (struct surrogate){
        .nodes = n,
        .hidden = hidden,
        .classes = a->problem.classes,
        .h = a->h,
        .b1 = parameter(a, "b1"),
        .w2 = parameter(a, "w2"),
        .b2 = parameter(a, "b2"),
    };
done:
    program_free(p);
    return st;
}

/* The classes that victims should lose: training labels; for other nodes the surrogate's
 * prediction, or their label if the attacker knows all. */
static consm_status choose_victims(struct attacker *a, bool knows_all)
{
    consm_status st = CONSM_OK;
    const float *logits;
    int64_t c = a->problem.classes;
    TRY(session_logits(&logits, a->gcn));
    for (int64_t i = 0; i < a->problem.nodes; i++) {
        int32_t top = 0;
        for (int32_t k = 1; k < c; k++)
            top = logits[i * c + k] > logits[i * c + top] ? k : top;
        bool told = a->role[i] == SPLIT_TRAIN;
        bool known = told || (knows_all && a->problem.label[i] >= 0);
        a->label[i] = known ? a->problem.label[i] : top;
        a->attacked[i] = !told;
    }
done:
    return st;
}

static consm_status attacker_new(struct attacker *a, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    struct config config = in->run->again;
    *a = (struct attacker){.in = in};
    config.layers = 2;
    config.norm = NORM_NONE;
    config.residual = RESIDUAL_NO;
    TRY(task_roles(&a->role, in));
    a->problem = prepare_problem(in->prepared, a->role);
    TRY(NEW(a->label, a->problem.nodes));
    TRY(NEW(a->attacked, a->problem.nodes));
    TRY(backend_open(&a->backend, in->run->device, in->threads));
    TRY(train(&a->gcn, a, "gcn", &config));
    TRY(read_surrogate(a));
    TRY(choose_victims(a, in->run->plant != PLANT_PGD));
done:
    return st;
}

/* How many pairs to draw: some per change, but never most of all pairs. */
static int64_t pairs_to_draw(const struct attacker *a, int64_t budget)
{
    int64_t n = a->problem.nodes, all = n * (n - 1) / 2 - a->problem.graph->nnz / 2;
    int64_t drawn = budget * (a->in->run->plant == PLANT_PGD ? DRAWN : DRAWN_TO_TRUST);
    drawn = drawn < MOST_DRAWN ? drawn : MOST_DRAWN;
    return drawn < all / 2 ? drawn : all / 2;
}

/* ---- pairs that the defence trusts ----------------------------------------------------------- */

/* Pairs without an edge: drawn ones, and those with similar features, which trust favours. */
static consm_status list_pairs(struct near_list *list, const struct attacker *a, int64_t drawn)
{
    consm_status st = CONSM_OK;
    const struct problem *p = &a->problem;
    struct near_rows x = {p->nodes, p->features, p->sparse, p->sparse ? NULL : p->dense};
    int32_t *left = NULL, *right = NULL;
    TRY(near_pairs(list, &x, NEAR, a->in->run->seed));
    TRY(NEW(left, drawn));
    TRY(NEW(right, drawn));
    TRY(attack_draw(left, right, drawn, p->graph, NULL, a->in->run->seed, STREAM_PAIRS));
    TRY(GROW(list->pair, list->count, list->room, drawn));
    for (int64_t i = 0; i < drawn; i++) {
        list->pair[list->count][0] = left[i];
        list->pair[list->count++][1] = right[i];
    }
    near_tidy(list, p->graph);
done:
    mem_free(left);
    mem_free(right);
    return st;
}

/* The median cosine of the graph's own edges. */
static consm_status usual_cosine(float *out, const struct attacker *a)
{
    consm_status st = CONSM_OK;
    struct edges *own = NULL;
    float *cosine = NULL;
    TRY(edges_new(&own, a->problem.graph));
    TRY(NEW(cosine, own->count + 1));
    TRY(similarity_cosine(cosine, own, &a->problem, NULL, 0, a->backend->host));
    qsort(cosine, (size_t)own->count, sizeof *cosine, order_float);
    *out = own->count ? cosine[own->count / 2] : 0;
done:
    mem_free(cosine);
    edges_free(own);
    return st;
}

/* trusted (pairs) from outside: by the surrogate's agreement and the features. */
static consm_status trust_from_outside(uint8_t *trusted, struct attacker *a, struct edges *pairs)
{
    consm_status st = CONSM_OK;
    float *agreement = NULL, *cosine = NULL, usual;
    const float *logits;
    TRY(NEW(agreement, pairs->count + 1));
    TRY(NEW(cosine, pairs->count + 1));
    TRY(usual_cosine(&usual, a));
    TRY(similarity_cosine(cosine, pairs, &a->problem, NULL, 0, a->backend->host));
    TRY(session_logits(&logits, a->gcn));
    witness_agreement(agreement, logits, a->problem.classes, pairs);
    for (int64_t e = 0; e < pairs->count; e++)
        trusted[e] = agreement[e] >= 0.5f && cosine[e] >= usual;
done:
    mem_free(agreement);
    mem_free(cosine);
    return st;
}

/* The same by a ConSM that was trained for it. */
static consm_status trust_of_consm(uint8_t *trusted, struct attacker *a, const struct edges *pairs)
{
    consm_status st = CONSM_OK;
    struct session *consm = NULL;
    struct edge_trust own = {0}, asked = {0};
    int64_t n = pairs->count;
    TRY(train(&consm, a, "consm", &a->in->run->attacker));
    TRY(session_trust(&own, consm));
    TRY(ZNEW(asked.edges, 1));
    asked.edges->count = n;
    TRY(NEW(asked.edges->left, n + 1));
    TRY(NEW(asked.edges->right, n + 1));
    TRY(NEW(asked.score, n + 1));
    TRY(NEW(asked.low, n + 1));
    TRY(NEW(asked.high, n + 1));
    memcpy(asked.edges->left, pairs->left, (size_t)n * sizeof *pairs->left);
    memcpy(asked.edges->right, pairs->right, (size_t)n * sizeof *pairs->right);
    TRY(consm_score_pairs(&asked, consm));
    for (int64_t e = 0; e < n; e++)
        trusted[e] = (double)asked.score[e] >= own.threshold;
done:
    edge_trust_free(&own);
    edge_trust_free(&asked);
    session_free(consm);
    return st;
}

static consm_status find_trusted(struct changes *out, struct attacker *a, int64_t budget)
{
    consm_status st = CONSM_OK;
    struct near_list list = {0};
    struct edges pairs = {0};
    uint8_t *trusted = NULL;
    int64_t kept = 0;
    TRY(list_pairs(&list, a, pairs_to_draw(a, budget)));
    TRY(NEW(pairs.left, list.count + 1));
    TRY(NEW(pairs.right, list.count + 1));
    TRY(NEW(trusted, list.count + 1));
    for (; pairs.count < list.count; pairs.count++) {
        pairs.left[pairs.count] = list.pair[pairs.count][0];
        pairs.right[pairs.count] = list.pair[pairs.count][1];
    }
    if (a->in->run->plant == PLANT_TRUSTED_CONSM)
        TRY(trust_of_consm(trusted, a, &pairs));
    else
        TRY(trust_from_outside(trusted, a, &pairs));
    for (int64_t e = 0; e < pairs.count; e++)
        if (trusted[e] && a->label[pairs.left[e]] != a->label[pairs.right[e]]) {
            pairs.left[kept] = pairs.left[e];
            pairs.right[kept++] = pairs.right[e];
        }
    TRY(attack_trusted(out, &a->surrogate, &(struct victims){a->label, a->attacked},
                       a->problem.graph, &(struct trusted_pairs){kept, pairs.left, pairs.right},
                       budget));
done:
    near_free(&list);
    mem_free(pairs.left);
    mem_free(pairs.right);
    mem_free(trusted);
    return st;
}

consm_status attacker_find(struct changes *out, const struct task_input *in, int64_t budget)
{
    consm_status st = CONSM_OK;
    struct attacker a = {0};
    TRY(attacker_new(&a, in));
    if (in->run->plant != PLANT_PGD) {
        TRY(find_trusted(out, &a, budget));
        goto done;
    }
    struct pgd pgd = {.graph = a.problem.graph,
                      .surrogate = a.surrogate,
                      .victims = {a.label, a.attacked},
                      .budget = budget,
                      .candidates = pairs_to_draw(&a, budget),
                      .steps = STEPS,
                      .seed = in->run->seed};
    TRY(attack_pgd(out, &pgd));
done:
    attacker_free(&a);
    return st;
}
