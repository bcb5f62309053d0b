/* RQ1, "Convergence analysis": validation and test accuracy of ConSM by round, beside the same
 * rounds without the propagation loss (λ = 0), because a GNN also improves by training longer. The
 * test curve is only for this figure; nothing is chosen by it. */
#include "study/lines.h"

#include "study/paper.h"
#include <math.h>
#include <stdio.h>

static const char *const preferred[] = {"cora", "actor", NULL};

enum { MOST_SEEDS = 10, LINES = 5 };

static consm_status curve_run(struct study_run *run, const struct study_options *o,
                              const char *dataset, bool plain)
{
    consm_status st = CONSM_OK;
    const struct model_def *consm;
    TRY(model_find(&consm, "consm"));
    TRY(options_run(run, o, TASK_CURVE, dataset, consm));
    run->config.warmup = 50; /* so that the rounds show their effect, not only the warm-up */
    run->config.rounds = o->quick ? 6 : 20;
    run->config.gnn_steps = 50;
    run->config.round_patience = 0;
    /* One pull throughout: a first round that tries several has no single curve. */
    TRY(config_set(&run->config, "lambda", plain ? "0" : "1"));
    TRY(config_set(&run->config, "attract", "zeta"));
    TRY(config_set(&run->config, "guesses", "no"));
    TRY(config_set(&run->config, "entropy", "0"));
    TRY(config_set(&run->config, "drop_share", "0"));
    TRY(config_set(&run->config, "add_share", "0"));
done:
    return st;
}

static consm_status convergence_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = options_datasets(set, v->options, preferred);
    struct study_run run;
    for (int s = 0; s < 2 * sets; s++) {
        TRY(curve_run(&run, v->options, set[s / 2], s % 2));
        TRY(plan_add_seeds(plan, &run, options_seeds(v->options, MOST_SEEDS)));
    }
done:
    return st;
}

/* Point k of a curve over the seeds. */
static consm_status point(struct study_cell *out, const struct study_view *v,
                          const struct study_run *run, const char *curve, size_t k)
{
    consm_status st = CONSM_OK;
    struct study_run one = *run;
    const json_t *record;
    *out = (struct study_cell){.seeds = options_seeds(v->options, MOST_SEEDS)};
    for (int64_t seed = 0; seed < out->seeds; seed++) {
        one.seed = (uint64_t)seed;
        TRY(view_record(&record, v, &one));
        const json_t *value = json_array_get(json_object_get(record, curve), k);
        out->value[seed] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    view_summarise(out);
done:
    return st;
}

/* Whether rounds improve validation, and whether ConSM's loss contributes: the end against the
 * start, and against the same rounds without the loss. */
static consm_status add_claim(struct report *r, const struct study_view *v, const char *title,
                              const struct study_run *run, const struct study_run *plain)
{
    consm_status st = CONSM_OK;
    struct view_words claim, detail;
    struct study_cell first, last, test, control;
    bool rises, helps;
    double p, p_control;
    int64_t seeds = options_seeds(v->options, MOST_SEEDS);
    TRY(point(&first, v, run, "curve_best_val", 0));
    TRY(point(&last, v, run, "curve_best_val", (size_t)run->config.rounds));
    TRY(view_cell(&test, v, run, seeds, "test_acc"));
    TRY(view_cell(&control, v, plain, seeds, "test_acc"));
    if (last.n < 2 || control.n < 2)
        goto done;
    TRY(view_above(&rises, &p, &last, &first));
    TRY(view_above(&helps, &p_control, &test, &control));
    view_printf(&claim, "ConSM's accuracy on %s rises with the rounds.", title);
    view_printf(&detail,
                "The best validation accuracy goes from %.1f %% after the warm-up to %.1f %% after "
                "%d rounds (p = %.3f). Test accuracy of the selected model: %.1f %%; the same "
                "rounds without the propagation loss (λ = 0): %.1f %% (p = %.3f).",
                100 * first.mean, 100 * last.mean, (int)run->config.rounds, p, 100 * test.mean,
                100 * control.mean, p_control);
    report_claim(r, claim.text, rises && helps, detail.text);
done:
    return st;
}

static consm_status add_curve(struct report *r, const struct study_view *v, const char *dataset)
{
    static const char *const curve[LINES] = {"curve_val", "curve_test", "curve_best_val",
                                             "curve_test", "curve_best_val"};
    struct study_line line[LINES] = {{.name = "validation", .strong = true},
                                     {.name = "test (not used for selection)", .dashed = true},
                                     {.name = "best validation so far"},
                                     {.name = "λ = 0: test", .dashed = true},
                                     {.name = "λ = 0: best validation so far"}};
    consm_status st = CONSM_OK;
    struct study_run run, plain;
    struct study_cell cell;
    struct view_words name, head, caption;
    char title[96];
    TRY(curve_run(&run, v->options, dataset, false));
    TRY(curve_run(&plain, v->options, dataset, true));
    for (int c = 0; c < LINES; c++)
        for (int64_t k = 0; k <= run.config.rounds; k++) {
            TRY(point(&cell, v, c < 3 ? &run : &plain, curve[c], (size_t)k));
            lines_add(&line[c], (double)k, &cell, 100);
        }
    view_dataset_title(dataset, title);
    view_printf(&name, "convergence-%s", dataset);
    view_printf(&head, "Convergence of ConSM on %s", title);
    view_printf(
        &caption,
        "Round 0 is the end of a warm-up of %d updates. A round consists of matching, "
        "scoring all edges, and %d updates. λ = 0: the same rounds without the propagation loss.",
        (int)run.config.warmup, (int)run.config.gnn_steps);
    struct line_chart chart = {.words = {name.text, head.text, caption.text, NULL},
                               .x = {.label = "Round"},
                               .y = {.label = "Accuracy", .unit = "%"}};
    lines_figure(r, &chart, line, LINES);
    if (paper_set(dataset))
        TRY(add_claim(r, v, title, &run, &plain));
done:
    return st;
}

static consm_status convergence_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = options_datasets(set, v->options, preferred);
    report_section(r, "Convergence (RQ1)", "Accuracy of ConSM after every round.");
    for (int s = 0; s < sets; s++)
        TRY(add_curve(r, v, set[s]));
done:
    return st;
}

const struct study_def study_convergence = {
    .name = "convergence",
    .title = "Convergence (RQ1)",
    .about = "validation and test curves of ConSM by round (RQ1)",
    .plan = convergence_plan,
    .render = convergence_render,
};
