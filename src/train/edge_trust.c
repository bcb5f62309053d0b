/* A session's trust scores and which edges they keep. train/consm/weigh.c has the weights. Not in
 * the paper. */
#include "train/edge_trust.h"

#include "graph/partition.h"
#include "train/consm/consm.h"
#include <math.h>
#include <string.h>

bool session_matches(const struct session *s)
{
    return s->procedure && strcmp(s->procedure->model, "consm") == 0 && s->own;
}

/* The weights for the answers, or those that the store holds. */
static consm_status read_trust(struct trust *out, struct session *s)
{
    const struct consm *own = s->own;
    if (!own->answered)
        return consm_network_trust(out, s);
    *out = own->answers_trust;
    return CONSM_OK;
}

/* ---- what is kept -------------------------------------------------------- */

/* The largest score that `rank` edges reach; 2, above every score, if rank < 1. */
static consm_status score_of_rank(float *out, const struct edge_trust *t, int64_t rank)
{
    consm_status st = CONSM_OK;
    uint8_t *chosen = NULL;
    uint32_t least = UINT32_MAX, bits;
    void *all = NULL;
    int64_t count;
    *out = 2;
    if (rank < 1)
        return CONSM_OK;
    TRY(NEW(chosen, t->edges->count + 1));
    TRY(edges_top(chosen, t->edges, t->score, rank));
    for (int64_t e = 0; e < t->edges->count; e++)
        if (chosen[e]) {
            memcpy(&bits, &t->score[e],
                   sizeof bits); /* bits of non-negative floats have the order of the floats */
            least = bits < least ? bits : least;
        }
    TRY(partition_all(&all, &count, t->edges->partition, &least, 1, sizeof least));
    for (int64_t p = 0; p < count; p++)
        least = ((uint32_t *)all)[p] < least ? ((uint32_t *)all)[p] : least;
    memcpy(out, &least, sizeof least);
done:
    mem_free(all);
    mem_free(chosen);
    return st;
}

consm_status edge_trust_keep(struct edge_trust *t, double zeta)
{
    consm_status st = CONSM_OK;
    float least;
    TRY(score_of_rank(&least, t, (int64_t)floor(zeta * (double)edges_all(t->edges))));
    t->zeta = zeta;
    t->threshold = least < 0.5f ? (double)least : 0.5;
    for (int64_t e = 0; e < t->edges->count; e++)
        t->kept[e] = (double)t->score[e] >= t->threshold;
done:
    return st;
}

static double share_above_half(const float *score, const struct edges *edges)
{
    int64_t above = 0, all = edges_all(edges);
    for (int64_t e = 0; e < edges->count; e++)
        above += score[e] >= 0.5f;
    return all > 0 ? (double)edges_total(edges, above) / (double)all : 0;
}

/* Allocates the scores of a graph's edges. */
static consm_status open_trust(struct edge_trust *out, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    *out = (struct edge_trust){0};
    TRY(edges_new(&out->edges, graph));
    TRY(NEW(out->score, out->edges->count));
    TRY(NEW(out->low, out->edges->count));
    TRY(NEW(out->high, out->edges->count));
    for (int64_t e = 0; e < out->edges->count; e++)
        out->low[e] = out->high[e] = NAN;
    TRY(ZNEW(out->kept, out->edges->count));
done:
    if (st < 0)
        edge_trust_free(out);
    return st;
}

/* Rows of a graph in parts with those of neighbours elsewhere; sparse memory that the caller frees.
 */
static consm_status near_rows(float **out, const struct csr *graph, const float *rows,
                              int64_t width)
{
    consm_status st = CONSM_OK;
    struct row_halo *halo = NULL;
    *out = mem_sparse_alloc((size_t)(graph->rows * width), sizeof **out);
    if (!*out)
        TRY(CONSM_ENOMEM);
    TRY(partition_neighbours(&halo, graph));
    TRY(row_halo_fill(halo, *out, rows, width));
done:
    row_halo_free(halo);
    return st;
}

