/*
 * consm: label the rest of your graph, and know which of its edges to trust.
 *
 * This is the public header; consm_ot.h adds optimal transport. A whole program:
 *
 *     #include <consm.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         struct consm_dataset *data = NULL;      // "karate" needs no file; a path works as well
 *         struct consm_options *options = NULL;
 *         struct consm_model *model = NULL;
 *         struct consm_prediction *guess = NULL;
 *         char id[24], name[24];
 *         int failed = consm_dataset_open(&data, "karate", NULL) < 0 ||
 *                      consm_options_new(&options, "gcn") < 0 ||
 *                      consm_options_set(options, "split", "random") < 0 ||
 *                      consm_options_set(options, "per_class", "4") < 0 ||
 *                      consm_train(&model, data, options) < 0 ||
 *                      consm_model_save(model, "karate.safetensors") < 0 ||
 *                      consm_predict(&guess, model, data, 0) < 0;
 *         if (failed)
 *             fprintf(stderr, "%s\n", consm_errmsg());
 *         for (int64_t i = 0; !failed && i < guess->nodes; i++)
 *             printf("%s,%s,%.3f\n", consm_node_id(data, i, id),
 *                    consm_model_class(model, guess->label[i], name), guess->confidence[i]);
 *         consm_prediction_free(guess);
 *         consm_model_free(model);
 *         consm_options_free(options);
 *         consm_dataset_free(data);
 *         return failed;
 *     }
 *
 * Errors. A function that can fail returns a consm_status: 0, or a negative code, with a message in
 * consm_errmsg(). A NULL pointer is CONSM_EINVAL unless the comment allows it, and so is a number
 * out of range. The library never prints, exits or aborts; it sends its messages to a log callback.
 *
 * Memory. A function that makes an object stores it in its first parameter (NULL on failure). You
 * free it with the matching _free function, which accepts NULL. Arrays inside an object belong to
 * it.
 *
 * Compatibility. New versions do not break compiled programs. A struct that you make starts with
 * its size: write `struct consm_model_info info = {.size = sizeof info};` before the call that
 * fills or reads it. A struct that the library makes may grow at its end, so do not copy it or keep
 * arrays of it. Enumerations may get new values.
 *
 * Threads. Different threads may use different objects at the same time. Several threads may read
 * (train on, predict with) one dataset or one model at once. The same seed gives the same bits on
 * any number of threads. Numbers in text have a decimal point in any locale.
 */
#ifndef CONSM_H
#define CONSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CONSM_API __attribute__((visibility("default")))
#else
#define CONSM_API
#endif

/* ---- version ------------------------------------------------------------- */

/* The version of this header. */
#define CONSM_VERSION_MAJOR 0
#define CONSM_VERSION_MINOR 1
#define CONSM_VERSION_PATCH 0

/* The version as one number, for comparisons: 1002003 for version 1.2.3. */
#define CONSM_VERSION_NUMBER \
    (CONSM_VERSION_MAJOR * 1000000 + CONSM_VERSION_MINOR * 1000 + CONSM_VERSION_PATCH)

/* The version of the linked library: as text ("0.1.0"), and as its CONSM_VERSION_NUMBER. The text
 * is static. */
CONSM_API const char *consm_version(void);
CONSM_API int consm_version_number(void);

/* ---- status -------------------------------------------------------------- */

typedef int consm_status;

enum {
    CONSM_OK = 0,
    CONSM_ENOMEM = -1,    /* out of memory */
    CONSM_EINVAL = -2,    /* an argument, flag or parameter has an impossible value         */
    CONSM_EIO = -3,       /* the operating system refused: open, read, write, rename, network */
    CONSM_EFORMAT = -4,   /* a file's content does not follow its format */
    CONSM_ENOTFOUND = -5, /* no dataset, model, file or node has that name */
    CONSM_EPROGRAM = -6,  /* a recorded program has a fault (shapes, names) */
    CONSM_ENUMERIC = -7,  /* a loss or a value became infinite or NaN */
    CONSM_ECANCEL = -8,   /* a callback asked to stop                                       */
    CONSM_ELIMIT = -9,    /* needs more memory, or a larger index, than is allowed */
};

/* Returns the message of the last failure on this thread, or "" if nothing failed. The library owns
 * the text; the next failure on this thread replaces it. */
CONSM_API const char *consm_errmsg(void);

/* ---- memory -------------------------------------------------------------- */

/* The library takes all its memory from an allocator. alloc returns a block aligned to 64 bytes, or
 * NULL. */
struct consm_allocator {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *block);
    void *ctx;
};

/* Replaces the allocator; NULL restores that of the C library. Call it before you make any object.
 */
CONSM_API void consm_set_allocator(const struct consm_allocator *allocator);

/* Returns how many blocks were requested since the process started. Tests use it to show that a
 * call allocates nothing. */
CONSM_API uint64_t consm_alloc_count(void);

/* ---- log ----------------------------------------------------------------- */

enum consm_log_level { CONSM_LOG_INFO = 0, CONSM_LOG_WARN = 1 };

typedef void (*consm_log_fn)(void *ctx, enum consm_log_level level, const char *message);

/* Sends the library's messages to fn. By default (NULL) they go nowhere. Call it before other
 * threads use the library. fn is called on the thread that has something to say, so if several work
 * at once it must be safe to call from all of them. */
CONSM_API void consm_set_log(consm_log_fn fn, void *ctx);

/* ---- datasets ------------------------------------------------------------ */

struct consm_dataset;
struct consm_model;

/* Opens a dataset. name_or_path is a built-in name ("karate", "csbm:nodes=5000,homophily=0.2"), a
 * registered name ("cora"), or a path in any format that consm reads. It looks for files of
 * registered sets in data_dir (unless NULL), then in $CONSM_DATA, then in the user's cache. Free
 * *out with consm_dataset_free(). O(size of the file). */
CONSM_API consm_status consm_dataset_open(struct consm_dataset **out, const char *name_or_path,
                                          const char *data_dir);

struct consm_open_options {
    size_t size;          /* set by you */
    const char *data_dir; /* as for consm_dataset_open() */
    const char *format;   /* of a path: "npz", "plain", …; NULL: recognise it by content */
    const char *labels, *features; /* more files, if the path is an edge list or a graph file */
    /* Names of columns in the path's tables; NULL: their usual names. ignore is a list, "a,b". */
    const char *id_column, *label_column, *weight_column, *ignore;
    /* For a plain folder or an edge list: each process that mpirun started reads only a part of
     * the edges and features (docs/how-to/distributed.md). Every process must make this call. */
    bool in_parts;
    const char *source_column, *target_column; /* of an edge list; NULL: their usual names */
    /* What to do with a pair of nodes that is listed more than once with different weights: take
     * the "mean" (also NULL), keep the first ("keep-first"), or fail ("error"). */
    const char *duplicates;
    /* What to do with an edge to a node that the table of nodes lacks: fail ("error", also NULL),
     * leave the edge out ("drop"), or add the node without label and with missing features ("add").
     */
    const char *unknown_nodes;
    /* A model, or NULL. Members that are NULL above take the value that was used for the model's
     * training data. A column name from there that no table has is ignored. */
    const struct consm_model *model;
    /* Keep what no model reads, so that consm_dataset_save() can write it: attributes of edges
     * other than the weight, and columns of nodes that `model` ignores. */
    bool keep_attributes;
};
/* As consm_dataset_open(), with options. options NULL: every member is NULL. */
CONSM_API consm_status consm_dataset_open_with(struct consm_dataset **out, const char *name_or_path,
                                               const struct consm_open_options *options);

