/* Trains on a graph with planted edges and judges every edge score of the model and of the data by
 * them: ROC-AUC (a true edge should score above a planted one), and the share of planted edges
 * among the lowest scores, as many as were planted. */

/*
 * Then trains a GCN twice: without that many lowest scores (an oracle's number), and without the
 * edges that the score's own rule rejects.
 */
#include "study/plant.h"

#include "backends/open.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "stats/stats.h"
#include "train/coefficients.h"
#include "train/edge_trust.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_TIES = 91 };

struct planting {
    const struct task_input *in;
    struct planted planted;
    uint8_t *role;
    struct session *s;
    struct backend *backend;
    json_t *result;
    float *score;    /* (edges) the current score */
    uint8_t *kept;   /* (edges) what its own rule keeps */
    float *negative; /* (edges) scratch */
    struct ranked *ranked;
};

/* ---- ways to choose edges -------------------------------------------------------------------- */

/* An edge in the order of scores; ties are broken by a random draw, not by position. */
struct ranked {
    float score;
    uint32_t draw;
    int32_t edge;
};

static int by_score(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return x->draw < y->draw ? -1 : x->draw > y->draw;
}

/* kept = all edges except the `fewer` with the lowest scores. */
static void drop_lowest(uint8_t *kept, struct planting *t, const float *score, int64_t fewer)
{
    int64_t count = t->planted.edges->count;
    struct rng rng;
    rng_init(&rng, t->in->run->seed, STREAM_TIES);
    for (int64_t e = 0; e < count; e++)
        t->ranked[e] = (struct ranked){score[e], rng_u32(&rng), (int32_t)e};
    qsort(t->ranked, (size_t)count, sizeof *t->ranked, by_score);
    for (int64_t i = 0; i < count; i++)
        kept[t->ranked[i].edge] = i >= fewer;
}

static void keep_from(struct planting *t, float least)
{
    for (int64_t e = 0; e < t->planted.edges->count; e++)
        t->kept[e] = t->score[e] >= least;
}

/* ---- judging a score ------------------------------------------------------------------------- */

/* Test accuracy of a GCN on the edges that are kept. */
static consm_status train_again(double *accuracy, struct planting *t, const uint8_t *kept)
{
    consm_status st = CONSM_OK;
    struct prepared left = {0};
    struct train_result trained;
    TRY(planted_left(&left, &t->planted, kept));
    TRY(planted_again(&trained, &left, t->in, t->role));
    *accuracy = trained.test_acc;
done:
    prepare_free(&left);
    return st;
}

static consm_status add_finding(json_t *to, struct planting *t)
{
    consm_status st = CONSM_OK;
    const struct planted *p = &t->planted;
    struct stats_top top;
    double auc;
    for (int64_t e = 0; e < p->edges->count; e++)
        t->negative[e] = -t->score[e];
    TRY(stats_auc(&auc, t->negative, p->injected, p->edges->count));
    TRY(stats_top_k(&top, t->negative, p->injected, p->edges->count, p->count));
    TRY(task_number(to, "auc", auc));
    TRY(task_number(to, "precision", top.precision));
done:
    return st;
}

/* The result of the rule in t->kept: how many planted edges it finds, and a GCN's accuracy. */
static consm_status add_rule(json_t *to, struct planting *t)
{
    consm_status st = CONSM_OK;
    const struct planted *p = &t->planted;
    int64_t kept = 0, found = 0;
    double accuracy;
    for (int64_t e = 0; e < p->edges->count; e++) {
        kept += t->kept[e];
        found += !t->kept[e] && p->injected[e];
    }
    TRY(train_again(&accuracy, t, t->kept));
    TRY(task_number(to, "rule_acc", accuracy));
    TRY(task_number(to, "rule_kept", (double)kept / (double)p->edges->count));
    TRY(task_number(to, "rule_found", (double)found / (double)p->count));
done:
    return st;
}

