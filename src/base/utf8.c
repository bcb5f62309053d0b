/* UTF-8 from one table of well-formed sequences. */
#include "base/utf8.h"

/* Length of the well-formed sequence at text (Unicode 15, table 3-7), or 0. */
static size_t utf8_sequence(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned char a = s[0];
    if (a < 0x80)
        return 1;
    size_t length = a >= 0xc2 && a <= 0xdf ? 2 : a >= 0xe0 && a <= 0xef ? 3 : 4;
    if (a < 0xc2 || a > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((a == 0xe0 && s[1] < 0xa0) || (a == 0xed && s[1] > 0x9f) || (a == 0xf0 && s[1] < 0x90) ||
        (a == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

bool utf8_valid(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = utf8_sequence(text + i, length - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

uint32_t utf8_next(const char **s)
{
    const unsigned char *at = (const unsigned char *)*s;
    if (at[0] == 0)
        return 0;
    /* The final zero is not a continuation byte, so it ends a truncated sequence. */
    size_t length = utf8_sequence(*s, 4);
    if (length == 0) {
        (*s)++;
        return UTF8_BROKEN;
    }
    uint32_t c = length == 1 ? at[0] : at[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++)
        c = c << 6 | (at[i] & 0x3f);
    *s += length;
    return c;
}

size_t utf8_put(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    size_t length = 0;
    if (c < 0x10000) {
        out[length++] = (char)(0xE0 | c >> 12);
    } else {
        out[length++] = (char)(0xF0 | c >> 18);
        out[length++] = (char)(0x80 | (c >> 12 & 0x3F));
    }
    out[length++] = (char)(0x80 | (c >> 6 & 0x3F));
    out[length++] = (char)(0x80 | (c & 0x3F));
    return length;
}

bool utf8_steers(uint32_t c)
{
    return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7F && c < 0xA0) ||
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E ||
           c == 0x200F || c == 0xFEFF || (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
}

void utf8_mend(char *text)
{
    for (const char *at = text; *at;)
        if (utf8_next(&at) == UTF8_BROKEN)
            text[at - text - 1] = '?';
}

void utf8_tame(char *text)
{
    while (*text) {
        const char *next = text;
        uint32_t c = utf8_next(&next);
        bool steers = c == UTF8_BROKEN || c < ' ' || utf8_steers(c);
        for (; text < next; text++)
            *text = steers ? '?' : *text;
    }
}
