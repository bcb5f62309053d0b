/* A plain folder read in parts: with any number of processes, together they have what one reader
 * of the whole has, to the bit, and all report the same fault. The processes are threads. */
#include "datasets.h"
#include "failing_memory.h"

#include "data/load.h"
#include "data/table/recipe.h"
#include "io/npy.h"
#include "stats/columns.h"
#include <pthread.h>

enum { MOST = 5 };

/* ---- processes ----------------------------------------------------------- */

static pthread_barrier_t meeting;
static int processes;
static _Thread_local int me;
static struct {
    const void *record;
    const int64_t *send;
} desk[MOST];

/* Exchanges through shared memory. */
static consm_status swap(void **out, int64_t *got, const void *record, const int64_t *send,
                         size_t bytes)
{
    desk[me].record = record;
    desk[me].send = send;
    pthread_barrier_wait(&meeting);
    int64_t room = 1;
    for (int p = 0; p < processes; p++)
        room += desk[p].send[me + 1] - desk[p].send[me];
    char *to = mem_zalloc((size_t)room, bytes);
    got[0] = 0;
    for (int p = 0; p < processes && to; p++) {
        int64_t begin = desk[p].send[me], count = desk[p].send[me + 1] - begin;
        if (count > 0)
            memcpy(to + (size_t)got[p] * bytes,
                   (const char *)desk[p].record + (size_t)begin * bytes, (size_t)count * bytes);
        got[p + 1] = got[p] + count;
    }
    *out = to;
    pthread_barrier_wait(&meeting);
    return to ? CONSM_OK : CONSM_ENOMEM;
}

struct process {
    int number;
    const char *path;
    struct reading_options reading;
    struct dataset *d;
    consm_status status;
    char message[512];
};

static void *load(void *arg)
{
    struct process *p = arg;
    me = p->number;
    struct partition partition = {.parts = processes, .part = me, .swap = swap};
    p->reading.partition = &partition;
    p->status = data_load_with(&p->d, p->path, NULL, &p->reading);
    snprintf(p->message, sizeof p->message, "%s", p->status < 0 ? consm_errmsg() : "");
    return NULL;
}

static void load_in_parts(struct process *process, int count, const char *path,
                          struct reading_options reading)
{
    pthread_t thread[MOST];
    processes = count;
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    for (int p = 0; p < count; p++) {
        process[p] = (struct process){.number = p, .path = path, .reading = reading};
        assert_int_equal(pthread_create(&thread[p], NULL, load, &process[p]), 0);
    }
    for (int p = 0; p < count; p++)
        pthread_join(thread[p], NULL);
    pthread_barrier_destroy(&meeting);
}

/* ---- as the whole -------------------------------------------------------- */

/* Rows of a matrix of which some are there. */
static void same_rows(const struct csr *part, const struct csr *whole, const struct partition *s)
{
    assert_int_equal(part->nnz, whole->nnz);
    assert_int_equal(part->cols, whole->cols);
    assert_memory_equal(part->start, whole->start, (size_t)(whole->rows + 1) * sizeof(int64_t));
    int64_t from = whole->start[s->low];
    size_t entries = (size_t)(whole->start[s->high] - from);
    assert_memory_equal(part->col + from, whole->col + from, entries * sizeof *whole->col);
    assert_true(!part->val == !whole->val);
    if (whole->val)
        assert_memory_equal(part->val + from, whole->val + from, entries * sizeof *whole->val);
}

static void same_recipe(const struct recipe *a, const struct recipe *b)
{
    assert_true(!a == !b);
    for (int64_t i = 0; a && i < a->columns; i++) {
        assert_int_equal(a->columns, b->columns);
        assert_string_equal(a->column[i].name, b->column[i].name);
        assert_int_equal(a->column[i].kind, b->column[i].kind);
        assert_memory_equal(&a->column[i].fill, &b->column[i].fill, sizeof(double));
        assert_int_equal(a->column[i].blanks, b->column[i].blanks);
        assert_int_equal(a->column[i].values, b->column[i].values);
        same_names(a->column[i].value, b->column[i].value, a->column[i].values);
    }
}

static void same_columns(const struct dataset *part, const struct dataset *whole)
{
    int64_t f = whole->features;
    float shift[256], scale[256];
    assert_true(f <= 256);
    OK(columns_measure(shift, scale, whole->dense, whole->nodes, f));
    assert_memory_equal(part->shift, shift, (size_t)f * sizeof *shift);
    assert_memory_equal(part->scale, scale, (size_t)f * sizeof *scale);
}

