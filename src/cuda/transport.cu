/* Transport of many sets to references, one block per set, and the distances it uses. */
#include "cuda/transport.cuh"

/* Σ_d (x_rd - y_kd)² in double precision: plans depend on differences of these. */
struct distance_map {
    float *out;
    const float *x, *y;
    int64_t points, width;
    template <int V> __device__ void at(int64_t r, int64_t k) const
    {
        double sum = 0;
        for (int64_t d = 0; d < width; d++) {
            const double difference = (double)x[r * width + d] - (double)y[k * width + d];
            sum += difference * difference;
        }
        out[r * points + k] = (float)sum;
    }
};

KERNEL(distances)
{
    by_rows(cx, in->rows, in->cols, false,
            distance_map{in->out, in->src[0], in->src[1], in->cols, in->src_cols[0]});
}

/* A set is `heads` rows with the same columns. `heads` times the entries of earlier sets come
 * before it, so a position among single entries is a position among all, divided. */
struct sets {
    float *out;
    const float *cost, *w;
    const int64_t *start;
    const int32_t *col;
    int64_t heads;
    struct route route;
    double *plan, *fixed; /* (entries and another / heads of them), (sets, set_fixed) */
    int32_t *point, *place, *reference; /* (entries / heads): of a set's members, of its entries */
};

int64_t scratch_transport(const struct instr *in)
{
    if (in->op != OP_TRANSPORT)
        return -1;
    const int64_t heads = in->attr.heads, sets = in->attr.csr->rows / heads;
    return (in->rows + in->rows / heads + 1 + sets * set_fixed(heads)) * (int64_t)sizeof(double) +
           3 * (in->rows / heads + 1) * (int64_t)sizeof(int32_t);
}

/* The members among a set's entries in order, by one warp; returns their number. */
__device__ static int64_t list_members(const struct sets &a, int64_t first, int64_t size,
                                       int32_t *point, int32_t *place)
{
    const int lane = threadIdx.x % WARP;
    int64_t count = 0;
    for (int64_t from = 0; from < size; from += WARP) {
        const int64_t e = from + lane;
        const bool member = e < size && a.w[first + e] != 0;
        const unsigned all = __ballot_sync(0xffffffffu, member);
        const int64_t mine = count + __popc(all & ((1u << lane) - 1));
        if (member)
            point[mine] = a.col[first + e];
        if (e < size)
            place[e] = member ? (int32_t)mine : -1;
        count += __popc(all);
    }
    return count;
}

static __global__ void __launch_bounds__(SET_THREADS) transport_kernel(struct sets a)
{
    __shared__ int64_t members;
    begin();
    const int64_t run = (int64_t)blockIdx.x * a.heads, first = a.start[run], base = first / a.heads;
    const int64_t size = a.start[run + 1] - first;
    if (threadIdx.x < WARP) {
        const int64_t count = list_members(a, first, size, a.point + base, a.place + base);
        if (threadIdx.x == 0)
            members = count;
    }
    __syncthreads();
    struct set s = {};
    s.c = a.heads;
    s.size = members;
    s.point = a.point + base;
    s.cost = a.cost;
    s.plan = a.plan + first + base;
    s.reference = a.reference + base;
    set_place(s, a.fixed + (int64_t)blockIdx.x * set_fixed(s.c));
    set_map(s, a.route);
    for (int64_t q = threadIdx.x; q < a.heads * size; q += SET_THREADS) {
        const int64_t k = q / size, l = a.place[base + q - k * size];
        a.out[first + q] = l < 0 ? 0 : set_taken(s, a.route, k, l);
    }
}

KERNEL(transport)
{
    const struct csr *s = in->attr.csr;
    const int64_t heads = in->attr.heads, count = s->rows / heads;
    struct sets a = {};
    a.out = in->out;
    a.cost = in->src[0];
    a.w = in->src[1];
    a.start = s->start;
    a.col = s->col;
    a.heads = heads;
    a.route = route_of(in, in->src[2]);
    a.plan = (double *)scratch_of(in);
    a.fixed = a.plan + in->rows + in->rows / heads + 1;
    a.point = (int32_t *)(a.fixed + count * set_fixed(heads));
    a.place = a.point + in->rows / heads + 1;
    a.reference = a.place + in->rows / heads + 1;
    if (count > 0)
        launch(cx, transport_kernel, (unsigned)count, SET_THREADS, a);
}
