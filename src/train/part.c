/* Logits of a part of the graph: the model's equations recorded anew over the part's matrices and
 * features, with the parameters of a session that is open. Every row of an operation is computed
 * from its sources in an order that does not depend on the other rows, so that the bits are those
 * of the whole graph wherever the part holds all that a row reads. */
#include "train/session.h"

#include <string.h>

consm_status session_reach(int64_t *out, bool *rows_do, struct session *s)
{
    const struct csr *two_hop = views_built(s->problem->views, VIEW_TWO_HOP);
    consm_status st = program_reach(out, s->learner.eval, s->logits, two_hop);
    /* Without parts_only the session chose the edges it goes by. */
    *rows_do = *out >= 0 && s->options.parts_only && !program_walks(s->learner.eval, two_hop);
    program_free(s->learner.eval);
    s->learner.eval = NULL;
    return st;
}

consm_status session_part_logits(float *out, struct session *s, const struct problem *part,
                                 struct backend *backend)
{
    consm_status st = CONSM_OK;
    /* Who records needs of a session only what says how. */
    struct session light = {.problem = part,
                            .options = s->options,
                            .backend = backend,
                            .learner = {.backend = backend, .params = s->learner.params}};
    struct program *p = NULL;
    const float *value;
    node logits;
    TRY(session_prepare_features(&light));
    TRY(session_record(&light, &p, &logits, false));
    program_keep(p, logits);
    TRY(program_compile(p, backend));
    TRY(learner_read(&value, &light.learner, p, logits));
    memcpy(out, value, (size_t)(part->nodes * part->classes) * sizeof *out);
done:
    program_free(p);
    session_free_features(&light);
    return st;
}
