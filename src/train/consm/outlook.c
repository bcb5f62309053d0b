/* Estimates the remaining time of Algorithm 2. Validation ends the rounds; the estimate counts all
 * of them until one finds nothing better, because a run that ends early is a pleasant surprise. */
#include "train/consm/consm.h"

#include "base/clock.h"

/* Remaining rounds after this one, if `idle` rounds before it found nothing better. */
static int64_t rounds_to_come(const struct config *c, int64_t round, int64_t idle)
{
    int64_t most = c->rounds - round, patience = c->round_patience - idle;
    return idle == 0 || c->round_patience == 0 || patience > most ? most : patience;
}

/* A round ends after a quarter of its updates without improvement, and one that improves continues
 * as long after that. */
int64_t consm_later_updates(const struct config *c)
{
    return c->round_patience > 0 ? c->gnn_steps / 2 : c->gnn_steps;
}

double consm_after_choice(const struct outlook *o, const struct config *c)
{
    int64_t more = rounds_to_come(c, 1, 0);
    return outlook_rounds(o, consm_round_updates(c, 1) + more * consm_later_updates(c), 1 + more);
}

static double rounds_left(const struct session *s)
{
    const struct consm *own = s->own;
    const struct consm_place *at = &own->place;
    const struct config *c = &s->options.config;
    int64_t more = rounds_to_come(c, at->round, at->idle);
    int64_t updates =
        at->choosing ? consm_round_updates(c, 1) - (at->updates - at->fork_updates) : at->left;
    updates += more * consm_later_updates(c);
    if (updates > c->epochs - at->updates)
        updates = c->epochs - at->updates;
    return outlook_rounds(&own->outlook, updates > 0 ? updates : 0, more);
}

double consm_fraction(const struct session *s)
{
    const struct consm *own = s->own;
    const struct outlook *o = &own->outlook;
    const struct config *c = &s->options.config;
    double elapsed = clock_seconds() - o->begun, left;
    if (own->place.round == 0) {
        const struct pace *p = &o->warmup;
        left = (double)own->place.left * (p->update + p->look / 5) + consm_after_choice(o, c);
        if (o->look <= 0)
            left = -1; /* nothing has been measured yet */
    } else {
        left = rounds_left(s);
    }
    if (c->time_budget > 0 && left > c->time_budget - elapsed)
        left = c->time_budget > elapsed ? c->time_budget - elapsed : 0;
    return outlook_fraction(elapsed, left);
}

void consm_note_update(struct session *s, double seconds, bool looked, bool first)
{
    struct outlook *o = &((struct consm *)s->own)->outlook;
    if (((const struct consm *)s->own)->place.round > 0) {
        pace_update(&o->round, seconds, first);
    } else if (!looked) {
        pace_update(&o->warmup, seconds, first);
    } else {
        double look = seconds - o->warmup.update;
        pace_look(&o->warmup, look > 0 ? look : 0);
        o->look = o->pass = o->warmup.look;
    }
}
