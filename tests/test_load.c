/* Paths are recognised by content; formats convert into each other without loss. */
#include "datasets.h"

#include "data/load.h"
#include "data/readers/plain.h"
#include <ctype.h>
#include <sys/wait.h>

static struct dataset *load(const char *path)
{
    struct dataset *d;
    OK(data_load_path(&d, path, NULL));
    return d;
}

static void recognised(void **state)
{
    (void)state;
    static const char market[] = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
    struct dataset *d;
    write_text("plain/edges.csv", "a,b\n");
    write_text("geom/out1_graph_edges.txt", "x\ty\n0\t1\n");
    write_text("geom/out1_node_feature_label.txt", "n\tf\tl\n0\t0,1\t1\n1\t1,1\t0\n");
    /* Names do not matter: a Matrix Market file called .csv is still one. */
    const char *const paths[] = {in_scratch("plain"), in_scratch("plain/"), in_scratch("geom"),
                                 write_text("m.csv", market), write_text("e.bin", "0 1\n")};
    const char *const names[] = {"plain", "plain", "geom", "m", "e.bin"};
    for (int i = 0; i < 5; i++) {
        d = load(paths[i]);
        assert_int_equal(d->nodes, 2);
        assert_int_equal(d->edges, 1);
        assert_string_equal(d->name, names[i]);
        OK(data_save_path(d, in_scratch("copy"), "safetensors"));
        dataset_free(d);
        d = load(in_scratch("copy"));
        assert_int_equal(d->edges, 1);
        assert_string_equal(d->name, names[i]);
        dataset_free(d);
    }
}

static void format_overrides(void **state)
{
    (void)state;
    struct dataset *d;
    const char *path = write_text("two.csv", "a,b\n");
    OK(data_load_path(&d, path, "edges"));
    dataset_free(d);
    FAILS(data_load_path(&d, path, "mtx"), CONSM_EFORMAT, "two.csv: line 1: expected %%Matrix");
    FAILS(data_load_path(&d, path, "safetensors"), CONSM_EFORMAT, "two.csv: has 4 bytes");
    FAILS(data_load_path(&d, path, "npz"), CONSM_EFORMAT, "two.csv");
    FAILS(data_load_path(&d, path, "xml"), CONSM_EINVAL,
          "unknown format xml: expected plain, edges");
    assert_null(d);
}

static void not_recognised(void **state)
{
    (void)state;
    struct dataset *d;
    file_make_folders(in_scratch("empty"));
    FAILS(data_load_path(&d, in_scratch("empty"), NULL), CONSM_EFORMAT,
          "empty: unknown format: looked for a folder with edges.csv (or .tsv, .txt) (plain), ");
    FAILS(data_load_path(&d, write_text("zero", ""), NULL), CONSM_EFORMAT, "zero: is empty");
    FAILS(data_load_path(&d, write_bytes("bin", "\0\1\2\3", 4), NULL), CONSM_EFORMAT,
          "named *.adjlist (adjlist), a zip archive of NumPy arrays (npz), a file with a "
          "safetensors header "
          "(safetensors)");
    FAILS(data_load_path(&d, in_scratch("gone"), NULL), CONSM_EIO, "gone: cannot open");
    FAILS(data_load_path(&d, "/dev/null", NULL), CONSM_EIO, "neither a file nor a folder");
    write_text("pair/ind.one.x", "x");
    write_text("pair/ind.two.x", "x");
    FAILS(data_load_path(&d, in_scratch("pair"), NULL), CONSM_EFORMAT, "several datasets");
    FAILS(data_load_path(&d, in_scratch("pair/ind.one.x"), NULL), CONSM_EIO, "ind.one.");
    FAILS(data_load_with(&d, in_scratch("empty"), "plain",
                         &(struct reading_options){.labels = "labels"}),
          CONSM_EINVAL, "the format is plain folder: --labels and --features work with edge lists");
}

