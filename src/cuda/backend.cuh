/* The inside of the CUDA backend: the open card, its memory, copies of leaves. Kernels do not see
 * it; they know kernels.cuh. */
#ifndef CUDA_BACKEND_CUH
#define CUDA_BACKEND_CUH

#include "cuda/lanes.cuh"

extern "C" {
#include "program/plugin.h"
}
#include <pthread.h>

/* Leaves for the label done when the call fails; base/status.h has the same in C. */
#ifndef TRY
#define TRY(call)              \
    do {                       \
        if ((st = (call)) < 0) \
            goto done;         \
    } while (0)
#endif

struct card_matrix;

/* One card, one stream. Several may be open side by side, in threads of their own: they share the
 * card's context and nothing else. */
struct card {
    struct backend base;
    const struct plugin_services *host;
    int number;
    char name[32];       /* "cuda:0" */
    cudaStream_t stream; /* the first of … */
    cudaStream_t lane[LANES];
    cudaEvent_t start;            /* of a step that is captured */
    cublasHandle_t blas;          /* NULL until a program needs it */
    void *workspace;              /* of blas */
    char *pinned;                 /* through which small downloads go */
    size_t held;                  /* bytes of the card's memory */
    struct card_matrix *matrices; /* copies of sparse matrices, shared by programs */
};

/* A block that programs work on. */
struct card_memory {
    struct memory base; /* host is NULL: it cannot reach what lies here */
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

/* Runs side by side share the card. Whatever may wait for all of it (cuBLAS when it opens and
 * closes, code that is loaded when it is first needed, pinned memory) breaks a capture of any
 * thread, so captures hold this together and the others alone. */
extern pthread_rwlock_t card_calm;

/* cuBLAS, which takes its time, for the first program that needs it. */
consm_status card_open_blas(struct card *card);

/* ---- backend.cu; of struct backend_kind ---- */

bool cuda_supports(const struct backend *b, enum op op);
consm_status cuda_compile(struct backend *b, struct compiled **out, const struct planned *plan);
consm_status cuda_run(struct compiled *c, const struct step *first, int64_t steps);
void cuda_discard(struct compiled *c);

/* ---- memory.cu ---- */

enum { PINNED_BYTES = 1 << 20 }; /* larger downloads go straight to where they belong */

/* Makes a status of what a call returned; what says, for people, what it was to do. */
consm_status card_check(const struct card *card, cudaError_t error, const char *what);
#define CHECK(call, what) TRY(card_check(card, call, what))

/* Calls of this thread mean this card from now on. */
consm_status card_turn(const struct card *card);

/* Memory of the card, uninitialised, with slack behind its end; CONSM_ELIMIT with figures when
 * there is not enough. Returned memory is used again when the stream has come so far. */
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
    struct index index; /* a mirror: its arrays lie on the card */
    struct room part[LEAF_PARTS];
    const void *data; /* what instructions are to read: an array on the card, or a mirror */
};

/* Brings a copy up to date. changed: its numbers are others; moved: its address is, or whether one
 * of its arrays is there. */
consm_status leaf_follow(struct card *card, struct card_leaf *copy, const struct leaf *leaf,
                         bool *changed, bool *moved);
void leaf_forget(struct card *card, struct card_leaf *copy);

#endif
