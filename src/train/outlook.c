/* Estimates the remaining time from mean times so far. */
#include "train/outlook.h"

#include <math.h>

/* Rough costs, from runs on graphs of 50,000 to 2,000,000 edges: the exam tries three ways to
 * prune; a round's update goes forward and back over the whole graph and its edges' ends. */
enum { EXAM_PASSES = 600, MATCH_PASSES = 200, ROUND_LOOKS = 5 };

static double mean(double old, double more, int64_t count)
{
    return old + (more - old) / (double)count;
}

void pace_update(struct pace *p, double seconds, bool first)
{
    if (first && p->updates > 0)
        return;
    p->updates = p->first ? 1 : p->updates + 1;
    p->update = p->first ? seconds : mean(p->update, seconds, p->updates);
    p->first = first;
}

void pace_look(struct pace *p, double seconds)
{
    p->look = mean(p->look, seconds, ++p->looks);
}

/* Seconds of an update with its share of a validation. */
static double cost(const struct pace *p, int64_t every)
{
    return p->update + p->look / (double)every;
}

/* The mean of all candidates: it is unknown which will stay. */
static struct pace mean_pace(const struct outlook_candidate *candidate, int64_t count)
{
    struct pace all = {0};
    for (int64_t i = 0; i < count; i++) {
        all.update += candidate[i].pace.update / (double)count;
        all.look += candidate[i].pace.look / (double)count;
    }
    return all;
}

double outlook_choice(const struct outlook_candidate *candidate, int64_t count,
                      const struct outlook_rung *rung, int rungs)
{
    struct pace all = mean_pace(candidate, count);
    double left = 0;
    int r = 0;
    for (int64_t i = 0; i < count; i++)
        if (candidate[i].pace.updates == 0 || candidate[i].pace.looks == 0)
            return (double)NAN;
    /* The current rung is the first that some candidate has not reached. */
    for (; r < rungs && left <= 0; r++)
        for (int64_t i = 0; i < count; i++)
            if (rung[r].until > candidate[i].done)
                left += (double)(rung[r].until - candidate[i].done) *
                        cost(&candidate[i].pace, rung[r].every);
    for (; r > 0 && r < rungs; r++) {
        count = count < rung[r - 1].stay ? count : rung[r - 1].stay;
        left += (double)((rung[r].until - rung[r - 1].until) * count) * cost(&all, rung[r].every);
    }
    return left;
}

void outlook_choose(struct outlook *o, const struct outlook_candidate *candidate, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (candidate[i].pace.looks > 0 && (o->pass <= 0 || candidate[i].pace.look < o->pass))
            o->pass = candidate[i].pace.look;
    o->look = count > 0 ? mean_pace(candidate, count).look : o->look;
}

double outlook_rounds(const struct outlook *o, int64_t updates, int64_t rounds)
{
    double exam = o->examined ? 0 : EXAM_PASSES * o->pass;
    double match = o->match > 0 ? o->match : MATCH_PASSES * o->pass;
    double update = o->round.updates > 0 ? o->round.update : ROUND_LOOKS * o->look;
    return exam + match * (double)rounds + update * (double)updates;
}

double outlook_fraction(double elapsed, double left)
{
    if (!(left >= 0) || elapsed <= 0)
        return 0;
    return elapsed / (elapsed + left);
}
