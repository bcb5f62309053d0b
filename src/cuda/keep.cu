/* Keeps the best parameters without the host: one kernel counts over the validation rows, and its
 * last block computes the metric, decides and records the epoch; another kernel copies if needed.
 * Metrics that rank rows need those of rank.cu before. */
#include "cuda/rank.cuh"

enum { KEEP_BLOCKS = 128 }; /* at most */

/* What the blocks found, and whether to copy the parameters. */
struct found {
    double right[KEEP_BLOCKS], tie[KEEP_BLOCKS];
    int keep;
};

/* ---- scratch ------------------------------------------------------------- */

static bool ranks(const struct instr *in)
{
    return in->attr.metric == SCORE_ROC_AUC || in->attr.metric == SCORE_AVERAGE_PRECISION;
}

int64_t scratch_keep(const struct instr *in)
{
    int64_t used = 0;
    if (in->op != OP_KEEP)
        return -1;
    take<struct found>(NULL, &used, 1);
    if (ranks(in))
        ranking_of(in, NULL, &used);
    return used;
}

/* ---- the metric ---------------------------------------------------------- */

struct judging {
    const float *x, *loss; /* (n, c) logits; (1, 1) */
    const int32_t *row, *label;
    int64_t rows, c;
    enum score_metric metric;
    int32_t positive;
    bool ties, always;
    struct keep_record *record;
    struct found *found;
    uint32_t *counter, *count; /* count (3, c): rows of a class, predicted as it, both */
    struct ranking ranking;
};

__device__ static bool counts(enum score_metric metric)
{
    return metric != SCORE_ACCURACY && metric != SCORE_LOG_LIKELIHOOD;
}

/* The mean over classes of recall, or of F1. */
__device__ static double class_mean(const struct judging &j)
{
    const uint32_t *are = j.count, *said = are + j.c, *both = said + j.c;
    double sum = 0, classes = 0;
    for (int64_t k = 0; k < j.c; k++) {
        const uint32_t rows = __ldcg(&are[k]);
        const double whole =
            (double)rows + (double)(j.metric == SCORE_MACRO_F1 ? __ldcg(&said[k]) : rows);
        sum += whole > 0 ? 2 * (double)__ldcg(&both[k]) / whole : 0;
        classes += whole > 0;
    }
    return sum / classes;
}

/* What places_kernel added for a class. */
__device__ static double places(const struct judging &j, int64_t k)
{
    const double *part = j.ranking.part + k * RANK_BLOCKS;
    double sum = 0;
    for (unsigned b = threadIdx.x; b < j.ranking.blocks; b += THREADS)
        sum += part[b];
    return block_sum(sum);
}

/* The mean over classes. A warp takes a class at a time: what places_kernel added are halves of
 * whole numbers, so their order does not matter. */
__device__ static double mean_auc(const struct judging &j)
{
    __shared__ double area[KEEP_MOST_CLASSES]; /* -1: not defined */
    const int lane = threadIdx.x % WARP;
    double sum = 0, classes = 0;
    for (int64_t k = threadIdx.x / WARP; k < j.ranking.classes; k += WARPS) {
        const double are = (double)__ldcg(&j.count[k]), others = (double)j.rows - are;
        double won = 0;
        for (unsigned b = lane; b < j.ranking.blocks; b += WARP)
            won += j.ranking.part[k * RANK_BLOCKS + b];
        won = lanes_sum(won, 1, WARP);
        if (lane == 0)
            area[k] = are > 0 && others > 0 ? won / (are * others) : -1;
    }
    __syncthreads();
    for (int64_t k = 0; k < j.ranking.classes; k++) {
        sum += area[k] < 0 ? 0 : area[k];
        classes += area[k] >= 0;
    }
    return classes > 0 ? sum / classes : 0;
}

/* Called by a whole block. */
__device__ static double score(const struct judging &j, double right, double tie)
{
    if (j.rows == 0)
        return 0;
    switch (j.metric) {
    case SCORE_MACRO_F1:
    case SCORE_BALANCED_ACCURACY: return class_mean(j);
    case SCORE_AVERAGE_PRECISION: return places(j, 0) / (double)__ldcg(&j.count[j.positive]);
    case SCORE_ROC_AUC: return mean_auc(j);
    case SCORE_LOG_LIKELIHOOD: return exp(-tie / (double)j.rows);
    default: return right / (double)j.rows;
    }
}

