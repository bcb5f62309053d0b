/* Plain folders and bare edge lists: ids, labels, splits, weights and features as people write
 * them; a one-line message for every fault; nothing lost in a round trip. */
#include "datasets.h"

#include "data/readers/plain.h"
#include "io/npy.h"
#include "io/zip.h"

/* Reads parts given as text; NULL for missing ones. */
static consm_status read_parts(struct dataset **out, const char *edges, const char *nodes,
                               const char *labels, const char *features, const char *about)
{
    consm_status st = dataset_new(out, "set");
    const char *text[5] = {edges, nodes, labels, features, about};
    static const char *const name[5] = {"edges.csv", "nodes.csv", "labels.txt", "features.csv",
                                        "dataset.json"};
    struct text_file part[5];
    for (int i = 0; i < 5; i++)
        part[i] = (struct text_file){name[i], text[i], text[i] ? strlen(text[i]) : 0, false};
    if (st >= 0)
        st = plain_read(*out,
                        &(struct plain_files){part[0], part[1], part[2], part[3], part[4], NULL});
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

static struct dataset *read_edges(const char *edges)
{
    struct dataset *d;
    OK(read_parts(&d, edges, NULL, NULL, NULL, NULL));
    return d;
}

/* Ends of edge e by their ids. */
static void assert_edge(const struct dataset *d, int64_t e, const char *from, const char *to)
{
    char a[24], b[24];
    assert_string_equal(dataset_node_id(d, d->from[e], a), from);
    assert_string_equal(dataset_node_id(d, d->to[e], b), to);
}

static void edges_in_every_dress(void **state)
{
    (void)state;
    static const char *const dresses[] = {"0,1\n1,2\n",
                                          "0\t1\n1\t2\n",
                                          "0 1\n1 2\n",
                                          "  0   1 \n 1 2",
                                          "source,target\n0,1\n1,2\n",
                                          "target,source\n1,0\n2,1\n",
                                          "\xef\xbb\xbfsource\ttarget\r\n0\t1\r\n1\t2\r\n",
                                          "# a note\n\n\"0\",\"1\"\n# another\n1,2\n",
                                          "node a,node b\n0,1\n1,2\n",
                                          "% konect\n0 1\n1 2\n",
                                          "from to\n0 1\n1 2\n",
                                          "0,1\n1,2\n\n\n"};
    for (size_t i = 0; i < sizeof dresses / sizeof *dresses; i++) {
        struct dataset *d = read_edges(dresses[i]);
        assert_int_equal(d->nodes, 3);
        assert_int_equal(d->edges, 2);
        assert_int_equal(d->from[0], 0);
        assert_int_equal(d->to[0], 1);
        assert_int_equal(d->from[1], 1);
        assert_int_equal(d->to[1], 2);
        assert_null(d->node_id);
        assert_null(d->weight);
        assert_int_equal(d->label[0], -1);
        dataset_free(d);
    }
}

/* Numeric ids are sorted; other ids stay in file order. */
static void ids_make_nodes(void **state)
{
    (void)state;
    struct dataset *d = read_edges("30,10\n10,20\n");
    assert_int_equal(d->nodes, 3);
    assert_string_equal(d->node_id[0], "10");
    assert_edge(d, 0, "30", "10");
    assert_edge(d, 1, "10", "20");
    dataset_free(d);
    d = read_edges("bob,alice\nalice,\"Eve, the third\"\nbob,007\n");
    assert_int_equal(d->nodes, 4);
    assert_string_equal(d->node_id[0], "bob");
    assert_string_equal(d->node_id[2], "Eve, the third");
    assert_edge(d, 2, "bob", "007");
    dataset_free(d);
    /* Far apart, too large for an index, mixed with words only late. */
    d = read_edges("900000000000,5\n5,2000000000\n");
    assert_string_equal(d->node_id[0], "5");
    assert_string_equal(d->node_id[2], "900000000000");
    assert_edge(d, 0, "900000000000", "5");
    dataset_free(d);
    d = read_edges("3,1\n1,2\n2,x\n");
    assert_string_equal(d->node_id[0], "3");
    assert_edge(d, 2, "2", "x");
    dataset_free(d);
}

/* More rows than wait at a time, with quotes among them. */
static void many_named_edges(void **state)
{
    (void)state;
    size_t used = 0;
    static char text[200000];
    for (int e = 0; e < 5000; e++)
        used += (size_t)sprintf(text + used, e % 7 ? "node-%d,n%d\n" : "\"node-%d\",\"n\"\"%d\"\n",
                                e % 100, e % 31);
    struct dataset *d = read_edges(text);
    assert_int_equal(d->edges, 5000);
    for (int e = 0; e < 5000; e++) {
        char from[24], to[24];
        sprintf(from, "node-%d", e % 100);
        sprintf(to, e % 7 ? "n%d" : "n\"%d", e % 31);
        assert_edge(d, e, from, to);
    }
    dataset_free(d);
}

static void weights(void **state)
{
    (void)state;
    struct dataset *d = read_edges("a,b,0.5\nb,c,2e3\n");
    assert_true(d->weight[0] == 0.5f && d->weight[1] == 2000);
    dataset_free(d);
    d = read_edges("weight,target,source\n1.5,b,a\n");
    assert_true(d->weight[0] == 1.5f);
    assert_edge(d, 0, "a", "b");
    dataset_free(d);
}

static void nodes_with_everything(void **state)
{
    (void)state;
    struct dataset *d;
    OK(read_parts(&d, "x,z\n",
                  "id,label,split,age,score\nx,cat,train,1,0.5\ny,,,2,-1\nz,ant,TEST,3,1e2\n", NULL,
                  NULL, NULL));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->classes, 2);
    assert_string_equal(d->class_name[0], "ant");
    assert_int_equal(d->label[0], 1);
    assert_int_equal(d->label[1], -1);
    assert_int_equal(d->label[2], 0);
    assert_int_equal(d->splits, 1);
    assert_int_equal(d->role[0], SPLIT_TRAIN);
    assert_int_equal(d->role[1], SPLIT_NONE);
    assert_int_equal(d->role[2], SPLIT_TEST);
    assert_int_equal(d->features, 2);
    assert_string_equal(d->feature_name[1], "score");
    assert_true(d->dense[2 * 2 + 1] == 100);
    assert_int_equal(d->from[0], 0);
    assert_int_equal(d->to[0], 2);
    dataset_free(d);
    /* Columns in another order, several splits, ids that are numbers out of order. */
    OK(read_parts(&d, "7,5\n5,6\n",
                  "split_0,id,split_1,class\ntrain,7,val,1\n,5,none,0\nval,6,,3\n", NULL, NULL,
                  NULL));
    assert_string_equal(d->node_id[0], "7");
    assert_int_equal(d->from[0], 0);
    assert_int_equal(d->to[0], 1);
    assert_int_equal(d->to[1], 2);
    assert_int_equal(d->splits, 2);
    assert_int_equal(d->role[3 + 0], SPLIT_VAL);
    assert_int_equal(d->role[2], SPLIT_VAL);
    assert_int_equal(d->classes, 3); /* 0, 1, 3: three classes, by their names */
    assert_string_equal(d->class_name[2], "3");
    dataset_free(d);
    /* No header: id, or id and label. */
    OK(read_parts(&d, "0 1\n", "0 7\n1 8\n2 7\n", NULL, NULL, NULL));
    assert_int_equal(d->nodes, 3);
    assert_string_equal(d->class_name[1], "8");
    assert_int_equal(d->label[2], 0);
    dataset_free(d);
    OK(read_parts(&d, "a b\n", "a\nb\nc\n", NULL, NULL, NULL));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->classes, 0);
    dataset_free(d);
}

