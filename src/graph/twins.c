/* Finds twins by hashing rows into a table; candidates are compared entry by entry. */
#include "graph/twins.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t float_bits(float value)
{
    uint32_t bits;
    value = value == 0 ? 0 : value; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t hash_node(const struct twin_view *v, int64_t node)
{
    uint64_t hash = 0x2545F4914F6CDD1Du;
    for (int m = 0; m < 3 && v->sparse[m]; m++) {
        const struct csr *a = v->sparse[m];
        hash = mix(hash, (uint64_t)(a->start[node + 1] - a->start[node]));
        for (int64_t k = a->start[node]; k < a->start[node + 1]; k++) {
            hash = mix(hash, (uint64_t)a->col[k]);
            if (a->val)
                hash = mix(hash, float_bits(a->val[k]));
        }
    }
    for (int64_t j = 0; v->dense && j < v->width; j++)
        hash = mix(hash, float_bits(v->dense[node * v->width + j]));
    return hash;
}

static bool same_row(const struct csr *a, int64_t i, int64_t j)
{
    int64_t length = a->start[i + 1] - a->start[i];
    if (a->start[j + 1] - a->start[j] != length)
        return false;
    if (memcmp(a->col + a->start[i], a->col + a->start[j], (size_t)length * sizeof *a->col) != 0)
        return false;
    for (int64_t k = 0; a->val && k < length; k++)
        if (a->val[a->start[i] + k] != a->val[a->start[j] + k])
            return false;
    return true;
}

static bool same_node(const struct twin_view *v, int64_t i, int64_t j)
{
    for (int m = 0; m < 3 && v->sparse[m]; m++)
        if (!same_row(v->sparse[m], i, j))
            return false;
    for (int64_t k = 0; v->dense && k < v->width; k++)
        if (v->dense[i * v->width + k] != v->dense[j * v->width + k])
            return false;
    return true;
}

consm_status twins_find(int32_t *leader, const struct twin_view *view)
{
    consm_status st = CONSM_OK;
    uint64_t *hash = NULL, mask = 1;
    int32_t *table = NULL; /* first node with a row, by hash; -1 free */
    while (mask < 2 * (uint64_t)view->nodes)
        mask *= 2;
    TRY(NEW(hash, view->nodes));
    TRY(NEW(table, mask));
    memset(table, 0xFF, mask * sizeof *table);
    mask--;
    for (int64_t i = 0; i < view->nodes; i++) {
        hash[i] = hash_node(view, i);
        uint64_t at = hash[i] & mask;
        while (table[at] >= 0 && !(hash[table[at]] == hash[i] && same_node(view, table[at], i)))
            at = (at + 1) & mask;
        if (table[at] < 0)
            table[at] = (int32_t)i;
        leader[i] = table[at];
    }
done:
    mem_free(hash);
    mem_free(table);
    return st;
}

consm_status twins_count(int64_t *out, const int32_t *leader, int64_t nodes)
{
    consm_status st = CONSM_OK;
    int32_t *size = NULL;
    *out = 0;
    TRY(ZNEW(size, nodes));
    for (int64_t i = 0; i < nodes; i++)
        size[leader[i]]++;
    for (int64_t i = 0; i < nodes; i++)
        *out += size[leader[i]] > 1;
done:
    mem_free(size);
    return st;
}

consm_status twins_shared(int64_t *out, const int32_t *leader, const uint8_t *role, int64_t nodes,
                          uint8_t asked, uint8_t from)
{
    consm_status st = CONSM_OK;
    bool *has = NULL;
    *out = 0;
    TRY(ZNEW(has, nodes));
    for (int64_t i = 0; i < nodes; i++)
        if (role[i] == from)
            has[leader[i]] = true;
    for (int64_t i = 0; i < nodes; i++)
        *out += role[i] == asked && has[leader[i]];
done:
    mem_free(has);
    return st;
}
