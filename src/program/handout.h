/* Ranks that work on their own, with rank 0 handing out the work: what libconsm_mpi.so exports as
 * `consm_handout`, besides struct ranks (plugin.h). */
#ifndef PROGRAM_HANDOUT_H
#define PROGRAM_HANDOUT_H

#include "program/plugin.h"

/* ask sends rank 0 a text and waits for a number. Rank 0 receives texts by poll (NULL: none; else
 * the caller frees it) and answers each with reply. Any thread may call them. */
struct handout {
    consm_status (*ask)(int64_t *answer, const char *text);
    consm_status (*poll)(char **text, int *from);
    void (*reply)(int to, int64_t number);
};

/* For ranks that have joined, with the same layout number. */
typedef consm_status handout_open_fn(const struct handout **out, uint64_t layout);

#endif
