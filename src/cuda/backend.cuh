/* Internals of the CUDA backend: the open card, its memory, copies of leaves. Kernels do not use
 * it; they use kernels.cuh. */
#ifndef CUDA_BACKEND_CUH
#define CUDA_BACKEND_CUH

#include "cuda/lanes.cuh"

extern "C" {
#include "program/plugin.h"
}
#include <pthread.h>

/* Jumps to the label done if the call fails; as in base/status.h. */
#ifndef TRY
#define TRY(call)              \
    do {                       \
        if ((st = (call)) < 0) \
            goto done;         \
    } while (0)
#endif

struct card_matrix;

/* One card, one main stream. Several may be open in different threads: they share only the card's
 * context. */
struct card {
    struct backend base;
    const struct plugin_services *host;
    int number;
    char name[32];       /* "cuda:0" */
    cudaStream_t stream; /* the first of the streams */
    cudaStream_t lane[LANES];
    cudaEvent_t start;            /* of a step that is captured */
    cublasHandle_t blas;          /* NULL until a program needs it */
    void *workspace;              /* of blas */
    char *pinned;                 /* for small downloads */
    size_t held;                  /* bytes of the card's memory in use */
    struct card_matrix *matrices; /* copies of sparse matrices, shared by programs */
};

/* A block that programs work on. */
struct card_memory {
    struct memory base; /* host is NULL: the host cannot reach this memory */
    char *data;
};

static inline struct card *card_of(struct backend *b)
{
    return (struct card *)b;
}

static inline char *data_of(const struct memory *m)
{
    return m ? ((const struct card_memory *)m)->data : NULL;
}

/* ---- open.cu ---- */

/* Parallel runs share the card. Calls that may wait for the whole card (opening and closing cuBLAS,
 * loading code on first use, pinned memory) break a capture in any thread. So such calls are
 * between card_load and card_loaded, of any number of threads at once, but not while others
 * capture. A capture does not wait for them, which may take long: false, and the program runs
 * without. */
void card_load(void);
void card_loaded(void);
bool card_capture(void);
void card_captured(void);

/* Opens cuBLAS, which is slow, for the first program that needs it. */
consm_status card_open_blas(struct card *card);

/* ---- backend.cu; of struct backend_kind ---- */

bool cuda_supports(const struct backend *b, enum op op);
consm_status cuda_compile(struct backend *b, struct compiled **out, const struct planned *plan);
consm_status cuda_run(struct compiled *c, const struct step *first, int64_t steps);
void cuda_discard(struct compiled *c);

/* ---- memory.cu ---- */

enum { PINNED_BYTES = 1 << 20 }; /* larger downloads go directly to their target */

/* Turns the result of a call into a status; what describes the call in the message. */
consm_status card_check(const struct card *card, cudaError_t error, const char *what);
#define CHECK(call, what) TRY(card_check(card, call, what))

/* Makes this card the current one of this thread. */
consm_status card_turn(const struct card *card);

/* Memory of the card, uninitialised, with slack after its end; CONSM_ELIMIT with figures if there
 * is not enough. Freed memory is reused in stream order. */
consm_status card_take(struct card *card, void **out, size_t bytes);
void card_give(struct card *card, void *data, size_t bytes);

/* Of struct backend_kind. */
consm_status cuda_allocate(struct backend *b, struct memory **out, size_t bytes);
void cuda_release(struct backend *b, struct memory *memory);
consm_status cuda_upload(struct backend *b, struct memory *to, size_t at, const void *from,
                         size_t bytes);
consm_status cuda_download(struct backend *b, void *to, const struct memory *from, size_t at,
                           size_t bytes);
consm_status cuda_copy(struct backend *b, struct memory *to, const struct memory *from);
size_t cuda_room(struct backend *b);

/* An array on the card that grows when it must. */
struct room {
    void *data;
    size_t bytes;
};
void room_free(struct card *card, struct room *room);

/* ---- leaves.cu ---- */

enum { LEAF_PARTS = 3 };

/* A program's copy of a leaf. */
struct card_leaf {
    bool sent;
    uint64_t version;    /* of what was sent */
    uint64_t generation; /* of the matrix's addresses, as last seen */
    struct card_matrix *matrix;
    struct index index; /* a mirror: its arrays are on the card */
    struct room part[LEAF_PARTS];
    const void *data; /* what instructions read: an array on the card, or a mirror */
};

/* Updates a copy. changed: its numbers are new; moved: its address is new, or an array appeared or
 * vanished. */
consm_status leaf_follow(struct card *card, struct card_leaf *copy, const struct leaf *leaf,
                         bool *changed, bool *moved);
void leaf_forget(struct card *card, struct card_leaf *copy);

#endif
