/* The graph formats of other programs: one small graph as networkx, SciPy and NumPy save it
 * (data/formats, made by make_formats.py), plain and compressed, reads as the same dataset; and
 * hostile files. */
#include "datasets.h"
#include "failing_memory.h"

#include "data/load.h"
#include "data/readers/graph_maker.h"

static const char *in_formats(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/data/formats/%s", TESTS_DIR, name);
    return path;
}

static struct dataset *load(const char *name, const char *label)
{
    struct dataset *d;
    OK(data_load_with(&d, in_formats(name), NULL,
                      &(struct reading_options){.wanted = {.label = label}}));
    return d;
}

static void assert_names(char *const *name, const char *const *expected, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        assert_string_equal(name[i], expected[i]);
}

static const char *const people[] = {"Ann & Bo", "Zoë", "<c>", "d"};

/* Ends, weights, ids and labels; formats differ in the features. */
static void assert_people(const struct dataset *d)
{
    static const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3}, label[] = {0, 1, 0, -1};
    static const float weight[] = {0.5f, 2, 1};
    static const char *const classes[] = {"chess", "choir"};
    assert_int_equal(d->nodes, 4);
    assert_int_equal(d->edges, 3);
    assert_int_equal(d->classes, 2);
    assert_false(d->directed);
    assert_memory_equal(d->from, from, sizeof from);
    assert_memory_equal(d->to, to, sizeof to);
    assert_memory_equal(d->weight, weight, sizeof weight);
    assert_memory_equal(d->label, label, sizeof label);
    assert_names(d->node_id, people, 4);
    assert_names(d->class_name, classes, 2);
}

static void as_networkx_writes(void **state)
{
    (void)state;
    static const char *const files[] = {"g.graphml", "g.gexf",     "g.gml",
                                        "g.json",    "links.json", "g.graphml.gz",
                                        "g.gexf.gz", "g.gml.gz",   "g.json.gz"};
    static const char *const features[] = {"age", "age is missing", "vip"};
    static const float mean = (float)(133.0 / 3);
    const float value[] = {31, 0, 1, 44, 0, 0, mean, 1, 0, 58, 0, 1};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct dataset *d = load(files[i], "club");
        assert_people(d);
        assert_int_equal(d->features, 3);
        assert_names(d->feature_name, features, 3);
        assert_memory_equal(d->dense, value, sizeof value);
        assert_string_equal(d->taken[TAKEN_LABEL], "attribute club");
        assert_string_equal(d->name, strstr(files[i], "links") ? "links" : "g");
        assert_int_equal(strlen(d->sha256), 64);
        dataset_free(d);
    }
    struct dataset *d = load("g.net.gz", "club");
    assert_people(d);
    assert_int_equal(d->features, 0);
    dataset_free(d);
}

static void lists(void **state)
{
    (void)state;
    static const char *const files[] = {"g.adjlist", "g.adjlist.gz", "g.edgelist", "g.edgelist.gz"};
    static const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct dataset *d = load(files[i], NULL);
        assert_int_equal(d->nodes, 4);
        assert_int_equal(d->edges, 3);
        assert_null(d->node_id);
        assert_memory_equal(d->from, from, sizeof from);
        assert_memory_equal(d->to, to, sizeof to);
        dataset_free(d);
    }
}

/* zstd's library may be missing; then the message says what to do. */
static void zstd(void **state)
{
    (void)state;
    struct dataset *d;
    consm_status st = data_load_with(&d, in_formats("g.gexf.zst"), NULL,
                                     &(struct reading_options){.wanted = {.label = "club"}});
    if (st == CONSM_EIO && strstr(consm_errmsg(), "install it (libzstd1), or unpack")) {
        printf("SKIPPED: zstd: no libzstd here\n");
        return;
    }
    OK(st);
    assert_people(d);
    dataset_free(d);
}

