/* The output of `consm train`: aligned text, or JSON. */
#include "train_print.h"
#include "base/counted.h"

#include "json_line.h"
#include "shown.h"

#include "base/clock.h"
#include "graph/structural.h"
#include "stats/conformal.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>

struct consm_model_info train_info(const struct consm_model *model)
{
    struct consm_model_info info = {.size = sizeof info};
    (void)consm_model_info(&info, model);
    return info;
}

const char *train_split(const struct training *t)
{
    char buffer[32];
    return consm_options_get(t->options, "split", buffer); /* the options own it */
}

/* The accuracy of that role's nodes, unknown if there are none. */
static double known(const struct training *t, int role, double accuracy)
{
    return t->count[role] ? accuracy : NAN;
}

static void print_column(double value)
{
    if (isfinite(value))
        printf(" %8.4f", value);
    else
        printf(" %8s", "-");
}

/* Whether ConSM's matching module was examined. */
static bool was_examined(const struct train_result *r)
{
    return r->match.learned_auc > 0;
}

static void print_matching(const struct training *t)
{
    struct match_quality mean = {0};
    int64_t runs = 0, chance = 0;
    for (int64_t i = 0; i < t->runs; i++) {
        const struct match_quality *q = &t->result[i].match;
        if (!was_examined(&t->result[i]))
            continue;
        mean.learned_auc += q->learned_auc;
        mean.held_auc += q->held_auc;
        mean.known_auc += q->known_auc;
        chance += q->at_chance;
        runs++;
    }
    if (runs == 0)
        return;
    printf("  matching: AUC %.3f on training pairs", mean.learned_auc / (double)runs);
    if (isfinite(mean.held_auc))
        printf(", %.3f on held-out pairs", mean.held_auc / (double)runs);
    if (isfinite(mean.known_auc))
        printf(", %.3f on edges with known labels", mean.known_auc / (double)runs);
    putchar('\n');
    if (chance)
        printf("  in %lld of %lld runs, matching is no better than chance on held-out pairs: trust "
               "ignores it there\n",
               (long long)chance, (long long)runs);
}

/* How often each rule won, and how many members were chosen. */
static void print_ensembles(const struct training *t)
{
    int64_t won[ENSEMBLE_RULES] = {0}, picked = 0, members = 0;
    if (!t->made)
        return;
    for (int64_t i = 0; i < t->runs; i++) {
        won[t->made[i].rule]++;
        picked += t->made[i].picked;
        members += t->made[i].pool;
    }
    const char *between = " ";
    printf("  ensemble of %lld runs: validation chose", (long long)t->choices.ensemble);
    for (int rule = 0; rule < ENSEMBLE_RULES; rule++)
        if (won[rule]) {
            printf("%s%s", between, ensemble_rule_name[rule]);
            if (t->runs > 1)
                printf(" %lld times", (long long)won[rule]);
            between = ", ";
        }
    printf("; %.3g of %.3g members used\n", (double)picked / (double)t->runs,
           (double)members / (double)t->runs);
}

/* The candidate backbones of a ConSM run, the chosen one first, and how far each came. */
static json_t *candidates_of(const struct train_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->candidates; i++) {
        const struct train_candidate *c = &r->candidate[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:I, s:o, s:o}", "backbone", c->model, "settings",
                            c->settings, "updates", (json_int_t)c->updates, "val_score",
                            c->val < 0 ? json_null() : json_real(c->val), "fold_score",
                            c->fold < 0 ? json_null() : json_real(c->fold)));
    }
    return list;
}

/* The student of a ConSM run; null: there was none. */
static json_t *student_of(const struct train_student *s)
{
    return s->updates == 0 ? json_null()
                           : json_pack("{s:I, s:f, s:b}", "updates", (json_int_t)s->updates,
                                       "val_score", s->val, "taken", (int)s->taken);
}

/* The trees beside a ConSM run's candidates; null: there were none. */
static json_t *trees_of(const struct train_trees *t)
{
    return t->rounds == 0
               ? json_null()
               : json_pack("{s:I, s:f, s:b, s:f}", "rounds", (json_int_t)t->rounds, "val_score",
                           t->val, "taken", (int)t->taken, "consm_val_score", t->network_val);
}

