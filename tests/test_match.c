/* The matching module against naive versions on random graphs and against the plain-PyTorch
 * reference of all profiles; and its behaviour in extreme cases. THREADED */
#include "programs.h"

#include "base/rng.h"
#include "match/matcher_inside.h"
#include "match/prune.h"
#include "models/model.h"
#include "reference.h"
#include "train/consm/consm.h"
#include <math.h>

/* ---- a small random world ------------------------------------------------ */

struct world {
    int64_t n, c, f;
    struct csr *graph;
    struct edges *edges;
    float *x; /* (n, f) */
    int32_t *label, *train;
    int64_t labelled;
};

static void world_make(struct world *w, int64_t n, int64_t c, int64_t m, uint64_t seed)
{
    struct rng r;
    int32_t *from = mem_alloc((size_t)m, sizeof *from), *to = mem_alloc((size_t)m, sizeof *to);
    rng_init(&r, seed, 77);
    *w = (struct world){.n = n, .c = c, .f = 6};
    for (int64_t e = 0; e < m; e++) {
        from[e] = (int32_t)rng_below(&r, (uint64_t)n);
        to[e] = (int32_t)rng_below(&r, (uint64_t)n);
    }
    OK(csr_from_edges(&w->graph, n, n, m, from, to, NULL, CSR_UNDIRECTED | CSR_DROP_LOOPS, NULL));
    OK(edges_new(&w->edges, w->graph));
    w->x = mem_alloc((size_t)(n * w->f), sizeof *w->x);
    w->label = mem_alloc((size_t)n, sizeof *w->label);
    w->train = mem_alloc((size_t)n, sizeof *w->train);
    for (int64_t k = 0; k < n * w->f; k++)
        w->x[k] = (float)rng_normal(&r);
    for (int64_t i = 0; i < n; i++) {
        w->label[i] = (int32_t)(i % c);
        if (i % 3 == 0 || i < c)
            w->train[w->labelled++] = (int32_t)i;
    }
    mem_free(from);
    mem_free(to);
}

static void world_free(struct world *w)
{
    csr_free(w->graph);
    edges_free(w->edges);
    mem_free(w->x);
    mem_free(w->label);
    mem_free(w->train);
}

static struct match_data data_of(const struct world *w)
{
    return (struct match_data){.nodes = w->n,
                               .features = w->f,
                               .classes = w->c,
                               .graph = w->graph,
                               .edges = w->edges,
                               .dense = w->x,
                               .label = w->label,
                               .train = w->train,
                               .labelled = w->labelled};
}

static void config_of(struct config *c)
{
    const struct model_def *model;
    OK(model_find(&model, "consm"));
    model_defaults(model, c);
    c->match_width = 8;
    c->match_hidden = 5;
    c->match_pairs = 3;
}

/* ---- naive versions ------------------------------------------------------ */

/* Which pairs are adjacent over kept edges; (n, n). */
static bool *naive_adjacency(const struct world *w, const uint8_t *keep)
{
    bool *a = mem_zalloc((size_t)(w->n * w->n), sizeof *a);
    for (int64_t r = 0; r < w->n; r++)
        for (int64_t k = w->graph->start[r]; k < w->graph->start[r + 1]; k++)
            a[r * w->n + w->graph->col[k]] = keep[k];
    return a;
}

static bool naive_member(const bool *a, int64_t n, int64_t i, int64_t j)
{
    bool member = i == j || a[i * n + j];
    for (int64_t k = 0; k < n; k++)
        member = member || (a[i * n + k] && a[k * n + j]);
    return member;
}

/* Keeping the top k equals counting how many edges come before each one. */
static void pruning_equals_counting(void **state)
{
    (void)state;
    struct team *three;
    OK(team_new(&three, 3));
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct world w;
        struct rng r;
        struct team *team = seed % 2 ? three : NULL;
        world_make(&w, 30, 3, 60, seed);
        rng_init(&r, seed, 1);
        int64_t count = w.edges->count;
        float *score = mem_alloc((size_t)count, sizeof *score);
        uint8_t *keep = mem_alloc((size_t)w.graph->nnz, 1);
        int64_t *next = mem_alloc((size_t)w.n, sizeof *next);
        for (int64_t e = 0; e < count; e++)
            score[e] = (float)rng_below(&r, 7); /* many ties */
        for (int64_t k = 0; k <= count; k += 1 + count / 9) {
            prune_top(keep, w.graph, score, w.edges, k, next, team);
            for (int64_t e = 0; e < count; e++) {
                int64_t before = 0;
                for (int64_t o = 0; o < count; o++)
                    before += score[o] > score[e] || (score[o] == score[e] && o < e);
                int32_t i = w.edges->left[e], j = w.edges->right[e];
                assert_int_equal(keep[csr_find(w.graph, i, j)], before < k);
                assert_int_equal(keep[csr_find(w.graph, j, i)], before < k);
            }
        }
        mem_free(score);
        mem_free(next);
        mem_free(keep);
        world_free(&w);
    }
    team_free(three);
}