static void as_scipy_saves(void **state)
{
    (void)state;
    static const char *const files[] = {"csr.npz", "csc.npz", "coo.npz", "array.npz"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct dataset *d = load(files[i], NULL);
        struct csr *graph;
        assert_int_equal(d->nodes, 4);
        assert_int_equal(d->edges, 6);
        OK(dataset_graph(&graph, d, NULL));
        assert_int_equal(graph->nnz, 6);
        assert_true(graph->val[0] == 0.5f && graph->val[2] == 2);
        csr_free(graph);
        dataset_free(d);
    }
    struct dataset *d;
    FAILS(data_load_path(&d, in_formats("bsr.npz"), NULL), CONSM_EFORMAT,
          "\"bsr\", expected \"csr\", \"csc\" or \"coo\"; convert the matrix with .tocsr()");
}

static void as_numpy_saves(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 1, 0, -1};
    static const uint8_t role[] = {SPLIT_TRAIN, SPLIT_TRAIN, SPLIT_TEST, SPLIT_NONE};
    static const float x[] = {31, 1, 44, 0, 40, 0, 58, 1};
    struct dataset *d = load("pyg.npz", NULL);
    assert_int_equal(d->edges, 3);
    assert_true(d->weight[0] == 0.5f && d->to[2] == 3);
    assert_memory_equal(d->label, label, sizeof label);
    assert_memory_equal(d->role, role, sizeof role);
    assert_memory_equal(d->dense, x, sizeof x);
    dataset_free(d);
    d = load("objects.npz", NULL); /* SciPy matrices pickled into arrays of one object */
    assert_int_equal(d->edges, 6);
    assert_memory_equal(d->label, label, sizeof label);
    assert_int_equal(d->sparse->nnz, 6);
    assert_true(d->sparse->val[0] == 31 && d->sparse->val[3] == 40);
    dataset_free(d);
    d = load("matrix.npz", NULL); /* a dense adjacency matrix, labels (n,1) */
    assert_int_equal(d->edges, 6);
    assert_memory_equal(d->label, label, sizeof label);
    dataset_free(d);
}

/* ---- what is wrong ------------------------------------------------------- */

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

#define XML(rest) "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" rest

