/* False, truncated, corrupted archives and zip bombs: a one-line message each, nothing left behind.
 */
#include "npz_parts.h"

#include <math.h>
#include <sys/stat.h>

static void refuses(const struct part *base, const struct part *change, consm_status code,
                    const char *message)
{
    struct dataset *d;
    write_parts(base, change, false);
    FAILS(npz_load(&d, path), code, message);
    assert_null(d);
    assert_non_null(strstr(consm_errmsg(), "a.npz"));
}

static void bad_yandex(void **state)
{
    (void)state;
    const struct {
        struct part change[3];
        consm_status code;
        const char *message;
    } bad[] = {
        {{WITHOUT("edges"), END_PART},
         CONSM_EFORMAT,
         "no array edges or adj_indptr: the archive contains node_feat"},
        {{WITHOUT("node_labels"), WITHOUT("node_features"), END_PART},
         CONSM_EFORMAT,
         "expected node_labels or node_features"},
        {{WITHOUT("node_labels"),
          {"node_features", "<f4", 2, INT64_C(1) << 60, 0, "", 0},
          END_PART},
         CONSM_EFORMAT,
         "expected node_labels or node_features"},
        {{PART("node_labels", "<i8", 1, 3, 1, int64_t, 0, 1, 2), END_PART},
         CONSM_EFORMAT,
         "node_features.npy: the array has shape (4, 3): expected (3, any)"},
        {{PART("node_labels", "<i8", 2, 2, 2, int64_t, 0, 1, 2, 3), END_PART},
         CONSM_EFORMAT,
         "node_labels.npy: the array has shape (2, 2): expected (any)"},
        {{PART("node_labels", "<i8", 1, 4, 1, int64_t, 0, 1, 2, -2), END_PART},
         CONSM_EFORMAT,
         "node_labels.npy: element 3 is -2: expected -1 to"},
        {{PART("node_labels", "<i8", 1, 4, 1, int64_t, 0, 1, 2, 1 << 30), END_PART},
         CONSM_EFORMAT,
         "node_labels.npy: element 3 is 1073741824"},
        {{PART("node_labels", "<f4", 1, 4, 1, float, 0, 1, 2, NAN), END_PART},
         CONSM_EFORMAT,
         "node_labels.npy: element 3 is nan"},
        {{PART("node_ids", "|S1", 1, 4, 1, char, 'a', 'b', '\xff', 'd'), END_PART},
         CONSM_EFORMAT,
         "the id of node 2 is not UTF-8 text"},
        {{PART("feature_names", "|S2", 1, 3, 1, char, 'a', 0, '\xc3', 'b', 'c', 0), END_PART},
         CONSM_EFORMAT,
         "the name of feature 1 is not UTF-8 text"},
        {{PART("node_labels", "|S1", 1, 4, 1, char, 'a', 'b', 'c', 'd'), END_PART},
         CONSM_EFORMAT,
         "an array of strings: expected numbers"},
        {{PART("node_features", "|S1", 2, 4, 1, char, 'a', 'b', 'c', 'd'), END_PART},
         CONSM_EFORMAT,
         "an array of strings: expected numbers"},
        {{PART("node_features", "<f4", 2, 4, 1, float, 0, 1, NAN, 0), END_PART},
         CONSM_EFORMAT,
         "node 2, feature 0 is nan: expected a finite number"},
        {{PART("node_features", "<f8", 2, 4, 1, double, 0, 1, 2, 1e300), END_PART},
         CONSM_EFORMAT,
         "node 3, feature 0 is inf"},
        {{PART("node_features", "<f4", 1, 4, 1, float, 0, 1, 2, 3), END_PART},
         CONSM_EFORMAT,
         "shape (4): expected (4, any)"},
        {{PART("edges", "<i8", 2, 1, 2, int64_t, 0, 4), END_PART},
         CONSM_EFORMAT,
         "edges.npy: element 1 is 4: expected 0 to 3"},
        {{PART("edges", "<i8", 2, 1, 2, int64_t, -1, 0), END_PART},
         CONSM_EFORMAT,
         "edges.npy: element 0 is -1"},
        {{PART("edges", "<i8", 2, 2, 3, int64_t, 0, 1, 2, 3, 0, 1), END_PART},
         CONSM_EFORMAT,
         "edges.npy: the array has shape (2, 3): expected (any, 2)"},
        {{PART("edges", "<i8", 2, INT64_C(1) << 60, 2, int64_t, 0, 1), END_PART},
         CONSM_EFORMAT,
         "1152921504606846976 x 2"},
        {{PART("edge_weights", "<f4", 1, 2, 1, float, 1, 1), END_PART},
         CONSM_EFORMAT,
         "edge_weights.npy: the array has shape (2): expected (3)"},
        {{PART("edge_weights", "<f4", 1, 3, 1, float, 1, NAN, 1), END_PART},
         CONSM_EFORMAT,
         "edge 1 has weight nan"},
        {{PART("test_masks", "|b1", 2, 2, 4, uint8_t, 1, 0, 0, 0, 0, 0, 0, 1), END_PART},
         CONSM_EFORMAT,
         "split 0: node 0 is in two masks"},
        {{PART("test_masks", "|b1", 2, 1, 4, uint8_t, 1, 0, 0, 0), END_PART},
         CONSM_EFORMAT,
         "shape (1, 4): expected (2, 4)"},
        {{PART("test_masks", "|b1", 1, 4, 1, uint8_t, 1, 0, 0, 0), END_PART},
         CONSM_EFORMAT,
         "shape (4): expected (2, 4)"},
        {{PART("test_masks", "|u1", 2, 2, 4, uint8_t, 0, 0, 7, 0, 0, 0, 0, 1), END_PART},
         CONSM_EFORMAT,
         "test_masks.npy: element 2 is 7: expected 0 to 1"},
        {{PART("class_names", "|S1", 1, 2, 1, char, 'a', 'b'), END_PART},
         CONSM_EFORMAT,
         "node_labels.npy: element 1 is 2: expected -1 to 1"},
        {{PART("node_ids", "|S1", 1, 2, 1, char, 'a', 'b'), END_PART},
         CONSM_EFORMAT,
         "node_ids.npy: the array has shape (2): expected (4)"},
        {{PART("node_ids", "|S1", 1, 4, 1, char, 'a', 'b', 'c', 'b'), END_PART},
         CONSM_EFORMAT,
         "node_ids: elements 1 and 3 are both \"b\""},
        {{PART("num_classes", "<i8", 0, 1, 1, int64_t, 1 << 30), END_PART},
         CONSM_EFORMAT,
         "1073741824 classes are too many for 4 nodes"},
        {{PART("num_classes", "<i8", 0, 1, 1, int64_t, -3), END_PART}, CONSM_EFORMAT, "is -3"},
        {{PART("directed", "<i8", 0, 1, 1, int64_t, 2), END_PART}, CONSM_EFORMAT, "is 2"},
        {{PART("feature_names_ends", "<i8", 1, 3, 1, int64_t, 1, 2, 3),
          PART("feature_names_utf8", "|u1", 1, 2, 1, char, 'a', 'b'), END_PART},
         CONSM_EFORMAT,
         "element 2 is 3: expected 0 to 2"},
        {{PART("feature_names_ends", "<i8", 1, 3, 1, int64_t, 2, 1, 2),
          PART("feature_names_utf8", "|u1", 1, 2, 1, char, 'a', 'b'), END_PART},
         CONSM_EFORMAT,
         "element 1: the string has no end"},
        {{PART("feature_names_ends", "<i8", 1, 3, 1, int64_t, 2, 2, 2), END_PART},
         CONSM_EFORMAT,
         "no array feature_names_utf8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(yandex, bad[i].change, bad[i].code, bad[i].message);
}

static void bad_scipy(void **state)
{
    (void)state;
    const struct {
        struct part change[2];
        consm_status code;
        const char *message;
    } bad[] = {
        {{WITHOUT("adj_data"), END_PART}, CONSM_EFORMAT, "no array adj_data"},
        {{PART("adj_shape", "<i8", 1, 2, 1, int64_t, 3, 4), END_PART},
         CONSM_EFORMAT,
         "3 x 4: expected a square matrix"},
        {{PART("adj_shape", "<i8", 1, 2, 1, int64_t, INT64_C(1) << 60, 3), END_PART},
         CONSM_EFORMAT,
         "adj_shape.npy: element 0 is 1152921504606846976"},
        {{PART("adj_shape", "<i8", 1, 2, 1, int64_t, 2000000000, 2000000000), END_PART},
         CONSM_EFORMAT,
         "adj_indptr.npy: the array has shape (4): expected (2000000001)"},
        {{PART("adj_shape", "<i8", 1, 3, 1, int64_t, 3, 3, 3), END_PART},
         CONSM_EFORMAT,
         "shape (3): expected (2)"},
        {{PART("adj_indptr", "<i4", 1, 4, 1, int32_t, 0, 3, 1, 4), END_PART},
         CONSM_EFORMAT,
         "adj_indptr.npy: element 2 is 1: expected at least 3, the element before it"},
        {{PART("adj_indptr", "<i4", 1, 4, 1, int32_t, 1, 1, 1, 4), END_PART},
         CONSM_EFORMAT,
         "element 0 is 1: expected 0"},
        {{PART("adj_indptr", "<i4", 1, 4, 1, int32_t, 0, 1, 3, 5), END_PART},
         CONSM_EFORMAT,
         "element 3 is 5: expected 0 to 4"},
        {{PART("adj_indices", "<i4", 1, 4, 1, int32_t, 1, 2, 3, 1), END_PART},
         CONSM_EFORMAT,
         "adj_indices.npy: element 2 is 3: expected 0 to 2"},
        {{PART("adj_data", "<f4", 1, 3, 1, float, 1, 1, 1), END_PART},
         CONSM_EFORMAT,
         "adj_data.npy: the array has shape (3): expected (4)"},
        {{PART("adj_data", "<f4", 1, 4, 1, float, 1, 1, INFINITY, 1), END_PART},
         CONSM_EFORMAT,
         "edge 2 has weight inf"},
        {{PART("attr_shape", "<i8", 1, 2, 1, int64_t, 4, 5), END_PART},
         CONSM_EFORMAT,
         "attr_shape.npy: element 0 is 4: expected 3, the number of nodes"},
        {{PART("attr_shape", "<i8", 1, 2, 1, int64_t, 3, 2000000000), END_PART},
         CONSM_ELIMIT,
         "2000000000 columns are too many for 4 entries"},
        {{PART("attr_data", "<f8", 1, 4, 1, double, 1, NAN, 3, 4), END_PART},
         CONSM_EFORMAT,
         "node 1, feature 3 is nan"},
        {{PART("labels", "|u1", 1, 2, 1, uint8_t, 0, 1), END_PART},
         CONSM_EFORMAT,
         "labels.npy: the array has shape (2): expected (3)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(scipy, bad[i].change, bad[i].code, bad[i].message);
}

static void bad_files(void **state)
{
    (void)state;
    struct dataset *d;
    struct file_writer *w;
    FAILS(npz_load(&d, "/no/such.npz"), CONSM_EIO, "/no/such.npz: cannot open");
    FAILS(npz_load(&d, folder), CONSM_EIO, "is a folder");
    OK(file_create(&w, path));
    OK(file_commit(w));
    file_close(w);
    FAILS(npz_load(&d, path), CONSM_EFORMAT, "a.npz: byte 0: the file is empty");
    if (geteuid() != 0) {
        chmod(path, 0);
        FAILS(npz_load(&d, path), CONSM_EIO, "cannot open: Permission denied");
    }
    OK(file_create(&w, path));
    OK(file_printf(w, "id,label\na,1\nb,2\nthis is no archive\n"));
    OK(file_commit(w));
    file_close(w);
    FAILS(npz_load(&d, path), CONSM_EFORMAT, "not a zip archive");
    FAILS(npz_read_split(NULL, 1, path), CONSM_EFORMAT, "not a zip archive");
    /* Members that are not arrays. */
    struct zip_writer *z;
    OK(zip_create(&z, path));
    OK(zip_begin(z, "edges.npy", true));
    OK(zip_end(z));
    OK(zip_begin(z, "node_features.npy", true));
    OK(zip_end(z));
    OK(zip_commit(z));
    zip_close(z);
    FAILS(npz_load(&d, path), CONSM_EFORMAT, "node_features.npy: the member is empty");
}

/* 40 million labels, or strings, out of a few kilobytes. */
static void bombs(void **state)
{
    (void)state;
    struct dataset *d;
    uint8_t *zeros = mem_zalloc(40 << 20, 1);
    const struct part labels[] = {{"node_labels", "|i1", 1, 40 << 20, 1, zeros, 40 << 20},
                                  WITHOUT("node_features"),
                                  END_PART};
    write_parts(yandex, labels, true);
    FAILS(npz_load(&d, path), CONSM_ELIMIT, "node_labels.npy would inflate from");
    const struct part ids[] = {{"class_names", "|S1", 1, 4 << 20, 1, zeros, 4 << 20}, END_PART};
    write_parts(yandex, ids, true);
    FAILS(npz_load(&d, path), CONSM_ELIMIT, "4194304 strings are too many for");
    mem_free(zeros);
}

static consm_status load_memory(const uint8_t *bytes, size_t size)
{
    struct npz_archive archive;
    struct dataset *d = NULL;
    consm_status st = npz_open_memory(&archive, "m.npz", bytes, size);
    if (st >= 0)
        st = npz_load_archive(&d, &archive, "m.npz");
    dataset_free(d);
    npz_close(&archive);
    return st;
}

static void truncated_and_corrupted(void **state)
{
    (void)state;
    static const struct part *const layout[] = {yandex, scipy};
    for (int which = 0; which < 2; which++) {
        struct file_map map;
        write_parts(layout[which], NULL, which == 0);
        OK(file_map(&map, path));
        OK(load_memory(map.data, map.size));
        for (size_t size = 0; size < map.size; size++) {
            uint8_t *cut = malloc(size ? size : 1);
            memcpy(cut, map.data, size);
            assert_int_equal(load_memory(cut, size), CONSM_EFORMAT);
            free(cut);
        }
        uint8_t *copy = malloc(map.size);
        memcpy(copy, map.data, map.size);
        for (size_t at = 0; at < map.size; at++) {
            copy[at] ^= 0x5a;
            load_memory(copy, map.size);
            copy[at] ^= 0x5a;
        }
        free(copy);
        file_unmap(&map);
    }
}

/* Weights that are 1 or less are weights all the same. */
static void weights_below_one(void **state)
{
    (void)state;
    struct dataset *d;
    for (int ones = 0; ones < 2; ones++) {
        const struct part coo[] = {PART("row", "<i4", 1, 3, 1, int32_t, 0, 1, 2),
                                   PART("col", "<i4", 1, 3, 1, int32_t, 1, 2, 0),
                                   PART("data", "<f4", 1, 3, 1, float, 1, ones ? 1 : 0.25f, 1),
                                   PART("shape", "<i8", 1, 2, 1, int64_t, 3, 3),
                                   PART("format", "|S3", 1, 1, 1, char, 'c', 'o', 'o'),
                                   END_PART};
        write_parts(coo, NULL, false);
        OK(npz_load(&d, path));
        assert_true(ones ? !d->weight : d->weight && d->weight[1] == 0.25f && d->weight[0] == 1);
        dataset_free(d);
    }
}

/* Three edges do not make sixteen million nodes: computing over so many nodes would take more
 * memory than expected of such a file. */
static void few_bytes_many_nodes(void **state)
{
    (void)state;
    struct dataset *d;
    const struct part edges[] = {
        PART("edge_index", "<i8", 2, 2, 3, int64_t, 0, 1, 2, 1, 2, 16777000), END_PART};
    const struct part coo[] = {
        PART("row", "<i4", 1, 2, 1, int32_t, 0, 1), PART("col", "<i4", 1, 2, 1, int32_t, 1, 0),
        PART("data", "<f4", 1, 2, 1, float, 1, 1),
        PART("shape", "<i8", 1, 2, 1, int64_t, 16777000, 16777000), END_PART};
    const struct part some[] = {PART("edge_index", "<i8", 2, 2, 3, int64_t, 0, 1, 2, 1, 2, 999999),
                                END_PART};
    write_parts(edges, NULL, false);
    FAILS(npz_load(&d, path), CONSM_ELIMIT, "node number 16777000 is too large for 3 edges");
    write_parts(coo, NULL, false);
    assert_true(npz_load(&d, path) < 0);
    write_parts(some, NULL, false);
    OK(npz_load(&d, path));
    assert_int_equal(d->nodes, 1000000);
    dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_yandex),
        cmocka_unit_test(bad_scipy),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(bombs),
        cmocka_unit_test(weights_below_one),
        cmocka_unit_test(few_bytes_many_nodes),
        cmocka_unit_test(truncated_and_corrupted),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
