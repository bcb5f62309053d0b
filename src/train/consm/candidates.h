/* The candidates of a ConSM run: the list, the choice of the backbone among them, and what the
 * others are for. race.h has how they are compared. Not in the paper. */
#ifndef TRAIN_CONSM_CANDIDATES_H
#define TRAIN_CONSM_CANDIDATES_H

#include "train/consm/consm.h"

/* ---- backbone.c: the choice ---- */

/* Sets the configuration to the backbone, or to the features of a given one, that validates best;
 * does nothing if neither is auto. */
consm_status consm_choose_backbone(struct session *s);

/* Takes the choice from a checkpoint (procedure.take_choice); false: it is invalid. */
bool consm_take_choice(struct session *s);

/* ---- student.c: learning from all candidates ---- */

struct committee {
    double *chance; /* (n, c) sum of the members' probabilities */
    int64_t members;
};

void committee_free(struct committee *c);

/* Adds a member's predictions, logits (n, c). */
consm_status committee_hear(struct committee *c, const float *logits, const struct problem *p);

/* The committee's vote on every node without a given label, (n), which the caller frees; -1: not
 * confident enough. And the number of votes. */
consm_status committee_vote(int32_t **out, int64_t *count, const struct committee *c,
                            const struct problem *p);

/* The problem with votes as training labels. It lives as long as `room`, which is filled if empty.
 */
consm_status voted_problem(struct problem *out, struct voted *room, const int32_t *vote,
                           const struct problem *p);
void voted_free(struct voted *v);

/* Whether a student with that validation score replaces a winner with that one. */
bool student_replaces(double student, double winner, const struct judge *judge);

/* Whether the metric counts nodes. Whether a session's candidates vote when its backbone is chosen:
 * several compete, and the metric counts nodes. Whether a student then learns from them. */
bool consm_counts(const struct session *s);
bool consm_has_committee(const struct session *s);
bool consm_has_student(const struct session *s);

/* A refit of a run whose student was taken: its warm-up on the votes and all labels, whose network
 * becomes the winner. In checkpoints it is a choice with one candidate. */
consm_status consm_repeat_student(struct session *s);

/* ---- companions.c: candidates that predict together with ConSM ---- */

/* Whether such a run may have them. */
bool consm_has_companions(const struct session *s);

/* Whether the mean prediction may replace the leader's: not clearly worse. 1 for each of the
 * validation nodes (rows) that it gets right, else 0. */
bool companions_hold(const double *mean, const double *alone, int64_t rows);

/* At the end of training, after consm_settle_trees: validation divides votes between the leader
 * (ConSM's final model, or the trees that predict in its place), the candidates that were trained
 * to the end, and the trees. Replaces `companions` in the configuration by whether any of them has
 * votes; if so, the result is that of the mean prediction, and `with_trees` says whether trees have
 * votes. */
consm_status consm_settle_companions(struct session *s, struct train_result *result);
const struct train_company *consm_company(const struct session *s); /* procedure.company */
void consm_close_companions(struct consm *own);

/* ---- with_trees.c: boosted trees beside the candidates ---- */

/* Trains them into s->choice, unless they take no part or a checkpoint has them. Offers them to an
 * ensemble. */
consm_status consm_train_trees(struct session *s);

/* What was learned, as a session that predicts. */
consm_status consm_open_trees(struct session **out, struct session *s);

/* Adds their vote, if they validate as well as the worst network that was trained to the end. */
consm_status consm_hear_trees(struct committee *out, struct session *s);

/* The validation score that trees must exceed, if that of ConSM's final model is val. */
double consm_best_network(const struct candidate_choice *c, double val);

/* At the end of training: lists them in the result and lets them predict if they validate better
 * than ConSM, and than the network that its student replaced. Replaces with_trees auto in the
 * configuration. */
consm_status consm_settle_trees(struct session *s, struct train_result *result);
struct session *consm_trees(struct session *s, int64_t *rounds); /* procedure.predicts */

/* ---- finalists.c: the last of them compared by folds ---- */

/* Whether cross-validation is used; and the comparison, which puts the best one first. */
bool consm_folds(const struct session *s);
consm_status consm_compare_finalists(struct session *s);

/* ---- portfolio.c: the candidates ---- */

enum {
    CONSM_CANDIDATES = 0
#define CANDIDATE(model, settings) +1
#include "train/consm/portfolio.def"
#undef CANDIDATE
};

/* Whether a candidate backbone sets a parameter (CONFIG_ROW_…) that the user did not set. */
bool consm_candidate_brings(int row);

/* Applies a candidate to a configuration. given (CONFIG_ROWS) marks parameters that the user set:
 * they hold for every candidate. NULL: none. */
consm_status consm_apply_candidate(struct config *c, int64_t number, const bool *given);

/* A candidate's settings as text. */
const char *consm_candidate_settings(int64_t number);

/* Whether the graph, its features and the user's settings allow a candidate. */
bool consm_candidate_fits(const struct session *s, int64_t number);

/* Training labels, on average over the classes; deep and wide networks, and trees, take part from
 * this many on. */
enum { CONSM_MANY_LABELS = 50 };
double consm_labels_a_class(const struct problem *p);

/* On graphs with more entries half as many candidates continue. */
#define CONSM_MILLION_ENTRIES 1000000

/* Sets the length of the warm-up: as configured, scaled by the number of labels. The same by that
 * number, for forecasts. */
void consm_settle_length(struct session *s);
void consm_stretch(struct config *c, double labels_a_class, const bool *given);

/* Continues from the chosen candidate. */
consm_status consm_take_over(struct session *s);

#endif
