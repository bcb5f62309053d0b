/* Controls on ConSM's backbone: their runs, and paired tests against them. */
#include "study/controls.h"

#include "study/grid.h"
#include "study/task.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const weights[] = {"1", "5", "20"}; /* λ */
enum { WEIGHTS = sizeof weights / sizeof *weights };

static const struct {
    const char *title, *propagation;
    bool thrice; /* one run per weight; validation takes the best */
} controls[CONTROLS] = {
    [CONTROL_NONE] = {"without the propagation loss (λ = 0)", NULL, false},
    [CONTROL_NGM] = {"NGM on its backbone", "ngm", false},
    [CONTROL_P_REG] = {"P-reg on its backbone", "p-reg", false},
    [CONTROL_GAM] = {"GAM on its backbone", "gam", false},
    [CONTROL_GAM_THRICE] = {"GAM, best of three runs", "gam", true},
};

static const char *control_title(enum control control)
{
    return controls[control].title;
}

/* ---- runs ---------------------------------------------------------------- */

static consm_status consm_run(struct study_run *out, const struct study_view *v,
                              const char *dataset, uint64_t seed)
{
    consm_status st = CONSM_OK;
    const struct model_def *consm;
    TRY(model_find(&consm, "consm"));
    TRY(options_run(out, v->options, TASK_TRAIN, dataset, consm));
    out->seed = seed;
done:
    return st;
}

static int weights_of(enum control control)
{
    return control == CONTROL_NONE ? 1 : WEIGHTS;
}

/* As many updates as the ConSM run made, whatever it used them for; GAM's rounds are whole, and it
 * gets all of them. */
static void spend_alike(struct config *c, const json_t *record)
{
    int64_t updates = json_integer_value(json_object_get(record, "epochs"));
    int64_t rounds = (updates - c->warmup + c->gnn_steps - 1) / c->gnn_steps;
    c->epochs = updates > 1 ? updates : 1;
    c->rounds = rounds > 1 ? rounds : 1;
    c->round_patience = 0;
}

/* The control with its k-th weight; *known is false while the ConSM run of that seed is missing. */
static consm_status control_run(struct study_run *out, bool *known, const struct study_view *v,
                                const char *dataset, enum control control, int k, uint64_t seed)
{
    consm_status st = CONSM_OK;
    const json_t *record, *chosen;
    TRY(consm_run(out, v, dataset, seed));
    TRY(view_record(&record, v, out));
    chosen = json_object_get(record, "chosen");
    *known = chosen != NULL;
    if (!*known)
        goto done;
    struct config *c = &out->config;
    TRY(options_apply(c, chosen));
    if (control == CONTROL_NONE) {
        TRY(config_set(c, "lambda", "0"));
        TRY(config_set(c, "guesses", "no"));
        TRY(config_set(c, "entropy", "0"));
        TRY(config_set(c, "drop_share", "0"));
        TRY(config_set(c, "add_share", "0"));
        goto done;
    }
    TRY(model_find(&out->model, config_names_backbone[c->backbone]));
    TRY(config_set(c, "propagation", controls[control].propagation));
    TRY(config_set(c, "lambda", weights[k]));
    spend_alike(c, record);
done:
    return st;
}

consm_status controls_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct study_run run;
    bool known;
    for (int s = 0; s < o->datasets && options_model(o, "consm"); s++)
        for (int64_t seed = 0; seed < o->seeds; seed++)
            for (enum control c = 0; c < CONTROLS; c++)
                for (int k = 0; !controls[c].thrice && k < weights_of(c); k++) {
                    TRY(control_run(&run, &known, v, o->dataset[s], c, k, (uint64_t)seed));
                    if (known)
                        TRY(plan_add(plan, &run));
                }
done:
    return st;
}

/* ---- figures ------------------------------------------------------------- */

struct outcome {
    double val, test;
};

/* One seed's runs with each weight (weights_of); *whole is false while one is missing. */
static consm_status outcomes(struct outcome *of_weight, bool *whole, const struct study_view *v,
                             const char *dataset, enum control control, uint64_t seed)
{
    consm_status st = CONSM_OK;
    *whole = true;
    for (int k = 0; k < weights_of(control); k++) {
        struct study_run run;
        const json_t *record = NULL;
        bool known;
        TRY(control_run(&run, &known, v, dataset, control, k, seed));
        if (known)
            TRY(view_record(&record, v, &run));
        *whole = *whole && record;
        of_weight[k] =
            record ? (struct outcome){task_value(record, "val_acc"), task_value(record, "test_acc")}
                   : (struct outcome){(double)NAN, (double)NAN};
    }
done:
    return st;
}

