/* Logistic regression on the witnesses, shrunk towards weights learned over many graphs. Not in
 * the paper. */

/*
 *     loss(β) = Σ_known log(1 + exp(-±z_e)) + ω Σ_pairs log(1 + exp(-±z'_e))
 *               + Σ_k (β_k - μ_k)² / 2(sσ_k)² + 2·log(1 + r²/3)
 *
 * with z_e = β·x_e. μ and σ are in trust_prior.h, for a network and for all that answer together.
 * With few validation nodes the answers seem more certain than they are, so their agreement has a
 * smaller μ. Cross-validation over the known edges chooses the
 * strength s. The pairs are labelled nodes that share a neighbour but no edge. By Bayes' rule, what
 * a witness says for one class is the same for an edge and for a pair if the witness and the edge
 * are independent given the classes. This holds roughly for predictions and features, so a pair
 * counts a tenth (ω). It does not hold for witnesses of how an edge came to be, so z' is z with
 * weights of its own for these and for the bias (trust_sample.c). NOTES, "trust learns from pairs"
 * and "what pairs cannot say", have figures.
 *
 * The last term (Student's t with three degrees of freedom) ties the mean score of usual edges to
 * the mean agreement of predictions, which is close to the share of edges inside classes if
 * predictions are calibrated: r = (logit(mean σ(z)) - logit(agreement) - shift) / spread. Its tails
 * are heavy, so known edges win if an attack made the predictions wrong.
 *
 * Agreement of predictions never counts against an edge, even if a few known edges suggest it by
 * chance. The weight of agreement is at least half of the prior's. That of the head, which predicts
 * from the matching module's embedding, is at least 0. Over the prior's 43 tasks, each with the
 * prior of the other graphs and 10, 30 or all known edges, this is level or better. On Pubmed's
 * public split, with 34 known edges, it keeps half of the runs from scores at chance.
 */
#include "match/trust_inside.h"

#include "base/alloc.h"
#include "base/threads.h"
#include "match/trust_prior.h"
#include <math.h>
#include <string.h>

enum { STEPS = 40, TERMS = FIT_TERMS, FOLDS = 5, MOST_FOLDED = 1000 };

/* With fewer known edges cross-validation would choose by luck. */
enum { ENOUGH_TO_CHOOSE = 100 };

static const double WEAK_RIDGE = 1e-2;

/* Weight of a pair without an edge; a known edge has 1. */
static const double PAIR = 0.1;

/* Weights with a minimum, and its share of the prior's weight. */
static const struct {
    int term;
    double share;
} least[] = {{1 + WITNESS_AGREEMENT, 0.5}, {1 + WITNESS_HEAD, 0}};
enum { HELD = sizeof least / sizeof *least };

/* The function to minimise. */
struct fitting {
    const struct trust_sample *s;
    const struct trust_prior *prior;
    double mean[TERMS], precision[TERMS];
    double level, level_spread;           /* target of the mean score, in log-odds */
    int64_t known;                        /* the first `known` known edges count */
    int left_out;                         /* except those of this fold; FOLDS: all */
    int64_t pairs;                        /* the first `pairs` pairs count */
    struct team *team;                    /* or NULL: this thread alone */
    double level_slope[TERMS], level_gap; /* at the last evaluated point */
};

static double logit_of(double p)
{
    p = p < 1e-4 ? 1e-4 : p > 1 - 1e-4 ? 1 - 1e-4 : p;
    return log(p / (1 - p));
}

static double log_odds(const struct heard *h, int64_t i, const double beta[TERMS])
{
    return weigh(h->x + i * h->terms, beta, h->terms);
}

/* -log of the probability of the truth. */
static double surprise(double z, bool same)
{
    double wrong = same ? -z : z;
    return (wrong > 0 ? wrong : 0) + log1p(exp(-fabs(wrong)));
}

static bool takes_part(const struct fitting *f, int64_t e)
{
    return e % FOLDS != f->left_out;
}

/* The distance of the usual edges' mean score from its target, in log-odds, and its slope: d
 * logit(m)/dβ = mean(p(1-p)x) / m(1-m). */
