/* Rules of readers for ambiguous files: repeated pairs, negative weights, edges to unlisted nodes,
 * columns named by flags, numbers that a float cannot distinguish, the word none. No rule may
 * depend on node numbers. */
#include "datasets.h"
#include "reseal.h"

#include "app/objects.h"
#include "data/open.h"
#include "data/readers/graph_maker.h"
#include "data/readers/plain.h"
#include "data/table/recipe.h"

/* A folder of these two files, opened with these options. */
static consm_status open_folder(struct dataset **out, const char *edges, const char *nodes,
                                const struct data_options *o)
{
    write_text("rules/edges.csv", edges);
    write_text("rules/nodes.csv", nodes);
    return data_open(out, in_scratch("rules"), o);
}

static int64_t node_of(const struct dataset *d, const char *id)
{
    char buffer[24];
    for (int64_t i = 0; i < d->nodes; i++)
        if (strcmp(dataset_node_id(d, i, buffer), id) == 0)
            return i;
    return -1;
}

/* ---- the log ------------------------------------------------------------- */

static char told[2000];

static void remember(void *arg, enum consm_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s\n", text);
}

static void listen(void)
{
    *told = 0;
    consm_set_log(remember, NULL);
}

/* ---- pairs that are listed more than once -------------------------------- */

static float weight_of(const struct dataset *d, const char *a, const char *b)
{
    struct csr *g;
    OK(dataset_graph(&g, d, NULL));
    int64_t there = csr_find(g, node_of(d, a), (int32_t)node_of(d, b));
    int64_t back = csr_find(g, node_of(d, b), (int32_t)node_of(d, a));
    assert_true(there >= 0 && back >= 0);
    float weight = g->val[there];
    assert_true(weight == g->val[back]);
    csr_free(g);
    return weight;
}

static void repeated_pairs(void **state)
{
    (void)state;
    static const char edges[] = "source,target,weight\na,b,1\nb,a,4\nb,c,2\nb,c,0.5\nc,a,7\na,c,7\n"
                                "a,b,4\n";
    static const char *const nodes[] = {"id,label\na,x\nb,y\nc,x\n", "id,label\nc,x\nb,y\na,x\n"};
    for (int order = 0; order < 2; order++) { /* either node may have the lower number */
        struct dataset *d;
        struct csr *g;
        struct edge_facts facts;
        OK(open_folder(&d, edges, nodes[order], NULL));
        assert_true(weight_of(d, "a", "b") == 3 && weight_of(d, "b", "c") == 1.25f);
        assert_true(weight_of(d, "a", "c") == 7);
        OK(dataset_graph(&g, d, &facts));
        assert_int_equal(facts.differ, 2);
        assert_int_equal(facts.repeats, 4);
        csr_free(g);
        listen();
        dataset_say_duplicates(d, facts.differ);
        assert_non_null(strstr(told, "2 pairs of nodes listed more than once with different "
                                     "weights; used their mean"));
        dataset_free(d);
        OK(open_folder(&d, edges, nodes[order],
                       &(struct data_options){.duplicates = "keep-first"}));
        assert_true(weight_of(d, "a", "b") == 1 && weight_of(d, "b", "c") == 2);
        dataset_free(d);
        OK(open_folder(&d, edges, nodes[order], &(struct data_options){.duplicates = "error"}));
        FAILS(dataset_graph(&g, d, NULL), CONSM_EFORMAT, "2 pairs of nodes listed");
        dataset_free(d);
        /* Both directions with one weight do not contradict. */
        OK(open_folder(&d, "a,b,2\nb,a,2\n", nodes[order],
                       &(struct data_options){.duplicates = "error"}));
        assert_true(weight_of(d, "a", "b") == 2);
        dataset_free(d);
        FAILS(open_folder(&d, edges, nodes[order], &(struct data_options){.duplicates = "max"}),
              CONSM_EINVAL, "--duplicates max: expected mean, keep-first or error");
    }
    consm_set_log(NULL, NULL);
}

static void negative_weights(void **state)
{
    (void)state;
    struct dataset *d;
    const char *nodes = "id,label\na,x\nb,y\n";
    FAILS(open_folder(&d, "source,target,weight\na,b,-1\n", nodes, NULL), CONSM_EFORMAT,
          "line 2, column 3 (weight): found \"-1\", expected a weight >= 0");
    OK(open_folder(&d, "source,target,weight\na,b,0\n", nodes, NULL));
    d->weight[0] = -0.5f; /* as an array would bring it */
    FAILS(dataset_check(d), CONSM_EFORMAT, "edge 0 has weight -0.5: expected a finite number >= 0");
    dataset_free(d);
}