consm_status session_tell_answers(struct session *s, const float number[TRUST_NUMBERS],
                                  const float *answers)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *p = s->problem;
    if (answers && p->graph->partition)
        TRY(near_rows(&own->near_answers, p->graph, answers, p->classes));
    own->answers = answers;
    trust_read(&own->answers_trust, number);
    own->answered = true;
done:
    return st;
}

consm_status edge_trust_agreement(struct edge_trust *out, const struct csr *graph,
                                  const float *logits, int32_t classes)
{
    consm_status st = CONSM_OK;
    float *near = NULL;
    TRY(open_trust(out, graph));
    if (graph->partition)
        TRY(near_rows(&near, graph, logits, classes));
    witness_agreement(out->score, near ? near : logits, classes, out->edges);
    TRY(edge_trust_keep(out, share_above_half(out->score, out->edges)));
done:
    mem_sparse_free(near);
    if (st < 0)
        edge_trust_free(out);
    return st;
}

consm_status consm_stored_trust(float **out, struct session *s)
{
    consm_status st = CONSM_OK;
    struct trust trust;
    struct witnesses heard;
    const struct consm *own = s->own;
    *out = NULL;
    TRY(consm_network_trust(&trust, s));
    TRY(consm_final_coefficients(s));
    TRY(consm_open_witnesses(s, s->backend->host));
    TRY(consm_call_witnesses(&heard, &trust, s));
    TRY(NEW(*out, own->edges->count + 1));
    trust_score(*out, NULL, NULL, NULL, &trust, &heard);
done:
    return st;
}

consm_status session_trust(struct edge_trust *out, struct session *s)
{
    consm_status st = CONSM_OK;
    const float *logits;
    if (!session_matches(s)) {
        *out = (struct edge_trust){0};
        st = session_logits(&logits, s);
        return st < 0 ? st
                      : edge_trust_agreement(out, s->problem->graph, logits, s->problem->classes);
    }
    TRY(open_trust(out, s->problem->graph));
    struct witnesses heard;
    const struct consm *own = s->own;
    TRY(read_trust(&out->weigh, s));
    TRY(consm_final_coefficients(s));
    TRY(consm_open_witnesses(s, s->backend->host));
    TRY(consm_call_answers(&heard, &out->weigh, s));
    TRY(NEW(out->witness, out->edges->count * WITNESSES + 1));
    trust_score(out->score, out->low, out->high, out->witness, &out->weigh, &heard);
    TRY(edge_trust_keep(out, own->zeta));
done:
    if (st < 0)
        edge_trust_free(out);
    return st;
}

consm_status consm_score_pairs(struct edge_trust *t, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    int64_t count = t->edges->count;
    float *w = NULL, *stored = NULL;
    struct witnesses heard = {.team = s->backend->host};
    TRY(NEW(w, count + 1));
    TRY(NEW(stored, count * DATA_WITNESSES + 1));
    TRY(NEW(heard.room, witness_room(s->problem->classes, heard.team)));
    TRY(NEW(t->witness, count * WITNESSES + 1));
    TRY(read_trust(&t->weigh, s));
    TRY(consm_final_coefficients(s)); /* pools all subgraphs */
    TRY(matcher_match(own->matcher, w, t->edges->left, t->edges->right, count));
    TRY(consm_open_taught(s));
    heard.data = consm_witness_data(s);
    heard.data.edges = t->edges;
    heard.stored = stored;
    heard.model.w = w;
    heard.model.logits = own->answers;
    if (!own->answers)
        TRY(session_logits(&heard.model.logits, s));
    TRY(matcher_head(&heard.model.head, own->matcher));
    memcpy(heard.model.temperature, t->weigh.temperature, sizeof t->weigh.temperature);
    TRY(witness_data_only(stored, &heard.data, heard.team));
    trust_score(t->score, t->low, t->high, t->witness, &t->weigh, &heard);
done:
    mem_free(w);
    mem_free(stored);
    mem_free(heard.room);
    return st;
}

void edge_trust_free(struct edge_trust *t)
{
    edges_free(t->edges);
    mem_free(t->score);
    mem_free(t->low);
    mem_free(t->high);
    mem_free(t->kept);
    mem_free(t->witness);
    *t = (struct edge_trust){0};
}