static void same_in_parts(const struct dataset *d, const struct dataset *whole,
                          const struct csr *graph)
{
    const struct partition *s = d->partition;
    int64_t n = whole->nodes, f = whole->features;
    assert_string_equal(d->sha256, whole->sha256);
    assert_string_equal(d->name, whole->name);
    assert_int_equal(d->nodes, n);
    assert_int_equal(d->edges, whole->edges);
    assert_int_equal(d->features, f);
    assert_int_equal(d->classes, whole->classes);
    assert_int_equal(d->directed, whole->directed);
    assert_int_equal(d->splits, whole->splits);
    assert_memory_equal(d->taken, whole->taken, sizeof d->taken);
    assert_memory_equal(d->label, whole->label, (size_t)n * sizeof *d->label);
    if (whole->splits)
        assert_memory_equal(d->role, whole->role, (size_t)(whole->splits * n));
    same_names(d->node_id, whole->node_id, n);
    same_names(d->class_name, whole->class_name, whole->classes);
    same_names(d->feature_name, whole->feature_name, f);
    same_recipe(d->recipe, whole->recipe);
    same_rows(d->rows, graph, s);
    assert_true(!d->sparse == !whole->sparse);
    if (whole->sparse)
        same_rows(d->sparse, whole->sparse, s);
    assert_true(!d->dense == !whole->dense);
    if (whole->dense) {
        assert_memory_equal(d->dense + s->low * f, whole->dense + s->low * f,
                            (size_t)((s->high - s->low) * f) * sizeof *d->dense);
        same_columns(d, whole);
    }
}

/* One, two, three and five processes have what the whole has, each row once. */
static void compare(const char *path, struct reading_options reading)
{
    static const int counts[] = {1, 2, 3, 5};
    struct reading_options plain = reading;
    struct process process[MOST];
    struct dataset *whole;
    struct csr *graph;
    OK(data_load_with(&whole, path, NULL, &plain));
    OK(dataset_graph(&graph, whole, NULL));
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int64_t next = 0;
        load_in_parts(process, counts[k], path, reading);
        for (int p = 0; p < counts[k]; p++) {
            if (process[p].status < 0)
                fail_msg("%d of %d: %s", p, counts[k], process[p].message);
            assert_int_equal(process[p].d->partition->low, next);
            next = process[p].d->partition->high;
            same_in_parts(process[p].d, whole, graph);
            dataset_free(process[p].d);
        }
        assert_int_equal(next, whole->nodes);
    }
    csr_free(graph);
    dataset_free(whole);
}

/* ---- texts --------------------------------------------------------------- */

struct writing {
    FILE *out;
    char *text;
    size_t size;
};

static FILE *begin_text(struct writing *w)
{
    w->out = open_memstream(&w->text, &w->size);
    assert_non_null(w->out);
    return w->out;
}

