/* Injects faults into a command, preloaded by tests/check_faults.sh: call number FAULT_AT of the
 * kind FAULT_KIND fails once. */

/*
 *   memory   an allocation is refused          write    a write finds the disk full
 *   sync     fsync fails                       rename   a rename is refused
 *   power    the process ends at that sync or rename, and what was written but never synced is lost
 *   shorter  a file that was just mapped is truncated, as another program might do
 *
 * FAULT_HIT names a file that is created when the fault has happened.
 *
 * Starting a process takes longer than most commands. So before main the process waits at standard
 * input for numbers, and for each one a copy of it runs the command with that call failing. It
 * answers with the exit code, whether the fault happened, and a checksum of the files under
 * FAULT_FILE. The copies' output goes to FAULT_PRINT.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *kind, *hit;
static long at;
static atomic_long calls;

/* ---- one process, many copies ---------------------------------------------- */

static unsigned long sum;

static int add_file(const char *path, const struct stat *info, int type, struct FTW *where)
{
    unsigned char bytes[4096];
    (void)info;
    (void)where;
    int fd = type == FTW_F ? open(path, O_RDONLY) : -1;
    for (ssize_t got; fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            sum = (sum ^ bytes[i]) * 0x100000001b3ul;
    if (fd >= 0)
        close(fd);
    return 0;
}

static void become_command(void)
{
    const char *print = getenv("FAULT_PRINT");
    int nothing = open("/dev/null", O_RDONLY), out = print ? (int)creat(print, 0666) : -1;
    dup2(nothing, 0);
    close(nothing);
    dup2(out, 1);
    dup2(out, 2);
    close(out);
    unsetenv("LD_PRELOAD");
}

__attribute__((constructor)) static void serve(void)
{
    const char *order = getenv("FAULT_KIND"), *file = getenv("FAULT_FILE");
    long number;
    char line[32];
    hit = getenv("FAULT_HIT");
    while (order && hit && fgets(line, sizeof line, stdin)) {
        int code = 0;
        number = atol(line);
        unlink(hit);
        pid_t copy = fork();
        if (copy == 0) {
            become_command();
            calls = 0;
            at = number;
            kind = order;
            return;
        }
        if (copy < 0 || waitpid(copy, &code, 0) != copy)
            break;
        sum = 0xcbf29ce484222325ul;
        if (file)
            nftw(file, add_file, 16, FTW_PHYS);
        printf("%d %d %lx\n", WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code),
               access(hit, F_OK) == 0, sum);
        fflush(stdout);
    }
    if (order)
        _exit(0);
}

/* Whether this call is the one. */
static int strikes(const char *what, int error)
{
    if (!kind || strcmp(kind, what) != 0 || atomic_fetch_add(&calls, 1) + 1 != at)
        return 0;
    int fd = hit ? (int)creat(hit, 0666) : -1;
    if (fd >= 0)
        close(fd);
    errno = error;
    return 1;
}

/* ---- memory --------------------------------------------------------------- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
    return strikes("memory", ENOMEM) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return strikes("memory", ENOMEM) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return strikes("memory", ENOMEM) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return strikes("memory", ENOMEM) ? NULL : __libc_memalign(alignment, bytes);
}

/* ---- shorter -------------------------------------------------------------- */

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t from)
{
    void *block = (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, from);
    if (fd >= 0 && strikes("shorter", 0)) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        (void)!truncate(path, 0);
    }
    return block;
}

/* ---- power ---------------------------------------------------------------- */

enum { MOST_FILES = 64 };
static struct {
    char path[512];
    dev_t device;
    ino_t number;
    off_t kept; /* bytes that are on disk */
} file[MOST_FILES];
static int files;

static void remember(int fd, const char *path)
{
    struct stat info;
    if (kind && strcmp(kind, "power") == 0 && fd >= 0 && files < MOST_FILES &&
        fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        snprintf(file[files].path, sizeof file[files].path, "%s", path);
        file[files].device = info.st_dev;
        file[files].kept = info.st_size;
        file[files++].number = info.st_ino;
    }
}

static void lose_power(void)
{
    if (!strikes("power", 0))
        return;
    for (int i = 0; i < files; i++)
        (void)!truncate(file[i].path, file[i].kept);
    _exit(99);
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "open");
    int fd = real(path, flags, mode);
    if (flags & O_CREAT)
        remember(fd, path);
    return fd;
}

int fsync(int fd)
{
    static int (*real)(int);
    struct stat info;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    lose_power();
    if (strikes("sync", EIO))
        return -1;
    for (int i = 0; i < files && fstat(fd, &info) == 0; i++)
        if (file[i].device == info.st_dev && file[i].number == info.st_ino)
            file[i].kept = info.st_size;
    return real(fd);
}

static void renamed(const char *from, const char *to)
{
    for (int i = 0; i < files; i++)
        if (strcmp(file[i].path, from) == 0)
            snprintf(file[i].path, sizeof file[i].path, "%s", to);
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "rename");
    lose_power();
    if (strikes("rename", EACCES))
        return -1;
    int result = real(from, to);
    if (result == 0)
        renamed(from, to);
    return result;
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    static int (*real)(int, const char *, int, const char *, unsigned);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "renameat2");
    lose_power();
    return strikes("rename", EACCES) ? -1 : real(a, from, b, to, flags);
}

/* ---- writes --------------------------------------------------------------- */

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
    static size_t (*real)(const void *, size_t, size_t, FILE *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fwrite");
    return strikes("write", ENOSPC) ? 0 : real(bytes, size, count, stream);
}

int fflush(FILE *stream)
{
    static int (*real)(FILE *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fflush");
    return stream && stream != stdout && stream != stderr && strikes("write", ENOSPC)
               ? EOF
               : real(stream);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "write");
    return fd > 2 && strikes("write", ENOSPC) ? -1 : real(fd, bytes, count);
}
