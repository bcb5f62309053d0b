/* Fuzzes the graph formats of other programs; the first byte chooses the format, or says that the
 * rest is compressed. */
#include "data/readers/graph_maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const maker_read_fn read[] = {graphml_read,   gexf_read,  gml_read,
                                         node_link_read, pajek_read, adjacency_read};
    struct reading_options reading = {0};
    struct dataset *d;
    uint8_t *out;
    size_t unpacked;
    if (size == 0)
        return 0;
    if (data[0] % 8 >= 6) {
        if (unpack_kind(data + 1, size - 1) != UNPACK_PLAIN &&
            unpack_bytes(&out, &unpacked, data + 1, size - 1, 1 << 20, "fuzz") >= 0)
            mem_free(out);
    } else if (dataset_new(&d, "fuzz") >= 0) {
        (void)maker_read_file(d, &(struct text_file){"fuzz", data + 1, size - 1, false}, &reading,
                              read[data[0] % 8]);
        dataset_free(d);
    }
    return 0;
}
