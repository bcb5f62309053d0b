/*
 * The command line: each verb describes its flags in a table, and one parser serves all. A wrong
 * flag or value gives one line that names it and what would be right, and exit code 2.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "base/status.h"

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

struct flag {
    const char *name;  /* "seeds" for --seeds; NULL ends a table */
    const char *value; /* the placeholder of the value in the help; NULL: the flag takes none */
    const char *help;  /* one line, or several with \n */
    char letter;       /* 'o' for -o, or 0 */
};

struct args;
struct together;

/* A verb of the command. */
struct command {
    const char *name, *summary;             /* "train", "train a model and evaluate it" */
    const char *usage;                      /* the usage line after `consm train` */
    const char *text;                       /* for `consm help train`: paragraphs and examples */
    const struct flag *flags;               /* its own flags */
    const struct flag *(*more_flags)(void); /* flags from another table, or NULL */
    int (*run)(struct args *args);
};

enum { ARGS_MAX = 256 };

struct args {
    const struct command *command;
    const struct together *together; /* the processes of the command */
    int count;                       /* positional arguments */
    const char *item[ARGS_MAX];
    int flags;
    int from_file; /* how many of them come from a --config file; the rest was typed */
    const struct flag *flag[ARGS_MAX];
    const char *value[ARGS_MAX];
};

/* Fills args from argv (after the verb). EXIT_DONE, or EXIT_USAGE with the line printed. */
int args_parse(struct args *args, const struct command *command, int argc, char **argv);

/* Whether two names are equal, with "-" and "_" the same: flags use one, keys and parameters the
 * other. */
bool args_same_name(const char *a, const char *b);

/* The last value given for a flag, or NULL. */
const char *args_get(const struct args *args, const char *name);
bool args_has(const struct args *args, const char *name);

/* A number in [min, max]; *out is unchanged without the flag. 0, or EXIT_USAGE printed. */
int args_int(const struct args *args, const char *name, int64_t min, int64_t max, int64_t *out);
int args_double(const struct args *args, const char *name, double min, double max, double *out);

/* Prints "consm VERB: message" to stderr and returns the code. */
int args_fail(const struct args *args, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the library's message. EXIT_USAGE for values that the user typed, EXIT_INTERRUPTED after
 * Ctrl-C, EXIT_FAILED otherwise. */
int args_status(const struct args *args, consm_status st);

/* The known word nearest to a misspelt one, or NULL if none is near. */
const char *args_nearest(const char *word, const char *(*known)(void *ctx, int index), void *ctx);

#endif
