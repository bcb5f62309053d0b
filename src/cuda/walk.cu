/* A walk of several steps over one small matrix, Z_k = a·S·Z_k-1 + b·Y, as one kernel (APPNP and
 * its gradient). As separate kernels such steps take a few microseconds each, mostly waiting: a
 * step cannot start before the last row of the previous one. But columns are independent from the
 * first step to the last. So a block takes one column, which fits its memory, through all steps. */

/*
 * The entries of the matrix are divided evenly among the block's threads and stay in their
 * registers. A thread sums its part of each row; then a row's thread adds the parts in order. The
 * order of sums depends only on the pattern.
 *
 * Intermediate steps write nothing to the card's memory: a walk is joined only if nothing else
 * reads them.
 */
#include "cuda/spans.cuh"
#include "cuda/walk.cuh"

enum {
    CREW = 1024,   /* threads of a block */
    ROWS_EACH = 4, /* of a thread */
    ROWS_MOST = CREW * ROWS_EACH,
    ENTRIES_MOST = 16,               /* of a thread */
    ROW_LONGEST = 64 * ENTRIES_MOST, /* one thread adds its pieces */
    WIDTH_MOST = 64,
};

/* ---- planning ------------------------------------------------------------- */

/* Rows of a walked pattern are never empty, and none is very long. */
static bool rows_suit(const struct csr *a)
{
    for (int64_t r = 0; r < a->rows; r++) {
        const int64_t entries = a->start[r + 1] - a->start[r];
        if (entries < 1 || entries > ROW_LONGEST)
            return false;
    }
    return true;
}

static bool may_begin(const struct instr *in)
{
    const struct csr *a = in->attr.csr;
    return in->op == OP_SPMM_ADD && !in->once && in->src_at[1].place != PLACE_NONE && !a->changes &&
           a->rows == a->cols && a->rows > 0 && a->rows <= ROWS_MOST &&
           a->nnz <= (int64_t)CREW * ENTRIES_MOST && in->cols > 0 && in->cols <= WIDTH_MOST &&
           rows_suit(pattern(in));
}

static bool same_place(const struct operand *a, const struct operand *b)
{
    return a->place == b->place && a->leaf == b->leaf && a->offset == b->offset;
}

static bool is_next(const struct instr *step, const struct instr *next)
{
    return next->op == OP_SPMM_ADD && !next->once && same_place(&next->src_at[0], &step->out_at) &&
           same_place(&next->src_at[1], &step->src_at[1]) && next->attr.csr == step->attr.csr &&
           next->attr.transposed == step->attr.transposed && next->attr.a == step->attr.a &&
           next->attr.b == step->attr.b;
}

/* Whether only the next step reads a step's result, and its memory is not used otherwise. */
static bool passes_by(const struct planned *plan, int32_t step, int32_t next)
{
    struct span out[1 + NODE_UPDATES];
    spans_written(out, &plan->instr[step]);
    if (plan->instr[step].kept)
        return false;
    for (int32_t i = 0; i < plan->instrs; i++)
        if ((i != next && instr_reads(&plan->instr[i], out[0])) ||
            (i != step && instr_writes(&plan->instr[i], out[0])))
            return false;
    return true;
}

/* Whether `next` may run together with `first`: nothing in between changes what it reads or touches
 * its result. The earlier steps are in between, and do not. */
static bool may_come_ahead(const struct planned *plan, int32_t first, int32_t next)
{
    const struct instr *in = &plan->instr[next];
    struct span out[1 + NODE_UPDATES];
    spans_written(out, in);
    for (int32_t i = first; i < next; i++)
        if (instr_writes(&plan->instr[i], span_read(in, 1)) ||
            instr_reads(&plan->instr[i], out[0]) || instr_writes(&plan->instr[i], out[0]))
            return false;
    return !instr_reads(in, out[0]);
}

