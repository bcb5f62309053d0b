/* The record of a study: one finished run per line of `runs.jsonl`, so that an interrupted study
 * can continue. A record is a JSON object {"key": …, "config": …, …}; the key is the SHA-256 of the
 * full configuration, so a run is found by its identity, not by its position. */

/*
 * A line is written in one write and synced before append returns. A kill -9 or a power cut can
 * only damage the last line; opening for writing cuts it off, opening for reading skips it. Any
 * other invalid line is an error that names the line.
 */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include <jansson.h>

#include "base/alloc.h"

struct runs;

/* The identity of a configuration: SHA-256 of its compact JSON with sorted keys. */
consm_status runs_key(char key[65], const json_t *config);

/* Reads the file. RUNS_APPEND creates it if missing and locks it until runs_close, so that only one
 * process writes; RUNS_READ treats a missing file as empty. */
enum runs_mode { RUNS_READ, RUNS_APPEND };
consm_status runs_open(struct runs **out, const char *path, enum runs_mode mode);
void runs_close(struct runs *r); /* NULL is fine */

int64_t runs_count(const struct runs *r);
/* Borrowed; valid until runs_close. In file order. Not while others append. */
const json_t *runs_get(const struct runs *r, int64_t i);
/* The record with that key (the last one, if there are several), or NULL. Borrowed. */
const json_t *runs_find(struct runs *r, const char *key);

/* Adds one run: `result` (an object, borrowed and not changed) with "key" and "config" in front.
 * Several threads may call it. On failure the file is unchanged. */
consm_status runs_append(struct runs *r, const json_t *config, const json_t *result);

/* Bytes of a damaged last line that opening left out; worth logging. */
size_t runs_torn(const struct runs *r);

#endif
