/* report.html of one training run: quality per class, calibration, and the graph with its
 * predictions. */
#include "app/rare.h"
#include "app/report_parts.h"
#include "app/suspects.h"
#include "base/counted.h"
#include "base/given.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const role_name[] = {"", "training", "validation", "test"};

/* The headline names figures from nodes that were also used for model selection. */
static const char *const headline_name[] = {
    "", "training", "validation nodes; optimistic: they were also used for model selection",
    "test nodes"};

enum consm_role report_role(const struct consm_model *m)
{
    return consm_model_metrics(m, CONSM_TEST)->nodes ? CONSM_TEST : CONSM_VALIDATION;
}

static const struct consm_metrics *first_metrics(const struct consm_model *m)
{
    return consm_model_metrics(m, report_role(m));
}

static void percent(char text[32], double value)
{
    snprintf(text, 32, isnan(value) ? "–" : "%.1f %%", 100 * value);
}

/* The section on the metric's class. */
static void add_rare(struct report *r, const struct consm_model *m)
{
    const struct consm_metrics *x = first_metrics(m);
    char text[160], value[32], name[24];
    if (!m->positive || !x->nodes)
        return;
    const struct consm_class_metrics *of = consm_metrics_class(x, m->positive - 1);
    percent(value, of->average_precision);
    number_print(text, sizeof text, "of %.60s; chance is %.1f %%",
                 consm_model_class(m, m->positive - 1, name),
                 100 * (double)of->support / (double)x->nodes);
    report_fact(r, value, "average precision", text);
}

/* Warns of classes that are never predicted. */
const char *report_metric(const struct consm_model *m)
{
    static const char *const title[] = {
        [METRIC_AUTO] = "accuracy",
        [METRIC_ACCURACY] = "accuracy",
        [METRIC_MACRO_F1] = "macro-F1",
        [METRIC_BALANCED_ACCURACY] = "balanced accuracy",
        [METRIC_AVERAGE_PRECISION] = "average precision",
        [METRIC_ROC_AUC] = "ROC-AUC",
        [METRIC_LOG_LIKELIHOOD] = "log-likelihood",
    };
    return title[m->config.metric];
}

static void add_warnings(struct report *r, const struct consm_model *m)
{
    const struct consm_metrics *x = first_metrics(m);
    char text[320], name[24];
    for (int32_t k = 0; k < m->classes && x->nodes; k++) {
        const struct consm_class_metrics *of = consm_metrics_class(x, k);
        if (of->support == 0 || of->predicted > 0)
            continue;
        snprintf(text, sizeof text,
                 "Class %.100s was never predicted, although it is the class of %lld of %s.",
                 consm_model_class(m, k, name), (long long)of->support, COUNTED(x->nodes, "node"));
        report_summary(r, text);
    }
    struct rare_facts rare;
    if (rare_measure(&rare, m) && rare.positives < RARE_FEW) {
        char recall[96];
        snprintf(text, sizeof text,
                 "Validation has only %s of class %.80s, so model selection and validation scores "
                 "are uncertain. Recall on these nodes: %s.",
                 COUNTED(rare.positives, "node"), consm_model_class(m, rare.class_index, name),
                 rare_share(recall, rare.hits, rare.positives, &rare.recall));
        report_summary(r, text);
    }
    if (m->decision.made && isnan(m->decision.precision)) { /* set, not chosen on validation */
        number_print(text, sizeof text, "Predicts %.100s at probability ≥ %.4g.",
                     consm_model_class(m, m->decision.positive, name), m->decision.threshold);
        report_summary(r, text);
    } else if (m->decision.made) {
        number_print(text, sizeof text,
                     "Predicts %.100s at probability ≥ %.4g: precision %.3f, recall %.3f %s.",
                     consm_model_class(m, m->decision.positive, name), m->decision.threshold,
                     m->decision.precision, m->decision.recall,
                     m->decision.folds ? "by cross-validation over all labels" : "on validation");
        report_summary(r, text);
    }
}

