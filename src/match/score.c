/* The coefficients of all edges: pools the subgraphs of all nodes, then M reads them in pairs. */
#include "match/matcher_inside.h"

#include <string.h>

consm_status matcher_pool(struct matcher *m, const int32_t *only, int64_t count)
{
    consm_status st = CONSM_OK;
    const float *h;
    TRY(matcher_references(&h, m));
    m->projected = false;
    TRY(m->way->pool(m, only, count, h));
done:
    return st;
}

consm_status matcher_match(struct matcher *m, float *w, const int32_t *left, const int32_t *right,
                           int64_t count)
{
    consm_status st = CONSM_OK;
    const float *scores;
    if (!m->projected) {
        m->projected = true;
        TRY(m->way->project(m));
    }
    if (m->way->ends)
        TRY(m->way->ends(m, left, right, count));
    for (int64_t first = 0; first < count; first += m->score_batch) {
        int64_t size = count - first < m->score_batch ? count - first : m->score_batch;
        /* A partial last batch keeps old entries after it; their scores are not read. */
        memcpy(m->batch_left, left + first, (size_t)size * sizeof *left);
        memcpy(m->batch_right, right + first, (size_t)size * sizeof *right);
        TRY(index_set_rows(m->score_left, m->batch_left));
        TRY(index_set_rows(m->score_right, m->batch_right));
        TRY(learner_read(&scores, m->scorer, m->score, m->scores));
        memcpy(w + first, scores, (size_t)size * sizeof *w);
    }
done:
    return st;
}

consm_status matcher_score(struct matcher *m, float *w)
{
    consm_status st = CONSM_OK;
    const struct edges *edges = m->data.edges;
    TRY(matcher_pool(m, NULL, 0));
    TRY(matcher_match(m, w, edges->left, edges->right, edges->count));
done:
    return st;
}
