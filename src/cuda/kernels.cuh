/* Shared by the backend (backend.cu) and the kernels' files. */

/*
 * A kernel launches its work on cx->stream and returns. It may be called during a graph capture, so
 * it allocates nothing, waits for nothing and reads nothing from the card. Addresses in the
 * instruction (out, src, update, state, scratch) are on the card. attr points to host mirrors whose
 * arrays are on the card: struct csr with its transpose, struct index; label, weight and number are
 * arrays on the card; optimiser is on the host.
 *
 * What may change between replays of a captured graph:
 *   - seed and step number: read on the card, from *cx->step.
 *   - numbers in arrays with fixed addresses, also `start` of a matrix that changes: launches are
 *     sized by rows and by the instruction's shape, which are fixed, and walk start[] on the card,
 *     so nnz may differ from the mirror's. nnz may choose a launch's size, which changes only
 *     the speed.
 *   - addresses, or whether an array exists: capture again.
 * An index never changes its length.
 *
 * Same bits on every run: a sum has one fixed order, which depends only on shapes and patterns.
 */
#ifndef CUDA_KERNELS_CUH
#define CUDA_KERNELS_CUH

#include <cublas_v2.h>
#include <cuda_runtime.h>

extern "C" {
#include "program/backend.h"
}

struct tail;

struct cuda_context {
    cudaStream_t stream;
    const struct step *step; /* on the card: this step's seed and number */
    cublasHandle_t blas;     /* on that stream, with its own workspace, host pointers, no TF32 */
    bool early; /* kernels may start before the previous one has ended: true if only these kernels
                   and cuBLAS run on the stream */
    const struct tail *tail; /* what its kernel does with each row's result; NULL: nothing */
};

typedef void (*cuda_kernel)(const struct instr *in, const struct cuda_context *cx);

/* The kernel of every operation; NULL: none (leaves). */
extern const cuda_kernel cuda_kernels[OP_COUNT];

/* Largest distance between a chain's members. */
enum { CHAIN_REACH = 64 };

/* chain_of (instrs): the instruction in whose kernel each one runs, mostly its own. */
void chains_plan(const struct planned *plan, int32_t *chain_of);

/* Launches an instruction and those in its kernel. */
void chain_launch(const struct instr *instr, int32_t instrs, const int32_t *chain_of, int32_t first,
                  const struct cuda_context *cx);

/* Scratch of an instruction. All instructions on a stream share one block, as large as the largest.
 * Aligned to 256 bytes; zeroed once, before the first run. */
size_t cuda_scratch_bytes(const struct instr *in);

/* Whether an instruction calls cuBLAS, which is slow to open: cx->blas exists only then. */
bool cuda_calls_blas(const struct instr *in);

#endif