/* Scores, subgraphs, assignment and pooling of every node equal a naive O(n²) version. */
static void pooling_equals_naive(void **state)
{
    (void)state;
    static const char *const pools[] = {"mean", "sum", "max"};
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct world w;
        struct config c;
        struct matcher *m;
        struct backend *backend;
        const char *pool = pools[seed % 3];
        world_make(&w, 25, 3, 40, seed);
        config_of(&c);
        OK(config_set(&c, "transport", "nearest"));
        OK(config_set(&c, "pool", pool));
        c.match_layers = seed % 2 ? 1 : 2; /* with two, h has negative values */
        c.two_hop_cap = 0;
        struct match_data data = data_of(&w);
        OK(backend_open(&backend, NULL, 2));
        OK(matcher_new(&m, &data, &c, seed, backend));
        OK(matcher_prune(m, 0.6, NULL));
        float *score = mem_alloc((size_t)w.edges->count, sizeof *score);
        OK(matcher_score(m, score));
        const float *h, *r = m->reference_point;
        OK(matcher_embedding(&h, m));
        bool *a = naive_adjacency(&w, m->keep);
        int64_t kept = 0, f = c.match_width, negative = 0;
        for (int64_t k = 0; k < w.n * f; k++)
            negative += h[k] < 0;
        assert_true(c.match_layers == 1 || negative > 0);
        for (int64_t k = 0; k < w.graph->nnz; k++)
            kept += m->keep[k];
        assert_int_equal(kept, 2 * (int64_t)floor(0.6 * (double)w.edges->count));
        for (int64_t i = 0; i < w.n; i++)
            for (int64_t k = 0; k < w.c; k++)
                for (int64_t d = 0; d < f; d++) {
                    double sum = 0, most = -INFINITY;
                    int64_t members = 0;
                    for (int64_t j = 0; j < w.n; j++) {
                        double best = INFINITY;
                        int64_t nearest = 0;
                        for (int64_t q = 0; q < w.c; q++) {
                            double gap = 0;
                            for (int64_t z = 0; z < f; z++)
                                gap += pow((double)h[j * f + z] - (double)r[q * f + z], 2);
                            if (gap < best) {
                                best = gap;
                                nearest = q;
                            }
                        }
                        if (nearest != k || !naive_member(a, w.n, i, j))
                            continue;
                        sum += (double)h[j * f + d];
                        most = fmax(most, (double)h[j * f + d]);
                        members++;
                    }
                    double wanted = pool[0] == 's'   ? sum
                                    : pool[1] == 'a' ? most
                                                     : sum / (double)members;
                    assert_near((double)m->pooled[(i * w.c + k) * f + d], members ? wanted : 0,
                                1e-5);
                }
        mem_free(a);
        mem_free(score);
        matcher_free(m);
        backend_close(backend);
        world_free(&w);
    }
}

/* ---- large graphs -------------------------------------------------------- */

/* The same world after `shift` nodes without edges. */
static void world_shift(struct world *out, const struct world *w, int64_t shift)
{
    int64_t n = w->n + shift, m = w->edges->count;
    *out = (struct world){.n = n, .c = w->c, .f = w->f, .labelled = w->labelled};
    for (int64_t e = 0; e < m; e++) {
        w->edges->left[e] += (int32_t)shift;
        w->edges->right[e] += (int32_t)shift;
    }
    OK(csr_from_edges(&out->graph, n, n, m, w->edges->left, w->edges->right, NULL, CSR_UNDIRECTED,
                      NULL));
    OK(edges_new(&out->edges, out->graph));
    out->x = mem_zalloc((size_t)(n * w->f), sizeof *out->x);
    out->label = mem_zalloc((size_t)n, sizeof *out->label);
    out->train = mem_alloc((size_t)n, sizeof *out->train);
    memcpy(out->x + shift * w->f, w->x, (size_t)(w->n * w->f) * sizeof *w->x);
    memcpy(out->label + shift, w->label, (size_t)w->n * sizeof *w->label);
    for (int64_t i = 0; i < w->labelled; i++)
        out->train[i] = w->train[i] + (int32_t)shift;
}

