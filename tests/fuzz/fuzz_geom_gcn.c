/* Fuzzes Geom-GCN text: edges, then nodes. */
#include "data/readers/geom_gcn.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parts p;
    struct dataset *d;
    parts_split(&p, data, size);
    if (p.file[0].data && p.file[1].data && dataset_new(&d, "fuzz") >= 0) {
        if (geom_gcn_read(d, &p.file[0], &p.file[1]) >= 0)
            (void)dataset_check(d);
        dataset_free(d);
    }
    parts_free(&p);
    return 0;
}
