/* Two-hop sets of all nodes, mapped to references and pooled. A block processes one node completely
 * in its own memory, and no set is stored. Members are found in the order of src/match/walk.h, so a
 * sampled set has the same members. */
#include "cuda/transport.cuh"

#include <limits.h>

struct hops {
    float *out;
    const float *x, *cost, *kept, *wanted;
    const int64_t *start;
    const int32_t *col;
    int64_t nodes, width, heads, cap, largest;
    uint64_t seed;
    struct route route;
    char *room; /* `each` bytes a block */
    int64_t each;
};

/* ---- how many blocks, and what each needs -------------------------------- */

enum { HOP_BLOCKS = 1024, HOP_BYTES = 32 << 20 };

static int64_t largest_set(const struct instr *in)
{
    const int64_t cap = in->attr.column;
    return cap > 0 && cap < in->rows ? cap : in->rows;
}

/* Of the plan and the potentials; then marks, members, counts, references. */
static int64_t block_bytes(const struct instr *in)
{
    const int64_t largest = largest_set(in), heads = in->attr.heads;
    const int64_t bytes = (largest * (heads + 1) + set_fixed(heads)) * (int64_t)sizeof(double) +
                          (3 * (in->rows + 1) + largest) * (int64_t)sizeof(int32_t);
    return ceil_div(bytes, 64) * 64;
}

/* As many as fit into a quarter of the result's size, or into 32 MB. */
static int64_t hop_blocks(const struct instr *in)
{
    const int64_t result = in->rows * in->cols, least = HOP_BYTES, most = HOP_BLOCKS;
    const int64_t room = result > least ? result : least;
    int64_t blocks = room / block_bytes(in);
    blocks = blocks < 1 ? 1 : blocks < most ? blocks : most;
    return blocks < in->rows ? blocks : in->rows;
}

int64_t scratch_hops(const struct instr *in)
{
    return in->op == OP_POOL_HOPS ? hop_blocks(in) * block_bytes(in) : -1;
}

/* ---- the walk ------------------------------------------------------------ */

/* A block's walk. mark: INT_MAX for nodes not met, 0 for the start and its neighbours, else the
 * position in found of the first neighbour that leads there. */
struct walk {
    int *mark;       /* (nodes) */
    int32_t *found;  /* (nodes + 1) */
    int32_t *before; /* (nodes + 1) how many were found before each neighbour's */
};

/* For each entry of a row, WARP at a time: f(column or -1, lane's turn). Lanes stay together. */
template <class F> __device__ static void each_kept(const struct hops &a, int64_t row, F f)
{
    const int64_t last = a.start[row + 1];
    for (int64_t from = a.start[row]; from < last; from += WARP) {
        const int64_t e = from + threadIdx.x % WARP;
        f(e < last && a.kept[e] != 0 ? a.col[e] : -1);
    }
}

/* Appends new columns in order. */
__device__ static void put(int32_t *found, int64_t &count, int32_t v, bool fresh)
{
    const unsigned all = __ballot_sync(0xffffffffu, fresh);
    if (fresh)
        found[count + __popc(all & ((1u << (threadIdx.x % WARP)) - 1))] = v;
    count += __popc(all);
}

/* The start and its neighbours, by one warp. */
__device__ static int64_t walk_first(const struct hops &a, const struct walk &w, int64_t node)
{
    int64_t count = 1;
    if (threadIdx.x == 0) {
        w.found[0] = (int32_t)node;
        w.mark[node] = 0;
    }
    __syncwarp();
    each_kept(a, node, [&](int32_t v) {
        const bool fresh = v >= 0 && w.mark[v] != 0;
        put(w.found, count, v, fresh);
        if (fresh)
            w.mark[v] = 0;
    });
    return count;
}

/* Computes before[j] from how many nodes each neighbour leads to first, by one warp; returns the
 * number found in all. */
__device__ static int64_t walk_offsets(const struct walk &w, int64_t direct)
{
    const int lane = threadIdx.x;
    int64_t total = direct;
    for (int64_t from = 1; from < direct; from += WARP) {
        const int64_t j = from + lane;
        const int mine = j < direct ? w.before[j] : 0;
        int sum = mine;
        for (int bit = 1; bit < WARP; bit <<= 1) {
            const int other = __shfl_sync(0xffffffffu, sum, lane - bit);
            sum += lane >= bit ? other : 0;
        }
        if (j < direct)
            w.before[j] = (int32_t)(total + sum - mine);
        total += __shfl_sync(0xffffffffu, sum, WARP - 1);
    }
    return total;
}

