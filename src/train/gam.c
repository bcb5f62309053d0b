/* GAM: a classifier and an agreement model train in turn (Stretcu et al. 2019, Algorithm 1). */

/* In each round the agreement model learns from the labelled nodes and weighs every edge; the
 * classifier learns with the resulting propagation loss; and its most confident predictions join
 * the labelled nodes, in the class proportions of the given labels. True labels of other nodes are
 * never read. */
#include "train/agreement.h"
#include "train/guess.h"
#include "train/propagation.h"
#include "train/supervised.h"

#include "base/clock.h"
#include "graph/partition.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The position in the rounds, so that an interrupted run can continue. */
struct gam_place {
    int64_t begun;
    int64_t round, left, idle; /* 0: the warm-up; updates left; rounds without improvement */
    int64_t before;            /* the best epoch when the round began */
};

struct gam {
    struct gam_place place;
    struct propagation *propagation;
    struct agreement *agreement;
    int64_t weighed;      /* rounds in which edges were weighed */
    float *w, *best_w;    /* (edges); of a graph in parts w is of entries, and best_w NULL */
    uint8_t *labelled;    /* (n) by the split or by prediction */
    int32_t *label;       /* (n) their classes, 0 elsewhere */
    int32_t *node;        /* (n) the labelled nodes, given ones first */
    int64_t count, given; /* their number; how many were given */
    double *share;        /* (classes) of each class among the given */
    struct guess_room room;
};

static void gam_close(struct session *s)
{
    struct gam *own = s->own;
    if (!own)
        return;
    agreement_free(own->agreement);
    propagation_free(own->propagation);
    partition_room_free(s->problem->graph->partition, own->w);
    mem_free(own->best_w);
    mem_free(own->labelled);
    mem_free(own->label);
    mem_free(own->node);
    mem_free(own->share);
    mem_free(own->room.found);
    mem_free(own->room.left);
    mem_free(own->room.bar);
    mem_free(own);
    s->own = NULL;
}

/* One weight per edge; for a graph in parts one per entry of the partition's rows. */
static consm_status open_weights(struct session *s, struct gam *own)
{
    consm_status st = CONSM_OK;
    const struct csr *graph = s->problem->graph;
    TRY(propagation_new(&own->propagation, graph, PROPAGATION_GAM));
    if (graph->partition) {
        own->w = mem_sparse_alloc((size_t)graph->nnz, sizeof *own->w);
        return own->w ? CONSM_OK : CONSM_ENOMEM;
    }
    TRY(ZNEW(own->w, own->propagation->edges->count));
    TRY(ZNEW(own->best_w, own->propagation->edges->count));
done:
    return st;
}

/* Stores the weights of the best parameters. */
static void remember_weights(struct gam *own)
{
    if (own->best_w)
        memcpy(own->best_w, own->w, (size_t)own->propagation->edges->count * sizeof *own->w);
}

/* The loss reads every node, with weight 0 if its label is unknown, so that the labelled set can
 * grow without a new program. */
static consm_status open_labels(struct session *s, struct gam *own)
{
    consm_status st = CONSM_OK;
    int64_t n = s->problem->nodes;
    struct index *all = NULL;
    int32_t *rows = NULL;
    float *weight = NULL;
    TRY(ZNEW(own->labelled, n));
    TRY(ZNEW(own->label, n));
    TRY(NEW(own->node, n));
    TRY(ZNEW(own->share, s->problem->classes));
    TRY(NEW(own->room.left, s->problem->classes));
    TRY(NEW(own->room.bar, s->problem->classes));
    TRY(NEW(own->room.found, n));
    TRY(ZNEW(weight, n));
    for (int64_t k = 0; k < s->labelled->count; k++) {
        int32_t i = s->labelled->row[k];
        own->node[own->count++] = i;
        own->labelled[i] = 1;
        own->label[i] = s->problem->label[i];
        own->share[own->label[i]] += 1 / (double)s->labelled->count;
        weight[i] = s->row_weight ? s->row_weight[k] : 1;
    }
    own->given = own->count;
    TRY(index_new(&all, n, n));
    TRY(NEW(rows, n));
    for (int64_t i = 0; i < n; i++)
        rows[i] = (int32_t)i;
    TRY(index_set(all, rows));
    index_free(s->labelled);
    mem_free(s->row_weight);
    s->labelled = all;
    s->row_weight = weight;
    s->target = own->label;
    all = NULL;
    weight = NULL;
done:
    index_free(all);
    mem_free(rows);
    mem_free(weight);
    return st;
}

