/* One escaping function per format; each names what its format would take for markup. */
#include <string.h>

#include "base/utf8.h"
#include "report/text.h"

static uint32_t on_one_line(uint32_t c)
{
    return c == '\n' || c == '\t' ? ' ' : c;
}

void text_plain(struct text *t, const char *s)
{
    for (uint32_t c; s && (c = text_decode(&s)) != 0;)
        text_code_point(t, on_one_line(c));
}

void text_xml(struct text *t, const char *s)
{
    for (uint32_t c; s && (c = text_decode(&s)) != 0;) {
        if (c == '<')
            text_add(t, "&lt;");
        else if (c == '>')
            text_add(t, "&gt;");
        else if (c == '&')
            text_add(t, "&amp;");
        else if (c == '"')
            text_add(t, "&quot;");
        else if (c == '\'')
            text_add(t, "&#39;");
        else
            text_code_point(t, c);
    }
}

/* Text that spreadsheets would compute; signed numbers are fine. */
static bool is_formula(const char *s)
{
    if (!s || !*s || !strchr("=+-@\t\r", *s))
        return false;
    return (*s != '-' && *s != '+') || !s[1] || strspn(s + 1, "0123456789.") != strlen(s + 1);
}

/* Keeps every byte: a CSV is data, and readers must get the exact names back. */
void text_csv(struct text *t, const char *s)
{
    bool quoted = s && (strpbrk(s, ",\"\n\r;\t") || *s == ' ' || (*s && s[strlen(s) - 1] == ' '));
    if (quoted)
        text_add(t, "\"");
    if (t->safe_csv && is_formula(s))
        text_add(t, "'");
    for (; s && *s; s++) {
        if (*s == '"')
            text_add(t, "\"");
        text_add_bytes(t, s, 1);
    }
    if (quoted)
        text_add(t, "\"");
}

void text_markdown(struct text *t, const char *s)
{
    for (uint32_t c; s && (c = text_decode(&s)) != 0;) {
        if (c == '<')
            text_add(t, "&lt;");
        else if (c == '>')
            text_add(t, "&gt;");
        else if (c == '&')
            text_add(t, "&amp;");
        else if (c < 0x80 && strchr("\\`*_{}[]()#|!~$", (int)c))
            text_printf(t, "\\%c", (char)c);
        else
            text_code_point(t, on_one_line(c));
    }
}

struct latex_symbol {
    uint32_t c;
    const char *latex;
};

/* LaTeX commands, characters that its old fonts lack, and the signs of our tables. */
static const struct latex_symbol latex_symbols[] = {
    {'\\', "\\textbackslash{}"},
    {'{', "\\{"},
    {'}', "\\}"},
    {'$', "\\$"},
    {'&', "\\&"},
    {'#', "\\#"},
    {'%', "\\%"},
    {'_', "\\_"},
    {'^', "\\textasciicircum{}"},
    {'~', "\\textasciitilde{}"},
    {'<', "\\textless{}"},
    {'>', "\\textgreater{}"},
    {'|', "\\textbar{}"},
    {'"', "''"},
    {'`', "\\textasciigrave{}"},
    {'[', "{[}"}, /* at the start of a row it would be \\'s argument */
    {']', "{]}"},
    {'*', "{*}"}, /* and so would this */
    {0xB1, "$\\pm$"},
    {0xB2, "$^2$"},
    {0xD7, "$\\times$"},
    {0x3B1, "$\\alpha$"},
    {0x3B6, "$\\zeta$"},
    {0x3BB, "$\\lambda$"},
    {0x3C1, "$\\rho$"},
    {0x2013, "--"},
    {0x2014, "---"},
    {0x2026, "\\ldots{}"},
    {0x2020, "$\\dagger$"},
    {0x2190, "$\\leftarrow$"},
    {0x2192, "$\\rightarrow$"},
    {0x2206, "$\\Delta$"},
    {0x2212, "$-$"},
    {0x221E, "$\\infty$"},
    {0x2248, "$\\approx$"},
    {0x2264, "$\\leq$"},
    {0x2265, "$\\geq$"},
    {0x230A, "$\\lfloor$"},
    {0x230B, "$\\rfloor$"},
    {0xFFFD, "?"},
};

static const char *latex_for(uint32_t c)
{
    for (size_t i = 0; i < sizeof latex_symbols / sizeof *latex_symbols; i++)
        if (latex_symbols[i].c == c)
            return latex_symbols[i].latex;
    return NULL;
}

void text_latex(struct text *t, const char *s)
{
    for (uint32_t c; s && (c = text_decode(&s)) != 0;) {
        const char *symbol = latex_for(c);
        if (symbol)
            text_add(t, symbol);
        else
            text_code_point(t, on_one_line(c));
        if (c == '-' && *s == '-') /* two hyphens stay two hyphens */
            text_add(t, "{}");
    }
}

/* Control characters are kept as escapes: a name in JSON is data, too. */
void text_json(struct text *t, const char *s)
{
    text_add(t, "\"");
    for (uint32_t c; s && (c = utf8_next(&s)) != 0;) {
        if (c == '"' || c == '\\')
            text_printf(t, "\\%c", (char)c);
        else if (c == '\n')
            text_add(t, "\\n");
        else if (c == '\t')
            text_add(t, "\\t");
        else if (c == UTF8_BROKEN)
            text_code_point(t, UTF8_REPLACEMENT);
        else if (c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029 ||
                 (utf8_steers(c) && c < 0x10000))
            text_printf(t, "\\u%04x", c); /* "</script>" and "<!--" cannot form */
        else
            text_code_point(t, c);
    }
    text_add(t, "\"");
}

void text_slug(struct text *t, const char *s)
{
    size_t begin = t->length, written = 0;
    for (uint32_t c; s && written < 60 && (c = text_decode(&s)) != 0;) {
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (letter)
            text_code_point(t, c);
        else if (t->length > begin && t->data[t->length - 1] != '-')
            text_add(t, "-");
        written++;
    }
    while (t->status >= 0 && t->length > begin && t->data[t->length - 1] == '-')
        t->data[--t->length] = 0;
    if (t->length == begin)
        text_add(t, "unnamed");
}