/* The coefficients of all edges; then again those of the first edges of every tenth node, for which
 * only their ends are pooled. */
static void score_world(float *score, float *again, int64_t *asked, const struct world *w,
                        bool blocks)
{
    struct config c;
    struct matcher *m;
    struct backend *backend;
    struct match_data data = data_of(w);
    int64_t count = 0, distinct = 0, last = -1;
    int32_t *left = mem_alloc((size_t)w->n, sizeof *left),
            *right = mem_alloc((size_t)w->n, sizeof *right),
            *ends = mem_alloc((size_t)w->n, sizeof *ends);
    uint8_t *is_end = mem_zalloc((size_t)w->n, sizeof *is_end);
    config_of(&c);
    OK(config_set(&c, "transport", "nearest"));
    OK(backend_open(&backend, NULL, 2));
    OK(matcher_new(&m, &data, &c, 1, backend));
    assert_int_equal(whole_in_blocks(m), blocks);
    OK(matcher_prune(m, 0.6, NULL));
    OK(matcher_score(m, score));
    for (int64_t e = w->edges->count - 1; e >= 0; e--)
        if (w->edges->left[e] % 10 == 0 && w->edges->left[e] != last) {
            last = left[count] = w->edges->left[e];
            right[count] = w->edges->right[e];
            is_end[left[count]] = is_end[right[count]] = 1;
            again[count++] = score[e];
        }
    for (int32_t i = 0; i < w->n; i++)
        if (is_end[i])
            ends[distinct++] = i;
    *asked = count;
    OK(matcher_pool(m, ends, distinct));
    float *found = mem_alloc((size_t)count, sizeof *found);
    OK(matcher_match(m, found, left, right, count));
    assert_memory_equal(found, again, (size_t)count * sizeof *found);
    mem_free(found);
    mem_free(left);
    mem_free(right);
    mem_free(ends);
    mem_free(is_end);
    matcher_free(m);
    backend_close(backend);
}

/* More nodes than a block has: the bits are those of a graph that is pooled as a whole. */
static void blocks_have_the_bits_of_the_whole(void **state)
{
    (void)state;
    enum { NODES = 60000, EDGES = 90000, SHIFT = 10000, LABELLED = 30 };
    struct world w, shifted;
    world_make(&w, NODES, 3, EDGES, 5);
    w.labelled = LABELLED;
    int64_t asked, asked_shifted;
    size_t bytes = EDGES * sizeof(float);
    float *score = mem_alloc(1, bytes), *other = mem_alloc(1, bytes), *again = mem_alloc(1, bytes);
    score_world(score, again, &asked, &w, false);
    world_shift(&shifted, &w, SHIFT);
    assert_int_equal(shifted.edges->count, w.edges->count);
    score_world(other, again, &asked_shifted, &shifted, true);
    assert_int_equal(asked_shifted, asked);
    assert_memory_equal(other, score, (size_t)w.edges->count * sizeof *score);
    mem_free(score);
    mem_free(other);
    mem_free(again);
    world_free(&w);
    world_free(&shifted);
}

/* ---- the reference of all profiles -------------------------------------- */

static void copy_into(struct params *params, const char *name, const double *value, int64_t count)
{
    int index = params_find(params, name);
    if (index < 0)
        fail_msg("no parameter %s", name);
    assert_int_equal(params->item[index].rows * params->item[index].cols, count);
    for (int64_t k = 0; k < count; k++)
        param_values(params)[params->item[index].offset + k] = (float)value[k];
}

static void compare_with(const struct params *params, const float *block, const char *name,
                         const double *value)
{
    int index = params_find(params, name);
    const struct parameter *item = &params->item[index];
    for (int64_t k = 0; k < item->rows * item->cols; k++)
        assert_near((double)block[item->offset + k], value[k], 1e-5);
}

