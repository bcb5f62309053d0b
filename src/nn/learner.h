/*
 * A network that learns: its parameters, the programs over them, the optimiser's memory, how many
 * steps it took, and the best parameters so far. A training session has one, and so have the
 * matching module and GAM's agreement model; what they train on is their own business.
 */
#ifndef NN_LEARNER_H
#define NN_LEARNER_H

#include "program/program.h"

/* A training program and the loss it lowers. */
struct lesson {
    struct program *program;
    node loss;
};

/* No run takes more steps; numbers read from a checkpoint are held to it, so that sums stay far
 * from overflow. */
#define LEARNER_MOST_STEPS ((int64_t)1 << 53)

struct learner {
    const char *what;   /* "gcn: the loss", for the message when it is not finite … */
    const char *unit;   /* … at "epoch" … */
    const char *advice; /* … with what may help */
    struct backend *backend;
    struct params *params;
    struct lesson train;  /* owned, as the next */
    struct program *eval; /* the network without dropout */
    uint64_t seed;        /* of what its programs draw */
    int64_t steps;        /* taken */
    double lr;            /* of the last lesson */

    double best, best_loss; /* the best score so far, and the loss that decided between equals */
    int64_t best_step;      /* when it was; 0: never */
};

/* An empty store; everything else by the fields above and what follows. */
consm_status learner_open(struct learner *l, struct backend *backend, uint64_t seed);
void learner_close(struct learner *l);

/* Makes a lesson of a recorded program: minimises the loss by Adam (β 0.9 and 0.999) and compiles.
 * Takes the program over, also when it fails. */
consm_status learner_lesson(struct learner *l, struct lesson *out, struct program *p, node loss,
                            double lr, double weight_decay);
void lesson_free(struct lesson *lesson);

/* Draws the parameters, when all programs are compiled; keeps: makes room for the best ones. */
consm_status learner_start(struct learner *l, uint64_t seed, bool keeps);

/* One step on a lesson, with its loss before it. CONSM_ENUMERIC when that is not finite. */
consm_status learner_step(struct learner *l, const struct lesson *lesson, double *loss);

/* The same without looking at the loss, for backends that run on while the host does something
 * else; learner_look says whether the last one was finite. */
bool learner_far(const struct learner *l);
consm_status learner_step_unseen(struct learner *l, const struct lesson *lesson);
consm_status learner_look(struct learner *l, const struct lesson *lesson);

/* Counts a step that was taken with that loss; CONSM_ENUMERIC as above. */
consm_status learner_took(struct learner *l, double loss);

/* Runs a program over the parameters as they are and reads one of its values. */
consm_status learner_run(struct learner *l, struct program *p);
consm_status learner_read(const float **out, struct learner *l, struct program *p, node x);

/* Remembers the parameters if their score is higher than all before, or equal with a lower loss, or
 * anyway. */
consm_status learner_judge(struct learner *l, double score, double loss, bool anyway);

/* Back to the remembered parameters. */
consm_status learner_restore(struct learner *l);

/* Its blocks, for checkpoints: names behind the prefix. */
consm_status learner_memory(struct learner *l, const char *prefix, memory_fn see, void *ctx);

#endif
