/*
 * A growing list of distinct texts, each found again by its content: node ids and class names on
 * their way from a file into a dataset. Texts are numbered in the order in which they were added.
 */
#ifndef DATA_TABLE_NAMES_H
#define DATA_TABLE_NAMES_H

#include "base/alloc.h"

/* A slot shows the first bytes of its text, so that short texts are found without looking further.
 * Texts hold no zero byte. */
struct name_slot {
    uint64_t head;
    uint32_t tag;   /* 24 bits of the hash, and the length up to 255 */
    uint32_t place; /* number + 1, or 0: empty */
};

/* All zero is an empty list. */
struct names {
    int64_t count;
    char *text; /* the texts end to end, each with its end mark */
    size_t text_used, text_capacity;
    size_t *offset; /* (count) where each begins */
    size_t offset_capacity;
    struct name_slot *slot; /* the hash table */
    size_t slots;           /* a power of two, or 0 */
    uint64_t secret;
};

void names_free(struct names *n);

static inline const char *names_at(const struct names *n, int64_t index)
{
    return n->text + n->offset[index];
}

static inline size_t names_length(const struct names *n, int64_t index)
{
    return (index + 1 < n->count ? n->offset[index + 1] : n->text_used) - n->offset[index] - 1;
}

/* The number of that text, or -1. */
int64_t names_find(const struct names *n, const char *text, size_t length);

/* For many texts at once: hash some, which fetches their places in the table, then look them up.
 * Hashes stay good while the list grows from its first text on. */
uint64_t names_hash(struct names *n, const char *text, size_t length);
int64_t names_find_hashed(const struct names *n, uint64_t hash, const char *text, size_t length);
consm_status names_add_hashed(int64_t *index, struct names *n, uint64_t hash, const char *text,
                              size_t length);

/* The number of that text, which joins the list if it is new (then *index is the old count). */
consm_status names_add(int64_t *index, struct names *n, const char *text, size_t length);

/* The list in the given order (NULL: its own) as one block: pointers, then the texts they point to,
 * for a dataset with DATASET_PACKED_…. */
consm_status names_pack(char ***out, const struct names *n, const int32_t *order);

/* Texts that lie end to end, each with its end mark, and must be exactly count. Pointers only, for
 * text that stays where it is, or with a copy behind them. CONSM_EFORMAT without a message when the
 * text is no such list. */
consm_status names_pack_text(char ***out, const char *text, size_t bytes, int64_t count, bool copy);

/* Every text is its own place in the list: "0", "1", …; such names need not be kept. */
bool names_are_places(const struct names *n);

/* order[k] = the text that comes k-th: by value when all are numbers, else by bytes. */
consm_status names_sort(int32_t **order, const struct names *n);

#endif
