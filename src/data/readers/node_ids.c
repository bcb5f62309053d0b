/* The bitmap of numeric ids: rank(k) = ids before k's word + ones before k in it. */
#include "data/readers/node_ids.h"

#include <stdio.h>
#include <string.h>

void node_ids_free(struct node_ids *ids)
{
    names_free(&ids->names);
    mem_free(ids->bits);
    mem_free(ids->before);
    mem_free(ids->order);
    *ids = (struct node_ids){0};
}

static consm_status new_bits(struct node_ids *ids, int64_t limit)
{
    consm_status st = CONSM_OK;
    ids->limit = limit;
    TRY(ZNEW(ids->bits, limit / 64 + 1));
    TRY(NEW(ids->before, limit / 64 + 1));
done:
    return st;
}

static void set_bit(struct node_ids *ids, int64_t number)
{
    ids->bits[number / 64] |= (uint64_t)1 << number % 64;
}

static void count_bits(struct node_ids *ids)
{
    uint32_t sum = 0;
    for (int64_t w = 0; w < ids->limit / 64 + 1; w++) {
        ids->before[w] = sum;
        sum += (uint32_t)__builtin_popcountll(ids->bits[w]);
    }
    ids->count = sum;
}

/* A bitmap pays up to 64 bits per id; sixteen million bits are always fine. */
static bool worth_bits(int64_t limit, int64_t count)
{
    return limit <= 1 << 24 || limit / 64 <= count;
}

consm_status node_ids_rows(struct node_ids *ids, int64_t first, int64_t count)
{
    consm_status st = CONSM_OK;
    ids->count = count;
    ids->places = first == 0;
    if (first != 0) {
        TRY(new_bits(ids, first + count));
        for (int64_t i = 0; i < count; i++)
            set_bit(ids, first + i);
        count_bits(ids);
    }
done:
    return st;
}

/* The largest number among the names plus one; -1 if one is not a number. */
static int64_t number_limit(const struct names *n)
{
    int64_t limit = 0;
    for (int64_t i = 0; i < n->count; i++) {
        int64_t number = token_number(names_at(n, i), names_length(n, i));
        if (number < 0)
            return -1;
        if (number >= limit)
            limit = number + 1;
    }
    return limit;
}

static int64_t name_number(const struct names *n, int64_t i)
{
    return token_number(names_at(n, i), names_length(n, i));
}

consm_status node_ids_index(struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    const struct names *n = &ids->names;
    int64_t limit = number_limit(n);
    ids->count = n->count;
    ids->places = names_are_places(n);
    if (ids->places || limit < 0 || !worth_bits(limit, n->count))
        return CONSM_OK;
    TRY(new_bits(ids, limit));
    TRY(NEW(ids->order, n->count));
    for (int64_t i = 0; i < n->count; i++)
        set_bit(ids, name_number(n, i));
    count_bits(ids);
    for (int64_t i = 0; i < n->count; i++) {
        uint64_t number = (uint64_t)name_number(n, i);
        uint64_t below = ids->bits[number / 64] & (((uint64_t)1 << number % 64) - 1);
        ids->order[ids->before[number / 64] + __builtin_popcountll(below)] = (int32_t)i;
    }
done:
    return st;
}

consm_status node_ids_from_numbers(bool *dense, struct node_ids *ids, int32_t *from, int32_t *to,
                                   int64_t edges)
{
    consm_status st = CONSM_OK;
    const struct names *n = &ids->names;
    int64_t limit = number_limit(n);
    *dense = false;
    if (limit < 0)
        return CONSM_OK;
    for (int64_t e = 0; e < edges; e++) {
        int32_t larger = from[e] > to[e] ? from[e] : to[e];
        if (larger >= limit)
            limit = (int64_t)larger + 1;
    }
    if (!worth_bits(limit, edges + n->count))
        return CONSM_OK;
    TRY(new_bits(ids, limit));
    for (int64_t i = 0; i < n->count; i++)
        set_bit(ids, name_number(n, i));
    for (int64_t e = 0; e < edges; e++) {
        set_bit(ids, from[e]);
        set_bit(ids, to[e]);
    }
    count_bits(ids);
    ids->places = ids->count == limit;
    for (int64_t e = 0; !ids->places && e < edges; e++) {
        from[e] = (int32_t)node_ids_number(ids, (uint64_t)from[e]);
        to[e] = (int32_t)node_ids_number(ids, (uint64_t)to[e]);
    }
    names_free(&ids->names);
    *dense = true;
done:
    return st;
}

/* The list in another order, as a new list. */
static consm_status reorder_names(struct names *n, const int32_t *order)
{
    consm_status st = CONSM_OK;
    struct names sorted = {0};
    int64_t index;
    for (int64_t k = 0; k < n->count; k++)
        TRY(names_add(&index, &sorted, names_at(n, order[k]), names_length(n, order[k])));
    names_free(n);
    *n = sorted;
    sorted = (struct names){0};
done:
    names_free(&sorted);
    return st;
}

consm_status node_ids_from_names(struct node_ids *ids, int32_t *from, int32_t *to, int64_t edges)
{
    consm_status st = CONSM_OK;
    int32_t *order = NULL, *place = NULL;
    if (number_limit(&ids->names) >= 0) {
        TRY(names_sort(&order, &ids->names));
        TRY(NEW(place, ids->names.count));
        for (int64_t k = 0; k < ids->names.count; k++)
            place[order[k]] = (int32_t)k;
        for (int64_t e = 0; e < edges; e++) {
            from[e] = place[from[e]];
            to[e] = place[to[e]];
        }
        TRY(reorder_names(&ids->names, order));
    }
    TRY(node_ids_index(ids));
done:
    mem_free(order);
    mem_free(place);
    return st;
}

consm_status node_ids_give(struct dataset *d, const struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    struct names numbers = {0};
    char text[24];
    int64_t index;
    d->nodes = ids->count;
    if (ids->places)
        return CONSM_OK;
    if (ids->names.count == 0)
        for (int64_t number = 0; number < ids->limit; number++)
            if (ids->bits[number / 64] >> number % 64 & 1) {
                int length = snprintf(text, sizeof text, "%lld", (long long)number);
                TRY(names_add(&index, &numbers, text, (size_t)length));
            }
    TRY(names_pack(&d->node_id, ids->names.count ? &ids->names : &numbers, NULL));
    d->borrowed |= DATASET_PACKED_IDS;
done:
    names_free(&numbers);
    return st;
}
