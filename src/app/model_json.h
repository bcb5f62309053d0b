/* A model's facts as JSON: for the metadata of model files and for metrics.json. */
#ifndef APP_MODEL_JSON_H
#define APP_MODEL_JSON_H

#include <jansson.h>

#include "app/metrics_json.h"
#include "app/objects.h"
#include "io/safetensors.h"
#include "report/text.h"

/* {"epochs":"300", …}: every parameter as text for config_set. */
void config_to_json(struct text *t, const struct config *c);
/* Overwrites *c. An unknown parameter is an error. */
consm_status config_from_json(struct config *c, const json_t *object);

/* The first bytes of a model file's "format". An older consm must not read a later one as an
 * earlier one. The third is a model or an ensemble with trees that predict in ConSM's place, the
 * next two are models with companions, the last is any model with trust of its answers. */
#define MODEL_FORMAT_PLAIN      "consm model 1"
#define MODEL_FORMAT_ENSEMBLE   "consm model 2"
#define MODEL_FORMAT_TREES      "consm model 3"
#define MODEL_FORMAT_COMPANIONS "consm model 4"
#define MODEL_FORMAT_CLEAN      "consm model 5"
#define MODEL_FORMAT_ANSWERS    "consm model 6"

/* The tensor of hashed ids that a model learned from: U64, ascending. */
#define MODEL_LEARNED "learned_ids"
#define MODEL_CURVE   "learning_curve"

/* The prefix of the tensors of trees that predict in ConSM's place. */
#define MODEL_TREES "trees."
/* … and of a companion's: "companion.0." of the first. */
#define MODEL_COMPANION "companion."

/* A limit on members, so that a hostile file cannot cost too much. */
enum { MODEL_MOST_MEMBERS = 256 };

/* {"runs": 5, "members": 35, "picked": 7, "rule": "greedy"} */
void ensemble_to_json(struct text *t, const struct consm_model *m);
consm_status ensemble_from_json(struct ensemble_facts *out, const json_t *object);

/* {"model": "gcn", "seed": "3", "picks": 2, "temperature": 1.1, "trained": 92231, "config": …,
 * "trees": …}: a member, or trees that predict in a model's place, which have no "trees". */
void member_to_json(struct text *t, const struct consm_model *m);
/* [{…}, …]: all members. */
void members_to_json(struct text *t, const struct consm_model *m);
/* Reads one member, without its tensors; m has its classes and features already. */
consm_status member_from_json(struct consm_model *m, const json_t *object);
/* Trees that predict in the place of m, likewise; object NULL: there are none. */
consm_status trees_from_json(struct consm_model *m, const json_t *object);

/* {"votes": 10, "temperature": 1.1, "members": [{…}, …]}: a model's votes and temperature among its
 * companions, and these. Read as members are; object NULL: there are none. */
void companions_to_json(struct text *t, const struct consm_model *m);
consm_status companions_from_json(struct consm_model *m, const json_t *object);

/* A registered model, or one of the caller's own, which will need its build function. */
consm_status model_define_by_name(struct consm_model *m, const char *name);

/* Digits of a figure, which then comes back with all its bits. */
enum { JSON_DIGITS = 17 };
/* , "name": value; null if it is not a number. And back: NAN and 0 if there is none. */
void figure_to_json(struct text *t, const char *name, double value);
double figure_from_json(const json_t *object, const char *name);
int64_t count_from_json(const json_t *object, const char *name);

/* Reads one role's figures (metrics_to_json). */
consm_status metrics_from_json(struct metrics *out, const json_t *object, int32_t classes);

/* The cross-validation of the chosen network, written and read. */
void folds_to_json(struct text *t, const struct consm_model *m);
void folds_from_json(struct consm_model *m, const json_t *object);

/* {"labels": …, "updates": …} of a refitted model. */
void refit_to_json(struct text *t, const struct consm_model *m);

/* The fitted prediction sets; reading checks them. */
void sets_to_json(struct text *t, const struct consm_model *m);
consm_status sets_from_json(struct consm_model *m, const json_t *object);

/* The class with a threshold of its own; reading checks it. */
void decision_to_json(struct text *t, const struct consm_model *m);
consm_status decision_from_json(struct consm_model *m, const json_t *object);

void names_to_json(struct text *t, char *const *names, int64_t count);

/* A model file that is being read; path is for messages. */
struct model_source {
    const char *path;
    struct safetensors *file;
};
/* Reads the tensors of a model whose metadata was read. */
consm_status model_read_tensors(struct consm_model *m, const struct model_source *s);

/* Notes the text in a file's metadata and frees it. */
consm_status json_note(struct safetensors_writer *w, const char *key, struct text *t);

#endif
