/* Computes a session's trust scores from its witnesses. Not in the paper. */
#include "train/edge_trust.h"

#include "graph/partition.h"
#include "train/consm/consm.h"
#include "train/metrics.h"
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
        .taught = own->taught,
    };
}

static bool judges(const struct problem *p, int64_t i)
{
    return p->role[i] == SPLIT_VAL && p->label[i] >= 0;
}

/* Allocates for calibration, which every round repeats without allocating. */
static consm_status reserve_calibration(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *p = s->problem;
    const struct partition *partition = p->graph->partition;
    int64_t low = partition_low(partition), high = partition_high(partition, p->nodes);
    int64_t count = 0;
    for (int64_t i = low; i < high; i++)
        count += judges(p, i);
    TRY(NEW(own->judged_logits, count * p->classes + 1));
    TRY(NEW(own->judged_label, count + 1));
    TRY(ZNEW(own->judged_role, s->judge.rows + count + 1)); /* of all ranks */
    TRY(NEW(own->judged_term, s->judge.rows + count + 1));
done:
    return st;
}

/* Allocates for the pairs that trust learns from besides known edges. */
static consm_status open_pairs(struct session *s, const struct witness_data *edges,
                               struct team *team)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *p = s->problem;
    struct witness_data data = *edges;
    if (s->options.config.trust_pairs == TRUST_PAIRS_NO || p->graph->partition)
        return CONSM_OK;
    TRY(trust_pairs_new(&own->pairs, p->graph, p->label, p->role, s->options.seed));
    TRY(NEW(own->pair_w, own->pairs->count + 1));
    TRY(NEW(own->pair_witness, own->pairs->count * DATA_WITNESSES + 1));
    TRY(NEW(own->pair_x, own->pairs->count * WITNESSES + 1));
    data.edges = own->pairs;
    TRY(witness_data_only(own->pair_witness, &data, team));
done:
    return st;
}

consm_status consm_open_witnesses(struct session *s, struct team *team)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    TRY(consm_open_taught(s));
    struct witness_data data = witness_data_of(s);
    if (!own->witness) {
        TRY(NEW(own->witness, own->edges->count * DATA_WITNESSES));
        TRY(own->neighbours ? consm_near_witnesses(own->witness, &data, s)
                            : witness_data_only(own->witness, &data, team));
    }
    if (!own->chance)
        TRY(NEW(own->chance, witness_room(data.classes, s->backend->host)));
    if (!own->judged_label && !s->options.eval_only)
        TRY(reserve_calibration(s));
    if (!own->sample && !s->options.eval_only) {
        TRY(open_pairs(s, &data, team));
        TRY(trust_sample_new(&own->sample, own->edges, own->pairs, s->problem->label,
                             s->problem->role, s->problem->nodes));
    }
done:
    return st;
}

void consm_close_witnesses(struct consm *own)
{
    trust_sample_free(own->sample);
    edges_free(own->pairs);
    mem_free(own->witness);
    mem_free(own->taught);
    mem_free(own->pair_w);
    mem_free(own->pair_witness);
    mem_free(own->pair_x);
    mem_free(own->judged_logits);
    mem_free(own->judged_label);
    mem_free(own->judged_role);
    mem_free(own->judged_term);
    mem_free(own->chance);
    own->sample = NULL;
    own->pairs = NULL;
    own->witness = own->pair_w = own->pair_witness = own->pair_x = own->judged_logits = NULL;
    own->taught = own->judged_label = NULL;
    own->judged_role = NULL;
    own->judged_term = own->chance = NULL;
}

/* The temperature that calibrates the logits (n, c) on validation nodes. */
static consm_status calibrate(double *temperature, const float *logits, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct problem *p = s->problem;
    const struct partition *partition = p->graph->partition;
    int64_t low = partition_low(partition), high = partition_high(partition, p->nodes),
            c = p->classes;
    int64_t count = 0, all;
    size_t row = (size_t)c * sizeof *logits;
    void *all_mine = NULL, *all_label = NULL;
    for (int64_t i = low; i < high; i++)
        if (judges(p, i)) {
            memcpy(own->judged_logits + count * c, logits + i * c, row);
            own->judged_label[count++] = p->label[i];
        }
    all = count;
    if (partition) { /* a single process allocates nothing between epochs */
        TRY(partition_all(&all_mine, &all, partition, own->judged_logits, count, row));
        TRY(partition_all(&all_label, &all, partition, own->judged_label, count,
                          sizeof *own->judged_label));
    }
    *temperature = metrics_temperature_by(
        &(struct predicted){
            .probability = partition ? all_mine : own->judged_logits,
            .label = partition ? all_label : own->judged_label,
            .role = own->judged_role,
            .nodes = all,
            .classes = p->classes,
        },
        s->backend->host, own->judged_term);
done:
    mem_free(all_mine);
    mem_free(all_label);
    return st;
}

