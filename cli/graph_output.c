/* GraphML 1.0 (http://graphml.graphdrawing.org) and GEXF 1.3 (https://gexf.net). */
#include "graph_output.h"

#include "app/objects.h"
#include "io/file.h"
#include "report/text.h"
#include <string.h>
#include <strings.h>

/* What is written, and to where. */
struct picture {
    const struct consm_model *model;
    const struct consm_prediction *p;
    const struct consm_edge_scores *s;
    const struct consm_dataset *data;
    struct text t;
    struct file_writer *w;
    bool gexf;
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcasecmp(path + length - end, suffix) == 0;
}

consm_status graph_output_check(const char *path)
{
    if (ends_with(path, ".graphml") || ends_with(path, ".gexf"))
        return CONSM_OK;
    return status_fail(CONSM_EINVAL, "--graph %s: expected a name that ends in .graphml or .gexf",
                       path);
}

/* An attribute of a node or an edge in the format's own words. */
static void attribute(struct picture *g, const char *key, const char *value)
{
    text_printf(&g->t, g->gexf ? "<attvalue for=\"%s\" value=\"" : "<data key=\"%s\">", key);
    text_xml(&g->t, value);
    text_add(&g->t, g->gexf ? "\"/>" : "</data>");
}

static void real(struct picture *g, const char *key, double value)
{
    struct text number = {0};
    text_printf(&number, "%.6f", value);
    attribute(g, key, text_string(&number));
    text_free(&number);
}

static void write_node(struct picture *g, int64_t i)
{
    char id[24], name[24];
    const struct dataset *d = g->data->data;
    text_printf(&g->t, "<node id=\"n%lld\"", (long long)i);
    if (g->gexf) {
        text_add(&g->t, " label=\"");
        text_xml(&g->t, consm_node_id(g->data, i, id));
        text_add(&g->t, "\"><attvalues>");
    } else {
        text_add(&g->t, ">");
        attribute(g, "name", consm_node_id(g->data, i, id));
    }
    if (d->label[i] >= 0)
        attribute(g, "label", dataset_class_name(d, d->label[i], name));
    attribute(g, "predicted", consm_model_class(g->model, g->p->label[i], name));
    real(g, "confidence", (double)g->p->confidence[i]);
    text_add(&g->t, g->gexf ? "</attvalues></node>\n" : "</node>\n");
}

static void write_edge(struct picture *g, int64_t e)
{
    text_printf(&g->t, "<edge id=\"e%lld\" source=\"n%d\" target=\"n%d\">", (long long)e,
                g->s->from[e], g->s->to[e]);
    text_add(&g->t, g->gexf ? "<attvalues>" : "");
    real(g, "trust", (double)g->s->score[e]);
    attribute(g, "kept", g->s->kept[e] ? "true" : "false");
    text_add(&g->t, g->gexf ? "</attvalues></edge>\n" : "</edge>\n");
}

/* The page's head: what attributes there are. */
static void write_head(struct picture *g)
{
    static const struct {
        const char *key, *of, *type;
    } keys[] = {{"name", "node", "string"},      {"label", "node", "string"},
                {"predicted", "node", "string"}, {"confidence", "node", "double"},
                {"trust", "edge", "double"},     {"kept", "edge", "boolean"}};
    enum { KEYS = sizeof keys / sizeof *keys };
    text_add(&g->t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text_add(&g->t, g->gexf ? "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n"
                              "<graph defaultedgetype=\"undirected\">\n"
                            : "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    for (int of = 0; of < 2; of++) {
        const char *kind = of ? "edge" : "node";
        if (g->gexf)
            text_printf(&g->t, "<attributes class=\"%s\">\n", kind);
        for (int k = 0; k < KEYS; k++)
            if (strcmp(keys[k].of, kind) == 0 && g->gexf)
                text_printf(&g->t, "<attribute id=\"%s\" title=\"%s\" type=\"%s\"/>\n", keys[k].key,
                            keys[k].key, keys[k].type);
            else if (strcmp(keys[k].of, kind) == 0)
                text_printf(&g->t,
                            "<key id=\"%s\" attr.name=\"%s\" attr.type=\"%s\" for=\"%s\"/>\n",
                            keys[k].key, keys[k].key, keys[k].type, kind);
        text_add(&g->t, g->gexf ? "</attributes>\n" : "");
    }
    text_add(&g->t, g->gexf ? "<nodes>\n" : "<graph edgedefault=\"undirected\">\n");
}

/* Hands on what has gathered. */
static consm_status drain(struct picture *g, bool all)
{
    consm_status st = CONSM_OK;
    TRY(text_status(&g->t));
    if (g->t.length < 1 << 16 && !all)
        return CONSM_OK;
    TRY(file_write(g->w, g->t.data, g->t.length));
    g->t.length = 0;
done:
    return st;
}

consm_status graph_output_write(const char *path, const struct consm_model *model,
                                const struct consm_prediction *prediction,
                                const struct consm_edge_scores *scores,
                                const struct consm_dataset *data)
{
    consm_status st = CONSM_OK;
    struct picture g = {.model = model, .p = prediction, .s = scores, .data = data};
    g.gexf = ends_with(path, ".gexf");
    TRY(file_create(&g.w, path));
    write_head(&g);
    for (int64_t i = 0; i < prediction->nodes; i++) {
        write_node(&g, i);
        TRY(drain(&g, false));
    }
    text_add(&g.t, g.gexf ? "</nodes>\n<edges>\n" : "");
    for (int64_t e = 0; e < scores->edges; e++) {
        write_edge(&g, e);
        TRY(drain(&g, false));
    }
    text_add(&g.t, g.gexf ? "</edges>\n</graph>\n</gexf>\n" : "</graph>\n</graphml>\n");
    TRY(drain(&g, true));
    TRY(file_commit(g.w));
done:
    text_free(&g.t);
    file_close(g.w);
    return st;
}
