/* Fuzzes SVM-light features. */
#include "data/readers/svmlight.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csr *a;
    if (svmlight_read(&a, &(struct text_file){"fuzz", data, size, false}) >= 0)
        csr_free(a);
    return 0;
}
