/* mmap for reading; temporary name, fsync and rename for writing. */
#include "io/file.h"

#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

consm_status file_map(struct file_map *out, const char *path)
{
    consm_status st = CONSM_OK;
    struct stat info;
    *out = (struct file_map){NULL, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return status_fail(CONSM_EIO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &info) != 0)
        TRY(status_fail(CONSM_EIO, "%s: %s", path, strerror(errno)));
    if (!S_ISREG(info.st_mode))
        TRY(status_fail(CONSM_EIO, "%s: is %s: expected a regular file", path,
                        S_ISDIR(info.st_mode) ? "a folder" : "no plain file"));
    if (info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            TRY(status_fail(CONSM_EIO, "%s: cannot map: %s", path, strerror(errno)));
        *out = (struct file_map){data, (size_t)info.st_size};
    }
done:
    close(fd);
    return st;
}

void file_unmap(struct file_map *map)
{
    if (map->data)
        munmap((void *)map->data, map->size);
    *map = (struct file_map){NULL, 0};
}

enum file_kind file_kind(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return FILE_MISSING;
    return S_ISREG(info.st_mode) ? FILE_REGULAR : S_ISDIR(info.st_mode) ? FILE_FOLDER : FILE_OTHER;
}

consm_status file_join(char **out, const char *folder, const char *name)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    *out = mem_alloc(length, 1);
    if (!*out)
        return CONSM_ENOMEM;
    bool slash = *folder && folder[strlen(folder) - 1] == '/';
    snprintf(*out, length, "%s%s%s", folder, slash ? "" : "/", name);
    return CONSM_OK;
}

consm_status file_folder(char **out, const char *path)
{
    const char *slash = strrchr(path, '/');
    *out = !slash          ? mem_strdup(".")
           : slash == path ? mem_strdup("/")
                           : mem_strndup(path, (size_t)(slash - path));
    return *out ? CONSM_OK : CONSM_ENOMEM;
}

consm_status file_make_folders(const char *path)
{
    consm_status st = CONSM_OK;
    char *copy = mem_strdup(path);
    if (!copy)
        return CONSM_ENOMEM;
    for (char *c = copy + 1;; c++) {
        if (*c && *c != '/')
            continue;
        char end = *c;
        *c = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            TRY(status_fail(CONSM_EIO, "%s: cannot make the folder: %s", copy, strerror(errno)));
        *c = end;
        if (!end)
            break;
    }
    if (file_kind(path) != FILE_FOLDER)
        TRY(status_fail(CONSM_EIO, "%s: exists and is no folder", path));
done:
    mem_free(copy);
    return st;
}

struct file_writer {
    FILE *stream;
    char *path, *temporary; /* temporary is NULL for standard output and devices */
    bool failed, committed;
};

consm_status file_create(struct file_writer **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_writer *w;
    *out = NULL;
    TRY(ZNEW(w, 1));
    if (!(w->path = mem_strdup(path)))
        TRY(CONSM_ENOMEM);
    if (strcmp(path, "-") == 0) {
        w->stream = stdout;
    } else if (file_kind(path) == FILE_OTHER) {
        /* A device or a pipe is written to, never replaced. */
        w->stream = fopen(path, "wb");
        if (!w->stream)
            TRY(status_fail(CONSM_EIO, "%s: cannot write: %s", path, strerror(errno)));
    } else {
        size_t length = strlen(path) + 32;
        TRY(NEW(w->temporary, length));
        snprintf(w->temporary, length, "%s.%ld.tmp", path, (long)getpid());
        w->stream = fopen(w->temporary, "wb");
        if (!w->stream)
            TRY(status_fail(CONSM_EIO, "%s: cannot write: %s", path, strerror(errno)));
    }
    *out = w;
    return CONSM_OK;
done:
    file_close(w);
    return st;
}

static consm_status write_failed(struct file_writer *w)
{
    w->failed = true;
    return status_fail(CONSM_EIO, "%s: writing failed: %s", w->path, strerror(errno));
}

consm_status file_write(struct file_writer *w, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, w->stream) == count ? CONSM_OK : write_failed(w);
}

consm_status file_printf(struct file_writer *w, const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    int written = number_vprint(line, sizeof line, format, args);
    va_end(args);
    if (written < 0 || (size_t)written >= sizeof line) {
        w->failed = true;
        return status_fail(CONSM_EINVAL, "%s: a line is too long to be written", w->path);
    }
    return file_write(w, line, (size_t)written);
}

/* Makes the rename itself durable; a file system that cannot is not an error. */
static void sync_parent(const char *path)
{
    char *folder;
    int fd = file_folder(&folder, path) == CONSM_OK
                 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    mem_free(folder);
}

consm_status file_commit(struct file_writer *w)
{
    if (w->failed)
        return status_fail(CONSM_EIO, "%s: an earlier write failed", w->path);
    if (fflush(w->stream) != 0)
        return write_failed(w);
    if (!w->temporary) {
        w->committed = true;
        return CONSM_OK;
    }
    if (fsync(fileno(w->stream)) != 0)
        return write_failed(w);
    if (rename(w->temporary, w->path) != 0)
        return write_failed(w);
    sync_parent(w->path);
    w->committed = true;
    return CONSM_OK;
}

void file_close(struct file_writer *w)
{
    if (!w)
        return;
    if (w->stream && w->stream != stdout)
        fclose(w->stream);
    if (w->temporary && !w->committed)
        unlink(w->temporary);
    mem_free(w->temporary);
    mem_free(w->path);
    mem_free(w);
}
