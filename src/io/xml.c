/* Parses XML in one pass over the bytes. */
#include "io/xml.h"

#include <stdarg.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

void xml_start(struct xml *x, const struct text_file *file)
{
    const char *text = file->size ? file->data : "";
    *x = (struct xml){.file = file->name, .begin = text, .at = text, .end = text + file->size};
    if (file->size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        x->at += 3;
    x->counted = x->token = x->at;
    x->line = 1;
}

void xml_free(struct xml *x)
{
    mem_free(x->buffer);
    x->buffer = NULL;
}

int64_t xml_line(struct xml *x)
{
    for (; x->counted < x->token; x->counted++)
        x->line += *x->counted == '\n';
    return x->line;
}

consm_status xml_fail(struct xml *x, const char *expected, ...)
{
    char what[256];
    va_list args;
    const char *line = x->token;
    va_start(args, expected);
    number_vprint(what, sizeof what, expected, args);
    va_end(args);
    while (line > x->begin && line[-1] != '\n')
        line--;
    return status_fail(CONSM_EFORMAT, "%s: line %lld, column %lld: expected %s", x->file,
                       (long long)xml_line(x), (long long)(x->token - line) + 1, what);
}

/* A fault at another place than the start of the piece. */
static consm_status fail_at(struct xml *x, const char *at, const char *expected)
{
    x->token = at;
    return xml_fail(x, "%s", expected);
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct xml *x)
{
    while (x->at < x->end && blank(*x->at))
        x->at++;
}

static bool begins(const struct xml *x, const char *mark)
{
    size_t length = strlen(mark);
    return (size_t)(x->end - x->at) >= length && memcmp(x->at, mark, length) == 0;
}

/* Moves past the next mark. */
static consm_status skip_to(struct xml *x, const char *mark)
{
    const char *hit = memmem(x->at, (size_t)(x->end - x->at), mark, strlen(mark));
    if (!hit)
        return xml_fail(x, "%s before the end of the file", mark);
    x->at = hit + strlen(mark);
    return CONSM_OK;
}

static struct xml_name local_name(struct xml_name n)
{
    const char *colon = memchr(n.text, ':', n.length);
    if (!colon)
        return n;
    return (struct xml_name){colon + 1, n.length - (size_t)(colon + 1 - n.text)};
}

static consm_status read_name(struct xml_name *out, struct xml *x)
{
    const char *from = x->at;
    while (x->at < x->end && !blank(*x->at) && !strchr("<>=/\"'&?!", *x->at))
        x->at++;
    *out = (struct xml_name){from, (size_t)(x->at - from)};
    if (out->length == 0 || out->length > 200 || !utf8_valid(from, out->length))
        return fail_at(x, from, "a name of at most 200 bytes");
    return CONSM_OK;
}

/* ---- text ---------------------------------------------------------------- */

static consm_status put(struct xml *x, const char *text, size_t length)
{
    consm_status st = CONSM_OK;
    TRY(GROW(x->buffer, x->used, x->capacity, length + 1));
    memcpy(x->buffer + x->used, text, length);
    x->used += length;
    x->buffer[x->used] = 0;
done:
    return st;
}

static consm_status put_character(struct xml *x, uint32_t c, const char *at)
{
    char byte[4];
    size_t length = c == 0 ? 0 : utf8_put(byte, c);
    return length > 0 ? put(x, byte, length) : fail_at(x, at, "a valid character number");
}

/* &amp; &lt; &gt; &quot; &apos; &#65; &#x41; */
static consm_status read_reference(struct xml *x)
{
    static const struct {
        const char *name;
        char character;
    } known[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    const char *from = x->at;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(x, known[i].name)) {
            x->at += strlen(known[i].name);
            return put(x, &known[i].character, 1);
        }
    if (!begins(x, "&#"))
        return fail_at(x, from, "one of the entities amp, lt, gt, quot, apos, or &#number;");
    x->at += 2;
    bool hex = x->at < x->end && *x->at == 'x';
    x->at += hex;
    uint32_t value = 0;
    int digits = 0;
    for (; x->at < x->end && *x->at != ';' && digits < 8; x->at++, digits++) {
        const char *all = "0123456789abcdef", lower = (char)(*x->at | 0x20);
        const char *hit = memchr(all, *x->at <= '9' ? *x->at : lower, hex ? 16 : 10);
        if (!hit)
            return fail_at(x, from, "digits and ; after &#");
        value = value * (hex ? 16 : 10) + (uint32_t)(hit - all);
    }
    if (digits == 0 || x->at == x->end || *x->at != ';')
        return fail_at(x, from, "digits and ; after &#");
    x->at++;
    return put_character(x, value, from);
}

/* Characters up to one of the stops, references resolved. */
static consm_status read_characters(struct xml *x, const char *stops)
{
    consm_status st = CONSM_OK;
    while (x->at < x->end && !(*x->at && strchr(stops, *x->at))) {
        const char *from = x->at;
        if (*from == '&') {
            TRY(read_reference(x));
            continue;
        }
        while (x->at < x->end && *x->at && *x->at != '&' && !strchr(stops, *x->at))
            x->at++;
        if (x->at < x->end && *x->at == 0)
            return fail_at(x, x->at, "text, not a zero byte");
        if (!utf8_valid(from, (size_t)(x->at - from)))
            return fail_at(x, from, "UTF-8 text");
        TRY(put(x, from, (size_t)(x->at - from)));
    }
done:
    return st;
}

/* ---- tags ---------------------------------------------------------------- */

static consm_status read_attribute(struct xml *x)
{
    consm_status st = CONSM_OK;
    struct xml_name name;
    TRY(read_name(&name, x));
    skip_blanks(x);
    if (x->at == x->end || *x->at != '=')
        return fail_at(x, x->at, "= after the name of an attribute");
    x->at++;
    skip_blanks(x);
    if (x->at == x->end || (*x->at != '"' && *x->at != '\''))
        return fail_at(x, x->at, "a value in quotes");
    const char quote[] = {*x->at++, '<', 0};
    if (x->attributes == XML_ATTRIBUTES)
        return fail_at(x, name.text, "at most 64 attributes");
    size_t value = x->used;
    TRY(put(x, "", 0));
    TRY(read_characters(x, quote));
    if (x->at == x->end || *x->at != quote[0])
        return fail_at(x, x->at, "the closing quote");
    x->at++;
    x->attribute[x->attributes].name = local_name(name);
    x->attribute[x->attributes].value = value;
    x->attribute[x->attributes++].length = x->used - value;
    x->used++; /* keep the terminator */
done:
    return st;
}

static consm_status open_element(struct xml *x)
{
    consm_status st = CONSM_OK;
    struct xml_name name;
    x->at++;
    TRY(read_name(&name, x));
    if (x->depth == XML_DEPTH)
        return xml_fail(x, "at most %d nested elements", XML_DEPTH);
    if (x->depth == 0 && x->begun)
        return xml_fail(x, "one outermost element");
    x->begun = true;
    x->open[x->depth++] = name;
    x->name = local_name(name);
    for (;;) {
        const char *before = x->at;
        skip_blanks(x);
        if (begins(x, "/>")) {
            x->at += 2;
            x->closing = true;
            break;
        }
        if (x->at < x->end && *x->at == '>') {
            x->at++;
            break;
        }
        if (x->at == x->end || x->at == before)
            return fail_at(x, x->at, "> at the end of a tag");
        TRY(read_attribute(x));
    }
done:
    return st;
}

static consm_status close_element(struct xml *x)
{
    struct xml_name name, open;
    x->at += 2;
    consm_status st = read_name(&name, x);
    if (st < 0)
        return st;
    skip_blanks(x);
    if (x->at == x->end || *x->at != '>')
        return fail_at(x, x->at, "> at the end of a tag");
    x->at++;
    if (x->depth == 0)
        return xml_fail(x, "no tags after the outermost element");
    open = x->open[--x->depth];
    if (open.length != name.length || memcmp(open.text, name.text, name.length) != 0)
        return xml_fail(x, "</%.*s>, which closes the open element", (int)open.length, open.text);
    x->name = local_name(name);
    return CONSM_OK;
}

/* Skips comments, instructions and declarations; *skipped is false if something else is there. A
 * declaration may name no encoding but UTF-8. */
static consm_status skip_other(bool *skipped, struct xml *x)
{
    consm_status st = CONSM_OK;
    const char *from = x->at;
    *skipped = true;
    if (begins(x, "<!--")) {
        x->at += 4; /* the end needs its own marks: "<!-->" is not a comment */
        TRY(skip_to(x, "-->"));
    } else if (begins(x, "<?")) {
        bool declares = begins(x, "<?xml");
        x->at += 2;
        TRY(skip_to(x, "?>"));
        const char *said = memmem(from, (size_t)(x->at - from), "encoding", 8);
        if (declares && said && !memmem(said, (size_t)(x->at - said), "utf-8", 5) &&
            !memmem(said, (size_t)(x->at - said), "UTF-8", 5) &&
            !memmem(said, (size_t)(x->at - said), "ASCII", 5))
            return fail_at(x, from, "UTF-8; convert the file (iconv -t UTF-8)");
    } else if (begins(x, "<!DOCTYPE")) {
        return fail_at(x, from,
                       "no document type; consm does not read a file's own entities: remove the "
                       "<!DOCTYPE …> part");
    } else {
        *skipped = false;
    }
done:
    return st;
}

/* Text and CDATA up to the next tag; may be empty. */
static consm_status read_text(struct xml *x)
{
    consm_status st = CONSM_OK;
    bool skipped = true;
    TRY(put(x, "", 0));
    while (x->at < x->end && skipped) {
        if (*x->at != '<') {
            TRY(read_characters(x, "<"));
        } else if (begins(x, "<![CDATA[")) {
            const char *from = x->at += 9;
            TRY(skip_to(x, "]]>"));
            size_t length = (size_t)(x->at - 3 - from);
            if (!utf8_valid(from, length) || memchr(from, 0, length))
                return fail_at(x, from, "UTF-8 text");
            TRY(put(x, from, length));
        } else {
            TRY(skip_other(&skipped, x));
        }
    }
done:
    return st;
}

static bool only_blanks(const struct xml *x)
{
    for (size_t i = 0; i < x->used; i++)
        if (!blank(x->buffer[i]))
            return false;
    return true;
}

consm_status xml_next(enum xml_kind *out, struct xml *x)
{
    consm_status st = CONSM_OK;
    x->used = 0;
    x->attributes = 0;
    if (x->closing) {
        x->closing = false;
        x->name = local_name(x->open[--x->depth]);
        *out = XML_CLOSE;
        return CONSM_OK;
    }
    x->token = x->at;
    TRY(read_text(x));
    if (x->used > 0 && !(x->depth == 0 && only_blanks(x))) {
        if (x->depth == 0)
            return xml_fail(x, "an element, as in <graphml>");
        *out = XML_TEXT;
        return CONSM_OK;
    }
    x->used = 0;
    x->token = x->at;
    if (x->at == x->end) {
        if (x->depth > 0)
            return xml_fail(x, "</%.*s> before the end of the file",
                            (int)x->open[x->depth - 1].length, x->open[x->depth - 1].text);
        *out = XML_END;
        return CONSM_OK;
    }
    bool close = begins(x, "</");
    *out = close ? XML_CLOSE : XML_OPEN;
    TRY(close ? close_element(x) : open_element(x));
done:
    return st;
}

bool xml_is(const struct xml *x, const char *name)
{
    return strlen(name) == x->name.length && memcmp(name, x->name.text, x->name.length) == 0;
}

const char *xml_attribute(const struct xml *x, const char *name)
{
    for (int i = 0; i < x->attributes; i++) {
        const struct xml_name *n = &x->attribute[i].name;
        if (strlen(name) == n->length && memcmp(name, n->text, n->length) == 0)
            return x->buffer + x->attribute[i].value;
    }
    return NULL;
}