static void look_at_level(struct fitting *f, const double beta[TERMS])
{
    const struct heard *u = &f->s->usual;
    double sum = 0, slope[TERMS] = {0}, count = (double)(u->count > 0 ? u->count : 1);
    for (int64_t i = 0; i < u->count; i++) {
        const double *x = u->x + i * u->terms;
        double p = sigmoid_of(log_odds(u, i, beta));
        sum += p;
        for (int k = 0; k < u->terms; k++)
            slope[k] += p * (1 - p) * x[k];
    }
    double mean = sum / count, width = mean * (1 - mean);
    f->level_gap = u->count > 0 ? logit_of(mean) - f->level : 0;
    for (int k = 0; k < TERMS; k++)
        f->level_slope[k] = width > 1e-8 ? slope[k] / count / width : 0;
}

/* One of the edges and pairs that count: its terms, truth and weight. */
struct witnessed {
    const double *x; /* (terms) */
    int terms;
    bool same;
    double weight;
};

/* Edge or pair `at`; false: it is left out. */
static bool case_at(struct witnessed *c, const struct fitting *f, int64_t at)
{
    bool known = at < f->known;
    int64_t e = known ? at : at - f->known;
    const struct heard *h = known ? &f->s->known : &f->s->pairs;
    *c = (struct witnessed){h->x + e * h->terms, h->terms,
                            known ? f->s->same[e] : f->s->pair_same[e], known ? 1 : PAIR};
    return !known || takes_part(f, e);
}

/* Threads compute a number for each edge and pair. Then each adds them in their order, to sums of
 * its own, so the bits do not depend on the threads. */
struct summing {
    const struct fitting *f;
    const double *beta;
    double *gradient, (*hessian)[TERMS]; /* NULL: only the losses are wanted */
};

/* Edges and pairs for which it is worth waking threads. */
enum { MANY = 2000 };

static void each_worker(void *arg, struct worker who)
{
    const struct summing *q = arg;
    const struct fitting *f = q->f;
    int64_t from, to;
    team_range(who, f->known + f->pairs, 64, &from, &to);
    for (int64_t at = from; at < to; at++) {
        struct witnessed c;
        if (!case_at(&c, f, at))
            continue;
        double z = weigh(c.x, q->beta, c.terms);
        f->s->term[at] = q->gradient ? sigmoid_of(z) : c.weight * surprise(z, c.same);
    }
}

/* Adds to every size-th term of the gradient and to its row of the Hessian. */
static void sum_worker(void *arg, struct worker who)
{
    const struct summing *q = arg;
    const struct fitting *f = q->f;
    for (int64_t at = 0; at < f->known + f->pairs; at++) {
        struct witnessed c;
        double p = f->s->term[at];
        if (!case_at(&c, f, at))
            continue;
        for (int i = who.id; i < c.terms; i += who.size) {
            q->gradient[i] += c.weight * (p - c.same) * c.x[i];
            for (int j = 0; j <= i; j++)
                q->hessian[i][j] += c.weight * p * (1 - p) * c.x[i] * c.x[j];
        }
    }
}

static void on_team(const struct fitting *f, team_fn work, struct summing *q)
{
    if (f->team && f->known + f->pairs > MANY)
        team_run(f->team, work, q);
    else
        work(q, (struct worker){.size = 1});
}

static double objective(struct fitting *f, const double beta[TERMS])
{
    double total = 0;
    struct summing q = {f, beta, NULL, NULL};
    for (int i = 0; i < TERMS; i++)
        total += f->precision[i] / 2 * (beta[i] - f->mean[i]) * (beta[i] - f->mean[i]);
    look_at_level(f, beta);
    double r = f->level_gap / f->level_spread;
    total += 2 * log1p(r * r / 3);
    on_team(f, each_worker, &q);
    for (int64_t at = 0; at < f->known + f->pairs; at++)
        if (at >= f->known || takes_part(f, at))
            total += f->s->term[at];
    return total;
}

/* The gradient and the Hessian (Gauss-Newton for the level) at the last point of objective(). */
static void derive(double gradient[TERMS], double hessian[TERMS][TERMS], const struct fitting *f,
                   const double beta[TERMS])
{
    double pull = 4 / (3 * f->level_spread * f->level_spread + f->level_gap * f->level_gap);
    struct summing q = {f, beta, gradient, hessian};
    for (int i = 0; i < TERMS; i++) {
        gradient[i] =
            f->precision[i] * (beta[i] - f->mean[i]) + pull * f->level_gap * f->level_slope[i];
        for (int j = 0; j <= i; j++)
            hessian[i][j] =
                (i == j ? f->precision[i] : 0) + pull * f->level_slope[i] * f->level_slope[j];
    }
    on_team(f, each_worker, &q);
    on_team(f, sum_worker, &q);
}