static void add_summary(struct report *r, const struct consm_model *m, const struct dataset *d)
{
    const struct consm_metrics *best = first_metrics(m);
    char text[520], value[32];
    percent(value, best->accuracy);
    snprintf(text, sizeof text, "of %lld %s", (long long)best->nodes,
             headline_name[report_role(m)]);
    report_fact(r, value, "accuracy", text);
    add_rare(r, m);
    percent(value, best->macro_f1);
    report_fact(r, value, "macro-F1", "mean over classes");
    percent(value, best->balanced_accuracy);
    report_fact(r, value, "balanced accuracy", "mean recall");
    snprintf(text, sizeof text,
             "%s%s%s%s was trained on %s of %s. Validation nodes: %lld%s. Test nodes: %lld. It "
             "trained for %s; epoch %lld %s the best validation %s.",
             m->def->name, m->backbone[0] ? " (backbone " : "", m->backbone,
             m->backbone[0] ? ")" : "", COUNTED(m->count[SPLIT_TRAIN], "label"), m->dataset,
             (long long)m->count[SPLIT_VAL], m->held_out ? " (held out from the labels)" : "",
             (long long)m->count[SPLIT_TEST], COUNTED(m->result.epochs, "epoch"),
             (long long)report_best_epoch(m),
             strcmp(m->def->name, "consm") == 0 && !m->members ? "was the first with" : "had",
             report_metric(m));
    report_summary(r, text);
    if (m->result.folds.labels) {
        const struct train_folds *f = &m->result.folds;
        snprintf(text, sizeof text,
                 "There are only %s for validation, so its %s of %.4f is optimistic: %lld-fold "
                 "cross-validation of the backbone over all %s gives %.4f ± %.4f.",
                 COUNTED(f->validating, "node"), report_metric(m), m->result.val_score,
                 (long long)f->folds, COUNTED(f->labels, "label"), f->score, f->error);
        report_summary(r, text);
    }
    if (m->refit.labels) {
        snprintf(
            text, sizeof text,
            "After model selection, it was trained once more on all %s for %s. Scores on training "
            "and validation nodes, confidence and thresholds are from before this refit.",
            COUNTED(m->refit.labels, "label"), COUNTED(m->refit.updates, "update"));
        report_summary(r, text);
    }
    add_warnings(r, m);
    if (d->weight && !model_weighs(m)) {
        snprintf(text, sizeof text, "The edges have weights, but %s does not use them.",
                 m->backbone[0] ? m->backbone : m->def->name);
        report_summary(r, text);
    }
    if (m->ensemble.runs) {
        static const char *const made[] = {"the best of them alone", "their average",
                                           "a greedy selection"};
        snprintf(text, sizeof text,
                 "This is an ensemble: from %s, validation chose %s, %lld of %s.",
                 COUNTED(m->ensemble.runs, "run"), made[m->ensemble.rule],
                 (long long)m->ensemble.picked, COUNTED(m->ensemble.pool, "member"));
        report_summary(r, text);
    }
    if (m->structural)
        report_summary(r, "The data has no features, so structural features (degrees, neighbours' "
                          "degrees, random walks) were built.");
}

static void add_roles(struct report *r, const struct consm_model *m)
{
    struct table *t = report_new_table(r, "metrics", "Scores by role");
    table_column(t, "Nodes", TABLE_LEFT, NULL);
    table_column(t, "Count", TABLE_RIGHT, NULL);
    table_column(t, "Accuracy", TABLE_RIGHT, NULL);
    table_column(t, "Macro-F1", TABLE_RIGHT, "mean F1 over classes");
    table_column(t, "Balanced accuracy", TABLE_RIGHT, "mean recall over classes");
    table_column(t, "ROC-AUC", TABLE_RIGHT, "one class against the rest, mean over classes");
    table_column(t, "Mean average precision", TABLE_RIGHT,
                 "one class against the rest, mean over classes");
    table_column(t, "ECE", TABLE_RIGHT, "expected calibration error, 15 bins");
    for (enum consm_role role = CONSM_TRAIN; role <= CONSM_TEST; role++) {
        const struct consm_metrics *x = consm_model_metrics(m, role);
        if (x->nodes == 0)
            continue;
        table_row(t);
        table_text(t, role_name[role]);
        table_number(t, (double)x->nodes, 0);
        table_number(t, x->accuracy, 4);
        table_number(t, x->macro_f1, 4);
        table_number(t, x->balanced_accuracy, 4);
        table_number(t, x->roc_auc, 4);
        table_number(t, x->average_precision, 4);
        table_number(t, x->ece, 4);
    }
}

/* A share of nothing is unknown. */
static void add_known(struct table *t, double value, bool known)
{
    if (known)
        table_number(t, value, 4);
    else
        table_text(t, "unknown");
}