static void features_from_files(void **state)
{
    (void)state;
    struct dataset *d;
    /* In node order, without header; mostly zero, so sparse. */
    OK(read_parts(&d, "a,b\n", "id\na\nb\nc\n", NULL, "0,0,0,1\n0,0,2,0\n0,0,0,0\n", NULL));
    assert_int_equal(d->features, 4);
    assert_int_equal(d->sparse->nnz, 2);
    assert_true(d->sparse->val[1] == 2);
    assert_null(d->feature_name);
    dataset_free(d);
    /* By id, with names. */
    OK(read_parts(&d, "a,b\n", "id\na\nb\n", NULL, "id,one,two\nb,3,4\na,1,2\n", NULL));
    assert_true(d->dense[0] == 1 && d->dense[3] == 4);
    assert_string_equal(d->feature_name[0], "one");
    dataset_free(d);
    /* By id, and then they are the list of nodes. */
    OK(read_parts(&d, "b,a\n", NULL, NULL, "id,one\na,1\nb,2\nc,3\n", NULL));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->from[0], 1);
    dataset_free(d);
    /* Rows make the nodes. */
    OK(read_parts(&d, "0,2\n", NULL, NULL, "1,1\n2,2\n3,3\n", NULL));
    assert_int_equal(d->nodes, 3);
    assert_null(d->node_id);
    dataset_free(d);
    /* SVM-light. */
    OK(read_parts(&d, "0,2\n", NULL, NULL, "1 1:2 3:4\n0\n1 2:1\n", NULL));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->features, 3);
    assert_int_equal(d->sparse->nnz, 3);
    dataset_free(d);
}

