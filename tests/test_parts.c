/* A graph in parts: the two files of a folder, views made from some of the rows; everything in the
 * files is checked before it is used as an index. */
#include "datasets.h"
#include "reseal.h"

#include "app/prepare.h"
#include "data/readers/parts.h"
#include "data/readers/plain.h"
#include "data/readers/safetensors.h"
#include "graph/cut.h"
#include "graph/edges.h"
#include "graph/partition.h"
#include "graph/structural.h"
#include "graph/views.h"
#include "stats/rank.h"
#include <math.h>
#include <pthread.h>

/* A ring of six with a chord, a loop and a repeat; weighted or not. */
static struct dataset *sample(bool weighted)
{
    struct dataset *d;
    static const char plain[] = "0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n0,3\n2,2\n1,0\n";
    static const char heavy[] =
        "0,1,0.3\n1,2,0.7\n2,3,1.1\n3,4,0.9\n4,5,3.3\n5,0,0.1\n0,3,0.7\n2,2,5\n1,0,8\n";
    static const char nodes[] = "id,label\n0,x\n1,y\n2,x\n3,y\n4,x\n5,y\n";
    static const char features[] = "id,f,g\n0,1,2\n1,3,4\n2,5,6\n3,2,8\n4,1,3\n5,9,7\n";
    OK(dataset_new(&d, "sample"));
    OK(plain_read(
        d, &(struct plain_files){.edges = {"edges.csv", weighted ? heavy : plain,
                                           weighted ? sizeof heavy - 1 : sizeof plain - 1, false},
                                 .nodes = {"nodes.csv", nodes, sizeof nodes - 1, false},
                                 .features = {"features", features, sizeof features - 1, false}}));
    return d;
}

static const int64_t first[] = {0, 2, 6};
static const float shifts[] = {3.5f, 5}, scales[] = {0.5f, 0.25f};

/* The folder of a dataset. */
static const char *save(const struct dataset *d)
{
    const char *folder = in_scratch("parts");
    OK(file_make_folders(folder));
    OK(safetensors_dataset_save(d, in_scratch("parts/graph.safetensors")));
    OK(parts_save(d, folder, first, 2, shifts, scales));
    return folder;
}

static void comes_back(void **state)
{
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        struct dataset *d = sample(weighted), *back;
        struct csr *graph;
        OK(parts_load(&back, save(d)));
        same_dataset(d, back);
        OK(dataset_graph(&graph, d, NULL));
        assert_int_equal(back->rows->nnz, graph->nnz);
        assert_memory_equal(back->rows->start, graph->start, 7 * sizeof *graph->start);
        assert_memory_equal(back->rows->col, graph->col, (size_t)graph->nnz * sizeof *graph->col);
        assert_true(!back->rows->val == !weighted);
        assert_memory_equal(back->shift, shifts, sizeof shifts);
        assert_memory_equal(back->scale, scales, sizeof scales);
        csr_free(graph);
        dataset_free(back);
        dataset_free(d);
    }
}

/* ---- views --------------------------------------------------------------- */

/* Two processes, simulated by threads that exchange through shared memory. */
static const int64_t cuts[] = {0, 4, 6};
static pthread_barrier_t meeting;
static _Thread_local int me;
static struct {
    const void *record;
    const int64_t *send;
} desk[2];

static consm_status fake_gather(const int64_t *cut, void *array, size_t bytes)
{
    int other = !me;
    size_t from = (size_t)cut[other] * bytes, to = (size_t)cut[other + 1] * bytes;
    desk[me].record = array;
    pthread_barrier_wait(&meeting);
    memcpy((char *)array + from, (const char *)desk[other].record + from, to - from);
    pthread_barrier_wait(&meeting);
    return CONSM_OK;
}

