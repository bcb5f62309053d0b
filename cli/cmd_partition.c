/* `consm partition`: writes a dataset in an order that keeps neighbours together, for training on
 * several processes, and estimates the cost. */
#include "backends/plugin.h"
#include "base/counted.h"
#include "commands.h"
#include "data/load.h"
#include "data/order.h"
#include "data/readers/parts.h"
#include "data_args.h"
#include "io/file.h"
#include "io/folder.h"
#include "json_line.h"
#include "ranks_forecast.h"
#include "stats/columns.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_PARTS = 1 << 20, MOST_ROWS = 16 };

static const struct flag flags[] = {
    {"parts", "K", "number of parts (64)", 'k'},
    {"output", "FOLDER", "write graph.safetensors and rows.safetensors to FOLDER", 'o'},
    {"json", NULL, "print one JSON object per number of processes", 0},
    DATA_FLAGS,
    {0}};

/* A node's position in the new order: by part; within a part, nodes with neighbours elsewhere come
 * last, so that the others form one piece; otherwise the old order. */
struct seat {
    int32_t part, outer, old;
};

static int in_order(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->outer != y->outer)
        return x->outer < y->outer ? -1 : 1;
    return x->old < y->old ? -1 : x->old > y->old;
}

/* first (parts+1): start of each part in the new order. */
static consm_status find_order(int32_t **out, int64_t *first, const struct csr *graph, int parts)
{
    consm_status st = CONSM_OK;
    int64_t n = graph->rows;
    int32_t *part = NULL;
    struct seat *seat = NULL;
    TRY(NEW(part, n));
    TRY(NEW(seat, n));
    TRY(NEW(*out, n));
    TRY(plugin_cut(part, graph, parts));
    for (int64_t i = 0; i < n; i++) {
        seat[i] = (struct seat){part[i], 0, (int32_t)i};
        for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            if (part[graph->col[k]] != part[i])
                seat[i].outer = 1;
    }
    qsort(seat, (size_t)n, sizeof *seat, in_order);
    for (int64_t i = 0; i < n; i++)
        (*out)[i] = seat[i].old;
    for (int64_t i = 0, p = 0; p <= parts; p++) {
        while (i < n && seat[i].part < p)
            i++;
        first[p] = i;
    }
done:
    mem_free(part);
    mem_free(seat);
    return st;
}

/* The two files: the dataset in its new order, and its graph as rows. */
static consm_status save(const struct dataset *d, const char *folder, const char *path,
                         const int64_t *first, int64_t parts)
{
    consm_status st = CONSM_OK;
    float *shift = NULL, *scale = NULL;
    if (d->dense) {
        TRY(NEW(shift, d->features));
        TRY(NEW(scale, d->features));
        TRY(columns_measure(shift, scale, d->dense, d->nodes, d->features));
    }
    TRY(data_save_path(d, path, NULL));
    TRY(parts_save(d, folder, first, parts, shift, scale));
done:
    mem_free(shift);
    mem_free(scale);
    return st;
}

static consm_status report(const struct dataset *d, int64_t parts, bool json)
{
    consm_status st = CONSM_OK;
    struct csr *graph = NULL;
    struct ranks_forecast f[MOST_ROWS];
    int count = 0;
    TRY(dataset_graph(&graph, d, NULL));
    for (int64_t ranks = 2; ranks <= parts && count < MOST_ROWS; ranks *= 2)
        TRY(forecast_make(&f[count++], d, graph, (int)ranks));
    for (int i = 0; i < count && json; i++)
        json_line(forecast_json(&f[i]), 10);
    if (!json && count > 0)
        forecast_print(f, count);
done:
    csr_free(graph);
    return st;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL, *ordered = NULL;
    struct csr *graph = NULL;
    int32_t *order = NULL;
    int64_t *first = NULL;
    char *path = NULL;
    struct folder_work work = {.lock = -1};
    int64_t parts = 64;
    const char *folder = args_get(args, "output");
    int code;
    if ((code = args_int(args, "parts", 1, MOST_PARTS, &parts)))
        return code;
    if (!folder)
        return args_fail(args, EXIT_USAGE, "missing -o FOLDER, the folder for graph.safetensors");
    if ((code = data_args_open(&d, args, NULL)))
        return code;
    TRY(dataset_graph(&graph, d, NULL));
    if (parts > graph->rows)
        TRY(status_fail(CONSM_EINVAL, "--parts %lld: expected at most %lld, the number of nodes",
                        (long long)parts, (long long)graph->rows));
    TRY(NEW(first, parts + 1));
    TRY(find_order(&order, first, graph, (int)parts));
    TRY(dataset_order(&ordered, d, order));
    /* The two files belong together: an existing folder is replaced as a whole, or stays. */
    TRY(folder_begin(&work, folder));
    TRY(file_join(&path, work.path, "graph.safetensors"));
    TRY(save(ordered, work.path, path, first, parts));
    TRY(folder_commit(&work));
    mem_free(path);
    path = NULL;
    TRY(file_join(&path, folder, "graph.safetensors"));
    if (!args_has(args, "json"))
        printf("%s: %s in %s\n\n", path, COUNTED(d->nodes, "node"), COUNTED(parts, "part"));
    TRY(report(ordered, parts, args_has(args, "json")));
done:
    folder_end(&work);
    mem_free(path);
    mem_free(order);
    mem_free(first);
    csr_free(graph);
    dataset_free(ordered);
    dataset_free(d);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_partition = {
    .name = "partition",
    .summary = "partition a dataset for training on several processes, and forecast the cost",
    .usage = "DATASET -k K -o FOLDER [--json]",
    .text =
        "METIS divides the graph into K parts with few edges between them, balanced by edges. The\n"
        "nodes are written part by part, with their names. Each process then owns a range of\n"
        "nodes and sends little. Choose K several times the number of processes. Training on\n"
        "the new order gives other results than on the old one (other random numbers), but the\n"
        "same bits on any number of processes.\n\n"
        "  consm partition ./mygraph -k 64 -o parts/\n"
        "  mpirun -n 8 consm train parts/ -m gcn -o out/                 each process reads its "
        "part\n"
        "  mpirun -n 8 consm train parts/graph.safetensors -o out/       each reads everything\n"
        "  mpirun -n 8 consm train ./mygraph --in-parts -m gcn -o out/   parts in the file's "
        "order\n\n"
        "Prints how much 2, 4, … K processes would store and send (`consm info --ranks N` prints\n"
        "the same for the original order).\n",
    .flags = flags,
    .run = run,
};
