/* Messages over other edges than the graph's: without distrusted ones, or with missing ones. Their
 * state is struct consm_clean. */
#ifndef TRAIN_CONSM_CLEAN_H
#define TRAIN_CONSM_CLEAN_H

#include "train/consm/consm.h"

/* A trial GNN over other edges. */
struct consm_attempt {
    struct session *session; /* NULL: it diverged, or there is none */
    struct consm_kept *kept;
    uint8_t *dropped; /* (|E|) */
    double share, added_share;
    struct consm_pairs added;
};

/* Quality of answers: the run's metric, ties by validation loss. */
struct consm_mark {
    double score, loss;
};

typedef consm_status (*consm_rounds_fn)(struct session *s, struct progress *progress);

/* ---- kept.c: messages over other edges ---- */

/* dropped (|E|) or NULL: none. */
consm_status consm_kept_new(struct consm_kept **out, const struct problem *whole,
                            const struct edges *edges, const uint8_t *dropped,
                            const struct consm_pairs *added, struct team *team);
void consm_pairs_free(struct consm_pairs *pairs);
void consm_close_clean(struct session *s);

/* The score below which a given share of the scores (count) is; the highest if that is all. */
double consm_score_at(const float *score, int64_t count, double share);

/* The problem without the edges in which this trust (|E|) is below a threshold. */
consm_status consm_kept_by(struct consm_kept **out, const struct session *s, const float *trust,
                           double drop_below);

/* Marks the edges of least trust to drop, by the session's share or threshold. */
void consm_mark_dropped(uint8_t *dropped, const float *trust, struct session *s);

/* Continues training without these edges, with the current parameters. */
consm_status consm_train_without(struct session *s, const uint8_t *dropped);

/* In a course over other edges: the round's trust decides anew; the best ones are stored and
 * restored with the parameters. They do nothing in other courses. */
consm_status consm_clean_again(struct session *s);
void consm_remember_kept(struct session *s);
consm_status consm_restore_kept(struct session *s);

/* The answers of a model in which edges with less trust than config.drop_below carry no messages
 * and pairs with config.add_above or more do. Starting from all edges, trust and messages decide
 * each other three times, then pairs join. Also for a new graph. Shares that are not NaN set the
 * thresholds. The store holds the trust. */
consm_status consm_answer(struct session *s, const struct trust *trust, double share,
                          double added_share);

/* After a saved model's parameters were loaded: messages as in training. */
consm_status consm_loaded(struct session *s);

/* ---- clean_trial.c: a GNN over other edges, tried and taken ---- */

void consm_attempt_free(struct consm_attempt *t);

/* Frees the programs of a network of which only the parameters are needed for now, so that others
 * have the memory. Not on a card, where making them takes longer than running them 50 times. */
void consm_rest(struct session *s);

/* A GNN alone over the edges of t, with drawn parameters. */
consm_status consm_attempt_open(struct consm_attempt *t, struct session *s, const struct config *c);

/* Trains up to update `until`. Drops a trial that diverges. */
consm_status consm_attempt_train(struct consm_attempt *t, struct session *s, int64_t until,
                                 int64_t number);

/* Keeps the better one in *a and frees b. */
void consm_keep_better(struct consm_attempt *a, struct consm_attempt *b);

/* ---- clean_trail.c: what of that is finished, for checkpoints ---- */

/* A trial resumes from a checkpoint; saves one after an update, if due or if the run must stop; and
 * ends (NULL: it diverged). */
consm_status consm_take_leg(struct consm_attempt *t, struct session *s);
consm_status consm_save_leg(struct session *s, struct session *trial, int64_t updates, bool stop);
consm_status consm_end_leg(struct session *s, struct session *trial);

/* The same for a course; consm_note_course updates it in the trail. */
consm_status consm_begin_course(struct session *s);
consm_status consm_note_course(struct session *s);
consm_status consm_end_course(struct session *s);

/* Validation of the current course's warm-up, and of its answers. */
double consm_warm_best(const struct session *s);
consm_status consm_mark_answers(struct consm_mark *out, struct session *s);

/* Switches the session to an attempt and goes through the rounds. The result stays if it validates
 * better than before, or must stay; otherwise the session is restored to the bit. */
consm_status consm_take_course(struct session *s, struct consm_attempt *to,
                               const struct consm_mark *before, bool must,
                               struct progress *progress, consm_rounds_fn rounds);

/* ---- clean_arm.c, missing_arm.c: whether that helps ---- */

/* The share of edges with a score below one half. */
double consm_distrusted(const float *score, int64_t count);

/* After the rounds over all edges: tries the GNN without the edges of least trust and, if
 * validation improves, goes through the rounds again on the rest. */
consm_status consm_clean_course(struct session *s, struct progress *progress,
                                consm_rounds_fn rounds);

/* The same with the pairs of largest trust that are not edges. */
consm_status consm_missing_course(struct session *s, struct progress *progress,
                                  consm_rounds_fn rounds);

#endif
