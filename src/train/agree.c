/* Checks that ranks that train together have the same data and options; names the difference before
 * the first step. Candidates are many sessions on small graphs, so a session asks once. */
#include "train/session.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 32, MOST_OTHERS = 16 }; /* things besides the configuration */

struct things {
    struct alike *thing;
    char (*text)[TEXT]; /* of numbers */
    int count, texts;
};

static void note(struct things *t, const char *what, const void *data, size_t bytes)
{
    t->thing[t->count++] = (struct alike){what, data, bytes, false};
}

static void note_text(struct things *t, const char *what, const char *text)
{
    t->thing[t->count++] = (struct alike){what, text, strlen(text), true};
}

static void note_matrix(struct things *t, const char *what, const struct csr *s)
{
    size_t rows = (size_t)s->rows + 1, entries = (size_t)s->nnz;
    note(t, what, s->start, rows * sizeof *s->start);
    if (s->partition) /* one file; its seal is compared in app/prepare_parts.c */
        return;
    note(t, what, s->col, entries * sizeof *s->col);
    if (s->val)
        note(t, what, s->val, entries * sizeof *s->val);
}

static void note_data(struct things *t, const struct problem *p)
{
    size_t n = (size_t)p->nodes, f = (size_t)p->features;
    note_matrix(t, "edges", p->graph);
    if (p->sparse)
        note_matrix(t, "features", p->sparse);
    else if (!p->graph->partition)
        note(t, "features", p->dense, n * f * sizeof *p->dense);
    if (p->label) /* predictions have none */
        note(t, "labels", p->label, n * sizeof *p->label);
    if (p->role)
        note(t, "split", p->role, n * sizeof *p->role);
}

static void note_options(struct things *t, const struct train_options *options)
{
    char *seed = t->text[t->texts++];
    note_text(t, "the model", options->model->name);
    snprintf(seed, TEXT, "%llu", (unsigned long long)options->seed);
    note_text(t, "the seed", seed);
    for (const struct config_row *row = config_rows(); row->name; row++)
        note_text(t, row->name, config_text(&options->config, row, t->text[t->texts++]));
}

consm_status session_agree(const struct problem *p, const struct train_options *options,
                           const struct ranks *ranks)
{
    consm_status st = CONSM_OK;
    const int64_t shape[] = {p->nodes,      p->features,        p->classes,
                             p->graph->nnz, p->graph->val != 0, p->sparse ? p->sparse->nnz : -1};
    struct things t = {0};
    int rows = 0;
    if (ranks->size == 1)
        return CONSM_OK;
    while (config_rows()[rows].name)
        rows++;
    TRY(NEW(t.thing, rows + MOST_OTHERS));
    TRY(NEW(t.text, rows + 1));
    note_options(&t, options);
    note(&t, "graph size", shape, sizeof shape);
    note_data(&t, p);
    TRY(ranks->agree(t.thing, t.count));
done:
    mem_free(t.thing);
    mem_free(t.text);
    return st;
}

consm_status session_agree_start(struct session *s)
{
    consm_status st = CONSM_OK;
    char steps[TEXT];
    const float *value;
    if (s->ranks->size == 1)
        return CONSM_OK;
    snprintf(steps, sizeof steps, "%lld", (long long)s->learner.steps);
    TRY(params_read(&value, s->learner.params, PLACE_VALUE));
    const struct alike start[] = {
        {"a checkpoint of epoch", steps, strlen(steps), true},
        {"parameters", value, (size_t)s->learner.params->size * sizeof *value, false}};
    TRY(s->ranks->agree(start, 2));
done:
    return st;
}
