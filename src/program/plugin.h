/*
 * A backend in a library of its own, loaded when somebody asks for it (src/backends/plugin.c). What
 * it needs of us comes as a table of functions, so that it links against nothing of ours and works
 * behind the command, the shared library and whatever links the static one. Both sides must be of
 * one build: plugin_layout() says whether they are.
 */
#ifndef PROGRAM_PLUGIN_H
#define PROGRAM_PLUGIN_H

#include "program/backend.h"

/* A sum over rows in two halves (cpu/sums.h). The sources of the instruction lie whole at their
 * addresses, as far as the blocks of the first half read them. */
enum sum_over {
    SUM_ROWS,     /* a block is `length` rows of the sources */
    SUM_ELEMENTS, /* … elements */
    SUM_INDEXED,  /* … positions of the index, and what rows they name */
    SUM_RESULT    /* … rows of the result, each of all rows of the sources */
};
struct sum_shape {
    enum sum_over over;
    int64_t length, blocks;
    size_t bytes; /* of a block's partial sums */
};
struct sums {
    int (*phases)(const struct instr *in); /* one after the other; 0: it is no such operation */
    struct sum_shape (*shape)(const struct instr *in);
    size_t (*work_bytes)(const struct instr *in); /* kept from phase to phase */
    /* Blocks first … last-1, each to its place among all of them. */
    void (*blocks)(struct team *team, const struct instr *in, int phase, void *partial, void *work,
                   int64_t first, int64_t last);
    void (*total)(struct team *team, const struct instr *in, int phase, void *partial, void *work);
    /* Operations of several phases end with their rows, first … last-1 of them. */
    void (*rows)(struct team *team, const struct instr *in, void *work, int64_t first,
                 int64_t last);
};

/* An operation that goes through the rows of a square matrix in turns, and needs something of all
 * rows in between (cpu/walks.c): an array with so many bytes a row, of which a turn has made the
 * rows it was told. */
struct between {
    void *array; /* NULL: that was the last turn */
    size_t bytes;
};
struct walks {
    bool (*is)(const struct instr *in);    /* whether it is such an operation … */
    bool (*turns)(const struct instr *in); /* … and reads values through the transpose, too */
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
    const struct sums *sums; /* of the CPU's kernels … */
    const struct walks *walks;
};

/* Many processes that train one model together: what libconsm_mpi.so exports as `consm_ranks`. All
 * of them run the same program on the same data and call these functions in the same order. */
struct ranks {
    int rank, size;
    int here; /* how many of them are on this machine */
    /* A backend whose programs are divided among the ranks, over one that computes; closes it. */
    consm_status (*divide)(struct backend **out, struct backend *inner);
    /* CONSM_EINVAL, with one line that names a rank, unless all have the same bytes; text is shown.
     */
    consm_status (*agree)(const char *what, const void *data, size_t bytes, bool text);
    int64_t (*sent)(void); /* bytes of programs' values that all ranks together have sent so far */
    double (*first)(double mine); /* what rank 0 says: for what a clock or a person decides */
    /* Data in parts. Rows of so many belong to the ranks as cut (size+1) says, in all programs from
     * now on; the first such number of rows is the graph's, others follow; cut NULL: none any more.
     * gather: each rank's own rows of the graph, of an array with so many bytes a row, to all. */
    consm_status (*settle)(int64_t rows, const int64_t *cut);
    consm_status (*gather)(void *array, size_t bytes);
    /* Of this array (rows, cols) a rank has its own rows only: those of others come when programs
     * read them. Until unspread. */
    consm_status (*spread)(float *array, int64_t cols);
    void (*unspread)(const float *array);
    uint64_t (*total)(uint64_t mine); /* of all ranks' numbers, modulo 2^64 */
    /* Until it is asked again, what the host reads of a value that is divided like data in parts is
     * this rank's rows and these (ascending; all ranks name the same), not all. NULL: all. */
    consm_status (*want)(const int32_t *row, int64_t count);
    /* partition.swap: records to whom they are for. */
    consm_status (*swap)(void **out, int64_t *got, const void *record, const int64_t *send,
                         size_t bytes);
    /* The last call. failed: this rank has an error to tell; true: it alone, for the others did not
     * follow within seconds, and they will be ended with it. */
    bool (*end)(bool failed);
    void (*abandon)(int code); /* ends all ranks at once */
};
typedef consm_status ranks_open_fn(const struct ranks **out, const struct plugin_services *services,
                                   uint64_t layout);

/* Parts of a graph with few neighbours elsewhere: part (rows) becomes 0 … parts-1, balanced by
 * entries. Exported by the same library as `consm_cut`; needs no mpirun. */
typedef consm_status cut_graph_fn(int32_t *part, const struct csr *graph, int parts,
                                  const struct plugin_services *services, uint64_t layout);

/* A number that differs where the two sides would read each other's structs wrongly. */
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

/* The one function that such a library exports, as `consm_plugin`. device: which of several cards,
 * from 0; threads: of the host's team. The services stay where they are. */
typedef consm_status plugin_open_fn(struct backend **out, const struct plugin_services *services,
                                    uint64_t layout, int device, int threads);

#endif