/* Fills found; returns the number to all threads. */
__device__ static int64_t walk_all(const struct hops &a, const struct walk &w, int64_t node)
{
    __shared__ int64_t shared[2];
    const int warp = threadIdx.x / WARP;
    if (warp == 0) {
        const int64_t count = walk_first(a, w, node);
        if (threadIdx.x == 0)
            shared[0] = count;
    }
    __syncthreads();
    const int64_t direct = shared[0];
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS)
        each_kept(a, w.found[j], [&](int32_t v) {
            if (v >= 0)
                atomicMin(&w.mark[v], (int)j);
        });
    __syncthreads();
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS) {
        int count = 0;
        each_kept(a, w.found[j], [&](int32_t v) {
            count += __popc(__ballot_sync(0xffffffffu, v >= 0 && w.mark[v] == (int)j));
        });
        if (threadIdx.x % WARP == 0)
            w.before[j] = count;
    }
    __syncthreads();
    if (warp == 0) {
        const int64_t total = walk_offsets(w, direct);
        if (threadIdx.x == 0)
            shared[1] = total;
    }
    __syncthreads();
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS) {
        int64_t at = w.before[j];
        each_kept(a, w.found[j],
                  [&](int32_t v) { put(w.found, at, v, v >= 0 && w.mark[v] == (int)j); });
    }
    __syncthreads();
    const int64_t count = shared[1];
    for (int64_t i = threadIdx.x; i < count; i += SET_THREADS)
        w.mark[w.found[i]] = INT_MAX;
    __syncthreads();
    return count;
}

/* ---- samples ------------------------------------------------------------- */

/* src/base/rng.c's generator, by one thread. */
struct draws {
    struct step key; /* seed and stream */
    uint32_t next;   /* words drawn */
    uint4 words;
};

__device__ static uint64_t draw_word(struct draws &d)
{
    if (d.next % 4 == 0)
        d.words = philox(d.next / 4, 0, 0, &d.key);
    return word_of(d.words, d.next++ % 4);
}

__device__ static uint64_t draw_below(struct draws &d, uint64_t bound)
{
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t draw;
    do {
        const uint64_t low = draw_word(d);
        draw = draw_word(d) << 32 | low;
    } while (draw >= limit);
    return draw % bound;
}

/* A partial shuffle; the start stays. */
__device__ static void sample(const struct hops &a, int32_t *found, int64_t count, int64_t node)
{
    struct draws d = {{a.seed, (uint64_t)node}, 0, {}};
    for (int64_t i = 1; i < a.cap; i++) {
        const int64_t j = i + (int64_t)draw_below(d, (uint64_t)(count - i));
        const int32_t swap = found[i];
        found[i] = found[j];
        found[j] = swap;
    }
}

/* ---- pooling ------------------------------------------------------------- */

/* Each thread computes some columns of the node's row. */
__device__ static void pool(const struct hops &a, const struct set &s, float *out)
{
    for (int64_t q = threadIdx.x; q < a.heads * a.width; q += SET_THREADS) {
        const int64_t k = q / a.width, d = q - k * a.width;
        float sum = 0, most = -INFINITY;
        for (int64_t l = 0; l < s.size; l++) {
            if (s.reference[l] != k && a.route.take != TAKE_PLAN)
                continue;
            const float x = a.x[s.point[l] * a.width + d];
            sum += a.route.take == TAKE_PLAN ? set_taken(s, a.route, k, l) * x : x;
            most = fmaxf(most, x);
        }
        if (a.route.take == TAKE_PLAN)
            sum *= (float)a.heads;
        if (a.route.take == TAKE_MEAN)
            sum *= s.row[k] > 1 ? (float)(1 / s.row[k]) : 1;
        out[q] = a.route.take != TAKE_MAX ? sum : s.row[k] > 0 ? most : 0;
    }
}

static __global__ void __launch_bounds__(SET_THREADS) pool_hops_kernel(struct hops a)
{
    begin();
    struct set s = {};
    struct walk w = {};
    s.c = a.heads;
    s.cost = a.cost;
    s.plan = (double *)(a.room + blockIdx.x * a.each);
    set_place(s, s.plan + a.largest * (a.heads + 1));
    w.mark = (int *)(s.plan + a.largest * (a.heads + 1) + set_fixed(a.heads));
    w.found = w.mark + a.nodes;
    w.before = w.found + a.nodes + 1;
    s.reference = w.before + a.nodes + 1;
    s.point = w.found;
    for (int64_t i = threadIdx.x; i < a.nodes; i += SET_THREADS)
        w.mark[i] = INT_MAX;
    __syncthreads();
    for (int64_t i = blockIdx.x; i < a.nodes; i += gridDim.x) {
        float *out = a.out + i * a.heads * a.width;
        if (a.wanted[i] == 0) {
            for (int64_t q = threadIdx.x; q < a.heads * a.width; q += SET_THREADS)
                out[q] = 0;
            continue;
        }
        s.size = walk_all(a, w, i);
        if (a.cap > 0 && s.size > a.cap) {
            if (threadIdx.x == 0)
                sample(a, w.found, s.size, i);
            s.size = a.cap;
            __syncthreads();
        }
        set_map(s, a.route);
        pool(a, s, out);
        __syncthreads();
    }
}

KERNEL(pool_hops)
{
    const struct csr *s = in->attr.csr;
    struct hops a = {};
    a.out = in->out;
    a.x = in->src[0];
    a.cost = in->src[1];
    a.kept = in->src[3];
    a.wanted = in->src[4];
    a.start = s->start;
    a.col = s->col;
    a.nodes = in->rows;
    a.width = in->src_cols[0];
    a.heads = in->attr.heads;
    a.cap = in->attr.column;
    a.largest = largest_set(in);
    a.seed = in->attr.seed;
    a.route = route_of(in, in->src[2]);
    a.room = (char *)scratch_of(in);
    a.each = block_bytes(in);
    if (in->rows > 0)
        launch(cx, pool_hops_kernel, (unsigned)hop_blocks(in), SET_THREADS, a);
}
