/* Memory limits of files: for every reader, files with large claims and damaged copies of good
 * ones, read with a counting allocator. The peak stays within FILE_MAY_HAVE and FILE_MAY_BECOME
 * bytes per byte of the files, FILE_UNPACKED_MAY_BECOME per unpacked one. */
#include "check.h"

#include "base/rng.h"
#include "data/generate/generate.h"
#include "data/load.h"
#include "data/readers/parts.h"
#include "data/readers/planetoid.h"
#include "data/readers/safetensors.h"
#include "io/npy.h"
#include "io/zip.h"
#include "reseal.h"
#include "study/graph_file.h"
#include "study/runs.h"
#include "study/search.h"

#include <jansson.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- counting --------------------------------------------------------------- */

static atomic_size_t held, most;

enum { FRONT = 64 }; /* the size stands before the block */

static void *count_in(char *block, size_t bytes)
{
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    size_t now = atomic_fetch_add(&held, bytes) + bytes, before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {
    }
    return block + FRONT;
}

static void count_out(void *block)
{
    size_t bytes;
    if (!block)
        return;
    memcpy(&bytes, (char *)block - FRONT, sizeof bytes);
    atomic_fetch_sub(&held, bytes);
    free((char *)block - FRONT);
}

static void *take(void *ctx, size_t bytes)
{
    (void)ctx;
    return count_in(aligned_alloc(64, FRONT + bytes), bytes);
}

static void give(void *ctx, void *block)
{
    (void)ctx;
    count_out(block);
}

static void *take_json(size_t bytes)
{
    return count_in(malloc(FRONT + bytes), bytes);
}

/* ---- files ------------------------------------------------------------------ */

static char folder[] = "/tmp/consm-bounds-XXXXXX";