static void labels_of_edge_lists(void **state)
{
    (void)state;
    struct dataset *d;
    OK(read_parts(&d, "a b\nb c\n", NULL, "c red\nd blue\na red\n", NULL, NULL));
    assert_int_equal(d->nodes, 4); /* labels first: c d a, then b */
    assert_string_equal(d->node_id[1], "d");
    assert_string_equal(d->class_name[d->label[0]], "red");
    assert_int_equal(d->label[3], -1);
    dataset_free(d);
    OK(read_parts(&d, "3 1\n", NULL, "id,label\n2,x\n3,\n", NULL, NULL));
    assert_int_equal(d->nodes, 3); /* 1 2 3 */
    assert_int_equal(d->label[1], 0);
    assert_int_equal(d->label[2], -1);
    dataset_free(d);
    OK(read_parts(&d, "0 2\n", NULL, "label\nx\n\ny\n", NULL, NULL));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->label[1], -1);
    assert_int_equal(d->label[2], 1);
    dataset_free(d);
    /* Matrix Market counts from 1, and its ids are those numbers. */
    OK(read_parts(&d, "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1\n", NULL,
                  "3 x\n1 y\n", NULL, NULL));
    assert_int_equal(d->nodes, 3);
    assert_string_equal(d->node_id[0], "1");
    assert_int_equal(d->label[2], 0);
    assert_int_equal(d->label[0], 1);
    dataset_free(d);
}

static void about_the_set(void **state)
{
    (void)state;
    struct dataset *d;
    OK(read_parts(&d, "a,b\n", "id,label\na,y\nb,x\n", NULL, "1 1:1\n1 2:1\n",
                  "{\"name\": \"mine\", \"directed\": true, \"classes\": [\"z\", \"y\", \"x\"],"
                  " \"features\": [\"f\", \"g\"]}"));
    assert_string_equal(d->name, "mine");
    assert_true(d->directed);
    assert_int_equal(d->classes, 3);
    assert_int_equal(d->label[0], 1);
    assert_int_equal(d->label[1], 2);
    assert_string_equal(d->feature_name[1], "g");
    dataset_free(d);
}

