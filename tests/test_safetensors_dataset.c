/* Datasets in safetensors: mapped in place, nothing lost, and everything in the header and the
 * numbers is checked before it is used as an index. */
#include "datasets.h"

#include "data/readers/plain.h"
#include "data/readers/safetensors.h"
#include <math.h>

static struct dataset *sample(const char *features)
{
    struct dataset *d;
    static const char edges[] = "a,b,0.5\nb,c,2\nc,a,0.25\n";
    static const char nodes[] =
        "id,label,split_0,split_1\na,x,train,test\nb,,val,\nc,y,test,train\n";
    static const char about[] = "{\"name\": \"sample\", \"directed\": true}";
    OK(dataset_new(&d, "sample"));
    OK(plain_read(d, &(struct plain_files){
                         .edges = {"edges.csv", edges, sizeof edges - 1, false},
                         .nodes = {"nodes.csv", nodes, sizeof nodes - 1, false},
                         .features = {"features", features, features ? strlen(features) : 0, false},
                         .about = {"dataset.json", about, sizeof about - 1, false}}));
    return d;
}

static const char dense[] = "id,f,g\na,1,2\nb,3,4\nc,5,6\n", sparse[] = "0 1:2 5:1\n0\n0 2:3\n";

static void round_trips(void **state)
{
    (void)state;
    static const char *const features[] = {dense, sparse, NULL};
    for (int i = 0; i < 3; i++) {
        struct dataset *d = sample(features[i]), *back;
        struct csr *graph;
        const char *path = in_scratch("s.safetensors");
        OK(safetensors_dataset_save(d, path));
        OK(safetensors_dataset_load(&back, path));
        same_dataset(d, back);
        assert_string_equal(back->name, "sample");
        assert_int_equal(strlen(back->sha256), 64);
        /* In place: nothing was copied, and the edges were not read. */
        assert_non_null(back->mapping);
        assert_true(back->unchecked);
        assert_true((char *)back->from > (char *)back->mapping &&
                    (char *)back->from < (char *)back->mapping + back->mapping_bytes);
        OK(safetensors_dataset_verify(back));
        OK(dataset_graph(&graph, back, NULL));
        csr_free(graph);
        /* Saving what is mapped gives the same bytes. */
        OK(safetensors_dataset_save(back, in_scratch("t.safetensors")));
        dataset_free(back);
        OK(safetensors_dataset_load(&back, in_scratch("t.safetensors")));
        same_dataset(d, back);
        dataset_free(back);
        dataset_free(d);
    }
}

/* A file as another program writes it: I64 ends and labels, no metadata, no seal. */
static void foreign_files(void **state)
{
    (void)state;
    struct safetensors_writer *w;
    struct dataset *d;
    const int64_t ends[2][2] = {{0, 1}, {1, 2}}, y[3] = {0, 4, -1};
    const float x[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    OK(safetensors_writer_new(&w));
    OK(safetensors_declare(w, "edge_index", SAFETENSORS_I64, 2, (int64_t[]){2, 2}));
    OK(safetensors_declare(w, "y", SAFETENSORS_I64, 1, (int64_t[]){3}));
    OK(safetensors_declare(w, "x", SAFETENSORS_F32, 2, (int64_t[]){3, 2}));
    OK(safetensors_begin(w, in_scratch("f.safetensors"), false));
    OK(safetensors_write(w, ends, sizeof ends));
    OK(safetensors_write(w, y, sizeof y));
    OK(safetensors_write(w, x, sizeof x));
    OK(safetensors_commit(w));
    safetensors_writer_free(w);
    OK(safetensors_dataset_load(&d, in_scratch("f.safetensors")));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->classes, 5);
    assert_int_equal(d->label[1], 4);
    assert_int_equal(d->to[1], 2);
    assert_true(d->dense[5] == 6);
    assert_null(d->mapping);
    assert_false(d->unchecked);
    assert_int_equal(strlen(d->sha256), 64);
    dataset_free(d);
}

/* ---- bad input ----------------------------------------------------------- */

