/* Writing predictions. */
#include "predictions_output.h"

#include "io/file.h"
#include "report/text.h"
#include <stdio.h>

static void head(struct text *t, const struct consm_model *model, const struct consm_prediction *p,
                 bool probabilities)
{
    char buffer[24], name[300];
    text_add(t, "id,label,confidence");
    if (p->in_set)
        text_add(t, ",set");
    for (int32_t k = 0; probabilities && k < p->classes; k++) {
        snprintf(name, sizeof name, "p_%.250s", consm_model_class(model, k, buffer));
        text_add(t, ",");
        text_csv(t, name);
    }
    text_add(t, "\n");
}

/* The classes of a node's set, the most probable first, joined by |; a | or \\ of a name gets a
 * \\ in front. */
static void write_set(struct text *t, const struct consm_model *model,
                      const struct consm_prediction *p, int64_t i)
{
    const uint8_t *in = p->in_set + i * p->classes;
    const float *chance = p->probability + i * p->classes;
    struct text names = {0};
    char buffer[24];
    int32_t last = -1;
    for (int32_t n = 0; n < p->classes; n++) {
        int32_t next = -1; /* behind the last one, by probability and then by number */
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

consm_status predictions_write(const char *path, const struct consm_model *model,
                               const struct consm_prediction *prediction,
                               const struct consm_dataset *data, bool probabilities)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    struct text t = {0};
    char id[24], name[24];
    TRY(file_create(&w, path));
    head(&t, model, prediction, probabilities);
    for (int64_t i = 0; i < prediction->nodes; i++) {
        text_csv(&t, consm_node_id(data, i, id));
        text_add(&t, ",");
        text_csv(&t, consm_model_class(model, prediction->label[i], name));
        text_printf(&t, ",%.6f", (double)prediction->confidence[i]);
        if (prediction->in_set)
            write_set(&t, model, prediction, i);
        for (int64_t k = 0; probabilities && k < prediction->classes; k++)
            text_printf(&t, ",%.6f", (double)prediction->probability[i * prediction->classes + k]);
        text_add(&t, "\n");
        TRY(text_status(&t));
        if (t.length < 1 << 16 && i + 1 < prediction->nodes)
            continue;
        TRY(file_write(w, t.data, t.length));
        t.length = 0;
    }
    TRY(file_commit(w));
done:
    text_free(&t);
    file_close(w);
    return st;
}
