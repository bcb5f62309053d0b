/* The greedy attacker who adds only edges that the defence trusts. */
#include "attack/surrogate.h"

#include <stdlib.h>

enum { ROUNDS = 10 };

/* A pair and the change of the victims' margins if it is joined; negative hurts them. */
struct harm {
    double gradient;
    int64_t pair;
};

static int most_harm_first(const void *a, const void *b)
{
    const struct harm *x = a, *y = b;
    if (x->gradient != y->gradient)
        return x->gradient < y->gradient ? -1 : 1;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* Joins up to `most` of the remaining pairs. */
static consm_status one_round(struct changes *out, uint8_t *joined, const double *gradient,
                              const struct trusted_pairs *pairs, int64_t most)
{
    consm_status st = CONSM_OK;
    struct harm *harm = NULL;
    int64_t count = 0;
    TRY(NEW(harm, pairs->count));
    for (int64_t e = 0; e < pairs->count; e++)
        if (!joined[e] && gradient[e] < 0)
            harm[count++] = (struct harm){gradient[e], e};
    qsort(harm, (size_t)count, sizeof *harm, most_harm_first);
    for (int64_t i = 0; i < count && i < most; i++) {
        joined[harm[i].pair] = 1;
        changes_add(out, pairs->left[harm[i].pair], pairs->right[harm[i].pair], true);
    }
done:
    mem_free(harm);
    return st;
}

consm_status attack_trusted(struct changes *out, const struct surrogate *m, const struct victims *v,
                            const struct csr *graph, const struct trusted_pairs *pairs,
                            int64_t budget)
{
    consm_status st = CONSM_OK;
    struct csr *now = NULL;
    uint8_t *joined = NULL;
    double *gradient = NULL, loss;
    *out = (struct changes){0};
    TRY(changes_new(out, budget));
    TRY(ZNEW(joined, pairs->count));
    TRY(NEW(gradient, pairs->count));
    for (int round = 1; round <= ROUNDS; round++) {
        TRY(changes_apply(&now, graph, out));
        TRY(surrogate_gradient(&loss, gradient, m, v, now, pairs->left, pairs->right,
                               pairs->count));
        csr_free(now);
        now = NULL;
        TRY(one_round(out, joined, gradient, pairs, budget * round / ROUNDS - out->count));
    }
done:
    if (st < 0)
        changes_free(out);
    csr_free(now);
    mem_free(joined);
    mem_free(gradient);
    return st;
}
