/* Two-hop sets of all nodes, mapped to references and pooled. A block processes one node completely
 * in its own memory, and no set is stored. Members are found in the order of src/match/walk.h, so a
 * sampled set has the same members. */

/*
 * Almost all sets of a large graph are small. The blocks of the first kernel take these: they find
 * a node's mark in a table in shared memory, so the memory of a block does not grow with the graph,
 * and there are as many blocks as the card can run. A block lists the nodes whose sets could be
 * larger than that, and the second kernel takes them. Its blocks have a mark for every node of the
 * graph, so there are few.
 */
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
    char *room, *small_room; /* `each` bytes a block, `small_each` of the first kernel */
    int64_t each, small_each;
    int32_t *left; /* (small_blocks, lefts) how many nodes a block left to the others, then these */
    int64_t small_blocks, lefts;
};

/* ---- how many blocks, and what each needs -------------------------------- */

enum { HOP_BLOCKS = 1024, SMALL_BLOCKS = 4096, HOP_BYTES = 32 << 20 };
enum { SMALL = 1024, SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS }; /* members; marks in the table */
/* Blocks of a multiprocessor, which mostly wait for memory, and the shared memory that they need.
 */
enum { SMALL_RESIDENT = 4, SMALL_SHARED_PERCENT = 58 };

static int64_t largest_set(const struct instr *in)
{
    const int64_t cap = in->attr.column;
    return cap > 0 && cap < in->rows ? cap : in->rows;
}

static int64_t largest_small(const struct instr *in)
{
    const int64_t largest = largest_set(in), most = SMALL;
    return largest < most ? largest : most;
}

/* The plan and the potentials of a set. */
static int64_t plan_bytes(const struct instr *in, int64_t largest)
{
    const int64_t heads = in->attr.heads;
    return (largest * (heads + 1) + set_fixed(heads)) * (int64_t)sizeof(double);
}

static int64_t small_bytes(const struct instr *in)
{
    return ceil_div(plan_bytes(in, largest_small(in)), 64) * 64;
}

/* After the plan: marks, members, counts. */
static int64_t block_bytes(const struct instr *in)
{
    const int64_t bytes =
        plan_bytes(in, largest_set(in)) + 3 * (in->rows + 1) * (int64_t)sizeof(int32_t);
    return ceil_div(bytes, 64) * 64;
}

/* As many as fit into a quarter of the result's size, or into 32 MB. */
static int64_t blocks_of(const struct instr *in, int64_t bytes, int64_t most)
{
    const int64_t result = in->rows * in->cols, least = HOP_BYTES;
    const int64_t room = result > least ? result : least;
    int64_t blocks = room / bytes;
    blocks = blocks < 1 ? 1 : blocks < most ? blocks : most;
    return blocks < in->rows ? blocks : in->rows;
}

static int64_t hop_blocks(const struct instr *in)
{
    return blocks_of(in, block_bytes(in), HOP_BLOCKS);
}

static int64_t small_blocks(const struct instr *in)
{
    return blocks_of(in, small_bytes(in), SMALL_BLOCKS);
}

/* Of one block of the first kernel. */
static int64_t lefts_of(const struct instr *in)
{
    return in->rows > 0 ? 1 + ceil_div(in->rows, small_blocks(in)) : 0;
}

int64_t scratch_hops(const struct instr *in)
{
    if (in->op != OP_POOL_HOPS)
        return -1;
    return hop_blocks(in) * block_bytes(in) + small_blocks(in) * small_bytes(in) +
           small_blocks(in) * lefts_of(in) * (int64_t)sizeof(int32_t);
}

/* ---- the walk ------------------------------------------------------------ */

/* A block's walk. mark: INT_MAX for nodes not met, 0 for the start and its neighbours, else the
 * position in found of the first neighbour that leads there. */
struct walk {
    int *mark;       /* (nodes), or (SLOTS) */
    int32_t *slot;   /* (SLOTS) the node of each mark, or FREE; NULL: mark i is node i's */
    int32_t *found;  /* (nodes + 1), or (SMALL) */
    int32_t *before; /* (nodes + 1), or (SMALL) how many were found before each neighbour's */
};

enum { FREE = -1 };

/* The mark of a node; it takes the first free slot after the one of its hash. TABLE: with slots. */
template <bool TABLE> __device__ static int *mark_of(const struct walk &w, int32_t v)
{
    if constexpr (TABLE) {
        unsigned at = (unsigned)v * 0x9E3779B1u >> (32 - SLOT_BITS);
        for (;; at = (at + 1) % SLOTS) {
            int32_t there = w.slot[at];
            if (there == FREE)
                there = atomicCAS(&w.slot[at], FREE, v);
            if (there == FREE || there == v)
                return w.mark + at;
        }
    } else
        return w.mark + v;
}

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