/* Adds an object with that name for the score in t->score; has_rule: t->kept is its own rule's. */
static consm_status judge(struct planting *t, const char *name, bool has_rule)
{
    consm_status st = CONSM_OK;
    double accuracy;
    json_t *to = json_object();
    TRY(add_finding(to, t));
    if (has_rule)
        TRY(add_rule(to, t));
    drop_lowest(t->kept, t, t->score, t->planted.count);
    TRY(train_again(&accuracy, t, t->kept));
    TRY(task_number(to, "dropped_acc", accuracy));
    if (json_object_set(t->result, name, to) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    json_decref(to);
    return st;
}

/* ---- the scores ------------------------------------------------------------------------------ */

/* The rule of a model's coefficients: GAM's and PTDNet's are probabilities (1/2), FAGCN's are
 * signed (0), GAT's have no threshold. */
static bool coefficient_rule(struct planting *t, const char *model)
{
    bool chance = strcmp(model, "gam") == 0 || strcmp(model, "ptdnet") == 0;
    bool sign = strcmp(model, "fagcn") == 0;
    if (chance || sign)
        keep_from(t, chance ? 0.5f : 0);
    return chance || sign;
}

static consm_status judge_consm(struct planting *t)
{
    consm_status st = CONSM_OK;
    struct edge_trust trust = {0};
    int64_t count = t->planted.edges->count;
    TRY(session_trust(&trust, t->s));
    TRY(task_number(t->result, "zeta", trust.zeta));
    memcpy(t->score, trust.score, (size_t)count * sizeof *t->score);
    memcpy(t->kept, trust.kept, (size_t)count);
    TRY(judge(t, "trust", true));
    TRY(session_coefficients(t->s, t->score, t->planted.edges));
    drop_lowest(t->kept, t, t->score, count - (int64_t)floor(trust.zeta * (double)count));
    TRY(judge(t, "coefficients", true));
done:
    edge_trust_free(&trust);
    return st;
}

static consm_status judge_agreement(struct planting *t)
{
    consm_status st = CONSM_OK;
    const float *logits;
    TRY(session_answers(&logits, t->s));
    witness_agreement(t->score, logits, t->s->problem->classes, t->planted.edges);
    keep_from(t, 0.5f);
    TRY(judge(t, "agreement", true));
done:
    return st;
}

static consm_status judge_similarity(struct planting *t)
{
    consm_status st = CONSM_OK;
    const struct edges *edges = t->planted.edges;
    float *guard = NULL, *cosine = NULL;
    uint8_t *pruned = NULL;
    TRY(NEW(guard, edges->count));
    TRY(NEW(cosine, edges->count));
    TRY(NEW(pruned, edges->count));
    TRY(similarity_guard_of(guard, pruned, cosine, t->s, edges));
    similarity_jaccard(t->score, edges, t->s->problem);
    for (int64_t e = 0; e < edges->count; e++)
        t->kept[e] = t->score[e] > 0;
    TRY(judge(t, "jaccard", true));
    memcpy(t->score, cosine, (size_t)edges->count * sizeof *cosine);
    TRY(judge(t, "cosine", false));
    memcpy(t->score, guard, (size_t)edges->count * sizeof *guard);
    for (int64_t e = 0; e < edges->count; e++)
        t->kept[e] = !pruned[e];
    TRY(judge(t, "gnnguard", true));
done:
    mem_free(guard);
    mem_free(cosine);
    mem_free(pruned);
    return st;
}

static consm_status judge_all(struct planting *t)
{
    consm_status st = CONSM_OK;
    const char *model = t->in->run->model->name;
    if (strcmp(model, "consm") == 0) {
        TRY(judge_consm(t));
    } else if (task_has_coefficients(t->in->run->model)) {
        TRY(session_coefficients(t->s, t->score, t->planted.edges));
        TRY(judge(t, "coefficients", coefficient_rule(t, model)));
    }
    TRY(judge_agreement(t));
    if (strcmp(model, "gcn") == 0)
        TRY(judge_similarity(t));
done:
    return st;
}

consm_status task_plant(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    struct planting t = {.in = in, .result = result};
    struct train_result trained;
    struct train_options options = task_options(in);
    TRY(task_roles(&t.role, in));
    TRY(planted_new(&t.planted, in));
    int64_t count = t.planted.edges->count;
    if (t.planted.count == 0)
        TRY(status_fail(CONSM_EINVAL, "%s: no edge was planted", in->run->dataset));
    TRY(NEW(t.score, count));
    TRY(NEW(t.kept, count));
    TRY(NEW(t.negative, count));
    TRY(NEW(t.ranked, count));
    struct problem problem = prepare_problem(&t.planted.prepared, t.role);
    TRY(backend_open(&t.backend, in->run->device, in->threads));
    TRY(session_new(&t.s, &problem, &options, t.backend));
    TRY(session_train(t.s, &trained));
    TRY(task_record(result, &trained));
    TRY(task_number(result, "edges", (double)count));
    TRY(task_number(result, "injected", (double)t.planted.count));
    TRY(judge_all(&t));
done:
    session_free(t.s);
    backend_close(t.backend);
    planted_free(&t.planted);
    mem_free(t.score);
    mem_free(t.kept);
    mem_free(t.negative);
    mem_free(t.ranked);
    mem_free(t.role);
    return st;
}