int walk_find(const struct planned *plan, const int32_t *chain_of, int32_t first, int32_t *step)
{
    int steps = 1;
    step[0] = first;
    if (!may_begin(&plan->instr[first]))
        return 0;
    for (int32_t i = first + 1; i < plan->instrs && i < first + CHAIN_REACH && steps < WALK_MOST;
         i++)
        if (chain_of[i] == i && is_next(&plan->instr[step[steps - 1]], &plan->instr[i])) {
            if (!passes_by(plan, step[steps - 1], i) || !may_come_ahead(plan, first, i))
                break;
            step[steps++] = i;
        }
    return steps;
}

/* ---- running --------------------------------------------------------------- */

struct walk {
    float *y;             /* (rows, width) where the last step ends */
    const float *x, *add; /* (rows, width) where the first begins; Y */
    const int64_t *start; /* (rows+1) */
    const int32_t *col;
    const float *val; /* NULL: all 1 */
    int rows, width, steps;
    float a, b;
};

/* What a block shares. Before the first step the rows' starts are where their sums will be. */
struct walked {
    float h[ROWS_MOST];
    union {
        float sum[ROWS_MOST];
        int32_t start[ROWS_MOST];
    };
    float piece[CREW]; /* a thread's part of a row that others started */
    int32_t end;       /* entries */
};

/* A thread's E entries, and where their sums go. */
template <int E> struct stretch {
    uint32_t cols[E / 2]; /* two and two */
    float val[E];
    int row;       /* of the first entry */
    unsigned ends; /* bit k: entry k is its row's last */
    bool begun;    /* by another thread */
    bool open;     /* another thread continues the last row */
};

/* A thread's rows: the first one with entries, plus 2^16 times the number of further ones. */
struct owned {
    uint32_t parts[ROWS_EACH];
};

__device__ inline void read_starts(struct walked &w, const struct walk &a)
{
    for (int r = (int)threadIdx.x; r < a.rows; r += CREW)
        w.start[r] = (int32_t)a.start[r];
    if (threadIdx.x == 0)
        w.end = (int32_t)a.start[a.rows];
    __syncthreads();
}

__device__ inline int32_t end_of(const struct walked &w, const struct walk &a, int r)
{
    return r + 1 < a.rows ? w.start[r + 1] : w.end;
}