/* At least as many as the walk finds, in all threads. Ends with a barrier. */
__device__ static int64_t walk_most(const struct hops &a, int64_t node)
{
    __shared__ int64_t most;
    if (threadIdx.x < WARP) {
        int64_t sum = 0;
        each_kept(a, node, [&](int32_t v) { sum += v < 0 ? 0 : 1 + a.start[v + 1] - a.start[v]; });
        sum = lanes_sum(sum, 1, WARP);
        if (threadIdx.x == 0)
            most = 1 + sum;
    }
    __syncthreads();
    const int64_t all = most;
    __syncthreads();
    return all;
}

/* The start and its neighbours, by one warp. */
template <bool TABLE>
__device__ static int64_t walk_first(const struct hops &a, const struct walk &w, int64_t node)
{
    int64_t count = 1;
    if (threadIdx.x == 0) {
        w.found[0] = (int32_t)node;
        *mark_of<TABLE>(w, (int32_t)node) = 0;
    }
    __syncwarp();
    each_kept(a, node, [&](int32_t v) {
        int *mark = v < 0 ? nullptr : mark_of<TABLE>(w, v);
        const bool fresh = mark && *mark != 0;
        put(w.found, count, v, fresh);
        if (fresh)
            *mark = 0;
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

/* Makes all marks fresh. */
template <bool TABLE> __device__ static void walk_forget(const struct hops &a, const struct walk &w)
{
    for (int64_t i = threadIdx.x; i < (TABLE ? SLOTS : a.nodes); i += SET_THREADS) {
        w.mark[i] = INT_MAX;
        if (TABLE)
            w.slot[i] = FREE;
    }
    __syncthreads();
}

/* Fills found; returns the number to all threads. */
template <bool TABLE>
__device__ static int64_t walk_all(const struct hops &a, const struct walk &w, int64_t node)
{
    __shared__ int64_t shared[2];
    const int warp = threadIdx.x / WARP;
    if (warp == 0) {
        const int64_t count = walk_first<TABLE>(a, w, node);
        if (threadIdx.x == 0)
            shared[0] = count;
    }
    __syncthreads();
    const int64_t direct = shared[0];
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS)
        each_kept(a, w.found[j], [&](int32_t v) {
            if (v >= 0)
                atomicMin(mark_of<TABLE>(w, v), (int)j);
        });
    __syncthreads();
    for (int64_t j = 1 + warp; j < direct; j += SET_WARPS) {
        int count = 0;
        each_kept(a, w.found[j], [&](int32_t v) {
            const bool first = v >= 0 && *mark_of<TABLE>(w, v) == (int)j;
            count += __popc(__ballot_sync(0xffffffffu, first));
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
        each_kept(a, w.found[j], [&](int32_t v) {
            put(w.found, at, v, v >= 0 && *mark_of<TABLE>(w, v) == (int)j);
        });
    }
    __syncthreads();
    const int64_t count = shared[1];
    if constexpr (TABLE)
        walk_forget<true>(a, w);
    else
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

/* Whether rng_below() draws again. */
__device__ static bool is_beyond(uint64_t draw, uint64_t bound)
{
    return draw >= UINT64_MAX - bound && draw >= UINT64_MAX - UINT64_MAX % bound;
}

__device__ static uint64_t draw_below(struct draws &d, uint64_t bound)
{
    uint64_t draw;
    do {
        const uint64_t low = draw_word(d);
        draw = draw_word(d) << 32 | low;
    } while (is_beyond(draw, bound));
    return draw % bound;
}

/* A partial shuffle; the start stays. Every thread draws some places, which only the swaps need in
 * order. One draw in 2^50 has to be repeated: then one thread draws them all. */
__device__ static void sample(const struct hops &a, const struct walk &w, int64_t count,
                              int64_t node)
{
    const struct step key = {a.seed, (uint64_t)node};
    int again = 0;
    for (int64_t i = 1 + threadIdx.x; i < a.cap; i += SET_THREADS) {
        const uint32_t word = 2 * (uint32_t)(i - 1);
        const uint4 words = philox(word / 4, 0, 0, &key);
        const uint64_t low = word_of(words, word % 4), bound = (uint64_t)(count - i);
        const uint64_t draw = (uint64_t)word_of(words, word % 4 + 1) << 32 | low;
        again |= is_beyond(draw, bound);
        w.before[i] = (int32_t)(i + (int64_t)(draw % bound));
    }
    again = __syncthreads_or(again);
    if (threadIdx.x == 0) {
        struct draws d = {key, 0, {}};
        for (int64_t i = 1; i < a.cap; i++) {
            const int64_t j =
                again ? i + (int64_t)draw_below(d, (uint64_t)(count - i)) : w.before[i];
            const int32_t swap = w.found[i];
            w.found[i] = w.found[j];
            w.found[j] = swap;
        }
    }
    __syncthreads();
}

/* ---- pooling ------------------------------------------------------------- */

enum { AHEAD = 8 };

/* Each thread computes some columns of the node's row. The next members are loaded before the first
 * of them is added. */
__device__ static void pool(const struct hops &a, const struct set &s, float *out)
{
    for (int64_t q = threadIdx.x; q < a.heads * a.width; q += SET_THREADS) {
        const int64_t k = q / a.width, d = q - k * a.width;
        float sum = 0, most = -INFINITY, x[AHEAD];
        bool mine[AHEAD];
        for (int64_t first = 0; first < s.size; first += AHEAD) {
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const int64_t l = first + i;
                mine[i] = l < s.size && (s.reference[l] == k || a.route.take == TAKE_PLAN);
                x[i] = mine[i] ? a.x[s.point[l] * a.width + d] : 0;
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                if (mine[i]) {
                    const bool shares = a.route.take == TAKE_PLAN;
                    sum += shares ? set_taken(s, a.route, k, first + i) * x[i] : x[i];
                    most = fmaxf(most, x[i]);
                }
        }
        if (a.route.take == TAKE_PLAN)
            sum *= (float)a.heads;
        if (a.route.take == TAKE_MEAN)
            sum *= s.row[k] > 1 ? (float)(1 / s.row[k]) : 1;
        out[q] = a.route.take != TAKE_MAX ? sum : s.row[k] > 0 ? most : 0;
    }
}

/* Where a set's plan is; its members and their references are the walk's. */
__device__ static struct set set_in(const struct hops &a, const struct walk &w, char *room,
                                    int64_t largest)
{
    struct set s = {};
    s.c = a.heads;
    s.cost = a.cost;
    s.plan = (double *)room;
    set_place(s, s.plan + largest * (a.heads + 1));
    s.point = w.found;
    s.reference = w.before;
    return s;
}

template <bool TABLE>
__device__ static void pool_node(const struct hops &a, const struct walk &w, struct set &s,
                                 int64_t node)
{
    s.size = walk_all<TABLE>(a, w, node);
    if (a.cap > 0 && s.size > a.cap) {
        sample(a, w, s.size, node);
        s.size = a.cap;
    }
    set_map(s, a.route);
    pool(a, s, a.out + node * a.heads * a.width);
    __syncthreads();
}

static __global__ void __launch_bounds__(SET_THREADS, SMALL_RESIDENT)
    pool_small_kernel(struct hops a)
{
    __shared__ int mark[SLOTS];
    __shared__ int32_t slot[SLOTS], found[SMALL], before[SMALL];
    begin();
    const struct walk w = {mark, slot, found, before};
    const int64_t most = SMALL, largest = a.largest < most ? a.largest : most;
    struct set s = set_in(a, w, a.small_room + blockIdx.x * a.small_each, largest);
    int32_t *left = a.left + blockIdx.x * a.lefts, count = 0;
    walk_forget<true>(a, w);
    for (int64_t i = blockIdx.x; i < a.nodes; i += gridDim.x) {
        if (a.wanted[i] == 0) {
            for (int64_t q = threadIdx.x; q < a.heads * a.width; q += SET_THREADS)
                a.out[i * a.heads * a.width + q] = 0;
        } else if (walk_most(a, i) > SMALL) {
            count++;
            if (threadIdx.x == 0)
                left[count] = (int32_t)i;
        } else
            pool_node<true>(a, w, s, i);
    }
    if (threadIdx.x == 0)
        left[0] = count;
}

/* The nodes that the first kernel left. */
static __global__ void __launch_bounds__(SET_THREADS) pool_hops_kernel(struct hops a)
{
    begin();
    struct walk w = {};
    char *room = a.room + blockIdx.x * a.each;
    w.mark = (int *)((double *)room + a.largest * (a.heads + 1) + set_fixed(a.heads));
    w.found = w.mark + a.nodes + 1;
    w.before = w.found + a.nodes + 1;
    struct set s = set_in(a, w, room, a.largest);
    walk_forget<false>(a, w);
    for (int64_t b = blockIdx.x; b < a.small_blocks; b += gridDim.x) {
        const int32_t *left = a.left + b * a.lefts;
        for (int32_t k = 1; k <= left[0]; k++)
            pool_node<false>(a, w, s, left[k]);
    }
}

KERNEL(pool_hops)
{
    const struct csr *s = in->attr.csr;
    struct hops a = {};
    if (in->rows == 0)
        return;
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
    a.small_room = a.room + hop_blocks(in) * a.each;
    a.small_each = small_bytes(in);
    a.small_blocks = small_blocks(in);
    a.left = (int32_t *)(a.small_room + a.small_blocks * a.small_each);
    a.lefts = lefts_of(in);
    launch_sharing(cx, SMALL_SHARED_PERCENT, pool_small_kernel, (unsigned)a.small_blocks,
                   SET_THREADS, a);
    launch(cx, pool_hops_kernel, (unsigned)hop_blocks(in), SET_THREADS, a);
}
