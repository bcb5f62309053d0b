/* Decides which operations must wait for earlier ones. Two operations need no barrier if neither
 * touches what the other writes, or if both process the same elements in the same ranges, so that
 * every thread reads only what it wrote itself. */
#include "cpu/kernels.h"

struct extent {
    const char *from;
    size_t bytes;
};

static struct extent written(const struct instr *in)
{
    return (struct extent){(const char *)in->out, (size_t)(in->rows * in->cols) * sizeof(float)};
}

static struct extent source(const struct instr *in, int i)
{
    return (struct extent){(const char *)in->src[i],
                           (size_t)(in->src_rows[i] * in->src_cols[i]) * sizeof(float)};
}

/* Whether it processes elements as range_elements() divides them, and reads no others. Dropout with
 * numbered rows works by rows. */
static bool by_elements(const struct instr *in)
{
    return op_made(in->op) == MADE_ELEMENTS && !in->attr.number;
}

/* Whether it writes more than its result: running statistics, moments, attention's sums, spectra.
 */
static bool writes_more(const struct instr *in)
{
    bool more = op_is(in->op, REMEMBERS);
    for (int i = 0; i < NODE_UPDATES; i++)
        more = more || in->update[i];
    return more;
}

/* Whether one of the two writes what the other touches. The same elements of the same array do not
 * clash if both work by elements. */
static bool clash(struct extent a, struct extent b, bool alike)
{
    bool meet =
        a.bytes > 0 && b.bytes > 0 && a.from < b.from + b.bytes && b.from < a.from + a.bytes;
    return meet && !(alike && a.from == b.from && a.bytes == b.bytes);
}

static bool must_wait(const struct instr *later, const struct instr *earlier)
{
    bool alike = by_elements(later) && by_elements(earlier) &&
                 later->rows * later->cols == earlier->rows * earlier->cols;
    if (writes_more(later) || writes_more(earlier) ||
        (scratch_bytes(later) > 0 && scratch_bytes(earlier) > 0) ||
        clash(written(later), written(earlier), alike))
        return true;
    for (int i = 0; i < NODE_SOURCES; i++)
        if ((later->src[i] && clash(source(later, i), written(earlier), alike)) ||
            (earlier->src[i] && clash(source(earlier, i), written(later), alike)))
            return true;
    return false;
}

void mark_barriers(bool *waits, const struct instr *instr, int32_t count)
{
    int32_t since = 0; /* the first instruction after the last barrier */
    for (int32_t i = 0; i < count; i++) {
        waits[i] = false;
        for (int32_t k = since; k < i && !waits[i]; k++)
            waits[i] = must_wait(&instr[i], &instr[k]);
        if (waits[i])
            since = i;
    }
}
