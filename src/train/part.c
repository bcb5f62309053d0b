/* Logits of a part of the graph: records the model's equations over the part's matrices and
 * features, with an open session's parameters. An operation computes every row in an order that
 * does not depend on the other rows. So the bits equal those of the whole graph, if the part holds
 * all that a row reads. */
#include "train/session.h"

#include <string.h>

consm_status session_reach(int64_t *out, bool *rows_do, struct session *s)
{
    const struct csr *two_hop = views_built(s->problem->views, VIEW_TWO_HOP);
    consm_status st = program_reach(out, s->learner.eval, s->logits, two_hop);
    bool weighs = s->options.config.messages != MESSAGES_NONE;
    *rows_do = *out >= 0 && !weighs && !program_walks(s->learner.eval, two_hop);
    program_free(s->learner.eval);
    s->learner.eval = NULL;
    return st;
}

consm_status session_part_logits(float *out, struct session *s, const struct problem *part,
                                 struct backend *backend)
{
    consm_status st = CONSM_OK;
    /* Recording needs only these members of a session. */
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