/* The candidates that predict together with ConSM or with its trees; null: there are none. */
static json_t *companions_of(const struct train_companions *c)
{
    if (c->count == 0)
        return json_null();
    json_t *list = json_array();
    for (int i = 0; i < c->count; i++)
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:b}", "candidate", (json_int_t)c->of[i].number, "votes",
                            (json_int_t)c->of[i].votes, "clean", (int)c->of[i].clean));
    return json_pack("{s:I, s:I, s:f, s:o}", "votes", (json_int_t)c->votes, "own",
                     (json_int_t)c->own, "own_val_score", c->alone, "candidates", list);
}

/* The candidates, how far each came, the winner and its lead. */
static void add_candidates(json_t *line, const struct train_result *r)
{
    const struct train_candidate *second;
    bool folds;
    double margin = train_margin(&second, &folds, r);
    json_object_set_new(line, "candidates", candidates_of(r));
    if (second)
        json_object_set_new(line, "choice",
                            json_pack("{s:s, s:s, s:s, s:f}", "backbone", r->candidate[0].model,
                                      "next", second->model, "by", folds ? "folds" : "validation",
                                      "margin", margin));
}

/* The arm that a ConSM run chose. */
static json_t *arm_of(const struct train_arm *a)
{
    return json_pack("{s:f, s:s, s:b, s:f, s:f, s:f}", "lambda", a->lambda, "attract",
                     config_names_attract[a->all ? ATTRACT_ALL : ATTRACT_ZETA], "guesses",
                     (int)a->guesses, "entropy", a->entropy, "dropped", a->dropped, "added",
                     a->added);
}

/* The GNN that was trained, and what it ignores. */
static void print_backbone(const struct training *t)
{
    bool chosen = options_config(t->options)->backbone == BACKBONE_AUTO;
    if (!t->best.model)
        return;
    struct consm_model_info m = train_info(t->best.model);
    if (!m.backbone[0])
        return;
    printf("  backbone: %s%s%s", m.backbone, chosen ? ", chosen on validation" : "",
           t->runs > 1 ? " (in the best run)" : "");
    if (t->read->weight && !m.uses_weights)
        printf("; it ignores the edge weights");
    putchar('\n');
    const struct train_trees *trees = &t->best.result.trees;
    const struct train_companions *with = &t->best.result.companions;
    const char *leader = trees->taken ? "boosted trees" : "ConSM";
    if (trees->taken)
        printf("  boosted trees validate better than ConSM: %s %.4f (ConSM %.4f)\n", m.metric,
               trees->val, trees->network_val);
    if (with->count > 0)
        printf("  predictions: the mean of %s (%lld of %lld votes) and %s; edge scores: ConSM\n",
               leader, (long long)with->own, (long long)with->votes,
               COUNTED(with->count, "other network"));
    else if (trees->taken)
        printf("  predictions: boosted trees; edge scores: ConSM\n");
}

void train_print_run(const struct training *t, const struct train_result *r)
{
    if (t->quiet && !t->json)
        return;
    if (!t->json) {
        printf("  %6llu", (unsigned long long)r->seed);
        print_column(known(t, SPLIT_VAL, r->val_acc));
        print_column(known(t, SPLIT_TEST, r->test_acc));
        printf(" %10lld %8lld %9.3f %9.3f\n", (long long)r->best_epoch, (long long)r->epochs,
               r->train_ms, r->eval_ms);
        return;
    }
    json_t *line = json_pack(
        "{s:s, s:s, s:s, s:I, s:o, s:o, s:I, s:I, s:f, s:f, s:f, s:I, s:f, s:I, s:I, s:I, s:I, "
        "s:I, s:b, s:s}",
        "dataset", t->read->name, "model", options_method(t->options)->name, "split",
        train_split(t), "seed", (json_int_t)r->seed, "val_acc",
        json_figure(known(t, SPLIT_VAL, r->val_acc)), "test_acc",
        json_figure(known(t, SPLIT_TEST, r->test_acc)), "best_epoch", (json_int_t)r->best_epoch,
        "epochs", (json_int_t)r->epochs, "train_ms", r->train_ms, "eval_ms", r->eval_ms, "seconds",
        r->seconds, "params", (json_int_t)r->params, "peak_rss_mb", clock_peak_rss_mb(), "trained",
        (json_int_t)t->count[SPLIT_TRAIN], "validated", (json_int_t)t->count[SPLIT_VAL], "tested",
        (json_int_t)t->count[SPLIT_TEST], "held_out", (json_int_t)t->held_out, "calibrating",
        (json_int_t)t->calibrating, "structural_features", t->prepared->structural != NULL,
        "device", r->device);
    int ranks = dataset_ranks(t->data)->size;
    if (ranks > 1)
        json_object_set_new(line, "ranks", json_integer(ranks));
    if (r->sent > 0)
        json_object_set_new(line, "sent_bytes", json_integer((json_int_t)r->sent));
    if (was_examined(r))
        json_object_set_new(
            line, "matching",
            json_pack("{s:o, s:o, s:o, s:b}", "learned_auc", json_figure(r->match.learned_auc),
                      "held_auc", json_figure(r->match.held_auc), "known_auc",
                      json_figure(r->match.known_auc), "at_chance", (int)r->match.at_chance));
    if (r->candidates > 0) {
        add_candidates(line, r);
        json_object_set_new(line, "student", student_of(&r->student));
        json_object_set_new(line, "trees", trees_of(&r->trees));
        json_object_set_new(line, "companions", companions_of(&r->companions));
    }
    if (r->arm.known)
        json_object_set_new(line, "arm", arm_of(&r->arm));
    if (t->made) {
        const struct ensemble_facts *e = &t->made[r - t->result];
        json_object_set_new(line, "ensemble",
                            json_pack("{s:I, s:I, s:I, s:s}", "runs", (json_int_t)e->runs,
                                      "members", (json_int_t)e->pool, "picked",
                                      (json_int_t)e->picked, "rule", ensemble_rule_name[e->rule]));
    }
    json_t *detail = t->detail[r - t->result];
    if (detail)
        json_object_update(line, detail);
    json_line(line, 10);
}