/* An unknown suffix is refused before anything is created. */
static void writers(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format, *writer;
    } good[] = {
        {"x.npz", NULL, "npz"},
        {"x.NPZ", NULL, "npz"},
        {"x.graphml", NULL, "graphml"},
        {"x.gexf", NULL, "gexf"},
        {"x.gml", NULL, "gml"},
        {"x.json", NULL, "json"},
        {"a/x.safetensors", NULL, "safetensors"},
        {"x", NULL, "plain"},
        {"x.graphml/", NULL, "plain"},
        {"x.graphml", "npz", "npz"},
        {"x.npz", "plain", "plain"},
        {"a.b/x-1.2", NULL, "plain"},
        {"a.npz/.x", NULL, "plain"},
        {"x.csv", "csv", "plain"},
    };
    const struct reader *r;
    struct dataset *d;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        OK(data_writer(&r, good[i].path, good[i].format));
        assert_string_equal(r->name, good[i].writer);
    }
    FAILS(data_writer(&r, "x.net", NULL), CONSM_EINVAL,
          "x.net: cannot write .net files: expected .graphml, .gexf, .gml, .json, .npz, "
          ".safetensors, or a folder");
    FAILS(data_writer(&r, "x.mtx", NULL), CONSM_EINVAL,
          "cannot write .mtx files: expected .graphml");
    FAILS(data_writer(&r, "x", "mtx"), CONSM_EINVAL,
          "mtx cannot be written: expected plain, graphml, gexf, gml, json, npz, safetensors");
    OK(data_load_path(&d, write_text("w/edges.csv", "a,b\n"), NULL));
    FAILS(data_save_path(d, in_scratch("w.net"), NULL), CONSM_EINVAL, "w.net: cannot write");
    assert_int_equal(file_kind(in_scratch("w.net")), FILE_MISSING);
    /* An existing folder may have any name. */
    OK(file_make_folders(in_scratch("w.graphml")));
    OK(data_save_path(d, in_scratch("w.graphml"), NULL));
    assert_int_equal(file_kind(in_scratch("w.graphml/edges.csv")), FILE_REGULAR);
    dataset_free(d);
}

/* docs/reference/formats.md, and the names in help and messages, agree with the table. */
static void told_as_they_are(void **state)
{
    (void)state;
    struct file_map map;
    const struct reader *r;
    char all[256] = "", saved[256] = "", row[512], anchor[64];
    OK(file_map(&map, TESTS_DIR "/../docs/reference/formats.md"));
    for (int i = 0; (r = reader_get(i)) != NULL; i++) {
        int length = 0;
        for (const char *c = r->title; *c; c++)
            anchor[length++] = *c == ' ' ? '-' : (char)tolower(*c);
        anchor[length] = 0;
        snprintf(row, sizeof row, "\n| %s | [%s](#%s) | `%s` | %s |\n", r->shows, r->title, anchor,
                 r->name,
                 !r->save       ? ""
                 : r->suffix[0] ? r->suffix[0]
                                : "a folder");
        if (!memmem(map.data, map.size, row, strlen(row)))
            fail_msg("docs/reference/formats.md has no row%s", row);
        snprintf(row, sizeof row, "\n## %c%s\n", toupper(*r->title), r->title + 1);
        if (!memmem(map.data, map.size, row, strlen(row)))
            fail_msg("docs/reference/formats.md has no section%s", row);
        sprintf(all + strlen(all), "%s%s", *all ? ", " : "", r->name);
        if (r->save)
            sprintf(saved + strlen(saved), "%s%s", *saved ? ", " : "", r->name);
        assert_true(r->sniff && !r->load == !!r->load_with);
    }
    assert_string_equal(all, READER_NAMES);
    assert_string_equal(saved, READER_SAVED_NAMES);
    file_unmap(&map);
}

static void without_permission(void **state)
{
    (void)state;
    struct dataset *d;
    if (geteuid() == 0) {
        printf("SKIPPED: unreadable folders: root reads them all\n");
        return;
    }
    write_text("locked/edges.csv", "a,b\n");
    chmod(in_scratch("locked"), 0);
    FAILS(data_load_path(&d, in_scratch("locked"), NULL), CONSM_EIO,
          "locked: cannot open the folder: Permission denied");
    chmod(in_scratch("locked"), 0700);
}

