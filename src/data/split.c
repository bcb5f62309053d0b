/* Makes splits; the file format is in split_file.c. */
#include "data/split.h"

#include "base/nearest.h"
#include "base/rng.h"
#include "io/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_SPLIT = 0x5711 };

struct split_options split_defaults(void)
{
    return (struct split_options){.per_class = 20};
}

const char *split_role_name(enum split_role role)
{
    static const char *const name[] = {"none", "train", "val", "test"};
    return name[role];
}

void split_count(int64_t count[4], const uint8_t *role, int64_t nodes)
{
    memset(count, 0, 4 * sizeof *count);
    for (int64_t i = 0; i < nodes; i++)
        count[role[i]]++;
}

/* Labelled nodes class by class, in index order. */
struct classes {
    int32_t *member; /* (labelled) */
    int64_t *first;  /* (c+1) */
};

static consm_status group_by_class(struct classes *g, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    int64_t *slot = NULL;
    TRY(NEW(g->member, d->nodes));
    TRY(ZNEW(g->first, d->classes + 1));
    TRY(NEW(slot, d->classes));
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->label[i] >= 0)
            g->first[d->label[i] + 1]++;
    for (int32_t k = 0; k < d->classes; k++) {
        g->first[k + 1] += g->first[k];
        slot[k] = g->first[k];
    }
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->label[i] >= 0)
            g->member[slot[d->label[i]]++] = (int32_t)i;
done:
    mem_free(slot);
    return st;
}

static consm_status check_number(const char *spec, int64_t per_class)
{
    return per_class >= 1
               ? CONSM_OK
               : status_fail(CONSM_EINVAL, "split %s: %lld nodes per class: expected 1 or more",
                             spec, (long long)per_class);
}

/* In the paper's split every class that occurs must have per_class training nodes. */
static consm_status check_per_class(const struct classes *g, const struct dataset *d,
                                    const char *spec, int64_t per_class)
{
    int32_t smallest = -1;
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < d->classes; k++) {
        int64_t size = g->first[k + 1] - g->first[k];
        if (size > 0 && size < least) {
            least = size;
            smallest = k;
        }
    }
    if (smallest >= 0 && least < per_class) {
        char buffer[24];
        return status_fail(CONSM_EINVAL,
                           "split %s: class %s of %s has %lld labelled nodes, too few for %lld "
                           "training nodes; --per-class %lld would work",
                           spec, dataset_class_name(d, smallest, buffer), d->name, (long long)least,
                           (long long)per_class, (long long)(least < 8 ? 1 : least / 4));
    }
    return CONSM_OK;
}

/* Gives the nodes list[0 … count-1] their roles: train of them, then val, the rest tests. */
static void deal(uint8_t *role, const int32_t *list, int64_t count, int64_t train, int64_t val)
{
    for (int64_t i = 0; i < count; i++)
        role[list[i]] = i < train ? SPLIT_TRAIN : i < train + val ? SPLIT_VAL : SPLIT_TEST;
}

static int64_t share_of(double ratio, int64_t count)
{
    return (int64_t)floor(ratio * (double)count + 0.5);
}

bool split_is_planetoid(const struct dataset *d)
{
    int64_t test = 0, train = 0;
    if (d->splits != 1 || !d->role)
        return false;
    for (int64_t i = 0; i < d->nodes; i++) {
        train += d->role[i] == SPLIT_TRAIN;
        test += d->role[i] == SPLIT_TEST;
    }
    if (test != 1000 || train != 20 * (int64_t)d->classes)
        return false;
    for (int32_t k = 0; k < d->classes; k++) {
        int64_t of_class = 0;
        for (int64_t i = 0; i < d->nodes; i++)
            of_class += d->role[i] == SPLIT_TRAIN && d->label[i] == k;
        if (of_class != 20)
            return false;
    }
    return true;
}

static consm_status make_paper(uint8_t *role, const struct dataset *d,
                               const struct split_options *o)
{
    consm_status st = CONSM_OK;
    struct classes g = {0};
    if (split_is_planetoid(d)) {
        for (int64_t i = 0; i < d->nodes; i++)
            role[i] = d->role[i] == SPLIT_NONE ? SPLIT_VAL : d->role[i];
        return CONSM_OK;
    }
    TRY(group_by_class(&g, d));
    TRY(check_number("paper", o->per_class));
    TRY(check_per_class(&g, d, "paper", o->per_class));
    for (int32_t k = 0; k < d->classes; k++) {
        int64_t size = g.first[k + 1] - g.first[k];
        deal(role, g.member + g.first[k], size, o->per_class, (size - o->per_class) / 2);
    }
done:
    mem_free(g.member);
    mem_free(g.first);
    return st;
}