static void bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *edges, *nodes, *labels, *features, *about, *message;
    } faults[] = {
        {.edges = "", .message = "edges.csv: is empty"},
        {.edges = "# nothing\n", .message = "edges.csv: is empty"},
        {.edges = "a\nb\n", .message = "edges.csv: line 1: found 1 column, expected 2 (source"},
        {.edges = "a,b,1,2\n", .message = "line 1: found 4 columns"},
        {.edges = "0,1,x\n1,2,1\n2\n",
         .message =
             "edges.csv: 2 errors:\n  line 1, column 3: found \"x\", expected a finite number "
             "as weight; fix or delete the line\n  line 3: found 1 column"},
        {.edges = "source,target,weight,at\na,b,1\na,b,x,1\n",
         .message = "edges.csv: 2 errors:\n  line 2: found 3 columns, expected 4 as in the first "
                    "row; put quotes around texts that contain the separator\n  line 3, column 3 "
                    "(weight)"},
        {.edges = "a,b\n",
         .nodes = "id,split,age,vip,joined\na,train,1,yes,2020-01-01\na,dev,2,no,2020-01-02\n"
                  "b,none,3,yes,2020-01-03\nc,x,4,no,2020-01-04\n",
         .message =
             "nodes.csv: 2 errors:\n  line 3, column 1 (id): found \"a\", expected a unique id; "
             "delete one of the rows\n  line 5, column 2 (split): found \"x\""},
        {.edges = "a,b\n",
         .nodes = "id,age,joined\na,1,2020-01-01\nb,old,2020-02-30\nc,3,2020-01-04\n",
         .message =
             "nodes.csv: 2 errors:\n  line 3, column age: found \"old\", expected a finite "
             "number as in other rows; fix the cell, leave it empty, or ignore the column "
             "(--ignore age)\n  line 3, column joined: found \"2020-02-30\", expected a date"},
        {.edges = "a,b\nc\n", .message = "edges.csv: line 2: found 1 column, expected 2 as in"},
        {.edges = "0,1\n1,2\n2\n", .message = "edges.csv: line 3: found 1 column"},
        {.edges = "0,1\n1,\n", .message = "line 2, column 2: found nothing, expected a node id"},
        {.edges = "a,b,x\n", .message = "line 1, column 3: found \"x\", expected a finite number"},
        {.edges = "a,b,nan\n", .message = "column 3: found \"nan\", expected a finite number"},
        {.edges = "a,b,1e99\n", .message = "column 3: found \"1e99\""},
        {.edges = "source,target,year\na,b,1999\n", .message = "column 3: found \"year\""},
        {.edges = "a,b\xff\n", .message = "line 1, column 2: found \"b?\", expected UTF-8"},
        {.edges = "a,\"b\n", .message = "expected a closing quote"},
        {.edges = "a,b\na,c\n",
         .nodes = "id\na\nb\n",
         .message = "edges.csv: line 2, column 2: found \"c\", expected a node of nodes.csv"},
        {.edges = "0,1\n1,5\n",
         .nodes = "id\n0\n1\n",
         .message = "edges.csv: line 2, column 2: found \"5\", expected a node of nodes.csv"},
        {.edges = "5,7\n7,6\n",
         .nodes = "id\n5\n7\n",
         .message = "edges.csv: line 2, column 2: found \"6\", expected a node of nodes.csv"},
        {.edges = "a,b\n",
         .nodes = "id\na\nb\na\n",
         .message = "nodes.csv: line 4, column 1 (id): found \"a\", expected a unique id"},
        {.edges = "a,b\n", .nodes = "", .message = "nodes.csv: is empty"},
        {.edges = "a,b\n", .nodes = "id,label\n", .message = "nodes.csv: has no row after"},
        {.edges = "a,b\n",
         .nodes = "id,label\na,1\n\"\",2\n",
         .message = "nodes.csv: line 3, column 1 (id): found nothing, expected a node id"},
        {.edges = "a,b\n",
         .nodes = "id,label\na\n",
         .message = "nodes.csv: line 2: found 1 column"},
        {.edges = "a,b\n",
         .nodes = "a,1,2\nb,3,4\n",
         .message = "nodes.csv: line 1, column 1: found \"a\", expected a header with \"id\""},
        {.edges = "a,b\n",
         .nodes = "id,split\na,Train\nb,holdout\n",
         .message = "nodes.csv: line 3, column 2 (split): found \"holdout\", expected train, val"},
        {.edges = "a,b\n",
         .nodes = "id,f\na,1\nb,inf\n",
         .message = "nodes.csv: line 3, column f: found \"inf\", expected a finite number"},
        {.edges = "a,b\n",
         .nodes = "id,f,f\na,1,2\n",
         .message = "nodes.csv: line 1, column 3: found \"f\", expected a unique column name"},
        {.edges = "a,b\n",
         .nodes = "id\na\nb\n",
         .features = "",
         .message = "features.csv: is empty"},
        {.edges = "a,b\n",
         .nodes = "id\na\nb\n",
         .features = "1,2\n",
         .message = "features.csv: found 1 rows, expected one for each of 2 nodes"},
        {.edges = "a,b\n",
         .nodes = "id\na\nb\n",
         .features = "1,2\n3\n",
         .message = "features.csv: line 2: found 1 column, expected 2 as in the first row"},
        {.edges = "a,b\n",
         .nodes = "id\na\nb\n",
         .features = "1,2\n3,inf\n",
         .message = "features.csv: line 2, column 2: found \"inf\", expected a finite number"},
        {.edges = "a,b\n",
         .nodes = "id\na\nb\n",
         .features = "id,f\na,1\nc,2\n",
         .message =
             "features.csv: line 3, column 1 (id): found \"c\", expected a node of nodes.csv"},
        {.edges = "a,b\n",
         .features = "id\na\nb\n",
         .message = "features.csv: line 1: found 1 column, expected at least one feature column"},
        {.edges = "a,b\n",
         .nodes = "id\na\nb\n",
         .features = "id,f\na,1\na,2\n",
         .message = "features.csv: row 2 repeats a node of an earlier row"},
        {.edges = "a,b\n",
         .nodes = "id,f\na,1\nb,2\n",
         .features = "1\n2\n",
         .message = "features.csv: nodes.csv has feature columns too"},
        {.edges = "a,b\n",
         .features = "1\n2\n",
         .message = "edges.csv: line 1, column 1: found \"a\", expected the number of a row"},
        {.edges = "0,3\n",
         .features = "1\n2\n",
         .message = "edges.csv: line 1, column 2: found \"3\", expected the number of a row"},
        {.edges = "0,1\n", .labels = "", .message = "labels.txt: is empty"},
        {.edges = "0,1\n", .labels = "0,a,b\n", .message = "labels.txt: line 1: found 3 columns"},
        {.edges = "0,1\n", .labels = "0,a\n1\n", .message = "labels.txt: line 2: found 1 column"},
        {.edges = "0,1\n",
         .labels = "0,a\n0,b\n",
         .message = "labels.txt: line 2, column 1: found \"0\", expected a unique id"},
        {.edges = "0,1\n",
         .labels = "x\ny\nz\n",
         .features = "1\n2\n",
         .message = "labels.txt: line 3, column 1: found \"z\", expected at most one row"},
        {.edges = "0,1\n",
         .labels = "label\nx\ny\nz\n",
         .features = "1\n2\n",
         .message = "labels.txt: line 4, column 1 (label): found \"z\", expected at most one row"},
        {.edges = "0,1\n", .about = "[1]", .message = "dataset.json: expected a JSON object"},
        {.edges = "0,1\n", .about = "{\n \"name\": \n}", .message = "dataset.json: line 3, column"},
        {.edges = "0,1\n", .about = "{\"name\": 3}", .message = "\"name\" is not a text"},
        {.edges = "0,1\n", .about = "{\"direct\": true}", .message = "found \"direct\", expected"},
        {.edges = "0,1\n", .about = "{\"directed\": 1}", .message = "is not true or false"},
        {.edges = "0,1\n", .about = "{\"classes\": 5}", .message = "\"classes\" is not a list"},
        {.edges = "0,1\n", .about = "{\"classes\": [1]}", .message = "\"classes\", item 1"},
        {.edges = "0,1\n",
         .about = "{\"classes\": [\"a\", \"a\"]}",
         .message = "\"classes\" lists \"a\" twice"},
        {.edges = "a,b\n",
         .nodes = "id,label\na,x\nb,y\n",
         .about = "{\"classes\": [\"x\"]}",
         .message = "nodes.csv: line 3, column 2 (label): found \"y\", expected a class listed in "
                    "dataset.json"},
        {.edges = "0,1\n",
         .features = "1\n2\n",
         .about = "{\"features\": [\"x\", \"y\"]}",
         .message = "dataset.json: lists 2 features: expected 1"},
    };
    struct dataset *d;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        FAILS(read_parts(&d, faults[i].edges, faults[i].nodes, faults[i].labels, faults[i].features,
                         faults[i].about),
              CONSM_EFORMAT, faults[i].message);
        assert_true(!strchr(consm_errmsg(), '\n') || strstr(consm_errmsg(), " errors:\n"));
    }
}

