/* Selects among trained members. Everything is summed in the order of rows and members, so the same
 * members give the same choice, whoever trained them and in any order. */
#include "train/ensemble.h"

#include "train/metrics.h"

#include <math.h>
#include <string.h>

/* A member that gives the truth probability 0 is very wrong, not infinitely wrong; as in metrics.
 */
static const double least_probability = 1e-45;

const char *const ensemble_rule_name[ENSEMBLE_RULES] = {"single", "average", "greedy"};

uint64_t ensemble_seed(uint64_t seed, int64_t number)
{
    return seed + ((uint64_t)number << 40);
}

/* ---- how good a combination is ------------------------------------------- */

/* The results of a combination for every row. */
struct ensemble_rows {
    double *right, *likelihood; /* (rows) 1 or 0; log p(truth) */
    float *logits;              /* (rows, c) log p, if a metric other than accuracy reads them */
    double score;               /* by the run's metric */
};

static bool by_accuracy(const struct ensemble_pool *pool)
{
    return !pool->judge || pool->judge->metric == METRIC_ACCURACY;
}

static consm_status rows_open(struct ensemble_rows *r, const struct ensemble_pool *pool)
{
    consm_status st = CONSM_OK;
    TRY(NEW(r->right, pool->rows));
    TRY(NEW(r->likelihood, pool->rows));
    if (!by_accuracy(pool))
        TRY(NEW(r->logits, pool->rows * pool->classes));
done:
    return st;
}

static void rows_free(struct ensemble_rows *r)
{
    mem_free(r->right);
    mem_free(r->likelihood);
    mem_free(r->logits);
}

/* sum (c) = Σ_m picks_m p_m of one row. */
static void add_votes(double *sum, const struct ensemble_pool *pool, const int64_t *picks,
                      int64_t row)
{
    memset(sum, 0, (size_t)pool->classes * sizeof *sum);
    for (int64_t m = 0; m < pool->members; m++) {
        const float *p = pool->probability[m] + row * pool->classes;
        for (int32_t k = 0; picks[m] && k < pool->classes; k++)
            sum[k] += (double)picks[m] * (double)p[k];
    }
}

static int32_t largest(const double *x, int32_t count)
{
    int32_t best = 0;
    for (int32_t k = 1; k < count; k++)
        if (x[k] > x[best])
            best = k;
    return best;
}

static double mean(const double *x, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    return count > 0 ? sum / (double)count : 0;
}

/* Results of the mean probability with picks[m] votes for member m, row by row. */
static consm_status judge(struct ensemble_rows *out, const struct ensemble_pool *pool,
                          const int64_t *picks)
{
    consm_status st = CONSM_OK;
    double *sum = NULL, votes = 0;
    for (int64_t m = 0; m < pool->members; m++)
        votes += (double)picks[m];
    TRY(NEW(sum, pool->classes));
    for (int64_t i = 0; i < pool->rows; i++) {
        add_votes(sum, pool, picks, i);
        out->right[i] = largest(sum, pool->classes) == pool->label[i];
        out->likelihood[i] = log(fmax(sum[pool->label[i]] / votes, least_probability));
        for (int32_t k = 0; out->logits && k < pool->classes; k++)
            out->logits[i * pool->classes + k] =
                (float)log(fmax(sum[k] / votes, least_probability));
    }
    out->score =
        out->logits ? judge_score(pool->judge, out->logits, true) : mean(out->right, pool->rows);
done:
    mem_free(sum);
    return st;
}

static struct ensemble_quality quality_of(const struct ensemble_rows *r, int64_t rows)
{
    return (struct ensemble_quality){r->score, mean(r->likelihood, rows)};
}

/* ---- the greedy selection ------------------------------------------------ */

/* Σ_i log((sum_i + p_i) / votes) with p_i the member's probability of the truth. */
static double likelihood_with(const struct ensemble_pool *pool, const double *sum, int64_t member,
                              double votes)
{
    const float *p = pool->probability[member];
    double total = 0;
    for (int64_t i = 0; i < pool->rows; i++) {
        double mean = (sum[i] + (double)p[i * pool->classes + pool->label[i]]) / votes;
        total += log(fmax(mean, least_probability));
    }
    return total;
}