static void faults(void **state)
{
    (void)state;
    static const struct {
        maker_read_fn read;
        const char *text, *message;
    } bad[] = {
        {graphml_read, XML("<!DOCTYPE x [<!ENTITY a \"aaaa\">]><graphml/>"),
         "file: line 2, column 1: expected no document type"},
        {graphml_read, XML("<graphml><graph><node id=\"&lol;\"/></graph></graphml>"),
         "line 2, column 27: expected one of the entities amp"},
        {graphml_read, XML("<graphml><graph>\n<node/></graph></graphml>"),
         "line 3, column 1: expected the XML attribute id"},
        {graphml_read, XML("<graphml><graph><node id=\"a\"></graph></graphml>"),
         "line 2, column 30: expected </node>, which closes the open element"},
        {graphml_read, XML("<gexf/>"), "line 2, column 1: expected <graphml>"},
        {graphml_read, "<?>", "expected ?> before the end"},
        {graphml_read, "<!-->", "expected --> before the end"},
        {graphml_read, XML("<graphml><graph><node id=\"a\"/>"), "expected </graph> before the end"},
        {graphml_read, XML("<graphml/><graphml/>"), "expected one outermost element"},
        {graphml_read, XML("<graphml/>x"), "expected an element"},
        {graphml_read, XML("<graphml a=1/>"), "expected a value in quotes"},
        {graphml_read, XML("<graphml><graph><node id=\"&#0;\"/></graph></graphml>"),
         "expected a valid character number"},
        {graphml_read, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><graphml/>",
         "line 1, column 1: expected UTF-8; convert the file"},
        {graphml_read, XML("<graphml/>"), "file: no nodes"},
        {graphml_read,
         XML("<graphml><graph><node id=\"a\"/>\n<node id=\"a\"/>\n<edge source=\"a\" target=\"z\"/>"
             "</graph></graphml>"),
         "file: line 3: node \"a\" occurs twice"},
        {graphml_read,
         XML("<graphml><graph><node id=\"a\"/>\n<edge source=\"a\" target=\"z\"/>\n"
             "<edge source=\"y\" target=\"a\"/></graph></graphml>"),
         "file: 2 errors:\n  line 3: an edge refers to \"z\", expected a node of the file\n"
         "  line 4: an edge refers to \"y\""},
        {graphml_read,
         XML("<graphml><graph><node id=\"a\"><data key=\"k\">1</data></node></graph>"
             "</graphml>"),
         "expected a key declared above, not \"k\""},
        {graphml_read, XML("<graphml><graph><node id=\"a\"><graph/></node></graph></graphml>"),
         "expected one <graph>, not a nested one"},
        {gexf_read,
         XML("<gexf><graph><nodes><node id=\"a\"><attvalues><attvalue for=\"0\" "
             "value=\"1\"/></attvalues></node></nodes></graph></gexf>"),
         "expected an attribute declared above, not \"0\""},
        {gexf_read,
         "<gexf><graph><attributes class=\"edge\"><attribute id=\"0\" title=\"x\"><attributes "
         "class=\"node\"><default>v</default></attributes></attribute></attributes></graph></gexf>",
         "expected <attributes> outside of nodes, edges and other attributes"},
        {gexf_read, "<gexf><graph><attvalue for=\"0\" value=\"1\"/></graph></gexf>",
         "expected an attvalue inside a node or an edge"},
        {gexf_read,
         "<gexf><graph><node id=\"a\"><edge source=\"a\" target=\"a\"/></node></graph></gexf>",
         "expected <edge> outside of nodes and edges"},
        {graphml_read,
         "<graphml><graph><edge source=\"a\" target=\"a\"><node "
         "id=\"a\"/></edge></graph></graphml>",
         "expected <node> outside of nodes and edges"},
        {graphml_read, "<graphml><key id=\"a\"><key id=\"b\"/></key></graphml>",
         "expected <key> outside of nodes, edges and other keys"},
        {gml_read, "graph [\n node [ id 0 ]\n node [ label \"x\" ]\n]", "line 3: a node has no id"},
        {gml_read, "graph [\n node [ id 0 ]\n edge [ source 0 ]\n]",
         "line 3: an edge lacks source or target"},
        {gml_read, "graph [\n node [ id \"0 ]\n", "line 2: expected a closing quote"},
        {gml_read, "graph [ node [ id 0 ]", "expected ] before the end of the file"},
        {gml_read, "]", "expected [ before ]"},
        {node_link_read, "{\"nodes\": [1]", "file: line 1, column 13"},
        {node_link_read, "{\"nodes\": 3}", "expected an object with lists \"nodes\" and \"links\""},
        {node_link_read, "{\"nodes\": [{\"x\": 1}], \"links\": []}", "nodes[0] has no id"},
        {node_link_read, "{\"nodes\": [{\"id\": 1, \"x\": [2]}], \"links\": []}",
         "nodes[0]: \"x\" is a list or an object"},
        {node_link_read, "{\"nodes\": [{\"id\": 1}], \"edges\": [{\"source\": 1}]}",
         "edge 0 lacks source or target"},
        {pajek_read, "*Vertices 2\n1 a\n3 b\n",
         "line 3, column 1: found \"3\", expected vertex 2 (vertices must"},
        {pajek_read, "*Vertices 2\n*Edges\n1 5\n",
         "line 3, column 2: found \"5\", expected a vertex from 1 to 2"},
        {pajek_read, "*Vertices 999999999\n", "expected the number of vertices"},
        {pajek_read, "*Vertices 1\n*Matrix\n",
         "line 2, column 1: found \"*Matrix\", expected *Vert"},
        {pajek_read, "1 2\n", "line 1, column 1: found \"1\", expected *Vertices"},
        {adjacency_read, "# nothing\n", "file: no nodes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dataset *d;
        FAILS(read_text(&d, bad[i].read, bad[i].text, strlen(bad[i].text)), CONSM_EFORMAT,
              bad[i].message);
    }
}

static const struct {
    maker_read_fn read;
    const char *file;
} formats[] = {{graphml_read, "g.graphml"}, {gexf_read, "g.gexf"}, {gml_read, "g.gml"},
               {node_link_read, "g.json"},  {pajek_read, "g.net"}, {adjacency_read, "g.adjlist"}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Cut anywhere, or with a byte changed anywhere, a file is read or refused with a message. */
static void damage(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        struct file_map map;
        struct dataset *d;
        OK(file_map(&map, in_formats(formats[f].file)));
        for (size_t at = 0; at <= map.size; at++)
            for (int way = 0; way < 4; way++) {
                size_t size = way == 0 ? at : map.size;
                char *copy = malloc(size + 1);
                memcpy(copy, map.data, size);
                if (way > 0 && at < size)
                    copy[at] = "\0\xff<"[way - 1];
                if (read_text(&d, formats[f].read, copy, size) < 0)
                    assert_true(*consm_errmsg());
                dataset_free(d);
                free(copy);
            }
        file_unmap(&map);
    }
}

/* Nesting, attributes and mostly empty tables are bounded. */
static void bombs(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    char *text = malloc(60 * MANY), *at = text;
    struct dataset *d;
    at += sprintf(at, "<graphml>");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "<a>");
    FAILS(read_text(&d, graphml_read, text, (size_t)(at - text)), CONSM_EFORMAT,
          "expected at most 64 nested elements");
    at = text + sprintf(text, "graph [ ");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "a [ ");
    FAILS(read_text(&d, gml_read, text, (size_t)(at - text)), CONSM_EFORMAT,
          "at most 64 nested lists");
    at = text + sprintf(text, "{\"nodes\": ");
    memset(at, '[', MANY);
    FAILS(read_text(&d, node_link_read, text, (size_t)(at - text) + MANY), CONSM_EFORMAT,
          "expected JSON");
    at = text + sprintf(text, "graph [ ");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "node [ id %d a%d 1 ] ", i, i);
    at += sprintf(at, "]");
    FAILS(read_text(&d, gml_read, text, (size_t)(at - text)), CONSM_ELIMIT,
          "would be mostly empty and too large; remove attributes that few nodes have");
    free(text);
    /* Three hundred MB of zeros in 300 kB: a gzip bomb. */
    uint8_t *out;
    size_t size;
    static uint8_t member[64 << 10];
    FILE *zeros = popen("head -c 20000000 /dev/zero | gzip -9", "r");
    size_t packed = zeros ? fread(member, 1, sizeof member, zeros) : 0;
    if (zeros && pclose(zeros) == 0 && packed > 1000) {
        FAILS(unpack_bytes(&out, &size, member, packed, 200 * packed, "bomb"), CONSM_ELIMIT,
              "200 times its size, which may be a decompression bomb");
        OK(unpack_bytes(&out, &size, member, packed, 64 << 20, "bomb"));
        assert_int_equal(size, 20000000);
        mem_free(out);
        FAILS(unpack_bytes(&out, &size, member, packed - 9, 64 << 20, "cut"), CONSM_EFORMAT,
              "the compressed data ends too early");
        member[packed / 2] ^= 0x55;
        assert_true(unpack_bytes(&out, &size, member, packed, 64 << 20, "bent") < 0);
    }
}

