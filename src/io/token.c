/*
 * Reads decimals fast: up to 19 digits go into an integer. The power of ten is applied in one exact
 * operation if a double allows it (Clinger 1990), otherwise in long double.
 */
#include "io/token.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t token_lines(const struct text_file *file)
{
    const char *text = file->data;
    int64_t lines = 0;
    for (size_t i = 0; i < file->size; i++)
        lines += text[i] == '\n';
    return lines;
}

int64_t token_number(const char *text, size_t length)
{
    int64_t value = 0;
    if (length == 0 || length > 18 || (text[0] == '0' && length > 1))
        return -1;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9)
            return -1;
        value = value * 10 + digit;
    }
    return value;
}

bool token_int(int64_t *out, const char *text, size_t length)
{
    bool negative = length > 0 && text[0] == '-';
    int64_t value = 0;
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    if (length == 0 || length > 18)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? -value : value;
    return true;
}

/* The digits in front of the power of ten. */
struct decimal {
    uint64_t digits;
    int64_t exponent;
};

/* Digits with at most one point; digits after the 19th only change the exponent. */
static const char *read_digits(struct decimal *d, const char *at, const char *end)
{
    int kept = 0;
    bool point = false, any = false;
    for (; at < end; at++) {
        unsigned digit = (unsigned)*at - '0';
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (digit > 9)
            break;
        any = true;
        if (kept < 19) {
            d->digits = d->digits * 10 + digit;
            kept += d->digits != 0;
            d->exponent -= point;
        } else {
            d->exponent += !point;
        }
    }
    return any ? at : NULL;
}

static double scale(struct decimal d)
{
    static const double power[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d.digits < (uint64_t)1 << 53 && d.exponent >= -22 && d.exponent <= 22)
        return d.exponent < 0 ? (double)d.digits / power[-d.exponent]
                              : (double)d.digits * power[d.exponent];
    if (d.digits == 0 || d.exponent < -400)
        return 0;
    if (d.exponent > 400)
        return HUGE_VAL;
    return (double)((long double)d.digits * powl(10, (long double)d.exponent));
}

bool token_double(double *out, const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    struct decimal d = {0, 0};
    int64_t exponent = 0;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    at = read_digits(&d, at, end);
    if (!at)
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (!token_int(&exponent, at + 1, (size_t)(end - at - 1)))
            return false;
        at = end;
    }
    if (at != end)
        return false;
    d.exponent += exponent < -100000 ? -100000 : exponent > 100000 ? 100000 : exponent;
    double value = scale(d);
    *out = negative ? -value : value;
    return isfinite((float)value);
}

bool token_float(float *out, const char *text, size_t length)
{
    double value;
    if (!token_double(&value, text, length)) /* out is unchanged */
        return false;
    *out = (float)value;
    return true;
}

int token_write_float(char out[32], float value)
{
    int length = 0;
    for (int digits = 6; digits <= 9; digits += digits == 6 ? 2 : 1) {
        float back;
        length = number_print(out, 32, "%.*g", digits, (double)value);
        for (int i = 0; i < length; i++)
            if (out[i] == ',')
                out[i] = '.';
        if (token_float(&back, out, (size_t)length) && back == value)
            break;
    }
    return length;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool token_is_one_of(const char *text, size_t length, const char *list)
{
    while (*list) {
        size_t i = 0;
        while (i < length && list[i] && list[i] != '|' && lower(text[i]) == list[i])
            i++;
        if (i == length && (list[i] == 0 || list[i] == '|'))
            return true;
        list += strcspn(list, "|");
        list += *list == '|';
    }
    return false;
}

bool token_plausible(int64_t count, size_t bytes)
{
    return count >= 0 && count < INT32_MAX && (count <= 1 << 24 || (uint64_t)count / 64 <= bytes);
}

bool token_plausible_nodes(int64_t count, size_t bytes)
{
    return count >= 0 && count < INT32_MAX && (count <= 1 << 20 || (uint64_t)count / 8 <= bytes);
}
