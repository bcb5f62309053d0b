/* Further output of `consm train`: the data, the validation metric, rare classes and warnings. */
#include "train_detail.h"
#include "base/counted.h"

#include "app/metrics_json.h"
#include "app/rare.h"
#include "data/table/recipe.h"
#include "shown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what was read ------------------------------------------------------- */

static void print_taken(const struct dataset *d)
{
    static const char *const what[DATASET_TAKEN] = {"id", "label", "weight"};
    const char *between = "  ";
    char name[SHOWN];
    for (int i = 0; i < DATASET_TAKEN; i++)
        if (d->taken[i][0]) {
            printf("%s%s from %s", between, what[i], shown(name, d->taken[i], 0));
            between = "; ";
        }
    if (*between == ';')
        putchar('\n');
}

/* How a table's columns became features, the first twelve; nothing if all are numbers. */
static void print_columns(const struct dataset *d)
{
    enum { MOST = 12 };
    const struct recipe *r = d->recipe;
    char name[SHOWN];
    if (!d->cells)
        return;
    printf("  features from %s:", COUNTED(r->columns, "column"));
    for (int64_t i = 0; i < r->columns && i < MOST; i++) {
        const struct recipe_column *c = &r->column[i];
        printf("%s %s (%s", i ? "," : "", shown(name, c->name, 0), recipe_kind_name[c->kind]);
        if (c->kind == RECIPE_CATEGORY)
            printf(" of %d", c->values);
        printf(c->blanks ? ", some missing)" : ")");
    }
    printf(r->columns > MOST ? ", …\n" : "\n");
}

/* Classes with their counts, the first twelve. */
static void print_classes(const struct dataset *d)
{
    enum { MOST = 12 };
    char buffer[24], name[SHOWN];
    int64_t labelled = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        labelled += d->label[i] >= 0;
    printf("  %s:", COUNTED(labelled, "label"));
    for (int32_t k = 0; k < d->classes && k < MOST; k++) {
        int64_t of = 0;
        for (int64_t i = 0; i < d->nodes; i++)
            of += d->label[i] == k;
        printf("%s %s %lld", k ? "," : "", shown(name, dataset_class_name(d, k, buffer), 0),
               (long long)of);
    }
    printf(d->classes > MOST ? ", … (%d classes)\n" : "\n", d->classes);
}

/* Classes that are too small for the random split. */
static void print_small(const struct training *t)
{
    const struct dataset *d = t->read;
    const struct split_options *split = &t->choices.split;
    int64_t wanted = split->per_class + 2;
    char buffer[24], name[SHOWN];
    if (strcmp(train_split(t), "random") != 0 || split->train > 0)
        return;
    for (int32_t k = 0; k < d->classes; k++) {
        int64_t of = 0;
        for (int64_t i = 0; i < d->nodes; i++)
            of += d->label[i] == k;
        if (of > 0 && of < wanted)
            printf("  class %s has %s, too few for --per-class %lld: three fifths are used for "
                   "training\n",
                   shown(name, dataset_class_name(d, k, buffer), 0), COUNTED(of, "label"),
                   (long long)split->per_class);
    }
}

void train_print_read(const struct training *t)
{
    const struct dataset *d = t->read;
    /* Of a graph in parts, a rank knows only its own share of the cleaned graph. */
    int64_t edges = t->prepared->partition ? d->edges : t->prepared->facts.kept / 2;
    char stored[64] = "";
    if (edges != d->edges)
        snprintf(stored, sizeof stored, " (%lld stored)", (long long)d->edges);
    printf("  %s, %s%s%s, %s\n", COUNTED(d->nodes, "node"), COUNTED(edges, "edge"), stored,
           d->weight ? " with weights" : "", COUNTED(d->features, "feature"));
    print_columns(d);
    print_classes(d);
    print_taken(d);
    print_small(t);
    printf("  %lld training, %lld validation, %lld test nodes\n", (long long)t->count[SPLIT_TRAIN],
           (long long)t->count[SPLIT_VAL], (long long)t->count[SPLIT_TEST]);
}