/* A column of a table of nodes: numbers, or texts of any kind. The library turns it into
 * features: a number stays a number, yes and no become 0 and 1, a date becomes days, a category
 * becomes one feature per value. A missing cell becomes the column's mean, and a feature "… is
 * missing" marks it. The trained model stores this recipe and applies it to the next table. */
struct consm_column {
    size_t size;             /* set by you */
    const char *name;        /* different from all other columns */
    const double *number;    /* (nodes), NaN: missing; or NULL, then use text */
    const char *const *text; /* (nodes), NULL, "" and the like: missing */
    bool category;           /* texts are categories even if they look like numbers */
    bool days;               /* numbers are days since 1970-01-01 */
};

/* A graph in memory. Parts that you do not have are NULL. Integers are int32_t, or int64_t if the
 * array's wide_ member is true. Reals are float, or double if it is true. */
struct consm_arrays {
    size_t size;      /* set by you */
    const char *name; /* for messages and model files; NULL: "arrays" */
    int64_t nodes, edges, features;
    int32_t classes; /* 0: none; labels are 0 … classes-1 */
    bool directed;   /* edges have a direction; models may ignore it */
    bool wide_ends, wide_weights, wide_features, wide_columns, wide_labels;

    const void *from, *to;      /* (edges) integers */
    const void *weight;         /* (edges) reals, or NULL */
    const void *feature;        /* (nodes, features) reals row by row, or NULL without features */
    const void *feature_start;  /* sparse rows: (nodes+1) integers from 0; NULL: dense */
    const void *feature_column; /* sparse rows: (entries) integers, none twice in a row, as wide as
                                   feature_start; feature then holds (entries) reals, or NULL if all
                                   are 1 */
    const void *label;          /* (nodes) integers, negative: unknown; or NULL */
    const uint8_t *role; /* (nodes) of enum consm_role, 0: none; or NULL. The splits auto and public
                            use it; a role may have no nodes */

    const char *const *node_id;      /* (nodes), all different; NULL: "0", "1", … */
    const char *const *class_name;   /* (classes), all different, or NULL */
    const char *const *feature_name; /* (features), or NULL */
    bool wide_starts; /* feature_start is int64_t although feature_column is int32_t */
    int64_t borrow;   /* of enum consm_borrow, or 0 */
    int64_t columns;  /* instead of features: the number of columns of a table */
    const struct consm_column *const *column; /* (columns) */
    bool known; /* train with the defaults of registered sets (consm_dataset_info.known) */
    /* How the data was read, or NULL. Only `duplicates` has an effect here; a model stores all
     * members (consm_open_options.model). */
    const struct consm_open_options *reading;
};
/* Arrays that a dataset uses in place instead of copying. They must stay valid and unchanged until
 * the dataset, and every dataset made from it, is freed. */
enum consm_borrow {
    CONSM_BORROW_FEATURES = 1 /* dense float features that are not mostly zero; others are copied */
};
/* Makes a dataset from arrays. It copies everything except what `borrow` names. CONSM_EINVAL and
 * CONSM_EFORMAT name the first wrong entry. Free *out with consm_dataset_free(). */
CONSM_API consm_status consm_dataset_from_arrays(struct consm_dataset **out,
                                                 const struct consm_arrays *arrays);
CONSM_API void consm_dataset_free(struct consm_dataset *dataset);

/* Fills *out with the arrays of a dataset as it stores them. The dataset owns them. Sparse features
 * have wide_starts. role is NULL, because a dataset may have several splits. */
CONSM_API consm_status consm_dataset_arrays(struct consm_arrays *out,
                                            const struct consm_dataset *dataset);
/* Returns split number 0, 1, … that came with a dataset, or NULL after the last: (nodes) of enum
 * consm_role, 0: none. The dataset owns it. */
CONSM_API const uint8_t *consm_dataset_roles(const struct consm_dataset *dataset, int64_t split);

/* The type that class labels had before they became names. A model file stores it, so that a caller
 * can return labels of the same type. */
enum consm_class_kind {
    CONSM_CLASS_UNSAID,
    CONSM_CLASS_TEXT,
    CONSM_CLASS_INTEGER,
    CONSM_CLASS_REAL,
    CONSM_CLASS_BOOLEAN
};

/* Labels for an open graph. */
struct consm_labels {
    size_t size; /* set by you */
    int32_t classes;
    bool wide;                     /* label is int64_t, else int32_t */
    const void *label;             /* (nodes), negative: unknown */
    const char *const *class_name; /* (classes), all different, or NULL */
    const uint8_t *role;           /* as in struct consm_arrays, or NULL */
    int32_t class_kind;            /* of enum consm_class_kind */
};
/* Makes a dataset with the same graph but these labels and splits. It shares the rest with `graph`,
 * which may be freed before it; the labels are copied. It trains with the defaults for your own
 * graphs, even if `graph` is a registered set. Free *out with consm_dataset_free(). */
CONSM_API consm_status consm_dataset_with_labels(struct consm_dataset **out,
                                                 struct consm_dataset *graph,
                                                 const struct consm_labels *labels);

/* A registered public set, and its files. The strings are static. */
struct consm_known_set {
    size_t size; /* set by you */
    const char *name, *about, *citation, *licence;
    int32_t files;
};
struct consm_known_file {
    size_t size;            /* set by you */
    const char *path;       /* relative to a data folder */
    const char *base, *url; /* the address is base/url */
    const char *sha256;     /* of its bytes; NULL: unknown */
};
/* Fill *out for index 0, 1, …. They return CONSM_ENOTFOUND after the last, and if no set has the
 * name. */
CONSM_API consm_status consm_known_set_get(struct consm_known_set *out, int32_t index);
CONSM_API consm_status consm_known_file_get(struct consm_known_file *out, const char *set,
                                            int32_t index);

struct consm_dataset_info {
    size_t size; /* set by you */
    const char *name;
    int64_t nodes;
    int64_t edges;    /* as stored: lines of the edge list */
    int64_t features; /* 0: none; models then use structural features */
    int32_t classes;
    int64_t labelled; /* nodes whose class is known */
    bool directed, weighted;
    const char *sha256; /* of the file's bytes; "" without a file */
    bool known;         /* opened by name, not by path: trains with the defaults of registered
                           sets (consm_options_set()) */
    bool in_parts;      /* each process holds a part of the graph */
};
/* Fills *out. The dataset owns the strings. O(nodes). */
CONSM_API consm_status consm_dataset_info(struct consm_dataset_info *out,
                                          const struct consm_dataset *dataset);

