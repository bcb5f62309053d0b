/* Archives: every member is read, then the whole is taken for a graph. Checksums are not compared
 * in this build. */
#include "data/readers/npz_archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npz_archive archive;
    struct dataset *d = NULL;
    if (npz_open_memory(&archive, "fuzz.npz", data, size) >= 0) {
        for (int64_t i = 0; i < archive.zip->count && i < 32; i++) {
            struct zip_bytes bytes;
            zip_read(&bytes, archive.zip, &archive.zip->member[i]);
            zip_bytes_free(&bytes);
        }
        npz_load_archive(&d, &archive, "fuzz.npz");
    }
    dataset_free(d);
    npz_close(&archive);
    return 0;
}