__device__ static void write_down(const struct judging &j, double score, double tie)
{
    struct keep_record *record = j.record;
    struct kept_epoch now;
    now.loss = (double)*j.loss;
    now.score = score;
    now.tie = j.ties && j.rows > 0 ? tie / (double)j.rows : 0;
    now.kept = j.always || now.score > record->score ||
               (now.score == record->score && now.tie < record->tie);
    record->epoch[record->count++ % KEEP_ROOM] = now;
    if (now.kept) {
        record->score = now.score;
        record->tie = now.tie;
    }
    j.found->keep = now.kept != 0;
}

/* right = Σ_k [argmax x_r = label_r], tie = Σ_k -log softmax(x_r)[label_r], r = row[k] */
static __global__ void __launch_bounds__(THREADS) judge_kernel(struct judging j)
{
    begin();
    __shared__ uint32_t count[3 * KEEP_MOST_CLASSES];
    const bool counting = counts(j.metric), surprise = j.ties || j.metric == SCORE_LOG_LIKELIHOOD;
    const int numbers = counting ? (int)(3 * j.c) : 0;
    double right = 0, tie = 0;
    for (int i = threadIdx.x; i < numbers; i += THREADS)
        count[i] = 0;
    __syncthreads();
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < j.rows;
         k += (int64_t)gridDim.x * THREADS) {
        const float *x = j.x + j.row[k] * j.c;
        const int64_t label = j.label[j.row[k]];
        int64_t top = 0;
        for (int64_t i = 1; i < j.c; i++)
            top = x[i] > x[top] ? i : top;
        right += top == label;
        if (counting) {
            atomicAdd(&count[label], 1u);
            atomicAdd(&count[j.c + top], 1u);
            atomicAdd(&count[2 * j.c + top], top == label ? 1u : 0u);
        }
        if (surprise) {
            double total = 0;
            for (int64_t i = 0; i < j.c; i++)
                total += exp((double)x[i] - (double)x[top]);
            tie += log(total) - ((double)x[label] - (double)x[top]);
        }
    }
    right = block_sum(right);
    tie = block_sum(tie);
    for (int i = threadIdx.x; i < numbers; i += THREADS)
        if (count[i] > 0)
            atomicAdd(&j.count[i], count[i]);
    if (threadIdx.x == 0) {
        j.found->right[blockIdx.x] = right;
        j.found->tie[blockIdx.x] = tie;
    }
    if (!last_to_arrive(j.counter, gridDim.x))
        return;
    const bool mine = threadIdx.x < gridDim.x;
    right = block_sum(mine ? __ldcg(&j.found->right[threadIdx.x]) : 0.0);
    tie = block_sum(mine ? __ldcg(&j.found->tie[threadIdx.x]) : 0.0);
    const double found = score(j, right, tie);
    if (threadIdx.x == 0)
        write_down(j, found, tie);
    __syncthreads();
    for (int i = threadIdx.x; i < numbers; i += THREADS)
        j.count[i] = 0; /* counters are zero between kernels */
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
    char *base = (char *)scratch_of(in);
    int64_t used = 0;
    struct judging j = {};
    unsigned blocks = blocks_for(index->count, THREADS);
    static_assert((int)KEEP_BLOCKS <= (int)THREADS, "one thread adds what a block found");
    static_assert(1 + 3 * (int)KEEP_MOST_CLASSES <= (int)COUNTERS, "a counter for every count");
    blocks = blocks < 1 ? 1 : blocks < KEEP_BLOCKS ? blocks : (unsigned)KEEP_BLOCKS;
    j.x = in->src[0];
    j.loss = in->src[1];
    j.row = index->row;
    j.label = in->attr.label;
    j.rows = index->count;
    j.c = in->src_cols[0];
    j.metric = in->attr.metric;
    j.positive = in->attr.positive;
    j.ties = in->attr.a != 0;
    j.always = in->attr.b != 0;
    j.record = (struct keep_record *)in->update[0];
    j.found = take<struct found>(base, &used, 1);
    j.counter = counters_of(in);
    j.count = j.counter + 1;
    if (ranks(in) && j.rows > 0) {
        j.ranking = ranking_of(in, base, &used);
        rank_rows(&j.ranking, cx);
    }
    launch(cx, judge_kernel, dim3(blocks), THREADS, j);
    if (in->cols > 0)
        launch(cx, copy_kernel, dim3(blocks_for(in->cols, THREADS * 4)), THREADS, in->out,
               in->src[2], in->cols, j.found);
}
