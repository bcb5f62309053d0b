/* Fuzzes the files of a study's folder: runs.jsonl, a graph's JSON, a search space in YAML,
 * study.json. The first byte chooses. */
#include "fuzz/scratch.h"
#include "study/graph_file.h"
#include "study/runs.h"
#include "study/search.h"
#include "study/study.h"

#include "models/model.h"

#include <sys/stat.h>

/* A folder without runs, and study.json. */
static void read_folder(const uint8_t *data, size_t size)
{
    char folder[64], path[96];
    struct study_folder f;
    snprintf(folder, sizeof folder, "%s.d", scratch_path());
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/runs.jsonl", folder);
    FILE *runs = fopen(path, "w");
    if (runs)
        fclose(runs);
    snprintf(path, sizeof path, "%s/study.json", folder);
    if (rename(scratch_file(data, size), path) == 0 && folder_open(&f, folder, RUNS_READ) == 0)
        folder_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct runs *runs = NULL;
    struct graph_file *graph = NULL;
    json_t *space = NULL;
    struct config c;
    const struct model_def *gcn;
    if (size < 1)
        return 0;
    const char *path = scratch_file(data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        if (runs_open(&runs, path, RUNS_READ) == CONSM_OK)
            for (int64_t i = 0; i < runs_count(runs); i++)
                (void)json_object_size(runs_get(runs, i));
        runs_close(runs);
        break;
    case 1:
        if (graph_file_read(&graph, path) == CONSM_OK)
            (void)graph_file_view(graph);
        graph_file_free(graph);
        break;
    case 3: read_folder(data + 1, size - 1); break;
    default:
        if (search_read(&space, path) == CONSM_OK && model_find(&gcn, "gcn") == CONSM_OK) {
            model_defaults(gcn, &c);
            for (int64_t k = 0; k < 3; k++)
                (void)search_draw(&c, space, gcn, k);
        }
        json_decref(space);
    }
    return 0;
}
