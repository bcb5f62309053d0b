/* Suggests missing edges: pairs of nodes that are close in the model's embedding or in their
 * features, scored like edges. */
#include "train/edge_trust.h"

#include "match/near.h"
#include "train/consm/consm.h"
#include <math.h>
#include <string.h>

/* Candidates per node, of each kind. */
enum { PER_NODE = 10 };

static consm_status list_candidates(struct near_list *list, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    struct near_rows x = {.rows = p->nodes};
    float *embedding = NULL;
    TRY(session_embedding(&embedding, &x.width, s));
    x.dense = embedding;
    TRY(near_pairs(list, &x, PER_NODE, s->options.seed));
    x = (struct near_rows){p->nodes, p->features, p->sparse, p->sparse ? NULL : p->dense};
    if (s->dense_normalized && !p->sparse)
        x.dense = s->dense_normalized;
    TRY(near_pairs(list, &x, PER_NODE, s->options.seed));
    near_tidy(list, p->graph);
done:
    mem_free(embedding);
    return st;
}

/* Allocates the scores of the candidates. */
static consm_status open_pairs(struct edge_trust *t, const struct near_list *list)
{
    consm_status st = CONSM_OK;
    TRY(ZNEW(t->edges, 1));
    t->edges->count = list->count;
    TRY(NEW(t->edges->left, list->count + 1));
    TRY(NEW(t->edges->right, list->count + 1));
    TRY(NEW(t->score, list->count + 1));
    TRY(NEW(t->low, list->count + 1));
    TRY(NEW(t->high, list->count + 1));
    TRY(NEW(t->kept, list->count + 1));
    for (int64_t k = 0; k < list->count; k++) {
        t->edges->left[k] = list->pair[k][0];
        t->edges->right[k] = list->pair[k][1];
        t->low[k] = t->high[k] = NAN;
        t->kept[k] = 1;
    }
done:
    return st;
}

/* Keeps the `most` best, in row order. */
static consm_status keep_best(struct edge_trust *t, int64_t most)
{
    consm_status st = CONSM_OK;
    struct edges *e = t->edges;
    uint8_t *chosen = NULL;
    int64_t kept = 0;
    TRY(NEW(chosen, e->count + 1));
    TRY(edges_top(chosen, e, t->score, most));
    for (int64_t k = 0; k < e->count; k++) {
        if (!chosen[k])
            continue;
        e->left[kept] = e->left[k];
        e->right[kept] = e->right[k];
        t->score[kept] = t->score[k];
        t->low[kept] = t->low[k];
        t->high[kept] = t->high[k];
        if (t->witness)
            memmove(t->witness + kept * WITNESSES, t->witness + k * WITNESSES,
                    WITNESSES * sizeof *t->witness);
        kept++;
    }
    e->count = kept;
done:
    mem_free(chosen);
    return st;
}

consm_status session_suggest(struct edge_trust *out, struct session *s, int64_t most)
{
    consm_status st = CONSM_OK;
    struct near_list list = {0};
    const float *logits;
    *out = (struct edge_trust){0};
    TRY(list_candidates(&list, s));
    TRY(open_pairs(out, &list));
    if (session_matches(s)) {
        TRY(consm_score_pairs(out, s));
    } else {
        TRY(session_logits(&logits, s));
        witness_agreement(out->score, logits, s->problem->classes, out->edges);
    }
    TRY(keep_best(out, most));
done:
    near_free(&list);
    if (st < 0)
        edge_trust_free(out);
    return st;
}
