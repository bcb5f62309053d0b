/*
 * XML, as much of it as graph files need, read strictly and one piece at a time over bytes that
 * stay where they are. A library would do the same; but what is needed is small, and what makes XML
 * dangerous is exactly what is left out here: a document type is refused, so that there are no
 * entities but the five that XML has, nothing is fetched, and nothing grows. Names of elements and
 * attributes come without their prefix. Memory: the longest text or tag of the file, twice.
 */
#ifndef IO_XML_H
#define IO_XML_H

#include "io/token.h"

enum xml_kind { XML_OPEN, XML_CLOSE, XML_TEXT, XML_END };

enum { XML_DEPTH = 64, XML_ATTRIBUTES = 64 };

struct xml_name {
    const char *text; /* no end mark */
    size_t length;
};

struct xml {
    const char *file; /* its name, for messages */
    const char *begin, *at, *end;
    const char *token;   /* where the current piece begins */
    const char *counted; /* so far … */
    int64_t line;        /* … lines are counted */
    bool begun;          /* the outermost element was there */
    int depth;           /* elements that are open */
    struct xml_name open[XML_DEPTH];
    struct xml_name name; /* of the element that opened or closed */
    bool closing;         /* <a/>: its end comes next */
    int attributes;
    struct {
        struct xml_name name;
        size_t value, length; /* in buffer */
    } attribute[XML_ATTRIBUTES];
    char *buffer; /* the text, or the values of the attributes, with end marks */
    size_t used, capacity;
};

/* Ready to read. x needs xml_free, also after a failure. */
void xml_start(struct xml *x, const struct text_file *file);
void xml_free(struct xml *x);

/* The next piece; the text of XML_TEXT is x->buffer. Elements are closed in the order in which they
 * were opened, and exactly one is the outermost. */
consm_status xml_next(enum xml_kind *out, struct xml *x);

bool xml_is(const struct xml *x, const char *name);
/* The value of an attribute of the element that opened, or NULL. */
const char *xml_attribute(const struct xml *x, const char *name);

/* The line where the current piece begins. */
int64_t xml_line(struct xml *x);
/* "FILE: line 3, column 7: expected WHAT", of the current piece. */
consm_status xml_fail(struct xml *x, const char *expected, ...)
    __attribute__((format(printf, 2, 3)));

#endif
