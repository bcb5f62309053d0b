/* Ranks nodes by a class, and puts explanations into words. */
#include "app/suspects.h"

#include "app/explain_values.h"
#include "app/objects.h"
#include "base/number.h"
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An explanation costs some dozen predictions, so larger graphs get none. */
enum { MOST_EDGES = 200000, MOST_NODES = 50000, TRIED = 12 };

struct candidate {
    float probability, log_odds;
    int64_t node;
};

static int highest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    if (x->log_odds != y->log_odds)
        return x->log_odds > y->log_odds ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* ---- reasons ------------------------------------------------------------- */

struct reason {
    float log_odds;
    bool feature;
    int64_t at; /* in the explanation's list */
};

static int strongest_first(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    if (x->log_odds != y->log_odds)
        return x->log_odds > y->log_odds ? -1 : 1;
    if (x->feature != y->feature)
        return x->feature ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

static void add_reason(struct text *t, const struct reason *why, const struct consm_explanation *e,
                       const struct consm_model *m, const struct consm_dataset *set)
{
    char buffer[24], class[24], number[80];
    if (why->feature) {
        const char *feature = consm_model_feature(m, e->feature[why->at], buffer);
        char value[32], low[32], high[32];
        text_printf(t, "%s = %s (usually %s to %s)", feature,
                    feature_text(value, m, feature, e->feature_value[why->at]),
                    feature_text(low, m, feature, e->feature_low[why->at]),
                    feature_text(high, m, feature, e->feature_high[why->at]));
    } else {
        bool known = e->neighbour_label[why->at] >= 0;
        text_add(t, "neighbour ");
        text_add(t, consm_node_id(set, e->neighbour[why->at], buffer));
        text_add(t, known ? " (" : " (predicted ");
        text_add(t,
                 consm_model_class(
                     m, known ? e->neighbour_label[why->at] : e->neighbour_said[why->at], class));
        text_add(t, ")");
    }
    number_print(number, sizeof number, " %+.2f", (double)why->log_odds);
    text_add(t, number);
}

static consm_status put_into_words(char **out, const struct consm_explanation *e,
                                   const struct consm_model *m, const struct consm_dataset *set)
{
    consm_status st = CONSM_OK;
    struct reason *why = NULL;
    struct text t = {0};
    int64_t count = 0;
    TRY(NEW(why, e->features + e->neighbours));
    for (int64_t i = 0; i < e->features; i++)
        why[count++] = (struct reason){e->feature_log_odds[i], true, i};
    for (int64_t i = 0; i < e->neighbours; i++)
        why[count++] = (struct reason){e->neighbour_log_odds[i], false, i};
    if (count > 0)
        qsort(why, (size_t)count, sizeof *why, strongest_first);
    for (int64_t i = 0; i < count && i < SUSPECTS_REASONS && why[i].log_odds > 0.005F; i++) {
        text_add(&t, i ? "; " : "");
        add_reason(&t, &why[i], e, m, set);
    }
    TRY(text_status(&t));
    if (!(*out = mem_strdup(text_string(&t))))
        TRY(CONSM_ENOMEM);
done:
    mem_free(why);
    text_free(&t);
    return st;
}

static consm_status explain(struct suspects *s, const struct consm_model *m,
                            const struct consm_dataset *set, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_explain_options how = {.size = sizeof how,
                                        .limit = TRIED,
                                        .of_label = s->class_index >= 0,
                                        .label = s->class_index,
                                        .threads = threads};
    struct consm_explanation *e = NULL;
    for (int64_t i = 0; i < s->count && i < SUSPECTS_EXPLAINED; i++) {
        TRY(consm_explain(&e, m, set, s->row[i].node, &how));
        TRY(put_into_words(&s->row[i].reasons, e, m, set));
        if (!s->explanation) {
            s->explanation = e;
            s->explained = s->row[i].node;
        } else {
            consm_explanation_free(e);
        }
        e = NULL;
        if (s->class_index < 0) /* only for the picture */
            break;
    }
done:
    consm_explanation_free(e);
    return st;
}

/* ---- the list ------------------------------------------------------------ */

/* list (n): nodes that neither trained nor validated, or else all that did not train, with their
 * ranking keys. */
static int64_t candidates(struct candidate *list, const struct suspects *s, const struct dataset *d,
                          const struct consm_prediction *p, const struct roles *roles,
                          bool validated)
{
    int64_t count = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        int64_t at = i * p->classes + (s->class_index < 0 ? p->label[i] : s->class_index);
        if (roles->role[i] == SPLIT_TRAIN || (roles->role[i] == SPLIT_VAL && !validated))
            continue;
        list[count++] = s->class_index < 0
                            ? (struct candidate){-p->probability[at], -p->log_odds[at], i}
                            : (struct candidate){p->probability[at], p->log_odds[at], i};
    }
    return count;
}

consm_status suspects_find(struct suspects *out, const struct consm_model *m,
                           const struct consm_dataset *set, const struct consm_prediction *p,
                           const struct roles *roles, int threads)
{
    consm_status st = CONSM_OK;
    const struct dataset *d = set->data;
    struct candidate *list = NULL;
    *out = (struct suspects){
        .class_index = m->decision.made ? m->decision.positive : m->positive - 1, .explained = -1};
    if (d->rows || m->classes < 2)
        return CONSM_OK;
    TRY(NEW(list, d->nodes));
    int64_t count = candidates(list, out, d, p, roles, false);
    if (count == 0)
        count = candidates(list, out, d, p, roles, true);
    if (count > 0)
        qsort(list, (size_t)count, sizeof *list, highest_first);
    count = count < SUSPECTS_LISTED ? count : SUSPECTS_LISTED;
    TRY(ZNEW(out->row, count));
    for (int64_t i = 0; i < count; i++)
        out->row[i].node = list[i].node;
    out->count = count;
    if (d->nodes <= MOST_NODES && d->edges <= MOST_EDGES)
        TRY(explain(out, m, set, threads));
done:
    mem_free(list);
    if (st < 0)
        suspects_free(out);
    return st;
}

void suspects_free(struct suspects *s)
{
    for (int64_t i = 0; s->row && i < s->count; i++)
        mem_free(s->row[i].reasons);
    mem_free(s->row);
    consm_explanation_free(s->explanation);
    *s = (struct suspects){0};
}

consm_status suspects_write(const char *path, const struct suspects *s, const struct consm_model *m,
                            const struct consm_dataset *set, const struct consm_prediction *p,
                            bool safe_csv)
{
    consm_status st = CONSM_OK;
    struct text t = {.safe_csv = safe_csv};
    char id[24], name[24], title[300];
    if (s->class_index < 0 || s->count == 0)
        return CONSM_OK;
    snprintf(title, sizeof title, "p_%.250s", consm_model_class(m, s->class_index, name));
    text_add(&t, "rank,id,predicted,");
    text_csv(&t, title);
    text_add(&t, ",log_odds,reasons\n");
    for (int64_t i = 0; i < s->count; i++) {
        int64_t node_at = s->row[i].node, at = node_at * p->classes + s->class_index;
        text_printf(&t, "%lld,", (long long)i + 1);
        text_csv(&t, consm_node_id(set, node_at, id));
        text_add(&t, ",");
        text_csv(&t, consm_model_class(m, p->label[node_at], name));
        text_printf(&t, ",%.6f,%.4f,", (double)p->probability[at], (double)p->log_odds[at]);
        text_csv(&t, s->row[i].reasons ? s->row[i].reasons : "");
        text_add(&t, "\n");
    }
    TRY(text_save(&t, path));
done:
    text_free(&t);
    return st;
}
