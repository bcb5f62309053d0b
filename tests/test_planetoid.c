/* Planetoid sets: the figures of the real files, and small sets written here with common faults. */
#include "check.h"

#include "data/readers/planetoid.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/consm-planetoid-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static void real_figures(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t nodes, edges, undirected, features, nonzeros;
        int32_t classes;
        int class_count[7], train, val, test;
    } known[] = {
        {"cora",
         2708,
         10556,
         5278,
         1433,
         49216,
         7,
         {351, 217, 418, 818, 426, 298, 180},
         140,
         500,
         1000},
        {"citeseer",
         3327,
         9104,
         4552,
         3703,
         105165,
         6,
         {264, 590, 668, 701, 596, 508},
         120,
         500,
         1000},
        {"pubmed", 19717, 88648, 44324, 500, 988031, 3, {4103, 7739, 7875}, 60, 500, 1000},
    };
    const char *data = real_data("planetoid real_figures");
    char *real;
    if (!data)
        return;
    OK(file_join(&real, data, "planetoid"));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct dataset *d;
        struct csr *graph;
        struct edge_facts facts;
        int class_count[7] = {0}, role_count[4] = {0};
        OK(planetoid_load(&d, real, known[i].name));
        OK(dataset_graph(&graph, d, &facts));
        assert_string_equal(d->name, known[i].name);
        assert_int_equal(d->nodes, known[i].nodes);
        assert_int_equal(d->edges, known[i].edges);
        assert_int_equal(facts.loops, 0);
        assert_int_equal(facts.kept, 2 * known[i].undirected);
        assert_int_equal(d->features, known[i].features);
        assert_int_equal(d->sparse->nnz, known[i].nonzeros);
        assert_int_equal(d->classes, known[i].classes);
        assert_int_equal(d->splits, 1);
        assert_false(d->directed);
        for (int64_t n = 0; n < d->nodes; n++) {
            class_count[d->label[n]]++;
            role_count[d->role[n]]++;
        }
        assert_memory_equal(class_count, known[i].class_count, sizeof class_count);
        assert_int_equal(role_count[SPLIT_TRAIN], known[i].train);
        assert_int_equal(role_count[SPLIT_VAL], known[i].val);
        assert_int_equal(role_count[SPLIT_TEST], known[i].test);
        csr_free(graph);
        dataset_free(d);
    }
    mem_free(real);
}

/* ---- small sets, pickled here as Python 2 and protocol 2 do -------------- */

enum { X, TX, ALLX, Y, TY, ALLY, GRAPH, TEST };
static const char *const ending[] = {"x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"};

/* The bytes of the eight files. */
struct set {
    uint8_t bytes[PLANETOID_FILES][2048];
    size_t size[PLANETOID_FILES];
};

static void put(struct set *s, int file, const void *bytes, size_t count)
{
    assert_true(s->size[file] + count <= sizeof s->bytes[file]);
    memcpy(s->bytes[file] + s->size[file], bytes, count);
    s->size[file] += count;
}

static void put_text(struct set *s, int file, const char *text)
{
    put(s, file, text, strlen(text));
}

static void put_int(struct set *s, int file, int32_t value)
{
    put(s, file, "J", 1);
    put(s, file, &value, 4);
}

static void put_array(struct set *s, int file, const char *type, int rows, int cols,
                      const void *data, size_t bytes)
{
    uint32_t length = (uint32_t)bytes;
    put_text(s, file,
             "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(");
    put_int(s, file, rows);
    if (cols >= 0)
        put_int(s, file, cols);
    put_text(s, file, "tcnumpy\ndtype\n(S'");
    put_text(s, file, type);
    put_text(s, file, "'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nT");
    put(s, file, &length, 4);
    put(s, file, data, bytes);
    put_text(s, file, "tb");
}

static void put_matrix(struct set *s, int file, int rows, int cols, const int32_t *start,
                       const int32_t *col, const float *val)
{
    size_t nnz = (size_t)start[rows];
    s->size[file] = 0;
    put_text(s, file,
             "\x80\x02"
             "cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shape");
    put_int(s, file, rows);
    put_int(s, file, cols);
    put_text(s, file, "\x86U\x06indptr");
    put_array(s, file, "i4", rows + 1, -1, start, 4 * (size_t)(rows + 1));
    put_text(s, file, "U\x07indices");
    put_array(s, file, "i4", (int)nnz, -1, col, 4 * nnz);
    put_text(s, file,
             "U\x04"
             "data");
    put_array(s, file, "f4", (int)nnz, -1, val, 4 * nnz);
    put_text(s, file, "ub.");
}