/* The weight with the largest figure, ties to the smallest. */
static int best_weight(const double *figure, int count)
{
    int best = 0;
    for (int k = 1; k < count; k++)
        best = figure[k] > figure[best] ? k : best;
    return best;
}

/* Over the seeds that have a run with each weight: the weight with the best mean validation
 * accuracy. */
static consm_status weight_of_set(int *weight, const struct study_view *v, const char *dataset,
                                  enum control control)
{
    consm_status st = CONSM_OK;
    double sum[WEIGHTS] = {0};
    for (int64_t seed = 0; seed < v->options->seeds; seed++) {
        struct outcome of_weight[WEIGHTS] = {0};
        bool whole;
        TRY(outcomes(of_weight, &whole, v, dataset, control, (uint64_t)seed));
        for (int k = 0; whole && k < weights_of(control); k++)
            sum[k] += of_weight[k].val;
    }
    *weight = best_weight(sum, weights_of(control));
done:
    return st;
}

consm_status controls_cell(struct study_cell *out, const struct study_view *v, const char *dataset,
                           enum control control)
{
    consm_status st = CONSM_OK;
    int of_set;
    *out = (struct study_cell){.seeds = v->options->seeds};
    TRY(weight_of_set(&of_set, v, dataset, control));
    for (int64_t seed = 0; seed < out->seeds; seed++) {
        struct outcome of_weight[WEIGHTS];
        double val[WEIGHTS];
        bool whole;
        TRY(outcomes(of_weight, &whole, v, dataset, control, (uint64_t)seed));
        for (int k = 0; k < weights_of(control); k++)
            val[k] = of_weight[k].val;
        int k = controls[control].thrice ? best_weight(val, weights_of(control)) : of_set;
        out->value[seed] = whole ? of_weight[k].test : (double)NAN;
    }
    view_summarise(out);
done:
    return st;
}

/* ---- tables -------------------------------------------------------------- */

/* ConSM and its controls on one set. */
struct duel {
    struct study_cell consm, control[CONTROLS], difference[CONTROLS];
    double p[CONTROLS]; /* Holm-corrected over the controls */
};

static consm_status duel_fill(struct duel *d, const struct study_view *v, const char *dataset)
{
    consm_status st = CONSM_OK;
    struct study_run run;
    TRY(consm_run(&run, v, dataset, 0));
    TRY(view_cell(&d->consm, v, &run, v->options->seeds, "test_acc"));
    for (enum control c = 0; c < CONTROLS; c++) {
        TRY(controls_cell(&d->control[c], v, dataset, c));
        d->difference[c] = (struct study_cell){.seeds = d->consm.seeds};
        for (int64_t i = 0; i < d->consm.seeds; i++)
            d->difference[c].value[i] = d->consm.value[i] - d->control[c].value[i];
        view_summarise(&d->difference[c]);
        TRY(view_compare(&d->p[c], &d->consm, &d->control[c]));
    }
    TRY(stats_holm(d->p, d->p, CONTROLS));
done:
    return st;
}

static const char *verdict(const struct duel *d, enum control c)
{
    if (d->difference[c].n < GRID_ENOUGH)
        return "too few seeds";
    if (!grid_differs(d->p[c]))
        return "no significant difference";
    return d->difference[c].mean > 0 ? "ConSM better" : "ConSM worse";
}

/* "appnp 8, gcn 2": what ConSM chose over the seeds. */
static consm_status backbones(char *text, size_t size, const struct study_view *v,
                              const char *dataset)
{
    consm_status st = CONSM_OK;
    int count[64] = {0};
    size_t used = 0;
    struct config c;
    text[0] = 0;
    for (int64_t seed = 0; seed < v->options->seeds; seed++) {
        struct study_run run;
        const json_t *record;
        TRY(consm_run(&run, v, dataset, (uint64_t)seed));
        TRY(view_record(&record, v, &run));
        const char *name =
            json_string_value(json_object_get(json_object_get(record, "chosen"), "backbone"));
        config_defaults(&c);
        if (name && config_set(&c, "backbone", name) == CONSM_OK)
            count[c.backbone]++;
    }
    for (int i = 0; config_names_backbone[i] && used < size; i++)
        if (count[i] > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s %d", used ? ", " : "",
                                     config_names_backbone[i], count[i]);
done:
    return st;
}

static void add_accuracy(struct table *t, const struct study_cell *cell)
{
    view_mean(t, cell, 100, 1);
    view_note_missing(t, cell);
}