int train_suspect(const struct training *t)
{
    struct suspicions found;
    char text[SUSPICION_LENGTH];
    bool strict = args_has(t->args, "strict");
    struct consm_dataset_info info = {.size = sizeof info};
    consm_status st = consm_dataset_info(&info, t->data);
    if (st == CONSM_OK &&
        (info.known || info.in_parts)) /* no process has all of a graph in parts */
        return EXIT_DONE;
    if (st == CONSM_OK)
        st = dataset_suspect(&found, t->read);
    if (st < 0)
        return args_status(t->args, st);
    for (int i = 0; i < found.count; i++) {
        snprintf(text, sizeof text, "%s", found.text[i]);
        args_fail(t->args, 0, "%s: %s", strict ? "--strict" : "warning", text);
    }
    return strict && found.count ? EXIT_FAILED : EXIT_DONE;
}

/* ---- what the choices go by ---------------------------------------------- */

static const char *class_of(const struct training *t, int32_t k, char name[SHOWN])
{
    char buffer[24];
    return shown(name, dataset_class_name(t->read, k, buffer), 0);
}

void train_print_metric(const struct training *t)
{
    char name[SHOWN];
    bool given = options_given(t->options)[CONFIG_ROW_metric];
    if (t->metric == METRIC_ACCURACY && !given)
        return;
    printf("  validation metric: %s", config_names_metric[t->metric]);
    if (t->positive >= 0)
        printf(" of %s", class_of(t, t->positive, name));
    printf(given ? "\n" : ", chosen by class sizes (--metric)\n");
}

/* ---- a finished run ------------------------------------------------------ */

static enum consm_role first_role(const struct consm_model *m)
{
    return train_info(m).tested ? CONSM_TEST : CONSM_VALIDATION;
}

static void move(json_t *to, json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        json_object_set(to, key, value);
}

json_t *train_detail(const struct consm_model *m)
{
    struct text text = {0};
    json_t *all = NULL, *out = NULL, *role, *one;
    const char *name = first_role(m) == CONSM_TEST ? "test" : "validation";
    size_t k;
    model_metrics_to_json(&text, m);
    if (text_status(&text) == CONSM_OK)
        all = json_loads(text_string(&text), 0, NULL);
    text_free(&text);
    role = json_object_get(all, name);
    if (role && (out = json_object())) {
        json_t *never = json_array();
        move(out, all, "backbone");
        move(out, all, "uses_edge_weights");
        move(out, all, "metric");
        move(out, all, "positive");
        move(out, all, "val_score");
        move(out, all, "threshold");
        move(out, all, "refit");
        move(out, all, "folds");
        move(out, all, "rare");
        json_array_foreach(json_object_get(role, "classes"), k, one)
        {
            if ((int32_t)k != train_info(m).positive)
                json_object_del(one, "curve");
            if (json_integer_value(json_object_get(one, "support")) > 0 &&
                json_integer_value(json_object_get(one, "predicted")) == 0)
                json_array_append(never, json_object_get(one, "name"));
        }
        json_object_set_new(out, "never_predicted", never);
        json_object_set(out, name, role);
    }
    json_decref(all);
    return out;
}

/* Of the lists of the first k, the shortest that could hold twice the class, else the longest. */
static void print_first(const struct consm_metrics *m, int32_t k, const char *name)
{
    const struct consm_top *top;
    int64_t count = consm_metrics_top(&top, m, k), support = consm_metrics_class(m, k)->support;
    int64_t i = 0;
    while (i + 1 < count && top[i].k < 2 * support)
        i++;
    if (count)
        printf("; among the %lld most probable nodes, %.0f are %s: %.0f %% of all %lld",
               (long long)top[i].k, top[i].precision * (double)top[i].k, name, 100 * top[i].recall,
               (long long)support);
}

