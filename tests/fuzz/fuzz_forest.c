/* Fuzzes the trees of a model file: any numbers are refused, or every row of a table finds its leaf
 * in every tree, also with missing values. The first byte is the number of classes. */
#include "train/forest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, CLASSES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const float row[3][COLUMNS] = {
        {0}, {NAN, NAN, NAN, NAN, NAN, NAN}, {1, -1, 1e30F, -1e30F, 0.5F, NAN}};
    struct forest f;
    int64_t column[COLUMNS];
    if (size < 1)
        return 0;
    int32_t classes = 1 + data[0] % CLASSES;
    int64_t nodes = (int64_t)((size - 1) / (FOREST_COLUMNS * sizeof(float)));
    float *numbers = malloc((size_t)nodes * FOREST_COLUMNS * sizeof(float) + 1);
    memcpy(numbers, data + 1, (size_t)nodes * FOREST_COLUMNS * sizeof(float));
    if (forest_open(&f, numbers, nodes, COLUMNS, classes) == CONSM_OK) {
        for (int k = 0; k < 3; k++) {
            float logits[CLASSES] = {0};
            forest_add(logits, &f, 0, f.trees, row[k], NULL, classes);
        }
        if (forest_columns(column, &f, COLUMNS) > COLUMNS || f.leaves < f.trees)
            abort();
        forest_close(&f);
    }
    free(numbers);
    return 0;
}
