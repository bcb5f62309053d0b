/*
 * Flags from a YAML file: `--config run.yaml`. Every flag of the verb is a key ("-" and "_" are the
 * same), and `dataset` stands for the argument. What is typed on the command line comes later and
 * therefore wins.
 */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include "args.h"

/* The texts that args point to while it is in use. All zero is empty. */
struct config_file {
    char **text;
    size_t count, capacity;
    char sha256[65]; /* of the data, as a file of `train -o` notes it; "": it does not */
};

/* When there is a --config, puts what it says in front of the flags. EXIT_DONE, or the exit code
 * with the line printed, which names file, line and column. */
int config_file_apply(struct config_file *file, struct args *args);
void config_file_free(struct config_file *file);

/* Warns when the data is not what it was when the file was written. */
void config_file_warn(const struct config_file *file, const struct args *args, const char *sha256);

/* A YAML scalar that reads back as that text: plain where it can be, else in double quotes. */
struct text;
void yaml_scalar(struct text *out, const char *value);

#endif
