/* Safe files. Reading maps the whole file and knows its true size before it allocates. Writing goes
 * to a temporary file beside the target, syncs it, and replaces the target in one step. So a crash,
 * a full disk or Ctrl-C never leaves half a file under the real name. */
#ifndef IO_FILE_H
#define IO_FILE_H

#include "base/alloc.h"

/* The bytes of a file; data stays valid until file_unmap. An empty file has size 0. */
struct file_map {
    const uint8_t *data;
    size_t size;
};

/* Limits what files may become in memory. Between file_bound_begin and file_bound_end the calling
 * thread may allocate FILE_MAY_BECOME bytes for each mapped byte, FILE_UNPACKED_MAY_BECOME for each
 * byte unpacked from an archive, and FILE_MAY_HAVE in addition. `end` passes st on, or reports what
 * was too much. */
enum { FILE_MAY_BECOME = 64, FILE_UNPACKED_MAY_BECOME = 16, FILE_MAY_HAVE = 256 << 20 };
void file_bound_begin(struct mem_bound *b);
consm_status file_bound_end(struct mem_bound *b, consm_status st, const char *path);

/* Directories, missing and unreadable files fail with CONSM_EIO and a message naming the path. */
consm_status file_map(struct file_map *out, const char *path);
void file_unmap(struct file_map *map);

/* Releases these bytes of a mapped file from memory; reading them again loads them from the file.
 * For mapped files only. */
void file_forget(const void *from, const void *to);

enum file_kind { FILE_MISSING, FILE_REGULAR, FILE_FOLDER, FILE_OTHER };
enum file_kind file_kind(const char *path);

/* "folder/name" as a new string. */
consm_status file_join(char **out, const char *folder, const char *name);

/* The folder of a path as a new string: "." for a bare name. */
consm_status file_folder(char **out, const char *path);

/* Creates a folder and its parents. */
consm_status file_make_folders(const char *path);

/* Removes what killed processes left beside a target: files and folders PATH.(16 digits).tmp that
 * no living process has locked. */
void file_sweep(const char *path);

struct file_writer;

/* From now on this process writes no files; writing silently does nothing. For ranks of a run in
 * which one rank writes for all. */
void file_write_nothing(void);
void file_write_again(void);
bool file_writes(void);

/* Begins a file; "-" is standard output. Nothing is visible under path before commit. */
consm_status file_create(struct file_writer **out, const char *path);
consm_status file_write(struct file_writer *w, const void *bytes, size_t count);
consm_status file_printf(struct file_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Flushes, syncs, renames. Afterwards, even on failure, the writer can only be closed. */
consm_status file_commit(struct file_writer *w);
/* Frees the writer and removes a file that was not committed. Accepts NULL. */
void file_close(struct file_writer *w);

#endif
