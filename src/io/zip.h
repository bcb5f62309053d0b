/* Zip archives as NumPy writes them: stored and deflated members, zip64. Reading works on a file in
 * memory and trusts nothing: every offset and size is checked against the file before use, and
 * contents against their checksums. The directory decides; local headers must agree with it. */
#ifndef IO_ZIP_H
#define IO_ZIP_H

#include "io/file.h"
#include "io/inflate.h"

struct zip_member {
    char *name;
    bool deflated;
    uint32_t crc;
    uint64_t size;   /* inflated, as declared */
    uint64_t packed; /* bytes in the file */
    uint64_t header; /* where its local header begins */
};

struct zip {
    char *file; /* for messages */
    const uint8_t *data;
    uint64_t size;
    int64_t count;
    struct zip_member *member; /* (count) */
};

/* Reads the directory of the archive in data, which must outlive the zip; file names it in
 * messages. Refused: files that are not zip, encrypted or multi-part archives, duplicate names,
 * members outside the file or sharing bytes, members that claim more than deflate can do. */
consm_status zip_open(struct zip **out, const char *file, const uint8_t *data, size_t size);
void zip_free(struct zip *z);

/* The member with that name, or NULL. */
const struct zip_member *zip_find(const struct zip *z, const char *name);

/* A member's bytes: in the archive itself if stored, else in `owned`. */
struct zip_bytes {
    const uint8_t *data;
    size_t size;
    uint8_t *owned;
};

/* Reads a whole member and checks its checksum; refused above 32 MiB at over 200-fold. Free with
 * zip_bytes_free. */
consm_status zip_read(struct zip_bytes *out, const struct zip *z, const struct zip_member *m);
void zip_bytes_free(struct zip_bytes *bytes);

/* Pushes a member's bytes in pieces of INFLATE_PIECE; a wrong checksum is found at the end. Refused
 * above 128 MiB at over 500-fold. */
consm_status zip_push(const struct zip *z, const struct zip_member *m, bytes_sink sink, void *ctx);

/* Writing: members one after another, each buffered in memory until it ends. */
struct zip_writer;
consm_status zip_create(struct zip_writer **out, const char *path);
consm_status zip_begin(struct zip_writer *w, const char *name, bool deflated);
consm_status zip_put(struct zip_writer *w, const void *bytes, size_t count);
consm_status zip_end(struct zip_writer *w);
/* Writes the directory and makes the file visible. */
consm_status zip_commit(struct zip_writer *w);
/* Frees the writer; without a commit no file remains. Accepts NULL. */
void zip_close(struct zip_writer *w);

#endif
