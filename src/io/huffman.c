/* Canonical codes into tables: one lookup for codes up to the primary width, two for longer ones.
 */
#include "io/huffman.h"

static uint32_t reversed(uint32_t code, int bits)
{
    uint32_t r = 0;
    for (int i = 0; i < bits; i++)
        r |= (code >> i & 1) << (bits - 1 - i);
    return r;
}

const char *huffman_table(uint32_t *table, size_t capacity, int primary, const uint8_t *code_length,
                          int symbols, const uint32_t *symbol_entry, bool single_allowed)
{
    int counts[MAX_CODE_BITS + 1] = {0}, longest = 0, left = 1;
    uint32_t next_code[MAX_CODE_BITS + 2] = {0};
    size_t used = (size_t)1 << primary;
    for (int s = 0; s < symbols; s++)
        counts[code_length[s]]++;
    counts[0] = 0;
    for (int b = 1; b <= MAX_CODE_BITS; b++) {
        left = 2 * left - counts[b];
        if (left < 0)
            return "a Huffman code that is over-subscribed";
        if (counts[b])
            longest = b;
        next_code[b + 1] = (next_code[b] + (uint32_t)counts[b]) << 1;
    }
    if (left > 0 && longest > 0 && !(single_allowed && longest == 1))
        return "a Huffman code that is incomplete";
    for (size_t i = 0; i < used; i++)
        table[i] = ENTRY(INVALID, 0, 0U);
    for (int s = 0; s < symbols; s++) {
        int length = code_length[s];
        if (length == 0)
            continue;
        uint32_t code = reversed(next_code[length]++, length);
        if (length <= primary) {
            for (size_t i = code; i < (size_t)1 << primary; i += (size_t)1 << length)
                table[i] = symbol_entry[s] | (uint32_t)length;
            continue;
        }
        uint32_t *first = &table[code & ((1U << primary) - 1)];
        int deeper = longest - primary;
        if (ENTRY_KIND(*first) != DEEPER) {
            if (used + ((size_t)1 << deeper) > capacity)
                return "a Huffman code that is too large";
            *first = ENTRY(DEEPER, used, (uint32_t)deeper) | (uint32_t)primary;
            for (size_t i = 0; i < (size_t)1 << deeper; i++)
                table[used + i] = ENTRY(INVALID, 0, 0U);
            used += (size_t)1 << deeper;
        }
        uint32_t *sub = table + ENTRY_VALUE(*first);
        for (size_t i = code >> primary; i < (size_t)1 << deeper;
             i += (size_t)1 << (length - primary))
            sub[i] = symbol_entry[s] | (uint32_t)(length - primary);
    }
    return NULL;
}

void huffman_lengths(uint32_t entry[LENGTH_SYMBOLS])
{
    for (uint32_t s = 0; s < 256; s++)
        entry[s] = ENTRY(LITERAL, s, 0U);
    entry[256] = ENTRY(END, 0, 0U);
    uint32_t base = 3;
    for (uint32_t s = 257; s < 285; s++) {
        uint32_t extra = s < 265 ? 0 : (s - 261) / 4;
        entry[s] = ENTRY(MATCH, base, extra);
        base += 1U << extra;
    }
    entry[285] = ENTRY(MATCH, LONGEST_MATCH, 0U);
    entry[286] = entry[287] = ENTRY(INVALID, 0, 0U);
}

void huffman_distances(uint32_t entry[DISTANCE_SYMBOLS])
{
    uint32_t base = 1;
    for (uint32_t s = 0; s < 30; s++) {
        uint32_t extra = s < 4 ? 0 : (s - 2) / 2;
        entry[s] = ENTRY(MATCH, base, extra);
        base += 1U << extra;
    }
    entry[30] = entry[31] = ENTRY(INVALID, 0, 0U);
}
