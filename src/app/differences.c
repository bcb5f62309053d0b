/* Compares the answers of two models. */
#include "app/differences.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int largest_first(const void *a, const void *b)
{
    const struct difference *x = a, *y = b;
    if (x->by != y->by)
        return x->by > y->by ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

const char *differences_label(const struct differences *c, int which, int64_t number,
                              char buffer[24])
{
    return consm_model_class(c->model[which], c->said[which]->label[number], buffer);
}

static consm_status find_flips(struct differences *c)
{
    consm_status st = CONSM_OK;
    char a[24], b[24];
    TRY(NEW(c->flip, c->said[0]->nodes));
    for (int64_t i = 0; i < c->said[0]->nodes; i++)
        if (strcmp(differences_label(c, 0, i, a), differences_label(c, 1, i, b)) != 0)
            c->flip[c->flips++] = (struct difference){
                i, fmin((double)c->said[0]->confidence[i], (double)c->said[1]->confidence[i])};
    if (c->flips > 0)
        qsort(c->flip, (size_t)c->flips, sizeof *c->flip, largest_first);
done:
    return st;
}

static consm_status find_moves(struct differences *c, double least)
{
    consm_status st = CONSM_OK;
    TRY(NEW(c->move, c->trust[0]->edges));
    for (int64_t e = 0; e < c->trust[0]->edges; e++) {
        double by = fabs((double)c->trust[1]->score[e] - (double)c->trust[0]->score[e]);
        if (by >= least)
            c->move[c->moves++] = (struct difference){e, by};
    }
    if (c->moves > 0)
        qsort(c->move, (size_t)c->moves, sizeof *c->move, largest_first);
done:
    return st;
}

consm_status differences_find(struct differences *c, double least)
{
    consm_status st = CONSM_OK;
    TRY(find_flips(c));
    TRY(find_moves(c, least));
done:
    if (st < 0)
        differences_free(c);
    return st;
}

void differences_free(struct differences *c)
{
    mem_free(c->flip);
    mem_free(c->move);
    c->flip = c->move = NULL;
    c->flips = c->moves = 0;
}
