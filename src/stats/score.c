/* Metrics of predictions. Threads divide the rows; they count in whole numbers, and one of them
 * adds real numbers in the order of the rows, so no metric depends on the threads. */
#include "stats/score.h"

#include "stats/odds.h"
#include "stats/places.h"
#include <math.h>
#include <string.h>

int32_t score_largest(const float *row, int32_t classes)
{
    int32_t best = 0;
    float most = row[0];
    for (int32_t k = 1; k < classes; k++) {
        const bool more = row[k] > most; /* selects, for a branch would often be mispredicted */
        best = more ? k : best;
        most = more ? row[k] : most;
    }
    return best;
}

double score_surprise(const float *row, int32_t classes, int32_t label)
{
    double top = (double)row[score_largest(row, classes)], total = 0;
    for (int32_t k = 0; k < classes; k++)
        total += exp((double)row[k] - top);
    return log(total) - ((double)row[label] - top);
}

/* ---- scratch ------------------------------------------------------------- */

enum { MOST_REACH = 8 }; /* threads that have a list for average precision: 4 bytes a row each */

static bool ranks(enum score_metric metric)
{
    return metric == SCORE_ROC_AUC || metric == SCORE_AVERAGE_PRECISION;
}

/* The classes that are ranked; two classes have the same area, for their log-odds differ only in
 * sign. */
static int32_t ranked_classes(enum score_metric metric, int32_t classes)
{
    return metric == SCORE_AVERAGE_PRECISION || classes == 2 ? 1 : classes;
}

/* A part of `memory`, and the bytes up to its end. */
static void *part(char *memory, int64_t *used, int64_t count, size_t size)
{
    void *at = memory ? memory + *used : NULL;
    *used += (count * (int64_t)size + 63) / 64 * 64;
    return at;
}

int64_t score_room_lay(struct score_room *room, void *memory, enum score_metric metric,
                       int64_t rows, int32_t classes, int threads)
{
    const int64_t kinds = ranks(metric) ? ranked_classes(metric, classes) : 0;
    const int64_t ranked = ranks(metric) ? rows : 0;
    const int64_t lists = threads < MOST_REACH ? threads : MOST_REACH;
    int64_t used = 0;
    room->threads = threads;
    room->count = part(memory, &used, threads * 3 * (int64_t)classes, sizeof *room->count);
    room->hits = part(memory, &used, classes, sizeof *room->hits);
    room->work = part(memory, &used, threads * odds_work(classes), sizeof *room->work);
    room->term = part(memory, &used, rows, sizeof *room->term);
    room->score = part(memory, &used, kinds * rows, sizeof *room->score);
    room->hit = part(memory, &used, ranked + kinds * PLACES_PAD, sizeof *room->hit);
    room->spare = part(memory, &used, ranked + kinds * PLACES_PAD, sizeof *room->spare);
    room->first = part(memory, &used, PLACES_INTERVALS * ranked + 2 * kinds, sizeof *room->first);
    room->places = part(memory, &used, kinds, sizeof *room->places);
    room->reach = part(memory, &used, metric == SCORE_AVERAGE_PRECISION ? lists * (rows + 1) : 0,
                       sizeof *room->reach);
    return used;
}

/* ---- the work of all threads --------------------------------------------- */

struct scoring {
    enum score_metric metric;
    const struct scored_rows *x;
    const struct score_room *room;
    int32_t kinds; /* classes ranked */
    int32_t kind;  /* the class whose rows are the hits; -1: each ranked class */
    bool turned;   /* it is the second of two, which has fewer rows */
};

static void run(struct scoring *s, team_fn fn)
{
    enum { FEW = 1 << 14 }; /* logits that are done before another thread is awake */
    const struct score_room *room = s->room;
    if (room->team && s->x->rows * s->x->classes > FEW)
        team_run_on(room->team, room->threads, fn, s);
    else
        fn(s, (struct worker){0, 1, NULL});
}

static int64_t *counts_of(const struct scoring *s, int thread)
{
    return s->room->count + thread * 3 * (int64_t)s->x->classes;
}

static double *work_of(const struct scoring *s, int thread)
{
    return s->room->work + thread * odds_work(s->x->classes);
}

/* What a sum over threads reads is zero where fewer ran. */
static void clear_counts(const struct scoring *s)
{
    memset(s->room->count, 0,
           (size_t)(s->room->threads * 3 * (int64_t)s->x->classes) * sizeof *s->room->count);
}