static const char *const full[4] = {
    "source,target,weight\n\"a \"\"1\"\"\",b,0.5\nb,c,2\n",
    "id,label,split\n\"a \"\"1\"\"\",x,train\nb,,val\nc,y,test\n",
    "id,f,g\nb,1,2\nc,3,4\n\"a \"\"1\"\"\",5,6\n",
    "{\"directed\": true, \"classes\": [\"y\", \"x\"]}",
};

/* A part cut at any byte is read, or refused with one line; blocks end where the text does. */
static void cut_anywhere(void **state)
{
    (void)state;
    for (int part = 0; part < 4; part++)
        for (size_t cut = 0; cut <= strlen(full[part]); cut++) {
            char *text = malloc(cut + 1);
            const char *all[4];
            struct dataset *d;
            memcpy(all, full, sizeof all);
            memcpy(text, full[part], cut);
            text[cut] = 0;
            all[part] = text;
            if (read_parts(&d, all[0], all[1], NULL, all[2], all[3]) < 0)
                assert_true(*consm_errmsg() && !strstr(consm_errmsg(), "\n\n"));
            dataset_free(d);
            free(text);
        }
}

/* Memory may run out at any moment: each allocation fails once; nothing leaks, nothing breaks. */
static long until_failure;

static void *failing_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return until_failure-- == 0 ? NULL : aligned_alloc(64, bytes);
}

