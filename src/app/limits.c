/* Estimates the memory that every run needs: what GCN was measured to hold, and for other widths
 * and depths parameters with optimiser and values of the nodes that a step of training reaches. */
#include "app/limits.h"

#include "app/cost.h"
#include "data/generate/generate.h"
#include "data/registry/registry.h"
#include "data/split.h"
#include "graph/neighbour_columns.h"
#include "graph/structural.h"
#include "io/file.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number in a one-line file, or INT64_MAX. */
static int64_t limit_in(const char *path)
{
    char line[64];
    FILE *f = fopen(path, "re");
    int64_t found = INT64_MAX;
    if (!f)
        return INT64_MAX;
    if (fgets(line, sizeof line, f) && line[0] >= '0' && line[0] <= '9')
        found = strtoll(line, NULL, 10);
    fclose(f);
    return found;
}

/* Bytes this process may use: the machine's memory, or less by a control group or `ulimit -v`. */
static int64_t limits_memory(void)
{
    struct rlimit space;
    int64_t least = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    int64_t group = limit_in("/sys/fs/cgroup/memory.max");
    int64_t old_group = limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    least = group < least ? group : least;
    least = old_group < least ? old_group : least;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < (rlim_t)least)
        least = (int64_t)space.rlim_cur;
    return least;
}

/* The sizes that decide the estimate; labels: nodes that train. */
struct sizes {
    double nodes, edges, features, nonzeros, classes, labels;
    bool sparse;
};

/* What GCN was measured to need without a step's values (app/cost.h), and for each job those, per
 * hidden unit a value, its gradient and an intermediate one, and per parameter a best copy, two
 * moments and a gradient. A step reaches the nodes with a label and, per further layer, their
 * neighbours. */
static double estimate(const struct sizes *s, const struct config *c, double jobs)
{
    double hidden = (double)c->hidden, further = fmax(0, (double)c->layers - 1);
    double features = s->features > 0 ? s->features : STRUCTURAL_FEATURES;
    double degree = 2 * s->edges / fmax(1, s->nodes);
    double reached = fmin(s->nodes, s->labels * pow(1 + degree, further));
    double parameters = features * hidden + further * hidden * hidden + hidden * s->classes;
    struct cost_range held;
    struct cost_sizes unlabelled = {.nodes = s->nodes,
                                    .edges = s->edges,
                                    .columns =
                                        s->sparse ? s->nonzeros / fmax(1, s->nodes) : features,
                                    .classes = s->classes};
    if (cost_forecast(&held, COST_GCN_BYTES, &unlabelled) < 0)
        return 0; /* without a forecast nothing is refused */
    return held.usual + jobs * (20 * parameters + 12 * reached * hidden * further);
}

int64_t limits_training(const struct dataset *d, const struct config *c, int64_t labels,
                        int64_t jobs, int ranks)
{
    struct sizes s = {.nodes = (double)d->nodes,
                      .edges = (double)d->edges,
                      .features = (double)d->features,
                      .nonzeros = d->sparse ? (double)d->sparse->nnz : 0,
                      .classes = d->classes,
                      .labels = (double)labels,
                      .sparse = d->sparse != NULL};
    if (d->rows) { /* only some of the rows; arrays over all nodes stay */
        double known = 0;
        for (int64_t i = 0; d->label && i < d->nodes; i++)
            known += d->label[i] >= 0;
        return (int64_t)fmin(
            estimate(&s, c, (double)jobs) / ranks + s.nodes * 28 + known * 8.0 * d->classes, 9e18);
    }
    return (int64_t)fmin(estimate(&s, c, (double)jobs), 9e18);
}

static consm_status refuse(const char *name, double needed, const char *advice)
{
    return status_fail(CONSM_ELIMIT,
                       "%s: training needs about %.3g GB of memory, but this machine has %.3g GB%s",
                       name, needed / 1e9, (double)limits_memory() / 1e9, advice);
}