/* Return the name of a node or of a class. Without a name they write its number into buffer. */
CONSM_API const char *consm_node_id(const struct consm_dataset *dataset, int64_t node,
                                    char buffer[24]);
CONSM_API const char *consm_class_name(const struct consm_dataset *dataset, int32_t class_index,
                                       char buffer[24]);
/* Returns the class of each node (nodes), -1: unknown. The dataset owns it. */
CONSM_API const int32_t *consm_dataset_labels(const struct consm_dataset *dataset);

/* ---- methods and their parameters ---------------------------------------- */

/* A method that can be trained: "gcn", "consm", …. */
struct consm_method {
    size_t size;                      /* set by you */
    const char *name, *title, *paper; /* "gcn", "Graph convolutional network", … */
    bool weighs;                      /* edge weights change its result */
};
/* Fills *out for index 0, 1, …; returns CONSM_ENOTFOUND after the last. The strings are static. */
CONSM_API consm_status consm_method_get(struct consm_method *out, int32_t index);

enum consm_kind {
    CONSM_INTEGER,
    CONSM_REAL,
    CONSM_REAL_OR_AUTO, /* a number, or "auto" */
    CONSM_WORD,         /* one of choices */
    CONSM_TEXT
};

/* An option that consm_options_set() accepts. */
struct consm_parameter {
    size_t size; /* set by you */
    const char *name, *help;
    enum consm_kind kind;
    double min, max;            /* of numbers */
    const char *const *choices; /* of words; NULL ends the list */
    bool own;                   /* an option of this method, not of every training run */
    char value[32];             /* the default for this method; "" if it depends on the data */
};
/* Fills *out for option 0, 1, … of a method; returns CONSM_ENOTFOUND after the last. Every method
 * accepts every option. The strings are static. */
CONSM_API consm_status consm_parameter_get(struct consm_parameter *out, const char *method,
                                           int32_t index);

/* ---- options ------------------------------------------------------------- */

struct consm_options;

/* Makes options with the defaults of a method: "gcn", "mlp", "consm", …. Free *out with
 * consm_options_free(). */
CONSM_API consm_status consm_options_new(struct consm_options **out, const char *model);
CONSM_API void consm_options_free(struct consm_options *options);

/* Sets one option by name, as on the command line: "epochs", "lr", "hidden", "dropout", …, and
 *   seed                     of parameters, dropout and random splits (0)
 *   threads                  0: one per processor, fewer if the run is small (0)
 *   device                   cpu, cuda, cuda:N, or auto: a card if there is one (cpu)
 *   ensemble                 number of runs to combine; validation selects, 1 to 100 (1: one run)
 *   split                    auto, paper, public, random, labels:N, 48/32/20, file:I or a CSV file
 *   per_class, train_ratio, val_ratio, pooled     of a random split
 *   coverage                 of prediction sets (0: none); half of the validation nodes, drawn by
 *                            the seed, then calibrates the sets and selects nothing
 * Defaults are those of `consm train`. Registered sets use a random split. Your own graphs use
 * split auto: the split that came with the data, or else a fifth of the labels validates and the
 * rest trains. Their dense columns are standardised, and the validation loss breaks ties
 * (normalize_features, ties). CONSM_ENOTFOUND suggests the nearest name. CONSM_EINVAL lists the
 * possible values. */
CONSM_API consm_status consm_options_set(struct consm_options *options, const char *name,
                                         const char *value);

/* Returns the current value of an option as text, or NULL if no option has that name. The options
 * own the text, or it is in buffer. */
CONSM_API const char *consm_options_get(const struct consm_options *options, const char *name,
                                        char buffer[32]);

/* Makes a run resumable. consm_train() writes a checkpoint to path every `every` epochs; 0: only
 * when it is stopped. With resume it continues from that file, if it exists, and gives the same
 * bits as an uninterrupted run. It fails if data, split or options differ from those of the file,
 * or if the method cannot be resumed. The file stays; remove it when the model is saved. path NULL
 * (the default): no checkpoint. */
CONSM_API consm_status consm_options_checkpoint(struct consm_options *options, const char *path,
                                                int64_t every, bool resume);

/* Makes consm_train() start from a model's parameters instead of random ones, to continue with new
 * labels or edges. The options must be for the model's method. Options that shape the network and
 * were not set take the model's values; features are scaled as for the model. Classes and features
 * must be the model's. Ensembles and trees are refused. The model must outlive the options. */
CONSM_API consm_status consm_options_from(struct consm_options *options,
                                          const struct consm_model *model);

/* The progress of a training run. While ConSM chooses its backbone, epoch and epochs are 0 and the
 * other members describe the candidate. */
struct consm_progress {
    size_t size;
    uint64_t seed;
    int64_t epoch, epochs;          /* finished, and in total */
    double loss, val_acc, best_val; /* best_val -1: nothing was validated yet */
    int64_t member, members;        /* of an ensemble: the run, from 1, and their number; else 0 */
    double share;              /* share of the run (the member) that is done, by time; 0: unknown */
    int64_t candidate, update; /* while ConSM chooses its backbone: the candidate, from 1, and its
                                  update (0 during cross-validation); else 0 */
    const char *backbone;      /* the candidate's GNN, "trees", or NULL */
    bool refit; /* everything is chosen; the model trains on all labels (option refit) */
};
/* Called after every epoch, one call at a time; while ConSM chooses its backbone perhaps from
 * another thread than yours. Return true to stop the run with CONSM_ECANCEL. */
typedef bool (*consm_progress_fn)(void *ctx, const struct consm_progress *progress);
/* Makes consm_train() call fn with ctx; fn NULL: no callback. */
CONSM_API void consm_options_on_progress(struct consm_options *options, consm_progress_fn fn,
                                         void *ctx);

/* ---- models -------------------------------------------------------------- */

struct consm_model;

/* Trains a model. It learns from the split's training nodes, keeps the parameters with the best
 * validation metric, calibrates confidence on the validation nodes, and reads the test labels once,
 * at the end. Free *out with consm_model_free(); dataset and options may be freed before it. */
CONSM_API consm_status consm_train(struct consm_model **out, const struct consm_dataset *dataset,
                                   const struct consm_options *options);
CONSM_API void consm_model_free(struct consm_model *model);