static consm_status gam_open(struct session *s)
{
    consm_status st = CONSM_OK;
    struct gam *own;
    if (s->options.eval_only)
        return CONSM_OK;
    TRY(ZNEW(own, 1));
    s->own = own;
    TRY(open_weights(s, own));
    TRY(open_labels(s, own));
done:
    return st;
}

static node whole_loss(struct session *s, struct program *p, node supervised, node predictions)
{
    struct gam *own = s->own;
    node mean = mean_prediction(p, predictions, s->problem->classes);
    return add(p, supervised, propagation_loss(own->propagation, p, mean, &s->options.config));
}

/* ---- growing the labelled set -------------------------------------------- */

static consm_status grow(struct session *s)
{
    consm_status st = CONSM_OK;
    struct gam *own = s->own;
    const struct config *c = &s->options.config;
    const float *logits;
    int64_t count;
    if (c->grow == 0)
        return CONSM_OK;
    TRY(session_logits(&logits, s));
    TRY(guess_surest(&count, &own->room, logits, s->problem->nodes, s->problem->classes,
                     own->labelled, own->share, c->grow, c->grow_confidence,
                     s->problem->graph->partition, s->backend->host));
    for (int64_t i = 0; i < count; i++) {
        const struct guess *one = &own->room.found[i];
        own->labelled[one->node] = 1;
        own->label[one->node] = one->label;
        own->node[own->count++] = one->node;
        s->row_weight[one->node] = 1;
    }
    session_touch(s, own->label);
    session_touch(s, s->row_weight);
done:
    return st;
}

/* ---- the rounds ---------------------------------------------------------- */

/* Weighs every edge with the current agreement model. */
static consm_status weigh(struct session *s)
{
    consm_status st = CONSM_OK;
    struct gam *own = s->own;
    struct propagation *p = own->propagation;
    TRY(p->edges ? agreement_score(own->agreement, own->w, p->edges)
                 : agreement_score_in_parts(own->agreement, own->w));
    TRY(propagation_weigh(p, own->w, own->labelled, &s->options.config));
    session_touch(s, p->edges ? p->pull : p->pulled);
    session_touch(s, &p->total);
done:
    return st;
}

static consm_status agree(struct session *s)
{
    consm_status st = CONSM_OK;
    struct gam *own = s->own;
    const struct config *c = &s->options.config;
    int64_t steps = c->match_steps ? c->match_steps : own->given;
    TRY(agreement_train(own->agreement, own->node, own->count, own->label, steps));
    TRY(weigh(s));
    if (!own->weighed++)
        remember_weights(own);
done:
    return st;
}

static consm_status classify(struct session *s, struct progress *progress)
{
    consm_status st = CONSM_OK;
    struct gam *own = s->own;
    session_promise(s, own->place.left);
    while (own->place.left > 0 && (s->learner.steps == 0 || !session_late(s))) {
        int64_t before = s->learner.best_step;
        TRY(session_epoch(s, s->learner.steps + 1, progress));
        own->place.left--;
        if (s->learner.best_step != before && own->weighed)
            remember_weights(own);
        TRY(session_report(s, progress));
    }
done:
    return st;
}

static consm_status begin_round(struct session *s, struct gam_place *at)
{
    consm_status st = CONSM_OK;
    at->round++;
    at->before = s->learner.best_step;
    at->left = session_phase_length(s, at->round, s->options.config.gnn_steps);
    session_phase_begin(s);
    if (s->learner.steps > 0) {
        TRY(learner_restore(&s->learner));
        TRY(grow(s));
    }
    TRY(agree(s));
done:
    return st;
}

static consm_status gam_fit(struct session *s, struct train_result *result)
{
    consm_status st = CONSM_OK;
    struct gam *own = s->own;
    struct gam_place *at = &own->place;
    const struct config *c = &s->options.config;
    struct progress progress = {.seed = s->options.seed,
                                .epochs = c->warmup + c->rounds * c->gnn_steps};
    double begin = clock_seconds();
    if (!own->agreement)
        TRY(agreement_new(&own->agreement, s));
    if (!at->begun)
        *at = (struct gam_place){.begun = 1, .left = c->warmup};
    else if (own->weighed && !own->best_w) /* a checkpoint of a graph in parts stores no edges */
        TRY(weigh(s));
    for (;;) {
        TRY(classify(s, &progress));
        bool better = s->learner.best_step != at->before;
        session_phase_end(s, at->round, better);
        if (at->round > 0)
            at->idle = better ? 0 : at->idle + 1;
        if (at->round == c->rounds || session_late(s) ||
            (c->round_patience > 0 && at->idle >= c->round_patience))
            break;
        TRY(begin_round(s, at));
    }
    TRY(session_end(s));
    TRY(session_finish(s, result, clock_seconds() - begin));
    result->loss = progress.loss;
done:
    return st;
}

