/* Keeping the best parameters, for programs that judge themselves. One thread counts and decides:
 * it is a few rows, and the order of the sum is the one in which the host would count. */
#include "cpu/kernels.h"

#include "program/keep.h"
#include <math.h>
#include <string.h>

static int64_t largest(const float *x, int64_t c)
{
    int64_t best = 0;
    for (int64_t k = 1; k < c; k++)
        if (x[k] > x[best])
            best = k;
    return best;
}

/* -log softmax(x)[label] */
static double surprise(const float *x, int64_t c, int64_t label, int64_t top)
{
    double total = 0;
    for (int64_t k = 0; k < c; k++)
        total += exp((double)x[k] - (double)x[top]);
    return log(total) - ((double)x[label] - (double)x[top]);
}

KERNEL(keep)
{
    struct keep_record *record = (struct keep_record *)in->update[0];
    const struct index *index = in->attr.index;
    int64_t c = in->src_cols[0];
    (void)step;
    if (who.id != 0)
        return;
    struct kept_epoch *now = &record->epoch[record->count++ % KEEP_ROOM];
    *now = (struct kept_epoch){.loss = (double)in->src[1][0]};
    for (int64_t k = 0; k < index->count; k++) {
        const float *x = in->src[0] + index->row[k] * c;
        int64_t top = largest(x, c), label = in->attr.label[index->row[k]];
        now->right += top == label;
        if (in->attr.a != 0)
            now->tie += surprise(x, c, label, top);
    }
    if (index->count > 0)
        now->tie /= (double)index->count;
    now->kept = now->right > record->right || in->attr.b != 0 ||
                (now->right == record->right && now->tie < record->tie);
    if (!now->kept)
        return;
    record->right = now->right;
    record->tie = now->tie;
    memcpy(in->out, in->src[2], (size_t)in->cols * sizeof *in->out);
}
