/* Graphs from NumPy archives: the figures of the real files, both layouts, round trips, bad input.
 */
#include "check.h"

#include "data/npz.h"
#include "store/file.h"

struct figures {
    const char *file;
    int64_t nodes, edges, loops, undirected, features, nonzeros;
    int32_t classes;
    bool directed;
    const char *sha256;
};

static void real_files(void **state)
{
    (void)state;
    static const struct figures known[] = {
        {"yandex/actor.npz", 7600, 26659, 0, 26659, 932, 40977, 5, false, "c350eef06b2c2a9b"},
        {"yandex/chameleon.npz", 2277, 31371, 0, 31371, 2325, 29157, 5, false, "4c640bd2877fc4f9"},
        {"yandex/chameleon_directed.npz", 2277, 36101, 50, 31371, 2325, 29157, 5, true,
         "34aea6b688806354"},
        {"yandex/squirrel.npz", 5201, 198353, 0, 198353, 2089, 93477, 5, false, "d436e3b42c0546b1"},
        {"yandex/squirrel_directed.npz", 5201, 217073, 140, 198353, 2089, 93477, 5, true,
         "3f0436486716cf77"},
    };
    const char *folder = real_data("npz real_files");
    for (size_t i = 0; folder && i < sizeof known / sizeof *known; i++) {
        struct dataset *d;
        struct csr *graph;
        struct edge_facts facts;
        char *path;
        OK(file_join(&path, folder, known[i].file));
        OK(npz_load(&d, path));
        OK(dataset_graph(&graph, d, &facts));
        assert_int_equal(d->nodes, known[i].nodes);
        assert_int_equal(d->edges, known[i].edges);
        assert_int_equal(facts.loops, known[i].loops);
        assert_int_equal(facts.kept, 2 * known[i].undirected);
        assert_int_equal(d->features, known[i].features);
        assert_non_null(d->sparse);
        assert_int_equal(d->sparse->nnz, known[i].nonzeros);
        assert_int_equal(d->classes, known[i].classes);
        assert_int_equal(d->splits, 10);
        assert_int_equal(d->directed, known[i].directed);
        assert_memory_equal(d->sha256, known[i].sha256, 16);
        csr_free(graph);
        dataset_free(d);
        mem_free(path);
    }
}

static void real_split(void **state)
{
    (void)state;
    const char *folder = real_data("npz real_split");
    static uint8_t role[7600];
    int count[4] = {0};
    char *path;
    if (!folder)
        return;
    OK(file_join(&path, folder, "geom-gcn/splits/film_split_0.6_0.2_0.npz"));
    OK(npz_read_split(role, 7600, path));
    for (int i = 0; i < 7600; i++)
        count[role[i]]++;
    assert_int_equal(count[SPLIT_TRAIN], 3648);
    assert_int_equal(count[SPLIT_VAL], 2432);
    assert_int_equal(count[SPLIT_TEST], 1520);
    FAILS(npz_read_split(role, 7599, path), CONSM_EFORMAT, "expected (7599)");
    mem_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files),
        cmocka_unit_test(real_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