struct consm_model_info {
    size_t size; /* set by you */
    const char *model, *dataset, *split;
    const char *version; /* of the library that trained it */
    const char *data_sha256;
    uint64_t seed;
    int32_t classes;
    int64_t features;
    bool structural;                    /* the features were made from the graph's structure */
    int64_t parameters;                 /* trained numbers */
    int64_t epochs, best_epoch;         /* the number of epochs, and the selected one. ConSM counts
                                           updates: epochs includes those of variants that were not
                                           chosen, best_epoch does not */
    int64_t trained, validated, tested; /* nodes of each role */
    int64_t held_out;   /* training labels that were held out for validation; 0: none */
    double temperature; /* divides the logits before the softmax */
    double ece_before;  /* expected calibration error on validation without temperature */
    double seconds, train_ms, eval_ms; /* of training; of its median epoch; 0 in a loaded model */
    double coverage;    /* requested coverage of prediction sets (option coverage); 0: none */
    int64_t calibrated; /* validation labels that calibrated the sets and selected nothing */
    bool promised;      /* there were enough of them; otherwise every set holds every class */
    double smoothing;   /* of prediction sets: weight of the neighbours in a class's score */
    double covered;   /* share of test nodes whose set holds their class; NAN without test nodes */
    double set_size;  /* mean number of classes in their sets; NAN without test nodes */
    int64_t ensemble; /* number of runs to combine (option ensemble); 0: no ensemble */
    int64_t members;  /* networks whose probabilities are averaged; 1: a single model */
    const char *rule; /* chosen by validation: single, average or greedy; "" without ensemble */
    const char *metric; /* validation metric for model selection, and below its value */
    double val_score;
    int32_t positive;        /* the class that the metric is about; -1: all */
    int32_t threshold_class; /* predicted if its probability reaches `threshold`; -1: none */
    double threshold;
    double threshold_precision,
        threshold_recall;   /* of that class on validation, with the threshold; NAN if it was set
                               with consm_model_set_threshold() */
    bool threshold_reached; /* the requested precision or recall was reached */
    double doubt; /* how far probabilities are shrunk towards uniform if there are few validation
                     nodes; 0 with 100 or more */
    int32_t class_kind;    /* of enum consm_class_kind */
    const char *backbone;  /* the GNN that ConSM trained: "gcn", "gat", …; of an ensemble all of
                              them, "gcn, gat"; "" for other methods */
    bool uses_weights;     /* edge weights change its result */
    int64_t refit_labels;  /* labels that the parameters were trained on after model selection
                              (option refit); 0: no refit. Training and validation figures are from
                              before the refit */
    int64_t refit_updates; /* number of updates of the refit */
    int64_t fold_labels;   /* labels in the cross-validation that compared ConSM's last candidates
                              (option folds); 0: none */
    double fold_score; /* the chosen network's metric in that cross-validation; val_score is usually
                          higher, because validation also selected */
    double fold_error; /* standard error of fold_score */
    double
        drop_share;       /* share of the edges, the least trusted ones, that ConSM trained without,
                             chosen by validation; of an ensemble the mean of its ConSM runs; 0: none */
    double least_covered; /* `covered` of the class for which it is lowest; NAN: unknown, also in a
                             loaded model */
    int32_t least_class;  /* that class */
    int64_t threshold_folds;  /* folds of the cross-validation over all labels that chose the
                                 threshold; 0: validation chose it, or there is none */
    int64_t threshold_labels; /* labels of the class in that cross-validation */
};
/* Fills *out. The model owns the strings. */
CONSM_API consm_status consm_model_info(struct consm_model_info *out,
                                        const struct consm_model *model);

/* A candidate that ConSM compared to choose its backbone, or boosted trees (option with_trees). */
struct consm_candidate {
    size_t size;
    const char *backbone,
        *settings;     /* "gcn", and the settings that differ from its defaults; static */
    int64_t updates;   /* how many it was trained for before it was dropped or chosen */
    double val_score;  /* best validation metric; NAN: its loss diverged */
    double fold_score; /* cross-validation over all labels (option folds); NAN: none */
    bool chosen;
};
/* Fills *out for index 0, 1, …: the chosen candidate first, then those that trained longest.
 * Boosted trees, which are not a backbone, come last ("trees", with their rounds as updates).
 * Returns CONSM_ENOTFOUND after the last. There are none in a loaded model, in an ensemble, and
 * with a backbone that was set. */
CONSM_API consm_status consm_model_candidate(struct consm_candidate *out,
                                             const struct consm_model *model, int32_t index);

/* A point of a model's learning curve. */
struct consm_epoch {
    size_t size;
    int64_t member;    /* of an ensemble, from 1; 0: no ensemble */
    int64_t candidate; /* from 1: an update of that candidate of ConSM; 0: an epoch of the run */
    int64_t number;    /* of the epoch or update, from 1 */
    double loss;
    double val_score;     /* validation metric; NAN: not known yet */
    const char *backbone; /* of the candidate; "" for an epoch of the run; static */
    bool chosen;          /* the run continued from this candidate */
};
/* Fills *out for index 0, 1, …: member by member, in the order of training. Returns CONSM_ENOTFOUND
 * after the last. After consm_train(), also of a resumed run, the points are complete; a loaded
 * model has those of the runs and of the candidates that trained longest. */
CONSM_API consm_status consm_model_epoch(struct consm_epoch *out, const struct consm_model *model,
                                         int64_t index);

/* Returns the final value of a parameter, with "auto" replaced by the value that was chosen; NULL
 * if no parameter has that name. The model owns the text, or it is in buffer. */
CONSM_API const char *consm_model_parameter(const struct consm_model *model, const char *name,
                                            char buffer[32]);

/* Returns the name of a class. Without a name it writes its number into buffer. */
CONSM_API const char *consm_model_class(const struct consm_model *model, int32_t class_index,
                                        char buffer[24]);

/* Sets the threshold: from now on the model predicts the class exactly if its probability is
 * `threshold` (0 to 1) or more. It replaces that of the option threshold_for; consm_model_save()
 * stores it. The model's metrics from training stay. Do not call it while other threads use the
 * model. */
CONSM_API consm_status consm_model_set_threshold(struct consm_model *model, int32_t class_index,
                                                 double threshold);

/* Embeddings: the input of a model's last layer for each node, (nodes, width) row by row. Of an
 * ensemble, the embeddings of its members side by side. */
struct consm_embedding {
    int64_t nodes, width;
    float *value;
};
/* Computes the embeddings of every node of a dataset. device and threads are as in
 * consm_predict_on(). Free *out with consm_embedding_free(). */
CONSM_API consm_status consm_embed(struct consm_embedding **out, const struct consm_model *model,
                                   const struct consm_dataset *dataset, const char *device,
                                   int threads);
CONSM_API void consm_embedding_free(struct consm_embedding *embedding);

struct consm_class_metrics {
    int64_t support, predicted; /* nodes of the class; nodes predicted as it */
    double precision, recall,
        f1;                   /* 0 if no node was predicted or none is there, as in scikit-learn */
    double roc_auc;           /* this class against the rest; NAN if one side is empty */
    double average_precision; /* area under the precision-recall curve; NAN without such nodes */
};

