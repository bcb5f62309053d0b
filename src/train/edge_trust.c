/* Gathering the witnesses of a session and weighing them. */
#include "train/edge_trust.h"

#include "graph/partition.h"
#include "match/prune.h"
#include "train/consm/consm.h"
#include <math.h>
#include <string.h>

bool session_matches(const struct session *s)
{
    return s->procedure && strcmp(s->procedure->model, "consm") == 0 && s->own;
}

consm_status consm_final_coefficients(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (!own->matcher)
        TRY(consm_open_matcher(s));
    if (!own->w)
        TRY(NEW(own->w, own->edges->count));
    TRY(matcher_prune(own->matcher, consm_kept_share(s, consm_prune_by(s), 0), NULL));
    TRY(matcher_score(own->matcher, own->w));
done:
    return st;
}

static int64_t stored_at(const struct session *s)
{
    return s->learner.params->item[params_find(s->learner.params, CONSM_TRUST)].offset;
}

static struct witness_data witness_data_of(const struct session *s)
{
    const struct problem *problem = s->problem;
    const struct consm *own = s->own;
    return (struct witness_data){
        .edges = own->edges,
        .graph = problem->graph,
        .sparse = problem->sparse,
        .dense = consm_dense(s),
        .features = problem->features,
        .classes = problem->classes,
    };
}

consm_status consm_open_witnesses(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct witness_data data = witness_data_of(s);
    if (!own->witness) {
        TRY(NEW(own->witness, own->edges->count * WITNESSES));
        TRY(own->neighbours ? consm_near_witnesses(own->witness, &data, s)
                            : witness_data_only(own->witness, &data, s->backend->host));
    }
    if (!own->sample && !s->options.eval_only)
        TRY(trust_sample_new(&own->sample, own->edges, s->problem->label, s->problem->role));
done:
    return st;
}

/* What the model says now; own->w holds the matching coefficients. */
static consm_status call_witnesses(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct witness_data data = witness_data_of(s);
    const float *logits, *head;
    TRY(own->neighbours ? consm_near_logits(&logits, s) : session_logits(&logits, s));
    TRY(matcher_head(&head, own->matcher));
    witness_model(own->witness, &data, logits, head, own->w, s->backend->host);
done:
    return st;
}

consm_status consm_weigh_witnesses(struct trust *trust, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const float *heard;
    TRY(call_witnesses(s));
    TRY(trust_sample_rows(&heard, own->sample, own->witness));
    trust_fit(trust, own->sample, heard, own->place.quality.at_chance);
done:
    return st;
}

consm_status session_keep_trust(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct trust trust;
    float *kept;
    TRY(consm_final_coefficients(s));
    TRY(consm_open_witnesses(s));
    TRY(consm_weigh_witnesses(&trust, s));
    TRY(matcher_save(own->matcher, s->learner.params, CONSM_MATCH_PREFIX));
    TRY(params_write(&kept, s->learner.params, PLACE_VALUE));
    kept += stored_at(s);
    kept[0] = (float)trust.bias;
    for (int k = 0; k < WITNESSES; k++)
        kept[1 + k] = (float)trust.by[k];
    own->heard = true;
done:
    return st;
}

consm_status edge_trust_keep(struct edge_trust *t, double zeta)
{
    consm_status st = CONSM_OK;
    int32_t *order = NULL;
    int64_t count = t->edges->count, kept = (int64_t)floor(zeta * (double)edges_all(t->edges));
    t->zeta = zeta;
    if (t->edges->partition)
        return edges_top(t->kept, t->edges, t->score, kept);
    memset(t->kept, 0, (size_t)count);
    TRY(NEW(order, count));
    prune_first(order, t->score, count, kept);
    for (int64_t i = 0; i < kept && i < count; i++)
        t->kept[order[i]] = 1;
done:
    mem_free(order);
    return st;
}

static double share_above_half(const float *score, const struct edges *edges)
{
    int64_t above = 0, all = edges_all(edges);
    for (int64_t e = 0; e < edges->count; e++)
        above += score[e] >= 0.5f;
    if (edges->partition) /* where every edge is twice */
        above = (int64_t)edges->partition->total((uint64_t)above) / 2;
    return all > 0 ? (double)above / (double)all : 0;
}

/* Room for the scores of a graph's edges. */
static consm_status open_trust(struct edge_trust *out, const struct csr *graph)
{
    consm_status st = CONSM_OK;
    *out = (struct edge_trust){0};
    TRY(edges_new(&out->edges, graph));
    TRY(NEW(out->score, out->edges->count));
    TRY(ZNEW(out->kept, out->edges->count));
done:
    if (st < 0)
        edge_trust_free(out);
    return st;
}

/* Rows of a graph in parts with those of neighbours elsewhere; sparse memory, the caller's. */
static consm_status near_rows(float **out, const struct csr *graph, const float *rows,
                              int64_t width)
{
    consm_status st = CONSM_OK;
    const struct partition *partition = graph->partition;
    struct row_halo *halo = NULL;
    int64_t from = partition->low * width;
    *out = mem_sparse_alloc((size_t)(graph->rows * width), sizeof **out);
    if (!*out)
        TRY(CONSM_ENOMEM);
    memcpy(*out + from, rows + from, (size_t)(partition->high * width - from) * sizeof *rows);
    TRY(partition_neighbours(&halo, graph));
    TRY(row_halo_fetch(halo, *out, (size_t)width * sizeof **out));
done:
    row_halo_free(halo);
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
    const float *kept;
    const struct consm *own = s->own;
    if (!own->heard) {
        TRY(consm_final_coefficients(s));
        TRY(consm_open_witnesses(s));
        TRY(call_witnesses(s));
    }
    TRY(params_read(&kept, s->learner.params, PLACE_VALUE));
    kept += stored_at(s);
    out->weigh.bias = kept[0];
    for (int k = 0; k < WITNESSES; k++)
        out->weigh.by[k] = kept[1 + k];
    trust_apply(out->score, &out->weigh, own->witness, out->edges->count);
    TRY(edge_trust_keep(out, own->zeta));
done:
    if (st < 0)
        edge_trust_free(out);
    return st;
}

void edge_trust_free(struct edge_trust *t)
{
    edges_free(t->edges);
    mem_free(t->score);
    mem_free(t->kept);
    *t = (struct edge_trust){0};
}