static consm_status fake_swap(void **out, int64_t *got, const void *record, const int64_t *send,
                              size_t bytes)
{
    desk[me].record = record;
    desk[me].send = send;
    pthread_barrier_wait(&meeting);
    int64_t room = 1;
    for (int p = 0; p < 2; p++)
        room += desk[p].send[me + 1] - desk[p].send[me];
    char *to = mem_zalloc((size_t)room, bytes);
    assert_non_null(to);
    got[0] = 0;
    for (int p = 0; p < 2; p++) {
        int64_t begin = desk[p].send[me], count = desk[p].send[me + 1] - begin;
        memcpy(to + (size_t)got[p] * bytes, (const char *)desk[p].record + (size_t)begin * bytes,
               (size_t)count * bytes);
        got[p + 1] = got[p] + count;
    }
    *out = to;
    pthread_barrier_wait(&meeting);
    return CONSM_OK;
}

static uint64_t fake_total(uint64_t mine)
{
    static uint64_t laid[2];
    laid[me] = mine;
    pthread_barrier_wait(&meeting);
    uint64_t all = laid[0] + laid[1];
    pthread_barrier_wait(&meeting);
    return all;
}

static void same_rows(const struct csr *part, const struct csr *whole, int64_t low, int64_t high)
{
    assert_int_equal(part->nnz, whole->nnz);
    assert_memory_equal(part->start, whole->start, 7 * sizeof *whole->start);
    int64_t from = whole->start[low];
    size_t entries = (size_t)(whole->start[high] - from);
    assert_memory_equal(part->col + from, whole->col + from, entries * sizeof *whole->col);
    assert_memory_equal(part->val + from, whole->val + from, entries * sizeof *whole->val);
}

static const enum view kinds[] = {VIEW_LOOPS, VIEW_GCN, VIEW_SYMMETRIC, VIEW_TWO_HOP};

struct process {
    const struct csr *graph;
    struct views *whole;
    int number;
};

/* A matrix's reverse entries, if the transpose has them. */
static void same_entries(struct csr *mine, struct csr *all, int64_t low, int64_t high)
{
    int64_t from = all->start[low], to = all->start[high];
    OK(partition_entries(mine));
    assert_memory_equal(mine->t_entry + from, all->t_entry + from,
                        (size_t)(to - from) * sizeof *all->t_entry);
}

static struct partition partition_of(int process)
{
    return (struct partition){.low = cuts[process],
                              .high = cuts[process + 1],
                              .gather = fake_gather,
                              .parts = 2,
                              .cut = cuts,
                              .swap = fake_swap,
                              .total = fake_total};
}

/* The k best edges chosen by processes that have some each equal those of a list of all; each is
 * chosen at both ends. */
static void compare_choices(const struct csr *part, const struct csr *graph)
{
    static const float scores[] = {0.5f, -1, 0.5f, 0, -0.0f, 0.5f, 2}; /* of seven edges */
    struct edges *mine, *all;
    int64_t place[14];
    float score[14];
    uint8_t chosen[14], marked[14];
    OK(edges_new(&mine, part));
    OK(edges_new(&all, graph));
    assert_int_equal(all->count, 7);
    assert_int_equal(edges_all(mine), 7);
    for (int64_t i = 0; i < mine->count; i++) {
        place[i] = pair_find(all->left, all->right, 7, mine->left[i], mine->right[i]);
        assert_true(place[i] >= 0);
        score[i] = scores[place[i]];
    }
    for (int64_t k = 0; k <= 8; k++) {
        OK(edges_top(chosen, mine, score, k));
        struct rank_choice choice;
        bool taken[7];
        rank_choose(&choice, scores, 7, k, NULL);
        for (int64_t e = 0; e < 7; e++)
            taken[e] = rank_takes(&choice, scores[e], e);
        for (int64_t i = 0; i < mine->count; i++)
            assert_int_equal(chosen[i], taken[place[i]]);
    }
    memset(marked, 1, sizeof marked);
    int64_t *drawn, count;
    OK(edges_draw(&drawn, &count, mine, marked, 3, 5));
    assert_int_equal(fake_total((uint64_t)count), 3);
    mem_free(drawn);
    edges_free(mine);
    edges_free(all);
}

/* D^-1 A and its transpose. */
static void compare_means(const struct csr *part, const struct csr *graph, int64_t low,
                          int64_t high)
{
    struct csr *mine, *whole;
    OK(csr_neighbour_mean(&mine, part));
    OK(csr_row_normalize(&whole, graph));
    OK(csr_transpose(whole));
    same_rows(mine, whole, low, high);
    same_rows(mine->t, whole->t, low, high);
    csr_free(mine);
    csr_free(whole);
}

