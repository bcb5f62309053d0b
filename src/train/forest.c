/* Reads trees from numbers. */
#include "train/forest.h"

#include "base/alloc.h"
#include <math.h>
#include <string.h>

int64_t forest_group(int32_t classes)
{
    return classes > 2 ? classes : 1;
}

static const float *node_at(const struct forest *f, int64_t i)
{
    return f->node + i * FOREST_COLUMNS;
}

static consm_status impossible(int64_t i, const char *what)
{
    return status_fail(CONSM_EFORMAT, "trees: node %lld %s", (long long)i, what);
}

/* From the last node to the first: a leaf is a tree; a question takes the two trees right after it:
 * the first starts at the next node, the second where the question says. The remaining ones are the
 * roots, the last one first. */
static consm_status find_roots(struct forest *f, int64_t columns)
{
    for (int64_t i = f->nodes - 1; i >= 0; i--) {
        const float *at = node_at(f, i);
        float column = at[FOREST_COLUMN];
        int64_t *top = f->root + f->trees;
        if (!isfinite(at[FOREST_SPLIT]))
            return impossible(i, "contains a number that is not finite");
        if (column == -1) {
            f->root[f->trees++] = i;
            f->leaves++;
            continue;
        }
        if (!(column >= 0 && column < (float)columns && column == floorf(column)))
            return impossible(i, "uses a column that does not exist");
        if (f->trees < 2 || top[-1] != i + 1 || at[FOREST_RIGHT] != (float)(top[-2] - i))
            return impossible(i, "does not have two children");
        f->root[--f->trees - 1] = i;
    }
    for (int64_t low = 0, high = f->trees - 1; low < high; low++, high--) {
        int64_t swapped = f->root[low];
        f->root[low] = f->root[high];
        f->root[high] = swapped;
    }
    return CONSM_OK;
}

consm_status forest_open(struct forest *out, const float *numbers, int64_t nodes, int64_t columns,
                         int32_t classes)
{
    consm_status st = CONSM_OK;
    *out = (struct forest){.node = numbers, .nodes = nodes};
    TRY(NEW(out->root, nodes + 1));
    TRY(find_roots(out, columns));
    if (out->trees == 0 || out->trees % forest_group(classes) != 0)
        TRY(status_fail(CONSM_EFORMAT, "trees: found %lld trees, expected a multiple of %lld",
                        (long long)out->trees, (long long)forest_group(classes)));
done:
    if (st < 0)
        forest_close(out);
    return st;
}

void forest_close(struct forest *f)
{
    mem_free(f->root);
    *f = (struct forest){0};
}

static float leaf_of(const struct forest *f, int64_t i, const float *row, const int32_t *place)
{
    const float *at = node_at(f, i);
    while (at[FOREST_COLUMN] >= 0) {
        int64_t column = (int64_t)at[FOREST_COLUMN];
        float value = row[place ? place[column] : column];
        bool left = isnan(value) ? at[FOREST_MISSING_LEFT] > 0 : value < at[FOREST_SPLIT];
        at += FOREST_COLUMNS * (left ? 1 : (int64_t)at[FOREST_RIGHT]);
    }
    return at[FOREST_SPLIT];
}

void forest_add(float *logits, const struct forest *f, int64_t first, int64_t last,
                const float *row, const int32_t *place, int32_t classes)
{
    int64_t group = forest_group(classes);
    for (int64_t t = first; t < last; t++)
        logits[group == 1 ? classes - 1 : t % group] += leaf_of(f, f->root[t], row, place);
}

int64_t forest_columns(int64_t *column, const struct forest *f, int64_t columns)
{
    int64_t found = 0;
    memset(column, 0, (size_t)columns * sizeof *column);
    for (int64_t i = 0; i < f->nodes; i++)
        if (node_at(f, i)[FOREST_COLUMN] >= 0)
            column[(int64_t)node_at(f, i)[FOREST_COLUMN]] = 1;
    for (int64_t c = 0; c < columns; c++)
        if (column[c])
            column[found++] = c;
    return found;
}
