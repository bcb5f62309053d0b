/*
 * A backend in a library of its own, loaded when somebody asks for it (src/backends/plugin.c). What
 * it needs of us comes as a table of functions, so that it links against nothing of ours and works
 * behind the command, the shared library and whatever links the static one. Both sides must be of
 * one build: plugin_layout() says whether they are.
 */
#ifndef PROGRAM_PLUGIN_H
#define PROGRAM_PLUGIN_H

#include "program/backend.h"

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
    double (*first)(double mine); /* what rank 0 says: for what a clock or a person decides */
    /* The last call. failed: this rank has an error to tell; true: it alone, for the others did not
     * follow within seconds, and they will be ended with it. */
    bool (*end)(bool failed);
    void (*abandon)(int code); /* ends all ranks at once */
};
typedef consm_status ranks_open_fn(const struct ranks **out, const struct plugin_services *services,
                                   uint64_t layout);

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
                              sizeof(struct ranks)};
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
