/* Examines the matching module before it is used. A module of the same kind learns from four fifths
 * of the labelled nodes of every class. It then scores pairs it learned from, pairs with a held-out
 * node, and edges whose labels training or validation may know. The edges choose how subgraphs are
 * pruned. A module at chance on held-out pairs gets no weight in trust. Not in the paper. */
#include "base/order.h"
#include "train/consm/consm.h"

#include "base/rng.h"
#include "graph/partition.h"
#include "stats/stats.h"
#include <math.h>
#include <stdlib.h>

enum {
    FOLDS = 5,            /* one in five is held out */
    MOST_NODES = 2000,    /* labelled nodes that take part; more are sampled */
    EGO_PAIRS = 8,        /* pairs of each kind per node */
    MOST_EDGES = 4096,    /* known edges used; more are sampled */
    ENOUGH_OF_A_KIND = 20 /* known edges of each kind needed to choose by them */
};

/* Pairs of nodes and whether their classes are equal. */
struct questions {
    int64_t count, room;
    int32_t *left, *right;
    uint8_t *same;
    float *answer;
};

struct exam {
    const struct session *s;
    const struct match_data *data;
    const struct config *config;
    struct backend *backend;
    int32_t *learned, *held; /* nodes, both grouped by class */
    int64_t learned_count, held_count;
    struct questions learned_pairs, held_pairs, known_edges;
    int32_t *asked; /* all nodes in the questions, each once */
    int64_t asked_count;
};

static consm_status questions_new(struct questions *q, int64_t room)
{
    consm_status st = CONSM_OK;
    q->room = room;
    TRY(NEW(q->left, room));
    TRY(NEW(q->right, room));
    TRY(NEW(q->same, room));
    TRY(NEW(q->answer, room));
done:
    return st;
}

static void questions_free(struct questions *q)
{
    mem_free(q->left);
    mem_free(q->right);
    mem_free(q->same);
    mem_free(q->answer);
}

static void exam_free(struct exam *x)
{
    mem_free(x->learned);
    mem_free(x->held);
    mem_free(x->asked);
    questions_free(&x->learned_pairs);
    questions_free(&x->held_pairs);
    questions_free(&x->known_edges);
}

static void ask(struct questions *q, const int32_t *label, int32_t i, int32_t j)
{
    q->left[q->count] = i;
    q->right[q->count] = j;
    q->same[q->count++] = label[i] == label[j];
}

/* Holds out one labelled node in five of each class, drawn by seed. On a large, mostly labelled
 * graph an equal number of every class is enough. */
static consm_status hold_out(struct exam *x, struct rng *r)
{
    consm_status st = CONSM_OK;
    const struct index *labelled = x->s->labelled;
    const struct problem *problem = x->s->problem;
    int64_t most = MOST_NODES / problem->classes > FOLDS ? MOST_NODES / problem->classes : FOLDS;
    int32_t *of_class = NULL;
    TRY(NEW(x->learned, labelled->count));
    TRY(NEW(x->held, labelled->count));
    TRY(NEW(of_class, labelled->count));
    for (int32_t k = 0; k < problem->classes; k++) {
        int64_t size = 0;
        for (int64_t i = 0; i < labelled->count; i++)
            if (problem->label[labelled->row[i]] == k)
                of_class[size++] = labelled->row[i];
        int64_t taken = size < most ? size : most;
        for (int64_t i = 0; i < taken; i++) {
            int64_t other = i + (int64_t)rng_below(r, (uint64_t)(size - i));
            int32_t drawn = of_class[other];
            of_class[other] = of_class[i];
            if (i < taken / FOLDS)
                x->held[x->held_count++] = drawn;
            else
                x->learned[x->learned_count++] = drawn;
        }
    }
done:
    mem_free(of_class);
    return st;
}

/* Pairs of every ego with labelled nodes of its class and of others; a node drawn with itself is
 * skipped. */
