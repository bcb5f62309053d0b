/* Geom-GCN text: both feature styles, ids in any order, and the film set with its known figures. */
#include "datasets.h"

#include "data/readers/geom_gcn.h"

static const char header[] = "node_id\tfeature\tlabel\n";

static consm_status read_text(struct dataset **out, const char *edges, const char *nodes)
{
    consm_status st = dataset_new(out, "set");
    if (st >= 0)
        st = geom_gcn_read(*out, &(struct text_file){"e.txt", edges, strlen(edges), false},
                           &(struct text_file){"n.txt", nodes, strlen(nodes), false});
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

static consm_status read_nodes(struct dataset **out, const char *rows)
{
    char nodes[512];
    snprintf(nodes, sizeof nodes, "%s%s", header, rows);
    return read_text(out, "node_id\tnode_id\n0\t1\n1\t0\n", nodes);
}

static void both_styles(void **state)
{
    (void)state;
    struct dataset *d;
    OK(read_nodes(&d, "1\t0,1,1,0\t2\n0\t1,0,0,0\t0\n2\t0,0,0,0\t1\n"));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->features, 4);
    assert_int_equal(d->sparse->nnz, 3);
    assert_int_equal(d->sparse->col[1], 1);
    assert_int_equal(d->label[1], 2);
    assert_int_equal(d->label[2], 1);
    assert_int_equal(d->classes, 3);
    assert_int_equal(d->edges, 2);
    assert_true(d->directed);
    dataset_free(d);
    /* Indices: repeats count once, an empty list is a row of zeros, ends may be missing. */
    OK(read_nodes(&d, "1\t5,2,5\t1\n0\t\t0\n2\t0\t1\n"));
    assert_int_equal(d->features, 6);
    assert_int_equal(d->sparse->nnz, 3);
    assert_int_equal(d->sparse->start[1], 0);
    assert_int_equal(d->sparse->col[0], 2);
    assert_int_equal(d->sparse->col[1], 5);
    dataset_free(d);
    /* Only 0 and 1, but with lengths that only indices have. */
    OK(read_nodes(&d, "0\t0,1\t1\n1\t1\t0\n"));
    assert_int_equal(d->features, 2);
    assert_int_equal(d->sparse->nnz, 3);
    dataset_free(d);
}

static void bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *message;
    } faults[] = {
        {"", "n.txt: no nodes"},
        {"0\t1\n", "n.txt: line 2: found 2 columns, expected 3"},
        {"0\t1\t1\t1\n", "line 2: found 4 columns"},
        {"x\t1\t1\n", "line 2, column 1: found \"x\", expected a whole number"},
        {"0\t1,x\t1\n", "line 2, column 2: found \"1,x\", expected whole numbers"},
        {"0\t1,-2\t1\n", "column 2: found \"1,-2\""},
        {"0\t1,,2\t1\n", "column 2: found \"1,,2\""},
        {"0\t1\t1\n2\t1\t1\n", "line 3, column 1: found id 2, expected 0 to 1"},
        {"0\t1\t1\n-1\t1\t1\n", "line 3, column 1: found id -1"},
        {"0\t1\t1\n0\t1\t1\n", "line 3, column 1: found id 0, which is already in line 2"},
        {"0\t1,0,1\t1\n1\t1,0\t1\n", "line 3, column 2: found 2 values, expected 3"},
    };
    struct dataset *d;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        FAILS(read_nodes(&d, faults[i].rows), CONSM_EFORMAT, faults[i].message);
    FAILS(read_nodes(&d, "0\t2000000000\t1\n1\t3\t0\n"), CONSM_ELIMIT, "2000000001 features");
    FAILS(read_text(&d, "node_id\tnode_id\n0\t7\n", "node_id\tf\tl\n0\t1\t1\n"), CONSM_EFORMAT,
          "e.txt: line 2, column 2 (node_id): found \"7\", expected a node of "
          "out1_node_feature_label.txt");
    FAILS(read_text(&d, "", "node_id\tf\tl\n0\t1\t1\n"), CONSM_EFORMAT, "e.txt: is empty");
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const char rows[] = "node_id\tfeature\tlabel\n1\t0,1,1\t2\n0\t1,0,0\t0\n2\t0,1,0\t1\n";
    static const char edges[] = "node_id\tnode_id\n0\t1\n1\t2\n";
    for (size_t cut = 0; cut < sizeof rows; cut++) {
        char *copy = malloc(cut + 1);
        struct dataset *d;
        memcpy(copy, rows, cut);
        copy[cut] = 0;
        if (read_text(&d, edges, copy) < 0)
            assert_true(*consm_errmsg() && !strstr(consm_errmsg(), "\n\n"));
        dataset_free(d);
        free(copy);
    }
}