/* Calls fn for every parameter of the file, separately for the two halves of a concatenation's w3.
 */
static void each_tensor(const json_t *tensors, int64_t half,
                        void (*fn)(void *ctx, const char *name, const double *value, int64_t count),
                        void *ctx)
{
    const char *name;
    json_t *tensor;
    json_object_foreach((json_t *)tensors, name, tensor)
    {
        struct ref_tensor t = ref_read(tensor);
        if (half && strcmp(name, "w3") == 0) {
            fn(ctx, "w3", t.value, half * t.cols);
            fn(ctx, "w3r", t.value + half * t.cols, half * t.cols);
        } else {
            fn(ctx, name, t.value, t.rows * t.cols);
        }
        mem_free(t.value);
    }
}

static void load_one(void *ctx, const char *name, const double *value, int64_t count)
{
    copy_into(ctx, name, value, count);
}

static void check_one(void *ctx, const char *name, const double *value, int64_t count)
{
    struct params *params = ctx;
    (void)count;
    compare_with(params, param_grads(params), name, value);
}

/* Puts the file's kept edges, references and pairs into a matcher. */
static void impose(struct matcher *m, const json_t *inputs, const struct ref_graph *g)
{
    struct ref_tensor kept = ref_read(ref_get(inputs, "edge_kept"));
    struct ref_tensor reference = ref_read(ref_get(inputs, "reference"));
    struct ref_tensor pairs = ref_read(ref_get(inputs, "pairs"));
    struct ref_tensor target = ref_read(ref_get(inputs, "targets"));
    const struct match_data *d = &m->data;
    for (int64_t e = 0; e < g->edges; e++) {
        m->keep[csr_find(d->graph, g->from[e], g->to[e])] = kept.value[e] > 0;
        m->keep[csr_find(d->graph, g->to[e], g->from[e])] = kept.value[e] > 0;
    }
    OK(subgraphs_collect(&m->sets, &m->scratch[0].walk, d->graph, m->keep, d->train, d->labelled, 0,
                         0));
    for (int64_t k = 0; k < m->sets.start[m->sets.count]; k++)
        m->member_reference[k] = (int32_t)reference.value[m->sets.member[k]];
    OK(pooling_assign(&m->pooling, &m->sets, m->member_reference, POOL_MEAN));
    assert_int_equal(pairs.rows, m->pairs);
    int32_t left[64], right[64];
    memset(m->times, 0, (size_t)d->labelled * sizeof *m->times);
    for (int64_t k = 0; k < m->pairs; k++) {
        for (int64_t i = 0; i < d->labelled; i++) {
            if (d->train[i] == (int32_t)pairs.value[2 * k])
                left[k] = (int32_t)i;
            if (d->train[i] == (int32_t)pairs.value[2 * k + 1])
                right[k] = (int32_t)i;
        }
        m->times[left[k]]++;
        m->times[right[k]]++;
        m->target[k] = (float)target.value[k];
        m->weight[k] = 1 / (float)m->pairs;
    }
    OK(index_set(m->left, left));
    OK(index_set(m->right, right));
    mem_free(kept.value);
    mem_free(reference.value);
    mem_free(pairs.value);
    mem_free(target.value);
}

