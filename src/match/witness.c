/* Computes the witnesses of each edge after training. Not in the paper. */
#include "match/trust_inside.h"

#include "base/alloc.h"
#include <math.h>
#include <string.h>

static double largest(const float *x, int64_t c)
{
    float top = x[0];
    for (int64_t k = 1; k < c; k++)
        top = x[k] > top ? x[k] : top;
    return (double)top;
}

const char *const witness_names[WITNESSES] = {
    "match", "agreement",  "head",   "confidence", "features",
    "mass",  "neighbours", "degree", "taught",     "taught_agreement",
};

/* p_i·p_j with p = softmax of the logits: in [0, 1]. */
static float agreement_of(const float *x, const float *y, int64_t c)
{
    double top_x = largest(x, c), top_y = largest(y, c), sum_x = 0, sum_y = 0, both = 0;
    for (int64_t k = 0; k < c; k++) {
        double a = exp((double)x[k] - top_x), b = exp((double)y[k] - top_y);
        sum_x += a;
        sum_y += b;
        both += a * b;
    }
    return (float)(both / (sum_x * sum_y));
}

void witness_agreement(float *agreement, const float *logits, int64_t c, const struct edges *edges)
{
    for (int64_t e = 0; e < edges->count; e++)
        agreement[e] = agreement_of(logits + edges->left[e] * c, logits + edges->right[e] * c, c);
}

struct witnessing {
    float *stored;
    const struct witness_data *d;
    float *length, *mass; /* (n) Euclidean length and log(1 + ‖x‖₁) of the feature rows */
    int32_t *mark;        /* (threads, n) the last node of which a node was a neighbour */
};

static void measure_row(struct witnessing *q, int64_t i)
{
    const struct witness_data *d = q->d;
    const struct csr *s = d->sparse;
    const float *value = s ? s->val : d->dense;
    int64_t from = s ? s->start[i] : i * d->features;
    int64_t to = s ? s->start[i + 1] : from + d->features;
    double squares = 0, sum = 0;
    for (int64_t k = from; k < to; k++) {
        double v = value ? (double)value[k] : 1;
        squares += v * v;
        sum += fabs(v);
    }
    q->length[i] = (float)sqrt(squares);
    q->mass[i] = (float)log1p(sum);
}

static void measure_worker(void *arg, struct worker who)
{
    struct witnessing *q = arg;
    int64_t from, to;
    team_range(who, q->d->graph->rows, 16, &from, &to);
    for (int64_t i = from; i < to; i++)
        if (!q->d->here || q->d->here[i])
            measure_row(q, i);
}