/* A hostile file: each field replaces one part of a valid small dataset. */
struct forgery {
    const char *nodes, *features, *classes;
    int32_t end;              /* of the last edge */
    float weight, value;      /* of the last edge; of the last feature */
    int64_t start1, start3;   /* row starts of the sparse features */
    int32_t col1, label, ids; /* second column; last label; bytes of ids */
    uint8_t role;
    bool no_edges, wide_edges, wide_y, wrong_x, short_split;
    int bad_ids; /* 1: no UTF-8; 2: one twice */
};

static const struct forgery sound = {"3", "4", "2", 2, 1, 1, 2, 3, 3, 1, 6, 1, 0, 0, 0, 0, 0, 0};

/* Writes it, sealed. */
static const char *forge(const struct forgery *f)
{
    struct safetensors_writer *w;
    const int64_t start[4] = {0, f->start1, 2, f->start3};
    const int32_t ends[2][2] = {{0, 1}, {1, f->end}}, col[3] = {0, f->col1, 1},
                  y[3] = {0, 1, f->label};
    const float weight[2] = {1, f->weight}, value[3] = {1, 2, f->value};
    const uint8_t role[3] = {1, 2, f->role};
    const char *ids = f->bad_ids == 1 ? "a\0\xff\0c" : f->bad_ids ? "a\0b\0a" : "a\0b\0c";
    OK(safetensors_writer_new(&w));
    OK(safetensors_note(w, "nodes", f->nodes));
    OK(safetensors_note(w, "features", f->features));
    OK(safetensors_note(w, "classes", f->classes));
    OK(safetensors_declare(w, "x.indptr", SAFETENSORS_I64, 1, (int64_t[]){4}));
    OK(safetensors_declare(w, f->no_edges ? "weights" : "edge_index", SAFETENSORS_I32,
                           f->wide_edges ? 1 : 2,
                           f->wide_edges ? (int64_t[]){4} : (int64_t[]){2, 2}));
    OK(safetensors_declare(w, "x.indices", SAFETENSORS_I32, 1, (int64_t[]){3}));
    OK(safetensors_declare(w, "y", SAFETENSORS_I32, f->wide_y ? 2 : 1, (int64_t[]){3, 1}));
    OK(safetensors_declare(w, "edge_weight", SAFETENSORS_F32, 1, (int64_t[]){2}));
    OK(safetensors_declare(w, "x.values", f->wrong_x ? SAFETENSORS_I32 : SAFETENSORS_F32, 1,
                           (int64_t[]){3}));
    OK(safetensors_declare(w, "split", SAFETENSORS_U8, 2,
                           f->short_split ? (int64_t[]){3, 1} : (int64_t[]){1, 3}));
    OK(safetensors_declare(w, "node_id", SAFETENSORS_U8, 1, (int64_t[]){f->ids}));
    OK(safetensors_begin(w, in_scratch("forged.safetensors"), true));
    OK(safetensors_write(w, start, sizeof start));
    OK(safetensors_write(w, ends, sizeof ends));
    OK(safetensors_write(w, col, sizeof col));
    OK(safetensors_write(w, y, sizeof y));
    OK(safetensors_write(w, weight, sizeof weight));
    OK(safetensors_write(w, value, sizeof value));
    OK(safetensors_write(w, role, sizeof role));
    OK(safetensors_write(w, ids, (size_t)f->ids));
    OK(safetensors_commit(w));
    safetensors_writer_free(w);
    return in_scratch("forged.safetensors");
}

#define FORGED(text, ...)                                                    \
    do {                                                                     \
        struct forgery f = sound;                                            \
        __VA_ARGS__;                                                         \
        FAILS(safetensors_dataset_load(&d, forge(&f)), CONSM_EFORMAT, text); \
        assert_null(d);                                                      \
    } while (0)

