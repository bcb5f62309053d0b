/* Fuzzes pickles: whatever they hold is read as each of the accepted types. */
#include "data/readers/npy_csr.h"
#include "io/pickle/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pickle *p;
    struct npy array;
    struct npy_csr parts;
    struct csr *matrix = NULL;
    const struct pickle_items *dict;
    if (pickle_load(&p, data, size, "fuzz.pkl") < 0)
        return 0;
    if (pickle_root_array(&array, p) >= 0 && array.count < 1 << 20) {
        float *cell = mem_alloc((size_t)array.count, sizeof *cell);
        npy_floats(cell, &array, 0, array.count);
        mem_free(cell);
    }
    if (pickle_root_csr(&parts, p) >= 0 && parts.cols < 1 << 16)
        npy_csr_matrix(&matrix, &parts);
    pickle_root_dict(&dict, p);
    csr_free(matrix);
    pickle_free(p);
    return 0;
}
