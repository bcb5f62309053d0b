/* Keeps the best parameters in programs that validate themselves. One thread does it: there are few
 * rows, and the order of the sums is that of the host. */
#include "cpu/kernels.h"

#include "program/keep.h"
#include <string.h>

/* What the metric sorts and counts in. */
size_t scratch_keep(const struct instr *in)
{
    struct score_room room = {0};
    return in->op != OP_KEEP
               ? 0
               : (size_t)score_room_lay(&room, NULL, in->attr.metric, in->attr.index->count,
                                        (int32_t)in->src_cols[0], 1);
}

KERNEL(keep)
{
    struct keep_record *record = (struct keep_record *)in->update[0];
    const struct index *index = in->attr.index;
    struct score_room room = {0};
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
    score_room_lay(&room, in->scratch, in->attr.metric, x.rows, x.classes, 1);
    struct kept_epoch *now = &record->epoch[record->count++ % KEEP_ROOM];
    *now = (struct kept_epoch){.loss = (double)in->src[1][0],
                               .score = score_rows(in->attr.metric, &x, &room),
                               .tie = in->attr.a != 0 ? score_mean_surprise(&x, &room) : 0};
    now->kept = now->score > record->score || in->attr.b != 0 ||
                (now->score == record->score && now->tie < record->tie);
    if (!now->kept)
        return;
    record->score = now->score;
    record->tie = now->tie;
    memcpy(in->out, in->src[2], (size_t)in->cols * sizeof *in->out);
}
