/* Stores and finds the nodes that a model learned from. */
#include "app/learned.h"

#include "data/generate/generate.h"
#include "data/registry/registry.h"
#include "graph/structural.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool learns(const struct roles *r, int64_t i)
{
    return r->role[i] == SPLIT_TRAIN || r->role[i] == SPLIT_VAL ||
           (r->calibrates && r->calibrates[i]);
}

consm_status learned_note(struct consm_model *m, const struct dataset *d, const struct roles *roles)
{
    consm_status st = CONSM_OK;
    char buffer[24];
    int64_t count = 0, kept = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        count += learns(roles, i);
    TRY(NEW(m->learned, count));
    for (int64_t i = 0; i < d->nodes; i++)
        if (learns(roles, i))
            m->learned[kept++] = structural_key(dataset_node_id(d, i, buffer));
    if (kept > 0)
        qsort(m->learned, (size_t)kept, sizeof *m->learned, by_key);
    m->learned_count = 0;
    for (int64_t i = 0; i < kept; i++) /* two ids with one hash are one entry */
        if (i == 0 || m->learned[i] != m->learned[i - 1])
            m->learned[m->learned_count++] = m->learned[i];
    m->learned_named = d->node_id != NULL;
done:
    return st;
}

/* Whether node numbers mean the same nodes: the same bytes, or the same registered set. */
static bool same_graph(const struct consm_model *m, const struct dataset *d)
{
    if (d->sha256[0] || m->data_sha256[0])
        return strcmp(d->sha256, m->data_sha256) == 0;
    return strcmp(d->name, m->dataset) == 0 && (generate_knows(d->name) || registry_find(d->name));
}

bool learned_has(const struct consm_model *m, uint64_t key)
{
    return bsearch(&key, m->learned, (size_t)m->learned_count, sizeof key, by_key) != NULL;
}

consm_status learned_mark(uint8_t **out, const struct consm_model *m, const struct dataset *d,
                          const int32_t *number, int64_t count)
{
    consm_status st = CONSM_OK;
    char buffer[24];
    *out = NULL;
    bool named = m->learned_named && d->node_id;
    if (m->learned_count == 0 || !(named || (!m->learned_named && same_graph(m, d))))
        return CONSM_OK;
    TRY(NEW(*out, count));
    for (int64_t k = 0; k < count; k++)
        (*out)[k] =
            learned_has(m, structural_key(dataset_node_id(d, number ? number[k] : k, buffer)));
done:
    return st;
}