/* ---- columns and nodes --------------------------------------------------- */

static void ends_by_name(void **state)
{
    (void)state;
    struct dataset *d;
    const char *edges = "when,payer,payee,amount\n1,a,b,5\n2,b,a,6\n";
    const char *nodes = "id\na\nb\n";
    struct data_options o = {
        .source_column = "payee", .target_column = "payer", .weight_column = "amount"};
    OK(open_folder(&d, edges, nodes, &o));
    assert_int_equal(d->from[0], 1);
    assert_int_equal(d->to[0], 0);
    assert_true(d->weight[1] == 6);
    dataset_free(d);
    o.target_column = NULL;
    FAILS(open_folder(&d, edges, nodes, &o), CONSM_EINVAL,
          "name the other end with "
          "--target-column");
    o.target_column = "payed";
    FAILS(open_folder(&d, edges, nodes, &o), CONSM_EINVAL,
          "--target-column payed: no table has this column; did you mean payer?");
    o = (struct data_options){.source_column = "paier", .weight_column = "amount"};
    FAILS(open_folder(&d, "source,target,amount\na,b,1\n", nodes, &o), CONSM_EINVAL,
          "--source-column paier: no table has this column; columns:");
    o = (struct data_options){.weight_column = "amuont"};
    FAILS(open_folder(&d, "source,target,amount,weight\na,b,1,2\n", nodes, &o), CONSM_EINVAL,
          "--weight-column amuont: no table has this column; did you mean amount? Columns:");
}

/* What a model remembers is used if nothing is typed, and need not exist. */
static void remembered_choices(void **state)
{
    (void)state;
    struct dataset *first, *d;
    struct data_options o = {.id_column = "name",
                             .label_column = "kind",
                             .weight_column = "amount",
                             .ignore = "note",
                             .duplicates = "keep-first",
                             .unknown_nodes = "drop"};
    const char *edges = "source,target,amount\na,b,5\nb,a,6\na,z,1\n";
    const char *nodes = "name,kind,note,y\na,x,1,10\nb,w,2,20\n";
    OK(open_folder(&first, edges, nodes, &o));
    struct data_options next = {.remembered = &first->choices};
    OK(open_folder(&d, edges, nodes, &next));
    assert_true(d->classes == 2 && d->features == 1 && d->edges == 2);
    assert_true(weight_of(d, "a", "b") == 5);
    dataset_free(d);
    /* Unlabelled, and without the ignored column: y is still not a label. */
    OK(open_folder(&d, edges, "name,y\na,10\nb,20\n", &next));
    assert_true(d->classes == 0 && d->features == 1);
    dataset_free(d);
    /* Typed flags win, and must exist. */
    next.unknown_nodes = "add";
    OK(open_folder(&d, edges, nodes, &next));
    assert_int_equal(d->nodes, 3);
    dataset_free(d);
    next.label_column = "sort";
    FAILS(open_folder(&d, edges, nodes, &next), CONSM_EINVAL, "--label-column sort: no table has");
    /* A file of another format has its own names. */
    next = (struct data_options){.remembered = &first->choices};
    write_text(
        "g.graphml",
        "<graphml><key id=\"k\" for=\"node\" attr.name=\"label\"/><key id=\"w\" for=\"edge\" "
        "attr.name=\"weight\"/><graph><node id=\"a\"><data key=\"k\">x</data></node>"
        "<node id=\"b\"/><edge source=\"a\" target=\"b\"><data key=\"w\">3</data></edge>"
        "</graph></graphml>");
    OK(data_open(&d, in_scratch("g.graphml"), &next));
    assert_true(d->classes == 1 && node_of(d, "b") == 1 && d->weight[0] == 3);
    dataset_free(d);
    dataset_free(first);
}

/* Replaces text in a model file by as many bytes, and seals it again. */
static void forge(const char *path, const char *old, const char *new)
{
    size_t size = 0, length = strlen(old);
    uint8_t *bytes = file_bytes(path, &size);
    bool found = false;
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, old, length) == 0) {
            memcpy(bytes + i, new, length);
            found = true;
        }
    assert_true(found && strlen(new) == length);
    reseal(bytes, size);
    file_put(path, bytes, size);
    free(bytes);
}

