/* Keeps the best parameters without the host: one kernel counts the correct validation rows, and
 * its last block decides and records the epoch; another kernel copies if needed. */
#include "cuda/device.cuh"

extern "C" {
#include "program/keep.h"
}

enum { KEEP_BLOCKS = 128 };

/* What the blocks found, and whether to copy the parameters. */
struct found {
    double right[KEEP_BLOCKS], tie[KEEP_BLOCKS];
    int keep;
};

int64_t scratch_keep(const struct instr *in)
{
    return in->op == OP_KEEP ? (int64_t)sizeof(struct found) : -1;
}

struct judging {
    const float *x, *loss; /* (n, c) logits; (1, 1) */
    const int32_t *row, *label;
    int64_t rows, c;
    bool ties, always;
    struct keep_record *record;
    struct found *found;
    uint32_t *counter;
};

__device__ static void write_down(const struct judging &j, double right, double tie)
{
    struct keep_record *record = j.record;
    struct kept_epoch now;
    now.loss = (double)*j.loss;
    now.right = (int64_t)right;
    now.tie = j.ties && j.rows > 0 ? tie / (double)j.rows : 0;
    now.kept = j.always || now.right > record->right ||
               (now.right == record->right && now.tie < record->tie);
    record->epoch[record->count++ % KEEP_ROOM] = now;
    if (now.kept) {
        record->right = now.right;
        record->tie = now.tie;
    }
    j.found->keep = now.kept != 0;
}

/* right = Σ_k [argmax x_r = label_r], tie = Σ_k -log softmax(x_r)[label_r], r = row[k] */
static __global__ void __launch_bounds__(THREADS) judge_kernel(struct judging j)
{
    begin();
    double right = 0, tie = 0;
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < j.rows;
         k += (int64_t)gridDim.x * THREADS) {
        const float *x = j.x + j.row[k] * j.c;
        const int64_t label = j.label[j.row[k]];
        int64_t top = 0;
        for (int64_t i = 1; i < j.c; i++)
            top = x[i] > x[top] ? i : top;
        right += top == label;
        if (j.ties) {
            double total = 0;
            for (int64_t i = 0; i < j.c; i++)
                total += exp((double)x[i] - (double)x[top]);
            tie += log(total) - ((double)x[label] - (double)x[top]);
        }
    }
    right = block_sum(right);
    tie = block_sum(tie);
    if (threadIdx.x == 0) {
        j.found->right[blockIdx.x] = right;
        j.found->tie[blockIdx.x] = tie;
    }
    if (!last_to_arrive(j.counter, gridDim.x))
        return;
    const bool mine = threadIdx.x < gridDim.x;
    right = block_sum(mine ? __ldcg(&j.found->right[threadIdx.x]) : 0.0);
    tie = block_sum(mine ? __ldcg(&j.found->tie[threadIdx.x]) : 0.0);
    if (threadIdx.x == 0)
        write_down(j, right, tie);
}

static __global__ void __launch_bounds__(THREADS)
    copy_kernel(float *best, const float *value, int64_t count, const struct found *found)
{
    begin();
    if (!found->keep)
        return;
    const int64_t stride = (int64_t)gridDim.x * THREADS;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < count; e += stride)
        best[e] = value[e];
}

KERNEL(keep)
{
    const struct index *index = in->attr.index;
    struct found *found = (struct found *)scratch_of(in);
    unsigned blocks = blocks_for(index->count, THREADS);
    static_assert((int)KEEP_BLOCKS <= (int)THREADS, "one thread adds what a block found");
    blocks = blocks < 1 ? 1 : blocks < KEEP_BLOCKS ? blocks : (unsigned)KEEP_BLOCKS;
    launch(cx, judge_kernel, dim3(blocks), THREADS,
           judging{in->src[0], in->src[1], index->row, in->attr.label, index->count,
                   in->src_cols[0], in->attr.a != 0, in->attr.b != 0,
                   (struct keep_record *)in->update[0], found, counters_of(in)});
    if (in->cols > 0)
        launch(cx, copy_kernel, dim3(blocks_for(in->cols, THREADS * 4)), THREADS, in->out,
               in->src[2], in->cols, found);
}
