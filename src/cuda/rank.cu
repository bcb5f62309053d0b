/* Ranks rows by the score of a class. */

/*
 * Rows are sorted by class, then by the score of their class (the hits of each class, best first):
 * each block sorts a tile, then runs of tiles are merged, two by two. Every other row finds its
 * place among the hits by bisection. All counts are integers and all sums have a fixed order.
 */
#include "cuda/rank.cuh"

static const int SORTERS = 512;          /* threads that sort a tile, */
static const int HELD = 4;               /* and items that each of them holds */
static const int TILE = SORTERS * HELD;  /* items */
static const int EACH = 8;               /* items that a thread merges, */
static const int CHUNK = THREADS * EACH; /* and a block */
static_assert(TILE % CHUNK == 0, "a chunk is in one pair of runs");

/* Two classes have the same area. */
struct ranking ranking_of(const struct instr *in, char *base, int64_t *used)
{
    const bool one = in->attr.metric == SCORE_AVERAGE_PRECISION;
    struct ranking r = {};
    r.x = in->src[0];
    r.row = in->attr.index->row;
    r.label = in->attr.label;
    r.rows = in->attr.index->count;
    r.c = in->src_cols[0];
    r.tiles = ceil_div(r.rows, TILE);
    r.classes = one || r.c == 2 ? 1 : r.c;
    r.positive = one ? in->attr.positive : -1;
    r.item = take<uint64_t>(base, used, r.tiles * TILE);
    r.spare = take<uint64_t>(base, used, r.tiles * TILE);
    if (r.c > 2)
        r.bits = take<uint32_t>(base, used, r.c * r.rows);
    r.part = take<double>(base, used, r.classes * RANK_BLOCKS);
    r.blocks = blocks_for(r.rows, THREADS);
    r.blocks = r.blocks < RANK_BLOCKS ? r.blocks : (unsigned)RANK_BLOCKS;
    return r;
}

/* ---- scores -------------------------------------------------------------- */

/* Bits that grow as a score falls: as in src/stats/rank.c */
__device__ static uint32_t bits_of(float score)
{
    uint32_t bits;
    score = isnan(score) ? -INFINITY : score + 0.0f; /* -0 is 0 */
    memcpy(&bits, &score, sizeof bits);
    return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

/* log(p / (1 - p)) of any row, as in src/stats/odds.c */
__device__ static float log_odds(const float *x, int64_t c, int64_t of)
{
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < c; i++)
        top = i != of && (double)x[i] > top ? (double)x[i] : top;
    for (int64_t i = 0; i < c; i++)
        sum += i != of ? exp((double)x[i] - top) : 0;
    return (float)((double)x[of] - top - log(sum));
}

/* The terms of a row. Those below 1 are added apart from those of the largest logits, which are 1:
 * the sum without one of these has all its digits. */
struct terms {
    double top, below, ones, odd; /* odd: NaN if a logit is not finite */

    __device__ double add(double x)
    {
        const double e = exp(x - top);
        below += e < 1 ? e : 0;
        ones += e < 1 ? 0 : 1;
        odd += x - x;
        return e;
    }
    __device__ bool plain() const
    {
        return odd == 0 && below + (ones - 1) > 0x1p-900;
    }
    __device__ float odds(double x, double e) const
    {
        return (float)(x - top - log(e < 1 ? below + ones - e : below + (ones - 1)));
    }
};

/* A thread takes a row; all classes, or the one of average precision. exp is taken once for every
 * class that registers hold. */
static __global__ void __launch_bounds__(THREADS) scores_kernel(struct ranking r)
{
    begin();
    const int KEPT = 16;
    const int64_t stride = (int64_t)gridDim.x * THREADS, from = r.positive >= 0 ? r.positive : 0,
                  to = r.positive >= 0 ? r.positive + 1 : r.c;
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < r.rows; k += stride) {
        const float *x = r.x + r.row[k] * r.c;
        struct terms t = {(double)x[0], 0, 0, 0};
        double term[KEPT];
        for (int64_t i = 1; i < r.c; i++)
            t.top = (double)x[i] > t.top ? (double)x[i] : t.top;
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            term[i] = i < r.c ? t.add((double)x[i]) : 0;
        for (int64_t i = KEPT; i < r.c; i++)
            t.add((double)x[i]);
        if (!t.plain()) {
            for (int64_t i = from; i < to; i++)
                r.bits[i * r.rows + k] = bits_of(log_odds(x, r.c, i));
            continue;
        }
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            if (from <= i && i < to)
                r.bits[i * r.rows + k] = bits_of(t.odds((double)x[i], term[i]));
        for (int64_t i = from > KEPT ? from : KEPT; i < to; i++)
            r.bits[i * r.rows + k] = bits_of(t.odds((double)x[i], exp((double)x[i] - t.top)));
    }
}