static int64_t sum_of(const struct scoring *s, int64_t which)
{
    int64_t sum = 0;
    for (int t = 0; t < s->room->threads; t++)
        sum += counts_of(s, t)[which];
    return sum;
}

/* ---- by counting --------------------------------------------------------- */

static void accuracy_worker(void *arg, struct worker who)
{
    const struct scoring *s = arg;
    int64_t from, to, right = 0;
    team_range(who, s->x->rows, 64, &from, &to);
    for (int64_t k = from; k < to; k++)
        right += score_largest(scored_row(s->x, k), s->x->classes) == scored_label(s->x, k);
    counts_of(s, who.id)[0] = right;
}

static double accuracy_of(struct scoring *s)
{
    run(s, accuracy_worker);
    return (double)sum_of(s, 0) / (double)s->x->rows;
}

static void class_worker(void *arg, struct worker who)
{
    const struct scoring *s = arg;
    const int64_t c = s->x->classes;
    int64_t *are = counts_of(s, who.id), *said = are + c, *both = said + c, from, to;
    team_range(who, s->x->rows, 64, &from, &to);
    for (int64_t k = from; k < to; k++) {
        int32_t guess = score_largest(scored_row(s->x, k), s->x->classes);
        int32_t label = scored_label(s->x, k);
        are[label]++;
        said[guess]++;
        both[guess] += guess == label;
    }
}

/* The mean over classes of recall, or of F1 = 2·both / (true + predicted). */
static double class_mean(struct scoring *s)
{
    const int64_t c = s->x->classes;
    double sum = 0, classes = 0;
    run(s, class_worker);
    for (int64_t k = 0; k < c; k++) {
        int64_t are = sum_of(s, k), said = sum_of(s, c + k);
        int64_t whole = s->metric == SCORE_MACRO_F1 ? are + said : 2 * are;
        sum += whole ? 2 * (double)sum_of(s, 2 * c + k) / (double)whole : 0;
        classes += whole > 0;
    }
    return sum / classes;
}

static void surprise_worker(void *arg, struct worker who)
{
    const struct scoring *s = arg;
    int64_t from, to;
    team_range(who, s->x->rows, 64, &from, &to);
    odds_surprise(s->room->term, s->x, from, to, work_of(s, who.id));
}

double score_mean_surprise(const struct scored_rows *x, const struct score_room *room)
{
    struct scoring s = {.metric = SCORE_LOG_LIKELIHOOD, .x = x, .room = room};
    double sum = 0;
    if (x->rows == 0)
        return 0;
    run(&s, surprise_worker);
    for (int64_t k = 0; k < x->rows; k++)
        sum += room->term[k];
    return sum / (double)x->rows;
}

/* ---- by ranking ---------------------------------------------------------- */

/* The classes that are ranked: all (-1) or one. */
static int32_t ranked_class(const struct scoring *s)
{
    return s->metric == SCORE_AVERAGE_PRECISION ? s->x->positive : s->kinds == 1 ? 0 : -1;
}

/* A thread's share: log-odds, and the rows of each class. */
static void score_rows_of(const struct scoring *s, int thread, int64_t from, int64_t to)
{
    int64_t *rows = counts_of(s, thread);
    odds_rows(s->room->score, s->x, ranked_class(s), from, to, work_of(s, thread));
    for (int64_t k = from; k < to; k++)
        rows[scored_label(s->x, k)]++;
}

/* The hits of one class lie behind those of the other, and in a class those of one thread behind
 * those of another: each thread's count becomes the place of its first. */
static void place_hits(struct scoring *s, int threads)
{
    const int32_t classes = s->x->classes, of = ranked_class(s);
    int64_t *hits = s->room->hits, at = 0;
    for (int32_t k = 0; k < classes; k++)
        hits[k] = sum_of(s, k);
    s->turned = s->metric == SCORE_ROC_AUC && classes == 2 && hits[1] < hits[0];
    s->kind = of < 0 ? -1 : of + s->turned;
    for (int32_t k = 0; k < classes; k++)
        for (int t = 0; t < threads && (of < 0 || k == s->kind); t++) {
            const int64_t rows = counts_of(s, t)[k];
            counts_of(s, t)[k] = at;
            at += rows + (t + 1 == threads ? PLACES_PAD : 0);
        }
}

/* A thread's share of the hits; score (ranked classes, rows). */
static void gather_hits(const struct scoring *s, int thread, int64_t from, int64_t to)
{
    const struct score_room *room = s->room;
    int64_t *place = counts_of(s, thread);
    for (int64_t k = from; k < to; k++) {
        const int32_t label = scored_label(s->x, k);
        if (s->kind < 0)
            room->hit[place[label]++] = room->score[label * s->x->rows + k];
        else if (label == s->kind)
            room->hit[place[label]++] = room->score[k];
    }
}