/* Replaces the lower triangle of a positive definite matrix by its Cholesky factor. */
static void factorise(double a[TERMS][TERMS])
{
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(sum > 1e-12 ? sum : 1e-12) : sum / a[j][j];
        }
}

/* x becomes the solution of L·Lᵀ·x = x. */
static void solve(double x[TERMS], double factor[TERMS][TERMS])
{
    for (int i = 0; i < TERMS; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= factor[i][k] * x[k];
        x[i] /= factor[i][i];
    }
    for (int i = TERMS - 1; i >= 0; i--) {
        for (int k = i + 1; k < TERMS; k++)
            x[i] -= factor[k][i] * x[k];
        x[i] /= factor[i][i];
    }
}

/* Newton's method from beta; leaves the result in beta. */
static void minimise(double beta[TERMS], struct fitting *f)
{
    double now = objective(f, beta);
    for (int step = 0; step < STEPS; step++) {
        double move[TERMS], hessian[TERMS][TERMS], next[TERMS];
        double then = INFINITY, share = 2;
        derive(move, hessian, f, beta);
        factorise(hessian);
        solve(move, hessian);
        /* A full step may overshoot: halve it until the loss falls. */
        while (then > now && share > 1e-6) {
            share /= 2;
            for (int i = 0; i < TERMS; i++)
                next[i] = beta[i] - share * move[i];
            then = objective(f, next);
        }
        if (then > now - 1e-9 * (1 + now))
            break;
        memcpy(beta, next, sizeof next);
        now = then;
    }
}

/* ---- the prior ----------------------------------------------------------- */

enum { FEW_VALIDATORS = 100 };

static struct trust_belief belief_in(const struct fitting *f, int term)
{
    if (term == 1 + WITNESS_AGREEMENT && f->s->validators < FEW_VALIDATORS)
        return f->prior->agreement_of_few;
    return f->prior->term[term];
}

/* strength: the allowed distance from the prior, in its spreads. */
static void set_prior(struct fitting *f, double strength, bool without_match)
{
    const struct trust_sample *s = f->s;
    for (int k = TRUST_TERMS; k < TERMS; k++) {
        f->mean[k] = 0;
        f->precision[k] = WEAK_RIDGE;
    }
    for (int k = 0; k < TRUST_TERMS; k++) {
        const struct trust_belief belief = belief_in(f, k);
        double spread = strength * belief.spread + 0.02;
        f->mean[k] = belief.mean;
        /* Known edges and agreement decide the bias; each graph decides whether edges of taught
         * nodes are wrong more often. */
        spread = k == 0 ? 10 : k == 1 + WITNESS_TAUGHT && spread < 0.5 ? 0.5 : spread;
        if (s->scale[k] == 0 || (k == 1 + WITNESS_MATCH && without_match)) {
            f->mean[k] = 0;
            spread = 1e-3;
        }
        f->precision[k] = 1 / (spread * spread);
    }
    double agreement = s->agreement < 0.02 ? 0.02 : s->agreement > 0.98 ? 0.98 : s->agreement;
    double validators = s->validators > 0 ? (double)s->validators : 1;
    const struct trust_belief level = f->prior->level;
    f->level = logit_of(agreement) + level.mean;
    f->level_spread = sqrt(level.spread * level.spread + 4 / validators);
}

/* Starts with the prior's weights and a bias that gives the expected mean score. */
static void begin(double beta[TERMS], struct fitting *f)
{
    memcpy(beta, f->mean, sizeof f->mean);
    for (int step = 0; step < 30; step++) {
        look_at_level(f, beta);
        beta[0] -= f->level_gap > 1 ? 1 : f->level_gap < -1 ? -1 : f->level_gap;
    }
}

enum { STRENGTHS = 3 };
static const double strengths[STRENGTHS] = {1, 0.5, 2};

/* Cross-validation: a fit for each strength without each fold. */
struct folding {
    const struct fitting *f;
    const double *start;
    bool without_match;
    double beta[STRENGTHS][FOLDS][TERMS];
};

