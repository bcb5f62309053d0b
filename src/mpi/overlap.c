/* Overlaps computing and communication: finds a rank's rows that need no other rank's. They are
 * taken in runs, because an instruction works on a range of rows; if neighbours are close in order,
 * the runs are long. */
#include "mpi/inside.h"

enum { SHORTEST_RUN = 32 }; /* rows: fewer are not worth an instruction */

/* Columns ascend, so the first and the last decide. */
static bool inner(const struct csr *s, int64_t row, const struct axis *columns)
{
    int64_t first = s->start[row], last = s->start[row + 1] - 1;
    return first > last ||
           (s->col[first] >= axis_low(columns) && s->col[last] < axis_high(columns));
}

/* Keeps the longest runs; replaces the shortest. */
static void note_run(struct runs *runs, int64_t low, int64_t high)
{
    int least = 0;
    if (high - low < SHORTEST_RUN)
        return;
    if (runs->count < MOST_RUNS) {
        runs->run[runs->count++] = (struct run){low, high};
        return;
    }
    for (int i = 1; i < runs->count; i++)
        if (runs->run[i].high - runs->run[i].low < runs->run[least].high - runs->run[least].low)
            least = i;
    if (runs->run[least].high - runs->run[least].low >= high - low)
        return;
    for (int i = least; i + 1 < runs->count; i++) /* keep them in order */
        runs->run[i] = runs->run[i + 1];
    runs->run[runs->count - 1] = (struct run){low, high};
}

void inner_runs(struct runs *runs, const struct instr *in, const struct rule *rule,
                const struct axis *rows, const struct axis *columns)
{
    const struct csr *s = in->attr.csr;
    int64_t since = axis_low(rows), high = axis_high(rows);
    runs->count = 0;
    for (int i = 0; i < NODE_SOURCES; i++)
        if (rule->reads[i] > READS_COLUMNS)
            return;
    if (!s)
        return;
    s = in->attr.transposed ? s->t : s;
    for (int64_t r = since; r < high; r++)
        if (!inner(s, r, columns)) {
            note_run(runs, since, r);
            since = r + 1;
        }
    note_run(runs, since, high);
}