/* How optimistic the validation on so few nodes is. */
static void print_folds(const struct training *t)
{
    const struct train_folds *f = &t->best.result.folds;
    if (!t->best.model || f->labels == 0)
        return;
    printf("  validation %s %.4f on %s; %lld-fold cross-validation of the chosen backbone %.4f ± "
           "%.4f on all %s\n",
           train_info(t->best.model).metric, t->best.result.val_score,
           COUNTED(f->validating, "node"), (long long)f->folds, f->score, f->error,
           COUNTED(f->labels, "label"));
}

/* Whether the figures are those of the stored parameters. */
static void print_refit(const struct training *t)
{
    if (!t->best.model)
        return;
    struct consm_model_info m = train_info(t->best.model);
    if (m.refit_labels)
        printf("  refit: trained once more on all %s for %s; validation scores are from before the "
               "refit (--refit no disables it)\n",
               COUNTED(m.refit_labels, "label"), COUNTED(m.refit_updates, "update"));
}

void train_print_summary(const struct training *t, double seconds)
{
    double test = 0, spread = 0, val = 0, train_ms = 0, eval_ms = 0, n = (double)t->runs;
    for (int64_t i = 0; i < t->runs; i++) {
        const struct train_result *r = &t->result[i];
        test += r->test_acc / n;
        val += r->val_acc / n;
        train_ms += r->train_ms / n;
        eval_ms += r->eval_ms / n;
    }
    for (int64_t i = 0; i < t->runs; i++)
        spread += pow(t->result[i].test_acc - test, 2);
    spread = t->runs > 1 ? sqrt(spread / (n - 1)) : 0;
    if (t->json) {
        json_line(json_pack("{s:b, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:f, s:f, s:f}", "summary", 1,
                            "dataset", t->read->name, "model", options_method(t->options)->name,
                            "split", train_split(t), "runs", (json_int_t)t->runs, "test_acc_mean",
                            json_figure(known(t, SPLIT_TEST, test)), "test_acc_std",
                            json_figure(known(t, SPLIT_TEST, spread)), "val_acc_mean",
                            json_figure(known(t, SPLIT_VAL, val)), "train_ms", train_ms, "eval_ms",
                            eval_ms, "seconds", seconds),
                  10);
        return;
    }
    if (t->quiet)
        return;
    printf("\n  ");
    if (t->count[SPLIT_TEST])
        printf("test accuracy %.2f ± %.2f %%", 100 * test, 100 * spread);
    if (t->count[SPLIT_VAL])
        printf(t->count[SPLIT_TEST] ? ", validation %.2f %%" : "validation accuracy %.2f %%",
               100 * val);
    if (!t->count[SPLIT_TEST] && !t->count[SPLIT_VAL])
        printf("no accuracy (no validation nodes and no test nodes)");
    printf(" over %lld run%s in %.1f s\n", (long long)t->runs, t->runs == 1 ? "" : "s", seconds);
    if (t->count[SPLIT_VAL] && !t->count[SPLIT_TEST])
        printf("  no test nodes; validation scores are optimistic: these nodes were also used for "
               "model selection\n");
    print_folds(t);
    print_refit(t);
    print_ensembles(t);
    print_backbone(t);
    print_matching(t);
}

