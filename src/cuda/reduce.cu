/* Sums of columns, of rows, and of all elements. */
#include "cuda/reduce.cuh"

int64_t scratch_dense(const struct instr *in)
{
    switch (in->op) {
    case OP_COL_SUM: return column_bytes(in->src_rows[0], in->cols, 1);
    case OP_SUM:
    case OP_DOT: return total_bytes(in->src_rows[0] * in->src_cols[0]);
    default: return -1;
    }
}

struct plain_column {
    const float *x;
    int64_t cols;
    __device__ float at(int64_t r, int64_t c) const
    {
        return x[r * cols + c];
    }
};

KERNEL(col_sum)
{
    columns(in, cx, in->src_rows[0], in->cols, plain_column{in->src[0], in->cols});
}

/* Σ x, or Σ x∘y */
struct product_term {
    float *out;
    const float *x, *y;
    __device__ double at(int64_t e) const
    {
        return y ? (double)x[e] * (double)y[e] : (double)x[e];
    }
    __device__ void finish(double sum) const
    {
        *out = (float)sum;
    }
};

KERNEL(sum)
{
    total<double>(in, cx, in->src_rows[0] * in->src_cols[0],
                  product_term{in->out, in->src[0], NULL});
}

KERNEL(dot)
{
    total<double>(in, cx, in->src_rows[0] * in->src_cols[0],
                  product_term{in->out, in->src[0], in->src[1]});
}

/* Σ_c x[r, c], 2^shift lanes a row */
static __global__ void __launch_bounds__(THREADS)
    row_sum_kernel(float *y, const float *x, int64_t rows, int64_t cols, int shift)
{
    begin();
    const int lanes = 1 << shift, lane = threadIdx.x & (lanes - 1);
    const int64_t r = (int64_t)blockIdx.x * (THREADS >> shift) + (threadIdx.x >> shift);
    float sum = 0;
    if (r < rows)
        for (int64_t c = lane; c < cols; c += lanes)
            sum += x[r * cols + c];
    sum = lanes_sum(sum, 1, lanes);
    if (r < rows && lane == 0)
        y[r] = sum;
}

KERNEL(row_sum)
{
    const int shift = shift_for(in->src_cols[0], 5);
    if (in->rows > 0)
        launch(cx, row_sum_kernel, (unsigned)ceil_div(in->rows, THREADS >> shift), THREADS, in->out,
               in->src[0], in->rows, in->src_cols[0], shift);
}
