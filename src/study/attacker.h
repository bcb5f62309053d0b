/* Attackers that first train a model: the changes they make to a run's graph. */
#ifndef STUDY_ATTACKER_H
#define STUDY_ATTACKER_H

#include "attack/attack.h"
#include "study/task.h"

/* PLANT_PGD and PLANT_TRUSTED_…, at most `budget` changes. PGD knows the graph, the features and
 * the training labels; the others know all labels. */
consm_status attacker_find(struct changes *out, const struct task_input *in, int64_t budget);

#endif