static consm_status check_ratios(const struct split_options *o)
{
    if (!(o->train >= 0 && o->val >= 0 && o->train + o->val < 1))
        return status_fail(CONSM_EINVAL,
                           "split random: shares %g for training and %g for validation: expected 0 "
                           "or more, and a sum below 1, so that test nodes remain",
                           o->train, o->val);
    if (o->train == 0 && o->val > 0)
        return status_fail(CONSM_EINVAL,
                           "split random: a share for validation needs a share for training");
    return CONSM_OK;
}

/* Training nodes of a class of that size: per_class, or three fifths of a smaller class, so that
 * some validate and test. */
static int64_t training_of(int64_t size, int64_t per_class)
{
    if (size >= per_class + 2)
        return per_class;
    return size < 2 ? size : (3 * size + 2) / 5;
}

/* By ratios from each class; every class that occurs has at least one training node. */
static void deal_class(uint8_t *role, const int32_t *list, int64_t size,
                       const struct split_options *o)
{
    int64_t train = training_of(size, o->per_class), val = (size - train) / 2;
    if (o->train > 0) {
        train = share_of(o->train, size);
        train = train < 1 ? 1 : train;
        val = share_of(o->val, size);
        val = val > size - train ? size - train : val;
    }
    deal(role, list, size, train, val);
}

/* From all classes together; `drawn` nodes of each already train. */
static consm_status deal_pooled(uint8_t *role, const struct classes *g, const struct dataset *d,
                                const struct split_options *o, struct rng *rng)
{
    consm_status st = CONSM_OK;
    int64_t rest = 0;
    int32_t *pool = NULL;
    TRY(NEW(pool, d->nodes));
    for (int32_t k = 0; k < d->classes; k++) {
        int64_t size = g->first[k + 1] - g->first[k];
        int64_t drawn = o->train > 0 ? 0 : training_of(size, o->per_class);
        for (int64_t i = g->first[k]; i < g->first[k + 1]; i++) {
            if (i < g->first[k] + drawn)
                role[g->member[i]] = SPLIT_TRAIN;
            else
                pool[rest++] = g->member[i];
        }
    }
    rng_shuffle(rng, pool, rest);
    if (o->train > 0)
        deal(role, pool, rest, share_of(o->train, rest), share_of(o->val, rest));
    else
        deal(role, pool, rest, 0, rest / 2);
done:
    mem_free(pool);
    return st;
}

static consm_status make_random(uint8_t *role, const struct dataset *d, uint64_t seed,
                                const struct split_options *o)
{
    consm_status st = CONSM_OK;
    struct classes g = {0};
    struct rng rng;
    TRY(check_ratios(o));
    TRY(group_by_class(&g, d));
    if (o->train == 0)
        TRY(check_number("random", o->per_class));
    rng_init(&rng, seed, STREAM_SPLIT);
    for (int32_t k = 0; k < d->classes; k++)
        rng_shuffle(&rng, g.member + g.first[k], g.first[k + 1] - g.first[k]);
    if (o->pooled)
        TRY(deal_pooled(role, &g, d, o, &rng));
    for (int32_t k = 0; k < d->classes && !o->pooled; k++)
        deal_class(role, g.member + g.first[k], g.first[k + 1] - g.first[k], o);
done:
    mem_free(g.member);
    mem_free(g.first);
    return st;
}

/* "labels:20": labels as a user has them, a fifth of which validates. */
static consm_status make_labels(uint8_t *role, const struct dataset *d, const char *spec,
                                uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct classes g = {0};
    struct rng rng;
    char *end;
    errno = 0;
    long long number = strtoll(spec + 7, &end, 10);
    if (errno || end == spec + 7 || *end || number < 1)
        return status_fail(CONSM_EINVAL, "split %s: expected a number, as in labels:20", spec);
    TRY(group_by_class(&g, d));
    rng_init(&rng, seed, STREAM_SPLIT);
    for (int32_t k = 0; k < d->classes; k++) {
        int32_t *list = g.member + g.first[k];
        int64_t size = g.first[k + 1] - g.first[k], half = size / 2 > 1 ? size / 2 : 1;
        int64_t labels = number < half ? number : half;
        int64_t val = labels / 5 > 0 ? labels / 5 : labels > 1;
        rng_shuffle(&rng, list, size);
        deal(role, list, size, labels - val, val);
    }
done:
    mem_free(g.member);
    mem_free(g.first);
    return st;
}

