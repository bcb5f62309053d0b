/* For tests that compare runs on equivalent graphs: a small graph, other ways to write it, and the
 * models with their main options. */
#ifndef TESTS_ALIKE_H
#define TESTS_ALIKE_H

#include "check.h"

#include "app/objects.h"
#include "app/roles.h"
#include "data/generate/generate.h"

/* A model and its settings besides the defaults, "key=value key=value". */
struct alike_case {
    const char *name, *model, *set;
};

static const struct alike_case alike_cases[] = {
    {"mlp", "mlp", ""},
    {"gcn", "gcn", ""},
    {"gcn-norm", "gcn", "norm=layer residual=yes layers=3"},
    {"dropedge", "dropedge", ""},
    {"gat", "gat", "heads=2"},
    {"gin", "gin", ""},
    {"appnp", "appnp", ""},
    {"gcnii", "gcnii", "layers=4"},
    {"h2gcn", "h2gcn", ""},
    {"fagcn", "fagcn", ""},
    {"ptdnet", "ptdnet", ""},
    {"grand", "grand", ""},
    {"gam", "gam", ""},
    {"gcn-coverage", "gcn", "coverage=0.8"},
    {"consm", "consm", "backbone=gcn"},
    {"consm-linear", "consm", "backbone=gcn map=linear"},
    {"consm-ego", "consm", "backbone=gcn prune_by=ego"},
    {"consm-guesses", "consm", "backbone=gcn guesses=yes grow=8"},
    {"consm-paper", "consm", "profile=paper backbone=gcn"},
};
enum { ALIKE_CASES = sizeof alike_cases / sizeof *alike_cases };

/* The other ways to write a graph down. */
enum variant {
    AS_IT_IS,
    OTHER_NAMES,
    EDGES_TWICE,
    EDGES_TURNED,
    EDGES_SHUFFLED,
    WITH_LOOPS,
    CLASS_NAMES,
    FEATURES_TIMES_FOUR,
    NODES_REVERSED,
    A_LONELY_NODE,
    VARIANTS
};

static const char *const variant_name[VARIANTS] = {
    "as it is",   "other names", "every edge twice", "edges turned round", "edges shuffled",
    "with loops", "class names", "features times 4", "nodes reversed",     "a lonely node"};

static inline struct dataset *alike_base(void)
{
    struct dataset *d;
    OK(generate_named(&d, "csbm:nodes=90,classes=3,degree=5,features=7,signal=1.5,homophily=0.8,"
                          "seed=4"));
    assert_non_null(d->dense);
    return d;
}

static inline char **names_of(int64_t count, const char *format)
{
    char **name = mem_alloc((size_t)count, sizeof *name), text[40];
    for (int64_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, format, (int)i);
        name[i] = mem_strdup(text);
    }
    return name;
}

/* The position of node i of the base in the variant. */
static inline int64_t alike_place(enum variant v, int64_t i, int64_t nodes)
{
    return v == NODES_REVERSED ? nodes - 1 - i : i;
}

static inline void alike_edges(struct dataset *d, const struct dataset *base, enum variant v)
{
    int64_t more = v == EDGES_TWICE ? base->edges : v == WITH_LOOPS ? base->nodes : 0;
    d->edges = base->edges + more;
    d->from = mem_alloc((size_t)d->edges, sizeof *d->from);
    d->to = mem_alloc((size_t)d->edges, sizeof *d->to);
    for (int64_t e = 0; e < base->edges; e++) {
        int64_t at = v == EDGES_SHUFFLED ? (e * 7 + 3) % base->edges : e;
        if (v == EDGES_SHUFFLED && base->edges % 7 == 0)
            at = base->edges - 1 - e;
        int32_t a = (int32_t)alike_place(v, base->from[e], base->nodes);
        int32_t b = (int32_t)alike_place(v, base->to[e], base->nodes);
        d->from[at] = v == EDGES_TURNED ? b : a;
        d->to[at] = v == EDGES_TURNED ? a : b;
    }
    for (int64_t e = 0; e < more; e++) {
        d->from[base->edges + e] = v == WITH_LOOPS ? (int32_t)e : base->from[e];
        d->to[base->edges + e] = v == WITH_LOOPS ? (int32_t)e : base->to[e];
    }
}

static inline struct dataset *alike_make(const struct dataset *base, enum variant v)
{
    struct dataset *d;
    int64_t f = base->features, n = base->nodes + (v == A_LONELY_NODE);
    OK(dataset_new(&d, "alike"));
    d->nodes = n;
    d->features = f;
    d->classes = base->classes;
    alike_edges(d, base, v);
    d->dense = mem_alloc((size_t)(n * f), sizeof *d->dense);
    d->label = mem_alloc((size_t)n, sizeof *d->label);
    d->node_id = names_of(n, v == OTHER_NAMES ? "somebody %d" : "n%d");
    for (int64_t i = 0; v == NODES_REVERSED && i < n / 2; i++) { /* names move with their nodes */
        char *name = d->node_id[i];
        d->node_id[i] = d->node_id[n - 1 - i];
        d->node_id[n - 1 - i] = name;
    }
    d->class_name = names_of(d->classes, v == CLASS_NAMES ? "kind %d" : "%d");
    memset(d->dense, 0, (size_t)(n * f) * sizeof *d->dense);
    d->label[n - 1] = -1;
    for (int64_t i = 0; i < base->nodes; i++) {
        int64_t at = alike_place(v, i, base->nodes);
        d->label[at] = base->label[i];
        for (int64_t k = 0; k < f; k++)
            d->dense[at * f + k] = base->dense[i * f + k] * (v == FEATURES_TIMES_FOUR ? 4 : 1);
    }
    OK(dataset_check(d));
    return d;
}

/* ---- training ------------------------------------------------------------ */

static inline void alike_options(struct train_options *o, const struct alike_case *c)
{
    char text[200], *rest = text, *word;
    *o = (struct train_options){.seed = 9};
    OK(model_find(&o->model, c->model));
    model_defaults(o->model, &o->config);
    snprintf(text, sizeof text, "%s", c->set);
    while ((word = strsep(&rest, " ")) != NULL && *word) {
        char *value = strchr(word, '=');
        *value++ = 0;
        OK(config_set(&o->config, word, value));
    }
    OK(config_set(&o->config, "normalize_features", "standard"));
    o->config.hidden = 8;
    o->config.epochs = 15;
    o->config.warmup = 8;
    o->config.rounds = 2;
    o->config.round_patience = 0;
    o->config.gnn_steps = 4;
    o->config.match_steps = 5;
    o->config.match_width = 8;
}

/* Trains on a dataset, with the roles of the base's nodes at their new positions. */
static inline void alike_train(struct consm_model **model, struct consm_prediction **p,
                               const struct dataset *d, const struct roles *roles,
                               const struct alike_case *c)
{
    struct prepared prepared;
    struct training_request request = {.prepared = &prepared, .roles = roles, .threads = 1};
    OK(prepare(&prepared, d));
    alike_options(&request.options, c);
    OK(model_train(model, p, &request));
    prepare_free(&prepared);
}

static inline void alike_roles(struct roles *r, const struct dataset *d, const struct alike_case *c)
{
    OK(roles_make(r, d, "random", 2, &(struct split_options){.per_class = 8}));
    if (strstr(c->set, "coverage"))
        OK(roles_set_aside(r, d->nodes, 2));
}

#endif
