/* The buffer, the decoder, and display width. */
#include "report/text.h"
#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"

void text_free(struct text *t)
{
    mem_free(t->data);
    *t = (struct text){0};
}

consm_status text_status(const struct text *t)
{
    return t->status;
}

const char *text_string(const struct text *t)
{
    return t->data ? t->data : "";
}

void text_add_bytes(struct text *t, const char *bytes, size_t count)
{
    if (t->status < 0 || (t->status = GROW(t->data, t->length, t->capacity, count + 1)) < 0)
        return;
    memcpy(t->data + t->length, bytes, count);
    t->length += count;
    t->data[t->length] = 0;
}

void text_add(struct text *t, const char *words)
{
    text_add_bytes(t, words, strlen(words));
}

void text_printf(struct text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int needed = number_vprint(NULL, 0, format, args);
    va_end(args);
    if (needed >= 0 && t->status >= 0)
        t->status = GROW(t->data, t->length, t->capacity, (size_t)needed + 1);
    if (needed >= 0 && t->status >= 0) {
        number_vprint(t->data + t->length, (size_t)needed + 1, format, again);
        t->length += (size_t)needed;
    }
    va_end(again);
}

void text_repeat(struct text *t, const char *words, int64_t times)
{
    for (int64_t i = 0; i < times; i++)
        text_add(t, words);
}

void text_number(struct text *t, double value, int decimals)
{
    if (isnan(value))
        text_add(t, "–");
    else if (isinf(value))
        text_add(t, value > 0 ? "∞" : "-∞");
    else if (fabs(value) < 0.5 * pow(10, -decimals)) /* never "-0.0" */
        text_printf(t, "%.*f", decimals, 0.0);
    else
        text_printf(t, "%.*f", decimals, value);
}

void text_json_number(struct text *t, double value, int digits)
{
    if (isfinite(value))
        text_printf(t, "%.*g", digits, value);
    else
        text_add(t, "null");
}

/* ---- UTF-8 --------------------------------------------------------------- */

uint32_t text_decode(const char **s)
{
    uint32_t c = utf8_next(s);
    return c == UTF8_BROKEN || (c && utf8_steers(c)) ? UTF8_REPLACEMENT : c;
}

void text_code_point(struct text *t, uint32_t c)
{
    char b[4];
    if (c < 0x80) {
        b[0] = (char)c;
        text_add_bytes(t, b, 1);
    } else if (c < 0x800) {
        b[0] = (char)(0xC0 | c >> 6);
        b[1] = (char)(0x80 | (c & 0x3F));
        text_add_bytes(t, b, 2);
    } else if (c < 0x10000) {
        b[0] = (char)(0xE0 | c >> 12);
        b[1] = (char)(0x80 | (c >> 6 & 0x3F));
        b[2] = (char)(0x80 | (c & 0x3F));
        text_add_bytes(t, b, 3);
    } else {
        b[0] = (char)(0xF0 | c >> 18);
        b[1] = (char)(0x80 | (c >> 12 & 0x3F));
        b[2] = (char)(0x80 | (c >> 6 & 0x3F));
        b[3] = (char)(0x80 | (c & 0x3F));
        text_add_bytes(t, b, 4);
    }
}

/* The coarse ranges that matter for names; the C library's wcwidth depends on the locale. */
int text_columns(uint32_t c)
{
    static const uint32_t none[][2] = {
        {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
        {0x93C, 0x93C},   {0x94D, 0x94D},   {0xE31, 0xE31},   {0xE34, 0xE3A},   {0x1AB0, 0x1AFF},
        {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
    static const uint32_t wide[][2] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
                                       {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                                       {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},
                                       {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                                       {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (c >= none[i][0] && c <= none[i][1])
            return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1])
            return 2;
    return 1;
}

int64_t text_width(const char *s)
{
    int64_t width = 0;
    for (uint32_t c; s && (c = text_decode(&s)) != 0;)
        width += text_columns(c);
    return width;
}

consm_status text_clip(char **out, const char *s, int64_t columns)
{
    struct text t = {0};
    bool cut = text_width(s) > columns;
    int64_t room = cut ? columns - 1 : columns;
    *out = NULL;
    text_add(&t, "");
    for (uint32_t c; s && (c = text_decode(&s)) != 0;) {
        room -= text_columns(c);
        if (room < 0)
            break;
        text_code_point(&t, c == '\n' || c == '\t' ? ' ' : c);
    }
    if (cut && columns > 0)
        text_add(&t, "…");
    if (t.status < 0) {
        consm_status st = t.status;
        text_free(&t);
        return st;
    }
    *out = t.data;
    return CONSM_OK;
}

consm_status text_clip_middle(char **out, const char *s, int64_t columns)
{
    consm_status st = CONSM_OK;
    char *front = NULL;
    const char *end = s;
    int64_t width = text_width(s), back = (columns - 1) / 2;
    if (width <= columns || back < 1)
        return text_clip(out, s, columns);
    while (width > back)
        width -= text_columns(text_decode(&end));
    struct text t = {0};
    *out = NULL;
    TRY(text_clip(&front, s, columns - width));
    text_add(&t, front);
    text_add(&t, end);
    TRY(text_status(&t));
    *out = t.data;
    t = (struct text){0};
done:
    mem_free(front);
    text_free(&t);
    return st;
}

consm_status text_save(const struct text *t, const char *path)
{
    consm_status st = t->status;
    struct file_writer *w = NULL;
    TRY(st);
    TRY(file_create(&w, path));
    TRY(file_write(w, text_string(t), t->length));
    TRY(file_commit(w));
done:
    file_close(w);
    return st;
}