/* Whether the text is "48/32/20": three percentages that make 100. */
static bool read_shares(const char *spec, struct split_options *o)
{
    int train, val, test, used = 0;
    if (sscanf(spec, "%3d/%3d/%3d%n", &train, &val, &test, &used) != 3 || spec[used] || train < 1 ||
        val < 0 || test < 0 || train + val + test != 100)
        return false;
    o->train = train / 100.0;
    o->val = val / 100.0;
    return true;
}

static consm_status take_stored(uint8_t *role, const struct dataset *d, const char *spec,
                                int64_t index)
{
    if (d->splits == 0)
        return status_fail(CONSM_EINVAL,
                           "split %s: %s has no stored split; use --split random or paper", spec,
                           d->name);
    if (index < 0 || index >= d->splits)
        return status_fail(
            CONSM_EINVAL, "split %s: %s has %lld stored split%s, counted from 0: expected file:0%s",
            spec, d->name, (long long)d->splits, d->splits == 1 ? "" : "s",
            d->splits == 1 ? "" : " or a later one");
    memcpy(role, d->role + index * d->nodes, (size_t)d->nodes);
    return CONSM_OK;
}

static const char *known_spec(void *ctx, int index)
{
    static const char *const known[] = {"paper", "public", "random", "file:0", "labels:20"};
    (void)ctx;
    return index < 5 ? known[index] : NULL;
}

static consm_status make_other(uint8_t *role, const struct dataset *d, const char *spec)
{
    if (strncmp(spec, "file:", 5) == 0) {
        char *end;
        errno = 0;
        long long index = strtoll(spec + 5, &end, 10);
        if (errno || end == spec + 5 || *end)
            return status_fail(CONSM_EINVAL, "split %s: expected a number, as in file:0", spec);
        return take_stored(role, d, spec, index);
    }
    if (file_kind(spec) != FILE_MISSING)
        return split_read(role, d, spec);
    const char *near = nearest_word(spec, known_spec, NULL);
    if (near)
        return status_fail(CONSM_EINVAL, "unknown split %s; did you mean %s?", spec, near);
    return status_fail(CONSM_EINVAL,
                       "unknown split %s: expected paper, public, random, labels:N, 48/32/20, "
                       "file:I or a split file",
                       spec);
}

/* Training needs nodes of each role; a split that came with the data may lack validation or test.
 */
static consm_status check_roles(const uint8_t *role, const struct dataset *d, const char *spec)
{
    struct split_options shares;
    bool made = strcmp(spec, "paper") == 0 || strcmp(spec, "random") == 0 ||
                strncmp(spec, "labels:", 7) == 0 || read_shares(spec, &shares);
    int64_t count[4];
    split_count(count, role, d->nodes);
    for (enum split_role r = SPLIT_TRAIN; r <= (made ? SPLIT_TEST : SPLIT_TRAIN); r++)
        if (count[r] == 0)
            return status_fail(
                CONSM_EINVAL,
                "split %s of %s leaves no labelled node for %s (%lld train, %lld val, %lld test)",
                spec, d->name,
                r == SPLIT_TRAIN ? "training"
                : r == SPLIT_VAL ? "validation"
                                 : "test",
                (long long)count[1], (long long)count[2], (long long)count[3]);
    return CONSM_OK;
}

consm_status split_make(uint8_t *role, const struct dataset *d, const char *spec, uint64_t seed,
                        const struct split_options *o)
{
    consm_status st = CONSM_OK;
    struct split_options defaults = split_defaults(), shares = defaults;
    int64_t labelled = 0;
    o = o ? o : &defaults;
    memset(role, SPLIT_NONE, (size_t)d->nodes);
    for (int64_t i = 0; i < d->nodes; i++)
        labelled += d->label[i] >= 0;
    if (labelled == 0)
        return status_fail(CONSM_EINVAL, "split %s: %s has no labels", spec, d->name);
    if (strcmp(spec, "paper") == 0)
        TRY(make_paper(role, d, o));
    else if (strcmp(spec, "random") == 0)
        TRY(make_random(role, d, seed, o));
    else if (strncmp(spec, "labels:", 7) == 0)
        TRY(make_labels(role, d, spec, seed));
    else if (read_shares(spec, &shares))
        TRY(make_random(role, d, seed, &shares));
    else if (strcmp(spec, "public") == 0)
        TRY(take_stored(role, d, spec, d->splits ? (int64_t)(seed % (uint64_t)d->splits) : 0));
    else
        TRY(make_other(role, d, spec));
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->label[i] < 0)
            role[i] = SPLIT_NONE;
    TRY(check_roles(role, d, spec));
done:
    return st;
}
