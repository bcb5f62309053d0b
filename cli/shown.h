/* Foreign names on the terminal: data files may hold escape codes that clear the screen, change the
 * window title or make one name look like another. */
#ifndef CLI_SHOWN_H
#define CLI_SHOWN_H

#include "report/table.h"

enum { SHOWN = 256 };

/* The name in printable form: control characters become U+FFFD; it is cut or padded to `columns`;
 * 0: its own width, cut to the size of out. Returns out. */
const char *shown(char out[SHOWN], const char *name, int columns);

/* How much of a folder's name to print ("%.*s") before "/file": "out/" is out. */
int shown_folder(const char *folder);

/* Prints a table after an empty line and frees it. */
consm_status shown_table(struct table *t);

#endif
