/* JSON as text, whole or not at all. */
#ifndef IO_JSON_TEXT_H
#define IO_JSON_TEXT_H

#include <jansson.h>

/* json_dumps, read back and compared: when memory runs out within it, jansson can leave words out
 * of its text without a sign. NULL then; else to be freed with free(). Reals need 17 digits. */
char *json_text(const json_t *value, size_t flags);

#endif