static void matching_equals_reference(void **state)
{
    (void)state;
    json_t *file = ref_open("consm");
    struct ref_graph g = ref_graph_read();
    struct csr *graph;
    struct edges *edges;
    struct backend *backend;
    float *x = mem_alloc((size_t)(g.nodes * g.features), sizeof *x);
    for (int64_t k = 0; k < g.nodes * g.features; k++)
        x[k] = (float)g.x[k];
    OK(csr_from_edges(&graph, g.nodes, g.nodes, g.edges, g.from, g.to, NULL, CSR_UNDIRECTED, NULL));
    OK(edges_new(&edges, graph));
    OK(backend_open(&backend, NULL, 2));
    int seen = 0;
    for (size_t i = 0; i < json_array_size(ref_get(file, "entries")); i++) {
        const json_t *entry = json_array_get(ref_get(file, "entries"), i);
        const json_t *config = ref_get(entry, "config");
        if (strcmp(json_string_value(ref_get(config, "part")), "matching") != 0)
            continue;
        struct config c;
        struct matcher *m;
        config_of(&c);
        const char *profile = json_string_value(ref_get(config, "profile"));
        OK(config_set(&c, "profile", profile));
        OK(config_set(&c, "match_update", "ego"));
        OK(config_set(&c, "transport", "nearest"));
        c.match_dropout = 0;
        c.two_hop_cap = 0;
        c.match_hidden = json_integer_value(ref_get(config, "match_hidden"));
        c.match_pairs = 9;
        c.match_lr = g.learning_rate;
        c.match_weight_decay = g.weight_decay;
        struct match_data data = {.nodes = g.nodes,
                                  .features = g.features,
                                  .classes = g.classes,
                                  .graph = graph,
                                  .edges = edges,
                                  .dense = x,
                                  .label = g.label,
                                  .train = g.train,
                                  .labelled = g.labelled};
        OK(matcher_new(&m, &data, &c, 1, backend));
        int64_t half = c.match_join == MATCH_JOIN_CONCAT ? g.classes * c.match_width : 0;
        each_tensor(ref_get(entry, "parameters"), half, load_one, m->learner.params);
        impose(m, ref_get(entry, "inputs"), &g);
        const json_t *losses = ref_get(entry, "losses");
        for (int64_t step = 0; step <= REF_STEPS; step++) {
            struct step at = {1, (uint64_t)step};
            OK(program_run(m->learner.train.program, &at));
            double loss = (double)value_of(m->learner.train.program, m->learner.train.loss)[0];
            if (step == 0) {
                assert_near(loss, json_real_value(ref_get(entry, "loss")), 1e-5);
                each_tensor(ref_get(entry, "gradients"), half, check_one, m->learner.params);
            } else {
                assert_near(loss, json_real_value(json_array_get(losses, (size_t)step - 1)), 2e-5);
            }
        }
        matcher_free(m);
        seen++;
    }
    assert_int_equal(seen, 3);
    backend_close(backend);
    edges_free(edges);
    csr_free(graph);
    mem_free(x);
    ref_graph_free(&g);
    json_decref(file);
}

/* ---- determinism, trust, and odd inputs ---------------------------------- */

static void train_scores_on(float *score, const struct world *w, const struct config *c,
                            struct backend *backend)
{
    struct matcher *m;
    struct match_data data = data_of(w);
    OK(matcher_new(&m, &data, c, 9, backend));
    for (int round = 0; round < 2; round++) {
        OK(matcher_prune(m, 0.5, NULL));
        OK(matcher_train(m, 7, NULL));
    }
    OK(matcher_score(m, score));
    matcher_free(m);
}

static void train_scores(float *score, const struct world *w, const struct config *c, int threads)
{
    struct backend *backend;
    OK(backend_open(&backend, NULL, threads));
    train_scores_on(score, w, c, backend);
    backend_close(backend);
}

static void same_bits_on_any_threads(void **state)
{
    (void)state;
    static const char *const variants[][2] = {
        {"match_join", "squared"}, {"match_join", "concat"}, {"match_update", "batch"},
        {"match_update", "pair"},  {"map", "linear"},        {"transport", "sinkhorn"},
        {"transport", "exact"},    {"pool", "sum"},          {"prune_score", "dot"},
        {"transport", "nearest"},  {"pool", "max"},          {"match_update", "ego"}};
    struct world w;
    world_make(&w, 90, 4, 260, 3);
    float *one = mem_alloc((size_t)w.edges->count, sizeof *one);
    float *many = mem_alloc((size_t)w.edges->count, sizeof *many);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        struct config c;
        config_of(&c);
        OK(config_set(&c, variants[v][0], variants[v][1]));
        train_scores(one, &w, &c, 1);
        for (int64_t e = 0; e < w.edges->count; e++)
            assert_true(one[e] >= 0 && one[e] <= 1);
        static const int teams[] = {2, 3, 7};
        for (int t = 0; t < 3; t++) {
            train_scores(many, &w, &c, teams[t]);
            assert_memory_equal(one, many, (size_t)w.edges->count * sizeof *one);
        }
    }
    mem_free(one);
    mem_free(many);
    world_free(&w);
}

/* Maps and pooling as programs, as on a card (here on the reference backend), give the scores of
 * the host's loops: with and without the map inside the training step. */
