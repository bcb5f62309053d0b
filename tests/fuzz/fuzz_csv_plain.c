/* Fuzzes plain folders and edge lists: edges, nodes, labels, features, dataset.json. */
#include "data/readers/plain.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parts p;
    struct dataset *d;
    parts_split(&p, data, size);
    if (p.file[0].data && dataset_new(&d, "fuzz") >= 0) {
        (void)plain_read(d, &(struct plain_files){.edges = p.file[0],
                                                  .nodes = p.file[1],
                                                  .labels = p.file[2],
                                                  .features = p.file[3],
                                                  .about = p.file[4]});
        dataset_free(d);
    }
    parts_free(&p);
    return 0;
}