static void add_classes(struct report *r, const struct consm_model *m)
{
    const struct consm_metrics *x = first_metrics(m);
    char buffer[24];
    struct table *t = report_new_table(r, "classes", "Scores by class");
    table_column(t, "Class", TABLE_LEFT, NULL);
    table_column(t, "Nodes", TABLE_RIGHT, "with this true class");
    table_column(t, "Predicted", TABLE_RIGHT, "predicted as this class");
    table_column(t, "Precision", TABLE_RIGHT, NULL);
    table_column(t, "Recall", TABLE_RIGHT, NULL);
    table_column(t, "F1", TABLE_RIGHT, NULL);
    table_column(t, "ROC-AUC", TABLE_RIGHT, NULL);
    table_column(t, "Average precision", TABLE_RIGHT, NULL);
    for (int32_t k = 0; k < m->classes; k++) {
        const struct consm_class_metrics *of = consm_metrics_class(x, k);
        table_row(t);
        table_text(t, consm_model_class(m, k, buffer));
        table_number(t, (double)of->support, 0);
        table_number(t, (double)of->predicted, 0);
        add_known(t, of->precision, of->predicted > 0);
        add_known(t, of->recall, of->support > 0);
        add_known(t, of->f1, of->support > 0);
        table_number(t, of->roc_auc, 4);
        table_number(t, of->average_precision, 4);
    }
}

static void add_confusion(struct report *r, const struct consm_model *m)
{
    enum { MOST = 30 };
    int64_t count[MOST * MOST];
    char buffer[24];
    if (m->classes > MOST)
        return;
    consm_metrics_confusion(count, first_metrics(m));
    struct table *t = report_new_table(
        r, "confusion", "Confusion matrix: rows are true classes, columns predicted classes");
    table_column(t, "Class", TABLE_LEFT, NULL);
    for (int32_t k = 0; k < m->classes; k++)
        table_column(t, consm_model_class(m, k, buffer), TABLE_RIGHT, NULL);
    for (int32_t i = 0; i < m->classes; i++) {
        table_row(t);
        table_text(t, consm_model_class(m, i, buffer));
        for (int32_t j = 0; j < m->classes; j++)
            table_number(t, (double)count[i * m->classes + j], 0);
    }
}

/* How many of the first k nodes have the class. */
static void add_first(struct report *r, const struct consm_model *m)
{
    const struct consm_top *top;
    int32_t k = m->positive - 1;
    char title[160], name[24];
    int64_t count = k < 0 ? 0 : consm_metrics_top(&top, first_metrics(m), k);
    if (count == 0)
        return;
    snprintf(title, sizeof title, "How many of the most probable nodes are %.80s",
             consm_model_class(m, k, name));
    struct table *t = report_new_table(r, "first", title);
    table_column(t, "Most probable nodes", TABLE_RIGHT, NULL);
    table_column(t, "Correct", TABLE_RIGHT, "number of these nodes that have the class");
    table_column(t, "Precision", TABLE_RIGHT, NULL);
    table_column(t, "Recall", TABLE_RIGHT, "share of the class found among them");
    for (int64_t i = 0; i < count; i++) {
        table_row(t);
        table_number(t, (double)top[i].k, 0);
        table_number(t, top[i].precision * (double)top[i].k, 0);
        table_number(t, top[i].precision, 4);
        table_number(t, top[i].recall, 4);
    }
}

static consm_status write_picture(const char *path, const struct figure *f)
{
    consm_status st = CONSM_OK;
    struct text t = {0};
    TRY(figure_to_svg(&t, f));
    TRY(text_save(&t, path));
done:
    text_free(&t);
    return st;
}

