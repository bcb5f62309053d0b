/* Writes files: a temporary name beside the target, fsync, rename. */
#include "io/file.h"

#include "base/number.h"
#include "base/os.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_writer {
    FILE *stream;
    char *path, *temporary; /* temporary is NULL for standard output and devices */
    bool failed, committed;
};

/* ---- names that nobody else has ------------------------------------------ */

/* The writer locks its temporary file; one without a lock was left by a killed process. On file
 * systems without locks nothing counts as left over. */
static bool lock_now(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* The folder of a path, without allocating; "" if it is too long. */
static const char *folder_of(const char *path, char buffer[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length == 0)
        return ".";
    if (length >= PATH_MAX)
        return "";
    memcpy(buffer, path, length);
    buffer[length] = 0;
    return buffer;
}

/* TARGET.0123456789abcdef.tmp */
enum { RANDOM_DIGITS = 16, TAIL = 1 + RANDOM_DIGITS + 4 };

static bool is_temporary_of(const char *name, const char *target, size_t length)
{
    if (strlen(name) != length + TAIL || strncmp(name, target, length) != 0 ||
        name[length] != '.' || strcmp(name + length + 1 + RANDOM_DIGITS, ".tmp") != 0)
        return false;
    return strspn(name + length + 1, "0123456789abcdef") == RANDOM_DIGITS;
}

/* Removes a folder and the files in it. */
static void remove_within(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void file_sweep(const char *path)
{
    const char *slash = strrchr(path, '/'), *target = slash ? slash + 1 : path;
    DIR *dir = opendir(folder_of(path, (char[PATH_MAX]){0}));
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (!is_temporary_of(entry->d_name, target, strlen(target)))
            continue;
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            unlinkat(dirfd(dir), entry->d_name, 0) != 0)
            remove_within(dirfd(dir), entry->d_name);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

/* Opens a new file beside path, with the permissions of an existing path. */
static consm_status open_beside(struct file_writer *w, const char *path)
{
    consm_status st = CONSM_OK;
    size_t length = strlen(path) + TAIL + 1;
    struct stat old, mine;
    bool replaces = stat(path, &old) == 0;
    int fd = -1;
    TRY(NEW(w->temporary, length));
    for (int tries = 0; tries < 100; tries++) {
        uint64_t draw;
        if (!os_random(&draw, sizeof draw))
            break;
        snprintf(w->temporary, length, "%s.%016llx.tmp", path, (unsigned long long)draw);
        fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  replaces ? 0600 : 0666);
        if (fd < 0 && errno != EEXIST)
            break;
        /* Another process may have removed it as a leftover before it was locked. */
        if (fd >= 0 && lock_now(fd) && fstat(fd, &mine) == 0 && mine.st_nlink > 0)
            break;
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    if (fd >= 0 && replaces)
        (void)!fchmod(fd, old.st_mode & 07777);
    if (fd < 0 || !(w->stream = fdopen(fd, "wb"))) {
        st = status_fail(CONSM_EIO, "%s: cannot write: %s", path, strerror(errno));
        if (fd >= 0) {
            unlink(w->temporary);
            close(fd);
        }
        mem_free(w->temporary);
        w->temporary = NULL;
    }
done:
    return st;
}

static bool nowhere;

void file_write_nothing(void)
{
    nowhere = true;
}

void file_write_again(void)
{
    nowhere = false;
}

bool file_writes(void)
{
    return !nowhere;
}

consm_status file_create(struct file_writer **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_writer *w;
    *out = NULL;
    TRY(ZNEW(w, 1));
    if (!(w->path = mem_strdup(path)))
        TRY(CONSM_ENOMEM);
    if (nowhere)
        path = "/dev/null";
    if (strcmp(path, "-") == 0) {
        w->stream = stdout;
    } else if (file_kind(path) == FILE_OTHER) {
        /* A device or a pipe is written to, never replaced. */
        w->stream = fopen(path, "wbe");
        if (!w->stream)
            TRY(status_fail(CONSM_EIO, "%s: cannot write: %s", path, strerror(errno)));
    } else {
        file_sweep(path);
        TRY(open_beside(w, path));
    }
    *out = w;
    return CONSM_OK;
done:
    file_close(w);
    return st;
}

/* ---- writing ------------------------------------------------------------- */

static consm_status write_failed(struct file_writer *w)
{
    w->failed = true;
    return status_fail(CONSM_EIO, "%s: cannot write: %s", w->path, strerror(errno));
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

/* Makes the rename durable; a file system that cannot is not an error. */
static void sync_parent(const char *path)
{
    int fd = open(folder_of(path, (char[PATH_MAX]){0}), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
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