static void programs_score_like_the_host(void **state)
{
    (void)state;
    static const char *const variants[][3] = {
        {"1", "sinkhorn", "mean"}, {"2", "sinkhorn", "mean"}, {"2", "nearest", "max"}};
    struct world w;
    world_make(&w, 40, 3, 90, 3);
    float *host = mem_alloc((size_t)w.edges->count, sizeof *host);
    float *card = mem_alloc((size_t)w.edges->count, sizeof *card);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        struct config c;
        struct backend *backend;
        config_of(&c);
        OK(config_set(&c, "match_refresh", variants[v][0]));
        OK(config_set(&c, "transport", variants[v][1]));
        OK(config_set(&c, "pool", variants[v][2]));
        train_scores(host, &w, &c, 2);
        OK(backend_open(&backend, "reference", 1));
        struct backend_kind kind = *backend->kind;
        kind.separate = 1 << 24;
        backend->kind = &kind;
        train_scores_on(card, &w, &c, backend);
        backend_close(backend);
        for (int64_t e = 0; e < w.edges->count; e++)
            assert_float_equal(card[e], host[e], 2e-3);
    }
    mem_free(host);
    mem_free(card);
    world_free(&w);
}

/* A cap samples sets, reports how many, and keeps the node itself. */
static void large_sets_are_sampled(void **state)
{
    (void)state;
    struct world w;
    struct subgraphs sets = {0};
    struct walk walk;
    world_make(&w, 60, 3, 400, 2);
    uint8_t *keep = mem_alloc((size_t)w.graph->nnz, 1);
    memset(keep, 1, (size_t)w.graph->nnz);
    OK(walk_new(&walk, w.n));
    OK(subgraphs_collect(&sets, &walk, w.graph, keep, w.train, w.labelled, 10, 5));
    assert_true(sets.sampled > 0);
    for (int64_t i = 0; i < sets.count; i++) {
        bool self = false;
        assert_true(sets.start[i + 1] - sets.start[i] <= 10);
        for (int64_t k = sets.start[i]; k < sets.start[i + 1]; k++) {
            self = self || sets.member[k] == w.train[i];
            assert_true(k == sets.start[i] || sets.member[k] > sets.member[k - 1]);
        }
        assert_true(self);
    }
    walk_free(&walk);
    subgraphs_free(&sets);
    mem_free(keep);
    world_free(&w);
}

/* Prunes, scores, and compares how often sets were pooled, and whether the bits are the expected
 * ones. */
static void score_again(struct matcher *m, double zeta, int64_t poolings, const float *expected,
                        bool same)
{
    const int64_t count = m->data.edges->count;
    float *score = mem_alloc((size_t)count, sizeof *score);
    OK(matcher_prune(m, zeta, NULL));
    OK(matcher_score(m, score));
    assert_int_equal(m->poolings, poolings);
    assert_true((memcmp(score, expected, (size_t)count * sizeof *score) == 0) == same);
    mem_free(score);
}

static void sets_are_pooled_again_if_anything_changed(void **state)
{
    (void)state;
    static const char *const name[] = {"cpu", "reference"};
    struct world w;
    struct config c;
    world_make(&w, 60, 3, 200, 6);
    config_of(&c);
    float *first = mem_alloc((size_t)w.edges->count, sizeof *first);
    for (int b = 0; b < 2; b++) {
        struct backend *backend;
        struct matcher *m;
        struct match_data data = data_of(&w);
        float *value;
        OK(backend_open(&backend, name[b], 2));
        struct backend_kind kind = *backend->kind;
        kind.separate = b == 1 ? 1 << 24 : kind.separate; /* as on a card */
        backend->kind = &kind;
        OK(matcher_new(&m, &data, &c, 9, backend));
        OK(matcher_prune(m, 0.5, NULL));
        OK(matcher_score(m, first));
        assert_int_equal(m->poolings, 1);
        score_again(m, 0.5, 1, first, true);
        score_again(m, 0.9, 2, first, false); /* other edges */
        score_again(m, 0.5, 3, first, true);
        int other = 0; /* the references are computed anew */
        while (!matcher_params(m)->item[other].trained)
            other++;
        const int64_t at = matcher_params(m)->item[other].offset;
        OK(params_write(&value, matcher_params(m), PLACE_VALUE));
        const float before = value[at];
        value[at] += 1;
        score_again(m, 0.5, 4, first, false);
        OK(params_write(&value, matcher_params(m), PLACE_VALUE));
        value[at] = before;
        score_again(m, 0.5, 5, first, true);
        OK(matcher_pool(m, w.train, 2)); /* not all sets */
        score_again(m, 0.5, 7, first, true);
        OK(matcher_train(m, 1, NULL));
        score_again(m, 0.5, 8, first, false);
        matcher_free(m);
        backend_close(backend);
    }
    mem_free(first);
    world_free(&w);
}