static void forged_parts(void **state)
{
    (void)state;
    struct dataset *d;
    OK(safetensors_dataset_load(&d, forge(&sound)));
    dataset_free(d);
    FORGED("no tensor \"edge_index\": expected a dataset", f.no_edges = true);
    FORGED("\"edge_index\" is I32 [4]: expected I32 or I64 [2, edges]", f.wide_edges = true);
    FORGED("\"y\" is I32 [3, 1]: expected I32 or I64 [nodes]", f.wide_y = true);
    FORGED("\"nodes\" in the metadata is \"1152921504606846976\"", f.nodes = "1152921504606846976");
    FORGED("\"nodes\" in the metadata is \"-1\"", f.nodes = "-1");
    FORGED("\"x.indptr\" is I64 [4]: expected I64 [nodes + 1]", f.nodes = "4");
    FORGED("\"features\" in the metadata is \"many\"", f.features = "many");
    FORGED("node 0 has feature 3: expected 0 to 1", f.features = "2");
    FORGED("\"classes\" in the metadata", f.classes = "99999999999");
    FORGED("node 1 has label 1: expected 0 to 0", f.classes = "1");
    FORGED("node 2 has label 9", f.label = 9);
    FORGED("node 2 has label -2", f.label = -2);
    FORGED("gives node 2 the role 9", f.role = 9);
    FORGED("\"split\" is U8 [3, 1]: expected U8 [splits, nodes]", f.short_split = true);
    FORGED("ascending row starts", f.start1 = 3);
    FORGED("ascending row starts", f.start1 = -1);
    FORGED("ascending row starts", f.start1 = INT64_MAX);
    FORGED("row starts from 0 to the number of entries", f.start3 = 4);
    FORGED("ascending columns", f.col1 = 0);
    FORGED("has feature 2000000000", f.col1 = 2000000000);
    FORGED("feature 1 is nan", f.value = NAN);
    FORGED("\"x.values\" is I32 [3]: expected F32 [entries]", f.wrong_x = true);
    FORGED("\"node_id\": expected 3 UTF-8 texts", f.ids = 5);
    FORGED("\"node_id\": expected 3 UTF-8 texts", f.bad_ids = 1);
    FORGED("texts 0 and 2 are both \"a\"", f.bad_ids = 2);
}

/* Edges are not checked when the file is opened, but before they are used. */
static void forged_edges(void **state)
{
    (void)state;
    struct forgery f = sound;
    struct dataset *d;
    struct csr *graph;
    for (int fault = 0; fault < 3; fault++) {
        f = sound;
        f.end = fault == 0 ? 3 : fault == 1 ? -5 : 2;
        f.weight = fault == 2 ? INFINITY : 1;
        const char *expected = fault == 2 ? "weight inf" : "edge 1 joins nodes 1 and";
        OK(safetensors_dataset_load(&d, forge(&f)));
        FAILS(dataset_graph(&graph, d, NULL), CONSM_EFORMAT, expected);
        FAILS(safetensors_dataset_verify(d), CONSM_EFORMAT, expected);
        FAILS(plain_save(d, in_scratch("never")), CONSM_EFORMAT, expected);
        FAILS(safetensors_dataset_save(d, in_scratch("never")), CONSM_EFORMAT, expected);
        assert_int_equal(file_kind(in_scratch("never")), FILE_MISSING);
        dataset_free(d);
    }
}

/* Truncated or changed anywhere, the file is refused, or valid, or detected by its seal. */
static void cut_and_changed(void **state)
{
    (void)state;
    struct file_map map;
    struct dataset *d = sample(sparse);
    OK(safetensors_dataset_save(d, in_scratch("c.safetensors")));
    dataset_free(d);
    OK(file_map(&map, in_scratch("c.safetensors")));
    uint8_t *copy = mem_alloc(map.size, 1);
    memcpy(copy, map.data, map.size);
    for (size_t cut = 0; cut < map.size; cut++)
        FAILS(safetensors_dataset_read(&d, "cut", copy, cut), CONSM_EFORMAT, "cut: ");
    for (size_t i = 0; i < map.size; i++) {
        copy[i] ^= 0x40;
        safetensors_dataset_read(&d, "changed", copy, map.size);
        dataset_free(d);
        copy[i] ^= 0x40;
    }
    copy[map.size - 64 - 40] ^= 1; /* in the ids: nothing but the seal can tell */
    write_bytes("d.safetensors", copy, map.size);
    if (safetensors_dataset_load(&d, in_scratch("d.safetensors")) == CONSM_OK) {
        FAILS(safetensors_dataset_verify(d), CONSM_EFORMAT, "the stored checksum is");
        dataset_free(d);
    }
    mem_free(copy);
    file_unmap(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),     cmocka_unit_test(foreign_files),
        cmocka_unit_test(forged_parts),    cmocka_unit_test(forged_edges),
        cmocka_unit_test(cut_and_changed),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
