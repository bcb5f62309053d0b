/*
 * Zip archives, as NumPy writes them: stored and deflated members, zip64. Reading works on a file
 * in memory and believes nothing: every offset and size of the directory is held against the file
 * before it is used, sizes against the checksums afterwards. The directory decides; the local
 * headers must agree with it.
 */
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
 * messages. Refused: what is no zip, encrypted or multi-part archives, names given twice, members
 * that lie outside the file or share bytes, members that claim to inflate beyond what deflate can
 * do. */
consm_status zip_open(struct zip **out, const char *file, const uint8_t *data, size_t size);
void zip_free(struct zip *z);

/* The member of that name, or NULL. */
const struct zip_member *zip_find(const struct zip *z, const char *name);

/* A member's bytes: in the archive itself when stored, else in `owned`. */
struct zip_bytes {
    const uint8_t *data;
    size_t size;
    uint8_t *owned;
};

/* Reads a member whole, checksum checked; refused above 32 MiB at over 200-fold. Free with
 * zip_bytes_free. */
consm_status zip_read(struct zip_bytes *out, const struct zip *z, const struct zip_member *m);
void zip_bytes_free(struct zip_bytes *bytes);

/* Pushes a member's bytes in pieces of INFLATE_PIECE; a wrong checksum is found at the end. Refused
 * above 128 MiB at over 500-fold. */
consm_status zip_push(const struct zip *z, const struct zip_member *m, bytes_sink sink, void *ctx);

/* Writing: members one after another, each gathered in memory until it is ended. */
struct zip_writer;
consm_status zip_create(struct zip_writer **out, const char *path);
consm_status zip_begin(struct zip_writer *w, const char *name, bool deflated);
consm_status zip_put(struct zip_writer *w, const void *bytes, size_t count);
consm_status zip_end(struct zip_writer *w);
/* Writes the directory and makes the file visible. */
consm_status zip_commit(struct zip_writer *w);
/* Frees the writer; without a commit no file is left. NULL is fine. */
void zip_close(struct zip_writer *w);

#endif
