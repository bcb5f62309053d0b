/* The table of the card's kernels, and their scratch. */
#include "cuda/device.cuh"

/* Leaves are not operations: nothing to do. */
#define cuda_param  NULL
#define cuda_input  NULL
#define cuda_sparse NULL
#define cuda_beside NULL

const cuda_kernel cuda_kernels[OP_COUNT] = {
#define OP(NAME, name, ...) cuda_##name,
#include "program/ops.def"
#undef OP
};

size_t cuda_scratch_bytes(const struct instr *in)
{
    const int64_t need[] = {
        scratch_dense(in),  scratch_gemm(in),      scratch_rows(in),           scratch_pairs(in),
        scratch_norm(in),   scratch_loss(in),      scratch_sparse(in),         scratch_edges(in),
        scratch_attend(in), scratch_heads(in),     scratch_spectral(in),       scratch_keep(in),
        scratch_hops(in),   scratch_transport(in), scratch_attend_columns(in),
    };
    int64_t most = -1;
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        most = need[i] > most ? need[i] : most;
    return most < 0 ? 0 : (size_t)(COUNTER_BYTES + most);
}