/* Rows of neighbours elsewhere, and their data. */
static void compare_near(const struct csr *part, const struct csr *graph)
{
    const struct partition *partition = part->partition;
    struct row_halo *halo;
    struct csr *near;
    double square[6];
    OK(partition_neighbours(&halo, part));
    OK(partition_near(&near, part, halo));
    for (int64_t r = partition->low; r < partition->high; r++)
        square[r] = (double)(r * r);
    OK(row_halo_fetch(halo, square, sizeof *square));
    for (int64_t k = graph->start[partition->low]; k < graph->start[partition->high]; k++) {
        int64_t c = graph->col[k], from = graph->start[c], count = graph->start[c + 1] - from;
        assert_memory_equal(near->col + from, graph->col + from,
                            (size_t)count * sizeof *graph->col);
        assert_true(square[c] == (double)(c * c));
    }
    csr_free(near);
    row_halo_free(halo);
}

static void *compare_views(void *arg)
{
    const struct process *p = arg;
    struct csr part = *p->graph;
    struct views *views;
    me = p->number;
    struct partition partition = partition_of(me);
    part.partition = &partition;
    part.t = NULL;
    OK(views_new(&views, &part));
    for (int k = 0; k < 4; k++) {
        struct csr *mine = (struct csr *)(uintptr_t)views_get(views, kinds[k]);
        struct csr *all = (struct csr *)(uintptr_t)views_get(p->whole, kinds[k]);
        assert_non_null(mine);
        same_rows(mine, all, partition.low, partition.high);
        same_rows(mine->t, all->t, partition.low, partition.high);
        same_entries(mine, all, partition.low, partition.high);
    }
    views_free(views);
    compare_near(&part, p->graph);
    compare_choices(&part, p->graph);
    compare_means(&part, p->graph, partition.low, partition.high);
    return NULL;
}

/* A cut moves to the nearest border, if that is near; a row weighs 1 here. */
static void cuts_at_borders(void **state)
{
    (void)state;
    enum { ROWS = 4000 };
    static int64_t weight[ROWS + 1];
    static const int64_t border[] = {0, 960, 1040, 2016, 3200, ROWS};
    int64_t cut[5];
    for (int64_t r = 0; r <= ROWS; r++)
        weight[r] = r;
    cut_rows(cut, weight, ROWS, 4);
    cut_snap(cut, weight, ROWS, 4, border, 6);
    assert_int_equal(cut[0], 0);
    assert_int_equal(cut[1], 1040); /* of 1008, which is 1000 at a multiple of 16 */
    assert_int_equal(cut[2], 2016); /* of 2000 */
    assert_int_equal(cut[3], 3008); /* 3200 is too far */
    assert_int_equal(cut[4], ROWS);
    cut_rows(cut, weight, ROWS, 4);
    cut_snap(cut, weight, ROWS, 4, NULL, 0);
    assert_int_equal(cut[1], 1008);
}

/* Words of six nodes: a row without any, a column without any. */
static struct csr *words(bool weighted)
{
    static const int32_t who[] = {0, 0, 1, 2, 2, 2, 4, 5, 5}, word[] = {1, 4, 4, 0, 1, 2, 1, 0, 4};
    static const float often[] = {1, 2, 0.5f, 3, 1, 1, 7, 2, 0.25f};
    struct csr *x;
    OK(csr_from_edges(&x, 6, 5, 9, who, word, weighted ? often : NULL, CSR_DIRECTED, NULL));
    return x;
}

