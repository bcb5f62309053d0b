/* Fuzzes GraphML and GEXF with a grammar that puts every element in every place: always
 * well-formed, so that each input reaches the readers behind the XML parser. The first byte chooses
 * the format. */
#include "data/readers/graph_maker.h"
#include "xml_grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[1 << 14];
    struct reading_options reading = {0};
    struct dataset *d;
    if (size == 0 || dataset_new(&d, "fuzz") < 0)
        return 0;
    int language = data[0] & 1;
    size_t length = xml_grammar_write(text, sizeof text, language, data + 1, size - 1);
    (void)maker_read_file(d, &(struct text_file){"fuzz", text, length, false}, &reading,
                          language ? gexf_read : graphml_read);
    dataset_free(d);
    return 0;
}
