/* Downloads registered sets. */

/*
 * A file arrives as NAME.part, resumes after an interruption, must have the registered SHA-256, and
 * only then gets its name in one step. So a file with the final name is complete. Without a
 * registered hash the server must state the file's length; the hash of the first download is
 * recorded as NAME.sha256 and checked from then on.
 */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include "data/registry/registry.h"

/* The progress of a download; total is 0 while unknown. Return true to stop (CONSM_ECANCEL). */
struct fetch_progress {
    const char *file; /* path in the data folder */
    int index, files;
    int64_t done, total; /* bytes */
    int attempt;         /* from 1 */
};
typedef bool (*fetch_progress_fn)(void *ctx, const struct fetch_progress *p);

struct fetch_options {
    const char *mirror;   /* NULL, or the URL of a data folder: MIRROR/planetoid/ind.cora.x … */
    int attempts;         /* per file, before giving up */
    double first_wait;    /* seconds before the second attempt; doubles each time */
    double stall_seconds; /* a connection silent for this long counts as broken */
    int64_t most_bytes;   /* of one file; more is refused */
    fetch_progress_fn progress;
    void *ctx;
};

struct fetch_options fetch_defaults(void);

/* The result. */
struct fetch_report {
    int fetched;   /* files downloaded */
    int present;   /* files that were there already, with the right hash */
    int recorded;  /* files whose hash was unknown and is now recorded */
    int64_t bytes; /* downloaded; a resumed file counts as a whole */
};

/* Downloads all files of a set into a data folder. On failure, complete files stay. */
consm_status fetch_set(struct fetch_report *report, const struct data_set *set, const char *folder,
                       const struct fetch_options *o);

/* Downloads one file to path; its folder exists. sha256 NULL: unknown. hash receives the file's
 * hash. */
consm_status fetch_file(char hash[65], const char *url, const char *path, const char *sha256,
                        const struct fetch_options *o, struct fetch_progress *p);

#endif
