/* UTF-8: what is well formed, and which characters steer the page or the terminal around them. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/status.h"

enum { UTF8_REPLACEMENT = 0xFFFD, UTF8_BROKEN = 0x110000 };

/* Length of the well-formed sequence at text (Unicode 15, table 3-7), or 0. */
size_t utf8_sequence(const char *text, size_t left);
bool utf8_valid(const char *text, size_t length);

/* The next character of a string, exactly; moves *s past it. UTF8_BROKEN for a byte that is part of
 * none, 0 at the end. */
uint32_t utf8_next(const char **s);

/* Writes a character's bytes and returns how many; 0 for what is no character (surrogates, above
 * 0x10FFFF). */
size_t utf8_put(char out[4], uint32_t c);

/* Characters that would change what stands around them: controls (also the terminal's escapes),
 * what XML forbids, and the overrides of writing direction, which can make one name look like
 * another. Tab and new line are not among them. */
bool utf8_steers(uint32_t c);

/* Makes broken bytes '?': for the names of files, which may hold any, in notes that may not. */
void utf8_mend(char *text);

/* Makes broken bytes and whatever steers '?', new lines and tabs too: for messages of one line. */
void utf8_tame(char *text);

#endif
