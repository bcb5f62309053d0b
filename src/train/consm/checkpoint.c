/* What a checkpoint of ConSM holds, and whether one that was read is valid. */
#include "train/consm/consm.h"

#include <math.h>
#include <string.h>

consm_status consm_see_place(struct session *s, memory_fn see, void *ctx)
{
    struct consm_place *at = &((struct consm *)s->own)->place;
    see(ctx, "consm.place", at, sizeof *at);
    return CONSM_OK;
}

/* What a checkpoint holds besides the GNN and the place: the coefficients and what follows from
 * them, and the matching module. Subgraphs are collected anew when a round starts. */
consm_status consm_memory(struct session *s, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    size_t bytes = (size_t)own->edges->count * sizeof(float);
    if (edges_all(own->edges) == 0)
        return CONSM_OK;
    if (!own->matcher)
        TRY(consm_open_matcher(s));
    if (own->pulls) {
        TRY(consm_parts_memory(s, see, ctx));
    } else {
        see(ctx, "consm.w", own->w, bytes);
        see(ctx, "consm.slope", own->slope, bytes);
        see(ctx, "consm.constant", &own->constant, sizeof own->constant);
    }
    TRY(snapshot_reserve(&own->fork, &s->learner));
    see(ctx, "consm.fork", own->fork.numbers,
        (size_t)SNAPSHOT_BLOCKS * (size_t)s->learner.params->size * sizeof(float));
    TRY(consm_arms_memory(s, see, ctx));
    consm_message_memory(s, see, ctx);
    consm_guess_memory(s, see, ctx);
    TRY(matcher_memory(own->matcher, see, ctx));
done:
    return st;
}

static bool steps_sound(int64_t steps)
{
    return steps >= 0 && steps <= LEARNER_MOST_STEPS;
}

/* Whether it is an area under a curve, or NaN. The flag is read as a byte, because an invalid bool
 * is undefined. */
static bool quality_sound(const struct match_quality *q)
{
    const double area[] = {q->learned_auc, q->held_auc, q->known_auc};
    unsigned char at_chance;
    memcpy(&at_chance, &q->at_chance, 1);
    for (int i = 0; i < 3; i++)
        if (!isnan(area[i]) && !(area[i] >= 0 && area[i] <= 1))
            return false;
    return at_chance <= 1;
}

bool consm_sound(const struct session *s)
{
    const struct consm *own = s->own;
    const struct config *c = &s->options.config;
    const struct consm_place *at = &own->place;
    struct consm_arm arm[CONSM_ARMS];
    int arms = consm_arms(arm, c);
    bool choosing = at->choosing == 1 && at->round == 1 && own->matcher && arms > 1;
    return (at->begun == 0 || at->begun == 1) && (at->choosing == 0 || choosing) &&
           at->round >= 0 && at->round <= c->rounds && at->best_round >= 0 &&
           at->best_round <= at->round && at->left >= 0 &&
           at->left <= (at->round ? c->gnn_steps : c->warmup) && at->idle >= 0 &&
           at->idle <= at->round && steps_sound(at->before) && steps_sound(at->updates) &&
           steps_sound(at->fork_steps) && steps_sound(at->fork_updates) &&
           isfinite(at->fork_best) && !isnan(at->fork_best_loss) && at->arm >= 0 &&
           at->arm < arms && at->prune_by >= PRUNE_BY_AUTO && at->prune_by <= PRUNE_BY_EGO &&
           (at->over == 0 || at->over == 1) && consm_arms_sound(s) && quality_sound(&at->quality) &&
           consm_guesses_sound(s) && (!own->matcher || matcher_sound(own->matcher));
}
