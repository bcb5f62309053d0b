/* The trained matrices of a model. All values are in one block of a backend's memory; gradients,
 * moments and best values are in blocks of the same size. So an optimiser step is one pass and
 * saving is one write. Programs that share a store share its parameters by name. */
#ifndef PROGRAM_PARAMS_H
#define PROGRAM_PARAMS_H

#include "base/alloc.h"
#include "program/block.h"

/* The initial values of a parameter. Fans are its rows (in) and columns (out). */
enum init {
    INIT_ZERO,
    INIT_ONE,
    INIT_GLOROT, /* uniform ±sqrt(6 / (in + out))  (Glorot and Bengio 2010) */
    INIT_LINEAR, /* uniform ±1/sqrt(in), as torch.nn.Linear */
    INIT_NORMAL  /* normal with deviation 0.1 */
};

struct parameter {
    char name[48];
    int64_t rows, cols, offset; /* offset into the blocks, in floats */
    enum init init;
    bool trained;
};

/* More numbers than any machine holds; sizes are checked against it before they are multiplied. */
#define PARAMS_MOST ((int64_t)1 << 48)

struct params {
    int count;
    size_t capacity;
    struct parameter *item;
    int64_t size;               /* floats in each block, padding included */
    int64_t trained;            /* trained numbers, padding not counted */
    int64_t numbers;            /* trained or not, padding not counted */
    int64_t limit;              /* refuse more numbers than this in all; 0: no limit */
    struct block block[PLACES]; /* PLACE_VALUE … PLACE_BEST, those in use */
    struct program *readers;    /* programs that may take values from others: common.c */
};

consm_status params_new(struct params **out);
void params_free(struct params *params);

/* Finds or adds a parameter. CONSM_EPROGRAM if the shape differs from the known one, or if it is
 * new after the blocks were made. */
consm_status params_add(struct params *params, int *index, const char *name, int64_t rows,
                        int64_t cols, enum init init, bool trained);
int params_find(const struct params *params, const char *name); /* -1: none */

/* Makes one of the blocks, zeroed, if missing. After the block of values exists no parameter can be
 * added. */
consm_status params_allocate(struct params *params, struct backend *backend, enum place place);

/* Draws all initial values; they depend only on seed and name. Gradients are zero afterwards. */
consm_status params_init(struct params *params, uint64_t seed);

/* The host's view of a block (size floats): to read; to write, which the next run will see. */
consm_status params_read(const float **out, struct params *params, enum place place);
consm_status params_write(float **out, struct params *params, enum place place);

/* The same for a caller that writes all of it, padding included. */
consm_status params_overwrite(float **out, struct params *params, enum place place);

/* Copies values from parameters with the same names. */
consm_status params_follow(struct params *to, struct params *from);

/* For checkpoints: see(ctx, name, data, bytes) of a block; it may read or write it. */
typedef void (*memory_fn)(void *ctx, const char *name, void *data, size_t bytes);
consm_status params_memory(struct params *params, enum place place, const char *name, memory_fn see,
                           void *ctx);

#endif