static double dense_product(const float *a, const float *b, int64_t f)
{
    double sum = 0;
    for (int64_t k = 0; k < f; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

static double sparse_product(const struct csr *s, int64_t i, int64_t j)
{
    double sum = 0;
    int64_t a = s->start[i], b = s->start[j];
    while (a < s->start[i + 1] && b < s->start[j + 1]) {
        if (s->col[a] == s->col[b])
            sum += s->val ? (double)s->val[a] * (double)s->val[b] : 1;
        int32_t at_a = s->col[a], at_b = s->col[b];
        a += at_a <= at_b;
        b += at_b <= at_a;
    }
    return sum;
}

static float cosine(const struct witnessing *q, int64_t i, int64_t j)
{
    const struct witness_data *d = q->d;
    double lengths = (double)q->length[i] * (double)q->length[j];
    if (lengths == 0)
        return 0;
    double product = d->sparse ? sparse_product(d->sparse, i, j)
                               : dense_product(d->dense + i * d->features,
                                               d->dense + j * d->features, d->features);
    return (float)(product / lengths);
}

/* Small interleaved blocks of edges, because those of a hub are adjacent; list steps that cost as
 * much as one lookup. */
enum { BLOCK = 256, LOOKUP = 8 };

/* sqrt(|N(i) ∩ N(j)| / |N(i) ∪ N(j)|). mark[v] == i: v is a neighbour of i. So j's list is read in
 * order, unless it is so much longer that looking up i's neighbours in it is cheaper. */
static float overlap(const struct csr *g, int32_t i, int32_t j, const int32_t *mark)
{
    int64_t size_i = g->start[i + 1] - g->start[i], size_j = g->start[j + 1] - g->start[j];
    int64_t shared = 0;
    if (size_j <= LOOKUP * size_i)
        for (int64_t k = g->start[j]; k < g->start[j + 1]; k++)
            shared += mark[g->col[k]] == i;
    else
        for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
            shared += csr_find(g, j, g->col[k]) >= 0;
    int64_t all = size_i + size_j - shared;
    return all > 0 ? sqrtf((float)shared / (float)all) : 0;
}

static void mark_neighbours(int32_t *mark, const struct csr *g, int32_t i)
{
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
        mark[g->col[k]] = i;
}

static float degree_of(const struct csr *g, int64_t i)
{
    return (float)log1p((double)(g->start[i + 1] - g->start[i]));
}

static void data_worker(void *arg, struct worker who)
{
    const struct witnessing *q = arg;
    const struct witness_data *d = q->d;
    int32_t *mark = q->mark + who.id * d->graph->rows, marked = -1;
    for (int64_t i = 0; i < d->graph->rows; i++)
        mark[i] = -1;
    for (int64_t begin = (int64_t)who.id * BLOCK; begin < d->edges->count;
         begin += (int64_t)who.size * BLOCK)
        for (int64_t e = begin; e < begin + BLOCK && e < d->edges->count; e++) {
            int32_t i = d->edges->left[e], j = d->edges->right[e];
            float *x = q->stored + e * DATA_WITNESSES;
            x[WITNESS_FEATURES - WITNESS_DATA] = cosine(q, i, j);
            x[WITNESS_MASS - WITNESS_DATA] = -fabsf(q->mass[i] - q->mass[j]);
            if (i != marked)
                mark_neighbours(mark, d->graph, marked = i);
            x[WITNESS_NEIGHBOURS - WITNESS_DATA] = overlap(d->graph, i, j, mark);
            x[WITNESS_DEGREE - WITNESS_DATA] =
                -fabsf(degree_of(d->graph, i) - degree_of(d->graph, j));
        }
}

consm_status witness_data_only(float *stored, const struct witness_data *data, struct team *team)
{
    consm_status st = CONSM_OK;
    struct witnessing q = {.stored = stored, .d = data};
    TRY(NEW(q.length, data->graph->rows));
    TRY(NEW(q.mass, data->graph->rows));
    TRY(NEW(q.mark, data->graph->rows * team_size(team)));
    team_run(team, measure_worker, &q);
    team_run(team, data_worker, &q);
done:
    mem_free(q.length);
    mem_free(q.mass);
    mem_free(q.mark);
    return st;
}

/* ---- what the model says ------------------------------------------------- */

/* A node's prediction: softmax(row / T), or almost certainly its training label. */
struct prediction {
    double *chance; /* (c) */
    double most;    /* the largest of them */
    int64_t node;   /* -1: none yet */
};

/* Labels are sometimes wrong. */
static const double told_wrong = 0.02;

static void predict(struct prediction *p, const float *row, int64_t c, double temperature,
                    int32_t told)
{
    double top = largest(row, c), sum = 0;
    for (int64_t k = 0; k < c && told < 0; k++)
        sum += p->chance[k] = exp(((double)row[k] - top) / temperature);
    for (int64_t k = 0; k < c; k++)
        p->chance[k] = told < 0 ? p->chance[k] / sum
                                : (k == told ? 1 - told_wrong : 0) + told_wrong / (double)c;
    p->most = told < 0 ? 1 / sum : 1 - told_wrong + told_wrong / (double)c;
}

/* log-odds of Σ_k p_ik p_jk, bounded. */
static double agreement_odds(const struct prediction *p, const struct prediction *q, int64_t c)
{
    double both = 0;
    for (int64_t k = 0; k < c; k++)
        both += p->chance[k] * q->chance[k];
    both = fmin(fmax(both, 1e-3), 1 - 1e-3);
    return log(both / (1 - both));
}

enum { ENDS = 2, MODELS = 2 }; /* of an edge; GNN and head */

/* The predictions of both models for a node, unless they are there already. */
static void predict_node(struct prediction p[MODELS], const struct witnesses *w, int64_t node)
{
    const struct witness_model *m = &w->model;
    int64_t c = w->data.classes;
    int32_t told = w->data.taught ? w->data.taught[node] : -1;
    if (p[0].node == node)
        return;
    predict(&p[0], m->logits + node * c, c, m->temperature[0], told);
    predict(&p[1], m->head + node * c, c, m->temperature[1], told);
    p[0].node = node;
}

static void ask_model(float *x, const struct witnesses *w, struct prediction p[ENDS][MODELS],
                      int32_t i, int32_t j)
{
    const int32_t *taught = w->data.taught;
    int64_t c = w->data.classes;
    bool told = taught && (taught[i] >= 0 || taught[j] >= 0);
    predict_node(p[0], w, i); /* edges are sorted by this end */
    predict_node(p[1], w, j);
    x[WITNESS_AGREEMENT] = (float)agreement_odds(&p[0][0], &p[1][0], c);
    x[WITNESS_HEAD] = (float)agreement_odds(&p[0][1], &p[1][1], c);
    x[WITNESS_CONFIDENCE] = (float)fmin(p[0][0].most, p[1][0].most);
    x[WITNESS_TAUGHT] = told ? 1 : 0;
    x[WITNESS_TAUGHT_AGREEMENT] = told ? x[WITNESS_AGREEMENT] : 0;
}

void witness_rows(float *x, const struct witnesses *w, const int64_t *place, int64_t from,
                  int64_t to, int thread)
{
    const struct edges *edges = w->data.edges;
    int64_t c = w->data.classes;
    struct prediction p[ENDS][MODELS];
    for (int k = 0; k < ENDS * MODELS; k++)
        p[k / MODELS][k % MODELS] =
            (struct prediction){.chance = w->room + (thread * ENDS * MODELS + k) * c, .node = -1};
    for (int64_t k = from; k < to; k++, x += WITNESSES) {
        int64_t e = place ? place[k] : k;
        memcpy(x + WITNESS_DATA, w->stored + e * DATA_WITNESSES, DATA_WITNESSES * sizeof *x);
        x[WITNESS_MATCH] = w->model.w[e];
        ask_model(x, w, p, edges->left[e], edges->right[e]);
    }
}

int64_t witness_room(int64_t classes, const struct team *team)
{
    return team_size(team) * ENDS * MODELS * classes + 1;
}

struct asking {
    float *x;
    const struct witnesses *w;
    const int64_t *place;
    int64_t count;
};

static void asking_worker(void *arg, struct worker who)
{
    const struct asking *q = arg;
    int64_t from, to;
    team_range(who, q->count, BLOCK, &from, &to);
    witness_rows(q->x + from * WITNESSES, q->w, q->place, from, to, who.id);
}

void witness_ask(float *x, const struct witnesses *w, const int64_t *place, int64_t count)
{
    struct asking q = {x, w, place, count};
    team_run(w->team, asking_worker, &q);
}