/* One labelled node per class, zero features, ζ 0 and 1, a class that is nearest to no node. */
static void odd_inputs_behave(void **state)
{
    (void)state;
    struct world w;
    struct config c;
    world_make(&w, 20, 3, 30, 6);
    config_of(&c);
    w.labelled = 3;
    float *score = mem_alloc((size_t)w.edges->count, sizeof *score);
    for (int zero = 0; zero < 2; zero++) {
        if (zero)
            memset(w.x, 0, (size_t)(w.n * w.f) * sizeof *w.x);
        for (double zeta = 0; zeta <= 1; zeta++) {
            struct backend *backend;
            struct matcher *m;
            struct match_data data = data_of(&w);
            OK(backend_open(&backend, NULL, 1));
            OK(matcher_new(&m, &data, &c, 9, backend));
            OK(matcher_prune(m, zeta, NULL));
            OK(matcher_train(m, 0, NULL));
            OK(matcher_score(m, score));
            for (int64_t e = 0; e < w.edges->count; e++)
                assert_true(isfinite(score[e]));
            int64_t members = m->sets.start[m->sets.count];
            assert_true(zeta > 0 ? members > m->sets.count : members == m->sets.count);
            matcher_free(m);
            backend_close(backend);
        }
    }
    mem_free(score);
    world_free(&w);
}

/* L_SUP from its slopes equals Eq. our_lp written out, edge by edge. */
static void propagation_equals_equation(void **state)
{
    (void)state;
    struct world w;
    struct rng r;
    struct config c;
    world_make(&w, 40, 3, 100, 12);
    config_of(&c);
    rng_init(&r, 2, 9);
    int64_t count = w.edges->count;
    float *coefficient = mem_alloc((size_t)count, sizeof *coefficient), constant;
    float *slope = mem_alloc((size_t)count, sizeof *slope);
    uint8_t *role = mem_zalloc((size_t)w.n, 1);
    for (int64_t i = 0; i < w.labelled; i++)
        role[w.train[i]] = SPLIT_TRAIN;
    for (int64_t e = 0; e < count; e++)
        coefficient[e] = (float)rng_uniform(&r);
    for (int mean = 0; mean < 2; mean++) {
        c.lambda_per = mean ? LAMBDA_PER_MEAN : LAMBDA_PER_SUM;
        OK(consm_propagation(slope, &constant, coefficient, w.edges, role, 0.3, 0.4, &c, NULL));
        int64_t k = (int64_t)floor(0.4 * (double)count);
        double naive = 0, ours = (double)constant;
        for (int64_t e = 0; e < count; e++) {
            double cosine = sin((double)e), d = 1 - cosine, weight = (double)coefficient[e];
            int64_t larger = 0;
            for (int64_t o = 0; o < count; o++)
                larger += coefficient[o] > coefficient[e];
            int labelled =
                (role[w.edges->left[e]] == SPLIT_TRAIN) + (role[w.edges->right[e]] == SPLIT_TRAIN);
            double alpha = labelled == 2 ? 0 : labelled == 1 ? 1.0 : 0.5;
            naive += alpha * (larger < k ? weight * d : (1 - weight) * (1 - d));
            ours += (double)slope[e] * cosine;
        }
        assert_near(ours, 0.3 * naive / (mean ? (double)count : 1), 1e-5);
    }
    mem_free(coefficient);
    mem_free(slope);
    mem_free(role);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pruning_equals_counting),
        cmocka_unit_test(pooling_equals_naive),
        cmocka_unit_test(blocks_have_the_bits_of_the_whole),
        cmocka_unit_test(matching_equals_reference),
        cmocka_unit_test(same_bits_on_any_threads),
        cmocka_unit_test(large_sets_are_sampled),
        cmocka_unit_test(sets_are_pooled_again_if_anything_changed),
        cmocka_unit_test(odd_inputs_behave),
        cmocka_unit_test(propagation_equals_equation),
        cmocka_unit_test(programs_score_like_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