consm_status limits_check(const struct dataset *d, const struct config *c, int64_t labels,
                          int64_t jobs, int ranks)
{
    struct config narrow = *c;
    double memory = (double)limits_memory();
    double needed = (double)limits_training(d, c, labels, jobs, ranks);
    if (needed <= memory)
        return CONSM_OK;
    if (jobs > 1 && (double)limits_training(d, c, labels, 1, ranks) <= memory)
        return refuse(d->name, needed, "; it fits with --jobs 1");
    narrow.hidden = 1;
    bool helps = (double)limits_training(d, &narrow, labels, jobs, ranks) <= memory;
    return refuse(d->name, needed, helps ? "; reduce --hidden" : "");
}

consm_status limits_check_trees(const struct dataset *d, int64_t rows)
{
    int64_t features = d->features > 0 ? d->features : STRUCTURAL_FEATURES;
    double needed = 16 * (double)rows * (double)neighbour_columns_count(features);
    return needed <= (double)limits_memory()
               ? CONSM_OK
               : refuse(d->name, needed, "; use fewer training and validation nodes");
}

/* On a device: the graph, the features twice, parameters as above, and per node its scores and some
 * values per hidden unit. One is the minimum; most models stay below four. */
static double bytes_on_device(const struct dataset *d, double layers, double hidden, double values)
{
    double nodes = (double)d->nodes, classes = d->classes;
    double features = d->features > 0 ? (double)d->features : STRUCTURAL_FEATURES;
    double graph = 16 * (double)d->edges + 8 * nodes;
    double input = d->sparse ? 16 * (double)d->sparse->nnz : 4 * nodes * features;
    double parameters =
        20 * (features * hidden + (layers - 1) * hidden * hidden + hidden * classes);
    return graph + input + parameters + 4 * nodes * values * ((layers > 1 ? hidden : 0) + classes);
}

consm_status limits_check_device(const struct dataset *d, const struct config *c,
                                 struct backend *backend)
{
    double layers = (double)c->layers;
    char advice[64] = "";
    int64_t low = 0, high = c->hidden; /* fits, does not fit */
    if (!backend->kind->room)
        return CONSM_OK;
    double room = (double)backend->kind->room(backend);
    double needed = bytes_on_device(d, layers, (double)c->hidden, 1);
    if (needed <= room)
        return CONSM_OK;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (bytes_on_device(d, layers, (double)middle, 4) <= 0.8 * room)
            low = middle;
        else
            high = middle;
    }
    if (low > 0)
        snprintf(advice, sizeof advice, "use --hidden %lld, or ", (long long)low);
    return status_fail(
        CONSM_ELIMIT,
        "%s: training needs at least %.3g GB on %s, but only %.3g GB are free; %suse --device cpu",
        d->name, needed / 1e9, backend->device, room / 1e9, advice);
}

/* Bytes of a file, or of the files directly in a folder. */
static double bytes_at(const char *path)
{
    struct stat info;
    double sum = 0;
    if (stat(path, &info) != 0)
        return 0;
    if (!S_ISDIR(info.st_mode))
        return (double)info.st_size;
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            sum += (double)info.st_size;
    }
    if (folder)
        closedir(folder);
    return sum;
}

consm_status limits_check_name(const char *name_or_path, const struct config *c)
{
    consm_status st = CONSM_OK;
    double memory = (double)limits_memory();
    if (strncmp(name_or_path, "csbm", 4) == 0 && generate_knows(name_or_path)) {
        struct csbm_options o = csbm_defaults();
        if (name_or_path[4] == ':')
            TRY(csbm_parse(&o, name_or_path + 5));
        struct sizes s = {.nodes = (double)o.nodes,
                          .edges = (double)o.nodes * o.degree / 2,
                          .features = (double)o.features,
                          .nonzeros = (double)o.nodes * (double)o.words,
                          .classes = (double)o.classes,
                          .labels = (double)split_defaults().per_class * (double)o.classes,
                          .sparse = o.words > 0};
        double needed = estimate(&s, c, 1);
        return needed > memory ? refuse(name_or_path, needed, "") : CONSM_OK;
    }
    if (generate_knows(name_or_path) || registry_find(name_or_path))
        return CONSM_OK;
    /* An edge of a text file needs about as many bytes as in memory, more than once. */
    double files = bytes_at(name_or_path);
    if (files > memory)
        TRY(refuse(name_or_path, 3 * files, ""));
done:
    return st;
}
