/* Ranks that go their own ways, with rank 0 as the one that knows what there is to do: what
 * libconsm_mpi.so exports as `consm_handout`, beside struct ranks (plugin.h). */
#ifndef PROGRAM_HANDOUT_H
#define PROGRAM_HANDOUT_H

#include "program/plugin.h"

/* ask sends rank 0 a text and waits for a number; rank 0 takes texts by poll (NULL: none came; else
 * to be freed) and answers each with reply. Any thread may call them. */
struct handout {
    consm_status (*ask)(int64_t *answer, const char *text);
    consm_status (*poll)(char **text, int *from);
    void (*reply)(int to, int64_t number);
};

/* For ranks that have joined, by the layout that they joined with. */
typedef consm_status handout_open_fn(const struct handout **out, uint64_t layout);

#endif