static const char *end_text(struct writing *w, const char *name)
{
    fclose(w->out);
    const char *path = write_bytes(name, w->text, w->size);
    free(w->text);
    return path;
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Edges with loops, repeats in both directions and contradicting weights. ids: the printf format of
 * a node. */
static void write_edges(const char *name, const char *ids, int n, int lines, bool weighted)
{
    struct writing w;
    FILE *out = begin_text(&w);
    uint32_t state = 7;
    fprintf(out, "# a list\nsource,target%s\n", weighted ? ",weight" : "");
    for (int e = 0; e < lines; e++) {
        int a = (int)(draw(&state) % (uint32_t)n), b = (int)(draw(&state) % (uint32_t)(n / 5 + 1));
        for (int twice = 0; twice < 1 + (e % 3 == 0); twice++) {
            fprintf(out, ids, twice ? b : a);
            fputc(',', out);
            fprintf(out, ids, twice ? a : b);
            fprintf(out, weighted ? ",%d.%d\n" : "\n", e % 90, twice);
        }
    }
    end_text(&w, name);
}

static void write_nodes(const char *name, const char *ids, int n, int features, int zeros)
{
    struct writing w;
    FILE *out = begin_text(&w);
    uint32_t state = 3;
    fprintf(out, "label,id,split");
    for (int k = 0; k < features; k++)
        fprintf(out, ",f%d", k);
    for (int i = 0; i < n; i++) {
        fprintf(out, "\n%s,", i % 4 ? i % 3 ? "red" : "blue" : "");
        fprintf(out, ids, i);
        fprintf(out, ",%s", i % 5 ? "train" : "test");
        for (int k = 0; k < features; k++)
            fprintf(out, ",%.3f",
                    (i + k) % zeros ? 0 : 0.001 * (double)(draw(&state) % 5000) - 1.7);
    }
    end_text(&w, name);
}

/* Every process fails, with one message. */
static void all_say(const char *path, consm_status status, const char *text)
{
    struct process process[MOST];
    load_in_parts(process, 3, path, (struct reading_options){0});
    for (int p = 0; p < 3; p++)
        if (process[p].status != status || !strstr(process[p].message, text) || process[p].d)
            fail_msg("process %d: %d \"%s\", expected %d with \"%s\"", p, process[p].status,
                     process[p].message, status, text);
}

/* The text of a file with a line put in place of another, from 1. */
static void replace_line(const char *name, int line, const char *by)
{
    struct file_map map;
    struct writing w;
    OK(file_map(&map, in_scratch(name)));
    FILE *out = begin_text(&w);
    const char *at = (const char *)map.data, *end = at + map.size;
    for (int i = 1; at < end; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;
        if (i == line)
            fprintf(out, "%s\n", by);
        else
            fwrite(at, 1, (size_t)(next - at), out);
        at = next;
    }
    file_unmap(&map);
    end_text(&w, name);
}

/* ---- tests --------------------------------------------------------------- */

static void folders(void **state)
{
    (void)state;
    static const char *const ids[] = {"%d", "1%03d7", "\"node, no. %d\""};
    struct reading_options none = {0};
    for (int k = 0; k < 3; k++)
        for (int weighted = 0; weighted < 2; weighted++)
            for (int zeros = 1; zeros < 8; zeros += 6) {
                write_edges("folder/edges.csv", ids[k], 100, 700, weighted);
                write_nodes("folder/nodes.csv", ids[k], 100, 9, zeros);
                compare(in_scratch("folder"), none);
            }
}

/* Several blocks, so that processes alternate: the first of repeated weights is the file's first.
 */
static void blocks(void **state)
{
    (void)state;
    struct reading_options none = {0};
    write_edges("large/edges.csv", "%d", 5000, 260000, true);
    write_nodes("large/nodes.csv", "%d", 5000, 2, 1);
    compare(in_scratch("large"), none);
    write_edges("large/edges.csv", "\"the %d\"", 3000, 120000, false);
    write_nodes("large/nodes.csv", "\"the %d\"", 3000, 2, 1);
    compare(in_scratch("large"), none);
}

/* Features in files of their own: rows in any order by their ids, SVM-light, arrays. */
static void feature_files(void **state)
{
    (void)state;
    struct reading_options none = {0};
    struct writing w;
    char header[NPY_HEADER_BYTES];
    write_edges("files/edges.csv", "%d", 60, 300, false);
    FILE *out = begin_text(&w);
    for (int i = 0; i < 60; i++)
        fprintf(out, "%d,%s\n", i, i % 2 ? "x" : "y");
    end_text(&w, "files/nodes.csv");
    out = begin_text(&w);
    fprintf(out, "id,a,b\n");
    for (int i = 0; i < 60; i++)
        fprintf(out, "%d,%d.5,%d\n", i * 7 % 60, i, 3 - i);
    end_text(&w, "files/features.csv");
    compare(in_scratch("files"), none);
    unlink(in_scratch("files/features.csv"));
    out = begin_text(&w);
    for (int i = 0; i < 60; i++)
        fprintf(out, "%d %d:2 %d:%d.25\n", i, 4 + i % 3, 9 - i % 2, i);
    end_text(&w, "files/features.svm");
    compare(in_scratch("files"), none);
    unlink(in_scratch("files/features.svm"));
    for (int fortran = 0; fortran < 2; fortran++) {
        out = begin_text(&w);
        size_t length = npy_write_header(header, "<f8", 2, (int64_t[]){60, 3});
        char *order = memmem(header, length, "False", 5);
        assert_non_null(order);
        if (fortran)
            memcpy(order, "True ", 5);
        fwrite(header, 1, length, out);
        for (int i = 0; i < 180; i++)
            fwrite(&(double){i * 0.37 - 20}, 1, sizeof(double), out);
        end_text(&w, "files/features.npy");
        compare(in_scratch("files"), none);
    }
    unlink(in_scratch("files/nodes.csv")); /* the rows make the nodes */
    compare(in_scratch("files"), none);
}

/* An edge list with files beside it, other column names, and dataset.json. */
static void lists(void **state)
{
    (void)state;
    struct reading_options reading = {.labels = in_scratch("labels.txt"),
                                      .features = in_scratch("x.csv")};
    struct writing w;
    write_edges("list.csv", "%d", 40, 200, true);
    FILE *out = begin_text(&w);
    for (int i = 0; i < 40; i += 3)
        fprintf(out, "%d c%d\n", i, i % 4);
    end_text(&w, "labels.txt");
    out = begin_text(&w);
    fprintf(out, "p;q;r\n");
    for (int i = 0; i < 40; i++)
        fprintf(out, "%d;0,5;%d\n", i, i * i);
    end_text(&w, "x.csv");
    compare(in_scratch("list.csv"), reading);
    write_edges("named/edges.csv", "%d", 30, 100, true);
    write_nodes("named/nodes.csv", "%d", 30, 3, 1);
    write_text("named/dataset.json",
               "{\"name\": \"n\", \"directed\": true, \"classes\": [\"red\", \"blue\", \"no\"]}");
    compare(
        in_scratch("named"),
        (struct reading_options){.wanted = {.label = "label", .weight = "weight", .ignore = "f1"}});
}

/* The edges define the nodes: numbers ascending, names in order of appearance, labels' names first.
 */
static void nodes_of_edges(void **state)
{
    (void)state;
    static const char *const ids[] = {"%d", "1%03d7", "x%d", "%d000000000"};
    struct reading_options none = {0}, labels = {.labels = in_scratch("only/labels.csv")};
    write_text("only/labels.csv", "id,label\n17,red\nx3,blue\n90000,red\n");
    for (int k = 0; k < 4; k++) {
        write_edges("only/edges.csv", ids[k], 90, 300, k % 2);
        compare(in_scratch("only"), none);
        compare(in_scratch("only/edges.csv"), labels);
    }
    write_edges("only/edges.csv", "node %d", 4000, 190000, false);
    compare(in_scratch("only"), none);
    replace_line("only/edges.csv", 150002, "node 1");
    all_say(in_scratch("only"), CONSM_EFORMAT, "edges.csv: line 150002: found 1 column");
    write_text("only/edges.csv",
               "a b\n1 2\n2 3\n"); /* words above numbers, though labels know one */
    write_text("only/labels.csv", "a,x\n1,y\n");
    compare(in_scratch("only/edges.csv"), labels);
}

/* Columns that are not numbers: their features are those of the whole table. */
static void columns(void **state)
{
    (void)state;
    static const char *const towns[] = {"Bern", "Rome", "Oslo", "", "n/a", "Wien", "Rome"};
    struct reading_options none = {0};
    struct writing w;
    uint32_t random = 5;
    write_edges("columns/edges.csv", "%d", 200, 400, false);
    for (int with_ids = 0; with_ids < 2; with_ids++) {
        FILE *out = begin_text(&w);
        fprintf(out, "id,town,age,vip,joined,note,rare,empty,code\n");
        for (int i = 0; i < 200; i++) {
            int id = with_ids ? i * 77 % 200 : i;
            uint32_t k = draw(&random);
            fprintf(out, "%d,%s,", id, towns[k % 7]);
            fprintf(out, k % 11 ? "%u.3," : "?,", k % 90);
            fprintf(out, "%s,", k % 5 ? k % 2 ? "yes" : "no" : "");
            fprintf(out, k % 13 ? "2026-0%u-1%uT0%u:17:00Z," : ",", 1 + k % 9, k % 10, k % 8);
            fprintf(out, "text %d,r%u,,%u%s\n", id, k % 70, k % 3, k % 4 ? "b" : "");
        }
        end_text(&w, with_ids ? "columns/features.csv" : "columns/nodes.csv");
        if (with_ids)
            write_nodes("columns/nodes.csv", "%d", 200, 0, 1);
        compare(in_scratch("columns"), none);
    }
}

/* More processes than nodes, a file without a last line end, one without edges. */
static void small_sets(void **state)
{
    (void)state;
    struct reading_options none = {0};
    write_text("small/edges.csv", "0,1\r\n1,0\r\n2,2\r\n2,1");
    write_text("small/nodes.csv", "id,f\n0,1\n1,5\n2,7\n");
    compare(in_scratch("small"), none);
    write_text("small/edges.csv", "source,target\n");
    compare(in_scratch("small"), none);
}

/* ---- bad input ----------------------------------------------------------- */

/* Line numbers are those of the file, whoever reads it, and the first of several faults is
 * reported. */
static void bad_lines(void **state)
{
    (void)state;
    write_nodes("bad/nodes.csv", "%d", 5000, 2, 1);
    write_edges("bad/edges.csv", "%d", 5000, 260000, true);
    replace_line("bad/edges.csv", 250001, "7,8,heavy");
    all_say(in_scratch("bad"), CONSM_EFORMAT,
            "edges.csv: line 250001, column 3 (weight): found \"heavy\"");
    replace_line("bad/edges.csv", 130000, "7,9999,1");
    all_say(in_scratch("bad"), CONSM_EFORMAT,
            "edges.csv: line 130000, column 2 (target): found \"9999\", expected a node of");
    replace_line("bad/edges.csv", 60000, "7,8");
    all_say(in_scratch("bad"), CONSM_EFORMAT, "edges.csv: line 60000: found 2 columns");
}

/* A quoted text across the place where the file is cut: no process may take the rest for rows. */
static void bad_cut(void **state)
{
    (void)state;
    struct writing w;
    FILE *out = begin_text(&w);
    long rows = 0;
    for (; ftell(out) < (1 << 20) - 40; rows++)
        fprintf(out, "0,1\n");
    fprintf(out, "\"long\n");
    for (int i = 0; i < 30; i++)
        fprintf(out, "0,1\n");
    fprintf(out, "name\",1\n0,1\n");
    end_text(&w, "cut/edges.csv");
    out = begin_text(&w);
    fprintf(out, "id,f\n0,1\n1,2\n\"long\n");
    for (int i = 0; i < 30; i++)
        fprintf(out, "0,1\n");
    fprintf(out, "name\",3\n");
    end_text(&w, "cut/nodes.csv");
    char text[120];
    snprintf(text, sizeof text, "edges.csv: line %ld, column 1: found a line end inside quotes",
             rows + 1);
    all_say(in_scratch("cut"), CONSM_EFORMAT, text);
}

/* Not a number, compressed, without features, not a list. */
static void refused(void **state)
{
    (void)state;
    static const unsigned char packed[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3,
                                           3,    0,    0, 0, 0, 0, 0, 0, 0, 0};
    write_edges("no/edges.csv", "%d", 50, 100, false);
    write_nodes("no/nodes.csv", "%d", 50, 2, 1);
    replace_line("no/nodes.csv", 44, "red,42,test,1,soft");
    all_say(in_scratch("no"), CONSM_EFORMAT,
            "nodes.csv: line 44, column f1: found \"soft\", expected a finite number as in other");
    write_nodes("no/nodes.csv", "%d", 50, 0, 1);
    write_bytes("no/features.npz", "PK\3\4", 4);
    all_say(in_scratch("no"), CONSM_EINVAL,
            "features.npz: a compressed array cannot be read in parts");
    unlink(in_scratch("no/features.npz"));
    write_text("no/features.csv", "1,2\n3,4\n");
    all_say(in_scratch("no"), CONSM_EFORMAT, "found 2 rows, expected one for each of 50 nodes");
    unlink(in_scratch("no/edges.csv"));
    write_bytes("no/edges.csv.gz", packed, sizeof packed);
    all_say(in_scratch("no"), CONSM_EINVAL,
            "edges.csv.gz: a compressed file cannot be read in parts");
    all_say(write_text("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n"),
            CONSM_EINVAL, "m.mtx: the format is Matrix Market: --in-parts reads edge lists");
}

/* Processes that see different files, here by different names, stop before they wait for each
 * other. */
static void other_files(void **state)
{
    (void)state;
    struct process process[2];
    pthread_t thread;
    write_text("one/edges.csv", "0,1\n1,2\n");
    write_text("one/nodes.csv", "id,f\n0,1\n1,3\n2,3\n");
    write_text("two/edges.csv", "0,1\n1,0\n");
    write_text("two/nodes.csv", "id,f\n0,1\n1,3\n2,3\n");
    processes = 2;
    pthread_barrier_init(&meeting, NULL, 2);
    process[0] = (struct process){.number = 0, .path = in_scratch("one")};
    process[1] = (struct process){.number = 1, .path = in_scratch("two")};
    assert_int_equal(pthread_create(&thread, NULL, load, &process[1]), 0);
    load(&process[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&meeting);
    for (int p = 0; p < 2; p++) {
        assert_int_equal(process[p].status, CONSM_EINVAL);
        assert_string_equal(process[p].message,
                            "the ranks disagree: rank 1 differs from rank 0 in its files");
    }
}

/* Rows of a table by id: one twice, one of an unknown node. */
static void bad_rows(void **state)
{
    (void)state;
    write_text("rows/edges.csv", "0,1\n1,2\n");
    write_text("rows/nodes.csv", "id\n0\n1\n2\n");
    write_text("rows/features.csv", "id,f\n0,1\n2,1\n2,1\n");
    all_say(in_scratch("rows"), CONSM_EFORMAT, "features.csv: line 4, column 1 (id): found \"2\"");
    write_text("rows/features.csv", "id,f\n0,1\n7,1\n2,1\n");
    all_say(in_scratch("rows"), CONSM_EFORMAT, "features.csv: line 3, column 1 (id): found \"7\"");
    write_text("rows/features.csv", "id,f\n0,1\n1\n2,1\n");
    all_say(in_scratch("rows"), CONSM_EFORMAT, "features.csv: line 3: found 1 column");
}

/* For any content: parts are refused if the whole is, and otherwise are equal. */
static void damaged(void **state)
{
    (void)state;
    static const char edges[] =
        "source,target,weight\na,b,1\n\"b\",c,2.5\nc,d,3\n# x\nd,a,4\na,b,7\n";
    static const char nodes[] = "id,label,f,g\na,x,1,2\nb,y,0,4\n\"c\",,5,0\nd,x,7,1e3\n";
    static const char odd[] = "\",\n\r\t; 0-a#x.e\xff";
    struct reading_options none = {0};
    uint32_t random = 11;
    int read = 0, refusals = 0;
    for (int turn = 0; turn < 200; turn++) {
        struct process process[MOST];
        struct dataset *whole;
        char text[2][128];
        snprintf(text[0], sizeof text[0], "%s", edges);
        snprintf(text[1], sizeof text[1], "%s", nodes);
        char *hit = text[draw(&random) % 2];
        size_t at = draw(&random) % strlen(hit);
        hit[at] = turn % 5 ? odd[draw(&random) % (sizeof odd - 1)] : 0; /* or cut */
        write_text("damaged/edges.csv", text[0]);
        write_text("damaged/nodes.csv", text[1]);
        consm_status st = data_load_path(&whole, in_scratch("damaged"), NULL);
        load_in_parts(process, 3, in_scratch("damaged"), none);
        for (int p = 0; p < 3; p++) {
            if ((process[p].status < 0) != (st < 0))
                fail_msg("whole: %d, in parts: %s; of\n%s\n%s", st, process[p].message, text[0],
                         text[1]);
            dataset_free(process[p].d);
        }
        read += st == CONSM_OK;
        refusals += st < 0;
        if (st == CONSM_OK)
            compare(in_scratch("damaged"), none);
        dataset_free(whole);
    }
    assert_true(read > 15 && refusals > 15);
}

/* ---- memory -------------------------------------------------------------- */

static consm_status load_alone(const char *path, const char *labels)
{
    struct partition partition = {.parts = 1, .swap = swap};
    struct reading_options reading = {.labels = labels, .partition = &partition};
    struct dataset *d;
    consm_status st = data_load_with(&d, path, NULL, &reading);
    dataset_free(d);
    return st;
}

static consm_status load_table(void)
{
    return load_alone(in_scratch("memory"), NULL);
}

static consm_status load_names(void)
{
    return load_alone(in_scratch("memory/edges.csv"), in_scratch("memory/labels.csv"));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    consm_status (*const calls[])(void) = {load_table, load_names};
    write_text("memory/edges.csv", "source,target,weight\na,b,1\nb,c,2\nc,a,1\na,c,4\n");
    write_text("memory/nodes.csv", "id,label,town,age\na,x,Bern,7\nb,y,Rome,\nc,x,Bern,9\n");
    write_text("memory/labels.csv", "id,label\na,x\nz,y\n");
    processes = 1;
    me = 0;
    pthread_barrier_init(&meeting, NULL, 1);
    memory_runs_out(calls, 2, 60);
    pthread_barrier_destroy(&meeting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders),
        cmocka_unit_test(blocks),
        cmocka_unit_test(feature_files),
        cmocka_unit_test(lists),
        cmocka_unit_test(small_sets),
        cmocka_unit_test(bad_lines),
        cmocka_unit_test(bad_cut),
        cmocka_unit_test(refused),
        cmocka_unit_test(bad_rows),
        cmocka_unit_test(other_files),
        cmocka_unit_test(nodes_of_edges),
        cmocka_unit_test(columns),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