static void *compare_words(void *arg)
{
    const struct process *p = arg;
    static const int64_t column_cut[] = {0, 2, 5};
    struct csr part = *p->graph, *even, *whole;
    me = p->number;
    struct partition partition = partition_of(me), columns = partition;
    columns.cut = column_cut;
    columns.low = column_cut[me];
    columns.high = column_cut[me + 1];
    part.partition = &partition;
    part.borrowed = true;
    part.t = NULL;
    part.t_entry = NULL;
    OK(csr_row_normalize(&even, &part));
    OK(csr_row_normalize(&whole, p->graph));
    OK(csr_transpose(whole));
    OK(partition_turn(even, &columns));
    int64_t from = whole->t->start[columns.low], count = whole->t->start[columns.high] - from;
    assert_memory_equal(even->t->start, whole->t->start, 6 * sizeof *whole->t->start);
    assert_memory_equal(even->t->col + from, whole->t->col + from,
                        (size_t)count * sizeof *whole->t->col);
    assert_memory_equal(even->t->val + from, whole->t->val + from,
                        (size_t)count * sizeof *whole->t->val);
    assert_memory_equal(even->t_entry + from, whole->t_entry + from,
                        (size_t)count * sizeof *whole->t_entry);
    csr_free(even);
    csr_free(whole);
    return NULL;
}

/* Sparse features and their transpose, which is divided by columns. */
static void parts_of_features(void **state)
{
    (void)state;
    pthread_barrier_init(&meeting, NULL, 2);
    for (int weighted = 0; weighted < 2; weighted++) {
        struct csr *x = words(weighted);
        pthread_t other;
        struct process one = {x, NULL, 0}, two = {x, NULL, 1};
        assert_int_equal(pthread_create(&other, NULL, compare_words, &two), 0);
        compare_words(&one);
        pthread_join(other, NULL);
        csr_free(x);
    }
    pthread_barrier_destroy(&meeting);
}

static void *compare_structure(void *arg)
{
    enum { F = STRUCTURAL_FEATURES };
    const struct process *p = arg;
    static const uint64_t key[] = {5, 6, 7, 8, 9, 10};
    struct csr part = *p->graph;
    float mine[6 * F], all[6 * F];
    me = p->number;
    struct partition partition = partition_of(me);
    part.partition = &partition;
    OK(structural_features(mine, &part, key));
    OK(structural_features(all, p->graph, key));
    assert_memory_equal(mine + partition.low * F, all + partition.low * F,
                        (size_t)((partition.high - partition.low) * F) * sizeof *all);
    return NULL;
}

/* Structural features, if there are no others. */
static void parts_of_structure(void **state)
{
    (void)state;
    struct dataset *d = sample(false);
    struct csr *graph;
    pthread_t other;
    pthread_barrier_init(&meeting, NULL, 2);
    OK(dataset_graph(&graph, d, NULL));
    struct process one = {graph, NULL, 0}, two = {graph, NULL, 1};
    assert_int_equal(pthread_create(&other, NULL, compare_structure, &two), 0);
    compare_structure(&one);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&meeting);
    csr_free(graph);
    dataset_free(d);
}

/* Every row of every view, and of its transpose, equals that of the whole graph, to the bit. */
static void shares_of_views(void **state)
{
    (void)state;
    pthread_barrier_init(&meeting, NULL, 2);
    for (int weighted = 0; weighted < 2; weighted++) {
        struct dataset *d = sample(weighted);
        struct csr *graph;
        struct views *whole;
        pthread_t other;
        OK(dataset_graph(&graph, d, NULL));
        OK(views_new(&whole, graph));
        for (int k = 0; k < 4; k++)
            OK(csr_transpose_entries((struct csr *)(uintptr_t)views_get(whole, kinds[k])));
        struct process one = {graph, whole, 0}, two = {graph, whole, 1};
        assert_int_equal(pthread_create(&other, NULL, compare_views, &two), 0);
        compare_views(&one);
        pthread_join(other, NULL);
        views_free(whole);
        csr_free(graph);
        dataset_free(d);
    }
    pthread_barrier_destroy(&meeting);
}

/* ---- bad input ----------------------------------------------------------- */

/* Writes a number into a tensor of rows.safetensors and seals the file again. */
static void forge(const char *tensor, size_t at, const void *number, size_t bytes)
{
    size_t size = 0, room;
    uint8_t *data = file_bytes(in_scratch("parts/rows.safetensors"), &size);
    uint8_t *place = tensor_in(data, size, tensor, &room);
    assert_non_null(place);
    assert_true((at + 1) * bytes <= room);
    memcpy(place + at * bytes, number, bytes);
    reseal(data, size);
    file_put(in_scratch("parts/rows.safetensors"), data, size);
    free(data);
}

