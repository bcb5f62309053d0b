/* Lookup tables for deflate's Huffman codes (RFC 1951, 3.2): what the inflater sees of them. */
#ifndef IO_HUFFMAN_H
#define IO_HUFFMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_CODE_BITS = 15, LENGTH_SYMBOLS = 288, DISTANCE_SYMBOLS = 32, LONGEST_MATCH = 258 };

/* A table entry: bits 0-7 code bits to drop, 8-11 extra bits, 12-14 kind, 16-31 value. */
enum { LITERAL, MATCH, END, DEEPER, INVALID };
#define ENTRY(kind, value, extra) ((uint32_t)(value) << 16 | (uint32_t)(kind) << 12 | (extra) << 8)
#define ENTRY_DROP(e)             ((e)&255)
#define ENTRY_EXTRA(e)            ((e) >> 8 & 15)
#define ENTRY_KIND(e)             ((e) >> 12 & 7)
#define ENTRY_VALUE(e)            ((e) >> 16)

/* The lookup table of a canonical Huffman code (RFC 1951, 3.2.2). symbol_entry[s] is the entry of
 * symbol s without its code bits. Codes longer than `primary` bits go through a second table.
 * Over-subscribed codes are faults; an incomplete one is allowed only as a single one-bit code, and
 * bits it does not use lead to INVALID entries. NULL, or what is wrong. */
const char *huffman_table(uint32_t *table, size_t capacity, int primary, const uint8_t *code_length,
                          int symbols, const uint32_t *symbol_entry, bool single_allowed);

/* Entries of all literal/length symbols and of all distances (RFC 1951, 3.2.5). */
void huffman_lengths(uint32_t entry[LENGTH_SYMBOLS]);
void huffman_distances(uint32_t entry[DISTANCE_SYMBOLS]);

#endif
