/* Reading: a plain folder of ten million edges, with numbers and with names as ids, the same graph
 * from safetensors, and the public sets if $CONSM_DATA has them. GB/s is of the files' bytes; it
 * includes the SHA-256 of every byte of text. */
#include "bench.h"

#include "base/rng.h"
#include "data/load.h"
#include "data/open.h"
#include "io/file.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 1000000, EDGES = 10000000 };

struct reading {
    const char *path;
    bool named; /* a registered set, not a path */
    consm_status st;
};

static void read_once(void *arg, struct worker who)
{
    struct reading *r = arg;
    struct dataset *d = NULL;
    (void)who;
    consm_status st = r->named ? data_open(&d, r->path, NULL) : data_load_path(&d, r->path, NULL);
    if (st < 0)
        r->st = st;
    dataset_free(d);
}

static consm_status measure(struct bench *b, const char *kernel, const char *shape,
                            const char *path, bool named, double bytes)
{
    struct reading r = {path, named, CONSM_OK};
    bench_run(b, kernel, shape, read_once, &r, (struct work){.bytes = bytes});
    return r.st;
}

static double file_bytes(const char *path)
{
    struct file_map map;
    if (file_map(&map, path) < 0)
        return 0;
    double bytes = (double)map.size;
    file_unmap(&map);
    return bytes;
}

/* Writes folder/edges.csv with that format for an edge. */
static consm_status write_edges(const char *folder, const char *format)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    struct rng r;
    char *path = NULL;
    rng_init(&r, 1, 2);
    TRY(file_make_folders(folder));
    TRY(file_join(&path, folder, "edges.csv"));
    TRY(file_create(&w, path));
    TRY(file_printf(w, "source,target\n"));
    for (int64_t e = 0; e < EDGES; e++) {
        char line[64];
        unsigned from = rng_u32(&r) % NODES, to = rng_u32(&r) % NODES;
        int length = snprintf(line, sizeof line, format, from, to);
        TRY(file_write(w, line, (size_t)length));
    }
    TRY(file_commit(w));
done:
    file_close(w);
    mem_free(path);
    return st;
}

static consm_status measure_folder(struct bench *b, const char *root, const char *shape,
                                   const char *format)
{
    consm_status st = CONSM_OK;
    char folder[256], file[300];
    snprintf(folder, sizeof folder, "%s/folder", root);
    snprintf(file, sizeof file, "%s/edges.csv", folder);
    TRY(write_edges(folder, format));
    TRY(measure(b, "read", shape, folder, false, file_bytes(file)));
done:
    return st;
}

/* Measures the existing folder as safetensors. */
static consm_status measure_mapped(struct bench *b, const char *root)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    char folder[256], file[256];
    snprintf(folder, sizeof folder, "%s/folder", root);
    snprintf(file, sizeof file, "%s/graph.safetensors", root);
    TRY(data_load_path(&d, folder, NULL));
    TRY(data_save_path(d, file, NULL));
    TRY(measure(b, "open", "safetensors, 10M edges", file, false, 0));
done:
    unlink(file);
    dataset_free(d);
    return st;
}

/* Removes a folder and the files in it, also temporary ones of a killed writer. */
static void remove_folder(const char *folder)
{
    char path[600];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static void remove_files(const char *root)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s/folder", root);
    remove_folder(folder);
    remove_folder(root);
}

/* A process that removes the files when this one ends, even by SIGKILL: it reads from a pipe that
 * nobody writes to. Returns the end to close, or -1. It must be called while this process has one
 * thread. */
static int remove_at_exit(const char *root, pid_t *keeper)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return -1;
    *keeper = fork();
    if (*keeper == 0) {
        setsid(); /* a terminal's Ctrl-C is not for it */
        close(ends[1]);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        while (read(ends[0], &byte, 1) > 0)
            ;
        remove_files(root);
        _exit(0);
    }
    close(ends[0]);
    if (*keeper < 0) {
        close(ends[1]);
        return -1;
    }
    return ends[1];
}

consm_status bench_reading(struct bench *b)
{
    consm_status st = CONSM_OK;
    static const char *const sets[] = {"cora", "squirrel", "actor"};
    const char *place = getenv("TMPDIR"), *data = getenv("CONSM_DATA");
    char root[200] = "";
    pid_t keeper;
    int end = -1;
    if (b->threads > 1)
        return CONSM_OK; /* readers use one */
    bench_title(b, "reading");
    for (int i = 0; data && i < 3; i++)
        TRY(measure(b, "open", sets[i], sets[i], true, 0));
    if (!bench_wants(b, "read csv, 10M edges, numbers, names") &&
        !bench_wants(b, "open safetensors, 10M edges"))
        return CONSM_OK;
    snprintf(root, sizeof root, "%s/consm-bench-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(root))
        return status_fail(CONSM_EIO, "%s: cannot make the folder", root);
    if ((end = remove_at_exit(root, &keeper)) < 0) {
        rmdir(root);
        return status_fail(CONSM_EIO, "no process to remove %s", root);
    }
    TRY(measure_folder(b, root, "csv, 10M edges, names", "n%u,n%u\n"));
    TRY(measure_folder(b, root, "csv, 10M edges, numbers", "%u,%u\n"));
    TRY(measure_mapped(b, root));
done:
    if (end >= 0) {
        close(end);
        waitpid(keeper, NULL, 0);
    }
    return st;
}
