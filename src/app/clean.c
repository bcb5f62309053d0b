/* Drops edges with little trust: the same dataset with a selection of its edges. */
#include "app/objects.h"
#include "base/given.h"
#include "base/sized.h"
#include "data/load.h"
#include "data/table/notes.h"
#include "graph/edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- choosing ------------------------------------------------------------ */

struct ranked {
    float score;
    int64_t edge;
};

static int least_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static consm_status drop_share(uint8_t *dropped, const struct consm_edge_scores *s, double share)
{
    consm_status st = CONSM_OK;
    struct ranked *order = NULL;
    int64_t fewer = (int64_t)floor(share * (double)s->edges + 1e-6); /* 54 / 270 of 270 is 54 */
    TRY(NEW(order, s->edges + 1));
    for (int64_t e = 0; e < s->edges; e++)
        order[e] = (struct ranked){s->score[e], e};
    qsort(order, (size_t)s->edges, sizeof *order, least_first);
    memset(dropped, 0, (size_t)s->edges);
    for (int64_t i = 0; i < fewer; i++)
        dropped[order[i].edge] = 1;
done:
    mem_free(order);
    return st;
}

consm_status consm_clean_choose(uint8_t *dropped, const struct consm_edge_scores *scores,
                                const struct consm_clean_options *options)
{
    consm_status st = CONSM_OK;
    struct consm_clean_options o = {.share = -1, .threshold = -1};
    TRY(GIVEN(dropped, scores));
    if (options)
        TRY(sized_take(&o, sizeof o, options, SIZED_UP_TO(struct consm_clean_options, threshold)));
    if (!(o.share <= 1) || !(o.threshold <= 1))
        TRY(status_fail(CONSM_EINVAL,
                        "share %g, threshold %g: expected at most 1 (negative: not used)", o.share,
                        o.threshold));
    if (o.share >= 0)
        return drop_share(dropped, scores, o.share);
    for (int64_t e = 0; e < scores->edges; e++)
        dropped[e] = o.threshold >= 0 ? (double)scores->score[e] < o.threshold : !scores->kept[e];
done:
    return st;
}

/* ---- the dataset --------------------------------------------------------- */

void cleaned_free(struct consm_dataset *dataset)
{
    struct consm_dataset *whole = dataset->whole;
    prepare_free(&dataset->prepared);
    mem_free(dataset->data->from);
    mem_free(dataset->data->to);
    mem_free(dataset->data->weight);
    if (dataset->data->edge_notes)
        notes_free(dataset->data->edge_notes);
    mem_free(dataset->data->edge_notes);
    mem_free(dataset->data);
    consm_dataset_free(whole);
}

/* Puts the edges of d that stay, and the added ones, into a copy of d, which owns the new arrays.
 */
static consm_status choose_edges(struct dataset *c, const struct dataset *d,
                                 const struct consm_edge_scores *s, const uint8_t *dropped,
                                 const struct consm_edge_scores *added)
{
    consm_status st = CONSM_OK;
    int64_t room = d->edges + (added ? added->edges : 0) + 1, count = 0, *place = NULL;
    double sum = 0;
    c->from = c->to = NULL;
    c->weight = NULL;
    c->edge_notes = NULL;
    TRY(NEW(place, d->edges + 1));
    TRY(NEW(c->from, room));
    TRY(NEW(c->to, room));
    if (d->weight)
        TRY(NEW(c->weight, room));
    for (int64_t e = 0; e < d->edges; e++) {
        int64_t at = pair_find(s->from, s->to, s->edges, d->from[e], d->to[e]);
        sum += d->weight ? (double)d->weight[e] : 0;
        place[e] = at >= 0 && dropped[at] ? -1 : count;
        if (place[e] < 0)
            continue;
        c->from[count] = d->from[e];
        c->to[count] = d->to[e];
        if (d->weight)
            c->weight[count] = d->weight[e];
        count++;
    }
    for (int64_t e = 0; added && e < added->edges; e++, count++) {
        c->from[count] = added->from[e];
        c->to[count] = added->to[e];
        if (d->weight)
            c->weight[count] = d->edges > 0 ? (float)(sum / (double)d->edges) : 1;
    }
    c->edges = count;
    c->borrowed &= ~(unsigned)DATASET_BORROWS_EDGES;
    c->sha256[0] = 0;
    if (d->edge_notes)
        TRY(notes_select(&c->edge_notes, d->edge_notes, place));
done:
    mem_free(place);
    return st;
}

/* Checks that every pair names two nodes of the dataset. */
static consm_status check_pairs(const struct consm_edge_scores *s, int64_t nodes)
{
    for (int64_t e = 0; s && e < s->edges; e++)
        if (s->from[e] < 0 || s->to[e] < 0 || s->from[e] >= nodes || s->to[e] >= nodes)
            return status_fail(CONSM_EINVAL, "pair %lld joins nodes %d and %d: expected 0 to %lld",
                               (long long)e, s->from[e], s->to[e], (long long)nodes - 1);
    return CONSM_OK;
}

consm_status consm_dataset_clean(struct consm_dataset **out, struct consm_dataset *dataset,
                                 const struct consm_edge_scores *scores, const uint8_t *dropped,
                                 const struct consm_edge_scores *added)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *c = NULL;
    struct dataset *data = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, dataset, scores, dropped));
    TRY(dataset_whole(dataset, "a clean graph")); /* also checks the edges */
    TRY(check_pairs(scores, dataset->data->nodes));
    TRY(check_pairs(added, dataset->data->nodes));
    TRY(ZNEW(c, 1));
    TRY(NEW(data, 1));
    *data = *dataset->data;
    TRY(choose_edges(data, dataset->data, scores, dropped, added));
    c->data = data;
    c->whole = dataset_hold(dataset);
    c->ranks = dataset->ranks;
    c->owners = 1;
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return CONSM_OK;
done:
    if (data && data->from != dataset->data->from) {
        mem_free(data->from);
        mem_free(data->to);
        mem_free(data->weight);
    }
    mem_free(data);
    mem_free(c);
    return st;
}

consm_status consm_dataset_save(const struct consm_dataset *dataset, const char *path,
                                const char *format)
{
    consm_status st = CONSM_OK;
    TRY(GIVEN(dataset, path));
    TRY(dataset_whole(dataset, "saving a dataset"));
    TRY(data_save_path(dataset->data, path, format));
done:
    return st;
}
