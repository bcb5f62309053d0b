/* Cleans and pads names, and prints tables. */
#include "shown.h"

#include "report/text.h"

#include <stdio.h>
#include <string.h>

const char *shown(char out[SHOWN], const char *name, int columns)
{
    char *clipped = NULL;
    size_t used = 0;
    /* A column takes at most four bytes; zero-width marks take no room from others. */
    if (text_clip(&clipped, name, columns ? columns : SHOWN / 4 - 1) == CONSM_OK) {
        used = strlen(clipped);
        snprintf(out, SHOWN, "%s", used < SHOWN ? clipped : "?");
        used = strlen(out);
    } else {
        out[0] = 0;
    }
    for (int64_t width = text_width(out); width < columns && used + 1 < SHOWN; width++)
        out[used++] = ' ';
    out[used] = 0;
    mem_free(clipped);
    return out;
}

int shown_folder(const char *folder)
{
    int length = (int)strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return length == 1 && folder[0] == '/' ? 0 : length;
}

consm_status shown_table(struct table *t)
{
    consm_status st = CONSM_OK;
    struct text text = {0};
    TRY(table_to_terminal(&text, t, 0, false));
    TRY(text_status(&text));
    printf("\n%s", text_string(&text));
done:
    text_free(&text);
    table_free(t);
    return st;
}
