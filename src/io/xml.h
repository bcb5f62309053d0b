/* The part of XML that graph files need, parsed strictly, one piece at a time, over bytes in
 * memory. */

/*
 * It is small, and it leaves out what makes XML dangerous: a document type is refused, so only the
 * five standard entities exist, nothing is fetched and nothing expands. Element and attribute names
 * come without prefix. Memory: twice the longest text or tag.
 */
#ifndef IO_XML_H
#define IO_XML_H

#include "io/token.h"

enum xml_kind { XML_OPEN, XML_CLOSE, XML_TEXT, XML_END };

enum { XML_DEPTH = 64, XML_ATTRIBUTES = 64 };

struct xml_name {
    const char *text; /* not terminated */
    size_t length;
};

struct xml {
    const char *file; /* its name, for messages */
    const char *begin, *at, *end;
    const char *token;   /* start of the current piece */
    const char *counted; /* lines are counted up to here */
    int64_t line;        /* number of lines so far */
    bool begun;          /* the outermost element was seen */
    int depth;           /* open elements */
    struct xml_name open[XML_DEPTH];
    struct xml_name name; /* of the element that opened or closed */
    bool closing;         /* <a/>: its end comes next */
    int attributes;
    struct {
        struct xml_name name;
        size_t value, length; /* in buffer */
    } attribute[XML_ATTRIBUTES];
    char *buffer; /* the text, or the values of the attributes, terminated */
    size_t used, capacity;
};

/* Prepares to read. x needs xml_free, also after a failure. */
void xml_start(struct xml *x, const struct text_file *file);
void xml_free(struct xml *x);

/* Reads the next piece; the text of XML_TEXT is x->buffer. Elements must close in reverse order,
 * and exactly one is the outermost. */
consm_status xml_next(enum xml_kind *out, struct xml *x);

bool xml_is(const struct xml *x, const char *name);
/* The value of an attribute of the element that just opened, or NULL. */
const char *xml_attribute(const struct xml *x, const char *name);

/* The line where the current piece begins. */
int64_t xml_line(struct xml *x);
/* "FILE: line 3, column 7: expected WHAT", of the current piece. */
consm_status xml_fail(struct xml *x, const char *expected, ...)
    __attribute__((format(printf, 2, 3)));

#endif
