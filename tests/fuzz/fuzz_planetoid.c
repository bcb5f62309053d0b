/* Fuzzes Planetoid sets: the eight files one after the other, each after its length in four bytes.
 */
#include "data/readers/planetoid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[PLANETOID_FILES][4] = {"x", "tx", "ax", "y", "ty", "ay", "g", "t"};
    struct file_map file[PLANETOID_FILES];
    char *path[PLANETOID_FILES];
    struct dataset *d;
    for (int i = 0; i < PLANETOID_FILES; i++) {
        size_t length = 0;
        if (size >= 4) {
            length = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
            data += 4;
            size -= 4;
        }
        length = length < size ? length : size;
        file[i] = (struct file_map){data, length};
        path[i] = name[i];
        data += length;
        size -= length;
    }
    planetoid_read(&d, "fuzz", file, path);
    dataset_free(d);
    return 0;
}