struct consm_metrics {
    size_t size;
    int64_t nodes;   /* measured nodes; all figures are NAN if 0 */
    int32_t classes; /* c */
    double accuracy;
    double macro_f1;          /* over classes that occur among labels or predictions */
    double balanced_accuracy; /* mean recall of the classes that occur */
    double roc_auc;           /* mean over the classes for which it is defined */
    double nll;               /* mean of -log p(label) */
    double ece; /* expected calibration error, 15 bins; NAN with fewer than 20 nodes */
    double average_precision; /* mean over the classes that occur */
    int64_t foreign; /* measured nodes whose class the model does not know; all figures but nll
                        count them as wrong */
};

enum consm_role { CONSM_TRAIN = 1, CONSM_VALIDATION = 2, CONSM_TEST = 3 };

/* Returns the metrics from training; their `nodes` is 0 if the role has none. NULL: there is no
 * such role. The model owns them. */
CONSM_API const struct consm_metrics *consm_model_metrics(const struct consm_model *model,
                                                          enum consm_role role);
/* Returns the metrics of one class, or NULL if there is no such class. The metrics own them. */
CONSM_API const struct consm_class_metrics *consm_metrics_class(const struct consm_metrics *metrics,
                                                                int32_t class_index);
/* Fills counts (c, c): true class by row, predicted class by column. */
CONSM_API void consm_metrics_confusion(int64_t *counts, const struct consm_metrics *metrics);

/* One threshold of a class: nodes whose probability reaches it are called positive. The points go
 * from the highest threshold down. Recall and precision draw the precision-recall curve, false
 * positives and recall the ROC curve. At most 103 points per class. This struct and the next will
 * not grow. */
struct consm_curve_point {
    double threshold, precision, recall;
    double false_positive_rate; /* share of the other nodes that are called positive */
};
/* Points *points to the curve of a class and returns the number of points. 0: there is no such
 * class, one side is empty, or there are more than 20 classes. The metrics own the points. */
CONSM_API int64_t consm_metrics_curve(const struct consm_curve_point **points,
                                      const struct consm_metrics *metrics, int32_t class_index);

/* The k nodes with the highest probability of a class: the share of them that has the class, and
 * their share of all nodes of the class. */
struct consm_top {
    int64_t k;
    double precision, recall;
};
/* Points *tops to the entries for k = 10, 20, 50, 100, 200, 500, 1000, up to the number of nodes,
 * and returns their number. The metrics own them. */
CONSM_API int64_t consm_metrics_top(const struct consm_top **tops,
                                    const struct consm_metrics *metrics, int32_t class_index);

/* Write and read a model file: safetensors with everything needed to predict. Writing replaces a
 * file in one step, so no incomplete model ever has that name. Free *out with consm_model_free().
 */
CONSM_API consm_status consm_model_save(const struct consm_model *model, const char *path);
CONSM_API consm_status consm_model_load(struct consm_model **out, const char *path);

/* ---- prediction ---------------------------------------------------------- */

struct consm_prediction {
    int64_t nodes;
    int32_t classes;
    int32_t *label; /* (nodes) the most probable class, or the class whose probability reaches its
                       threshold (option threshold_for) */
    float *confidence;  /* (nodes) calibrated probability of that class */
    float *probability; /* (nodes, classes) */
    uint8_t *in_set; /* (nodes, classes) 1: the class is in the node's prediction set; NULL without
                        the option coverage */
    uint8_t *seen;   /* (nodes) 1: the node's label trained, validated or calibrated the model; NULL
                        if unknown: another graph without ids, older models */
    float *log_odds; /* (nodes, classes) log(p / (1 - p)) before shrinking (doubt); it ranks nodes
                        whose probabilities are equal */
    int64_t own_low, own_high; /* of a graph in parts: this process has the probabilities and
                                  log-odds of nodes own_low … own_high-1, and the labels of all;
                                  otherwise 0 and nodes */
};

/* Predicts every node of a dataset. Its nodes and edges may be new to the model. Features are
 * matched by name if both sides have names; CONSM_EINVAL names the missing columns. threads 0: one
 * per processor, or a single one if the graph is small. On the training graph the result equals
 * that of training, bit for bit. Free *out with consm_prediction_free().
 *
 * A prediction set holds the true class with at least the requested coverage, for nodes from the
 * same distribution as the calibration nodes: with a random split, the nodes of the training graph.
 * On another graph there is no guarantee. */
CONSM_API consm_status consm_predict(struct consm_prediction **out, const struct consm_model *model,
                                     const struct consm_dataset *dataset, int threads);

/* As consm_predict(), on a device that is named as in the option device; NULL: the CPU. Any model
 * predicts on any device; the last digits may differ. CONSM_ENOTFOUND: there is no such device, and
 * the message says what is missing. */
CONSM_API consm_status consm_predict_on(struct consm_prediction **out,
                                        const struct consm_model *model,
                                        const struct consm_dataset *dataset, const char *device,
                                        int threads);
CONSM_API void consm_prediction_free(struct consm_prediction *prediction);

/* Fills node (count) with the numbers of the nodes that have these ids. CONSM_ENOTFOUND names the
 * first unknown id. The first call takes O(nodes) to build an index. */
CONSM_API consm_status consm_dataset_find(int64_t *node, const struct consm_dataset *dataset,
                                          const char *const *id, int64_t count);

/* ---- a graph that grows --------------------------------------------------- */

/* A graph that changes: nodes, edges, features and labels. Any number of threads may read and write
 * at once. Writers wait for each other; a reader continues with the graph as it was. The time of a
 * change grows with what it changes, not with the graph. After many changes a background thread
 * rebuilds the graph; a writer waits for it only if it falls far behind. A call that fails changes
 * nothing. */
struct consm_graph;

/* Makes a growing graph from a dataset, which may be freed before it. A graph in parts is refused.
 * Free *out with consm_graph_free(). */
CONSM_API consm_status consm_graph_new(struct consm_graph **out, struct consm_dataset *dataset);
CONSM_API void consm_graph_free(struct consm_graph *graph);

/* The current number of nodes, and the numbers of nodes by id as in consm_dataset_find(). */
CONSM_API int64_t consm_graph_nodes(struct consm_graph *graph);
CONSM_API consm_status consm_graph_find(int64_t *node, struct consm_graph *graph,
                                        const char *const *id, int64_t count);
/* Writes the id of a node, or its number if nodes have no ids, into out; longer ids are cut to room
 * bytes, including the final zero. */
CONSM_API consm_status consm_graph_id(char *out, size_t room, struct consm_graph *graph,
                                      int64_t node);

/* Adds rows->nodes nodes without edges: their features or columns, their labels (classes of the
 * dataset) and, if the dataset has ids, their ids. They get the next numbers, starting with *first
 * (first may be NULL). A model that predicts turns columns into features as in its training. */
CONSM_API consm_status consm_graph_add_nodes(struct consm_graph *graph,
                                             const struct consm_arrays *rows, int64_t *first);

