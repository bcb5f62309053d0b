/* Writes and measures trust scores. */
#include "edges_output.h"

#include "app/run.h"
#include "base/alloc.h"
#include "io/file.h"
#include "report/text.h"
#include "stats/stats.h"
#include "train/edge_trust.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 65536 }; /* edges of a graph in parts that rank 0 holds at a time */

struct scored {
    int32_t from, to, kept;
    float score, low, high;
    float witness[WITNESSES]; /* 0 if the model has none */
};

/* The edges from `first` on, at most BLOCK of them; the caller frees *out, also a previous one. */
static consm_status copy_block(struct scored **out, int64_t *count,
                               const struct consm_edge_scores *scores, int64_t first)
{
    consm_status st = CONSM_OK;
    int64_t left = scores->edges - first;
    mem_free(*out);
    *out = NULL;
    *count = left < BLOCK ? left : BLOCK;
    TRY(NEW(*out, *count + 1));
    for (int64_t k = first; k < first + *count; k++) {
        struct scored *to = &(*out)[k - first];
        *to = (struct scored){scores->from[k],
                              scores->to[k],
                              scores->kept[k],
                              scores->score[k],
                              scores->low[k],
                              scores->high[k],
                              {0}};
        if (scores->witness)
            memcpy(to->witness, scores->witness + k * WITNESSES, sizeof to->witness);
    }
done:
    return st;
}

/* The same for a rank's edges, which are sent to rank 0 for writing. */
static consm_status bring_block(struct scored **out, int64_t *count,
                                const struct consm_edge_scores *scores, const struct ranks *ranks,
                                int rank, int64_t first)
{
    consm_status st = CONSM_OK;
    int64_t *send = NULL, *got, all = ranks->size, mine = 0;
    void *came = NULL;
    TRY(ZNEW(send, 2 * (all + 1)));
    got = send + all + 1;
    if (rank == ranks->rank)
        TRY(copy_block(out, &mine, scores, first));
    for (int64_t p = 1; p <= all; p++)
        send[p] = mine;
    TRY(ranks->swap(&came, got, *out, send, sizeof **out));
    mem_free(*out);
    *out = came;
    *count = got[all];
done:
    mem_free(send);
    return st;
}

/* A cell; empty where there is not a number. */
static void add_number(struct text *t, float x)
{
    text_add(t, ",");
    if (isfinite(x))
        text_printf(t, "%.6f", (double)x);
}

static consm_status write_block(struct file_writer *w, struct text *t, const struct scored *edge,
                                int64_t count, const struct consm_dataset *data, int witnesses)
{
    consm_status st = CONSM_OK;
    char id[24];
    for (int64_t e = 0; e < count; e++) {
        text_csv(t, consm_node_id(data, edge[e].from, id));
        text_add(t, ",");
        text_csv(t, consm_node_id(data, edge[e].to, id));
        text_printf(t, ",%.6f,%d", (double)edge[e].score, edge[e].kept);
        add_number(t, edge[e].low);
        add_number(t, edge[e].high);
        for (int k = 0; k < witnesses; k++)
            text_printf(t, ",%.6g", (double)edge[e].witness[k]);
        text_add(t, "\n");
        TRY(text_status(t));
        if (t->length < 1 << 16)
            continue;
        TRY(file_write(w, t->data, t->length));
        t->length = 0;
    }
done:
    return st;
}

/* In a graph in parts every rank has the edges of its own nodes; otherwise every rank has all edges
 * and uses its own. */
consm_status edges_write(const char *path, const struct consm_edge_scores *scores,
                         const struct consm_dataset *data, bool safe, bool witnesses)
{
    consm_status st = CONSM_OK;
    int columns = witnesses ? scores->witnesses : 0;
    struct file_writer *w = NULL;
    struct text t = {.safe_csv = safe};
    struct scored *block = NULL;
    int64_t count;
    struct consm_dataset_info info = {.size = sizeof info};
    TRY(consm_dataset_info(&info, data));
    const struct ranks *ranks = dataset_ranks(data);
    int parts = info.in_parts ? ranks->size : 1;
    TRY(file_create(&w, path));
    text_add(&t, "source,target,score,kept,low,high");
    for (int k = 0; k < columns; k++)
        text_printf(&t, ",%s", scores->witness_name[k]);
    text_add(&t, "\n");
    for (int rank = 0; rank < parts; rank++) {
        int64_t edges = scores->edges;
        if (parts > 1)
            edges = (int64_t)ranks->total(rank == ranks->rank ? (uint64_t)edges : 0);
        for (int64_t first = 0; first < edges; first += BLOCK) {
            TRY(parts > 1 ? bring_block(&block, &count, scores, ranks, rank, first)
                          : copy_block(&block, &count, scores, first));
            TRY(write_block(w, &t, block, count, data, columns));
        }
    }
    TRY(file_write(w, t.data, t.length));
    TRY(file_commit(w));
done:
    mem_free(block);
    text_free(&t);
    file_close(w);
    return st;
}

consm_status edges_judge(struct edges_quality *q, const struct consm_edge_scores *scores,
                         const struct consm_dataset *data)
{
    consm_status st = CONSM_OK;
    const int32_t *label = consm_dataset_labels(data);
    float *score = NULL;
    uint8_t *same = NULL;
    int64_t n = 0, positives = 0;
    TRY(NEW(score, scores->edges));
    TRY(NEW(same, scores->edges));
    for (int64_t e = 0; e < scores->edges; e++) {
        int32_t i = label[scores->from[e]], j = label[scores->to[e]];
        if (i < 0 || j < 0)
            continue;
        score[n] = scores->score[e];
        same[n] = i == j;
        positives += same[n++];
    }
    *q = (struct edges_quality){n, n ? (double)positives / (double)n : NAN, NAN, NAN, NAN};
    if (positives == 0 || positives == n)
        goto done;
    struct stats_top top;
    struct stats_reliability reliability;
    TRY(stats_top_k(&top, score, same, n, positives));
    TRY(stats_auc(&q->auc, score, same, n));
    TRY(stats_reliability(&reliability, score, same, n, 10));
    q->f1 = top.f1;
    q->ece = reliability.ece;
done:
    mem_free(score);
    mem_free(same);
    return st;
}
