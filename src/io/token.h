/*
 * Numbers and names in text files: pieces of a mapped file without a terminator. The decimal point
 * is always '.', in any locale.
 */
#ifndef IO_TOKEN_H
#define IO_TOKEN_H

#include "base/alloc.h"

/* The bytes of a file and its name for messages. */
struct text_file {
    const char *name;
    const void *data; /* NULL: the file does not exist */
    size_t size;
    bool passing; /* it is mapped, and bytes that were read may be released (file_forget) */
};

/* Number of lines that end in a line feed; at most the number of bytes. */
int64_t token_lines(const struct text_file *file);

/* The number if the text is its canonical form (digits, no sign, no leading zero); -1 otherwise or
 * if it does not fit. */
int64_t token_number(const char *text, size_t length);

/* A whole number with an optional sign. */
bool token_int(int64_t *out, const char *text, size_t length);

/* A finite decimal number, 1.5e-3 or 42, that fits a float; no nan, no inf, no hexadecimal. */
bool token_float(float *out, const char *text, size_t length);

/* The same number as a double. */
bool token_double(double *out, const char *text, size_t length);

/* Writes the fewest digits that token_float reads back as the same float. Returns the length. */
int token_write_float(char out[32], float value);

/* Whether the word, in any case, is one of the list "a|b|c". */
bool token_is_one_of(const char *text, size_t length, const char *list);

/* Whether a file of `bytes` bytes may plausibly hold `count` features, entries or classes: protects
 * against headers that claim 2^60. Sixteen million are always allowed, beyond that 64 per byte. */
bool token_plausible(int64_t count, size_t bytes);
/* The same for nodes. Each node costs some hundred bytes once something is computed (structural
 * features, views). A million are always allowed, beyond that 8 per byte. */
bool token_plausible_nodes(int64_t count, size_t bytes);

#endif
