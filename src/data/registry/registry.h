/* The registered sets: where their public files are (pinned to a commit), their hashes, their
 * authors, and their reader. Files are in a data folder as planetoid/ind.cora.x, yandex/texas.npz,
 * geom-gcn/film/…; the user's cache has the same layout. */
#ifndef DATA_REGISTRY_REGISTRY_H
#define DATA_REGISTRY_REGISTRY_H

#include "data/dataset.h"

/* One public file. */
struct data_file {
    const char *path;   /* in a data folder */
    const char *url;    /* relative to the set's base */
    const char *sha256; /* NULL: not certain; the first download records it */
};

struct data_set {
    const char *name, *alias; /* alias may be NULL */
    const char *format;       /* the reader of its files: a name of data/readers/table.c */
    const char *base;         /* URL of its files */
    const struct data_file *file;
    int files;
    const char *about;    /* nodes, edges, classes in a few words */
    const char *citation; /* the paper to cite */
    const char *licence;
    const char *preparation; /* how the original data was prepared for publication */
};

/* Registered set number index, or NULL after the last. */
const struct data_set *registry_get(int index);

/* By name or alias; "_" counts as "-". NULL when there is none. */
const struct data_set *registry_find(const char *name);

/* The name (built-in ones too) nearest to a misspelt one, or NULL. */
const char *registry_nearest(const char *name);

/* Where a set's files are searched, in this order; any may be NULL. */
struct data_folders {
    const char *given;       /* --data-dir */
    const char *environment; /* $CONSM_DATA */
    char *cache;             /* $XDG_CACHE_HOME/consm or ~/.cache/consm; owned */
};

consm_status registry_folders(struct data_folders *out, const char *data_dir);
void registry_folders_free(struct data_folders *f);

/* The path of a set's file in a folder, either in its sub-folder ("planetoid/…") or directly; *out
 * is NULL if the folder does not have it. */
consm_status registry_file_in(char **out, const char *folder, const struct data_file *file);

/* The path of the set's first file in the first folder that has all its files. Fails with CONSM_EIO
 * and a line that says where it searched, what is missing, and how to get it. */
consm_status registry_locate(char **out, const struct data_set *set, const char *data_dir);

/* Whether the files found by registry_locate are the published ones. */
struct registry_check {
    int right, unknown; /* files with their registered hash; files without a registered one */
    const struct data_file *wrong; /* the first with another hash, or NULL */
};
consm_status registry_verify(struct registry_check *out, const struct data_set *set,
                             const char *data_dir);

/* SHA-256 of a file's bytes. */
consm_status registry_hash(char hash[65], const char *path);

#endif