/* Through a model file and the public interface; a forged file is refused. */
static void remembered_by_a_file(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_options *options;
    struct consm_model *model;
    char path[300];
    struct consm_open_options how = {.size = sizeof how,
                                     .id_column = "name",
                                     .label_column = "sort",
                                     .duplicates = "keep-first"};
    write_text("rules/edges.csv", "source,target,weight\na,b,5\nb,a,6\nc,d,1\n");
    write_text("rules/nodes.csv", "name,sort,age\na,x,1\nb,w,2\nc,x,1\nd,w,3\n");
    snprintf(path, sizeof path, "%s", in_scratch("model.safetensors"));
    OK(consm_dataset_open_with(&d, in_scratch("rules"), &how));
    OK(consm_options_new(&options, "gcn"));
    OK(consm_options_set(options, "epochs", "2"));
    OK(consm_train(&model, d, options));
    OK(consm_model_save(model, path));
    consm_model_free(model);
    consm_dataset_free(d);
    OK(consm_model_load(&model, path));
    how = (struct consm_open_options){.size = sizeof how, .model = model};
    OK(consm_dataset_open_with(&d, in_scratch("rules"), &how));
    assert_int_equal(d->data->classes, 2);
    assert_true(weight_of(d->data, "a", "b") == 5);
    consm_dataset_free(d);
    consm_model_free(model);

    forge(path, "keep-first", "keep-frist");
    OK(consm_model_load(&model, path));
    how.model = model;
    FAILS(consm_dataset_open_with(&d, in_scratch("rules"), &how), CONSM_EINVAL,
          "--duplicates keep-frist: expected mean, keep-first or error");
    consm_model_free(model);
    forge(path, "\\\"sort\\\"", "3       ");
    FAILS(consm_model_load(&model, path), CONSM_EFORMAT, "\"reading\": label-column is not text");
    consm_options_free(options);
}

static void unknown_nodes(void **state)
{
    (void)state;
    struct dataset *d;
    const char *edges = "a,b,1\nb,z,2\na,c,3\nz,y,4\nc,b,5\n";
    const char *nodes = "id,label,split,age\na,x,train,10\nb,y,test,20\nc,x,val,60\n";
    FAILS(open_folder(&d, edges, nodes, NULL), CONSM_EFORMAT, "found \"z\", expected a node");
    listen();
    OK(open_folder(&d, edges, nodes, &(struct data_options){.unknown_nodes = "drop"}));
    assert_int_equal(d->nodes, 3);
    assert_int_equal(d->edges, 3);
    assert_true(d->weight[0] == 1 && d->weight[1] == 3 && d->weight[2] == 5);
    assert_true(d->from[2] == 2 && d->to[2] == 1);
    assert_non_null(strstr(told, "dropped 2 edges to nodes that are not listed"));
    dataset_free(d);
    listen();
    OK(open_folder(&d, edges, nodes, &(struct data_options){.unknown_nodes = "add"}));
    assert_int_equal(d->nodes, 5);
    assert_int_equal(d->edges, 5);
    assert_int_equal(node_of(d, "z"), 3);
    assert_int_equal(d->label[3], -1);
    assert_int_equal(d->role[3], SPLIT_NONE);
    assert_int_equal(d->features, 2); /* age, age is missing */
    assert_true(d->dense[2 * 3] == 30 && d->dense[2 * 3 + 1] == 1 && d->dense[2 * 2 + 1] == 0);
    assert_non_null(strstr(told, "added 2 nodes found only in edges"));
    dataset_free(d);
    consm_set_log(NULL, NULL);
    FAILS(open_folder(&d, edges, nodes, &(struct data_options){.unknown_nodes = "keep"}),
          CONSM_EINVAL, "--unknown-nodes keep: expected error, drop or add");
}

/* The same for a graph file, whose undeclared nodes are among the others. */
static void unknown_in_graphs(void **state)
{
    (void)state;
    static const char text[] =
        "<graphml><key id=\"k\" for=\"node\" attr.name=\"age\"/><graph>"
        "<edge source=\"z\" target=\"a\"/><node id=\"a\"><data key=\"k\">1</data></node>"
        "<node id=\"b\"><data key=\"k\">3</data></node><edge source=\"a\" target=\"b\"/>"
        "</graph></graphml>";
    static const enum unknown_nodes rule[] = {UNKNOWN_DROP, UNKNOWN_ADD};
    for (int i = 0; i < 2; i++) {
        struct reading_options reading = {.wanted = {.unknown = rule[i]}};
        struct dataset *d;
        OK(dataset_new(&d, "set"));
        OK(maker_read_file(d, &(struct text_file){"file", text, sizeof text - 1, false}, &reading,
                           graphml_read));
        assert_int_equal(d->nodes, i ? 3 : 2);
        assert_int_equal(d->edges, i ? 2 : 1);
        assert_string_equal(d->node_id[d->from[d->edges - 1]], "a");
        assert_string_equal(d->node_id[d->to[d->edges - 1]], "b");
        assert_true(d->dense[node_of(d, "b") * d->features] == 3);
        assert_true(d->dense[node_of(d, "a") * d->features] == 1);
        dataset_free(d);
    }
}

