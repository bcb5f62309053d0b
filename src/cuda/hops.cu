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
#include "cuda/hops.cuh"

/* ---- how many blocks, and what each needs -------------------------------- */

enum { HOP_BLOCKS = 1024, SMALL_BLOCKS = 4096, HOP_BYTES = 32 << 20 };
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
