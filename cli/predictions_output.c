/* Writes predictions. */
#include "predictions_output.h"

#include "app/run.h"
#include "base/alloc.h"
#include "io/file.h"
#include "report/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 }; /* nodes of a graph in parts that rank 0 holds at a time */

static void head(struct text *t, const struct consm_model *model, const struct consm_prediction *p,
                 const struct predictions_style *style)
{
    bool probabilities = style->probabilities;
    char buffer[24], name[300];
    text_add(t, "id,label,confidence");
    if (p->in_set)
        text_add(t, ",set");
    if (style->order && !probabilities) {
        snprintf(name, sizeof name, "p_%.250s", consm_model_class(model, style->ranked, buffer));
        text_add(t, ",");
        text_csv(t, name);
    }
    for (int32_t k = 0; probabilities && k < p->classes; k++) {
        snprintf(name, sizeof name, "p_%.250s", consm_model_class(model, k, buffer));
        text_add(t, ",");
        text_csv(t, name);
    }
    text_add(t, style->order ? ",log_odds" : "");
    text_add(t, p->seen ? ",seen\n" : "\n");
}

/* The classes of a node's set, most probable first, joined by |; a | or \\ in a name gets a \\ in
 * front. */
static void write_set(struct text *t, const struct consm_model *model,
                      const struct consm_prediction *p, int64_t i, const float *chance)
{
    const uint8_t *in = p->in_set + i * p->classes;
    struct text names = {0};
    char buffer[24];
    int32_t last = -1;
    for (int32_t n = 0; n < p->classes; n++) {
        int32_t next = -1; /* after the last one, by probability and then by number */
        for (int32_t k = 0; k < p->classes; k++) {
            bool behind =
                last < 0 || chance[k] < chance[last] || (chance[k] == chance[last] && k > last);
            if (in[k] && behind && (next < 0 || chance[k] > chance[next]))
                next = k;
        }
        if (next < 0)
            break;
        text_add(&names, n ? "|" : "");
        for (const char *c = consm_model_class(model, next, buffer); *c; c++)
            text_printf(&names, *c == '|' || *c == '\\' ? "\\%c" : "%c", *c);
        last = next;
    }
    text_add(t, ",");
    text_csv(t, text_string(&names));
    text_free(&names);
}

static void write_line(struct text *t, const struct consm_model *model,
                       const struct consm_prediction *p, const struct consm_dataset *data,
                       int64_t i, const float *chance, const struct predictions_style *style)
{
    bool probabilities = style->probabilities;
    char id[24], name[24];
    text_csv(t, consm_node_id(data, style->node ? style->node[i] : i, id));
    text_add(t, ",");
    text_csv(t, consm_model_class(model, p->label[i], name));
    text_printf(t, ",%.6f", (double)p->confidence[i]);
    if (p->in_set)
        write_set(t, model, p, i, chance);
    if (style->order && !probabilities)
        text_printf(t, ",%.6f", (double)chance[style->ranked]);
    for (int64_t k = 0; probabilities && k < p->classes; k++)
        text_printf(t, ",%.6f", (double)chance[k]);
    if (style->order)
        text_printf(t, ",%.4f", (double)p->log_odds[i * p->classes + style->ranked]);
    if (p->seen)
        text_printf(t, ",%d", p->seen[i]);
    text_add(t, "\n");
}

/* {"id": …, "label": …, "confidence": …, "set": […], "seen": …, "log_odds": …,
 * "probabilities": {class: …}} */
static void write_object(struct text *t, const struct consm_model *model,
                         const struct consm_prediction *p, const struct consm_dataset *data,
                         int64_t i, const float *chance, const struct predictions_style *style)
{
    bool probabilities = style->probabilities;
    char id[24], name[24];
    const char *between = "";
    text_add(t, "{\"id\": ");
    text_json(t, consm_node_id(data, style->node ? style->node[i] : i, id));
    text_add(t, ", \"label\": ");
    text_json(t, consm_model_class(model, p->label[i], name));
    text_printf(t, ", \"confidence\": %.6f", (double)p->confidence[i]);
    text_add(t, p->in_set ? ", \"set\": [" : "");
    for (int32_t k = 0; p->in_set && k < p->classes; k++)
        if (p->in_set[i * p->classes + k]) {
            text_add(t, between);
            text_json(t, consm_model_class(model, k, name));
            between = ", ";
        }
    text_add(t, p->in_set ? "]" : "");
    if (p->seen)
        text_printf(t, ", \"seen\": %s", p->seen[i] ? "true" : "false");
    if (style->order)
        text_printf(t, ", \"log_odds\": %.4f", (double)p->log_odds[i * p->classes + style->ranked]);
    text_add(t, probabilities ? ", \"probabilities\": {" : "");
    for (int32_t k = 0; probabilities && k < p->classes; k++) {
        text_add(t, k ? ", " : "");
        text_json(t, consm_model_class(model, k, name));
        text_printf(t, ": %.6f", (double)chance[k]);
    }
    text_add(t, probabilities ? "}}\n" : "}\n");
}