/* Which labels calibrate the prediction sets, and whether they are enough. */
static void print_calibrating(const struct training *t)
{
    double coverage = options_config(t->options)->coverage;
    int64_t least = conformal_least(coverage);
    printf("  prediction sets: %lld of %lld validation labels calibrate the sets, the others "
           "select the model\n",
           (long long)t->calibrating, (long long)(t->calibrating + t->count[SPLIT_VAL]));
    if (t->calibrating < least)
        printf("  coverage %g needs %lld calibration labels: with fewer, every set contains every "
               "class\n",
               coverage, (long long)least);
}

/* What was done with the data. */
void train_print_notes(const struct training *t)
{
    const struct dataset *d = t->read;
    const struct config *c = options_config(t->options);
    const struct model_def *model = options_method(t->options);
    if (t->prepared->structural)
        printf("  no features: built %d structural features (degrees, neighbours' degrees, random "
               "walks)\n",
               STRUCTURAL_FEATURES);
    if (c->normalize_features == FEATURES_STANDARD)
        printf("  feature columns standardised to mean 0, standard deviation 1\n");
    if (t->held_out)
        printf("  no validation nodes in the data: %lld of %lld labels held out\n",
               (long long)t->held_out, (long long)(t->held_out + t->count[SPLIT_TRAIN]));
    else if (t->count[SPLIT_VAL] == 0)
        printf(
            "  no validation nodes, and too few labels to hold any out: the last epoch is used\n");
    if (c->coverage > 0)
        print_calibrating(t);
    if (d->directed)
        printf("  edges are directed: %s uses them in both directions\n", model->name);
    if (d->weight && model->unweighted)
        printf("  edges have weights: %s ignores them\n", model->name);
}

static void print_sets(const struct training *t, const struct consm_model_info *m)
{
    if (!m->promised)
        return;
    printf("  prediction sets: target coverage %g", m->coverage);
    if (options_config(t->options)->coverage_by == COVERAGE_BY_CLASS)
        printf(" in every class");
    if (isfinite(m->covered))
        printf(", %.4f on test, %.2f classes per set", m->covered, m->set_size);
    if (isfinite(m->least_covered)) {
        char buffer[24], name[SHOWN];
        printf(", lowest for %s: %.4f",
               shown(name, consm_model_class(t->best.model, m->least_class, buffer), 0),
               m->least_covered);
    }
    printf("; scores averaged over neighbours with weight %g\n", m->smoothing);
}

/* The calibration; with few validation nodes little is known. */
static void print_confidence(const struct training *t, const struct consm_model_info *m)
{
    double after = consm_model_metrics(t->best.model, CONSM_VALIDATION)->ece;
    if (!m->validated)
        printf("  confidence: not calibrated (no validation nodes)");
    else
        printf("  confidence: temperature %.3f", m->temperature);
    if (isfinite(after))
        printf(", calibration error on validation %.4f before, %.4f after", m->ece_before, after);
    else if (m->validated)
        printf(", calibration error unknown: %lld validation node%s too few",
               (long long)m->validated, m->validated == 1 ? " is" : "s are");
    putchar('\n');
    if (m->doubt > 0)
        printf("  probabilities shrunk %.1f %% towards uniform: only %s\n", 100 * m->doubt,
               COUNTED(m->validated, "node for validation"));
}

void train_print_output(const struct training *t)
{
    struct consm_model_info info = train_info(t->best.model);
    const struct consm_metrics *m =
        consm_model_metrics(t->best.model, t->count[SPLIT_TEST] ? CONSM_TEST : CONSM_VALIDATION);
    if (t->count[SPLIT_TEST] || t->count[SPLIT_VAL])
        printf("  macro-F1 %.4f, balanced accuracy %.4f, ROC-AUC %.4f on %s\n", m->macro_f1,
               m->balanced_accuracy, m->roc_auc,
               t->count[SPLIT_TEST] ? "test" : "validation, optimistic");
    print_confidence(t, &info);
    print_sets(t, &info);
    bool asked = info.positive >= 0 || info.threshold_class >= 0;
    printf("  %.*s/: model.safetensors predictions.csv edges.csv metrics.json config.yaml%s%s\n",
           shown_folder(t->output.folder), t->output.folder,
           t->read->rows ? "" : " report.html graph.svg", /* none of a graph in parts */
           asked && !t->read->rows ? " suspects.csv" : "");
}