static consm_status ask_about(struct questions *q, const struct exam *x, const int32_t *ego,
                              int64_t egos, const int32_t *other, int64_t others, struct rng *r)
{
    consm_status st = CONSM_OK;
    const int32_t *label = x->s->problem->label;
    TRY(questions_new(q, egos * 2 * EGO_PAIRS));
    for (int64_t i = 0; i < egos && others > 0; i++) {
        int of_kind[2] = {0};
        for (int draw = 0; draw < 64 * EGO_PAIRS; draw++) {
            int32_t j = other[rng_below(r, (uint64_t)others)];
            int same = label[ego[i]] == label[j];
            if (j == ego[i] || of_kind[same] == EGO_PAIRS)
                continue;
            of_kind[same]++;
            ask(q, label, ego[i], j);
        }
    }
done:
    return st;
}

/* Both ends are known, at most one trains. */
static bool may_ask(const struct problem *problem, int32_t i, int32_t j)
{
    return consm_known(problem, i) && consm_known(problem, j) &&
           !(problem->role[i] == SPLIT_TRAIN && problem->role[j] == SPLIT_TRAIN);
}

/* In a graph in parts all ranks use the same edges. */
static consm_status ask_about_drawn(struct exam *x)
{
    consm_status st = CONSM_OK;
    const struct edges *edges = ((struct consm *)x->s->own)->edges;
    const struct problem *problem = x->s->problem;
    int64_t *place = NULL, count, all;
    uint8_t *marked = NULL;
    int32_t(*ends)[2] = NULL;
    void *came = NULL;
    TRY(NEW(marked, edges->count + 1));
    for (int64_t e = 0; e < edges->count; e++)
        marked[e] = may_ask(problem, edges->left[e], edges->right[e]);
    TRY(edges_draw(&place, &count, edges, marked, MOST_EDGES, x->s->options.seed));
    TRY(NEW(ends, count + 1));
    for (int64_t k = 0; k < count; k++) {
        ends[k][0] = edges->left[place[k]];
        ends[k][1] = edges->right[place[k]];
    }
    TRY(partition_all(&came, &all, edges->partition, ends, count, sizeof *ends));
    for (int64_t k = 0; k < all; k++) {
        const int32_t *pair = (const int32_t *)came + 2 * k;
        ask(&x->known_edges, problem->label, pair[0], pair[1]);
    }
done:
    mem_free(place);
    mem_free(marked);
    mem_free(ends);
    mem_free(came);
    return st;
}

/* Samples edges to ask about: reservoir sampling (Vitter 1985). */
static consm_status ask_about_edges(struct exam *x, struct rng *r)
{
    consm_status st = CONSM_OK;
    const struct edges *edges = ((struct consm *)x->s->own)->edges;
    const struct problem *problem = x->s->problem;
    struct questions *q = &x->known_edges;
    int64_t met = 0;
    TRY(questions_new(q, MOST_EDGES));
    if (edges->partition)
        return ask_about_drawn(x);
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t i = edges->left[e], j = edges->right[e];
        if (!may_ask(problem, i, j))
            continue;
        int64_t place = met < MOST_EDGES ? met : (int64_t)rng_below(r, (uint64_t)met + 1);
        met++;
        if (place >= MOST_EDGES)
            continue;
        q->count = place; /* position of the next question */
        ask(q, problem->label, i, j);
    }
    q->count = met < MOST_EDGES ? met : MOST_EDGES;
done:
    return st;
}

/* The nodes whose subgraphs must be pooled. */
static consm_status list_asked(struct exam *x)
{
    consm_status st = CONSM_OK;
    const struct questions *all[] = {&x->learned_pairs, &x->held_pairs, &x->known_edges};
    uint8_t *met = NULL;
    TRY(ZNEW(met, x->s->problem->nodes));
    TRY(NEW(x->asked, x->s->problem->nodes));
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < 2 * all[k]->count; i++) {
            int32_t end = i < all[k]->count ? all[k]->left[i] : all[k]->right[i - all[k]->count];
            if (!met[end])
                x->asked[x->asked_count++] = end;
            met[end] = 1;
        }
done:
    mem_free(met);
    return st;
}

