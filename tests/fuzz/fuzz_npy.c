/* Fuzzes arrays: the header, then every conversion. */
#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy a;
    char **text = NULL;
    if (npy_parse(&a, data, size, "fuzz.npy") < 0 || a.count > 1 << 20)
        return 0;
    int64_t *wide = mem_alloc((size_t)a.count, sizeof *wide);
    npy_int64(wide, &a, INT64_MIN, INT64_MAX);
    npy_int32((int32_t *)(void *)wide, &a, -100, 100000);
    npy_floats((float *)(void *)wide, &a, 0, a.count);
    npy_bools((uint8_t *)(void *)wide, &a);
    npy_expect(&a, 2, 3, 4);
    if (npy_strings(&text, &a) >= 0)
        for (int64_t i = 0; i < a.count; i++)
            mem_free(text[i]);
    mem_free(text);
    mem_free(wide);
    return 0;
}
