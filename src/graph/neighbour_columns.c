/* Computes one feature at a time: copies it into an array over the nodes, then walks the edges for
 * one hop and again for two. One thread computes a feature and sums in graph order, so the number
 * of threads changes nothing. */
#include "graph/neighbour_columns.h"

#include <math.h>
#include <string.h>

int64_t neighbour_columns_count(int64_t features)
{
    return 1 + (features > NEIGHBOUR_NARROW ? MAX_1 : NEIGHBOUR_KINDS) * features;
}

/* Statistics of a node's neighbours: the largest value, its node, and the largest of the others. */
struct around {
    double sum, squares;
    float most, second;
    int32_t holder;
};

struct job {
    const struct neighbour_source *source;
    const struct csr *by_feature; /* (f, n) of sparse features */
    const int32_t *row;
    int64_t rows, columns;
    const int32_t *place; /* (columns of all kinds) position of a column in out, -1: none */
    float *value;         /* (threads, n) */
    struct around *around;
    float *out;
};

static void copy_feature(float *value, const struct job *job, int64_t k)
{
    const struct neighbour_source *s = job->source;
    int64_t n = s->graph->rows;
    const struct csr *t = job->by_feature;
    if (!t) {
        for (int64_t i = 0; i < n; i++)
            value[i] = s->dense[i * s->features + k];
        return;
    }
    memset(value, 0, (size_t)n * sizeof *value);
    for (int64_t e = t->start[k]; e < t->start[k + 1]; e++)
        value[t->col[e]] = t->val ? t->val[e] : 1;
}

static void look_around(struct around *around, const struct csr *graph, const float *value)
{
    for (int64_t i = 0; i < graph->rows; i++) {
        struct around a = {.most = -INFINITY, .second = -INFINITY, .holder = -1};
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
            float x = value[graph->col[e]];
            a.sum += (double)x;
            a.squares += (double)x * (double)x;
            if (x > a.most) {
                a.second = a.most;
                a.most = x;
                a.holder = graph->col[e];
            } else if (x > a.second) {
                a.second = x;
            }
        }
        around[i] = a;
    }
}

/* The ends of walks of two steps from i that do not return to it. */
static int64_t look_further(struct around *out, const struct csr *graph, const float *value,
                            const struct around *around, int64_t i)
{
    double own = (double)value[i];
    int64_t walks = 0;
    *out = (struct around){.most = -INFINITY};
    for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
        int32_t j = graph->col[e];
        const struct around *a = &around[j];
        float most = a->holder == i ? a->second : a->most;
        out->sum += a->sum - own;
        out->squares += a->squares - own * own;
        out->most = most > out->most ? most : out->most;
        walks += graph->start[j + 1] - graph->start[j] - 1;
    }
    return walks;
}

/* Equal values leave a rounding error: a deviation below this share of the mean is 0. */
static const double NO_DEVIATION = 1e-6;

/* Mean, maximum and deviation of the values; NaN if there are none. */
static void figures(float out[3], const struct around *a, int64_t count)
{
    double mean = a->sum / (double)count;
    double variance = a->squares / (double)count - mean * mean;
    double least = NO_DEVIATION * fabs(mean);
    out[0] = count ? (float)mean : NAN;
    out[1] = count ? a->most : NAN;
    out[2] = !count ? NAN : variance > least * least ? (float)sqrt(variance) : 0;
}

static void fill_feature(const struct job *job, int64_t k, float *value, struct around *around)
{
    const struct csr *graph = job->source->graph;
    int32_t place[NEIGHBOUR_KINDS];
    bool wanted = false;
    for (int kind = OWN; kind < NEIGHBOUR_KINDS; kind++) {
        int64_t column = 1 + kind * job->source->features + k;
        bool there = column < neighbour_columns_count(job->source->features);
        place[kind] = there ? job->place[column] : -1;
        wanted = wanted || place[kind] >= 0;
    }
    if (!wanted)
        return;
    copy_feature(value, job, k);
    look_around(around, graph, value);
    for (int64_t r = 0; r < job->rows; r++) {
        int64_t i = job->row ? job->row[r] : r;
        struct around further;
        float one[3], two[3];
        figures(one, &around[i], graph->start[i + 1] - graph->start[i]);
        int64_t walks = look_further(&further, graph, value, around, i);
        figures(two, &further, walks);
        const float found[NEIGHBOUR_KINDS] = {value[i], one[0], two[0], one[1],
                                              one[2],   two[1], two[2]};
        for (int kind = OWN; kind < NEIGHBOUR_KINDS; kind++)
            if (place[kind] >= 0)
                job->out[r * job->columns + place[kind]] = found[kind];
    }
}

static void fill(void *arg, struct worker who)
{
    const struct job *job = arg;
    const struct csr *graph = job->source->graph;
    float *value = job->value + who.id * graph->rows;
    struct around *around = job->around + who.id * graph->rows;
    for (int64_t k = who.id; k < job->source->features; k += who.size)
        fill_feature(job, k, value, around);
    for (int64_t r = who.id; job->place[0] >= 0 && r < job->rows; r += who.size) {
        int64_t i = job->row ? job->row[r] : r;
        job->out[r * job->columns + job->place[0]] = (float)(graph->start[i + 1] - graph->start[i]);
    }
}

consm_status neighbour_columns(float *out, const struct neighbour_source *source,
                               const int32_t *row, int64_t rows, const int64_t *column,
                               int64_t columns, struct team *team)
{
    consm_status st = CONSM_OK;
    int64_t all = neighbour_columns_count(source->features), n = source->graph->rows;
    int32_t *place = NULL;
    struct job job = {
        .source = source, .row = row, .rows = row ? rows : n, .columns = columns, .out = out};
    TRY(NEW(place, all));
    memset(place, -1, (size_t)all * sizeof *place);
    for (int64_t c = 0; c < columns; c++)
        place[column[c]] = (int32_t)c;
    job.place = place;
    if (source->sparse) {
        TRY(csr_transpose((struct csr *)source->sparse)); /* a cache; the matrix does not change */
        job.by_feature = source->sparse->t;
    }
    TRY(NEW(job.value, team_size(team) * n));
    TRY(NEW(job.around, team_size(team) * n));
    team_run(team, fill, &job);
done:
    mem_free(place);
    mem_free(job.value);
    mem_free(job.around);
    return st;
}