/* The member that is best to add; *likelihood: the result. */
static int64_t best_addition(double *likelihood, const struct ensemble_pool *pool,
                             const double *sum, double votes)
{
    int64_t best = 0;
    *likelihood = -INFINITY;
    for (int64_t m = 0; m < pool->members; m++) {
        double with = likelihood_with(pool, sum, m, votes);
        if (with > *likelihood) {
            *likelihood = with;
            best = m;
        }
    }
    return best;
}

consm_status ensemble_join(int64_t *picks, const struct ensemble_pool *pool, int64_t first,
                           int64_t most)
{
    consm_status st = CONSM_OK;
    double *sum = NULL, best = -INFINITY; /* sum (rows): probabilities of the truth so far */
    int64_t *order = NULL,
            kept = 0; /* (most) members in the order of adding; how many of them count */
    memset(picks, 0, (size_t)pool->members * sizeof *picks);
    picks[0] = first;
    TRY(ZNEW(sum, pool->rows));
    TRY(NEW(order, most));
    if (first > 0)
        best = likelihood_with(pool, sum, 0, 1);
    for (int64_t i = 0; first > 0 && i < pool->rows; i++)
        sum[i] = (double)first * (double)pool->probability[0][i * pool->classes + pool->label[i]];
    for (int64_t n = 0; n < most && pool->rows > 0 && n - kept < ENSEMBLE_PATIENCE; n++) {
        double likelihood;
        order[n] = best_addition(&likelihood, pool, sum, (double)(first + n + 1));
        if (likelihood > best) {
            best = likelihood;
            kept = n + 1;
        }
        for (int64_t i = 0; i < pool->rows; i++)
            sum[i] += (double)pool->probability[order[n]][i * pool->classes + pool->label[i]];
    }
    for (int64_t n = 0; n < kept; n++)
        picks[order[n]]++;
done:
    mem_free(sum);
    mem_free(order);
    return st;
}

consm_status ensemble_greedy(int64_t *picks, const struct ensemble_pool *pool, int64_t most)
{
    return ensemble_join(picks, pool, 0, most);
}

/* ---- mean predictions ---------------------------------------------------- */

void ensemble_mix(double *mean, float *probability, double weight, double temperature,
                  const float *logits, int32_t classes)
{
    metrics_softmax(probability, logits, temperature, 1, classes);
    for (int32_t k = 0; k < classes; k++)
        mean[k] += weight * (double)probability[k];
}

/* softmax(log p) = p; the floor keeps log(0) finite. */
void ensemble_mixed(float *logits, const double *mean, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        logits[k] = (float)log(fmax(mean[k], least_probability));
}

/* ---- the contenders ------------------------------------------------------ */

/* Better by the metric; ties by likelihood. */
static bool better(struct ensemble_quality a, struct ensemble_quality b)
{
    return a.score > b.score || (a.score == b.score && a.log_likelihood > b.log_likelihood);
}

double ensemble_advantage(const double *a, const double *b, int64_t rows)
{
    double sum = 0, squares = 0, n = (double)rows;
    for (int64_t i = 0; i < rows; i++)
        sum += a[i] - b[i];
    if (rows < 2 || sum == 0)
        return 0;
    for (int64_t i = 0; i < rows; i++)
        squares += (a[i] - b[i] - sum / n) * (a[i] - b[i] - sum / n);
    return sum / n / sqrt(squares / (n - 1) / n); /* infinite if all differences are equal */
}

/* Whether the metric prefers a to b; for accuracy by more than `margin` standard errors. */
static bool scores_more(const struct ensemble_rows *a, const struct ensemble_rows *b,
                        const struct ensemble_pool *pool, double margin)
{
    return by_accuracy(pool) ? ensemble_advantage(a->right, b->right, pool->rows) > margin
                             : a->score > b->score;
}

/* Whether the selection replaces the average: neither the metric nor likelihood prefers the
 * average. */
static bool selection_holds(const struct ensemble_rows *greedy, const struct ensemble_rows *average,
                            const struct ensemble_pool *pool)
{
    return !scores_more(average, greedy, pool, 1) &&
           !(ensemble_advantage(average->likelihood, greedy->likelihood, pool->rows) > 1);
}

/* Whether the single run replaces a combination. The best of several runs is best partly by luck,
 * by about one standard error, so it must be ahead by two. */
static bool single_holds(const struct ensemble_rows *single, const struct ensemble_rows *leader,
                         const struct ensemble_pool *pool)
{
    return scores_more(single, leader, pool, 2);
}

