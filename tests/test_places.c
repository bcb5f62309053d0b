/* Sums of exp over classes and their logarithms against the C library, with the same bits of every
 * instruction set; and places of scores among sorted hits, pair by pair. */
#include "base/rng.h"
#include "check.h"
#include "stats/places.h"
#include "stats/tile.h"

#include <math.h>
#include <string.h>

/* ---- sums of exp, and their logarithms ------------------------------------- */

enum { CLASSES = 12 };

/* Rows of several kinds: any, equal, sure of a class, with two largest, and four that have no plain
 * sums: not a number, an infinity of each sign, and terms that underflow. */
static void draw_rows(double *x, int64_t classes, struct rng *rng)
{
    for (int64_t i = 0; i < classes * TILE; i++) {
        const int64_t r = i % TILE, k = i / TILE;
        const double any = (double)(float)(rng_uniform(rng) * 10 - 5);
        x[i] = r == 1              ? 0.25
               : r == 2 && k == 1  ? 500
               : r == 3 && k != 1  ? -60 - 5 * any
               : r == 4 && k <= 1  ? 7
               : r == 12 && k == 0 ? (double)NAN
               : r == 13 && k == 1 ? (double)INFINITY
               : r == 14 && k == 0 ? -(double)INFINITY
               : r == 15 && k != 1 ? -900 + any
                                   : any;
    }
}

static double exact_log_sum(const double *x, int64_t classes, int64_t r, int64_t without)
{
    long double sum = 0;
    for (int64_t k = 0; k < classes; k++)
        sum += k != without ? expl((long double)x[k * TILE + r]) : 0;
    return (double)logl(sum);
}

static void check_tile(tile_fn *fn, int64_t classes, struct rng *rng)
{
    static double x[CLASSES * TILE], given[CLASSES * TILE], rest[CLASSES * TILE], all[TILE];
    static double base_x[CLASSES * TILE], base[CLASSES * TILE], base_all[TILE];
    draw_rows(given, classes, rng);
    memcpy(x, given, sizeof x);
    memcpy(base_x, given, sizeof x);
    fn(x, rest, all, classes, 0, classes);
    tile_table(0)(base_x, base, base_all, classes, 0, classes);
    for (int64_t r = 0; r < TILE; r++) {
        double top = given[r];
        assert_true((r >= 12) == isnan(all[r]));
        if (r >= 12)
            continue;
        for (int64_t k = 1; k < classes; k++)
            top = fmax(top, given[k * TILE + r]);
        assert_near(all[r], exact_log_sum(x, classes, r, -1), 2e-15);
        assert_true(all[r] == base_all[r]);
        for (int64_t k = 0; k < classes; k++) {
            const double exact = exact_log_sum(x, classes, r, k);
            assert_true(x[k * TILE + r] == given[k * TILE + r] - top);
            assert_near(rest[k * TILE + r], exact, 2e-15 * fmax(1, fabs(exact)));
            assert_true(rest[k * TILE + r] == base[k * TILE + r]);
        }
    }
}

static void sums_of_exp_are_right(void **state)
{
    tile_fn *fn;
    struct rng rng;
    (void)state;
    rng_init(&rng, 1, 1);
    for (int s = 0; (fn = tile_table(s)) != NULL; s++)
        for (int turn = 0; turn < 200; turn++)
            check_tile(fn, 2 + turn % (CLASSES - 1), &rng);
    assert_non_null(tile_best());
}

/* ---- places --------------------------------------------------------------- */

enum { MOST = 300 };

/* Scores of several kinds: any, coarse, with outliers on both sides, with infinities, all equal. */
static void draw_scores(float *score, int n, int kind, struct rng *rng)
{
    for (int i = 0; i < n; i++)
        score[i] = kind == 1   ? (float)rng_below(rng, 5)
                   : kind == 4 ? -0.25f
                               : (float)(rng_uniform(rng) * 8 - 5);
    for (int i = 0; i < n && (kind == 2 || kind == 3); i += 11)
        score[i] = (i % 2 ? -1.0f : 1.0f) * (kind == 2 ? 3e38f : INFINITY);
}

static void check_places(int hits, int n, int kind, struct rng *rng)
{
    float given[MOST], hit[MOST + PLACES_PAD], spare[MOST], score[MOST];
    uint32_t first[PLACES_INTERVALS * MOST + 2], reach[MOST + 1] = {0}, expected[MOST + 1] = {0};
    struct places p;
    int64_t won = 0;
    draw_scores(given, hits, kind, rng);
    draw_scores(score, n, kind, rng);
    memcpy(hit, given, sizeof given);
    for (int i = 0; i < hits && i < n; i += 3)
        score[i] = given[i];
    places_make(&p, hit, first, spare, hits);
    for (int i = 1; i < hits; i++)
        assert_true(hit[i - 1] <= hit[i]);
    for (int k = 0; k < n; k++) {
        int64_t reached = 0;
        for (int i = 0; i < hits; i++) {
            won += given[i] > score[k] ? 2 : given[i] == score[k];
            reached += given[i] <= score[k];
        }
        expected[reached]++;
    }
    assert_int_equal(places_won(&p, score, n), won);
    places_reach(reach, &p, score, n);
    assert_memory_equal(reach, expected, sizeof reach);
}

static void places_are_counted(void **state)
{
    static const int sizes[] = {0, 1, 2, 5, 63, 64, 65, 130, MOST};
    struct rng rng;
    (void)state;
    rng_init(&rng, 3, 1);
    for (size_t h = 0; h < sizeof sizes / sizeof *sizes; h++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
            for (int kind = 0; kind < 5; kind++)
                check_places(sizes[h], sizes[n], kind, &rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_exp_are_right),
        cmocka_unit_test(places_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
