/* Planetoid sets: the figures of the real files, and small sets written here with the faults that
 * people meet. */
#include "check.h"

#include "data/planetoid.h"
#include "store/file.h"

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
    };
    const char *data = real_data("planetoid real_figures");
    char *folder;
    if (!data)
        return;
    OK(file_join(&folder, data, "planetoid"));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct dataset *d;
        struct csr *graph;
        struct edge_facts facts;
        int class_count[7] = {0}, role_count[4] = {0};
        OK(planetoid_load(&d, folder, known[i].name));
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
    struct dataset *none;
    FAILS(planetoid_load(&none, folder, "pubmed"), CONSM_EIO, "ind.pubmed.allx: cannot open");
    mem_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
