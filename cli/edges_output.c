/* Writing and judging trust scores. */
#include "edges_output.h"

#include "io/file.h"
#include "report/text.h"
#include "stats/stats.h"
#include <math.h>

consm_status edges_write(const char *path, const struct consm_edge_scores *scores,
                         const struct consm_dataset *data, bool safe)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    struct text t = {.safe_csv = safe};
    char id[24];
    TRY(file_create(&w, path));
    text_add(&t, "source,target,score,kept\n");
    for (int64_t e = 0; e < scores->edges; e++) {
        text_csv(&t, consm_node_id(data, scores->from[e], id));
        text_add(&t, ",");
        text_csv(&t, consm_node_id(data, scores->to[e], id));
        text_printf(&t, ",%.6f,%d\n", (double)scores->score[e], scores->kept[e]);
        TRY(text_status(&t));
        if (t.length < 1 << 16)
            continue;
        TRY(file_write(w, t.data, t.length));
        t.length = 0;
    }
    TRY(file_write(w, t.data, t.length));
    TRY(file_commit(w));
done:
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
