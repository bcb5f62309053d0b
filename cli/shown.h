/* Foreign names on the terminal: data files may hold escape codes that would clear the screen,
 * retitle the window or make one name look like another. */
#ifndef CLI_SHOWN_H
#define CLI_SHOWN_H

enum { SHOWN = 256 };

/* The name as it may be printed: characters that steer a terminal become U+FFFD, what is wider than
 * `columns` is cut, what is narrower filled up with blanks; 0 columns: as wide as it is, cut to
 * what out holds. Returns out. */
const char *shown(char out[SHOWN], const char *name, int columns);

/* How much of a folder's name to print ("%.*s") before "/file": "out/" is out. */
int shown_folder(const char *folder);

#endif