/* The row of an entry, or the last. */
__device__ inline int row_at(const struct walked &w, const struct walk &a, int32_t entry)
{
    int low = 0, high = a.rows; /* start[low] <= entry < start[high] */
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (w.start[middle] <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Four numbers of an array at once. */
template <class T> struct alignas(4 * sizeof(T)) four {
    T v[4];
};

/* Numbers from … from+3 of an array that ends with number end-1. */
template <class T>
__device__ inline struct four<T> read_four(const T *array, int32_t from, int32_t end, T other) {
    struct four<T> x = {
        {
            other, other, other, other
        }
    };
    if (array && from + 4 <= end)
        return *(const struct four<T> *)(array + from);
    for (int i = 0; array && i < 4 && from + i < end; i++)
        x.v[i] = array[from + i];
    return x;
}

template <int E>
__device__ inline void read_stretch(struct stretch<E> &mine, const struct walked &w,
                                    const struct walk &a)
{
    const int32_t from = (int32_t)threadIdx.x * E, end = w.end;
    int row = row_at(w, a, from);
    mine.row = row;
    mine.ends = 0;
    mine.begun = w.start[row] < from;
    mine.open = false;
#pragma unroll
    for (int k = 0; k < E; k += 4) {
        const struct four<int32_t> col = read_four<int32_t>(a.col, from + k, end, 0);
        const struct four<float> val = read_four<float>(a.val, from + k, end, 1);
#pragma unroll
        for (int i = 0; i < 4; i++)
            mine.val[k + i] = from + k + i < end ? val.v[i] : 0;
        mine.cols[k / 2] = (uint32_t)col.v[0] | (uint32_t)col.v[1] << 16;
        mine.cols[k / 2 + 1] = (uint32_t)col.v[2] | (uint32_t)col.v[3] << 16;
    }
#pragma unroll
    for (int k = 0; k < E; k++)
        if (from + k < end) {
            const bool last = from + k + 1 == end_of(w, a, row);
            mine.ends |= (last ? 1u : 0u) << k;
            mine.open = !last;
            row += last ? 1 : 0;
        }
}

template <int E>
__device__ inline void find_owners(struct owned &mine, const struct walked &w, const struct walk &a)
{
#pragma unroll
    for (int i = 0; i < ROWS_EACH; i++) {
        const int r = (int)threadIdx.x + i * CREW;
        const uint32_t first = r < a.rows ? (uint32_t)w.start[r] / E : 0;
        const uint32_t last = r < a.rows ? (uint32_t)(end_of(w, a, r) - 1) / E : 0;
        mine.parts[i] = first | (last - first) << 16;
    }
    __syncthreads();
}

/* Stores this thread's part of its rows. */
template <int E> __device__ inline void add_stretch(struct walked &w, const struct stretch<E> &mine)
{
    float *to = mine.begun ? &w.piece[threadIdx.x] : &w.sum[mine.row];
    float sum = 0;
    int row = mine.row;
#pragma unroll
    for (int first = 0; first < E; first += 4) {
        float x[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t two = mine.cols[(first + i) / 2];
            x[i] = w.h[i % 2 ? two >> 16 : two & 0xffff];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum = fmaf(mine.val[first + i], x[i], sum);
            if (mine.ends >> (first + i) & 1) {
                *to = sum;
                to = &w.sum[++row];
                sum = 0;
            }
        }
    }
    if (mine.open)
        *to = sum;
}

template <int E> __global__ void __launch_bounds__(CREW) walk_kernel(struct walk a)
{
    __shared__ struct walked w;
    struct stretch<E> mine;
    struct owned rows;
    float add[ROWS_EACH];
    read_starts(w, a); /* the matrix may be loaded while the previous kernel runs: see spmm.cu */
    read_stretch<E>(mine, w, a);
    find_owners<E>(rows, w, a);
    begin();
    const int t = (int)threadIdx.x, c = (int)blockIdx.x;
#pragma unroll
    for (int i = 0; i < ROWS_EACH; i++) {
        const int r = t + i * CREW;
        if (r >= a.rows)
            break;
        const float x = a.x[r * a.width + c];
        add[i] = a.b * (a.add == a.x ? x : a.add[r * a.width + c]);
        w.h[r] = x;
    }
    for (int step = 0; step < a.steps; step++) {
        __syncthreads();
        add_stretch<E>(w, mine);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROWS_EACH; i++) {
            const int r = t + i * CREW;
            if (r >= a.rows)
                break;
            float sum = w.sum[r];
            const float *piece = &w.piece[rows.parts[i] & 0xffff];
            for (uint32_t k = 1; k <= rows.parts[i] >> 16; k++)
                sum += piece[k];
            w.h[r] = fmaf(a.a, sum, add[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS_EACH; i++)
        if (t + i * CREW < a.rows)
            a.y[(t + i * CREW) * a.width + c] = w.h[t + i * CREW];
}

bool walk_launch(const struct instr *instr, int32_t instrs, const int32_t *chain_of, int32_t first,
                 const struct cuda_context *cx)
{
    const struct instr *in = &instr[first], *last = in;
    int steps = 1;
    for (int32_t i = first + 1; i < instrs && i < first + CHAIN_REACH; i++)
        if (chain_of[i] == first && instr[i].op == OP_SPMM_ADD) {
            last = &instr[i];
            steps++;
        }
    if (steps == 1)
        return false;
    const struct csr *s = pattern(in);
    const struct walk a = {last->out,    in->src[0],    in->src[1], s->start,   s->col,    s->val,
                           (int)s->rows, (int)in->cols, steps,      in->attr.a, in->attr.b};
    const int64_t each = ceil_div(in->attr.csr->nnz, CREW);
    const dim3 grid((unsigned)in->cols);
    if (each <= 4)
        launch(cx, walk_kernel<4>, grid, CREW, a);
    else if (each <= 8)
        launch(cx, walk_kernel<8>, grid, CREW, a);
    else
        launch(cx, walk_kernel<ENTRIES_MOST>, grid, CREW, a);
    return true;
}