static void forged_starts(void **state)
{
    (void)state;
    static const int64_t wrong[] = {-1, 15, INT64_MAX, INT64_MIN};
    struct dataset *d = sample(true), *back;
    for (size_t at = 0; at < 7; at++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            save(d);
            forge("start", at, &wrong[k], sizeof *wrong);
            FAILS(parts_load(&back, in_scratch("parts")), CONSM_EFORMAT, "rows.safetensors: row");
            assert_null(back);
        }
    save(d);
    float nothing = NAN;
    forge("scale", 1, &nothing, sizeof nothing);
    FAILS(parts_load(&back, in_scratch("parts")), CONSM_EFORMAT,
          "column 1 has the invalid shift 5 or scale");
    save(d);
    int64_t outside = 7;
    struct prepared prepared;
    forge("part", 1, &outside, sizeof outside);
    OK(parts_load(&back, in_scratch("parts")));
    FAILS(prepare(&prepared, back), CONSM_EFORMAT, "part 1 begins at the invalid row 7 of 6");
    dataset_free(back);
    dataset_free(d);
}

/* The owner of the rows checks columns, weights and features. */
static void forged_rows(void **state)
{
    (void)state;
    static const int32_t wrong[] = {-1, 6, INT32_MAX, 0, 4};
    struct dataset *d = sample(true), *back;
    struct prepared prepared;
    float nothing = NAN, other = 4;
    for (int k = 0; k < 5; k++) {
        save(d);
        forge("col", 0, &wrong[k], sizeof *wrong); /* row 0 has 1, 3, 5 */
        OK(parts_load(&back, in_scratch("parts")));
        FAILS(prepare(&prepared, back), CONSM_EFORMAT, "row 0 has column");
        OK(parts_check_rows(back, 1, 6));
        dataset_free(back);
    }
    int32_t another = 2; /* valid by itself, but without its reverse */
    save(d);
    forge("col", 0, &another, sizeof another);
    OK(parts_load(&back, in_scratch("parts")));
    FAILS(prepare(&prepared, back), CONSM_EFORMAT, "in one direction only");
    dataset_free(back);
    save(d);
    forge("weight", 3, &other, sizeof other);
    OK(parts_load(&back, in_scratch("parts")));
    FAILS(prepare(&prepared, back), CONSM_EFORMAT, "in one direction only");
    dataset_free(back);
    save(d);
    forge("weight", 3, &nothing, sizeof nothing);
    OK(parts_load(&back, in_scratch("parts")));
    FAILS(prepare(&prepared, back), CONSM_EFORMAT, "row 1 has the invalid weight");
    dataset_free(back);
    dataset_free(d);
}

/* Files of two folders, a folder without one of them, truncated files. */
static void strangers(void **state)
{
    (void)state;
    struct dataset *d = sample(false), *other = sample(true), *back;
    size_t size = 0;
    save(other);
    OK(safetensors_dataset_save(d, in_scratch("parts/graph.safetensors")));
    FAILS(parts_load(&back, in_scratch("parts")), CONSM_EFORMAT,
          "does not belong to the other file");
    save(d);
    uint8_t *data = file_bytes(in_scratch("parts/rows.safetensors"), &size);
    for (size_t cut = 0; cut < size; cut += 7) {
        file_put(in_scratch("parts/rows.safetensors"), data, cut);
        assert_true(parts_load(&back, in_scratch("parts")) < 0);
    }
    free(data);
    unlink(in_scratch("parts/rows.safetensors"));
    FAILS(parts_load(&back, in_scratch("parts")), CONSM_EIO, "rows.safetensors");
    dataset_free(other);
    dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),        cmocka_unit_test(shares_of_views),
        cmocka_unit_test(parts_of_features), cmocka_unit_test(parts_of_structure),
        cmocka_unit_test(cuts_at_borders),   cmocka_unit_test(forged_starts),
        cmocka_unit_test(forged_rows),       cmocka_unit_test(strangers),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