/* The bits of a row's score of a class. */
__device__ static uint32_t score_bits(const struct ranking &r, int64_t k, int64_t of)
{
    if (r.bits)
        return r.bits[of * r.rows + k];
    const float *x = r.x + r.row[k] * r.c;
    return bits_of(r.c < 2 ? 0 : (float)((double)x[of] - (double)x[1 - of]));
}

/* An item of group 0, 1, …: rows are sorted by groups. */
__device__ static uint64_t item_in(int64_t group, uint32_t bits)
{
    return (uint64_t)group << 32 | bits;
}

/* Groups are classes; for average precision the hits, then all others. */
__device__ static uint64_t item_of(const struct ranking &r, int64_t k)
{
    const int32_t label = r.label[r.row[k]];
    if (r.positive >= 0)
        return item_in(label != r.positive, score_bits(r, k, r.positive));
    return item_in(label, score_bits(r, k, label));
}

/* ---- sorting ------------------------------------------------------------- */

/* Sorts a tile by Batcher's bitonic network; thread t holds items HELD·t … in the end. Partners are
 * in the same thread, in the same warp, or else met in shared memory. */
__device__ static void sort_tile(uint64_t (&v)[HELD], uint64_t (*meet)[SORTERS])
{
    const int t = threadIdx.x;
    for (int size = 2; size <= TILE; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            uint64_t other[HELD];
            const int apart = stride / HELD; /* threads */
            if (apart >= WARP) {
                __syncthreads();
#pragma unroll
                for (int e = 0; e < HELD; e++)
                    meet[e][t] = v[e];
                __syncthreads();
            }
#pragma unroll
            for (int e = 0; e < HELD; e++)
                other[e] = apart >= WARP ? meet[e][t ^ apart]
                           : apart > 0   ? __shfl_xor_sync(0xffffffffu, v[e], apart)
                           : stride == 1 ? v[e ^ 1]
                                         : v[e ^ 2];
#pragma unroll
            for (int e = 0; e < HELD; e++) {
                const int i = t * HELD + e;
                const bool least = ((i & size) == 0) == ((i & stride) == 0);
                v[e] = least == (other[e] < v[e]) ? other[e] : v[e];
            }
        }
}

/* Grid: tiles. */
static __global__ void __launch_bounds__(SORTERS) tile_kernel(struct ranking r)
{
    begin();
    __shared__ uint64_t meet[HELD][SORTERS];
    const uint64_t NONE = ~(uint64_t)0; /* behind all rows */
    const int64_t from = blockIdx.x * (int64_t)TILE;
    uint64_t v[HELD];
#pragma unroll
    for (int e = 0; e < HELD; e++) {
        const int64_t k = from + e * SORTERS + threadIdx.x;
        v[e] = k < r.rows ? item_of(r, k) : NONE;
    }
    sort_tile(v, meet);
#pragma unroll
    for (int e = 0; e < HELD; e++)
        r.item[from + threadIdx.x * HELD + e] = v[e];
}