/* ---- cells --------------------------------------------------------------- */

/* Unix times and minutes of a day: 30 seconds stay 30 seconds, also in the next table. */
static void large_and_near(void **state)
{
    (void)state;
    struct dataset *d, *next;
    struct recipe *r;
    float *x;
    struct faults *faults = calloc(1, sizeof *faults);
    const char *edges = "a,b\n";
    OK(open_folder(&d, edges,
                   "id,when,day,amount\na,1700000000,2026-11-16T10:00,200000\n"
                   "b,1700000030,2026-11-16T10:01,300000.5\nc,1700000090,2026-11-16T10:03,5\n",
                   NULL));
    assert_int_equal(d->features, 3);
    assert_string_equal(d->feature_name[0], "when-1700000040");
    assert_string_equal(d->feature_name[1], "day-20773");
    assert_string_equal(d->feature_name[2], "amount"); /* far apart: as they are */
    assert_true(d->dense[0] == -40 && d->dense[3] == -10 && d->dense[6] == 50);
    assert_near((d->dense[4] - d->dense[1]) * 1440, 1, 1e-2);
    assert_true(d->dense[2] == 200000 && d->dense[8] == 5);
    OK(open_folder(&next, edges,
                   "id,amount,when,day\na,1,1700000041,2026-11-17\nb,2,0,2026-11-18\n", NULL));
    json_t *saved = recipe_to_json(d->recipe);
    OK(recipe_from_json(&r, saved));
    json_decref(saved);
    assert_non_null(next->cells);
    OK(recipe_apply(&x, r, next->cells, faults, "next"));
    assert_true(x[0] == 1 && x[3] == -1700000040.0f && x[1] == 1); /* 2026-11-17 is day 20774 */
    mem_free(x);
    recipe_free(r);
    free(faults);
    dataset_free(d);
    dataset_free(next);
}

static void the_word_none(void **state)
{
    (void)state;
    struct dataset *d;
    OK(open_folder(&d, "a,b\n", "id,plan,age\na,none,1\nb,gold,none\nc,None,3\nd,,4\ne,none,5\n",
                   NULL));
    static const char *const name[] = {"plan=None",       "plan=gold", "plan=none",
                                       "plan is missing", "age",       "age is missing"};
    static const float x[] = {0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 3.25f, 1, 1, 0, 0,
                              0, 3, 0, 0, 0, 0, 1, 4, 0, 0, 0,     1, 0, 5, 0};
    assert_int_equal(d->features, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(d->feature_name[i], name[i]);
    assert_memory_equal(d->dense, x, sizeof x);
    dataset_free(d);
}

/* Texts that are nearly all different are names, however few rows there are. */
static void nearly_unique(void **state)
{
    (void)state;
    char nodes[1000], *at = nodes + sprintf(nodes, "id,who,town\n");
    struct dataset *d;
    for (int i = 0; i < 20; i++)
        at += sprintf(at, "n%d,person %d,town %d\n", i, i == 19 ? 0 : i, i % 15);
    OK(open_folder(&d, "n0,n1\n", nodes, NULL));
    assert_int_equal(d->recipe->column[0].kind, RECIPE_LEFT_OUT);
    assert_int_equal(d->recipe->column[1].kind, RECIPE_CATEGORY);
    assert_int_equal(d->features, 15);
    dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_pairs),     cmocka_unit_test(negative_weights),
        cmocka_unit_test(ends_by_name),       cmocka_unit_test(unknown_nodes),
        cmocka_unit_test(unknown_in_graphs),  cmocka_unit_test(large_and_near),
        cmocka_unit_test(the_word_none),      cmocka_unit_test(nearly_unique),
        cmocka_unit_test(remembered_choices), cmocka_unit_test(remembered_by_a_file),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