/* Scores, sorted hits and tables of all ranked classes. */
static void prepare(struct scoring *s, struct worker who)
{
    const struct score_room *room = s->room;
    int64_t from, to, at = 0, begin = 0;
    team_range(who, s->x->rows, 64, &from, &to);
    score_rows_of(s, who.id, from, to);
    team_barrier(who);
    if (who.id == 0)
        place_hits(s, who.size);
    team_barrier(who);
    gather_hits(s, who.id, from, to);
    team_barrier(who);
    for (int32_t k = 0; k < s->kinds; k++) {
        const int64_t hits = room->hits[s->kind < 0 ? k : s->kind];
        if (k % who.size == who.id)
            places_make(&room->places[k], room->hit + at, room->first + begin, room->spare + at,
                        hits);
        at += hits + PLACES_PAD;
        begin += PLACES_INTERVALS * hits + 2;
    }
    team_barrier(who);
}

static void auc_worker(void *arg, struct worker who)
{
    struct scoring *s = arg;
    int64_t from, to;
    prepare(s, who);
    team_range(who, s->x->rows, 64, &from, &to);
    for (int32_t k = 0; k < s->kinds; k++)
        counts_of(s, who.id)[k] =
            places_won(&s->room->places[k], s->room->score + k * s->x->rows + from, to - from);
}

/* The mean over the classes that some rows have and others do not, of the share of pairs in the
 * right order. The hits look themselves up, too: a pair of them counts 2, one with itself 1. */
static double mean_auc(struct scoring *s)
{
    double sum = 0, defined = 0;
    run(s, auc_worker);
    for (int32_t k = 0; k < s->kinds; k++) {
        const int64_t hits = s->room->places[k].hits, others = s->x->rows - hits;
        int64_t won = sum_of(s, k) - hits * hits;
        won = s->turned ? 2 * hits * others - won : won;
        if (hits > 0 && others > 0) {
            sum += (double)won / 2 / ((double)hits * (double)others);
            defined++;
        }
    }
    return defined > 0 ? sum / defined : 0;
}

static void precision_worker(void *arg, struct worker who)
{
    struct scoring *s = arg;
    const struct score_room *room = s->room;
    const int lists = who.size < MOST_REACH ? who.size : MOST_REACH;
    int64_t from, to;
    prepare(s, who);
    if (who.id >= lists)
        return;
    uint32_t *reach = room->reach + who.id * (s->x->rows + 1);
    memset(reach, 0, (size_t)(room->places->hits + 1) * sizeof *reach);
    team_range((struct worker){who.id, lists, NULL}, s->x->rows, 64, &from, &to);
    places_reach(reach, room->places, room->score + from, to - from);
    counts_of(s, who.id)[0] = 1; /* the list is there */
}

/* The mean over hits of the share of hits among the rows that are not below. */
static double average_precision(struct scoring *s)
{
    const struct places *p = s->room->places;
    double sum = 0;
    run(s, precision_worker);
    for (int64_t last = p->hits, end = 0; last > 0;) {
        const float *hit = p->hit;
        int64_t begin = last; /* equal hits are [begin, last) */
        do {
            for (int t = 0; t < s->room->threads && t < MOST_REACH; t++)
                if (counts_of(s, t)[0] > 0)
                    end += s->room->reach[t * (s->x->rows + 1) + begin];
            begin--;
        } while (begin > 0 && hit[begin - 1] == hit[last - 1]);
        sum += (double)(last - begin) * (double)(p->hits - begin) / (double)end;
        last = begin;
    }
    return p->hits > 0 ? sum / (double)p->hits : (double)NAN;
}

double score_rows(enum score_metric metric, const struct scored_rows *x,
                  const struct score_room *room)
{
    struct scoring s = {metric, x, room, ranked_classes(metric, x->classes), -1, false};
    if (x->rows == 0)
        return 0;
    clear_counts(&s);
    switch (metric) {
    case SCORE_MACRO_F1:
    case SCORE_BALANCED_ACCURACY: return class_mean(&s);
    case SCORE_AVERAGE_PRECISION: return average_precision(&s);
    case SCORE_ROC_AUC: return mean_auc(&s);
    case SCORE_LOG_LIKELIHOOD: return exp(-score_mean_surprise(x, room));
    default: return accuracy_of(&s);
    }
}