consm_status consm_call_witnesses(struct witnesses *out, const struct trust *trust,
                                  struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct witness_model *model = &out->model;
    *out = (struct witnesses){.data = witness_data_of(s),
                              .stored = own->witness,
                              .model = {.w = own->w},
                              .room = own->chance,
                              .team = s->backend->host};
    memcpy(model->temperature, trust->temperature, sizeof model->temperature);
    if (own->answers)
        model->logits = own->near_answers ? own->near_answers : own->answers;
    else
        TRY(own->neighbours ? consm_near_logits(&model->logits, s)
                            : session_logits(&model->logits, s));
    TRY(matcher_head(&model->head, own->matcher));
done:
    return st;
}

/* The witnesses of the labelled pairs, from the model of the edges' ones. */
static consm_status ask_pairs(const struct witnesses *edges, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct witnesses pairs = *edges;
    if (!own->pairs)
        return CONSM_OK;
    TRY(matcher_match(own->matcher, own->pair_w, own->pairs->left, own->pairs->right,
                      own->pairs->count));
    pairs.data.edges = own->pairs;
    pairs.stored = own->pair_witness;
    pairs.model.w = own->pair_w;
    witness_ask(own->pair_x, &pairs, NULL, own->pairs->count);
done:
    return st;
}

/* Fits temperatures and weights. */
static consm_status weigh(struct trust *trust, struct witnesses *out, enum trust_whose whose,
                          struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    *trust = (struct trust){0};
    TRY(consm_call_witnesses(out, trust, s));
    TRY(calibrate(&trust->temperature[0], out->model.logits, s));
    TRY(calibrate(&trust->temperature[1], out->model.head, s));
    memcpy(out->model.temperature, trust->temperature, sizeof trust->temperature);
    TRY(ask_pairs(out, s));
    trust_sample_ask(own->sample, out);
    TRY(trust_sample_hear(own->sample, own->pair_x));
    trust_fit(trust, own->sample, whose, own->place.quality.at_chance, s->backend->host);
done:
    return st;
}

consm_status consm_weigh_witnesses(struct trust *trust, struct witnesses *out, struct session *s)
{
    if (!s->options.trust)
        return weigh(trust, out, TRUST_OF_NETWORK, s);
    /* A repeated run has no labels left to learn weights from. */
    trust_read(trust, s->options.trust);
    return consm_call_witnesses(out, trust, s);
}

consm_status session_keep_trust(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct trust trust;
    struct witnesses heard;
    float *kept;
    TRY(consm_final_coefficients(s));
    TRY(consm_open_witnesses(s, s->backend->host));
    if (own->clean.on)
        trust = own->clean.trust;
    else
        TRY(consm_weigh_witnesses(&trust, &heard, s));
    TRY(matcher_save(own->matcher, s->learner.params, CONSM_MATCH_PREFIX));
    TRY(params_write(&kept, s->learner.params, PLACE_VALUE));
    trust_write(kept + stored_at(s), &trust);
done:
    return st;
}

/* ---- trust in the answers ------------------------------------------------ */

consm_status session_trust_answers(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct witnesses heard;
    struct trust fitted;
    float number[TRUST_NUMBERS];
    int64_t rounds;
    if (s->options.trust) /* a repeated run has no labels left to learn weights from */
        return CONSM_OK;
    if (session_company(s) || session_trees(s, &rounds))
        TRY(session_answers(&own->answers, s));
    TRY(weigh(&fitted, &heard, TRUST_OF_ANSWERS, s));
    trust_write(number, &fitted); /* the bits that a file holds */
    trust_read(&own->answers_trust, number);
    own->answered = true;
done:
    return st;
}

bool session_answers_trust(float number[TRUST_NUMBERS], const struct session *s)
{
    const struct consm *own = session_matches(s) ? s->own : NULL;
    if (!own || !own->answered)
        return false;
    trust_write(number, &own->answers_trust);
    return true;
}

/* The weights for the answers, or those that the store holds. */
static consm_status read_trust(struct trust *out, struct session *s)
{
    const struct consm *own = s->own;
    const float *stored;
    if (own->answered) {
        *out = own->answers_trust;
        return CONSM_OK;
    }
    consm_status st = params_read(&stored, s->learner.params, PLACE_VALUE);
    if (st >= 0)
        trust_read(out, stored + stored_at(s));
    return st;
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
    const float *stored;
    struct trust trust;
    struct witnesses heard;
    const struct consm *own = s->own;
    *out = NULL;
    TRY(params_read(&stored, s->learner.params, PLACE_VALUE));
    trust_read(&trust, stored + stored_at(s));
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
    TRY(consm_call_witnesses(&heard, &out->weigh, s));
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
    heard.data = witness_data_of(s);
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
