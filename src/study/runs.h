/*
 * The record of a study: one finished run per line of `runs.jsonl`, so that an interrupted study
 * goes on where it stopped. A record is a JSON object {"key": …, "config": …, …}; the key is the
 * SHA-256 of the full configuration, so a run is looked up by what it was, not by its place.
 *
 * A line is written whole, in one write, and synced before append returns. A kill -9 or a power cut
 * can only tear the last line; opening for writing cuts such a tail off, opening for reading skips
 * it. Anything else that is no record is an error that names the line.
 */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include <jansson.h>

#include "base/alloc.h"

struct runs;

/* The identity of a configuration: SHA-256 of its compact JSON with sorted keys. */
consm_status runs_key(char key[65], const json_t *config);

/* Reads the file. RUNS_APPEND makes it when missing and locks it until runs_close, so that no two
 * processes write one record; RUNS_READ takes a missing file for an empty one. */
enum runs_mode { RUNS_READ, RUNS_APPEND };
consm_status runs_open(struct runs **out, const char *path, enum runs_mode mode);
void runs_close(struct runs *r); /* NULL is fine */

int64_t runs_count(const struct runs *r);
/* Borrowed; valid until runs_close. In the order of the file. Not while others append. */
const json_t *runs_get(const struct runs *r, int64_t i);
/* The record of that key (the last one, should there be several), or NULL. Borrowed. */
const json_t *runs_find(struct runs *r, const char *key);

/* Adds one run: `result` (an object, borrowed and not changed) with "key" and "config" put in
 * front. May be called by several threads at once. When it fails, the file is as it was. */
consm_status runs_append(struct runs *r, const json_t *config, const json_t *result);

/* Bytes of a torn last line that opening left out; worth a word in the log. */
size_t runs_torn(const struct runs *r);

#endif