static void put_labels(struct set *s, int file, int rows, int cols, const int32_t *onehot)
{
    s->size[file] = 0;
    put_text(s, file, "\x80\x02");
    put_array(s, file, "i4", rows, cols, onehot, 4 * (size_t)(rows * cols));
    put_text(s, file, ".");
}

/* edges: key, neighbours …, -1, key, … ended by -2 */
static void put_graph(struct set *s, const int32_t *edges)
{
    s->size[GRAPH] = 0;
    put_text(s, GRAPH,
             "\x80\x02"
             "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(");
    while (*edges != -2) {
        put_int(s, GRAPH, *edges++);
        put_text(s, GRAPH, "](");
        while (*edges != -1)
            put_int(s, GRAPH, *edges++);
        edges++;
        put_text(s, GRAPH, "e");
    }
    put_text(s, GRAPH, "u.");
}

static void put_test(struct set *s, const char *lines)
{
    s->size[TEST] = 0;
    put_text(s, TEST, lines);
}

/* Seven nodes, 0 to 3 in allx, two of them for training; test nodes 6 and 4 in this order; 5 is
 * left out, as in Citeseer. */
static struct set *small_set(void)
{
    static struct set s;
    memset(&s, 0, sizeof s);
    static const int32_t start[] = {0, 1, 3, 3, 4}, col[] = {0, 1, 3, 2};
    static const float val[] = {1, 1, 0.5f, 1};
    static const int32_t test_start[] = {0, 1, 3}, test_col[] = {2, 0, 3};
    static const float test_val[] = {6, 4, 4};
    static const int32_t onehot[] = {1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t test_onehot[] = {0, 0, 1, 0, 1, 0};
    static const int32_t edges[] = {0, 1, 2, 1, -1, 1, 0, -1, 2, 0, 2, 6, -1, 6, 2, -1, -2};
    put_matrix(&s, X, 2, 4, start, col, val);
    put_matrix(&s, TX, 2, 4, test_start, test_col, test_val);
    put_matrix(&s, ALLX, 4, 4, start, col, val);
    put_labels(&s, Y, 2, 3, onehot);
    put_labels(&s, TY, 2, 3, test_onehot);
    put_labels(&s, ALLY, 4, 3, onehot);
    put_graph(&s, edges);
    put_test(&s, "6\n4\n");
    return &s;
}

static consm_status read_set(struct dataset **out, const struct set *s)
{
    struct file_map file[PLANETOID_FILES];
    char name[PLANETOID_FILES][32], *path[PLANETOID_FILES];
    for (int i = 0; i < PLANETOID_FILES; i++) {
        snprintf(name[i], sizeof name[i], "ind.small.%s", ending[i]);
        path[i] = name[i];
        file[i] = (struct file_map){s->bytes[i], s->size[i]};
    }
    return planetoid_read(out, "small", file, path);
}

static void small_figures(void **state)
{
    (void)state;
    struct dataset *d;
    OK(read_set(&d, small_set()));
    assert_int_equal(d->nodes, 7);
    assert_int_equal(d->features, 4);
    assert_int_equal(d->classes, 3);
    static const int32_t label[] = {0, 1, 1, 2, 1, 0, 2};
    assert_memory_equal(d->label, label, sizeof label);
    /* Row 0 of tx is node 6, row 1 node 4; node 5 has none. */
    static const int64_t start[] = {0, 1, 3, 3, 4, 6, 6, 7};
    static const int32_t col[] = {0, 1, 3, 2, 0, 3, 2};
    static const float val[] = {1, 1, 0.5f, 1, 4, 4, 6};
    assert_memory_equal(d->sparse->start, start, sizeof start);
    assert_memory_equal(d->sparse->col, col, sizeof col);
    assert_memory_equal(d->sparse->val, val, sizeof val);
    static const uint8_t role[] = {1, 1, 2, 2, 3, 0, 3};
    assert_memory_equal(d->role, role, sizeof role);
    /* The repeat of 0-1 and the loop at 2 are gone. */
    static const int32_t from[] = {0, 0, 1, 2, 2, 6}, to[] = {1, 2, 0, 0, 6, 2};
    assert_int_equal(d->edges, 6);
    assert_memory_equal(d->from, from, sizeof from);
    assert_memory_equal(d->to, to, sizeof to);
    assert_int_equal(strlen(d->sha256), 64);
    dataset_free(d);
}

static void refuses(const struct set *s, consm_status code, const char *message)
{
    struct dataset *d;
    FAILS(read_set(&d, s), code, message);
    assert_null(d);
}

static void bad_test_index(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *message;
    } bad[] = {
        {"", "ind.small.test.index: is empty"},
        {"6\nx\n", "ind.small.test.index: line 2, column 1: expected one node number"},
        {"6\n4 5\n", "line 2, column 2"},
        {"6\n\n4\n", "line 2, column 1"},
        {"6\n-4\n", "line 2, column 1"},
        {"6\n99999999999999999999\n", "line 2, column"},
        {"6\n6\n", "line 2: node 6 is listed twice"},
        {"6\n3\n", "line 2: node 3 has a row in allx already"},
        {"6\n", "ind.small.tx: found 2 rows (test.index gives the number): expected 1"},
        {"6\n2000000000\n", "node 2000000000 is out of range: expected numbers near 6"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct set *s = small_set();
        put_test(s, bad[i].lines);
        refuses(s, CONSM_EFORMAT, bad[i].message);
    }
    struct set *s = small_set();
    struct dataset *d;
    put_test(s, "6\r\n4");
    OK(read_set(&d, s));
    dataset_free(d);
}

static void bad_shapes(void **state)
{
    (void)state;
    static const int32_t start[] = {0, 1, 2, 3, 4, 5}, col[] = {0, 1, 2, 3, 4};
    static const int32_t falling[] = {0, 2, 1}, outside[] = {0, 9};
    static const float val[] = {1, 1, 1, 1, 1}, bad[] = {1, NAN};
    static const int32_t zeros[16] = {0}, twice[] = {1, 1, 0, 0, 0, 1}, two[] = {2, 0, 0, 0, 0, 1};
    struct set *s = small_set();
    put_matrix(s, TX, 2, 5, start, col, val);
    refuses(s, CONSM_EFORMAT, "ind.small.tx: found 5 features: expected 4");
    s = small_set();
    put_matrix(s, X, 3, 4, start, col, val);
    refuses(s, CONSM_EFORMAT, "ind.small.y: the array has shape (2, 3): expected (3, 3)");
    s = small_set();
    put_matrix(s, X, 5, 5, start, col, val);
    put_labels(s, Y, 5, 3, zeros);
    refuses(s, CONSM_EFORMAT, "ind.small.x: found 5 features: expected 4");
    s = small_set();
    put_matrix(s, TX, 2, 4, falling, col, val);
    refuses(s, CONSM_EFORMAT, "ind.small.tx: element 1 is 2: expected 0 to 1");
    s = small_set();
    put_matrix(s, TX, 2, 4, start, outside, val);
    refuses(s, CONSM_EFORMAT, "ind.small.tx: element 1 is 9: expected 0 to 3");
    s = small_set();
    put_matrix(s, TX, 2, 4, start, col, bad);
    refuses(s, CONSM_EFORMAT, "feature 1 is nan");
    s = small_set();
    put_labels(s, TY, 2, 4, zeros);
    refuses(s, CONSM_EFORMAT, "ind.small.ty: the array has shape (2, 4): expected (2, 3)");
    s = small_set();
    put_labels(s, TY, 2, 3, twice);
    refuses(s, CONSM_EFORMAT, "ind.small.ty: row 0 has 2 classes: expected exactly one");
    s = small_set();
    put_labels(s, TY, 2, 3, two);
    refuses(s, CONSM_EFORMAT, "ind.small.ty: element 0 is 2: expected 0 to 1");
    s = small_set();
    s->size[TY] = 0;
    put(s, TY, s->bytes[TX], s->size[TX]);
    refuses(s, CONSM_EFORMAT, "ind.small.ty: contains a csr_matrix: expected a filled array");
    s = small_set();
    s->size[TX] = 0;
    put(s, TX, s->bytes[TY], s->size[TY]);
    refuses(s, CONSM_EFORMAT, "ind.small.tx: contains an array: expected a csr_matrix");
}

static void bad_graphs(void **state)
{
    (void)state;
    static const int32_t far_key[] = {7, 1, -1, -2}, far_end[] = {0, 7, -1, -2};
    struct set *s = small_set();
    put_graph(s, far_key);
    refuses(s, CONSM_EFORMAT,
            "ind.small.graph: a key of the graph is 7: expected a node from 0 to 6");
    s = small_set();
    put_graph(s, far_end);
    refuses(s, CONSM_EFORMAT, "a neighbour in the graph is 7");
    static const struct {
        const char *pickle, *message;
    } bad[] = {
        {"].", "ind.small.graph: contains a list: expected a dict"},
        {"}I0\nI1\ns.", "the neighbours of node 0 are an integer: expected a list"},
        {"}S'0'\n]s.", "a key of the graph is bytes: expected a node number"},
        {"}I0\n]Nas.", "a neighbour in the graph is None"},
        {"}I0\n]F1.5\nas.", "a neighbour in the graph is a float"},
        {"cos\nsystem\n(S'true'\ntR.", "ind.small.graph: byte 0: global os.system is not allowed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s = small_set();
        s->size[GRAPH] = 0;
        put_text(s, GRAPH, bad[i].pickle);
        refuses(s, CONSM_EFORMAT, bad[i].message);
    }
}

/* One list of 400 neighbours under every key: a small file must not become a large graph. */
static void lists_that_are_used_again(void **state)
{
    (void)state;
    struct set *s = small_set();
    s->size[GRAPH] = 0;
    put_text(s, GRAPH, "(dp0\nI0\n(lp1\n");
    for (int i = 0; i < 400; i++)
        put_text(s, GRAPH, "I1\na");
    put_text(s, GRAPH, "s");
    for (int key = 1; key < 7; key++) {
        char entry[32];
        snprintf(entry, sizeof entry, "I%d\ng1\ns", key);
        put_text(s, GRAPH, entry);
    }
    put_text(s, GRAPH, ".");
    refuses(s, CONSM_EFORMAT, "list belongs to several nodes");
}

/* Every file cut at every byte fails, except for the last line end of test.index. */
static void truncations(void **state)
{
    (void)state;
    for (int file = 0; file < PLANETOID_FILES; file++) {
        struct set *s = small_set();
        size_t whole = s->size[file];
        for (s->size[file] = 0; s->size[file] + 1 < whole; s->size[file]++)
            refuses(s, CONSM_EFORMAT, "ind.small.");
    }
}

static void write_set(const struct set *s, const char *name, int leave_out)
{
    for (int i = 0; i < PLANETOID_FILES; i++) {
        char path[128];
        struct file_writer *w;
        snprintf(path, sizeof path, "%s/ind.%s.%s", folder, name, ending[i]);
        unlink(path);
        if (i == leave_out)
            continue;
        OK(file_create(&w, path));
        OK(file_write(w, s->bytes[i], s->size[i]));
        OK(file_commit(w));
        file_close(w);
    }
}

static void files_on_disk(void **state)
{
    (void)state;
    struct dataset *d, *again;
    write_set(small_set(), "small", -1);
    OK(planetoid_load(&d, folder, "small"));
    OK(read_set(&again, small_set()));
    assert_string_equal(d->name, "small");
    assert_string_equal(d->sha256, again->sha256);
    assert_int_equal(d->nodes, 7);
    dataset_free(d);
    dataset_free(again);
    for (int i = 0; i < PLANETOID_FILES; i++) {
        char message[64], path[128];
        write_set(small_set(), "small", i);
        snprintf(message, sizeof message, "/ind.small.%s: cannot open: No such file", ending[i]);
        FAILS(planetoid_load(&d, folder, "small"), CONSM_EIO, message);
        if (geteuid() != 0) {
            write_set(small_set(), "small", -1);
            snprintf(path, sizeof path, "%s/ind.small.%s", folder, ending[i]);
            chmod(path, 0);
            FAILS(planetoid_load(&d, folder, "small"), CONSM_EIO, "Permission denied");
            chmod(path, 0600);
        }
    }
    struct set *s = small_set();
    s->size[ALLX] = 0;
    write_set(s, "small", -1);
    FAILS(planetoid_load(&d, folder, "small"), CONSM_EFORMAT, "ind.small.allx: the file is empty");
    char name[400];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    FAILS(planetoid_load(&d, folder, name), CONSM_EINVAL, "the dataset name is too long");
    FAILS(planetoid_load(&d, "/no/such/folder", "cora"), CONSM_EIO, "ind.cora.x: cannot open");
}

static int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < PLANETOID_FILES; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/ind.small.%s", folder, ending[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_figures),   cmocka_unit_test(small_figures),
        cmocka_unit_test(bad_test_index), cmocka_unit_test(bad_shapes),
        cmocka_unit_test(bad_graphs),     cmocka_unit_test(lists_that_are_used_again),
        cmocka_unit_test(truncations),    cmocka_unit_test(files_on_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