/* What a checkpoint holds besides the classifier. */
static consm_status gam_memory(struct session *s, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    struct gam *own = s->own;
    size_t n = (size_t)s->problem->nodes;
    const struct edges *edges = own->propagation->edges;
    size_t bytes = edges ? (size_t)edges->count * sizeof(float) : 0;
    see(ctx, "gam.place", &own->place, sizeof own->place);
    see(ctx, "gam.weighed", &own->weighed, sizeof own->weighed);
    see(ctx, "gam.count", &own->count, sizeof own->count);
    see(ctx, "gam.labelled", own->labelled, n * sizeof *own->labelled);
    see(ctx, "gam.label", own->label, n * sizeof *own->label);
    see(ctx, "gam.node", own->node, n * sizeof *own->node);
    see(ctx, "gam.row_weight", s->row_weight, n * sizeof *s->row_weight);
    see(ctx, "gam.total", &own->propagation->total, sizeof own->propagation->total);
    if (bytes > 0) {
        see(ctx, "gam.w", own->w, bytes);
        see(ctx, "gam.best_w", own->best_w, bytes);
        see(ctx, "gam.pull", own->propagation->pull, bytes);
    }
    if (!own->agreement)
        TRY(agreement_new(&own->agreement, s));
    TRY(agreement_memory(own->agreement, see, ctx));
done:
    return st;
}

static int by_node(const void *a, const void *b)
{
    const struct guess *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Checks the list of labelled nodes: given ones first, each node once, with class, weight and mark;
 * nothing else is marked or weighted. */
static bool labels_sound(const struct session *s)
{
    const struct gam *own = s->own;
    const struct problem *p = s->problem;
    int64_t marked = 0;
    if (own->count < own->given || own->count > p->nodes)
        return false;
    for (int64_t i = 0; i < p->nodes; i++) {
        if (own->labelled[i] > 1 || own->label[i] < 0 || own->label[i] >= p->classes ||
            !(s->row_weight[i] >= 0) || (!own->labelled[i] && s->row_weight[i] != 0))
            return false;
        marked += own->labelled[i];
    }
    for (int64_t k = 0; k < own->count; k++) {
        int32_t i = own->node[k];
        if (i < 0 || i >= p->nodes || own->labelled[i] != 1)
            return false;
        bool given = p->role[i] == SPLIT_TRAIN && p->label[i] >= 0;
        if (given != (k < own->given) || (given && own->label[i] != p->label[i]))
            return false;
    }
    for (int64_t k = 0; k < own->count; k++)
        own->room.found[k].node = own->node[k];
    qsort(own->room.found, (size_t)own->count, sizeof *own->room.found, by_node);
    for (int64_t k = 1; k < own->count; k++)
        if (own->room.found[k].node == own->room.found[k - 1].node)
            return false;
    return marked == own->count;
}

static bool gam_sound(const struct session *s)
{
    const struct gam *own = s->own;
    const struct config *c = &s->options.config;
    const struct gam_place *at = &own->place;
    return (at->begun == 0 || at->begun == 1) && at->round >= 0 && at->round <= c->rounds &&
           at->left >= 0 && at->left <= (at->round ? c->gnn_steps : c->warmup) && at->idle >= 0 &&
           at->idle <= at->round && at->before >= 0 && own->weighed >= 0 &&
           own->weighed <= c->rounds && labels_sound(s) && agreement_sound(own->agreement);
}

static consm_status gam_coefficients(struct session *s, float *w, const struct edges *edges)
{
    const struct gam *own = s->own;
    if (!own || !own->best_w)
        return status_fail(CONSM_EINVAL, "gam has edge coefficients only right after training, "
                                         "and not for a graph in parts");
    memcpy(w, own->best_w, (size_t)edges->count * sizeof *w);
    return CONSM_OK;
}

const struct procedure gam_procedure = {
    .model = "gam",
    .open = gam_open,
    .loss = whole_loss,
    .fit = gam_fit,
    .phases = true,
    .resumes = true,
    .parts = true,
    .memory = gam_memory,
    .sound = gam_sound,
    .close = gam_close,
    .coefficients = gam_coefficients,
};
