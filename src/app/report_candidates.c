/* The report's table of ConSM's candidate backbones: how long each trained and how well it
 * validated. */
#include "app/report_parts.h"
#include "base/counted.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>

static void add_score(struct table *t, double score)
{
    if (score < 0)
        table_text(t, "–");
    else
        table_number(t, score, 4);
}

static void say_who_won(struct report *r, const struct consm_model *m)
{
    char text[400], lead[40] = "equals";
    int networks = m->result.candidates - (m->result.trees.rounds > 0);
    const struct train_candidate *first = m->result.candidate, *second;
    bool folds;
    double margin = train_margin(&second, &folds, &m->result);
    if (!second)
        return;
    if (fabs(margin) >= 0.00005) /* visible in four digits */
        number_print(lead, sizeof lead, "is %.4f %s", fabs(margin), margin < 0 ? "below" : "above");
    number_print(
        text, sizeof text,
        "From %s for the backbone, %s (number %lld) was chosen by %s: its %s %s that of %s "
        "(number %lld).",
        COUNTED(networks, "candidate"), first->model, (long long)first->number,
        folds ? "cross-validation over all labels" : "validation", report_metric(m), lead,
        second->model, (long long)second->number);
    report_summary(r, text);
    if (margin < 0)
        report_summary(r, "The difference is within one standard error, and the chosen one has the "
                          "lower validation loss.");
}

static void say_of_trees(struct report *r, const struct consm_model *m)
{
    char text[300];
    const struct train_trees *t = &m->result.trees;
    if (t->rounds == 0)
        return;
    number_print(text, sizeof text,
                 t->taken ? "Boosted trees predict the classes: their validation %s of %.4f is "
                            "higher than ConSM's (%.4f). ConSM scores the edges."
                          : "Boosted trees do not predict in ConSM's place: their validation %s of "
                            "%.4f is not higher than ConSM's (%.4f).",
                 report_metric(m), t->val, t->network_val);
    report_summary(r, text);
}

static void say_of_companions(struct report *r, const struct consm_model *m)
{
    char text[400], clean[60] = "";
    const struct train_companions *with = &m->result.companions;
    const char *leader = m->result.trees.taken ? "the trees" : "ConSM";
    int without = 0;
    if (with->count == 0)
        return;
    for (int i = 0; i < with->count; i++)
        without += with->of[i].clean;
    if (without > 0)
        snprintf(clean, sizeof clean, " (%d of them without distrusted edges)", without);
    number_print(text, sizeof text,
                 "The predictions are the mean of %s, with %lld of %lld votes, and of %s%s. Its "
                 "validation %s is %.4f, that of %s alone %.4f. ConSM scores the edges.",
                 leader, (long long)with->own, (long long)with->votes,
                 COUNTED(with->count, "other network"), clean, report_metric(m),
                 m->result.val_score, leader, with->alone);
    report_summary(r, text);
}

/* A candidate's votes, with and without distrusted edges; 0: none. Trees that lead come last in the
 * list. */
static int64_t votes_of(const struct train_result *of, int64_t number)
{
    const struct train_companions *with = &of->companions;
    int64_t votes = 0;
    if (of->trees.taken && number == of->candidate[of->candidates - 1].number)
        return with->own;
    for (int i = 0; i < with->count; i++)
        if (with->of[i].number == number)
            votes += with->of[i].votes;
    return votes;
}

void report_add_candidates(struct report *r, const struct consm_model *m)
{
    const struct train_result *of = &m->result;
    if (of->candidates == 0)
        return;
    say_who_won(r, m);
    say_of_trees(r, m);
    say_of_companions(r, m);
    struct table *t = report_new_table(
        r, "candidate-list",
        of->trees.rounds ? "Candidates for the backbone, chosen one first; boosted trees"
                         : "Candidates for the backbone, chosen one first");
    table_column(t, "Number", TABLE_RIGHT, NULL);
    table_column(t, "Backbone", TABLE_LEFT, NULL);
    table_column(t, "Settings", TABLE_PROSE, "differences from the model's defaults");
    table_column(t, "Updates", TABLE_RIGHT, "until it was stopped or finished");
    table_column(t, "Validation", TABLE_RIGHT, "best score; –: the loss diverged");
    if (of->folds.labels)
        table_column(t, "Cross-validation", TABLE_RIGHT, "over all labels; –: not compared");
    if (of->companions.count)
        table_column(t, "Votes", TABLE_RIGHT, "in predictions together with ConSM");
    for (int i = 0; i < of->candidates; i++) {
        const struct train_candidate *c = &of->candidate[i];
        table_row(t);
        table_number(t, (double)c->number, 0);
        table_text(t, c->model);
        table_text(t, c->settings);
        table_number(t, (double)c->updates, 0);
        add_score(t, c->val);
        if (of->folds.labels)
            add_score(t, c->fold);
        if (of->companions.count)
            table_number(t, (double)votes_of(of, c->number), 0);
    }
}
