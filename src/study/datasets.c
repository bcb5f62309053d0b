/* Tables 1 and 2: facts about the data, beside those of the paper. */
#include "study/study.h"

#include "study/paper.h"
#include "study/task.h"
#include <math.h>

static struct study_run facts_run(const struct study_options *o, const char *dataset)
{
    struct study_run run = plan_run(TASK_FACTS, dataset, NULL, o->split);
    struct study_run split;
    run.split_options = o->split_options;
    if (options_run(&split, o, TASK_FACTS, dataset, NULL) == CONSM_OK)
        run.split_options = split.split_options;
    return run;
}

static consm_status datasets_plan(struct plan *plan, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    for (int s = 0; s < v->options->datasets; s++) {
        struct study_run run = facts_run(v->options, v->options->dataset[s]);
        TRY(plan_add(plan, &run));
    }
done:
    return st;
}

/* A cell with the paper's figure in brackets, flagged if they differ. */
static int add_beside(struct table *t, double ours, double paper, double tolerance, int decimals)
{
    bool differs = fabs(ours - paper) > tolerance; /* false when the paper has none */
    table_number(t, ours, decimals);
    if (!isnan(paper))
        table_reference(t, paper);
    if (differs)
        table_mark(t, TABLE_DIFFERS);
    return differs;
}

/* The paper counts the edges of some sets once and of others twice; either counts as agreement. */
static int add_edges(struct table *t, const json_t *record, double paper)
{
    double edges = task_value(record, "edges"), directed = task_value(record, "directed_edges");
    bool agrees = isnan(paper) || paper == edges || paper == 2 * edges || paper == directed;
    table_number(t, edges, 0);
    table_number(t, directed, 0);
    if (!isnan(paper))
        table_reference(t, paper);
    if (!agrees)
        table_mark(t, TABLE_DIFFERS);
    return !agrees;
}

static int add_row(struct table *t, const char *dataset, const json_t *record)
{
    static const char *const field[] = {"features", "classes", "train", "val", "test"};
    const struct paper_set *p = paper_set(dataset);
    double none = (double)NAN, theirs[5] = {none, none, none, none, none};
    char title[96];
    int differ = 0;
    if (p) {
        double figures[5] = {(double)p->features, (double)p->classes, (double)p->train,
                             (double)p->val, (double)p->test};
        for (int k = 0; k < 5; k++)
            theirs[k] = figures[k];
    }
    table_row(t);
    table_text(t, view_dataset_title(dataset, title));
    differ += add_beside(t, task_value(record, "nodes"), p ? (double)p->nodes : none, 0, 0);
    differ += add_edges(t, record, p ? (double)p->edges : none);
    for (int k = 0; k < 5; k++)
        differ += add_beside(t, task_value(record, field[k]), theirs[k], 0, 0);
    differ += add_beside(t, task_value(record, "homophily"), p ? p->homophily : none, 0.0051, 2);
    table_number(t, task_value(record, "adjusted_homophily"), 2);
    table_number(t, 100 * task_value(record, "leaked") / task_value(record, "test"), 1);
    table_number(t, 100 * task_value(record, "leaked_share"), 1);
    return differ;
}

static void add_columns(struct table *t)
{
    static const char *const column[][2] = {
        {"Nodes", NULL},
        {"Edges", "undirected, without self-loops and repeats, as models see them"},
        {"As stored", "distinct directed pairs in the file"},
        {"Features", NULL},
        {"Classes", NULL},
        {"Train", NULL},
        {"Validation", NULL},
        {"Test", NULL},
        {"Homophily", "share of edges between nodes of the same class"},
        {"Adjusted",
         "homophily compared with random edges of the same degrees (Platonov et al. 2023)"},
        {"Leak %", "test nodes with an exact copy among the training nodes of this split"},
        {"Leak %, stored splits", "the same over the splits stored with the data"}};
    table_column(t, "Dataset", TABLE_LEFT, NULL);
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        table_column(t, column[i][0], TABLE_RIGHT, column[i][1]);
}

static consm_status datasets_render(struct report *r, const struct study_view *v)
{
    consm_status st = CONSM_OK;
    struct view_words words;
    const json_t *record;
    int differ = 0, known = 0;
    report_section(r, "Datasets (Tables 1 and 2)",
                   "Statistics of the files, with the paper's numbers in brackets.");
    struct table *t = report_new_table(r, "datasets", "The datasets");
    add_columns(t);
    for (int s = 0; s < v->options->datasets; s++) {
        struct study_run run = facts_run(v->options, v->options->dataset[s]);
        TRY(view_record(&record, v, &run));
        if (!record)
            continue;
        known += paper_set(v->options->dataset[s]) != NULL;
        differ += add_row(t, v->options->dataset[s], record);
        double leak = task_value(record, "leaked_share");
        char title[96];
        if (leak > 0.1)
            report_summary(r, view_printf(&words,
                                          "%.1f %% of %s's test nodes have an exact copy among the "
                                          "training nodes of its stored splits.",
                                          100 * leak,
                                          view_dataset_title(v->options->dataset[s], title)));
    }
    table_remark(
        t,
        "Copies have the same in- and out-neighbours and the same label (Platonov et al. 2023).");
    if (known)
        report_claim(
            r, "Tables 1 and 2 describe the data.", differ == 0,
            differ ? view_printf(
                         &words,
                         "%d of their numbers differ from the public files; the table marks them.",
                         differ)
                   : "All numbers agree.");
done:
    return st;
}

const struct study_def study_datasets = {
    .name = "datasets",
    .title = "Datasets (Tables 1 and 2)",
    .about = "statistics of the datasets, beside the paper's (Tables 1, 2)",
    .plan = datasets_plan,
    .render = datasets_render,
};