static consm_status exam_new(struct exam *x)
{
    consm_status st = CONSM_OK;
    struct rng r;
    rng_init(&r, x->s->options.seed, 0x6578616du);
    TRY(hold_out(x, &r));
    if (x->s->problem->graph->partition) /* each rank has a range */
        qsort(x->learned, (size_t)x->learned_count, sizeof *x->learned, order_int32);
    TRY(ask_about(&x->learned_pairs, x, x->learned, x->learned_count, x->learned, x->learned_count,
                  &r));
    TRY(ask_about(&x->held_pairs, x, x->held, x->held_count, x->learned, x->learned_count, &r));
    TRY(ask_about_edges(x, &r));
    TRY(list_asked(x));
done:
    return st;
}

static consm_status grade(double *auc, struct matcher *m, struct questions *q)
{
    consm_status st = CONSM_OK;
    *auc = NAN;
    TRY(matcher_match(m, q->answer, q->left, q->right, q->count));
    TRY(stats_auc(auc, q->answer, q->same, q->count));
done:
    return st;
}

/* Trains a module on the nodes that are not held out and scores all questions. */
static consm_status examine(struct match_quality *out, struct exam *x, enum config_prune_by by)
{
    consm_status st = CONSM_OK;
    const struct session *s = x->s;
    struct matcher *m = NULL;
    struct match_data data = *x->data;
    struct config config = *x->config;
    config.prune_by = by;
    data.train = x->learned;
    data.labelled = x->learned_count;
    TRY(matcher_new(&m, &data, &config, s->options.seed, x->backend));
    TRY(matcher_prune(m, consm_kept_share(s, by, 1), NULL));
    TRY(matcher_train(m, config.match_steps, NULL));
    TRY(matcher_pool(m, x->asked, x->asked_count));
    TRY(grade(&out->learned_auc, m, &x->learned_pairs));
    TRY(grade(&out->held_auc, m, &x->held_pairs));
    TRY(grade(&out->known_auc, m, &x->known_edges));
done:
    matcher_free(m);
    return st;
}

/* By known edges if there are some of either kind, else by held-out pairs. */
static double mark_of(const struct match_quality *quality, const struct questions *known)
{
    int64_t same = 0;
    for (int64_t i = 0; i < known->count; i++)
        same += known->same[i];
    bool enough = same >= ENOUGH_OF_A_KIND && known->count - same >= ENOUGH_OF_A_KIND;
    double mark = enough ? quality->known_auc : quality->held_auc;
    return isnan(mark) ? 0 : mark;
}

/* Whether the area over the held-out pairs is within two standard errors of 1/2. Pairs that share a
 * node are not independent, so the error counts held-out nodes, not pairs: that of a mean of so
 * many uniform ranks, 1/sqrt(12·nodes). */
static bool at_chance(const struct match_quality *quality, int64_t held)
{
    return held > 0 && quality->held_auc < 0.5 + 2 / sqrt(12 * (double)held);
}

consm_status consm_examine(struct consm_exam *out, const struct session *s,
                           const struct match_data *data, const struct config *config,
                           struct backend *backend)
{
    static const enum config_prune_by choices[] = {PRUNE_BY_NONE, PRUNE_BY_REFERENCES,
                                                   PRUNE_BY_EGO};
    consm_status st = CONSM_OK;
    enum config_prune_by given = config->prune_by;
    struct exam x = {.s = s, .data = data, .config = config, .backend = backend};
    int count = given == PRUNE_BY_AUTO ? 3 : 1;
    double best = -1;
    TRY(exam_new(&x));
    for (int i = 0; i < count; i++) {
        struct match_quality quality;
        enum config_prune_by by = count > 1 ? choices[i] : given;
        TRY(examine(&quality, &x, by));
        double mark = mark_of(&quality, &x.known_edges);
        if (mark > best) {
            best = mark;
            *out = (struct consm_exam){.quality = quality, .prune_by = by, .held = x.held_count};
        }
    }
    out->quality.at_chance = at_chance(&out->quality, x.held_count);
done:
    exam_free(&x);
    return st;
}
