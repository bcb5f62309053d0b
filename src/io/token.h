/*
 * Numbers and names as text files write them: pieces of a mapped file that carry no end mark. The
 * decimal point is always '.', whatever the locale of the program around the library.
 */
#ifndef IO_TOKEN_H
#define IO_TOKEN_H

#include "base/alloc.h"

/* The bytes of a file that a reader works on, and the name it is given in messages. */
struct text_file {
    const char *name;
    const void *data; /* NULL: there is no such file */
    size_t size;
    bool passing; /* it is mapped, and what was read of it need not stay (file_forget) */
};

/* Lines that end in a line feed; never more than the bytes there are. */
int64_t token_lines(const struct text_file *file);

/* The number a text spells the one way a number is written (digits, no sign, no leading zero), or
 * -1 when it is anything else or does not fit. */
int64_t token_number(const char *text, size_t length);

/* A whole number with an optional sign. */
bool token_int(int64_t *out, const char *text, size_t length);

/* A finite decimal number, 1.5e-3 or 42, that fits a float; no nan, no inf, no hexadecimal. */
bool token_float(float *out, const char *text, size_t length);

/* The same number as a double. */
bool token_double(double *out, const char *text, size_t length);

/* Fewest digits that token_float reads back as the same float. Returns the length. */
int token_write_float(char out[32], float value);

/* The word, in any mixture of cases, is one of the list "a|b|c". */
bool token_is_one_of(const char *text, size_t length, const char *list);

/* A file of so many bytes may plausibly mean so many features, entries or classes: guards against
 * headers that promise 2^60. Sixteen million are always allowed, more at up to 64 for each byte. */
bool token_plausible(int64_t count, size_t bytes);
/* The same of nodes, of which each costs some hundred bytes as soon as something is computed
 * (structural features, views): a million are always allowed, more at up to 8 for each byte. */
bool token_plausible_nodes(int64_t count, size_t bytes);

#endif
