/* ConSM's own predictions as labels (--guesses). Not in the paper. The most confident ones join the
 * given labels: `grow` of them in the first round, twice as many in the second and so on. The
 * supervised loss is one mean over all (as in Stretcu et al. 2019). */

/* Every round guesses anew from the best parameters so far, so errors need not stay. The arms
 * decide whether it helps (arms.c). Only training labels and predictions are read. */
#include "train/consm/consm.h"

#include "train/guess.h"
#include "train/supervised.h"
#include <string.h>

consm_status consm_open_guesses(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm_guesses *g = &((struct consm *)s->own)->guesses;
    const struct problem *problem = s->problem;
    int64_t n = problem->nodes;
    if (s->options.config.guesses == GUESSES_NO)
        return CONSM_OK;
    TRY(ZNEW(g->label, n));
    TRY(ZNEW(g->sure, n));
    TRY(ZNEW(g->weight, n));
    TRY(ZNEW(g->given, n));
    TRY(ZNEW(g->share, problem->classes));
    TRY(NEW(g->room.found, n));
    TRY(NEW(g->room.left, problem->classes));
    TRY(NEW(g->room.bar, problem->classes));
    TRY(NEW(g->row, n));
    TRY(index_new(&g->everyone, n, n));
    for (int64_t i = 0; i < n; i++)
        g->row[i] = (int32_t)i;
    TRY(index_set(g->everyone, g->row));
    g->given_part = 1; /* until an arm uses guesses */
    for (int64_t k = 0; k < s->labelled->count; k++) {
        int32_t i = s->labelled->row[k];
        g->given[i] = 1;
        g->share[problem->label[i]] += 1 / (double)s->labelled->count;
    }
done:
    return st;
}

void consm_close_guesses(struct consm_guesses *g)
{
    index_free(g->everyone);
    mem_free(g->label);
    mem_free(g->sure);
    mem_free(g->weight);
    mem_free(g->given);
    mem_free(g->share);
    mem_free(g->room.found);
    mem_free(g->room.left);
    mem_free(g->room.bar);
    mem_free(g->row);
}

/* (1 - m)·L + m·L_guesses with m the share of guesses among the labels. With m = 0 it is exactly L,
 * so an arm without guesses equals a run without them. */
node consm_guess_loss(struct session *s, struct program *p, node supervised, node predictions)
{
    struct consm_guesses *g = &((struct consm *)s->own)->guesses;
    if (!g->label)
        return supervised;
    node guessed =
        supervised_loss(p, predictions, s->problem->classes, g->everyone, g->label, g->weight);
    return add(p, scale_by(p, supervised, input(p, &g->given_part, 1, 1)),
               scale_by(p, guessed, input(p, &g->guessed_part, 1, 1)));
}

consm_status consm_guess(struct session *s, int64_t round)
{
    consm_status st = CONSM_OK;
    struct consm_guesses *g = &((struct consm *)s->own)->guesses;
    const struct config *c = &s->options.config;
    const struct problem *problem = s->problem;
    const float *logits;
    int64_t count;
    if (!g->label)
        return CONSM_OK;
    TRY(session_logits(&logits, s));
    TRY(guess_surest(&count, &g->room, logits, problem->nodes, problem->classes, g->given, g->share,
                     c->grow * round, c->grow_confidence, problem->graph->partition,
                     s->backend->host));
    memset(g->sure, 0, (size_t)problem->nodes * sizeof *g->sure);
    for (int64_t i = 0; i < count; i++) {
        g->label[g->room.found[i].node] = g->room.found[i].label;
        g->sure[g->room.found[i].node] = 1;
    }
    session_touch(s, g->label);
done:
    return st;
}

void consm_heed_guesses(struct session *s, bool heed)
{
    struct consm_guesses *g = &((struct consm *)s->own)->guesses;
    if (!g->label)
        return;
    int64_t count = 0;
    for (int64_t i = 0; i < s->problem->nodes; i++) {
        g->weight[i] = heed ? g->sure[i] : 0;
        count += g->weight[i] > 0;
    }
    g->guessed_part = (float)((double)count / (double)(count + s->labelled->count));
    g->given_part = 1 - g->guessed_part;
    session_touch(s, g->weight);
    session_touch(s, &g->guessed_part);
    session_touch(s, &g->given_part);
}

void consm_guess_memory(struct session *s, memory_fn see, void *ctx)
{
    struct consm_guesses *g = &((struct consm *)s->own)->guesses;
    size_t n = (size_t)s->problem->nodes;
    if (!g->label)
        return;
    see(ctx, "consm.guess.label", g->label, n * sizeof *g->label);
    see(ctx, "consm.guess.sure", g->sure, n * sizeof *g->sure);
}

bool consm_guesses_sound(const struct session *s)
{
    const struct consm_guesses *g = &((const struct consm *)s->own)->guesses;
    for (int64_t i = 0; g->label && i < s->problem->nodes; i++)
        if (g->label[i] < 0 || g->label[i] >= s->problem->classes ||
            !(g->sure[i] == 0 || (g->sure[i] == 1 && !g->given[i])))
            return false;
    return true;
}
