/* Checks that ranks that train together have the same data and options; names the difference before
 * the first step. */
#include "train/session.h"

#include <stdio.h>

static consm_status agree_matrix(const char *what, const struct csr *s, const struct ranks *ranks)
{
    consm_status st = CONSM_OK;
    size_t rows = (size_t)s->rows + 1, entries = (size_t)s->nnz;
    TRY(ranks->agree(what, s->start, rows * sizeof *s->start, false));
    if (s->partition) /* one file; its seal is compared in app/prepare_parts.c */
        return CONSM_OK;
    TRY(ranks->agree(what, s->col, entries * sizeof *s->col, false));
    if (s->val)
        TRY(ranks->agree(what, s->val, entries * sizeof *s->val, false));
done:
    return st;
}

static consm_status agree_data(const struct problem *p, const struct ranks *ranks)
{
    consm_status st = CONSM_OK;
    const int64_t shape[] = {p->nodes,      p->features,        p->classes,
                             p->graph->nnz, p->graph->val != 0, p->sparse ? p->sparse->nnz : -1};
    size_t n = (size_t)p->nodes, f = (size_t)p->features;
    TRY(ranks->agree("graph size", shape, sizeof shape, false));
    TRY(agree_matrix("edges", p->graph, ranks));
    if (p->sparse)
        TRY(agree_matrix("features", p->sparse, ranks));
    else if (!p->graph->partition)
        TRY(ranks->agree("features", p->dense, n * f * sizeof *p->dense, false));
    if (p->label) /* predictions have none */
        TRY(ranks->agree("labels", p->label, n * sizeof *p->label, false));
    if (p->role)
        TRY(ranks->agree("split", p->role, n * sizeof *p->role, false));
done:
    return st;
}

consm_status session_agree(const struct problem *problem, const struct train_options *options,
                           const struct ranks *ranks)
{
    consm_status st = CONSM_OK;
    char buffer[32], seed[32];
    if (ranks->size == 1)
        return CONSM_OK;
    TRY(ranks_agree_text(ranks, "the model", options->model->name));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    TRY(ranks_agree_text(ranks, "the seed", seed));
    for (const struct config_row *row = config_rows(); row->name; row++)
        TRY(ranks_agree_text(ranks, row->name, config_text(&options->config, row, buffer)));
    TRY(agree_data(problem, ranks));
done:
    return st;
}

consm_status session_agree_start(struct session *s)
{
    consm_status st = CONSM_OK;
    char steps[32];
    const float *value;
    if (s->ranks->size == 1)
        return CONSM_OK;
    snprintf(steps, sizeof steps, "%lld", (long long)s->learner.steps);
    TRY(ranks_agree_text(s->ranks, "a checkpoint of epoch", steps));
    TRY(params_read(&value, s->learner.params, PLACE_VALUE));
    TRY(s->ranks->agree("parameters", value, (size_t)s->learner.params->size * sizeof *value,
                        false));
done:
    return st;
}
