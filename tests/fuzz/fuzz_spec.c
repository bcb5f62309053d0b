/* Fuzzes typed input: generated graphs ("csbm:nodes=20,…") and options by name. Numbers are cut to
 * three digits, so that a run stays short. */
#include "consm.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct consm_dataset *d;
    struct consm_options *o;
    if (size > 300)
        return 0;
    char *text = malloc(size + 8), *to = text + 5;
    memcpy(text, "csbm:", 5);
    for (size_t i = 0, digits = 0; i < size && data[i]; i++) {
        digits = isdigit(data[i]) ? digits + 1 : 0;
        if (digits < 4)
            *to++ = (char)data[i];
    }
    *to = 0;
    if (consm_dataset_open(&d, text, NULL) == CONSM_OK)
        consm_dataset_free(d);
    char *equals = strchr(text + 5, '=');
    if (equals && consm_options_new(&o, "consm") == CONSM_OK) {
        *equals = 0;
        consm_options_set(o, text + 5, equals + 1);
        consm_options_free(o);
    }
    free(text);
    return 0;
}