static void missing_files(void **state)
{
    (void)state;
    struct dataset *d;
    FAILS(geom_gcn_load(&d, scratch), CONSM_EIO, "out1_graph_edges.txt: cannot open");
    write_text("g/out1_graph_edges.txt", "a\tb\n0\t1\n");
    FAILS(geom_gcn_load(&d, in_scratch("g")), CONSM_EIO, "out1_node_feature_label.txt: cannot");
    write_text("g/out1_node_feature_label.txt", "n\tf\tl\n0\t0,1\t1\n1\t1,1\t0\n");
    OK(geom_gcn_load(&d, in_scratch("g")));
    assert_int_equal(d->splits, 0);
    dataset_free(d);
    write_text("g/splits/g_split_0.6_0.2_0.npz", "not a zip");
    FAILS(geom_gcn_load(&d, in_scratch("g")), CONSM_EFORMAT, "g_split_0.6_0.2_0.npz");
}

/* The figures of the public set. Lines 33,391; without repeats 30,019 and 93 loops; as an
 * undirected graph without loops 26,659. 932 features: the indices run from 0 to 931. */
static void film(void **state)
{
    (void)state;
    const char *data = real_data("the film set");
    struct dataset *d;
    struct csr *graph, *directed;
    struct edge_facts facts;
    int64_t loops = 0, count[4] = {0};
    char *folder;
    if (!data)
        return;
    OK(file_join(&folder, data, "geom-gcn/film"));
    if (file_kind(folder) != FILE_FOLDER) {
        printf("SKIPPED: no %s\n", folder);
        mem_free(folder);
        return;
    }
    OK(geom_gcn_load(&d, folder));
    assert_int_equal(d->nodes, 7600);
    assert_int_equal(d->edges, 33391);
    assert_int_equal(d->features, 932);
    assert_int_equal(d->sparse->nnz, 40977);
    assert_int_equal(d->classes, 5);
    assert_int_equal(d->splits, 10);
    for (int64_t i = 0; i < d->nodes; i++)
        count[d->role[i]]++;
    assert_int_equal(count[SPLIT_TRAIN] + count[SPLIT_VAL] + count[SPLIT_TEST], 7600);
    assert_int_equal(count[SPLIT_TRAIN], 3648);
    OK(csr_from_edges(&directed, d->nodes, d->nodes, d->edges, d->from, d->to, NULL, CSR_DIRECTED,
                      NULL));
    assert_int_equal(directed->nnz, 30019);
    for (int64_t i = 0; i < d->nodes; i++)
        loops += csr_find(directed, i, (int32_t)i) >= 0;
    assert_int_equal(loops, 93);
    OK(dataset_graph(&graph, d, &facts));
    assert_int_equal(graph->nnz, 2 * 26659);
    csr_free(graph);
    csr_free(directed);
    dataset_free(d);
    mem_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_styles),  cmocka_unit_test(bad_input),
        cmocka_unit_test(cut_anywhere), cmocka_unit_test(missing_files),
        cmocka_unit_test(film),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
