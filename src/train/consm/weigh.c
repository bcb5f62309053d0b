/* The witnesses of a ConSM session, and the fits of their weights: for its own network while it
 * trains, and for what all networks and trees answer together. Not in the paper. */
#include "train/edge_trust.h"

#include "graph/partition.h"
#include "train/consm/consm.h"
#include "train/metrics.h"
#include <string.h>

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

struct witness_data consm_witness_data(const struct session *s)
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
    struct witness_data data = consm_witness_data(s);
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
    *out = (struct witnesses){.data = consm_witness_data(s),
                              .stored = own->witness,
                              .model = {.w = own->w},
                              .room = own->chance,
                              .team = s->backend->host};
    memcpy(model->temperature, trust->temperature, sizeof model->temperature);
    TRY(own->neighbours ? consm_near_logits(&model->logits, s) : session_logits(&model->logits, s));
    TRY(matcher_head(&model->head, own->matcher));
done:
    return st;
}

consm_status consm_call_answers(struct witnesses *out, const struct trust *trust, struct session *s)
{
    const struct consm *own = s->own;
    consm_status st = consm_call_witnesses(out, trust, s);
    if (st >= 0 && own->answers)
        out->model.logits = own->near_answers ? own->near_answers : own->answers;
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
    TRY(whose == TRUST_OF_ANSWERS ? consm_call_answers(out, trust, s)
                                  : consm_call_witnesses(out, trust, s));
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

consm_status session_weigh_answers(struct session *s)
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

bool session_answers_weights(float number[TRUST_NUMBERS], const struct session *s)
{
    const struct consm *own = session_matches(s) ? s->own : NULL;
    if (!own || !own->answered)
        return false;
    trust_write(number, &own->answers_trust);
    return true;
}

consm_status consm_network_trust(struct trust *out, struct session *s)
{
    const float *stored;
    consm_status st = params_read(&stored, s->learner.params, PLACE_VALUE);
    if (st >= 0)
        trust_read(out, stored + stored_at(s));
    return st;
}
