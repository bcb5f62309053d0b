/*
 * What the backend (backend.cu) and the kernels' files share.
 *
 * A kernel launches its work on cx->stream and returns; it may be called while a graph is captured,
 * so it allocates nothing, waits for nothing and reads nothing from the card. Addresses in the
 * instruction (out, src, update, state, scratch) are the card's. What attr points to is a mirror on
 * the host whose arrays lie on the card: struct csr with its transpose, struct index; label, weight
 * and number are arrays on the card themselves; optimiser is the host's.
 *
 * What may change between replays of a captured graph, and how:
 *   - seed and step number: read on the card, from *cx->step.
 *   - numbers in arrays whose addresses stay, `start` of a matrix that changes among them: launches
 *     are sized by rows and by the instruction's shape, which are fixed, and walk start[] on the
 *     card, so nnz may differ from that of the mirror. Where nnz chose a launch's size it only
 * chose a speed.
 *   - addresses, or whether an array is there at all: capture again.
 * An index never changes its length.
 *
 * Same bits on every run: a sum has one fixed order, which depends on shapes and patterns only.
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
    cublasHandle_t blas; /* on that stream, with a workspace of its own, host pointers, no TF32 */
    bool early;          /* kernels may be put on the card before the one ahead has ended: true
                            where all that runs on the stream are these kernels and cuBLAS */
    const struct tail *tail; /* what its kernel does with each row's result; NULL: nothing more */
};

typedef void (*cuda_kernel)(const struct instr *in, const struct cuda_context *cx);

/* The kernel of every operation; NULL: it has none (leaves). */
extern const cuda_kernel cuda_kernels[OP_COUNT];

/* A chain's members stand no farther apart than this. */
enum { CHAIN_REACH = 64 };

/* chain_of (instrs): the instruction in whose kernel each one runs, mostly its own. */
void chains_plan(const struct planned *plan, int32_t *chain_of);

/* Launches an instruction and those that run in its kernel. */
void chain_launch(const struct instr *instr, int32_t instrs, const int32_t *chain_of, int32_t first,
                  const struct cuda_context *cx);

/* Scratch that an instruction needs; one block serves all that run one after the other on a stream,
 * as large as the largest. Aligned to 256 bytes; zeroed once, before the first run. */
size_t cuda_scratch_bytes(const struct instr *in);

/* Whether an instruction calls cuBLAS, which takes its time to open: only then is cx->blas there.
 */
bool cuda_calls_blas(const struct instr *in);

#endif
