/* Dumps JSON and checks the result. */
#include "io/json_text.h"

#include <stdlib.h>

char *json_text(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags);
    json_t *back = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (!back || !json_equal(value, back)) {
        free(text); /* jansson's own block */
        text = NULL;
    }
    json_decref(back);
    return text;
}
