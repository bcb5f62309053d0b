/* Locks a folder with flock, and replaces one by exchanging two names at once. */
#include "io/folder.h"

#include "base/os.h"
#include "io/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

consm_status folder_lock(int *lock, const char *path)
{
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return status_fail(CONSM_EIO, "%s: cannot open: %s", path, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return CONSM_OK;
    close(*lock);
    *lock = -1;
    return status_fail(CONSM_EIO, "%s: another process is writing into this folder", path);
}

void folder_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* Calls use() for every name in a folder except . and .., until one fails. */
static consm_status
each_entry(const char *path, consm_status (*use)(void *ctx, DIR *dir, const char *name), void *ctx)
{
    consm_status st = CONSM_OK;
    DIR *dir = opendir(path);
    if (!dir)
        return status_fail(CONSM_EIO, "%s: cannot open: %s", path, strerror(errno));
    for (struct dirent *entry; st == CONSM_OK && (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            st = use(ctx, dir, entry->d_name);
    closedir(dir);
    return st;
}

static consm_status remove_entry(void *ctx, DIR *dir, const char *name)
{
    (void)ctx;
    unlinkat(dirfd(dir), name, 0);
    return CONSM_OK;
}

/* Removes a folder and the files in it. */
static void remove_folder(const char *path)
{
    if (each_entry(path, remove_entry, NULL) == CONSM_OK)
        rmdir(path);
}

/* The path without trailing slashes; NULL if there is no memory. */
static char *trimmed(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return mem_strndup(path, length);
}

/* The current folder, the root and mount points keep their name. */
static bool stays(const char *path)
{
    struct stat here, there;
    const char *last = strrchr(path, '/');
    last = last ? last + 1 : path;
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return true;
    return stat(path, &there) == 0 && stat(".", &here) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

consm_status folder_begin(struct folder_work *out, const char *target)
{
    consm_status st = CONSM_OK;
    char *parent = NULL;
    uint64_t draw = (uint64_t)getpid();
    *out = (struct folder_work){NULL, trimmed(target), -1};
    if (!out->target)
        return CONSM_ENOMEM;
    if (stays(out->target)) {
        if (!(out->path = mem_strdup(out->target)))
            TRY(CONSM_ENOMEM);
        goto done;
    }
    if (file_kind(out->target) != FILE_MISSING && file_kind(out->target) != FILE_FOLDER)
        TRY(status_fail(CONSM_EIO, "%s: exists and is not a folder", target));
    TRY(file_folder(&parent, out->target));
    TRY(file_make_folders(parent));
    file_sweep(out->target);
    size_t length = strlen(out->target) + 32;
    TRY(NEW(out->path, length));
    (void)os_random(&draw, sizeof draw);
    snprintf(out->path, length, "%s.%016llx.tmp", out->target, (unsigned long long)draw);
    if (mkdir(out->path, 0777) != 0) {
        st = status_fail(CONSM_EIO, "%s: cannot create the folder: %s", target, strerror(errno));
        mem_free(out->path);
        out->path = NULL;
        goto done;
    }
    TRY(folder_lock(&out->lock, out->path));
done:
    mem_free(parent);
    if (st < 0)
        folder_end(out);
    return st;
}

/* Files that only the old folder has are linked into the new one, until the old one is removed. */
static consm_status keep_entry(void *ctx, DIR *dir, const char *name)
{
    const int to = *(const int *)ctx;
    struct stat info;
    if (faccessat(to, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return CONSM_OK;
    if (fstatat(dirfd(dir), name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return status_fail(CONSM_EIO, "%s: %s", name, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return status_fail(CONSM_EIO, "the folder contains another folder, %s: choose a new folder",
                           name);
    return linkat(dirfd(dir), name, to, name, 0) == 0
               ? CONSM_OK
               : status_fail(CONSM_EIO, "%s: cannot be copied: %s", name, strerror(errno));
}

static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

consm_status folder_commit(const struct folder_work *w)
{
    consm_status st = CONSM_OK;
    char *parent = NULL;
    struct stat old;
    if (w->lock < 0)
        return CONSM_OK; /* it was filled in place */
    bool exchange = stat(w->target, &old) == 0;
    if (exchange) {
        TRY(each_entry(w->target, keep_entry, (void *)&w->lock));
        (void)!fchmod(w->lock, old.st_mode & 07777);
    }
    sync_folder(w->path);
    if (os_rename(w->path, w->target, exchange) != 0)
        TRY(status_fail(CONSM_EIO, "%s: cannot be replaced: %s", w->target, strerror(errno)));
    TRY(file_folder(&parent, w->target));
    sync_folder(parent);
done:
    mem_free(parent);
    return st;
}

void folder_end(struct folder_work *w)
{
    if (w->path && w->lock >= 0 && file_kind(w->path) == FILE_FOLDER)
        remove_folder(w->path);
    folder_unlock(w->lock);
    mem_free(w->path);
    mem_free(w->target);
    *w = (struct folder_work){NULL, NULL, -1};
}
