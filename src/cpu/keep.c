/* Keeps the best parameters in programs that validate themselves. One thread counts and decides:
 * there are few rows, and the order of the sum is that of the host. */
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

struct judged keep_judge(const struct instr *in, int64_t k)
{
    int64_t c = in->src_cols[0], row = in->attr.index->row[k];
    const float *x = in->src[0] + row * c;
    int64_t top = largest(x, c), label = in->attr.label[row];
    return (struct judged){top == label, in->attr.a != 0 ? surprise(x, c, label, top) : 0};
}

void keep_decide(const struct instr *in, struct judged all)
{
    struct keep_record *record = (struct keep_record *)in->update[0];
    struct kept_epoch *now = &record->epoch[record->count++ % KEEP_ROOM];
    *now = (struct kept_epoch){
        .loss = (double)in->src[1][0], .right = (int64_t)all.right, .tie = all.surprise};
    if (in->attr.index->count > 0)
        now->tie /= (double)in->attr.index->count;
    now->kept = now->right > record->right || in->attr.b != 0 ||
                (now->right == record->right && now->tie < record->tie);
    if (!now->kept)
        return;
    record->right = now->right;
    record->tie = now->tie;
    memcpy(in->out, in->src[2], (size_t)in->cols * sizeof *in->out);
}

KERNEL(keep)
{
    struct judged all = {0};
    (void)step;
    if (who.id != 0)
        return;
    for (int64_t k = 0; k < in->attr.index->count; k++) {
        struct judged one = keep_judge(in, k);
        all.right += one.right;
        all.surprise += one.surprise;
    }
    keep_decide(in, all);
}
