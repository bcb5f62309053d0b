/* Trains on an attacked graph: the model on the graph as it is, and a GCN after three ways to clean
 * the graph without labels. */

/*
 * GCN-Jaccard (Wu et al., IJCAI 2019) drops edges whose ends share few features; GCN-SVD (Entezari
 * et al., WSDM 2020) takes the low-rank approximation of the graph; GNNGuard (Zhang and Zitnik,
 * NeurIPS 2020) drops edges to which one of its layers gives no weight. And a GCN on ConSM's clean
 * graph: the edges that its trust keeps, as in `consm clean`.
 */
#include "study/plant.h"

#include "attack/attack.h"
#include "backends/open.h"
#include "stats/stats.h"
#include "train/edge_trust.h"
#include <string.h>

/* GCN-Jaccard's threshold as in its authors' program. GCN-SVD's ranks, of which validation takes
 * the best, and its number of edges per edge of the attacked graph. */
static const float JACCARD_LEAST = 0.01f;
static const int svd_rank[] = {5, 15, 50};
enum { SVD_RANKS = sizeof svd_rank / sizeof *svd_rank, SVD_EDGES = 10 };

struct robust {
    const struct task_input *in;
    struct planted planted;
    uint8_t *role;
    struct session *s;
    struct backend *backend;
    json_t *result;
    uint8_t *kept; /* (edges) */
};

/* result[name] = {"acc": accuracy of a GCN on that graph, "kept": edges per edge of the attacked};
 * of two with one name, the one with the better validation stays. */
static consm_status add_defence(struct robust *t, const char *name, const struct prepared *on)
{
    consm_status st = CONSM_OK;
    const json_t *other = json_object_get(t->result, name);
    json_t *to = json_object();
    const int64_t edges = on->graph->nnz / 2;
    struct train_result trained;
    TRY(planted_again(&trained, on, t->in, t->role));
    TRY(task_number(to, "acc", trained.test_acc));
    TRY(task_number(to, "val_acc", trained.val_acc));
    TRY(task_number(to, "kept", (double)edges / (double)t->planted.edges->count));
    if (!(other && task_value(other, "val_acc") >= trained.val_acc) &&
        json_object_set(t->result, name, to) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    json_decref(to);
    return st;
}

static consm_status defend_by_dropping(struct robust *t, const char *name)
{
    consm_status st = CONSM_OK;
    struct prepared left = {0};
    TRY(planted_left(&left, &t->planted, t->kept));
    TRY(add_defence(t, name, &left));
done:
    prepare_free(&left);
    return st;
}

static consm_status defend_by_svd(struct robust *t, int64_t rank)
{
    consm_status st = CONSM_OK;
    struct prepared on = {0};
    struct csr *graph = NULL;
    TRY(attack_low_rank(&graph, t->planted.prepared.graph, rank,
                        SVD_EDGES * t->planted.edges->count, t->in->run->seed));
    TRY(planted_on(&on, &t->planted, graph));
    TRY(add_defence(t, "svd", &on));
done:
    prepare_free(&on);
    return st;
}

static consm_status defend_gcn(struct robust *t)
{
    consm_status st = CONSM_OK;
    const struct edges *edges = t->planted.edges;
    float *score = NULL;
    TRY(NEW(score, edges->count));
    similarity_jaccard(score, edges, t->s->problem);
    for (int64_t e = 0; e < edges->count; e++)
        t->kept[e] = score[e] >= JACCARD_LEAST;
    TRY(defend_by_dropping(t, "jaccard"));
    TRY(similarity_guard_of(score, t->kept, NULL, t->s, edges));
    for (int64_t e = 0; e < edges->count; e++)
        t->kept[e] = !t->kept[e];
    TRY(defend_by_dropping(t, "gnnguard"));
    for (int k = 0; k < SVD_RANKS; k++)
        TRY(defend_by_svd(t, svd_rank[k]));
done:
    mem_free(score);
    return st;
}

/* A GCN on what trust keeps, and how well trust separates the graph's own edges from added ones. */
static consm_status clean_by_trust(struct robust *t)
{
    consm_status st = CONSM_OK;
    const struct planted *p = &t->planted;
    struct edge_trust trust = {0};
    json_t *to;
    int64_t passed = 0;
    double auc;
    TRY(session_trust(&trust, t->s));
    memcpy(t->kept, trust.kept, (size_t)p->edges->count);
    TRY(defend_by_dropping(t, "clean"));
    for (int64_t e = 0; e < p->edges->count; e++) {
        passed += p->injected[e] && trust.kept[e];
        t->kept[e] = !p->injected[e];
    }
    TRY(stats_auc(&auc, trust.score, t->kept, p->edges->count));
    if (!(to = json_object()) || json_object_set_new(t->result, "trust", to) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
    TRY(task_number(to, "auc", auc));
    TRY(task_number(to, "passed", (double)passed / (double)p->count)); /* null: nothing was added */
done:
    edge_trust_free(&trust);
    return st;
}

consm_status task_robust(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    struct robust t = {.in = in, .result = result};
    struct train_result trained;
    struct train_options options = task_options(in);
    TRY(task_roles(&t.role, in));
    TRY(planted_new(&t.planted, in));
    TRY(NEW(t.kept, t.planted.edges->count));
    struct problem problem = prepare_problem(&t.planted.prepared, t.role);
    TRY(backend_open(&t.backend, in->run->device, in->threads));
    TRY(session_new(&t.s, &problem, &options, t.backend));
    TRY(session_train(t.s, &trained));
    TRY(task_record(result, &trained));
    TRY(task_number(result, "edges", (double)t.planted.edges->count));
    TRY(task_number(result, "injected", (double)t.planted.count));
    TRY(task_number(result, "removed", (double)t.planted.removed));
    if (strcmp(in->run->model->name, "gcn") == 0)
        TRY(defend_gcn(&t));
    if (strcmp(in->run->model->name, "consm") == 0)
        TRY(clean_by_trust(&t));
done:
    session_free(t.s);
    backend_close(t.backend);
    planted_free(&t.planted);
    mem_free(t.kept);
    mem_free(t.role);
    return st;
}