static consm_status add_means(struct report *r, const struct study_view *v, const struct duel *duel)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    char text[200], title[96];
    struct table *t = report_new_table(
        r, "accuracy-controls", "Test accuracy (%) of ConSM and of other losses on its backbone");
    table_column(t, "Loss", TABLE_LEFT, NULL);
    for (int s = 0; s < o->datasets; s++)
        table_column(t, view_dataset_title(o->dataset[s], title), TABLE_RIGHT, NULL);
    table_row(t);
    table_text(t, "chosen backbone, and in how many runs");
    for (int s = 0; s < o->datasets; s++) {
        TRY(backbones(text, sizeof text, v, o->dataset[s]));
        table_text(t, text);
    }
    table_row(t);
    table_text(t, "ConSM");
    for (int s = 0; s < o->datasets; s++)
        add_accuracy(t, &duel[s].consm);
    for (enum control c = 0; c < CONTROLS; c++) {
        table_row(t);
        table_text(t, control_title(c));
        for (int s = 0; s < o->datasets; s++)
            add_accuracy(t, &duel[s].control[c]);
    }
    table_remark(
        t,
        "A control uses the backbone, features, learning rate, weight decay, dropout "
        "and layers of the ConSM run with the same seed. λ = 0 is that run without the "
        "propagation loss and without self-training. The other losses use as many updates as that "
        "run. Their λ is 1, 5 or 20, whichever has the best mean validation score over all seeds; "
        "one "
        "run is compared with one run. The last row has three runs per seed, one for each λ, and "
        "takes the one with the best validation score for each seed.");
done:
    return st;
}

static void add_tests(struct report *r, const struct study_view *v, const struct duel *duel)
{
    const struct study_options *o = v->options;
    char title[96];
    struct table *t =
        report_new_table(r, "accuracy-controls-tests", "ConSM and its controls, paired by seed");
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    table_column(t, "Control", TABLE_LEFT, NULL);
    table_column(t, "Pairs", TABLE_RIGHT, NULL);
    table_column(t, "Difference", TABLE_RIGHT, "mean of ConSM minus control, in points");
    table_column(t, "95 % lower", TABLE_RIGHT, "Student's t interval of the mean difference");
    table_column(t, "95 % upper", TABLE_RIGHT, "Student's t interval of the mean difference");
    table_column(t, "p", TABLE_RIGHT, "paired Wilcoxon, Holm-corrected over the five controls");
    table_column(t, "Verdict", TABLE_LEFT, NULL);
    for (int s = 0; s < o->datasets; s++)
        for (enum control c = 0; c < CONTROLS; c++) {
            const struct study_cell *d = &duel[s].difference[c];
            if (d->n == 0)
                continue;
            table_row(t);
            table_text(t, view_dataset_title(o->dataset[s], title));
            table_text(t, control_title(c));
            table_number(t, (double)d->n, 0);
            table_number(t, 100 * d->mean, 2);
            table_number(t, 100 * d->interval.low, 2);
            table_number(t, 100 * d->interval.high, 2);
            table_number(t, duel[s].p[c], 3);
            table_text(t, verdict(&duel[s], c));
        }
}

static void add_sentence(struct report *r, const struct study_options *o, const struct duel *duel,
                         enum control c, const char *rival)
{
    struct view_words words;
    int ahead = 0, behind = 0, all = 0;
    for (int s = 0; s < o->datasets; s++) {
        if (duel[s].difference[c].n < GRID_ENOUGH)
            continue;
        all++;
        ahead += strcmp(verdict(&duel[s], c), "ConSM better") == 0;
        behind += strcmp(verdict(&duel[s], c), "ConSM worse") == 0;
    }
    if (all > 0)
        report_summary(r, view_printf(&words,
                                      "Compared with %s, ConSM is significantly better on %d and "
                                      "worse on %d of %d datasets (paired Wilcoxon, Holm).",
                                      rival, ahead, behind, all));
}

consm_status controls_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const struct study_options *o = v->options;
    struct duel *duel = NULL;
    if (!options_model(o, "consm"))
        return CONSM_OK;
    TRY(ZNEW(duel, o->datasets));
    for (int s = 0; s < o->datasets; s++)
        TRY(duel_fill(&duel[s], v, o->dataset[s]));
    TRY(add_means(r, v, duel));
    add_tests(r, v, duel);
    add_sentence(r, o, duel, CONTROL_NONE, "itself without the propagation loss (λ = 0)");
    add_sentence(r, o, duel, CONTROL_GAM, "GAM on the same backbone");
    add_sentence(r, o, duel, CONTROL_GAM_THRICE, "the best of three GAM runs");
done:
    mem_free(duel);
    return st;
}
