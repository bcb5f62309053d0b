/* Checks that ranks that train together have the same data and options; names the difference before
 * the first step. */
#include "train/session.h"

#include "backends/ranks.h"
#include <stdio.h>

static consm_status agree_matrix(const char *what, const struct csr *s)
{
    consm_status st = CONSM_OK;
    size_t rows = (size_t)s->rows + 1, entries = (size_t)s->nnz;
    TRY(ranks_agree(what, s->start, rows * sizeof *s->start));
    TRY(ranks_agree(what, s->col, entries * sizeof *s->col));
    if (s->val)
        TRY(ranks_agree(what, s->val, entries * sizeof *s->val));
done:
    return st;
}

static consm_status agree_data(const struct problem *p)
{
    consm_status st = CONSM_OK;
    const int64_t shape[] = {p->nodes,      p->features,        p->classes,
                             p->graph->nnz, p->graph->val != 0, p->sparse ? p->sparse->nnz : -1};
    size_t n = (size_t)p->nodes, f = (size_t)p->features;
    TRY(ranks_agree("graph size", shape, sizeof shape));
    if (p->graph->partition) /* one file; its seal is compared in app/prepare.c */
        TRY(ranks_agree("edges", p->graph->start, (n + 1) * sizeof *p->graph->start));
    else
        TRY(agree_matrix("edges", p->graph));
    if (p->sparse && p->graph->partition)
        TRY(ranks_agree("features", p->sparse->start, (n + 1) * sizeof *p->sparse->start));
    else if (p->sparse)
        TRY(agree_matrix("features", p->sparse));
    else if (!p->graph->partition)
        TRY(ranks_agree("features", p->dense, n * f * sizeof *p->dense));
    if (p->label) /* predictions have none */
        TRY(ranks_agree("labels", p->label, n * sizeof *p->label));
    if (p->role)
        TRY(ranks_agree("split", p->role, n * sizeof *p->role));
done:
    return st;
}

consm_status session_agree(const struct problem *problem, const struct train_options *options)
{
    consm_status st = CONSM_OK;
    char buffer[32], seed[32];
    if (ranks_size() == 1)
        return CONSM_OK;
    TRY(ranks_agree_text("the model", options->model->name));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    TRY(ranks_agree_text("the seed", seed));
    for (const struct config_row *row = config_rows(); row->name; row++)
        TRY(ranks_agree_text(row->name, config_text(&options->config, row, buffer)));
    TRY(agree_data(problem));
done:
    return st;
}

consm_status session_agree_start(struct session *s)
{
    consm_status st = CONSM_OK;
    char steps[32];
    const float *value;
    if (ranks_size() == 1)
        return CONSM_OK;
    snprintf(steps, sizeof steps, "%lld", (long long)s->learner.steps);
    TRY(ranks_agree_text("a checkpoint of epoch", steps));
    TRY(params_read(&value, s->learner.params, PLACE_VALUE));
    TRY(ranks_agree("parameters", value, (size_t)s->learner.params->size * sizeof *value));
done:
    return st;
}
