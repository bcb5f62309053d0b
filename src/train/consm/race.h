/* The race of candidate networks: their rungs, and how several train side by side. Not in
 * the paper. */
#ifndef TRAIN_CONSM_RACE_H
#define TRAIN_CONSM_RACE_H

#include "train/consm/candidates.h"

#include <pthread.h>

/* After rung FINAL_RUNG every remaining candidate is fully trained; the last rung finishes the
 * winner only. */
enum { RACE_RUNGS = 5, FINAL_RUNG = 3, WINNER_RUNG = 4 };

enum { RACE_LOOK_EVERY = 5 }; /* updates from one validation to the next */

/* ---- rungs.c ---- */

/* Updates of a warm-up, which a candidate gets in all; and up to a rung. */
int64_t race_length(const struct config *c);
int64_t race_updates(const struct config *c, int rung);

/* Whether the user asked for few candidates, or the graph is large; and how many stay after a rung.
 */
bool race_quick(const struct session *s);
int64_t race_stay(const struct session *s, int rung);
/* The same by sizes, for forecasts. */
bool race_is_quick(const struct config *c, double entries);
int64_t race_staying(bool quick, int rung);

/* Candidates that the host trains side by side: one for every two threads, but two for two or
 * three, and at most four: two candidates on a thread each end sooner than one after the other on
 * both. Only so many that their values take 2 GiB. */
int race_host_tracks(int threads, double nodes, double entries);

/* Applies configuration i: a candidate, or the given backbone with features as stored, then
 * row-normalised. */
consm_status race_choose(struct config *c, int64_t i, const bool *given);

/* Whether to validate after that update of the warm-up; and whether the warm-up is over because
 * nothing better was found for long. */
bool consm_looks(const struct config *c, int64_t update);
bool consm_idle(const struct config *c, const struct learner *l);

/* ---- who wins: backbone.c and finalists.c ---- */

/* With a handful of positives average precision hardly distinguishes candidates. Among those within
 * one standard error of the best, the one with the lowest validation loss comes first. */
void consm_take_likeliest(struct candidate_choice *of, const struct judge *j);

/* The one with the best cross-validation comes first; of equal ones the first. */
void consm_take_folded(struct candidate_choice *c);

/* ---- race.c ---- */

/* The race of a session. Candidates that train side by side share its choice: the lock guards it,
 * and with it the session's callbacks. */
struct race {
    struct session *s;
    struct candidate_choice *of;
    size_t room; /* free memory of the card when it began; 0: programs are in the host's memory */
    pthread_mutex_t lock;
    bool taken[TRAIN_MOST_CANDIDATES]; /* on this rung: by a track */
    bool ended[TRAIN_MOST_CANDIDATES];
    struct session *left[TRAIN_MOST_CANDIDATES]; /* programs of candidates that changed tracks */
    int64_t leavers;
    double making; /* seconds in which programs were made */
    int64_t makings;
    bool stop;                    /* the progress callback asked for it */
    struct first_failure failure; /* of the first track that failed */
};

/* Opens the tracks, which stay with the session; closing frees the programs that were kept. */
consm_status race_open(struct race *r, struct session *s);
void race_close(struct race *r);

/* Trains the remaining candidates up to a rung, in any order: each gets the same numbers as alone.
 * Those that the clock leaves out have no validation. */
consm_status race_climb(struct race *r, int rung);

/* A candidate's programs: those that were kept, or new ones. Gives them back: kept, or freed. */
consm_status race_take(struct session **out, struct race *r, struct trial *t);
void race_leave(struct race *r, struct trial *t, struct session *trial);

/* A new session of a candidate, with the trial's numbers. */
consm_status race_new_trial(struct session **out, struct session *s, const struct problem *problem,
                            const struct trial *t, struct backend *backend);

/* The options of a candidate's session. */
consm_status consm_trial_options(struct train_options *out, const struct session *s,
                                 const struct trial *t);

/* Takes at least one step of a trial of session s; on a card all up to the next validation or
 * `until`, without waiting in between. */
consm_status consm_step_on(int64_t *updates, double *loss, struct session *trial, int64_t until,
                           const struct session *s);

/* After updates of a candidate: writes a checkpoint when one is due, and stops if the progress
 * function asked for it. */
consm_status consm_save_choice(struct session *s, struct trial *t, struct session *trial,
                               int64_t updates, bool stop);

/* Trains one candidate up to that number of updates and reports every validation. */
consm_status race_train(struct race *r, struct trial *t, struct session *trial, int64_t until);

/* Trains the winner to the end; the session keeps it in consm.winner. */
consm_status race_finish(struct race *r);

#endif
