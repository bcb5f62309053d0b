/* The coefficients of all edges: pools the subgraphs of all nodes, then M reads them in pairs.
 * Pooling is by far the longest part of scoring, so it is skipped if it would give the same. */
#include "match/matcher_inside.h"

#include <string.h>

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const char *at = data;
    uint64_t word;
    for (; bytes > 0; at += sizeof word) {
        size_t size = bytes < sizeof word ? bytes : sizeof word;
        word = 0;
        memcpy(&word, at, size);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
        bytes -= size;
    }
    return hash;
}

/* A hash of all that pooled sets depend on and that changes: the parameters, references among them,
 * and the kept edges. 0: not known, because other processes hold some of it. */
static consm_status contents(uint64_t *out, struct matcher *m)
{
    consm_status st = CONSM_OK;
    struct params *params = m->learner.params;
    const float *value;
    *out = 0;
    if (m->data.graph->partition)
        return CONSM_OK;
    TRY(params_read(&value, params, PLACE_VALUE));
    *out = mix(1, value, (size_t)params->size * sizeof *value);
    *out = mix(*out, m->keep, (size_t)m->data.graph->nnz) | 1;
done:
    return st;
}

consm_status matcher_pool(struct matcher *m, const int32_t *only, int64_t count)
{
    consm_status st = CONSM_OK;
    uint64_t now;
    const float *h;
    TRY(matcher_references(&h, m));
    TRY(contents(&now, m));
    if (!only && now != 0 && now == m->pooled_from)
        return CONSM_OK;
    m->projected = false;
    m->pooled_from = 0;
    TRY(m->way->pool(m, only, count, h));
    m->pooled_from = only ? 0 : now;
    m->poolings++;
done:
    return st;
}

consm_status matcher_match(struct matcher *m, float *w, const int32_t *left, const int32_t *right,
                           int64_t count)
{
    consm_status st = CONSM_OK;
    const float *scores;
    if (!m->projected) {
        TRY(m->way->project(m));
        m->projected = true;
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
