/* A backend in its own library, loaded on demand (src/backends/plugin.c). It gets our functions as
 * a table, so it links against nothing of ours and works with the command, the shared library and
 * static linking. Both sides must be of one build; plugin_layout() checks it. */
#ifndef PROGRAM_PLUGIN_H
#define PROGRAM_PLUGIN_H

#include "program/backend.h"

/* A sum over rows in two halves (cpu/sums.h). The instruction's sources are complete at their
 * addresses, as far as the blocks of the first half read them. */
enum sum_over {
    SUM_ROWS,     /* a block is `length` rows of the sources */
    SUM_ELEMENTS, /* … of elements */
    SUM_INDEXED,  /* … of positions of the index, and the rows they name */
    SUM_RESULT    /* … of rows of the result, each from all rows of the sources */
};
struct sum_shape {
    enum sum_over over;
    int64_t length, blocks;
    size_t bytes; /* of a block's partial sums */
};
struct sums {
    int (*phases)(const struct instr *in); /* number of phases; 0: it does not sum over rows */
    struct sum_shape (*shape)(const struct instr *in);
    size_t (*work_bytes)(const struct instr *in); /* kept between phases */
    /* Blocks first … last-1, each to its place among all of them. */
    void (*blocks)(struct team *team, const struct instr *in, int phase, void *partial, void *work,
                   int64_t first, int64_t last);
    void (*total)(struct team *team, const struct instr *in, int phase, void *partial, void *work);
    /* Operations with several phases end with their rows, first … last-1 of them. */
    void (*rows)(struct team *team, const struct instr *in, void *work, int64_t first,
                 int64_t last);
};

/* An operation over the rows of a square matrix in turns, which needs something of all rows in
 * between (cpu/walks.c): an array with `bytes` per row, of which a turn made the given rows. */
struct between {
    void *array; /* NULL: this was the last turn */
    size_t bytes;
};
struct walks {
    bool (*is)(const struct instr *in);    /* whether it is such an operation */
    bool (*turns)(const struct instr *in); /* and also reads values through the transpose */
    size_t (*work_bytes)(const struct instr *in);
    struct between (*turn)(struct team *team, const struct instr *in, const struct step *step,
                           void *work, int64_t number, int64_t low, int64_t high);
};

struct plugin_services {
    consm_status (*fail)(consm_status code, const char *format, ...)
        __attribute__((format(printf, 2, 3)));    /* status_fail */
    void *(*zalloc)(size_t count, size_t size);   /* mem_zalloc */
    void (*free)(void *block);                    /* mem_free */
    uint64_t (*version)(const struct leaf *leaf); /* leaf_version */
    void (*resolve)(struct instr *in, void *const base[PLACES],
                    const void *const *leaf); /* instr_resolve */
    consm_status (*team_new)(struct team **out, int size);
    void (*team_free)(struct team *team);
    const struct sums *sums; /* of the CPU's kernels */
    const struct walks *walks;
};

/* Something that all ranks must have alike. */
struct alike {
    const char *what; /* its name, for the message */
    const void *data;
    size_t bytes;
    bool text; /* the message shows it */
};

/* Processes that train one model together: what libconsm_mpi.so exports as `consm_ranks`. All run
 * the same program on the same data and call these functions in the same order. */
struct ranks {
    int rank, size;
    int here; /* number of ranks on this machine */
    /* A backend whose programs are divided among the ranks, over one that computes; it closes that
     * one. Of a graph in parts: who has which rows, and which columns of sparse features; else
     * NULL. */
    consm_status (*divide)(struct backend **out, struct backend *inner,
                           const struct partition *rows, const struct partition *columns);
    /* CONSM_EINVAL, with one line that names a rank and the first difference, unless all have the
     * same bytes. One message for all things. */
    consm_status (*agree)(const struct alike *thing, int count);
    int64_t (*sent)(void);        /* bytes of programs' values that all ranks have sent so far */
    double (*first)(double mine); /* rank 0's value: for decisions by a clock or a person */
    /* Those of a partition. */
    consm_status (*gather)(const int64_t *cut, void *array, size_t bytes);
    uint64_t (*total)(uint64_t mine);
    consm_status (*swap)(void **out, int64_t *got, const void *record, const int64_t *send,
                         size_t bytes);
    /* The last call. failed: this rank has an error. Returns true if it alone failed, because the
     * others did not follow within seconds; they will be ended with it. */
    bool (*end)(bool failed);
    void (*abandon)(int code); /* ends all ranks at once */
};
typedef consm_status ranks_open_fn(const struct ranks **out, const struct plugin_services *services,
                                   uint64_t layout);

/* Divides a graph into parts with few edges between them: part (rows) becomes 0 … parts-1, balanced
 * by entries. Exported by the same library as `consm_cut`; needs no mpirun. */
typedef consm_status cut_graph_fn(int32_t *part, const struct csr *graph, int parts,
                                  const struct plugin_services *services, uint64_t layout);

/* A number that differs if the two sides have different struct layouts. */
static inline uint64_t plugin_layout(void)
{
    const uint64_t parts[] = {CONSM_VERSION_NUMBER,
                              OP_COUNT,
                              PLACES,
                              sizeof(struct instr),
                              sizeof(struct leaf),
                              sizeof(struct planned),
                              sizeof(struct csr),
                              sizeof(struct index),
                              sizeof(struct backend),
                              sizeof(struct backend_kind),
                              sizeof(struct plugin_services),
                              sizeof(struct ranks),
                              sizeof(struct sums),
                              sizeof(struct walks)};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]) * 0x100000001b3u;
    return hash;
}

/* What such a library exports as `consm_plugin`. device: the card, from 0; threads: of the host's
 * team. The services stay valid. */
typedef consm_status plugin_open_fn(struct backend **out, const struct plugin_services *services,
                                    uint64_t layout, int device, int threads);

/* And as `consm_plugin_wake`, if opening takes long: does what is slow about it once in a process.
 * products: also for large dense products. */
typedef void plugin_wake_fn(int device, bool products);

#endif