/* Adds undirected edges (count) with weight (count), or NULL: 1 each. An existing edge gets the new
 * weight. If the graph has no weights, weight must be NULL. CONSM_ENOTFOUND: there is no such node.
 */
CONSM_API consm_status consm_graph_add_edges(struct consm_graph *graph, const int64_t *from,
                                             const int64_t *to, const float *weight, int64_t count);
/* Removes edges (count). CONSM_ENOTFOUND: one of the pairs is not an edge. */
CONSM_API consm_status consm_graph_remove_edges(struct consm_graph *graph, const int64_t *from,
                                                const int64_t *to, int64_t count);

/* Replaces the features of node[0], node[1], … by the rows of `rows` (rows->nodes). */
CONSM_API consm_status consm_graph_set_features(struct consm_graph *graph, const int64_t *node,
                                                const struct consm_arrays *rows);
/* Replaces the labels of nodes (count): classes of the dataset, negative: unknown. */
CONSM_API consm_status consm_graph_set_labels(struct consm_graph *graph, const int64_t *node,
                                              const int32_t *label, int64_t count);

/* Copies the current graph into a dataset, to train on, save or report. The result equals a dataset
 * that is built anew. It takes as long as opening. Free *out with consm_dataset_free(). */
CONSM_API consm_status consm_graph_dataset(struct consm_dataset **out, struct consm_graph *graph);

/* ---- prediction of single nodes ------------------------------------------ */

/* A model and a dataset, prepared for many questions about a few nodes. The model must outlive it;
 * the dataset may be freed before it. threads 0: one per processor, or a single one if the graph is
 * small. Free *out with consm_predictor_free(). */
struct consm_predictor;
CONSM_API consm_status consm_predictor_new(struct consm_predictor **out,
                                           const struct consm_model *model,
                                           const struct consm_dataset *dataset, int threads);
/* Predicts the nodes node[0], node[1], … (count). Row k of *out is node[k], bit-identical to
 * consm_predict(). It computes only what these nodes read: a two-layer GCN reads two hops. If that
 * is more than a quarter of the graph, the first call predicts every node and later calls look the
 * result up. CONSM_ENOTFOUND: there is no such node. Several threads may call it at once. Free *out
 * with consm_prediction_free(). */
CONSM_API consm_status consm_predictor_nodes(struct consm_prediction **out,
                                             struct consm_predictor *predictor, const int64_t *node,
                                             int64_t count);
CONSM_API void consm_predictor_free(struct consm_predictor *predictor);
/* As consm_predictor_new(), for a growing graph, which must outlive the predictor. Each call sees
 * the graph as it is at that moment. With H2GCN, with a ConSM that drops or adds edges, and with
 * structural features, the first call after a change takes as long as consm_predict(). */
CONSM_API consm_status consm_predictor_new_on(struct consm_predictor **out,
                                              const struct consm_model *model,
                                              struct consm_graph *graph, int threads);

/* As consm_predictor_nodes(), for a single call. */
CONSM_API consm_status consm_predict_nodes(struct consm_prediction **out,
                                           const struct consm_model *model,
                                           const struct consm_dataset *dataset, const int64_t *node,
                                           int64_t count, int threads);

/* Measures a model on every labelled node of a dataset. Classes are matched by name. Nodes of other
 * classes count as wrong; CONSM_EINVAL if the model knows none of the classes. Free *out with
 * consm_metrics_free(). */
CONSM_API consm_status consm_evaluate(struct consm_metrics **out, const struct consm_model *model,
                                      const struct consm_dataset *dataset, int threads);

/* Nodes to measure on. Nodes whose labels trained, validated or calibrated the model give
 * optimistic figures. They are recognised by ids; a model file stores hashes of the ids. */
enum consm_which { CONSM_ALL_NODES, CONSM_NEW_NODES, CONSM_SEEN_NODES };
/* As consm_evaluate(), on some of the labelled nodes, and on a device as in consm_predict_on().
 * (*out)->nodes is 0 if there are no such nodes. CONSM_EINVAL: seen and new nodes cannot be told
 * apart. */
CONSM_API consm_status consm_evaluate_on(struct consm_metrics **out,
                                         const struct consm_model *model,
                                         const struct consm_dataset *dataset,
                                         enum consm_which which, const char *device, int threads);
/* Measures a prediction of every node of a dataset, so that it need not be made again.
 * (*out)->nodes is 0 if there are no such nodes. Free *out with consm_metrics_free(). */
CONSM_API consm_status consm_evaluate_prediction(struct consm_metrics **out,
                                                 const struct consm_model *model,
                                                 const struct consm_prediction *prediction,
                                                 const struct consm_dataset *dataset,
                                                 enum consm_which which);
CONSM_API void consm_metrics_free(struct consm_metrics *metrics);

/* Trust scores: one per undirected edge, without self-loops and repeats. Of a graph in parts, a
 * rank gets the edges whose first end is its own. */
struct consm_edge_scores {
    int64_t edges;
    int32_t *from, *to; /* (edges) node numbers, from < to */
    float *score;       /* (edges) probability that both ends share a class, in [0, 1] */
    uint8_t *kept;      /* (edges) 1 if the score reaches the threshold */
    double zeta; /* ConSM's estimate of the share of edges inside classes; of other models the share
                    with a score of 0.5 or more */
    float *low,
        *high; /* (edges) bounds of a 90 % interval of the score; NaN for all models but ConSM */
    double threshold;  /* 0.5; or lower, if fewer than zeta·edges reach 0.5, so that this many are
                          kept */
    int32_t witnesses; /* kinds of evidence (witnesses) behind a score; 0: none */
    const char *const *witness_name; /* (witnesses) */
    float *witness;                  /* (edges, witnesses) the value of each witness */
    double *witness_weight;          /* (1 + witnesses) bias and weights: score = sigmoid(sum) */
};

/* Scores the edges of a dataset, which may differ from the training graph. ConSM combines subgraph
 * matching, the agreement of its predictions and other evidence, calibrated on known labels. Other
 * models use the agreement of their predictions. Free *out with consm_edge_scores_free(). */
CONSM_API consm_status consm_score_edges(struct consm_edge_scores **out,
                                         const struct consm_model *model,
                                         const struct consm_dataset *dataset, int threads);

/* As consm_score_edges(), on a device as in consm_predict_on(). */
CONSM_API consm_status consm_score_edges_on(struct consm_edge_scores **out,
                                            const struct consm_model *model,
                                            const struct consm_dataset *dataset, const char *device,
                                            int threads);
CONSM_API void consm_edge_scores_free(struct consm_edge_scores *scores);

/* Scores only the edges of some nodes of a predictor's graph. The scores equal those of
 * consm_score_edges(). ConSM's trust needs the whole graph once, and once more after a growing
 * graph changed. The trust of other models is computed from the ends of these edges. */
CONSM_API consm_status consm_predictor_edges(struct consm_edge_scores **out,
                                             struct consm_predictor *predictor, const int64_t *node,
                                             int64_t count);

