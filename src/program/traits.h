/* The traits of operations from ops.def, for the engine and all backends, also those in their own
 * libraries, which link nothing of ours. */
#ifndef PROGRAM_TRAITS_H
#define PROGRAM_TRAITS_H

#include "program/planned.h"

#include <string.h>

/* How a result is computed; ops.def explains each. */
enum made {
    MADE_LEAF,
    MADE_ELEMENTS,
    MADE_ROWS,
    MADE_ENTRIES,
    MADE_SUM,
    MADE_PHASES,
    MADE_TURNS,
    MADE_WHOLE
};

enum op_trait {
    IS_COMMON = 1,
    DRAWS = 2,
    IS_CHOICE = 4,
    IS_LABELLED = 8,
    REMEMBERS = 16,
    LEADS_CHAIN = 32,
    JOINS_CHAIN = 64
};

struct op_row {
    enum made made;
    char reads[NODE_SOURCES + 1]; /* a letter for each source */
    int traits;
};

static inline const struct op_row *op_row(enum op op)
{
    static const struct op_row table[OP_COUNT] = {
#define OP(NAME, name, gradient, made, reads, traits) {MADE_##made, reads, traits},
#include "program/ops.def"
#undef OP
    };
    return &table[op];
}

static inline enum made op_made(enum op op)
{
    return op_row(op)->made;
}

static inline bool op_is(enum op op, enum op_trait trait)
{
    return (op_row(op)->traits & trait) != 0;
}

/* The letter of a source; 'w' past the last. */
static inline char op_reads(enum op op, int slot)
{
    const char letter = op_row(op)->reads[slot];
    return letter ? letter : 'w';
}

/* Whether a source has one of these letters. */
static inline bool op_reads_any(enum op op, const char *letters)
{
    return strpbrk(op_row(op)->reads, letters) != NULL;
}

/* Whether the result may overwrite a source. */
static inline bool op_in_place(enum op op, int slot)
{
    return op_reads(op, slot) == 'e' || op_reads(op, slot) == 'o';
}

/* Whether the operation walks the rows of a matrix. */
static inline bool op_walks(enum op op)
{
    return op_made(op) == MADE_ENTRIES || op_reads_any(op, "cno");
}

/* Whether row r of the result can be computed without the other rows of the result. source_rows: of
 * its first source. */
static inline bool op_makes_rows(enum op op, const struct attr *attr, int64_t rows,
                                 int64_t source_rows)
{
    if (op == OP_MATMUL)
        return !attr->transposed;
    if (op == OP_BATCH_NORM)
        return attr->running;
    if (op == OP_RESHAPE)
        return rows == source_rows;
    return op_made(op) == MADE_ELEMENTS || op_made(op) == MADE_ROWS;
}

#endif
