/* `consm help formats`: what datasets may be written in, from the table of readers. */
#include "help.h"

#include "data/readers/reader.h"

#include <stdio.h>

void help_formats(void)
{
    const struct reader *r;
    puts("A DATASET that is no name is a path. What it is shows in what it holds; --format NAME\n"
         "says it instead. `consm convert` writes those that are marked.\n");
    for (int i = 0; (r = reader_get(i)) != NULL; i++) {
        printf("  %-12s %s", r->name, r->shows);
        if (r->save && r->suffix[0])
            printf("; is written to %s files", r->suffix[0]);
        else if (r->save)
            fputs("; is written", stdout);
        putchar('\n');
    }
}
