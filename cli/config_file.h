/*
 * Flags from a YAML file: `--config run.yaml`. Every flag of the verb is a key ("-" and "_" are the
 * same); `dataset` is the argument. Typed flags come later and win.
 */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include "args.h"

/* Storage of the texts that args point to. All zero is empty. */
struct config_file {
    char **text;
    size_t count, capacity;
    char sha256[65]; /* of the data, if the file of `train -o` notes it; else "" */
};

/* If there is a --config, puts its flags before the typed ones. EXIT_DONE, or the exit code with
 * the line printed, which names file, line and column. */
int config_file_apply(struct config_file *file, struct args *args);
void config_file_free(struct config_file *file);

/* Warns if the data has changed since the file was written. */
void config_file_warn(const struct config_file *file, const struct args *args, const char *sha256);

/* A YAML scalar for that text: plain if possible, else in double quotes. */
struct text;
void yaml_scalar(struct text *out, const char *value);

#endif
