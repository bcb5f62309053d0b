/* Validation after an epoch. Where few nodes validate, a program of its own computes their logits
 * alone: their neighbourhoods instead of the whole graph. Without such nodes nothing is computed.
 */
#include "train/session.h"

#include "graph/views.h"

enum {
    FEW = 4,             /* at most a quarter of the nodes */
    FAR_NODES = 1 << 16, /* on a card a smaller program is made for longer than it saves */
};

/* A smaller program copies the rows of its matrices. Those for the neighbours of the validation
 * nodes may be most of a large graph. */
static bool copies_little(const struct session *s)
{
    const struct csr *graph = s->problem->graph;
    int64_t near = s->judge.rows;
    if (graph->nnz <= VIEW_LARGE || learner_far(&s->learner))
        return true;
    for (int64_t k = 0; k < s->judge.rows; k++)
        near += graph->start[s->judge.node[k] + 1] - graph->start[s->judge.node[k]];
    return near <= graph->rows / FEW;
}

/* Whether it may save something. */
static bool worth_it(const struct session *s)
{
    const struct problem *problem = s->problem;
    return s->options.model->build && !problem->graph->partition &&
           s->judge.rows <= problem->nodes / FEW && course_possible(s->learner.eval) &&
           (!learner_far(&s->learner) || problem->nodes >= FAR_NODES) && copies_little(s);
}

consm_status validator_open(struct session *s)
{
    consm_status st = CONSM_OK;
    struct validator *v = &s->validator;
    node logits;
    if (v->opened || !worth_it(s)) {
        v->opened = true;
        return CONSM_OK;
    }
    TRY(index_new(&v->rows, s->judge.rows, s->problem->nodes));
    TRY(index_set(v->rows, s->judge.node));
    v->rows->fixed = true;
    TRY(session_record(s, &v->program, &logits, false));
    v->logits = gather(v->program, logits, v->rows);
    program_keep(v->program, v->logits);
    TRY(program_compile(v->program, s->backend));
    if (program_elements(v->program) > program_elements(s->learner.eval) / 4 * 3)
        validator_close(s);
    v->opened = true;
done:
    if (st < 0)
        validator_close(s);
    return st;
}

void validator_close(struct session *s)
{
    program_free(s->validator.program);
    index_free(s->validator.rows);
    s->validator = (struct validator){0};
}

consm_status session_validate(double *found, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct validator *v = &s->validator;
    const float *logits;
    if (s->judge.rows == 0) {
        *found = 0;
        return learner_judge(&s->learner, 0, 0, s->validation == 0);
    }
    TRY(validator_open(s));
    TRY(v->program ? learner_read(&logits, &s->learner, v->program, v->logits)
                   : session_logits(&logits, s));
    *found = judge_score(&s->judge, logits, v->program != NULL);
    const double tie = s->options.config.ties == TIES_LOSS
                           ? judge_surprise(&s->judge, logits, v->program != NULL)
                           : 0;
    TRY(learner_judge(&s->learner, *found, tie, s->validation == 0));
done:
    return st;
}