static consm_status read_one(int f)
{
    struct file_map map;
    struct dataset *d;
    OK(file_map(&map, in_formats(formats[f].file)));
    consm_status st = read_text(&d, formats[f].read, (const char *)map.data, map.size);
    dataset_free(d);
    file_unmap(&map);
    return st;
}

static consm_status read_graphml(void)
{
    return read_one(0);
}
static consm_status read_gexf(void)
{
    return read_one(1);
}
static consm_status read_gml(void)
{
    return read_one(2);
}
static consm_status read_pajek(void)
{
    return read_one(4);
}
static consm_status read_packed(void)
{
    struct dataset *d;
    consm_status st = data_load_path(&d, in_formats("g.gml.gz"), NULL);
    dataset_free(d);
    return st;
}
static consm_status read_objects(void)
{
    struct dataset *d;
    consm_status st = data_load_path(&d, in_formats("objects.npz"), NULL);
    dataset_free(d);
    return st;
}

static void memory(void **state)
{
    (void)state;
    consm_status (*const calls[])(void) = {read_graphml, read_gexf,   read_gml,
                                           read_pajek,   read_packed, read_objects};
    memory_runs_out(calls, sizeof calls / sizeof *calls, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_networkx_writes),
        cmocka_unit_test(lists),
        cmocka_unit_test(zstd),
        cmocka_unit_test(as_scipy_saves),
        cmocka_unit_test(as_numpy_saves),
        cmocka_unit_test(faults),
        cmocka_unit_test(damage),
        cmocka_unit_test(bombs),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
