/* Reads files by mmap, and handles paths. file_write.c writes. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void file_bound_begin(struct mem_bound *b)
{
    mem_bound_begin(b, FILE_MAY_HAVE);
}

consm_status file_bound_end(struct mem_bound *b, consm_status st, const char *path)
{
    if (!mem_bound_end(b) || st == CONSM_OK)
        return st;
    return status_fail(CONSM_ELIMIT,
                       "%s: reading needs too much memory for a file of this size (more than %d "
                       "MB plus %d times its size); check that the file is not damaged",
                       path, FILE_MAY_HAVE >> 20, FILE_MAY_BECOME);
}

consm_status file_map(struct file_map *out, const char *path)
{
    consm_status st = CONSM_OK;
    struct stat info;
    *out = (struct file_map){NULL, 0};
    /* Opening a named pipe would wait for a writer: it is opened at once, and refused below. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return status_fail(CONSM_EIO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &info) != 0)
        TRY(status_fail(CONSM_EIO, "%s: %s", path, strerror(errno)));
    if (!S_ISREG(info.st_mode))
        TRY(status_fail(CONSM_EIO, "%s: is %s: expected a regular file", path,
                        S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
    if (info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            TRY(status_fail(CONSM_EIO, "%s: cannot map into memory: %s", path, strerror(errno)));
        *out = (struct file_map){data, (size_t)info.st_size};
        mem_bound_raise((size_t)info.st_size > SIZE_MAX / FILE_MAY_BECOME
                            ? SIZE_MAX
                            : (size_t)info.st_size * FILE_MAY_BECOME);
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

void file_forget(const void *from, const void *to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)from & ~(page - 1), end = (uintptr_t)to & ~(page - 1);
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
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
            TRY(status_fail(CONSM_EIO, "%s: cannot create the folder: %s", copy, strerror(errno)));
        *c = end;
        if (!end)
            break;
    }
    if (file_kind(path) != FILE_FOLDER)
        TRY(status_fail(CONSM_EIO, "%s: exists and is not a folder", path));
done:
    mem_free(copy);
    return st;
}
