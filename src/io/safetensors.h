/* The safetensors container, for datasets and models: 8 bytes of header length, a JSON header with
 * type, shape and place of every tensor, then the tensors' bytes without gaps. Other tools, such as
 * the Python package safetensors, read and write the same files. */

/*
 * Reading maps the file and copies nothing. The header is checked against the file's real size
 * before a tensor is returned, so its data may be used without further bounds checks. The caller
 * checks what the numbers mean.
 */
#ifndef IO_SAFETENSORS_H
#define IO_SAFETENSORS_H

#include "io/file.h"

enum safetensors_type {
    SAFETENSORS_BOOL,
    SAFETENSORS_U8,
    SAFETENSORS_I8,
    SAFETENSORS_F8_E5M2,
    SAFETENSORS_F8_E4M3,
    SAFETENSORS_I16,
    SAFETENSORS_U16,
    SAFETENSORS_F16,
    SAFETENSORS_BF16,
    SAFETENSORS_I32,
    SAFETENSORS_U32,
    SAFETENSORS_F32,
    SAFETENSORS_F64,
    SAFETENSORS_I64,
    SAFETENSORS_U64,
    SAFETENSORS_TYPES
};

enum { SAFETENSORS_MAX_RANK = 8, SAFETENSORS_MAX_HEADER = 16 << 20 };

struct safetensors_tensor {
    const char *name;
    enum safetensors_type type;
    int rank;
    int64_t shape[SAFETENSORS_MAX_RANK];
    int64_t count;    /* elements: the product of shape, 1 for rank 0 */
    const void *data; /* may be unaligned for its type in files of other writers */
    size_t bytes;
};

struct safetensors;

/* "F32", "I64", … and the bytes of one element. */
const char *safetensors_type_name(enum safetensors_type type);
size_t safetensors_type_bytes(enum safetensors_type type);

/* Maps a file and checks its header. */
consm_status safetensors_open(struct safetensors **out, const char *path);
/* As safetensors_open(), over bytes in memory, which must outlive the object; name is for messages.
 */
consm_status safetensors_read(struct safetensors **out, const char *name, const void *data,
                              size_t size);
void safetensors_close(struct safetensors *s);

/* The tensors in byte order, and one by name (NULL: none). */
int64_t safetensors_count(const struct safetensors *s);
const struct safetensors_tensor *safetensors_at(const struct safetensors *s, int64_t index);
const struct safetensors_tensor *safetensors_find(const struct safetensors *s, const char *name);

/* The text stored under that key of __metadata__, or NULL. */
const char *safetensors_metadata(const struct safetensors *s, const char *key);

/* The bytes of the file, mapped or in memory. */
struct file_map safetensors_bytes(const struct safetensors *s);
/* Gives the mapping to the caller: data pointers stay valid until the caller unmaps it. */
struct file_map safetensors_release(struct safetensors *s);

/* A sealed file ends with the tensor "sha256", 64 hex digits: the SHA-256 of all bytes before it.
 * Returns the digits (not terminated), or NULL without a seal. This is fast; verifying reads the
 * whole file. */
const char *safetensors_seal(const struct safetensors *s);
consm_status safetensors_verify(const struct safetensors *s);

/* Writing: declare every tensor and note, begin, then pass the bytes in the declared order, in
 * pieces of any size. Declare wide types before narrow ones, so that all are aligned: the data
 * begins at a multiple of 64 bytes and the format allows no gaps. */
struct safetensors_writer;

consm_status safetensors_writer_new(struct safetensors_writer **out);
consm_status safetensors_declare(struct safetensors_writer *w, const char *name,
                                 enum safetensors_type type, int rank, const int64_t *shape);
consm_status safetensors_note(struct safetensors_writer *w, const char *key, const char *value);
consm_status safetensors_begin(struct safetensors_writer *w, const char *path, bool sealed);
consm_status safetensors_write(struct safetensors_writer *w, const void *bytes, size_t count);
consm_status safetensors_commit(struct safetensors_writer *w);
void safetensors_writer_free(struct safetensors_writer *w);

#endif