static void plain_free(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

static void out_of_memory(void **state)
{
    (void)state;
    static const char *const edges[] = {"5,7\n7,9\n",
                                        "source,target,weight\na,b,1\nb,\"c\"\"\",2\n"};
    static const char *const nodes[] = {NULL, "id,label,split\na,x,train\nb,y,\n\"c\"\"\",,val\n"};
    static const char *const labels[] = {"7 x\n5 y\n", NULL};
    static const char *const features[] = {NULL, "id,f,g\na,1,2\nb,0,0\n\"c\"\"\",0,0\n"};
    const struct consm_allocator failing = {failing_alloc, plain_free, NULL};
    struct dataset *d;
    for (int i = 0; i < 2; i++) {
        consm_status st = CONSM_ENOMEM;
        for (long n = 0; st != CONSM_OK; n++) {
            until_failure = n;
            consm_set_allocator(&failing);
            st = read_parts(&d, edges[i], nodes[i], labels[i], features[i], "{\"name\":\"s\"}");
            dataset_free(d);
            consm_set_allocator(NULL);
            assert_true(st == CONSM_OK || st == CONSM_ENOMEM);
            assert_true(n < 1000);
        }
    }
}

/* ---- folders ------------------------------------------------------------- */

static void round_trip(struct dataset *d, const char *name)
{
    struct dataset *back;
    OK(plain_save(d, in_scratch(name)));
    OK(plain_load(&back, in_scratch(name)));
    same_dataset(d, back);
    assert_string_equal(d->name, back->name);
    assert_int_equal(strlen(back->sha256), 64);
    dataset_free(back);
}

static void saved_and_loaded(void **state)
{
    (void)state;
    struct dataset *d;
    OK(read_parts(&d, full[0], full[1], NULL, full[2], full[3]));
    round_trip(d, "full");
    dataset_free(d);
    d = read_edges("0,1\n1,1\n0,1\n");
    round_trip(d, "bare");
    dataset_free(d);
    d = read_edges("\"#odd\",\" blank \"\n\"new\nline\",\"q\"\"\"\n");
    round_trip(d, "odd");
    dataset_free(d);
    /* Sparse features with names, classes without nodes, several splits. */
    OK(read_parts(&d, "0,1\n", "id,label,split_0,split_1\n0,2,train,test\n1,0,,val\n", NULL,
                  "# features: 5, first index: 1\n0 1:0.1 4:-3e-30\n0\n",
                  "{\"classes\": [\"0\", \"1\", \"2\", \"3\"],"
                  " \"features\": [\"a\", \"b\", \"c\", \"d\", \"e\"]}"));
    assert_int_equal(d->features, 5);
    assert_null(d->class_name);
    assert_int_equal(d->classes, 4);
    round_trip(d, "sparse");
    dataset_free(d);
    /* Feature names that look like numbers. */
    OK(read_parts(&d, "0,1\n", NULL, NULL, "id,5,6\n0,1,2\n1,3,4\n", NULL));
    assert_string_equal(d->feature_name[0], "5");
    round_trip(d, "numbered");
    dataset_free(d);
}

/* features.npy and features.npz, as NumPy writes them. */
static void features_from_numpy(void **state)
{
    (void)state;
    struct dataset *d;
    char bytes[NPY_HEADER_BYTES + sizeof(double[6])];
    const double value[6] = {1, 2, 3, 4, 5, 6.5};
    size_t header = npy_write_header(bytes, "<f8", 2, (int64_t[]){3, 2});
    struct zip_writer *z;
    memcpy(bytes + header, value, sizeof value);
    write_text("npy/edges.csv", "0,2\n");
    write_bytes("npy/features.npy", bytes, header + sizeof value);
    OK(plain_load(&d, in_scratch("npy")));
    assert_int_equal(d->nodes, 3);
    assert_true(d->dense[5] == 6.5f);
    dataset_free(d);
    write_text("npy/nodes.csv", "id\n0\n2\n");
    FAILS(plain_load(&d, in_scratch("npy")), CONSM_EFORMAT,
          "features.npy: found 3 rows, expected one for each of 2 nodes");
    write_text("npz/edges.csv", "0,2\n");
    OK(zip_create(&z, in_scratch("npz/features.npz")));
    OK(zip_begin(z, "whatever.npy", true));
    OK(zip_put(z, bytes, header + sizeof value));
    OK(zip_end(z));
    OK(zip_commit(z));
    zip_close(z);
    OK(plain_load(&d, in_scratch("npz")));
    assert_int_equal(d->features, 2);
    assert_true(d->dense[5] == 6.5f);
    dataset_free(d);
}

static void folders_that_contradict(void **state)
{
    (void)state;
    struct dataset *d, *back;
    write_text("two/edges.csv", "0,1\n");
    write_text("two/edges.tsv", "0\t1\n");
    FAILS(plain_load(&d, in_scratch("two")), CONSM_EFORMAT, "two/edges.tsv: ");
    FAILS(plain_load(&d, scratch), CONSM_EIO, "contains no edges.csv");
    OK(read_parts(&d, "0,1\n", NULL, NULL, "1\n2\n", NULL));
    write_text("old/features.svm", "1 1:1\n");
    FAILS(plain_save(d, in_scratch("old")), CONSM_EIO, "old/features.svm: exists already");
    OK(plain_save(d, in_scratch("again")));
    OK(plain_save(d, in_scratch("again"))); /* over itself is fine */
    FAILS(plain_save(d, write_text("file", "x")), CONSM_EIO, "file");
    OK(plain_load(&back, in_scratch("again")));
    dataset_free(back);
    write_text("again/edges.csv", "");
    FAILS(plain_load(&back, in_scratch("again")), CONSM_EFORMAT, "again/edges.csv: is empty");
    assert_null(back);
    dataset_free(d);
}

/* The hash is of the bytes, in the documented order. */
static void hash_of_the_files(void **state)
{
    (void)state;
    struct dataset *d;
    write_text("abc/edges.csv", "a,b\n");
    write_text("abc/nodes.csv", "id\na\nb\n");
    OK(plain_load(&d, in_scratch("abc")));
    /* printf 'a,b\nid\na\nb\n' | sha256sum */
    assert_string_equal(d->sha256,
                        "9a353434015123929ddea5aa1130d86a2b2bf3f9aa1db951e3ff1718c8d3fd6f");
    dataset_free(d);
}

static void lists_by_path(void **state)
{
    (void)state;
    struct dataset *d;
    const char *edges = write_text("l/edges.txt", "0 1\n1 2\n"), *none = in_scratch("l/none");
    const char *labels = write_text("l/labels", "x\ny\nx\n");
    const char *features = write_text("l/f.svm", "1:1\n2:1\n1:2 2:2\n");
    OK(edge_list_load(&d, edges,
                      &(struct reading_options){.labels = labels, .features = features}));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->classes, 2);
    assert_int_equal(d->features, 2);
    dataset_free(d);
    OK(edge_list_load(&d, edges, &(struct reading_options){0}));
    dataset_free(d);
    FAILS(edge_list_load(&d, edges, &(struct reading_options){.labels = none}), CONSM_EIO,
          "l/none: cannot open");
    FAILS(edge_list_load(&d, scratch, &(struct reading_options){0}), CONSM_EIO, "is a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_in_every_dress),
        cmocka_unit_test(ids_make_nodes),
        cmocka_unit_test(many_named_edges),
        cmocka_unit_test(weights),
        cmocka_unit_test(nodes_with_everything),
        cmocka_unit_test(features_from_files),
        cmocka_unit_test(labels_of_edge_lists),
        cmocka_unit_test(about_the_set),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(saved_and_loaded),
        cmocka_unit_test(features_from_numpy),
        cmocka_unit_test(folders_that_contradict),
        cmocka_unit_test(hash_of_the_files),
        cmocka_unit_test(lists_by_path),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
