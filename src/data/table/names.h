/*
 * A growing list of distinct texts that can be found by content: node ids and class names while a
 * file is read. Texts are numbered in the order of adding.
 */
#ifndef DATA_TABLE_NAMES_H
#define DATA_TABLE_NAMES_H

#include "base/alloc.h"

/* A slot holds the first bytes of its text, so that short texts need no further lookup. Texts have
 * no zero byte. */
struct name_slot {
    uint64_t head;
    uint32_t tag;   /* 24 bits of the hash, and the length up to 255 */
    uint32_t place; /* number + 1, or 0: empty */
};

/* All zero is an empty list. */
struct names {
    int64_t count;
    char *text; /* the texts end to end, each terminated */
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

/* For many texts at once: hash some, which prefetches their slots, then look them up. Hashes stay
 * valid while the list grows from its first text on. */
uint64_t names_hash(struct names *n, const char *text, size_t length);
int64_t names_find_hashed(const struct names *n, uint64_t hash, const char *text, size_t length);
consm_status names_add_hashed(int64_t *index, struct names *n, uint64_t hash, const char *text,
                              size_t length);

/* The number of that text, which is added if new (then *index is the old count). */
consm_status names_add(int64_t *index, struct names *n, const char *text, size_t length);

/* The list in the given order (NULL: its own) as one block: pointers, then the texts, for a dataset
 * with DATASET_PACKED_…. */
consm_status names_pack(char ***out, const struct names *n, const int32_t *order);

/* Makes a list from exactly count terminated texts, end to end. Pointers only, if the text stays
 * valid, or with a copy. CONSM_EFORMAT without a message if the text is not such a list. */
consm_status names_pack_text(char ***out, const char *text, size_t bytes, int64_t count, bool copy);

/* Whether every text is its own position: "0", "1", …; such names need not be stored. */
bool names_are_places(const struct names *n);

/* order[k] = the k-th text: by value if all are numbers, else by bytes. */
consm_status names_sort(int32_t **order, const struct names *n);

#endif
