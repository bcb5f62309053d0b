/* The datasets of a plan. Those from files are opened once and shared by all runs; generated ones
 * are made by each run that needs them, so that a large one is in memory only while it is used. */
#ifndef STUDY_SETS_H
#define STUDY_SETS_H

#include "app/prepare.h"
#include "data/open.h"
#include "study/plan.h"

struct study_set {
    char *name; /* as the plan calls it */
    struct dataset *data;
    struct prepared prepared;
};

struct study_sets {
    struct study_set *set;
    size_t count, capacity;
    json_t *hashes; /* name → SHA-256 of its bytes */
};

/* Opens the set unless it is open or generated. For a set of published.h, CONSM_ENOTFOUND if its
 * files are missing. */
consm_status sets_open(struct study_sets *s, const char *name, const struct data_options *o);
void sets_free(struct study_sets *s);

/* The set with that name, or NULL if it is generated. */
const struct study_set *sets_find(const struct study_sets *s, const char *name);

/* The path of "attacked/NAME" in the first data folder that has it; NULL if none does. */
consm_status sets_attacked_file(char **out, const char *name, const char *data_dir);

/* Opens a published graph of a set's nodes, a file "attacked/NAME" in one of the data folders, and
 * adds its hash. Does nothing if no folder has it. */
consm_status sets_open_graph(struct study_sets *s, const char *name, const struct data_options *o);
/* That graph, cleaned; CONSM_ENOTFOUND if it is missing. */
consm_status sets_graph(const struct csr **out, const struct study_sets *s, const char *name);

/* Whether a dataset can be opened without the network: built-in, a path, or its files exist. */
bool sets_at_hand(const char *name, const char *data_dir);

#endif
