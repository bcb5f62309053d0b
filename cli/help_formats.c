/* `consm help formats`: the formats of datasets, from the table of readers. */
#include "help.h"

#include "data/readers/reader.h"

#include <stdio.h>

void help_formats(void)
{
    const struct reader *r;
    puts(
        "If DATASET is not a known name, it is a path. consm detects the format from the content;\n"
        "--format NAME overrides this. `consm convert` writes the formats marked \"can be "
        "written\".\n");
    for (int i = 0; (r = reader_get(i)) != NULL; i++) {
        printf("  %-12s %s", r->name, r->shows);
        if (r->save && r->suffix[0])
            printf("; can be written to %s files", r->suffix[0]);
        else if (r->save)
            fputs("; can be written", stdout);
        putchar('\n');
    }
}