/* Suggests missing edges: the `most` pairs with the highest trust that are not edges, or fewer.
 * Candidates are pairs that are close in the model's embedding or in their features. The score is
 * what the pair would have as an edge; it is less reliable than that of an edge. kept is 1 for all.
 * Of an ensemble, only the member with the largest weight is used. A graph in parts is refused.
 * Free *out with consm_edge_scores_free(). */
CONSM_API consm_status consm_suggest_edges(struct consm_edge_scores **out,
                                           const struct consm_model *model,
                                           const struct consm_dataset *dataset, int64_t most,
                                           const char *device, int threads);

/* ---- a clean graph ------------------------------------------------------- */

/* How to choose the edges to drop. */
struct consm_clean_options {
    size_t size;  /* set by you */
    double share; /* drop this share of the edges, lowest trust first; negative: use threshold */
    double threshold; /* drop edges that score less; negative: drop edges that are not kept */
};

/* Fills dropped (scores->edges) with 1 for each edge to drop. options NULL: drop the edges that are
 * not kept. */
CONSM_API consm_status consm_clean_choose(uint8_t *dropped, const struct consm_edge_scores *scores,
                                          const struct consm_clean_options *options);

/* Makes a dataset without the dropped edges and with the pairs of `added` (may be NULL). It shares
 * nodes, features, labels and splits with `dataset`, which may be freed before it. If edges have
 * weights, an added pair gets their mean. A graph in parts is refused. Free *out with
 * consm_dataset_free(). */
CONSM_API consm_status consm_dataset_clean(struct consm_dataset **out,
                                           struct consm_dataset *dataset,
                                           const struct consm_edge_scores *scores,
                                           const uint8_t *dropped,
                                           const struct consm_edge_scores *added);

/* Writes a dataset to a path: a folder of CSV files, or a file. format is "plain", "npz",
 * "safetensors", "graphml", "gexf", "gml" or "json"; NULL: by the suffix of the path. */
CONSM_API consm_status consm_dataset_save(const struct consm_dataset *dataset, const char *path,
                                          const char *format);

/* ---- explanations -------------------------------------------------------- */

struct consm_explain_options {
    size_t size;   /* set by you */
    int64_t limit; /* most edges, neighbours and features to try, each; 0: 500. The nearest to the
                      node come first */
    bool of_label; /* true: explain `label`; false: explain the predicted class */
    int32_t label;
    int threads; /* 0: one per processor, or a single one if the graph is small */
    consm_progress_fn
        progress; /* gets finished trials as epoch and all trials as epochs; or NULL */
    void *progress_ctx;
};

/* An explanation of a node's label. An effect is the label's probability minus its probability
 * without the item: positive if the item supports the label. Effects in log-odds, log(p / (1 - p)),
 * tell items apart where the probability is almost 1: 0.69 means that the odds halve without the
 * item, -0.69 that they double. Every list starts with the largest absolute change of the log-odds.
 * Edges are undirected, without self-loops and repeats; nodes are given by number. */
struct consm_explanation {
    int64_t node;
    int32_t label;
    float probability; /* of the label, with all items present */
    int64_t edges, neighbours, features;
    int32_t *edge_from, *edge_to; /* (edges) from < to */
    float *edge_effect;           /* (edges) effect of removing the edge */
    int32_t *neighbour;           /* (neighbours) adjacent to the node */
    float *neighbour_effect;      /* (neighbours) effect of removing all its edges */
    int32_t *feature;             /* (features) columns of the model */
    float *feature_effect; /* (features) effect of hiding it on all nodes that the model reads: 0
                              for sparse features, the column's mean for dense ones */
    /* How many items could be tried without the limit. Structural features are never tried. */
    int64_t edges_in_reach, neighbours_in_reach, features_in_reach;
    double log_odds; /* of the label, with all items present, before shrinking (doubt) */
    float *edge_log_odds, *neighbour_log_odds, *feature_log_odds; /* the effects in log-odds */
    /* The values of the items. */
    float *edge_weight, *edge_trust;           /* (edges) weight (1 without weights); trust score */
    int32_t *neighbour_label;                  /* (neighbours) known class; -1: unknown */
    int32_t *neighbour_said;                   /* (neighbours) predicted class */
    float *neighbour_probability;              /* (neighbours) probability of the explained label */
    float *neighbour_weight, *neighbour_trust; /* (neighbours) of the edge to it */
    float *feature_value;                      /* (features) of the node */
    float *feature_low, *feature_high; /* (features) 90 % of the graph's nodes are between them */
    float *feature_mean;               /* (features) of the graph's nodes */
};

/* Explains a node's prediction: removes edges, neighbours and features one at a time and predicts
 * again. A trial costs a prediction on the nodes that the model reads for this one. Methods that
 * read distant nodes, and structural features, need the whole graph. options NULL: all 0. Free *out
 * with consm_explanation_free(). */
CONSM_API consm_status consm_explain(struct consm_explanation **out,
                                     const struct consm_model *model,
                                     const struct consm_dataset *dataset, int64_t node,
                                     const struct consm_explain_options *options);
/* As consm_explain(), with a predictor that is open: nothing is prepared again. On a growing graph
 * an ordinary dataset is made once after each change. Ignores options->threads. */
CONSM_API consm_status consm_predictor_explain(struct consm_explanation **out,
                                               struct consm_predictor *predictor, int64_t node,
                                               const struct consm_explain_options *options);
CONSM_API void consm_explanation_free(struct consm_explanation *explanation);

/* Returns the name of a feature of the model. Without a name it writes its number into buffer. */
CONSM_API const char *consm_model_feature(const struct consm_model *model, int64_t feature,
                                          char buffer[24]);

/* ---- reports ------------------------------------------------------------- */

/* Writes a report as one self-contained HTML page: metrics per class, confidence, and the graph
 * with its predictions. dataset and options must be those of the training run. */
CONSM_API consm_status consm_report_write(const char *path, const struct consm_model *model,
                                          const struct consm_dataset *dataset,
                                          const struct consm_options *options);

/* ---- models of your own -------------------------------------------------- */

/* A model is a function that records its equations once, with the builders below. Training,
 * gradients, validation, saving and prediction then work as for any other model. A builder reports
 * no error: with impossible arguments it returns CONSM_POISON, and consm_train() reports the first
 * fault with the name of its node. */

struct consm_program;
struct consm_matrix; /* a sparse matrix of the graph */
typedef int32_t consm_node;
enum { CONSM_POISON = -1 };

enum consm_view {
    CONSM_VIEW_ADJACENCY, /* A, weights kept           */
    CONSM_VIEW_LOOPS,     /* A + I                     */
    CONSM_VIEW_GCN,       /* D^-1/2 (A+I) D^-1/2       */
    CONSM_VIEW_SYMMETRIC, /* D^-1/2 A D^-1/2           */
    CONSM_VIEW_TWO_HOP    /* D^-1/2 B D^-1/2 with B = A² without A and I */
};

