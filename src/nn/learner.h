/* A network that learns: its parameters, their programs, the optimiser's state, the number of
 * steps, and the best parameters so far. A training session, the matching module and GAM's
 * agreement model have one each. */
#ifndef NN_LEARNER_H
#define NN_LEARNER_H

#include "program/program.h"

/* A training program and the loss that it minimises. */
struct lesson {
    struct program *program;
    node loss;
};

/* No run takes more steps. Numbers from a checkpoint are checked against it, so that sums cannot
 * overflow. */
#define LEARNER_MOST_STEPS ((int64_t)1 << 53)

struct learner {
    const char *what;   /* "gcn: the loss", for the message if it is not finite */
    const char *unit;   /* "epoch", for that message */
    const char *advice; /* what may help, for that message */
    struct backend *backend;
    struct params *params;
    struct lesson train;  /* owned, as is the next */
    struct program *eval; /* the network without dropout */
    uint64_t seed;        /* of its programs' random numbers */
    int64_t steps;        /* taken */
    double lr;            /* of the last lesson */

    double best, best_loss; /* the best score so far, and the loss that breaks ties */
    int64_t best_step;      /* the step of the best score; 0: none */
};

/* Makes an empty parameter store; the caller sets the fields above. */
consm_status learner_open(struct learner *l, struct backend *backend, uint64_t seed);
void learner_close(struct learner *l);

/* Makes a lesson from a recorded program: minimises the loss by Adam (β 0.9 and 0.999) and
 * compiles; on a card with the first step, because many lessons have none. Takes ownership of the
 * program, also on failure. */
consm_status learner_lesson(struct learner *l, struct lesson *out, struct program *p, node loss,
                            double lr, double weight_decay);
void lesson_free(struct lesson *lesson);

/* Draws the parameters once all programs are compiled. keeps: allocates room for the best ones. */
consm_status learner_start(struct learner *l, uint64_t seed, bool keeps);

/* Takes one step on a lesson and returns the loss before it. CONSM_ENUMERIC if that is not finite.
 */
consm_status learner_step(struct learner *l, const struct lesson *lesson, double *loss);

/* The same without reading the loss, for backends that run while the host does something else.
 * learner_look returns the last loss; CONSM_ENUMERIC if it is not finite. */
bool learner_far(const struct learner *l);
consm_status learner_step_unseen(struct learner *l, const struct lesson *lesson);
consm_status learner_look(struct learner *l, const struct lesson *lesson, double *loss);

/* Counts a step with that loss; CONSM_ENUMERIC as above. */
consm_status learner_took(struct learner *l, double loss);

/* Runs a program with the current parameters and reads one of its values. */
consm_status learner_run(struct learner *l, struct program *p);
consm_status learner_read(const float **out, struct learner *l, struct program *p, node x);
/* The same for program_read_rows(). */
consm_status learner_read_rows(const float **out, struct learner *l, struct program *p, node x,
                               const int32_t *row, int64_t count);

/* Stores the parameters if their score is the highest so far, or equal with a lower loss, or
 * always. */
consm_status learner_judge(struct learner *l, double score, double loss, bool anyway);

/* Restores the stored parameters. */
consm_status learner_restore(struct learner *l);

/* Shows its blocks, for checkpoints; names begin with the prefix. */
consm_status learner_memory(struct learner *l, const char *prefix, memory_fn see, void *ctx);

#endif
