/* GraphML and GEXF: elements in wrong places, default weights of edges, and a limit on warnings. */
#include "datasets.h"
#include "xml_grammar.h"

#include "data/readers/graph_maker.h"

static consm_status read_text(struct dataset **out, maker_read_fn read, const char *text,
                              size_t size)
{
    struct reading_options reading = {0};
    consm_status st = dataset_new(out, "set");
    if (st >= 0)
        st = maker_read_file(*out, &(struct text_file){"file", text, size, false}, &reading, read);
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

/* Every element in every place, up to four deep: read or refused with a message. */
static void wrong_places(void **state)
{
    (void)state;
    enum { LONGEST = UNDER_ASAN ? 3 : 4 };
    for (int language = 0; language < 2; language++)
        for (int length = 1; length <= LONGEST; length++) {
            uint8_t choice[LONGEST + 2] = {(uint8_t)(language ? 6 : 5)}; /* inside <graph> */
            for (;;) {
                for (int inside = 0; inside < 2; inside++) {
                    char text[4096];
                    struct dataset *d;
                    size_t size = xml_grammar_write(text, sizeof text, language, choice + !inside,
                                                    (size_t)length + (size_t)inside);
                    if (read_text(&d, language ? gexf_read : graphml_read, text, size) < 0)
                        assert_true(*consm_errmsg());
                    dataset_free(d);
                }
                int at = length;
                while (at > 0 && ++choice[at] == GRAMMAR_CHOICES)
                    choice[at--] = 0;
                if (at == 0)
                    break;
            }
        }
}

static void assert_weights(maker_read_fn read, const char *text, float first, float second)
{
    struct dataset *d;
    OK(read_text(&d, read, text, strlen(text)));
    assert_int_equal(d->edges, 2);
    assert_non_null(d->weight);
    assert_true(d->weight[0] == first && d->weight[1] == second);
    dataset_free(d);
}

/* A default weight counts for edges without one; a key for="all", or without "for", is one of edges
 * too. */
static void declared_weights(void **state)
{
    (void)state;
#define TWO_EDGES                                                                              \
    "<graph><node id=\"a\"/><node id=\"b\"/><node id=\"c\"/><edge source=\"a\" target=\"b\"/>" \
    "<edge source=\"b\" target=\"c\"><data key=\"w\">2</data></edge></graph>"
    assert_weights(graphml_read,
                   "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"><default>5</default>"
                   "</key>" TWO_EDGES "</graphml>",
                   5, 2);
    assert_weights(
        graphml_read,
        "<graphml><key id=\"w\" for=\"all\" attr.name=\"weight\"/>" TWO_EDGES "</graphml>", 1, 2);
    assert_weights(graphml_read,
                   "<graphml><key id=\"w\" attr.name=\"weight\"/>" TWO_EDGES "</graphml>", 1, 2);
    assert_weights(gexf_read,
                   "<gexf><graph><attributes class=\"edge\"><attribute id=\"0\" title=\"weight\">"
                   "<default>5</default></attribute></attributes><nodes><node id=\"a\"/>"
                   "<node id=\"b\"/></nodes><edges><edge source=\"a\" target=\"b\"/>"
                   "<edge source=\"b\" target=\"a\"><attvalues><attvalue for=\"0\" value=\"2\"/>"
                   "</attvalues></edge></edges></graph></gexf>",
                   5, 2);
    /* A key of nodes says nothing about edges. */
    struct dataset *d;
    const char *nodes =
        "<graphml><key id=\"w\" for=\"node\" attr.name=\"weight\"/>" TWO_EDGES "</graphml>";
    OK(read_text(&d, graphml_read, nodes, strlen(nodes)));
    assert_null(d->weight);
    dataset_free(d);
}

/* ---- warnings ------------------------------------------------------------ */

static int warnings;
static char last_warning[256];

static void count_warning(void *arg, enum consm_log_level level, const char *text)
{
    (void)arg;
    warnings += level == CONSM_LOG_WARN;
    snprintf(last_warning, sizeof last_warning, "%s", text);
}

/* A file with many attributes does not fill the screen. */
static void few_warnings(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    char *text = malloc(80 * MANY), *at = text;
    struct dataset *d;
    at += sprintf(at, "{\"nodes\": [{\"id\": 0}], \"links\": [");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "%s{\"source\": 0, \"target\": 0, \"a%d\": 1}", i ? "," : "", i);
    at += sprintf(at, "]}");
    consm_set_log(count_warning, NULL);
    OK(read_text(&d, node_link_read, text, (size_t)(at - text)));
    assert_int_equal(warnings, MAKER_WARNINGS + 1);
    assert_non_null(strstr(last_warning, "also ignored: 1995 attributes of edges"));
    dataset_free(d);
    at = text + sprintf(text, "{\"nodes\": [{\"id\": 0");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, ", \"a%d\": \"\"", i);
    at += sprintf(at, "}], \"links\": []}");
    warnings = 0;
    OK(read_text(&d, node_link_read, text, (size_t)(at - text)));
    assert_in_range(warnings, 1, 6);
    dataset_free(d);
    consm_set_log(NULL, NULL);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_places),
        cmocka_unit_test(declared_weights),
        cmocka_unit_test(few_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