/* Measures every member alone. */
static consm_status measure_alone(struct ensemble_quality *alone, const struct ensemble_pool *pool)
{
    consm_status st = CONSM_OK;
    struct ensemble_rows rows = {0};
    int64_t *picks = NULL;
    TRY(ZNEW(picks, pool->members));
    TRY(rows_open(&rows, pool));
    for (int64_t m = 0; m < pool->members; m++) {
        picks[m] = 1;
        TRY(judge(&rows, pool, picks));
        alone[m] = quality_of(&rows, pool->rows);
        picks[m] = 0;
    }
done:
    rows_free(&rows);
    mem_free(picks);
    return st;
}

/* The configuration with the best members on average; ties to the first. */
static int32_t best_group(const struct ensemble_quality *alone, const struct ensemble_pool *pool)
{
    struct ensemble_quality best = {-1, 0};
    int32_t chosen = 0;
    for (int64_t first = 0; first < pool->members; first++) {
        struct ensemble_quality mean = {0};
        double count = 0;
        for (int64_t m = 0; m < pool->members; m++)
            if (pool->group[m] == pool->group[first]) {
                mean.score += alone[m].score;
                mean.log_likelihood += alone[m].log_likelihood;
                count++;
            }
        mean.score /= count;
        mean.log_likelihood /= count;
        if (better(mean, best)) {
            best = mean;
            chosen = pool->group[first];
        }
    }
    return chosen;
}

/* picks (ENSEMBLE_RULES, members) of the three contenders. */
static consm_status propose(struct ensemble_choice *out, int64_t *picks,
                            const struct ensemble_pool *pool)
{
    consm_status st = CONSM_OK;
    struct ensemble_quality *alone = NULL;
    TRY(NEW(alone, pool->members));
    TRY(measure_alone(alone, pool));
    for (int64_t m = 1; m < pool->runs; m++)
        if (better(alone[m], alone[out->best]))
            out->best = m;
    picks[ENSEMBLE_SINGLE * pool->members + out->best] = 1;
    int32_t group = best_group(alone, pool);
    for (int64_t m = 0; m < pool->members; m++)
        picks[ENSEMBLE_AVERAGE * pool->members + m] = pool->group[m] == group;
    TRY(ensemble_greedy(picks + ENSEMBLE_GREEDY * pool->members, pool, ENSEMBLE_PICKS));
done:
    mem_free(alone);
    return st;
}

/* Whether no other member has a vote: then it is not a combination. */
static bool alone_in(const int64_t *picks, int64_t member, int64_t members)
{
    for (int64_t m = 0; m < members; m++)
        if (picks[m] && m != member)
            return false;
    return true;
}

consm_status ensemble_choose(struct ensemble_choice *out, int64_t *picks,
                             const struct ensemble_pool *pool)
{
    consm_status st = CONSM_OK;
    int64_t *proposed = NULL, members = pool->members;
    struct ensemble_rows rows[ENSEMBLE_RULES] = {{0}};
    *out = (struct ensemble_choice){.rule = ENSEMBLE_AVERAGE};
    TRY(ZNEW(proposed, ENSEMBLE_RULES * members));
    TRY(propose(out, proposed, pool));
    for (int rule = 0; rule < ENSEMBLE_RULES && pool->rows > 0; rule++) {
        TRY(rows_open(&rows[rule], pool));
        TRY(judge(&rows[rule], pool, proposed + rule * members));
        out->quality[rule] = quality_of(&rows[rule], pool->rows);
    }
    if (pool->rows > 0) { /* otherwise there is nothing to select by */
        if (selection_holds(&rows[ENSEMBLE_GREEDY], &rows[ENSEMBLE_AVERAGE], pool))
            out->rule = ENSEMBLE_GREEDY;
        if (alone_in(proposed + out->rule * members, out->best, members) ||
            single_holds(&rows[ENSEMBLE_SINGLE], &rows[out->rule], pool))
            out->rule = ENSEMBLE_SINGLE;
    }
    memcpy(picks, proposed + out->rule * members, (size_t)members * sizeof *picks);
done:
    for (int rule = 0; rule < ENSEMBLE_RULES; rule++)
        rows_free(&rows[rule]);
    mem_free(proposed);
    return st;
}
