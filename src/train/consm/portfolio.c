/* ConSM's candidate backbones: a table learned over many graphs and label counts
 * (studies/portfolio), how a candidate changes a configuration, and which candidates a graph
 * allows. Not in the paper. */
#include "train/consm/race.h"
#include "train/portfolio_work.h"

#include <string.h>

static const struct {
    enum config_backbone backbone;
    const char *settings; /* "lr=0.01 hidden=64": differences from the model's defaults */
} candidates[] = {
#define CANDIDATE(model, settings) {BACKBONE_##model, settings},
#include "train/consm/portfolio.def"
#undef CANDIDATE
};
_Static_assert(sizeof candidates / sizeof *candidates == CONSM_CANDIDATES, "one table");
_Static_assert((int)CONSM_CANDIDATES < (int)TRAIN_MOST_CANDIDATES,
               "results have room for all, and for trees");

const char *consm_candidate_settings(int64_t number)
{
    return candidates[number].settings;
}

/* The parameters that a candidate sets: its model's own, and those of training. */
static const int brought[] = {
    CONFIG_ROW_lr,
    CONFIG_ROW_weight_decay,
    CONFIG_ROW_dropout,
    CONFIG_ROW_input_dropout,
    CONFIG_ROW_attention_dropout,
    CONFIG_ROW_edge_dropout,
    CONFIG_ROW_node_dropout,
    CONFIG_ROW_layers,
    CONFIG_ROW_hidden,
    CONFIG_ROW_heads,
    CONFIG_ROW_residual,
    CONFIG_ROW_norm,
    CONFIG_ROW_hops,
    CONFIG_ROW_alpha,
    CONFIG_ROW_theta,
    CONFIG_ROW_eps,
    CONFIG_ROW_reach,
    CONFIG_ROW_samples,
    CONFIG_ROW_consistency,
    CONFIG_ROW_sharpening,
    CONFIG_ROW_feature_gate,
    CONFIG_ROW_normalize_features,
};
enum { BROUGHT = sizeof brought / sizeof *brought };

bool consm_candidate_brings(int row)
{
    for (int i = 0; i < BROUGHT; i++)
        if (brought[i] == row)
            return true;
    return false;
}

/* Sets "name=value name=value …". */
static consm_status set_all(struct config *c, const char *settings)
{
    consm_status st = CONSM_OK;
    while (*settings) {
        char word[64];
        size_t length = strcspn(settings, " ");
        if (length >= sizeof word)
            return status_fail(CONSM_EINVAL, "portfolio: \"%s\" is too long", settings);
        memcpy(word, settings, length);
        word[length] = '\0';
        char *value = strchr(word, '=');
        if (!value)
            return status_fail(CONSM_EINVAL, "portfolio: \"%s\": expected name=value", word);
        *value++ = '\0';
        TRY(config_set(c, word, value));
        settings += length + (settings[length] == ' ');
    }
done:
    return st;
}

/* Whether a parameter keeps its value: the user set it, or columns have no common scale. */
static bool holds(int row, const struct config *before, const bool *given)
{
    if (row != CONFIG_ROW_normalize_features)
        return given && given[row];
    return before->normalize_features == FEATURES_STANDARD ||
           (given && given[row] && before->normalize_features != FEATURES_AUTO);
}

consm_status consm_apply_candidate(struct config *c, int64_t number, const bool *given)
{
    consm_status st = CONSM_OK;
    const struct model_def *model;
    const struct config before = *c;
    struct config own;
    c->backbone = candidates[number].backbone;
    TRY(model_find(&model, config_names_backbone[c->backbone]));
    config_defaults(&own);
    if (model->defaults)
        model->defaults(&own);
    TRY(set_all(&own, candidates[number].settings));
    for (int i = 0; i < BROUGHT; i++)
        config_copy(c, holds(brought[i], &before, given) ? &before : &own, brought[i]);
done:
    return st;
}

/* ---- which of them a graph allows ---------------------------------------- */

/* On graphs with more entries a candidate must not carry more columns over its edges than two
 * layers of 128: it would take longer than all others together. */
enum { LARGE_ENTRIES = 500000, MOST_COLUMNS = 256 };

/* Largest number of entries of H2GCN's two-hop matrix. */
static const double MOST_TWO_HOP = 5e6;

/* Approximate number of columns that one update carries over the edges. */
static double columns_of(const struct config *c, int32_t classes)
{
    switch (c->backbone) {
    case BACKBONE_MLP: return 0;
    case BACKBONE_APPNP: return (double)c->hops * classes;
    case BACKBONE_H2GCN: return (double)c->layers * (double)c->reach * classes;
    case BACKBONE_GRAND: return (double)(c->samples * c->hidden * c->hops);
    default: return (double)(c->layers * c->hidden);
    }
}

/* Deep and wide networks need labels to learn from (studies/portfolio). With fewer labels per
 * class, networks with more multiplications per node than this, or than four plain classifiers of
 * so many classes, are left out. */
enum { MOST_PRODUCTS = 100000, PLAIN_WIDTH = 64 };

