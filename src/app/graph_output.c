/* Writes the graph with a model's predictions and trust added, in the formats of
 * data/readers/graph_save.h. Everything that was read stays. */
#include "app/graph_output.h"

#include "app/objects.h"
#include "base/number.h"
#include "data/readers/graph_save.h"
#include "graph/edges.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What is added, and where it comes from. */
struct picture {
    const struct consm_model *model;
    const struct consm_prediction *p;
    const struct consm_edge_scores *s;
    const struct dataset *d;
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcasecmp(path + length - end, suffix) == 0;
}

static bool find_form(enum graph_form *out, const char *path)
{
    static const char *const suffix[] = {".graphml", ".gexf", ".gml", ".json"};
    for (int i = 0; i < 4; i++)
        if (ends_with(path, suffix[i])) {
            *out = (enum graph_form)i;
            return true;
        }
    return false;
}

consm_status graph_output_check(const char *path)
{
    enum graph_form form;
    if (find_form(&form, path))
        return CONSM_OK;
    return status_fail(CONSM_EINVAL,
                       "--graph %s: expected a name that ends in .graphml, .gexf, .gml or .json",
                       path);
}

static const char *predicted(void *ctx, int64_t i, char buffer[32])
{
    const struct picture *g = ctx;
    return consm_model_class(g->model, g->p->label[i], buffer);
}

static const char *confidence(void *ctx, int64_t i, char buffer[32])
{
    const struct picture *g = ctx;
    number_print(buffer, 32, "%.6f", (double)g->p->confidence[i]);
    return buffer;
}

static const char *seen(void *ctx, int64_t i, char buffer[32])
{
    const struct picture *g = ctx;
    (void)buffer;
    return g->p->seen[i] ? "true" : "false";
}

/* The index of a stored edge in the scores, which are sorted by smaller, then larger end; -1: a
 * loop has none. */
static int64_t find_score(const struct picture *g, int64_t e)
{
    return pair_find(g->s->from, g->s->to, g->s->edges, g->d->from[e], g->d->to[e]);
}

static const char *trust(void *ctx, int64_t e, char buffer[32])
{
    const struct picture *g = ctx;
    int64_t at = find_score(g, e);
    if (at < 0)
        return NULL;
    number_print(buffer, 32, "%.6f", (double)g->s->score[at]);
    return buffer;
}

static const char *kept(void *ctx, int64_t e, char buffer[32])
{
    const struct picture *g = ctx;
    int64_t at = find_score(g, e);
    (void)buffer;
    return at < 0 ? NULL : g->s->kept[at] ? "true" : "false";
}

consm_status graph_output_write(const char *path, const struct consm_model *model,
                                const struct consm_prediction *prediction,
                                const struct consm_edge_scores *scores,
                                const struct consm_dataset *data)
{
    enum graph_form form;
    consm_status st = graph_output_check(path);
    if (st < 0 || !find_form(&form, path))
        return st;
    struct picture g = {model, prediction, scores, data->data};
    const struct graph_attribute node_more[] = {{"predicted", GRAPH_TEXT, predicted, &g},
                                                {"confidence", GRAPH_REAL, confidence, &g},
                                                {"seen", GRAPH_TRUTH, seen, &g}};
    const struct graph_attribute edge_more[] = {{"trust", GRAPH_REAL, trust, &g},
                                                {"kept", GRAPH_TRUTH, kept, &g}};
    int added = prediction->seen ? 3 : 2;
    return graph_save(data->data, path, form,
                      &(struct graph_extras){node_more, edge_more, added, 2});
}