/* How many of the first `taken` items of two merged runs come from the first run. */
__device__ static int split(const uint64_t *a, int as, const uint64_t *b, int bs, int taken)
{
    int low = taken > bs ? taken - bs : 0, high = taken < as ? taken : as;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle] <= b[taken - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same by a warp, whose lanes look at 32 places at a time: memory is far away. */
__device__ static int64_t split_far(const uint64_t *a, int64_t as, const uint64_t *b, int64_t bs,
                                    int64_t taken)
{
    int64_t low = taken > bs ? taken - bs : 0, high = taken < as ? taken : as;
    while (low < high) {
        const int64_t step = (high - low + WARP - 1) / WARP, at = low + threadIdx.x % WARP * step;
        const int from_a =
            __popc(__ballot_sync(0xffffffffu, at < high && a[at] <= b[taken - 1 - at]));
        if (from_a == 0)
            break;
        high = low + from_a * step < high ? low + from_a * step : high;
        low += (from_a - 1) * step + 1;
    }
    return low;
}

/* Merges runs of that length, two by two; a block writes CHUNK items, which come from one
 * pair of runs. Grid: items. */
static __global__ void __launch_bounds__(THREADS) merge_kernel(struct ranking r, int64_t run)
{
    begin();
    __shared__ uint64_t item[CHUNK];
    __shared__ int64_t border[2];
    const int64_t all = r.tiles * TILE, to = (int64_t)blockIdx.x * CHUNK,
                  pair = to - to % (2 * run);
    const int64_t as = all - pair < run ? all - pair : run,
                  bs = all - pair - as < run ? all - pair - as : run;
    const uint64_t *a = r.item + pair, *b = a + as;
    if (threadIdx.x < 2 * WARP) {
        const int end = threadIdx.x / WARP;
        const int64_t found = split_far(a, as, b, bs, to - pair + end * CHUNK);
        if (threadIdx.x % WARP == 0)
            border[end] = found;
    }
    __syncthreads();
    const int64_t first = border[0], other = to - pair - first;
    const int mine = (int)(border[1] - first), taken = (int)threadIdx.x * EACH;
    for (int i = threadIdx.x; i < CHUNK; i += THREADS)
        item[i] = i < mine ? a[first + i] : b[other + i - mine];
    __syncthreads();
    const uint64_t *left = item, *right = item + mine;
    int i = split(left, mine, right, CHUNK - mine, taken), k = taken - i;
    uint64_t next[EACH];
#pragma unroll
    for (int n = 0; n < EACH; n++)
        next[n] = k >= CHUNK - mine || (i < mine && left[i] <= right[k]) ? left[i++] : right[k++];
    __syncthreads();
#pragma unroll
    for (int n = 0; n < EACH; n++)
        item[taken + n] = next[n];
    __syncthreads();
    for (int n = threadIdx.x; n < CHUNK; n += THREADS)
        r.spare[to + n] = item[n];
}

/* ---- places -------------------------------------------------------------- */

/* The first of items [from, to) that is not below x. */
__device__ static int64_t first_from(const uint64_t *item, int64_t from, int64_t to, uint64_t x)
{
    while (from < to) {
        const int64_t middle = (from + to) / 2;
        if (item[middle] < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The hits that a row of another class with that score is behind; one with the same score is half.
 */
__device__ static double hits_before(const uint64_t *item, int64_t from, int64_t to, uint64_t x)
{
    const int64_t first = first_from(item, from, to, x);
    const bool equal = first < to && item[first] == x;
    const int64_t end = equal ? first_from(item, first + 1, to, x + 1) : first;
    return (double)(first - from) + (double)(end - first) / 2;
}

/* The share of hits among the rows that are not behind hit k of [0, hits). */
__device__ static double precision_at(const struct ranking &r, int64_t k, int64_t hits)
{
    const uint64_t x = r.item[k], other = item_in(1, (uint32_t)x);
    const bool again = k + 1 < hits && r.item[k + 1] == x;
    const int64_t above = again ? first_from(r.item, k + 1, hits, x + 1) : k + 1;
    const int64_t misses = first_from(r.item, hits, r.rows, other + 1) - hits;
    return (double)above / (double)(above + misses);
}

/* Sums over the rows of other classes, or over the hits. Grid: blocks, classes. */
static __global__ void __launch_bounds__(THREADS) places_kernel(struct ranking r)
{
    begin();
    __shared__ int64_t border[2]; /* of the class's hits */
    const int64_t of = blockIdx.y, stride = (int64_t)gridDim.x * THREADS;
    double found = 0;
    if (threadIdx.x < 2)
        border[threadIdx.x] = first_from(r.item, 0, r.rows, item_in(of + threadIdx.x, 0));
    __syncthreads();
    const int64_t from = border[0], to = border[1];
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < r.rows; k += stride)
        if (r.positive >= 0)
            found += k < to ? precision_at(r, k, to) : 0;
        else if (r.label[r.row[k]] != of)
            found += hits_before(r.item, from, to, item_in(of, score_bits(r, k, of)));
    found = block_sum(found);
    if (threadIdx.x == 0)
        r.part[of * RANK_BLOCKS + blockIdx.x] = found;
}

/* ---- all of it ----------------------------------------------------------- */

void rank_rows(struct ranking *r, const struct cuda_context *cx)
{
    const int64_t all = r->tiles * TILE;
    if (r->bits)
        launch(cx, scores_kernel, dim3(blocks_for(r->rows, THREADS)), THREADS, *r);
    launch(cx, tile_kernel, dim3((unsigned)r->tiles), SORTERS, *r);
    for (int64_t run = TILE; run < all; run *= 2) {
        launch(cx, merge_kernel, dim3(blocks_for(all, CHUNK)), THREADS, *r, run);
        uint64_t *sorted = r->spare;
        r->spare = r->item;
        r->item = sorted;
    }
    launch(cx, places_kernel, dim3(r->blocks, (unsigned)r->classes), THREADS, *r);
}