/* A node and its ranking key. */
struct ranked {
    float probability, log_odds;
    int64_t node;
};

static int most_probable_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    if (x->log_odds != y->log_odds)
        return x->log_odds > y->log_odds ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

consm_status predictions_rank(int64_t **out, const struct consm_prediction *p, int32_t class_index)
{
    consm_status st = CONSM_OK;
    struct ranked *list = NULL;
    *out = NULL;
    TRY(NEW(list, p->nodes));
    TRY(NEW(*out, p->nodes));
    for (int64_t i = 0; i < p->nodes; i++) {
        int64_t at = i * p->classes + class_index;
        list[i] = (struct ranked){p->probability[at], p->log_odds[at], i};
    }
    if (p->nodes > 0)
        qsort(list, (size_t)p->nodes, sizeof *list, most_probable_first);
    for (int64_t i = 0; i < p->nodes; i++)
        (*out)[i] = list[i].node;
done:
    mem_free(list);
    return st;
}

/* In a graph in parts the nodes' owners have the probabilities: those of a block of nodes, (BLOCK,
 * c), are sent to rank 0 for writing. The caller frees *out; NULL: all are here. */
static consm_status bring_block(float **out, const struct consm_prediction *p,
                                const struct consm_dataset *data, int64_t first)
{
    consm_status st = CONSM_OK;
    struct consm_dataset_info info = {.size = sizeof info};
    int64_t *send = NULL, *got, c = p->classes;
    const struct ranks *all = dataset_ranks(data);
    int ranks = all->size;
    void *came = NULL;
    mem_free(*out);
    *out = NULL;
    TRY(consm_dataset_info(&info, data));
    if (!info.in_parts || ranks == 1)
        return CONSM_OK;
    int64_t last = first + BLOCK < p->nodes ? first + BLOCK : p->nodes;
    int64_t low = p->own_low > first ? p->own_low : first;
    int64_t high = p->own_high < last ? p->own_high : last;
    TRY(ZNEW(send, 2 * (ranks + 1)));
    got = send + ranks + 1;
    for (int rank = 1; rank <= ranks; rank++)
        send[rank] = high > low ? high - low : 0;
    TRY(all->swap(&came, got, p->probability + (high > low ? low : 0) * c, send,
                  (size_t)c * sizeof(float)));
    *out = came; /* by rank, so by node */
done:
    mem_free(send);
    return st;
}

consm_status predictions_write(const char *path, const struct consm_model *model,
                               const struct consm_prediction *prediction,
                               const struct consm_dataset *data,
                               const struct predictions_style *style)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    struct text t = {.safe_csv = style->safe_csv};
    float *block = NULL;
    TRY(file_create(&w, path));
    if (!style->json)
        head(&t, model, prediction, style);
    int64_t rows = style->order ? style->rows : prediction->nodes;
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = style->order ? style->order[row] : row;
        if (style->probabilities && i % BLOCK == 0)
            TRY(bring_block(&block, prediction, data, i));
        const float *chance = block && dataset_ranks(data)->rank == 0
                                  ? block + i % BLOCK * prediction->classes
                                  : prediction->probability + i * prediction->classes;
        if (style->json)
            write_object(&t, model, prediction, data, i, chance, style);
        else
            write_line(&t, model, prediction, data, i, chance, style);
        TRY(text_status(&t));
        if (t.length < 1 << 16 && row + 1 < rows)
            continue;
        TRY(file_write(w, t.data, t.length));
        t.length = 0;
    }
    if (rows == 0) /* only the header */
        TRY(file_write(w, t.data, t.length));
    TRY(file_commit(w));
done:
    mem_free(block);
    text_free(&t);
    file_close(w);
    return st;
}
