/* UTF-8: well-formed sequences, and characters that control a page or a terminal. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/status.h"

enum { UTF8_REPLACEMENT = 0xFFFD, UTF8_BROKEN = 0x110000 };

bool utf8_valid(const char *text, size_t length);

/* Returns the next character of a string and moves *s past it. UTF8_BROKEN for a malformed byte, 0
 * at the end. */
uint32_t utf8_next(const char **s);

/* Writes a character's bytes and returns their number; 0 if it is not a character (surrogates,
 * above 0x10FFFF). */
size_t utf8_put(char out[4], uint32_t c);

/* Characters that change the text around them: controls (also terminal escapes), those that XML
 * forbids, and direction overrides, which can make one name look like another. Tab and new line are
 * not among them. */
bool utf8_steers(uint32_t c);

/* Replaces malformed bytes by '?': file names may hold any byte, notes may not. */
void utf8_mend(char *text);

/* Replaces malformed bytes and control characters by '?', also new lines and tabs: for one-line
 * messages. */
void utf8_tame(char *text);

#endif
