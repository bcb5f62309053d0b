/* The rungs of the race: how long candidates train before the worse ones are dropped, how many
 * stay, and when a candidate is validated or finished. Not in the paper. */
#include "train/consm/race.h"

/* The rungs: after a share of the whole length, and a minimum of updates, this many candidates
 * stay. The first, at five updates, only measures the time of each, to estimate the total. Those
 * that stay after the third are trained to the end. Learned offline (studies/portfolio): leaving 8
 * at a fifth and 4 at two fifths costs less than a tenth of a point; shorter rungs cost more;
 * brackets for slow starters gained nothing. Half as many stay if the user asked for few candidates
 * or the graph is large. */
static const struct {
    double share;
    int64_t least, stay;
} rungs[RACE_RUNGS] = {{0, 5, CONSM_CANDIDATES}, {0.2, 60, 8}, {0.4, 120, 4}, {1, 1, 1}, {1, 1, 1}};

/* The warm-up's number of updates, at least one. */
int64_t race_length(const struct config *c)
{
    int64_t warmup = c->warmup > 0 ? c->warmup : 1;
    return c->epochs < warmup ? c->epochs : warmup;
}

/* Rare classes are found late: with a metric other than accuracy no candidate is dropped before two
 * fifths. */
int64_t race_updates(const struct config *c, int rung)
{
    int64_t whole = race_length(c), least = rungs[rung].least;
    double share = rungs[rung].share;
    if (rung > 0 && c->metric != METRIC_ACCURACY && c->metric != METRIC_AUTO) {
        share *= 2;
        least *= 2;
    }
    int64_t part = (int64_t)(share * (double)whole);
    part = part > least ? part : least;
    return part < whole ? part : whole;
}

bool race_is_quick(const struct config *c, double entries)
{
    return c->candidates == CANDIDATES_FEW || entries > CONSM_MILLION_ENTRIES;
}

bool race_quick(const struct session *s)
{
    return race_is_quick(&s->options.config, (double)s->problem->graph->nnz);
}

int64_t race_staying(bool quick, int rung)
{
    return quick && rung > 0 ? (rungs[rung].stay + 1) / 2 : rungs[rung].stay;
}

int64_t race_stay(const struct session *s, int rung)
{
    return race_staying(race_quick(s), rung);
}

/* A candidate is finished if nothing was better for a quarter of the whole length, and at least 100
 * updates; so is the warm-up of a given backbone. */
bool consm_idle(const struct config *c, const struct learner *l)
{
    int64_t patience = race_length(c) / 4;
    return l->best_step > 0 && l->steps - l->best_step >= (patience > 100 ? patience : 100);
}

/* Validates only every RACE_LOOK_EVERY updates until the last tenth: validation costs almost as
 * much as an update, and the best come late. The warm-up of a given backbone does the same, so that
 * naming the chosen backbone repeats a run to the bit. */
bool consm_looks(const struct config *c, int64_t update)
{
    int64_t whole = race_length(c);
    return update % RACE_LOOK_EVERY == 0 || update > whole - whole / 10 || update == whole;
}

consm_status race_choose(struct config *c, int64_t i, const bool *given)
{
    if (c->backbone == BACKBONE_AUTO)
        return consm_apply_candidate(c, i, given);
    c->normalize_features = i == 0 ? FEATURES_NONE : FEATURES_ROW;
    return CONSM_OK;
}
