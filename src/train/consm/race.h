/* The race of candidate networks: their rungs, and how several train side by side. */
#ifndef TRAIN_CONSM_RACE_H
#define TRAIN_CONSM_RACE_H

#include "train/consm/consm.h"

#include <pthread.h>

/* After rung FINAL_RUNG every remaining candidate is fully trained; the last rung finishes the
 * winner only. */
enum { RACE_RUNGS = 5, FINAL_RUNG = 3, WINNER_RUNG = 4 };

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
    bool stop;            /* the progress callback asked for it */
    consm_status failure; /* of the first track that failed, and its message */
    char message[1024];
};

/* Opens the tracks, which stay with the session; closing frees the programs that were kept. */
consm_status race_open(struct race *r, struct session *s);
void race_close(struct race *r);

/* Updates of a candidate that is trained to the end; and up to a rung. */
int64_t race_length(const struct config *c);
int64_t race_updates(const struct config *c, int rung);

/* How many candidates stay after a rung. */
int64_t race_stay(const struct session *s, int rung);

/* Applies configuration i: a candidate, or the given backbone with features as stored, then
 * row-normalised. */
consm_status race_choose(struct config *c, int64_t i, const bool *given);

/* Trains the remaining candidates up to a rung, in any order: each gets the same numbers as alone.
 * Those that the clock leaves out have no validation. */
consm_status race_climb(struct race *r, int rung);

/* A candidate's programs: those that were kept, or new ones. Gives them back: kept, or freed. */
consm_status race_take(struct session **out, struct race *r, struct trial *t);
void race_leave(struct race *r, struct trial *t, struct session *trial);

/* A new session of a candidate, with the trial's numbers. */
consm_status race_new_trial(struct session **out, struct session *s, const struct problem *problem,
                            const struct trial *t, struct backend *backend);

/* Trains one candidate up to that number of updates and reports every validation. */
consm_status race_train(struct race *r, struct trial *t, struct session *trial, int64_t until);

/* Trains the winner to the end; the session keeps it in consm.winner. */
consm_status race_finish(struct race *r);

#endif