/* The graph with labels and predictions, as a whole and around single nodes. */
static consm_status add_graph(struct report *r, const struct report_input *in)
{
    consm_status st = CONSM_OK;
    const struct dataset *d = in->data;
    struct csr *graph = NULL;
    struct figure *whole[WHOLE_KINDS] = {NULL};
    float *score = NULL;
    TRY(dataset_graph(&graph, d, NULL));
    TRY(trust_by_entry(&score, in->scores, graph));
    struct graph_view view = {.name = d->name,
                              .nodes = d->nodes,
                              .start = graph->start,
                              .col = graph->col,
                              .score = score,
                              .threshold = in->scores->threshold,
                              .label = d->label,
                              .predicted = in->run->prediction->label,
                              .role = in->run->roles.role,
                              .node_name = (const char *const *)d->node_id,
                              .class_name = (const char *const *)d->class_name,
                              .classes = d->classes};
    const char *few = d->nodes > 5000 ? " The figure shows 5,000 evenly sampled nodes." : "";
    char caption[WHOLE_KINDS][160];
    snprintf(
        caption[WHOLE_BOTH], sizeof *caption,
        "Node colour: predicted class. Edge colour: from brown (distrusted) to violet (trusted).%s",
        few);
    snprintf(caption[WHOLE_CLASSES], sizeof *caption, "Node colour: predicted class.%s", few);
    snprintf(caption[WHOLE_TRUST], sizeof *caption,
             "Edge colour: from brown (distrusted) over grey to violet (trusted).%s", few);
    struct figure_words words[WHOLE_KINDS] = {
        [WHOLE_BOTH] = {"graph", "The whole graph", caption[WHOLE_BOTH], NULL},
        [WHOLE_CLASSES] = {"graph-classes", "The whole graph by class", caption[WHOLE_CLASSES],
                           NULL},
        [WHOLE_TRUST] = {"graph-trust", "The whole graph by trust", caption[WHOLE_TRUST], NULL}};
    TRY(figure_whole(whole, words, &view));
    if (in->picture)
        TRY(write_picture(in->picture, whole[WHOLE_BOTH]));
    report_section(
        r, "The graph",
        "Choose a node to see its neighbours, their classes, and the trust in each edge.");
    report_graph(r, &view);
    for (int k = WHOLE_CLASSES; k < WHOLE_KINDS; k++) {
        report_figure(r, whole[k]);
        whole[k] = NULL;
    }
done:
    for (int k = 0; k < WHOLE_KINDS; k++)
        figure_free(whole[k]);
    mem_free(score);
    csr_free(graph);
    return st;
}

consm_status report_run(const char *path, const struct report_input *in)
{
    consm_status st = CONSM_OK;
    const struct trained_run *run = in->run;
    const struct consm_model *model = run->model;
    struct report *r = NULL;
    char title[300];
    snprintf(title, sizeof title, "%.100s on %.150s", model->def->name, model->dataset);
    TRY(report_new(&r, title));
    report_about(r, "version", model->version);
    report_about(r, "split", model->split);
    report_add_date(r);
    add_summary(r, model, in->data);
    report_section(r, "Evaluation", NULL);
    add_roles(r, model);
    add_confusion(r, model); /* beside the first: both are narrow */
    add_classes(r, model);
    add_first(r, model);
    TRY(report_add_curves(r, model));
    TRY(report_add_learning(r, in));
    TRY(report_add_confidence(r, model, run->prediction, in->data, run->roles.role));
    TRY(report_add_uncertain(r, in));
    report_add_suspects(r, in);
    TRY(report_add_trust(r, in));
    report_add_changes(r, in);
    TRY(add_graph(r, in));
    report_add_data(r, in->data);
    report_add_settings(r, model);
    report_add_glossary(r);
    if (in->command)
        report_command(r, in->command);
    if (model->data_sha256[0])
        report_hash(r, model->dataset, model->data_sha256);
    TRY(report_write_html(r, path));
done:
    report_free(r);
    return st;
}

consm_status consm_report_write(const char *path, const struct consm_model *model,
                                const struct consm_dataset *dataset,
                                const struct consm_options *options)
{
    consm_status st = CONSM_OK;
    struct trained_run run = {.model = (struct consm_model *)model}; /* only read */
    struct consm_edge_scores *scores = NULL;
    struct suspects suspects = {0};
    TRY(GIVEN(path, model, dataset, options));
    TRY(options_roles(&run.roles, dataset, options, options->seed));
    const char *device = options->device[0] ? options->device : NULL;
    TRY(consm_predict_on(&run.prediction, model, dataset, device, options->threads));
    TRY(dataset_whole(dataset, "a report"));
    TRY(consm_score_edges_on(&scores, model, dataset, device, options->threads));
    TRY(suspects_find(&suspects, model, dataset, run.prediction, &run.roles, options->threads));
    TRY(report_run(path, &(struct report_input){.run = &run,
                                                .data = dataset->data,
                                                .scores = scores,
                                                .set = dataset,
                                                .threads = options->threads,
                                                .suspects = &suspects}));
done:
    suspects_free(&suspects);
    roles_free(&run.roles);
    consm_prediction_free(run.prediction);
    consm_edge_scores_free(scores);
    return st;
}