/* What a model reads while it records. */
struct consm_inputs {
    consm_node x; /* (nodes, features), dense or sparse; accepted by matmul, linear and dropout */
    int64_t nodes, features, classes;
    const void *inside; /* for the two calls below */
};
/* Returns a matrix of the graph, which is built on first use. Entries are in row order. Do not free
 * it. */
CONSM_API const struct consm_matrix *
consm_inputs_view(struct consm_program *p, const struct consm_inputs *in, enum consm_view view);
/* Returns the number of entries of a matrix. */
CONSM_API int64_t consm_matrix_entries(const struct consm_matrix *matrix);
/* Returns a numeric option by name: consm_inputs_option(in, "hidden"); NAN if there is none. */
CONSM_API double consm_inputs_option(const struct consm_inputs *in, const char *name);

/* Records the model and returns its logits (nodes, classes). The thread that trains or predicts
 * calls it several times; it must record the same parameters each time. */
typedef consm_node (*consm_build_fn)(struct consm_program *p, const struct consm_inputs *in,
                                     void *ctx);

/* Trains this model instead of the method of the options. The model file stores the name. */
CONSM_API consm_status consm_options_build(struct consm_options *options, const char *name,
                                           consm_build_fn build, void *ctx);
/* Gives a loaded model its build function back. Needed before a model of your own can predict. */
CONSM_API void consm_model_build(struct consm_model *model, consm_build_fn build, void *ctx);

typedef void (*consm_line_fn)(void *ctx, const char *line);
/* Print a program: the program as recorded so far, and the program that predicts on a dataset. They
 * call `line` for each operation, with its shape, sources, bytes and place in memory. */
CONSM_API void consm_program_dump(const struct consm_program *p, consm_line_fn line, void *ctx);
CONSM_API consm_status consm_model_dump(const struct consm_model *model,
                                        const struct consm_dataset *dataset, consm_line_fn line,
                                        void *ctx);

/* true while the training program is recorded, which has dropout; false for evaluation. */
CONSM_API bool consm_program_training(const struct consm_program *p);
/* Gives a node a name for messages and returns the node. */
CONSM_API consm_node consm_program_name(struct consm_program *p, consm_node x, const char *name);
/* Return the shape of a node. */
CONSM_API int64_t consm_node_rows(const struct consm_program *p, consm_node x);
CONSM_API int64_t consm_node_cols(const struct consm_program *p, consm_node x);

enum consm_init {
    CONSM_INIT_ZERO,
    CONSM_INIT_ONE,
    CONSM_INIT_GLOROT, /* uniform ±sqrt(6 / (rows + cols)) */
    CONSM_INIT_LINEAR, /* uniform ±1/sqrt(rows) */
    CONSM_INIT_NORMAL  /* normal with deviation 0.1 */
};

/* In the comments n is rows, f and g are columns; S is a matrix of the graph with m entries. */
#define CONSM_OP(name, ...) CONSM_API consm_node consm_##name(struct consm_program *p, __VA_ARGS__)

/* leaves */
CONSM_OP(param, const char *name, int64_t rows, int64_t cols, enum consm_init init);
CONSM_OP(input, const float *values, int64_t rows,
         int64_t cols); /* values must outlive the training or prediction */
CONSM_OP(fill, float value, int64_t rows, int64_t cols);
CONSM_OP(noise, int64_t rows, int64_t cols); /* uniform in (0,1), drawn anew at every step */

/* layers: parameters are called w<name> and b<name> */
CONSM_OP(linear, const char *name, consm_node x, int64_t out); /* x·W + b */
CONSM_OP(graph_conv, const char *name, const struct consm_matrix *s, consm_node x,
         int64_t out); /* S·(x·W) + b */
CONSM_OP(batch_norm, const char *name,
         consm_node x); /* uses running statistics during evaluation */

/* dense algebra */
CONSM_OP(matmul, consm_node x, consm_node y);
CONSM_OP(matmul_t, consm_node x, bool x_transposed, consm_node y, bool y_transposed);
CONSM_OP(axpby, float a, consm_node x, float b, consm_node y); /* a·x + b·y */
CONSM_OP(add, consm_node x, consm_node y);
CONSM_OP(sub, consm_node x, consm_node y);
CONSM_OP(scale, float a, consm_node x);
CONSM_OP(mul, consm_node x, consm_node y);             /* element by element */
CONSM_OP(scale_by, consm_node x, consm_node scalar);   /* scalar (1,1), may be learned */
CONSM_OP(scale_rows, consm_node x, consm_node factor); /* factor (n,1) */
CONSM_OP(add_bias, consm_node x, consm_node bias);     /* bias (1,f) */
CONSM_OP(concat, consm_node x, consm_node y);          /* (n,f), (n,g) to (n,f+g) */
CONSM_OP(slice, consm_node x, int64_t from, int64_t cols);
CONSM_OP(col_sum, consm_node x); /* (1,f) */
CONSM_OP(row_sum, consm_node x); /* (n,1) */
CONSM_OP(sum, consm_node x);     /* (1,1) */
CONSM_OP(dot, consm_node x, consm_node y);
CONSM_OP(expand, consm_node x, int64_t rows, int64_t cols); /* repeats (1,f), (n,1) or (1,1) */

/* element by element */
CONSM_OP(relu, consm_node x);
CONSM_OP(leaky_relu, consm_node x, float slope);
CONSM_OP(elu, consm_node x);
CONSM_OP(tanh, consm_node x);
CONSM_OP(sigmoid, consm_node x);
CONSM_OP(log_sigmoid, consm_node x);
CONSM_OP(exp, consm_node x);
CONSM_OP(log, consm_node x, float floor); /* of max(x, floor) */
CONSM_OP(square, consm_node x);
CONSM_OP(abs, consm_node x);
CONSM_OP(clamp, consm_node x, float low, float high);
CONSM_OP(dropout, consm_node x, float rate);

/* matrices of the graph and their edges; h heads */
CONSM_OP(spmm, const struct consm_matrix *s, consm_node x);                           /* S·x */
CONSM_OP(spmm_values, const struct consm_matrix *s, consm_node values, consm_node x); /* (m,h) */
CONSM_OP(sddmm, const struct consm_matrix *s, consm_node x, consm_node y, int64_t heads);
CONSM_OP(edge_add, const struct consm_matrix *s, consm_node x, consm_node y); /* x_row + y_col */
CONSM_OP(edge_sum, const struct consm_matrix *s, consm_node values);          /* of each row */
CONSM_OP(edge_softmax, const struct consm_matrix *s, consm_node values);      /* of each row */
CONSM_OP(edge_drop, const struct consm_matrix *s, float rate); /* DropEdge's values of A + I */

/* rows */
CONSM_OP(row_normalize, consm_node x); /* to length 1 */
CONSM_OP(softmax, consm_node x);
CONSM_OP(log_softmax, consm_node x);

#undef CONSM_OP

#ifdef __cplusplus
}
#endif
#endif
