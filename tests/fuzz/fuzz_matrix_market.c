/* Fuzzes Matrix Market adjacency files. */
#include "data/readers/matrix_market.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dataset *d;
    if (dataset_new(&d, "fuzz") < 0)
        return 0;
    (void)matrix_market_read(d, &(struct text_file){"fuzz", data, size, false});
    dataset_free(d);
    return 0;
}