static double products_of(const struct config *c, int32_t classes)
{
    double width = (double)c->hidden, last = width * (double)classes;
    double layer = width * width * (c->residual == RESIDUAL_YES ? 2 : 1);
    switch (c->backbone) {
    case BACKBONE_GCN:
    case BACKBONE_GAT:
    case BACKBONE_GCNII:
    case BACKBONE_GIN: return (double)c->layers * layer + last;
    case BACKBONE_H2GCN: /* 2, 6, 10, … blocks beside the ego's, or one a round */
        return last * (c->reach > 1 ? (double)(4 * c->layers - 1) : (double)(c->layers + 1));
    case BACKBONE_GRAND: return last * (double)c->samples;
    default: return last;
    }
}

static bool is_dear(const struct config *c, int32_t classes)
{
    double plain = 4.0 * PLAIN_WIDTH * (double)classes;
    return products_of(c, classes) > (plain > MOST_PRODUCTS ? plain : MOST_PRODUCTS);
}

double consm_labels_a_class(const struct problem *p)
{
    int64_t labels = 0;
    for (int64_t i = 0; i < p->nodes; i++)
        labels += p->role[i] == SPLIT_TRAIN && p->label[i] >= 0;
    return (double)labels / (double)p->classes;
}

double portfolio_two_hop(const struct csr *graph)
{
    double sum = 0, n = (double)graph->rows;
    for (int64_t i = 0; i < graph->rows; i++) {
        double degree = (double)(graph->start[i + 1] - graph->start[i]);
        sum += degree * degree;
    }
    return sum < n * n ? sum : n * n;
}

static bool is_far(const struct config *c)
{
    return c->backbone == BACKBONE_H2GCN && c->reach > 1;
}

/* Whether a graph of these sizes allows a candidate. */
static bool fits(const struct config *c, const struct portfolio_sizes *s)
{
    if (c->backbone == BACKBONE_GAT && c->layers > 1 && c->hidden % c->heads != 0)
        return false;
    if (is_far(c) && s->two_hop > MOST_TWO_HOP)
        return false;
    if (is_dear(c, s->classes) && s->labels_a_class < CONSM_MANY_LABELS)
        return false;
    return s->entries <= LARGE_ENTRIES || columns_of(c, s->classes) <= MOST_COLUMNS;
}

bool consm_candidate_fits(const struct session *s, int64_t number)
{
    struct config c = s->options.config;
    const struct problem *p = s->problem;
    if (consm_apply_candidate(&c, number, s->options.given) < 0)
        return false;
    if (c.normalize_features == FEATURES_STANDARD && p->sparse)
        return false;
    if (c.normalize_features == FEATURES_SCALE && p->graph->partition && !p->scale)
        return false;
    struct portfolio_sizes sizes = {.entries = (double)p->graph->nnz,
                                    .two_hop = is_far(&c) ? portfolio_two_hop(p->graph) : 0,
                                    .labels_a_class = consm_labels_a_class(p),
                                    .classes = p->classes};
    return fits(&c, &sizes);
}

/* ---- how much work they are ---------------------------------------------- */

/* Whether a step keeps one value per layer and hidden unit of a node; the other candidates keep
 * fewer. */
static bool keeps_all_layers(const struct config *c)
{
    return c->backbone != BACKBONE_APPNP && c->backbone != BACKBONE_GRAND &&
           c->backbone != BACKBONE_H2GCN;
}

consm_status portfolio_work(struct portfolio_work *out, const struct config *config,
                            const struct portfolio_sizes *s)
{
    consm_status st = CONSM_OK;
    struct config length = *config;
    bool quick = race_is_quick(config, s->entries);
    double moved = 0, multiplied = 0, updates = 0;
    *out = (struct portfolio_work){.tracks = race_host_tracks(s->threads, s->nodes, s->entries)};
    consm_stretch(&length, s->labels_a_class, NULL);
    for (int64_t i = 0; i < CONSM_CANDIDATES; i++) {
        struct config c = *config;
        TRY(consm_apply_candidate(&c, i, NULL));
        if (!fits(&c, s))
            continue;
        out->candidates++;
        out->widths += (double)c.hidden;
        moved += columns_of(&c, s->classes);
        multiplied += products_of(&c, s->classes) + s->columns * (double)c.hidden;
        if (keeps_all_layers(&c) && c.layers * c.hidden > out->layers * out->width) {
            out->layers = c.layers;
            out->width = c.hidden;
        }
    }
    for (int k = 0, stay = out->candidates; k < WINNER_RUNG; k++) {
        int64_t before = k > 0 ? race_updates(&length, k - 1) : 0;
        updates += (double)(stay * (race_updates(&length, k) - before));
        int64_t next = race_staying(quick, k);
        stay = stay < next ? stay : (int)next;
    }
    out->updates = updates;
    if (out->candidates > 0) {
        out->moved = s->entries * updates * moved / out->candidates;
        out->multiplied = s->nodes * updates * multiplied / out->candidates;
    }
done:
    return st;
}
