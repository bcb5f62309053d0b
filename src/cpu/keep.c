/* Keeps the best parameters in programs that validate themselves. One thread does it: there are few
 * rows, and the order of the sums is that of the host. */
#include "cpu/kernels.h"

#include "program/keep.h"
#include <string.h>

/* What the metric sorts and counts in. */
size_t scratch_keep(const struct instr *in)
{
    if (in->op != OP_KEEP)
        return 0;
    return (2 * (size_t)in->attr.index->count + 3 * (size_t)in->src_cols[0]) * sizeof(uint64_t);
}

static struct score_room room_of(const struct instr *in)
{
    uint64_t *item = (uint64_t *)(void *)in->scratch, *spare = item + in->attr.index->count;
    return (struct score_room){
        .item = item, .spare = spare, .count = (int64_t *)(spare + in->attr.index->count)};
}

/* The mean of -log p of the labels. */
static double mean_surprise(const struct scored_rows *x)
{
    double sum = 0;
    for (int64_t k = 0; k < x->rows; k++)
        sum += score_surprise(x->logits + x->logit_row[k] * x->classes, x->classes,
                              x->label[x->label_row[k]]);
    return x->rows > 0 ? sum / (double)x->rows : 0;
}

KERNEL(keep)
{
    struct keep_record *record = (struct keep_record *)in->update[0];
    const struct index *index = in->attr.index;
    const struct score_room room = room_of(in);
    const struct scored_rows x = {.logits = in->src[0],
                                  .label = in->attr.label,
                                  .logit_row = index->row,
                                  .label_row = index->row,
                                  .rows = index->count,
                                  .classes = (int32_t)in->src_cols[0],
                                  .positive = in->attr.positive};
    (void)step;
    if (who.id != 0)
        return;
    struct kept_epoch *now = &record->epoch[record->count++ % KEEP_ROOM];
    *now = (struct kept_epoch){.loss = (double)in->src[1][0],
                               .score = score_rows(in->attr.metric, &x, &room),
                               .tie = in->attr.a != 0 ? mean_surprise(&x) : 0};
    now->kept = now->score > record->score || in->attr.b != 0 ||
                (now->score == record->score && now->tie < record->tie);
    if (!now->kept)
        return;
    record->score = now->score;
    record->tie = now->tie;
    memcpy(in->out, in->src[2], (size_t)in->cols * sizeof *in->out);
}
