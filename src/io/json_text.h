/* JSON as text: complete, or NULL. */
#ifndef IO_JSON_TEXT_H
#define IO_JSON_TEXT_H

#include <jansson.h>

/* json_dumps, read back and compared. When memory runs out, jansson can silently leave words out;
 * the result is then NULL. Otherwise free it with free(). Reals need 17 digits. */
char *json_text(const json_t *value, size_t flags);

#endif