static const char *place(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static size_t put(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(place(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    return size;
}

static size_t put_text(const char *name, const char *text)
{
    return put(name, text, strlen(text));
}

static uint8_t *seed(size_t *size, const char *name)
{
    char path[512];
    struct file_map map;
    snprintf(path, sizeof path, TESTS_DIR "/fuzz/corpus/%s", name);
    OK(file_map(&map, path));
    uint8_t *copy = malloc(map.size + 1);
    memcpy(copy, map.data, map.size);
    *size = map.size;
    file_unmap(&map);
    return copy;
}

/* ---- every way to read a file ------------------------------------------------ */

enum {
    PLAIN,
    EDGES,
    MTX,
    NPZ,
    SAFETENSORS,
    GEOM,
    PLANETOID,
    GRAPHML,
    GEXF,
    GML,
    JSON,
    PAJEK,
    ADJLIST,
    PARTS,
    MODEL,
    RUNS,
    GRAPH,
    SPACE,
    KINDS
};
static const char *const format[] = {"plain",    "edges",     "mtx",     "npz",  "safetensors",
                                     "geom-gcn", "planetoid", "graphml", "gexf", "gml",
                                     "json",     "pajek",     "adjlist", "parts"};
static bool tried[KINDS];

static consm_status read_kind(int kind, const char *path)
{
    struct dataset *d = NULL;
    struct consm_model *m = NULL;
    struct runs *runs = NULL;
    struct graph_file *graph = NULL;
    json_t *space = NULL;
    consm_status st;
    tried[kind] = true;
    switch (kind) {
    case MODEL:
        st = consm_model_load(&m, path);
        consm_model_free(m);
        return st;
    case RUNS:
        st = runs_open(&runs, path, RUNS_READ);
        runs_close(runs);
        return st;
    case GRAPH:
        st = graph_file_read(&graph, path);
        graph_file_free(graph);
        return st;
    case SPACE:
        st = search_read(&space, path);
        json_decref(space);
        return st;
    default:
        st = data_load_path(&d, path, format[kind]);
        dataset_free(d);
        return st;
    }
}

/* Reads, and compares the peak memory with the limit; size and unpacked are those of its files. */
static consm_status read_bounded(int kind, const char *path, size_t size, size_t unpacked)
{
    static const struct consm_allocator counting = {take, give, NULL};
    const size_t bound =
        FILE_MAY_HAVE + size * FILE_MAY_BECOME + unpacked * FILE_UNPACKED_MAY_BECOME;
    atomic_store(&held, 0);
    atomic_store(&most, 0);
    consm_set_allocator(&counting);
    json_set_alloc_funcs(take_json, count_out);
    consm_status st = read_kind(kind, path);
    json_set_alloc_funcs(malloc, free);
    consm_set_allocator(NULL);
    if (atomic_load(&most) > bound)
        fail_msg("%s: %zu bytes from a file of %zu: at most %zu", path, atomic_load(&most), size,
                 bound);
    assert_int_equal(atomic_load(&held), 0);
    return st;
}

/* ---- files that promise much -------------------------------------------------- */

static void text_that_promises(void **state)
{
    (void)state;
    size_t size = put_text("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n"
                                    "16777216 16777216 1\n2 1\n");
    FAILS(read_bounded(MTX, place("a.mtx"), size, 0), CONSM_EFORMAT, "expected fewer nodes");
    size = put_text("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n"
                             "4000000000 4000000000 1\n2 1\n");
    assert_int_not_equal(read_bounded(MTX, place("a.mtx"), size, 0), CONSM_OK);
    size = put_text("a.txt", "0 1\n1 16777215\n2 2147483646\n");
    (void)read_bounded(EDGES, place("a.txt"), size, 0);
    assert_int_equal(mkdir(place("plain"), 0777), 0);
    size = put_text("plain/edges.csv", "source,target\n0,1\n0,16777215\n");
    size += put_text("plain/features.svm", "16777216:1\n1:1\n");
    (void)read_bounded(PLAIN, place("plain"), size, 0);
    assert_int_equal(mkdir(place("geom"), 0777), 0);
    size = put_text("geom/out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t16777215\n");
    size += put_text("geom/out1_node_feature_label.txt",
                     "node_id\tfeature\tlabel\n0\t16777215\t0\n1\t16777214\t16777215\n");
    (void)read_bounded(GEOM, place("geom"), size, 0);
}

/* 20,000 keys, one list: once 4.6 GB from 120 KB. */
static void a_list_under_many_keys(void **state)
{
    (void)state;
    static const char *const ending[] = {"x",  "tx",   "allx",  "y",
                                         "ty", "ally", "graph", "test.index"};
    enum { KEYS = 20000, LONG = 30000 };
    size_t whole, size = 0;
    uint8_t *small = seed(&whole, "planetoid/small"), *at = small;
    uint8_t *bomb = malloc(100 + 2 * LONG + 5 * KEYS), *end = bomb;
    assert_int_equal(mkdir(place("planetoid"), 0777), 0);
    end = (uint8_t *)mempcpy(end, "\x80\x02}(K\x00]q\x00(", 10);
    for (int i = 0; i < LONG; i++)
        end = (uint8_t *)mempcpy(end, "K\x01", 2);
    *end++ = 'e';
    for (int i = 1; i < KEYS; i++) {
        const uint8_t key[] = {'M', (uint8_t)i, (uint8_t)(i >> 8), 'h', 0};
        end = (uint8_t *)mempcpy(end, key, sizeof key);
    }
    end = (uint8_t *)mempcpy(end, "u.", 2);
    for (int i = 0; i < PLANETOID_FILES; i++) {
        char name[64];
        size_t length = at[0] | (size_t)at[1] << 8;
        snprintf(name, sizeof name, "planetoid/ind.s.%s", ending[i]);
        size += strcmp(ending[i], "graph") == 0 ? put(name, bomb, (size_t)(end - bomb))
                                                : put(name, at + 4, length);
        at += 4 + length;
    }
    FAILS(read_bounded(PLANETOID, place("planetoid/ind.s.graph"), size, 0), CONSM_EFORMAT,
          "too many for a file of");
    free(bomb);
    free(small);
}

static void put_array(struct zip_writer *w, const char *name, const char *type, int64_t rows,
                      int64_t cols, const void *data, size_t bytes)
{
    char header[NPY_HEADER_BYTES];
    const int64_t shape[] = {rows, cols};
    OK(zip_begin(w, name, true));
    OK(zip_put(w, header, npy_write_header(header, type, cols ? 2 : 1, shape)));
    OK(zip_put(w, data, bytes));
    OK(zip_end(w));
}

/* Zeros compress a thousandfold: 30 MB of features in 30 KB. */
static void zeros_that_unpack(void **state)
{
    (void)state;
    enum { NODES = 1000, FEATURES = 30000 };
    static const int32_t edge[] = {0, 1, 1, 2};
    static uint8_t zeros[NODES * FEATURES];
    static int32_t labels[NODES];
    struct zip_writer *w;
    struct stat info;
    OK(zip_create(&w, place("a.npz")));
    put_array(w, "edges.npy", "<i4", 2, 2, edge, sizeof edge);
    put_array(w, "node_labels.npy", "<i4", NODES, 0, labels, sizeof labels);
    put_array(w, "node_features.npy", "|u1", NODES, FEATURES, zeros, sizeof zeros);
    OK(zip_commit(w));
    zip_close(w);
    assert_int_equal(stat(place("a.npz"), &info), 0);
    assert_true(info.st_size < 100000);
    OK(read_bounded(NPZ, place("a.npz"), (size_t)info.st_size, sizeof zeros + sizeof labels));
}

/* Nested lists, which take the most memory per byte of JSON. */
static void json_that_nests(void **state)
{
    (void)state;
    enum { ITEMS = 100000 };
    char *text = malloc(4 * ITEMS + 200), *end = text;
    end += sprintf(end, "{\"key\": \"a\", \"nodes\": [");
    for (int i = 0; i < ITEMS; i++)
        end = (char *)mempcpy(end, i ? ",[]" : "[]", i ? 3 : 2);
    end += sprintf(end, "]}\n");
    size_t size = put_text("a.json", text);
    (void)read_bounded(RUNS, place("a.json"), size, 0);
    (void)read_bounded(JSON, place("a.json"), size, 0);
    (void)read_bounded(GRAPH, place("a.json"), size, 0);
    (void)read_bounded(SPACE, place("a.json"), size, 0);
    uint64_t header = (uint64_t)(end - text);
    FILE *f = fopen(place("a.safetensors"), "wb");
    assert_non_null(f);
    fwrite(&header, 8, 1, f);
    fwrite(text, 1, header, f);
    fclose(f);
    assert_int_not_equal(read_bounded(SAFETENSORS, place("a.safetensors"), size + 8, 0), CONSM_OK);
    free(text);
}

/* ---- damaged copies ------------------------------------------------------------ */

/* Changes a few bytes, digits preferably to nines. */
static void damage(struct rng *r, uint8_t *bytes, size_t size)
{
    for (uint64_t k = 1 + rng_below(r, 4); k > 0; k--) {
        size_t at = (size_t)rng_below(r, size);
        if (bytes[at] >= '0' && bytes[at] <= '9' && rng_below(r, 2))
            bytes[at] = '9';
        else
            bytes[at] = (uint8_t)rng_below(r, 256);
    }
}

static void train_model(const char *path)
{
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m;
    OK(consm_dataset_open(&d, "karate", NULL));
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "1"));
    OK(consm_options_set(o, "per_class", "4"));
    OK(consm_options_set(o, "threads", "1"));
    OK(consm_train(&m, d, o));
    OK(consm_model_save(m, path));
    OK(read_bounded(MODEL, path, 0, 0));
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
}

static void damaged_copies(void **state)
{
    (void)state;
    static const struct {
        int kind;
        const char *seed, *name;
    } file[] = {
        {GRAPHML, "../../data/formats/g.graphml", "d.graphml"},
        {GEXF, "../../data/formats/g.gexf", "d.gexf"},
        {GML, "../../data/formats/g.gml", "d.gml"},
        {JSON, "../../data/formats/g.json", "d.json"},
        {PAJEK, "../../data/formats/g.net", "d.net"},
        {ADJLIST, "../../data/formats/g.adjlist", "d.adjlist"},
        {EDGES, "csv_plain/edges", "d.txt"},
        {MTX, "matrix_market/real", "d.mtx"},
        {NPZ, "zip_npz/extras.stored", "d.npz"},
        {NPZ, "zip_npz/scipy.deflated", "d.npz"},
        {SAFETENSORS, "safetensors/sparse", "d.safetensors"},
        {SAFETENSORS, "safetensors/foreign", "d.safetensors"},
        {MODEL, NULL, "d.safetensors"},
        {RUNS, "study/runs", "d.jsonl"},
        {GRAPH, "study/graph", "d.json"},
        {SPACE, "study/space", "d.yaml"},
    };
    enum { COPIES = 60, UNPACKED = 32 << 20 };
    struct rng r;
    char model[128];
    snprintf(model, sizeof model, "%s", place("model.safetensors"));
    train_model(model);
    rng_init(&r, 16, 0);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        for (int k = 0; k < COPIES; k++) {
            size_t size = 0;
            uint8_t *bytes = file[i].seed ? seed(&size, file[i].seed) : file_bytes(model, &size);
            assert_non_null(bytes);
            damage(&r, bytes, size);
            if (!file[i].seed)
                reseal(bytes, size);
            put(file[i].name, bytes, size);
            (void)read_bounded(file[i].kind, place(file[i].name), size,
                               file[i].kind == NPZ ? UNPACKED : 0);
            free(bytes);
        }
}

/* In a folder of parts the rows are damaged; the graph beside them is a dataset by itself. */
static void damaged_rows(void **state)
{
    (void)state;
    struct dataset *d;
    struct rng r;
    size_t size = 0;
    const int64_t first[] = {0, 34};
    char path[128];
    assert_int_equal(mkdir(place("parts"), 0777), 0);
    snprintf(path, sizeof path, "%s", place("parts"));
    OK(generate_named(&d, "karate"));
    OK(safetensors_dataset_save(d, place("parts/graph.safetensors")));
    OK(parts_save(d, path, first, 1, NULL, NULL));
    dataset_free(d);
    uint8_t *good = file_bytes(place("parts/rows.safetensors"), &size);
    OK(read_bounded(PARTS, path, size, 0));
    uint8_t *bytes = malloc(size);
    rng_init(&r, 17, 0);
    for (int k = 0; k < 60; k++) {
        memcpy(bytes, good, size);
        damage(&r, bytes, size);
        reseal(bytes, size);
        put("parts/rows.safetensors", bytes, size);
        (void)read_bounded(PARTS, path, size, 0);
    }
    free(bytes);
    free(good);
}

static void every_reader_was_tried(void **state)
{
    (void)state;
    const struct reader *r;
    for (int i = 0; (r = reader_get(i)) != NULL; i++) {
        int kind = 0;
        while (kind < MODEL && strcmp(format[kind], r->name) != 0)
            kind++;
        if (kind == MODEL || !tried[kind])
            fail_msg("%s has no case here", r->name);
    }
    for (int kind = MODEL; kind < KINDS; kind++)
        assert_true(tried[kind]);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_promises),    cmocka_unit_test(a_list_under_many_keys),
        cmocka_unit_test(zeros_that_unpack),     cmocka_unit_test(json_that_nests),
        cmocka_unit_test(damaged_copies),        cmocka_unit_test(damaged_rows),
        cmocka_unit_test(every_reader_was_tried)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
