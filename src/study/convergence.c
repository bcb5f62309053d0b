/* RQ1, "Convergence analysis": validation and test accuracy of ConSM by round. The test curve is
 * read for this figure alone and nothing is chosen by it. */
#include "study/lines.h"

#include "study/paper.h"
#include <math.h>
#include <stdio.h>

static const char *const preferred[] = {"cora", "actor", NULL};

enum { MOST_SEEDS = 5 };

static consm_status curve_run(struct study_run *run, const struct study_options *o,
                              const char *dataset)
{
    consm_status st = CONSM_OK;
    const struct model_def *consm;
    TRY(model_find(&consm, "consm"));
    TRY(options_run(run, o, TASK_CURVE, dataset, consm));
    run->config.warmup = 50; /* so that the rounds are seen at work, not only the warm-up */
    run->config.rounds = o->quick ? 6 : 20;
    run->config.gnn_steps = 50;
    run->config.round_patience = 0;
done:
    return st;
}

static consm_status convergence_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = options_datasets(set, v->options, preferred);
    struct study_run run;
    for (int s = 0; s < sets; s++) {
        TRY(curve_run(&run, v->options, set[s]));
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
    double there[STUDY_MOST_SEEDS];
    const json_t *record;
    *out = (struct study_cell){.seeds = options_seeds(v->options, MOST_SEEDS)};
    for (int64_t seed = 0; seed < out->seeds; seed++) {
        one.seed = (uint64_t)seed;
        TRY(view_record(&record, v, &one));
        const json_t *value = json_array_get(json_object_get(record, curve), k);
        if (json_is_number(value))
            there[out->n++] = json_number_value(value);
    }
    out->mean = stats_mean(there, out->n);
    out->std = stats_std(there, out->n);
    out->interval = stats_t_interval(there, out->n, 0.95);
done:
    return st;
}

static void add_claim(struct report *r, const char *title, const struct study_line line[3])
{
    struct view_words claim, detail;
    int64_t last = line[2].n - 1;
    if (last < 1)
        return;
    double gain = line[2].y[last] - line[2].y[0];
    view_printf(&claim, "ConSM's accuracy on %s rises with the rounds.", title);
    view_printf(&detail,
                "Best validation accuracy goes from %.1f %% after the warm-up to %.1f %% after %d "
                "rounds; test accuracy from %.1f to %.1f %%.",
                line[2].y[0], line[2].y[last], (int)last, line[1].y[0], line[1].y[last]);
    report_claim(r, claim.text, gain > 0.2 && line[1].y[last] > line[1].y[0], detail.text);
}

static consm_status add_curve(struct report *r, const struct study_view *v, const char *dataset)
{
    static const char *const curve[3] = {"curve_val", "curve_test", "curve_best_val"};
    struct study_line line[3] = {{.name = "validation", .strong = true},
                                 {.name = "test (drawn after the fact)", .dashed = true},
                                 {.name = "best validation so far"}};
    consm_status st = CONSM_OK;
    struct study_run run;
    struct study_cell cell;
    struct figure *f = NULL;
    struct view_words name, head, caption;
    char title[96];
    TRY(curve_run(&run, v->options, dataset));
    for (int c = 0; c < 3; c++)
        for (int64_t k = 0; k <= run.config.rounds; k++) {
            TRY(point(&cell, v, &run, curve[c], (size_t)k));
            lines_add(&line[c], (double)k, &cell, 100);
        }
    view_dataset_title(dataset, title);
    view_printf(&name, "convergence-%s", dataset);
    view_printf(&head, "Convergence of ConSM on %s", title);
    view_printf(&caption,
                "Round 0 is the end of a warm-up of %d updates; a round is matching, scoring all "
                "edges, and %d updates.",
                (int)run.config.warmup, (int)run.config.gnn_steps);
    struct line_chart chart = {.words = {name.text, head.text, caption.text, NULL},
                               .x = {.label = "Round"},
                               .y = {.label = "Accuracy", .unit = "%"}};
    TRY(lines_figure(&f, &chart, line, 3));
    report_figure(r, f);
    if (paper_set(dataset))
        add_claim(r, title, line);
done:
    return st;
}

static consm_status convergence_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    const char *set[STUDY_MOST];
    int sets = options_datasets(set, v->options, preferred);
    report_section(r, "Convergence (RQ1)", "Accuracies of ConSM at the end of every round.");
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
