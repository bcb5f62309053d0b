/* Makes the automatic split and the held-out validation set. */
#include "app/roles.h"

#include "base/rng.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

static const double held_share = 0.2;

/* Moves a fifth of each class's training nodes (at least one, never the last) to validation. */
static consm_status hold_out(struct roles *r, const struct dataset *d, uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct rng rng;
    int32_t *member = NULL;
    int64_t *class_count = NULL;
    TRY(NEW(member, d->nodes));
    TRY(ZNEW(class_count, d->classes));
    rng_init(&rng, seed, 0x76616c6964617465u);
    for (int64_t i = 0; i < d->nodes; i++)
        if (r->role[i] == SPLIT_TRAIN)
            class_count[d->label[i]]++;
    for (int32_t k = 0; k < d->classes; k++) {
        int64_t count = 0;
        if (class_count[k] < 2)
            continue;
        for (int64_t i = 0; i < d->nodes; i++)
            if (r->role[i] == SPLIT_TRAIN && d->label[i] == k)
                member[count++] = (int32_t)i;
        rng_shuffle(&rng, member, count);
        int64_t held = (int64_t)((double)count * held_share + 0.5);
        held = held < 1 ? 1 : held;
        for (int64_t j = 0; j < held; j++)
            r->role[member[j]] = SPLIT_VAL;
        r->held_out += held;
    }
done:
    mem_free(member);
    mem_free(class_count);
    return st;
}

static consm_status every_label(struct roles *r, const struct dataset *d)
{
    int64_t labelled = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        r->role[i] = d->label[i] >= 0 ? SPLIT_TRAIN : SPLIT_NONE;
        labelled += d->label[i] >= 0;
    }
    snprintf(r->split, sizeof r->split, "labels");
    return labelled ? CONSM_OK
                    : status_fail(CONSM_EINVAL, "%s: no node has a label to learn from", d->name);
}

/* The split that came with the data; it may lack validation or test nodes. */
static consm_status came_along(struct roles *r, const struct dataset *d, uint64_t seed)
{
    const uint8_t *role = d->role + (int64_t)(seed % (uint64_t)d->splits) * d->nodes;
    int64_t train = 0;
    for (int64_t i = 0; i < d->nodes; i++) {
        r->role[i] = d->label[i] >= 0 ? role[i] : SPLIT_NONE;
        train += r->role[i] == SPLIT_TRAIN;
    }
    snprintf(r->split, sizeof r->split, "public");
    return train ? CONSM_OK
                 : status_fail(CONSM_EINVAL, "%s: its split leaves no labelled node for training",
                               d->name);
}

consm_status roles_make(struct roles *out, const struct dataset *d, const char *split,
                        uint64_t seed, const struct split_options *o)
{
    consm_status st = CONSM_OK;
    *out = (struct roles){0};
    TRY(ZNEW(out->role, d->nodes));
    if (strcmp(split, "auto") == 0) {
        TRY(d->splits ? came_along(out, d, seed) : every_label(out, d));
    } else {
        TRY(split_make(out->role, d, split, seed, o));
        snprintf(out->split, sizeof out->split, "%s", split);
        utf8_mend(out->split); /* a file's name may have invalid bytes, and this one may be cut */
    }
    split_count(out->count, out->role, d->nodes);
    if (out->count[SPLIT_VAL] == 0) {
        TRY(hold_out(out, d, seed));
        split_count(out->count, out->role, d->nodes);
    }
done:
    if (st < 0)
        roles_free(out);
    return st;
}

int64_t roles_halve(uint8_t *role, uint8_t *calibrates, int64_t nodes, uint64_t seed)
{
    consm_status st = CONSM_OK;
    struct rng rng;
    int32_t *member = NULL;
    int64_t count = 0;
    TRY(NEW(member, nodes));
    for (int64_t i = 0; i < nodes; i++) {
        calibrates[i] = 0;
        if (role[i] == SPLIT_VAL)
            member[count++] = (int32_t)i;
    }
    rng_init(&rng, seed, 0x63616c6962726174u);
    rng_shuffle(&rng, member, count);
    for (int64_t j = 0; j < count / 2; j++) {
        role[member[j]] = SPLIT_NONE;
        calibrates[member[j]] = 1;
    }
done:
    mem_free(member);
    return st < 0 ? st : count / 2;
}

consm_status roles_set_aside(struct roles *r, int64_t nodes, uint64_t seed)
{
    consm_status st = CONSM_OK;
    TRY(NEW(r->calibrates, nodes));
    r->calibrating = roles_halve(r->role, r->calibrates, nodes, seed);
    TRY((consm_status)(r->calibrating < 0 ? r->calibrating : CONSM_OK));
    split_count(r->count, r->role, nodes);
done:
    return st;
}

void roles_free(struct roles *r)
{
    mem_free(r->role);
    mem_free(r->calibrates);
    *r = (struct roles){0};
}