/* plain, npz and safetensors converted into each other, in every order of two. */
static void converts_without_loss(void **state)
{
    (void)state;
    static const char *const format[3] = {"plain", "npz", "safetensors"};
    struct dataset *first, *d;
    write_text("full/edges.csv", "source,target,weight\n\"a b\",c,0.1\nc,d,3e-7\nd,d,1\n");
    write_text("full/nodes.csv", "id,label,split_0,split_1\n\"a b\",up,train,test\n"
                                 "c,\"down, left\",val,train\nd,up,test,val\ne,,,\n");
    write_text("full/features.svm",
               "# features: 9, first index: 1\n0 1:0.25 9:7\n0\n0 3:-1e-9\n0\n");
    write_text("full/dataset.json",
               "{\"classes\": [\"up\", \"down, left\", \"nobody\"],"
               " \"features\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\","
               " \"h\", \"\u00fc\"]}");
    first = load(in_scratch("full"));
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            char one[32], two[32];
            snprintf(one, sizeof one, "one-%d-%d", a, b);
            snprintf(two, sizeof two, "two-%d-%d", a, b);
            OK(data_save_path(first, in_scratch(one), format[a]));
            d = load(in_scratch(one));
            same_dataset(first, d);
            OK(data_save_path(d, in_scratch(two), format[b]));
            dataset_free(d);
            d = load(in_scratch(two));
            same_dataset(first, d);
            dataset_free(d);
        }
    dataset_free(first);
}

static int run(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "%s convert %s 2> %s", CONSM_COMMAND, arguments,
             in_scratch("stderr"));
    int code = system(command);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void assert_stderr(const char *text)
{
    struct file_map map;
    char line[1024];
    OK(file_map(&map, in_scratch("stderr")));
    snprintf(line, sizeof line, "%.*s", (int)map.size, (const char *)map.data);
    file_unmap(&map);
    if (!strstr(line, text))
        fail_msg("stderr is \"%s\", expected \"%s\"", line, text);
}

static void the_command(void **state)
{
    (void)state;
    char arguments[512];
    struct dataset *a, *b;
    assert_int_equal(run("karate"), 2);
    assert_stderr("consm convert: expected IN and OUT");
    snprintf(arguments, sizeof arguments, "karate %s/karate", scratch);
    assert_int_equal(run(arguments), 0);
    snprintf(arguments, sizeof arguments, "%s/karate %s/k.safetensors", scratch, scratch);
    assert_int_equal(run(arguments), 0);
    a = load(in_scratch("karate"));
    b = load(in_scratch("k.safetensors"));
    same_dataset(a, b);
    assert_string_equal(b->name, "karate");
    dataset_free(a);
    dataset_free(b);
    write_text("list.txt", "0 1\n1 2\n");
    write_text("labels.txt", "x\ny\nx\n");
    snprintf(arguments, sizeof arguments, "%s/list.txt %s/o --to npz --labels %s/labels.txt",
             scratch, scratch, scratch);
    assert_int_equal(run(arguments), 0);
    a = load(in_scratch("o"));
    assert_int_equal(a->classes, 2);
    dataset_free(a);
    snprintf(arguments, sizeof arguments, "karate %s/o --to mtx", scratch);
    assert_int_equal(run(arguments), 2);
    assert_stderr(
        "mtx cannot be written: expected plain, graphml, gexf, gml, json, npz, safetensors");
    snprintf(arguments, sizeof arguments, "karate %s/out.net", scratch);
    assert_int_equal(run(arguments), 2);
    assert_stderr("cannot write .net files: expected .graphml, ");
    assert_int_equal(file_kind(in_scratch("out.net")), FILE_MISSING);
    write_text("list.txt", "0 1\n1\n");
    snprintf(arguments, sizeof arguments, "%s/list.txt %s/x", scratch, scratch);
    assert_int_equal(run(arguments), 1);
    assert_stderr("list.txt: line 2: found 1 column, expected 2 as in the first row");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognised),
        cmocka_unit_test(format_overrides),
        cmocka_unit_test(not_recognised),
        cmocka_unit_test(writers),
        cmocka_unit_test(told_as_they_are),
        cmocka_unit_test(without_permission),
        cmocka_unit_test(converts_without_loss),
        cmocka_unit_test(the_command),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