static void fold_worker(void *arg, struct worker who)
{
    struct folding *q = arg;
    for (int k = who.id; k < STRENGTHS * FOLDS; k += who.size) {
        struct fitting f = *q->f;
        struct trust_sample s = *f.s;
        double term[MOST_FOLDED], *beta = q->beta[k / FOLDS][k % FOLDS];
        s.term = term;
        f.s = &s;
        f.team = NULL;
        f.left_out = k % FOLDS;
        set_prior(&f, strengths[k / FOLDS], q->without_match);
        memcpy(beta, q->start, sizeof q->beta[0][0]);
        minimise(beta, &f);
    }
}

static double choose_strength(struct fitting *f, const double start[TERMS], bool without_match)
{
    struct folding q = {.f = f, .start = start, .without_match = without_match};
    double best = INFINITY, chosen = 0.7;
    int64_t all = f->known;
    if (all < ENOUGH_TO_CHOOSE)
        return chosen;
    f->known = all < MOST_FOLDED ? all : MOST_FOLDED;
    team_run_or_alone(f->team, fold_worker, &q);
    for (int i = 0; i < STRENGTHS; i++) {
        double loss = 0;
        for (int k = 0; k < FOLDS; k++)
            for (int64_t e = k; e < f->known; e += FOLDS)
                loss += surprise(log_odds(&f->s->known, e, q.beta[i][k]), f->s->same[e]);
        if (loss < best) {
            best = loss;
            chosen = strengths[i];
        }
    }
    f->known = all;
    return chosen;
}

/* Fixes weights that fell below their minimum, one after the other, and refits the others, until
 * all hold. The covariance still depends only on the prior, the known edges and the pairs. */
static void hold_weights(double beta[TERMS], struct fitting *f)
{
    double precision[TERMS];
    bool held[HELD] = {false}, changed = true;
    memcpy(precision, f->precision, sizeof precision);
    while (changed) {
        changed = false;
        for (int i = 0; i < HELD; i++) {
            int k = least[i].term;
            double bound = least[i].share * belief_in(f, k).mean;
            if (held[i] || f->s->scale[k] == 0 || beta[k] >= bound)
                continue;
            f->mean[k] = beta[k] = bound;
            f->precision[k] = 1e8;
            minimise(beta, f);
            held[i] = changed = true;
        }
    }
    memcpy(f->precision, precision, sizeof precision);
}

/* Converts from standardised to raw witnesses: β = A·standardised, C = A·C·Aᵀ. What only pairs have
 * is left out. */
static void unstandardise(struct trust *t, const double beta[TERMS], double factor[TERMS][TERMS],
                          const struct trust_sample *s)
{
    double by[TRUST_TERMS][TERMS] = {{0}}; /* A */
    double spread[TRUST_TERMS][TERMS];     /* C·Aᵀ, row by row of A */
    by[0][0] = 1;
    for (int k = 1; k < TRUST_TERMS; k++) {
        by[k][k] = s->scale[k] > 0 ? 1 / s->scale[k] : 0;
        by[0][k] = -s->shift[k] * by[k][k];
    }
    for (int i = 0; i < TRUST_TERMS; i++) {
        t->by[i] = weigh(by[i], beta, TERMS);
        memcpy(spread[i], by[i], sizeof by[i]);
        solve(spread[i], factor);
    }
    for (int i = 0, at = 0; i < TRUST_TERMS; i++)
        for (int j = 0; j <= i; j++)
            t->spread[at++] = weigh(by[i], spread[j], TERMS);
}

void trust_fit(struct trust *t, struct trust_sample *s, enum trust_whose whose, bool without_match,
               struct team *team)
{
    struct fitting f = {.s = s,
                        .prior = &trust_prior[whose],
                        .known = s->known.count,
                        .left_out = FOLDS,
                        .team = team};
    double beta[TERMS], gradient[TERMS], hessian[TERMS][TERMS];
    s->scale[0] = 1;
    set_prior(&f, 1, without_match);
    begin(beta, &f);
    set_prior(&f, choose_strength(&f, beta, without_match), without_match);
    f.pairs = s->pairs.count;
    minimise(beta, &f);
    hold_weights(beta, &f);
    objective(&f, beta);
    derive(gradient, hessian, &f, beta);
    factorise(hessian);
    unstandardise(t, beta, hessian, s);
}