/* The cross-validated figures of a threshold, with intervals. */
static void print_folded(const struct consm_model_info *m)
{
    char precision[96], recall[96];
    int64_t hits = llround(m->threshold_recall * (double)m->threshold_labels);
    int64_t said = m->threshold_precision > 0 ? llround((double)hits / m->threshold_precision) : 0;
    struct stats_interval right = stats_wilson(hits, said, 0.95),
                          found = stats_wilson(hits, m->threshold_labels, 0.95);
    printf("precision %s, recall %s by %lld-fold cross-validation over all labels",
           rare_share(precision, hits, said, &right),
           rare_share(recall, hits, m->threshold_labels, &found), (long long)m->threshold_folds);
}

static void print_threshold(const struct training *t, const struct consm_model *m)
{
    char name[SHOWN], precision[96], recall[96];
    struct consm_model_info d = train_info(m);
    struct rare_facts rare;
    const struct consm_class_metrics *test =
        consm_metrics_class(consm_model_metrics(m, CONSM_TEST), d.threshold_class);
    printf("  predicts %s at probability >= %.4g: ", class_of(t, d.threshold_class, name),
           d.threshold);
    if (d.threshold_folds)
        print_folded(&d);
    else if (rare_measure(&rare, m) && rare.positives < RARE_FEW)
        printf("precision %s, recall %s on validation",
               rare_share(precision, rare.hits, rare.said, &rare.precision),
               rare_share(recall, rare.hits, rare.positives, &rare.recall));
    else
        printf("precision %.3f, recall %.3f on validation", d.threshold_precision,
               d.threshold_recall);
    if (d.tested)
        printf("; precision %.3f, recall %.3f on test", test->precision, test->recall);
    putchar('\n');
    if (!d.threshold_reached)
        printf("  no threshold reaches the requested value; the one with the highest precision was "
               "taken\n");
}

void train_print_rare(const struct training *t)
{
    const struct consm_model *m = t->best.model;
    struct consm_model_info info = train_info(m);
    char name[SHOWN];
    if (info.threshold_class >= 0)
        print_threshold(t, m);
    if (info.positive < 0 || !(info.tested || info.validated))
        return;
    const struct consm_metrics *all = consm_model_metrics(m, first_role(m));
    const struct consm_class_metrics *of = consm_metrics_class(all, info.positive);
    class_of(t, info.positive, name);
    if (isnan(of->average_precision))
        return;
    printf("  %s: average precision %.4f on %s (chance %.4f), ROC-AUC %.4f", name,
           of->average_precision, first_role(m) == CONSM_TEST ? "test" : "validation, optimistic",
           (double)of->support / (double)all->nodes, of->roc_auc);
    print_first(all, info.positive, name);
    putchar('\n');
}

/* Warns if a choice depends on very few nodes. */
static void warn_few(const struct training *t, const struct consm_model *m)
{
    struct rare_facts rare;
    char name[SHOWN], recall[96];
    if (!rare_measure(&rare, m) || rare.positives >= RARE_FEW)
        return;
    class_of(t, rare.class_index, name);
    args_fail(t->args, 0,
              "warning: only %lld validation node%s %s, so model selection and validation scores "
              "are uncertain; recall %s",
              (long long)rare.positives, rare.positives == 1 ? " is" : "s are", name,
              rare_share(recall, rare.hits, rare.positives, &rare.recall));
}

void train_warn(const struct training *t)
{
    const struct consm_model *m = t->best.model;
    warn_few(t, m);
    enum consm_role role = first_role(m);
    const struct consm_metrics *all = consm_model_metrics(m, role);
    char name[SHOWN];
    for (int32_t k = 0; k < all->classes && all->nodes > 0; k++) {
        const struct consm_class_metrics *of = consm_metrics_class(all, k);
        if (of->support == 0 || of->predicted > 0)
            continue;
        class_of(t, k, name);
        args_fail(t->args, 0,
                  "warning: class %s was never predicted, although %lld of %lld %s nodes have it; "
                  "look at its most probable nodes (--probabilities), or choose a threshold on "
                  "validation (--threshold-for)",
                  name, (long long)of->support, (long long)all->nodes,
                  role == CONSM_TEST ? "test" : "validation");
    }
}
