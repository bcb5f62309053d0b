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
 * Whatever can fail returns a consm_status: 0, or a negative code with a message for people in
 * consm_errmsg(). Objects come from a call whose first parameter receives them (NULL on failure)
 * and go back through the matching _free, which accepts NULL. A pointer that is NULL where nothing
 * is said of it, or a number out of range, is CONSM_EINVAL. The library never prints, exits or
 * aborts; a log callback hears what it has to say. Numbers as text have a point in any locale.
 *
 * The interface grows without breaking programs that are built already. A struct that you make
 * begins with its size: write `struct consm_model_info info = {.size = sizeof info};` before the
 * call that fills or reads it. A struct that the library makes and lends you may grow at its end;
 * so do not copy it or keep arrays of it. Enumerations may get new values.
 *
 * Distinct objects may be used from distinct threads at the same time, and one dataset or one model
 * may be read (trained on, predicted with) by several threads at once. The same seed gives the same
 * bits on any number of threads.
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

/* Of this header. */
#define CONSM_VERSION_MAJOR 0
#define CONSM_VERSION_MINOR 1
#define CONSM_VERSION_PATCH 0

/* 1002003 for version 1.2.3, to compare with. */
#define CONSM_VERSION_NUMBER \
    (CONSM_VERSION_MAJOR * 1000000 + CONSM_VERSION_MINOR * 1000 + CONSM_VERSION_PATCH)

/* Of the library in use: "0.1.0", and its CONSM_VERSION_NUMBER. */
CONSM_API const char *consm_version(void);
CONSM_API int consm_version_number(void);

/* ---- status -------------------------------------------------------------- */

typedef int consm_status;

enum {
    CONSM_OK = 0,
    CONSM_ENOMEM = -1,    /* memory could not be had                                        */
    CONSM_EINVAL = -2,    /* an argument, flag or parameter has an impossible value         */
    CONSM_EIO = -3,       /* the system refused: open, read, write, rename, network         */
    CONSM_EFORMAT = -4,   /* a file's content is not what its format says                   */
    CONSM_ENOTFOUND = -5, /* no dataset, model, file or node of that name                   */
    CONSM_EPROGRAM = -6,  /* a recorded program is faulty (shapes, names)                   */
    CONSM_ENUMERIC = -7,  /* a loss or value turned non-finite                              */
    CONSM_ECANCEL = -8,   /* a callback asked to stop                                       */
    CONSM_ELIMIT = -9,    /* would need more memory or a larger index than is allowed       */
};

/* The message of the last failure on this thread; "" when there was none. */
CONSM_API const char *consm_errmsg(void);

/* ---- memory -------------------------------------------------------------- */

/* All memory of the library comes from here. alloc returns a block aligned to 64 bytes or NULL. */
struct consm_allocator {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *block);
    void *ctx;
};

/* Replaces the allocator (NULL: back to the C library's). Call it before anything else is made. */
CONSM_API void consm_set_allocator(const struct consm_allocator *allocator);

/* How many blocks have been asked for since the process began; a test's proof of "no allocation".
 */
CONSM_API uint64_t consm_alloc_count(void);

/* ---- log ----------------------------------------------------------------- */

enum consm_log_level { CONSM_LOG_INFO = 0, CONSM_LOG_WARN = 1 };

typedef void (*consm_log_fn)(void *ctx, enum consm_log_level level, const char *message);

/* Sends the library's messages to fn (NULL: nowhere, the default). */
CONSM_API void consm_set_log(consm_log_fn fn, void *ctx);

/* ---- datasets ------------------------------------------------------------ */

struct consm_dataset;
struct consm_model;

/* Opens a built-in name ("karate", "csbm:nodes=5000,homophily=0.2"), a registered one ("cora") or a
 * path in any format consm reads. data_dir is where files of registered sets are looked for first;
 * NULL: $CONSM_DATA, then the user's cache. O(size of the file). */
CONSM_API consm_status consm_dataset_open(struct consm_dataset **out, const char *name_or_path,
                                          const char *data_dir);

struct consm_open_options {
    size_t size;                   /* set by you */
    const char *data_dir;          /* as above */
    const char *format;            /* of a path: "npz", "plain", …; NULL: recognised by content */
    const char *labels, *features; /* files that belong to a path that is a bare edge list */
    /* Columns of a path's tables by name, or NULL: by their usual names. ignore is a list "a,b". */
    const char *id_column, *label_column, *weight_column, *ignore;
    /* A plain folder or an edge list: of the edges and features each of the processes that mpirun
     * started reads a share (docs/how-to/distributed.md). All of them open it. */
    bool in_parts;
    const char *source_column, *target_column; /* of an edge list, or NULL: by their usual names */
    /* Pairs of nodes that are listed more than once with different weights get their "mean" (also
     * NULL), keep the first of the file ("keep-first"), or are refused ("error"). */
    const char *duplicates;
    /* Edges to nodes that no table of nodes lists are refused ("error", also NULL), left out
     * ("drop"), or make the node, without label and with missing features ("add"). */
    const char *unknown_nodes;
    /* A model, or NULL: names of columns and rules that are NULL above are those that were given
     * for the model's training data. A name from there that no table has is passed over. */
    const struct consm_model *model;
    /* Keeps what no model reads, for consm_dataset_save(): attributes of edges beside the weight,
     * and columns of nodes that `model` ignores. */
    bool keep_attributes;
};
/* The same, told how to read; options NULL: as NULL in all members. */
CONSM_API consm_status consm_dataset_open_with(struct consm_dataset **out, const char *name_or_path,
                                               const struct consm_open_options *options);

/* A column of a table of nodes: numbers, or texts in any mixture. The library makes features of it
 * (a number; 0 or 1 of yes and no; days of dates; a feature for each value of a category; the mean
 * and a feature "… is missing" of what is missing), keeps the recipe in the model that is trained
 * on it, and reads the next table by it. */
struct consm_column {
    size_t size;             /* set by you */
    const char *name;        /* no other column has it */
    const double *number;    /* (nodes), NaN: missing; or NULL, and … */
    const char *const *text; /* (nodes), NULL, "" and the like: missing */
    bool category;           /* texts are values of a category also where they look like numbers */
    bool days;               /* numbers are days since 1970-01-01 */
};

/* A graph that is in memory already. Everything is copied, but what `borrow` names. Absent parts
 * are NULL. Integers are int32_t, or int64_t where the array's wide_ member says so; reals are
 * float, or double. */
struct consm_arrays {
    size_t size;      /* set by you */
    const char *name; /* for messages and model files; NULL: "arrays" */
    int64_t nodes, edges, features;
    int32_t classes; /* 0: none; labels are 0 … classes-1 */
    bool directed;   /* edges have a direction, which models may leave out of account */
    bool wide_ends, wide_weights, wide_features, wide_columns, wide_labels;

    const void *from, *to;     /* (edges) integers */
    const void *weight;        /* (edges) reals, or NULL */
    const void *feature;       /* (nodes, features) reals row by row, or NULL without features */
    const void *feature_start; /* NULL: dense. Sparse rows: (nodes+1) integers from 0 … */
    const void *feature_column; /* … (entries) integers, none twice in a row, as wide as the starts;
                                 * feature then holds (entries) reals, or is NULL: all 1 */
    const void *label;          /* (nodes) integers, negative: unknown; or NULL */
    const uint8_t *role;        /* (nodes) of enum consm_role, 0: none; or NULL. Split auto and
                                 * public take it; a part without nodes may be left out */

    const char *const *node_id;      /* (nodes), all different, or NULL: "0", "1", … */
    const char *const *class_name;   /* (classes), all different, or NULL */
    const char *const *feature_name; /* (features), or NULL */
    bool wide_starts;                /* feature_start is int64_t although feature_column is not */
    int64_t borrow;                  /* of enum consm_borrow, or 0 */
    int64_t columns;                 /* instead of features: a table of so many columns … */
    const struct consm_column *const *column; /* (columns) */
    bool known; /* train by the defaults of sets known by name, as consm_dataset_info tells */
    /* How the data was to be read, or NULL: columns and rules by name, of which only `duplicates`
     * has an effect here; a model remembers all of them (consm_open_options.model). */
    const struct consm_open_options *reading;
};
/* What a dataset may leave where it is. It must stay there, unchanged, until the dataset and all
 * that were made of it are freed. */
enum consm_borrow {
    CONSM_BORROW_FEATURES = 1 /* dense ones that are float and not mostly zero; others are copied */
};
/* Everything is copied, but what `borrow` names. CONSM_EINVAL or CONSM_EFORMAT names the first
 * entry that is not what it should be. */
CONSM_API consm_status consm_dataset_from_arrays(struct consm_dataset **out,
                                                 const struct consm_arrays *arrays);
CONSM_API void consm_dataset_free(struct consm_dataset *dataset);

/* The arrays of a dataset, as they are; they belong to it. Sparse features have wide_starts. role
 * is NULL here: there may be several splits. */
CONSM_API consm_status consm_dataset_arrays(struct consm_arrays *out,
                                            const struct consm_dataset *dataset);
/* Split number 0, 1, … that came with a dataset: (nodes) of enum consm_role, 0: none. NULL behind
 * the last. Belongs to the dataset. */
CONSM_API const uint8_t *consm_dataset_roles(const struct consm_dataset *dataset, int64_t split);

/* What classes were before they became names, for callers whose labels have types. A model keeps it
 * in its file. */
enum consm_class_kind {
    CONSM_CLASS_UNSAID,
    CONSM_CLASS_TEXT,
    CONSM_CLASS_INTEGER,
    CONSM_CLASS_REAL,
    CONSM_CLASS_BOOLEAN
};

/* Labels for a graph that is open already. */
struct consm_labels {
    size_t size; /* set by you */
    int32_t classes;
    bool wide;                     /* label is int64_t, else int32_t */
    const void *label;             /* (nodes), negative: unknown */
    const char *const *class_name; /* (classes), all different, or NULL */
    const uint8_t *role;           /* as in struct consm_arrays, or NULL */
    int32_t class_kind;            /* of enum consm_class_kind */
};
/* The same graph with these labels and splits in place of its own. It shares everything else with
 * the graph, which may be freed before it; the labels are copied. Whatever name the graph was
 * opened by, it counts as one of your own. */
CONSM_API consm_status consm_dataset_with_labels(struct consm_dataset **out,
                                                 struct consm_dataset *graph,
                                                 const struct consm_labels *labels);

/* A public set that is known by name, and its files. Strings stay for ever. */
struct consm_known_set {
    size_t size; /* set by you */
    const char *name, *about, *citation, *licence;
    int32_t files;
};
struct consm_known_file {
    size_t size;            /* set by you */
    const char *path;       /* in a data folder */
    const char *base, *url; /* its address is base/url */
    const char *sha256;     /* of its bytes, or NULL: not known */
};
/* Number 0, 1, …; CONSM_ENOTFOUND behind the last, and for a name that is not known. */
CONSM_API consm_status consm_known_set_get(struct consm_known_set *out, int32_t index);
CONSM_API consm_status consm_known_file_get(struct consm_known_file *out, const char *set,
                                            int32_t index);

struct consm_dataset_info {
    size_t size; /* set by you */
    const char *name;
    int64_t nodes;
    int64_t edges;    /* as stored: lines of the edge list */
    int64_t features; /* 0: none; models then get structural ones */
    int32_t classes;
    int64_t labelled; /* nodes whose class is known */
    bool directed, weighted;
    const char *sha256; /* of the file's bytes, "" when there was no file */
    bool known;         /* opened by a name, not a path: trains as papers do (option split) */
};
/* Strings belong to the dataset. O(nodes). */
CONSM_API consm_status consm_dataset_info(struct consm_dataset_info *out,
                                          const struct consm_dataset *dataset);

/* The name of a node or class: its own, or its number written into buffer. */
CONSM_API const char *consm_node_id(const struct consm_dataset *dataset, int64_t node,
                                    char buffer[24]);
CONSM_API const char *consm_class_name(const struct consm_dataset *dataset, int32_t class_index,
                                       char buffer[24]);
/* The known class of each node (nodes), -1 where there is none; belongs to the dataset. */
CONSM_API const int32_t *consm_dataset_labels(const struct consm_dataset *dataset);

/* ---- methods and their parameters ---------------------------------------- */

/* A method that can be trained. */
struct consm_method {
    size_t size;                      /* set by you */
    const char *name, *title, *paper; /* "gcn", "Graph convolutional network", … */
    bool weighs;                      /* edge weights change what it computes */
};
/* Number 0, 1, …; CONSM_ENOTFOUND behind the last. Strings stay for ever, here and below. */
CONSM_API consm_status consm_method_get(struct consm_method *out, int32_t index);

enum consm_kind {
    CONSM_INTEGER,
    CONSM_REAL,
    CONSM_REAL_OR_AUTO, /* a number, or "auto" */
    CONSM_WORD,         /* one of choices */
    CONSM_TEXT
};

/* An option of consm_options_set(). */
struct consm_parameter {
    size_t size; /* set by you */
    const char *name, *help;
    enum consm_kind kind;
    double min, max;            /* of numbers */
    const char *const *choices; /* of words, NULL behind the last */
    bool own;                   /* the method's own, not one of every training run */
    char value[32];             /* the default for this method; "" where the data decides */
};
/* Number 0, 1, … of a method; CONSM_ENOTFOUND behind the last. All methods take all options. */
CONSM_API consm_status consm_parameter_get(struct consm_parameter *out, const char *method,
                                           int32_t index);

/* ---- options ------------------------------------------------------------- */

struct consm_options;

/* Options for a method: "gcn", "mlp", "consm", … */
CONSM_API consm_status consm_options_new(struct consm_options **out, const char *model);
CONSM_API void consm_options_free(struct consm_options *options);

/* Sets one option by name, as on the command line: "epochs", "lr", "hidden", "dropout", …, and
 *   seed                     of parameters, dropout and random splits (0)
 *   threads                  0: one per processor (0)
 *   device                   cpu, cuda, cuda:N, or auto: a card where one is (cpu)
 *   ensemble                 runs whose combination validation chooses, 1 to 100 (1: one run)
 *   split                    auto, paper, public, random, labels:N, 48/32/20, file:I or a CSV file
 *   per_class, train_ratio, val_ratio, pooled     of a random split
 *   coverage                 of prediction sets (0: none); half of the validation nodes, drawn by
 *                            the seed, then calibrates them instead of selecting
 * Split auto takes the split that came with the data; else it trains on every label but a fifth,
 * which validates. What is not set is as in `consm train`: the split is random for sets known by
 * name and auto for graphs of one's own, whose dense columns are standardised and whose ties on
 * validation go by its loss (normalize_features, ties). CONSM_ENOTFOUND suggests the nearest name,
 * CONSM_EINVAL says what is possible. */
CONSM_API consm_status consm_options_set(struct consm_options *options, const char *name,
                                         const char *value);

/* An option as text, as it is now; NULL: there is none of that name. Belongs to the options, or is
 * written into buffer. */
CONSM_API const char *consm_options_get(const struct consm_options *options, const char *name,
                                        char buffer[32]);

/* A run that can be interrupted: consm_train() writes it down to path every `every` epochs (0: only
 * when it is stopped), and with resume goes on from there, to the same bits, where the file exists.
 * It is refused when data, split or options are not those of the file, and by methods that cannot
 * stop. The file stays; remove it when the model is saved. path NULL: none, the default. */
CONSM_API consm_status consm_options_checkpoint(struct consm_options *options, const char *path,
                                                int64_t every, bool resume);

/* Lets consm_train() begin with a model's parameters instead of drawn ones, to go on with new
 * labels or edges. The options must be for the model's method; those that shape its network, and
 * were not set, become the model's, and so does the scale of its features. Classes and features
 * must be the model's; not for ensembles and trees. The model must outlive the options. */
CONSM_API consm_status consm_options_from(struct consm_options *options,
                                          const struct consm_model *model);

/* How far a training run is. Returning true stops it with CONSM_ECANCEL. While ConSM chooses its
 * backbone, epoch is 0 and epochs is 0, and the rest speaks of the candidate. */
struct consm_progress {
    size_t size;
    uint64_t seed;
    int64_t epoch, epochs; /* finished, in all */
    double loss, val_acc, best_val;
    int64_t member, members; /* of an ensemble: which run, from 1, of how many; else 0 */
    double
        share; /* of the time the run (the member) will take, as far as can be told; 0: unknown */
    int64_t candidate, update; /* while ConSM chooses its backbone: which candidate, from 1, and its
                                * update, 0 while folds compare it; else 0 */
    const char *backbone;      /* the candidate's GNN, or NULL */
    bool refit;                /* all is chosen, the model trains on all labels (option refit) */
};
typedef bool (*consm_progress_fn)(void *ctx, const struct consm_progress *progress);
CONSM_API void consm_options_on_progress(struct consm_options *options, consm_progress_fn fn,
                                         void *ctx);

/* ---- models -------------------------------------------------------------- */

struct consm_model;

/* Trains on the split's training nodes, keeps the parameters that are best on its validation nodes,
 * calibrates their confidence there, and reads the test nodes once, at the end. */
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
    bool structural;    /* the features were made from the graph's structure */
    int64_t parameters; /* trained numbers */
    int64_t epochs, best_epoch;
    int64_t trained, validated, tested; /* nodes of each role */
    int64_t held_out; /* validation nodes taken out of the training labels, 0 when none had to be */
    double temperature; /* logits are divided by it before the softmax */
    double ece_before;  /* validation's expected calibration error without temperature */
    double seconds, train_ms, eval_ms; /* of training, of its median epoch; 0 in a loaded model */
    double coverage;    /* that prediction sets were asked for (option coverage); 0: none */
    int64_t calibrated; /* validation labels that set their threshold and selected nothing */
    bool promised;      /* they were enough; else every set holds every class */
    double smoothing;   /* share of the neighbours in a class's score */
    double covered;     /* share of the test nodes whose set holds their class … */
    double set_size;    /* … and how many classes their sets hold; NAN without test nodes */
    int64_t ensemble;   /* runs trained to be combined (option ensemble); 0: not asked for */
    int64_t members;    /* networks whose probabilities are averaged; 1: a plain model */
    const char *rule;   /* what validation chose: single, average or greedy; "" without ensemble */
    const char *metric; /* what every choice of the run went by, and its value on validation */
    double val_score;
    int32_t positive;        /* the class it speaks of; -1: all */
    int32_t threshold_class; /* said where its probability reaches `threshold`; -1: none is */
    double threshold;
    double threshold_precision, threshold_recall; /* of that class on validation, with it */
    bool threshold_reached;                       /* what was asked for was to be had */
    double doubt;         /* share of "all classes alike" in every probability, because so few nodes
                           * validated; 0 from 100 on */
    int32_t class_kind;   /* of enum consm_class_kind, as the labels' maker said */
    const char *backbone; /* the GNN that consm trained: "gcn", "gat", …, as chosen on validation
                           * where it was auto; of an ensemble all of its members', "gcn, gat"; ""
                           * for other methods */
    bool uses_weights;    /* edge weights change what it computes */
    int64_t refit_labels; /* of option refit: labels that the parameters were trained on after all
                           * was chosen, 0: they were not; train and validation figures are of the
                           * run before it */
    int64_t refit_updates; /* for how long */
    int64_t fold_labels; /* that folds over all labels predicted, to compare ConSM's last candidates
                          * (option folds); 0: there were none */
    double fold_score;   /* what they said of the chosen network by the metric: beside it val_score
                          * shows how much validation flatters … */
    double fold_error;   /* … and its standard error */
};
/* Strings belong to the model. */
CONSM_API consm_status consm_model_info(struct consm_model_info *out,
                                        const struct consm_model *model);

/* A candidate that ConSM compared to choose its backbone. */
struct consm_candidate {
    size_t size;
    const char *backbone, *settings; /* "gcn", and what differs from its defaults; for ever */
    int64_t updates;                 /* that it was trained for until it was given up or chosen */
    double val_score; /* its best on validation by the run's metric; NAN: its loss diverged */
    double
        fold_score; /* by cross-validation over all labels (option folds); NAN: not compared so */
    bool chosen;
};
/* By index from 0 on: the chosen one first, then as far as they came. CONSM_ENOTFOUND: there are no
 * more, or none, as in a loaded model, in an ensemble and with a backbone that was given. */
CONSM_API consm_status consm_model_candidate(struct consm_candidate *out,
                                             const struct consm_model *model, int32_t index);

/* A parameter as it was in the end, "auto" replaced by what was found where something was; NULL:
 * there is none of that name. */
CONSM_API const char *consm_model_parameter(const struct consm_model *model, const char *name,
                                            char buffer[32]);

/* A class's name: its own, or its number written into buffer. */
CONSM_API const char *consm_model_class(const struct consm_model *model, int32_t class_index,
                                        char buffer[24]);

/* What a model knows of each node before it names a class: the numbers that its last weights read,
 * (nodes, width) row by row; of an ensemble those of its members side by side. */
struct consm_embedding {
    int64_t nodes, width;
    float *value;
};
CONSM_API consm_status consm_embed(struct consm_embedding **out, const struct consm_model *model,
                                   const struct consm_dataset *dataset, const char *device,
                                   int threads);
CONSM_API void consm_embedding_free(struct consm_embedding *embedding);

struct consm_class_metrics {
    int64_t support, predicted;   /* nodes that are of the class, that are said to be */
    double precision, recall, f1; /* 0 where nothing was predicted or is there, as scikit-learn */
    double roc_auc;               /* this class against the rest; NAN when one side is empty */
    double average_precision;     /* area under precision by recall; NAN without such nodes */
};

struct consm_metrics {
    size_t size;
    int64_t nodes;   /* measured; all figures are NAN when 0 */
    int32_t classes; /* c */
    double accuracy;
    double macro_f1;          /* over the classes that occur, in truth or in prediction */
    double balanced_accuracy; /* mean recall of the classes that are there */
    double roc_auc;           /* mean over the classes for which it is defined */
    double nll;               /* mean of -log p(label) */
    double ece;               /* expected calibration error, 15 bins of equal width; NAN (unknown)
                               * with fewer than 20 nodes */
    double average_precision; /* mean over the classes that are there */
    int64_t foreign; /* measured nodes of classes that the model does not know: all figures but nll
                      * count them as wrong */
};

enum consm_role { CONSM_TRAIN = 1, CONSM_VALIDATION = 2, CONSM_TEST = 3 };

/* What was measured when the model was trained; belongs to the model. NULL: there is no such role.
 */
CONSM_API const struct consm_metrics *consm_model_metrics(const struct consm_model *model,
                                                          enum consm_role role);
/* One class's share of it; NULL: there is no such class. */
CONSM_API const struct consm_class_metrics *consm_metrics_class(const struct consm_metrics *metrics,
                                                                int32_t class_index);
/* counts (c, c): true class by row, predicted class by column. */
CONSM_API void consm_metrics_confusion(int64_t *counts, const struct consm_metrics *metrics);

/* What calling every node positive whose probability of a class reaches a threshold leads to, from
 * the highest threshold down: precision by recall is the PR curve, recall by false positives the
 * ROC curve. At most 103 points a class; this struct and the next will not grow. */
struct consm_curve_point {
    double threshold, precision, recall;
    double false_positive_rate; /* share of the other nodes that are called positive */
};
/* The points of a class's curve, lent by the model; returns how many. 0: there is no such class,
 * one side is empty, or there are more than 20 classes. */
CONSM_API int64_t consm_metrics_curve(const struct consm_curve_point **points,
                                      const struct consm_metrics *metrics, int32_t class_index);

/* The k nodes with the highest probability of a class: how many are of it, and which share of all
 * that are. */
struct consm_top {
    int64_t k;
    double precision, recall;
};
/* For k = 10, 20, 50, 100, 200, 500, 1000 as far as there are nodes, lent by the model; returns how
 * many. */
CONSM_API int64_t consm_metrics_top(const struct consm_top **tops,
                                    const struct consm_metrics *metrics, int32_t class_index);

/* Model files are safetensors with everything needed to predict. Writing replaces a file in one
 * step: there is never half a model under that name. */
CONSM_API consm_status consm_model_save(const struct consm_model *model, const char *path);
CONSM_API consm_status consm_model_load(struct consm_model **out, const char *path);

/* ---- prediction ---------------------------------------------------------- */

struct consm_prediction {
    int64_t nodes;
    int32_t classes;
    int32_t *label;     /* (nodes) most probable class of the model, or the one whose probability
                         * reaches its threshold (option threshold_for) */
    float *confidence;  /* (nodes) its probability, calibrated */
    float *probability; /* (nodes, classes) */
    uint8_t *in_set;    /* (nodes, classes) 1: the class is in the node's prediction set; NULL
                         * unless the model was trained with the option coverage */
    uint8_t *seen;      /* (nodes) 1: the node's label trained, validated or calibrated the model;
                         * NULL where that cannot be told: nodes without ids, older models */
    float *log_odds;    /* (nodes, classes) log(p / (1 - p)) before doubt: ranks nodes whose
                         * probabilities are equal to the last digit */
};

/* A prediction set holds the true class with a chance of at least the coverage that was asked for,
 * for nodes drawn as the calibrating half of the validation nodes was: those of the training graph
 * with a random split. On another graph it is as good as that graph is alike.
 *
 * Predicts every node of a dataset, which may have nodes and edges the model never saw. Features
 * are matched by name where both sides have names; CONSM_EINVAL names the columns that are missing.
 * threads 0: one per processor. Predictions on the graph of training are those made at training
 * time, bit for bit. */
CONSM_API consm_status consm_predict(struct consm_prediction **out, const struct consm_model *model,
                                     const struct consm_dataset *dataset, int threads);

/* The same on a device, named as the option of that name is; NULL: the CPU. A model predicts on
 * either, wherever it was trained; the last digits may differ. CONSM_ENOTFOUND says what is missing
 * where there is no such device. */
CONSM_API consm_status consm_predict_on(struct consm_prediction **out,
                                        const struct consm_model *model,
                                        const struct consm_dataset *dataset, const char *device,
                                        int threads);
CONSM_API void consm_prediction_free(struct consm_prediction *prediction);

/* The nodes of these ids; CONSM_ENOTFOUND names the first id that no node has. node (count). The
 * first call takes O(nodes) to make an index. */
CONSM_API consm_status consm_dataset_find(int64_t *node, const struct consm_dataset *dataset,
                                          const char *const *id, int64_t count);

/* ---- a graph that grows --------------------------------------------------- */

/* Nodes, edges, features and labels may change while others read: who reads goes on with the graph
 * as it was. Any number of threads may read and write; writers wait for each other. A change costs
 * what it changes; when a large share of the nodes has changed, one call puts everything in order
 * and takes as long as opening. A call that fails changes nothing. */
struct consm_graph;

/* Begins with a dataset, which may be freed before it. Not for a graph in parts. */
CONSM_API consm_status consm_graph_new(struct consm_graph **out, struct consm_dataset *dataset);
CONSM_API void consm_graph_free(struct consm_graph *graph);

/* How many nodes there are now, and the numbers of nodes by id, as consm_dataset_find. */
CONSM_API int64_t consm_graph_nodes(struct consm_graph *graph);
CONSM_API consm_status consm_graph_find(int64_t *node, struct consm_graph *graph,
                                        const char *const *id, int64_t count);

/* Adds nodes: rows->nodes of them, with their features or columns, labels (classes of the dataset)
 * and, where its nodes have ids, ids; without edges. They get the next numbers, *first being the
 * first (first may be NULL). Columns are read by the model's recipe, as those of any dataset. */
CONSM_API consm_status consm_graph_add_nodes(struct consm_graph *graph,
                                             const struct consm_arrays *rows, int64_t *first);

/* Adds undirected edges (count) between nodes; weight (count) or NULL: 1. A pair that is an edge
 * already gets the new weight. CONSM_ENOTFOUND: there is no such node. */
CONSM_API consm_status consm_graph_add_edges(struct consm_graph *graph, const int64_t *from,
                                             const int64_t *to, const float *weight, int64_t count);
/* CONSM_ENOTFOUND: one of the pairs (count) is no edge. */
CONSM_API consm_status consm_graph_remove_edges(struct consm_graph *graph, const int64_t *from,
                                                const int64_t *to, int64_t count);

/* Replaces the features of node[0], node[1], … by the rows' (rows->nodes). */
CONSM_API consm_status consm_graph_set_features(struct consm_graph *graph, const int64_t *node,
                                                const struct consm_arrays *rows);
/* Replaces labels (count): classes of the dataset, negative: unknown. */
CONSM_API consm_status consm_graph_set_labels(struct consm_graph *graph, const int64_t *node,
                                              const int32_t *label, int64_t count);

/* The graph as it is now as a dataset of its own, to train on, save or report: equal to one that is
 * built anew. Takes as long as opening. */
CONSM_API consm_status consm_graph_dataset(struct consm_dataset **out, struct consm_graph *graph);

/* ---- some nodes ----------------------------------------------------------- */

/* A model and a dataset held ready for questions about a few nodes. Opening prepares what is the
 * same for every question; the model must outlive it, the dataset may be freed before it. */
struct consm_predictor;
CONSM_API consm_status consm_predictor_new(struct consm_predictor **out,
                                           const struct consm_model *model,
                                           const struct consm_dataset *dataset, int threads);
/* Predicts node[0], node[1], … (count) alone, numbers of the dataset: row k speaks of node[k], with
 * the bits of consm_predict(). It computes what these nodes read: a two-layer GCN reads two steps
 * of the graph. Where that is more than a quarter of the graph, or the model reads all of it, the
 * first question predicts every node and the following ones look it up. CONSM_ENOTFOUND: there is
 * no such node. Several threads may ask at once. */
CONSM_API consm_status consm_predictor_nodes(struct consm_prediction **out,
                                             struct consm_predictor *predictor, const int64_t *node,
                                             int64_t count);
CONSM_API void consm_predictor_free(struct consm_predictor *predictor);
/* A predictor on a graph that grows, which must outlive it: every question sees the graph as it is
 * when the question is asked. Models that look at the whole graph (H2GCN, ConSM with changed edges,
 * features made from the structure) take as long as consm_predict() after each change. */
CONSM_API consm_status consm_predictor_new_on(struct consm_predictor **out,
                                              const struct consm_model *model,
                                              struct consm_graph *graph, int threads);

/* The same for one question. */
CONSM_API consm_status consm_predict_nodes(struct consm_prediction **out,
                                           const struct consm_model *model,
                                           const struct consm_dataset *dataset, const int64_t *node,
                                           int64_t count, int threads);

/* Measures a model on every node of a dataset whose label is known, its class matched by name;
 * CONSM_EINVAL when there is none that the model knows. Nodes of other classes count as wrong. What
 * was measured is the caller's to free. */
CONSM_API consm_status consm_evaluate(struct consm_metrics **out, const struct consm_model *model,
                                      const struct consm_dataset *dataset, int threads);

/* Nodes whose labels trained, validated or calibrated the model flatter it. They are recognised by
 * their ids, of which a model keeps hashes. */
enum consm_which { CONSM_ALL_NODES, CONSM_NEW_NODES, CONSM_SEEN_NODES };
/* The same on some of the labelled nodes, and on a device, as consm_predict_on. nodes is 0 where
 * there are none of them; CONSM_EINVAL where they cannot be told apart. */
CONSM_API consm_status consm_evaluate_on(struct consm_metrics **out,
                                         const struct consm_model *model,
                                         const struct consm_dataset *dataset,
                                         enum consm_which which, const char *device, int threads);
CONSM_API void consm_metrics_free(struct consm_metrics *metrics);

/* Which edges to trust: one score per undirected edge of the cleaned graph, each edge once. Of a
 * graph in parts that ranks have divided: those whose first end is this rank's. */
struct consm_edge_scores {
    int64_t edges;
    int32_t *from, *to; /* (edges) node numbers, from < to */
    float *score;       /* (edges) the chance that both ends share a class, in [0, 1] */
    uint8_t *kept;      /* (edges) 1 where the score is at least the threshold */
    double zeta; /* the share of edges that ConSM took to be inside classes; of other models the
                  * share with a score of 0.5 or more */
    float *low, *high; /* (edges) the bounds of a 90 % interval of the score; NaN where a model has
                        * none (all but ConSM) */
    double
        threshold; /* 0.5, or less where fewer than zeta·edges reach that: then as many are kept */
    int32_t
        witnesses; /* what the score was made of: so many numbers per edge; 0: the model has none */
    const char *const *witness_name; /* (witnesses) */
    float *witness;                  /* (edges, witnesses) */
    double
        *witness_weight; /* (1 + witnesses) a bias and a weight each: score = sigmoid of the sum */
};

/* Scores the edges of a dataset, which may be another graph than the one of training. ConSM weighs
 * its subgraph matching and the agreement of its predictions, calibrated on training and validation
 * labels; other models offer the agreement of their predictions. */
CONSM_API consm_status consm_score_edges(struct consm_edge_scores **out,
                                         const struct consm_model *model,
                                         const struct consm_dataset *dataset, int threads);

/* The same on a device, as consm_predict_on. */
CONSM_API consm_status consm_score_edges_on(struct consm_edge_scores **out,
                                            const struct consm_model *model,
                                            const struct consm_dataset *dataset, const char *device,
                                            int threads);
CONSM_API void consm_edge_scores_free(struct consm_edge_scores *scores);

/* The `most` pairs of largest trust that are no edges, fewer where there are fewer candidates:
 * those that are near each other in the model's embedding or in their features. The score is what a
 * pair would have as an edge, whatever that is worth for pairs that are none; kept is 1 for all. Of
 * an ensemble the member with most votes is asked. Not for a graph in parts. */
CONSM_API consm_status consm_suggest_edges(struct consm_edge_scores **out,
                                           const struct consm_model *model,
                                           const struct consm_dataset *dataset, int64_t most,
                                           const char *device, int threads);

/* ---- a clean graph ------------------------------------------------------- */

/* Which edges are too little trusted to stay. */
struct consm_clean_options {
    size_t size;      /* set by you */
    double share;     /* drop this share of the edges, those of least trust; negative: go by … */
    double threshold; /* … drop what scores less; negative: drop what scores->kept does not keep */
};

/* dropped (scores->edges) becomes 1 for edges to drop. options NULL: those that are not kept. */
CONSM_API consm_status consm_clean_choose(uint8_t *dropped, const struct consm_edge_scores *scores,
                                          const struct consm_clean_options *options);

/* The dataset without the dropped edges and with the pairs of `added`, which may be NULL. Nodes,
 * features, labels and splits are shared with the dataset, which may be freed before it. Where
 * edges have weights, an added pair gets their mean. Not for a graph in parts. */
CONSM_API consm_status consm_dataset_clean(struct consm_dataset **out,
                                           struct consm_dataset *dataset,
                                           const struct consm_edge_scores *scores,
                                           const uint8_t *dropped,
                                           const struct consm_edge_scores *added);

/* Writes a dataset to a path: a folder of CSV files, NAME.npz or NAME.safetensors, by its suffix or
 * by the name of a format ("plain", "npz", "safetensors"; NULL: by suffix). */
CONSM_API consm_status consm_dataset_save(const struct consm_dataset *dataset, const char *path,
                                          const char *format);

/* ---- explanations -------------------------------------------------------- */

struct consm_explain_options {
    size_t size;   /* set by you */
    int64_t limit; /* edges, neighbours and features tried at most, each; 0: 500. The nearest to
                    * the node come first */
    bool of_label; /* watch label; else the class that is said of the node */
    int32_t label;
    int threads;                /* 0: one per processor */
    consm_progress_fn progress; /* hears of trials done (epoch) of all (epochs), or NULL */
    void *progress_ctx;
};

/* Why a node has its label. An effect is the label's probability less its probability without
 * the thing: positive where it speaks for the label. The same in log-odds, log(p / (1 - p)), tells
 * effects apart where the probability is almost 1: without a thing of log-odds 0.69 the odds are
 * half, of -0.69 twice what they were. Every list begins with the largest change of the log-odds,
 * whatever its sign. Edges and nodes are numbers of the cleaned graph. */
struct consm_explanation {
    int64_t node;
    int32_t label;
    float probability; /* of the label, with everything in its place */
    int64_t edges, neighbours, features;
    int32_t *edge_from, *edge_to; /* (edges) from < to */
    float *edge_effect;           /* (edges) without the edge */
    int32_t *neighbour;           /* (neighbours) adjacent to the node */
    float *neighbour_effect;      /* (neighbours) without any of its edges */
    int32_t *feature;             /* (features) columns of the model */
    float *feature_effect; /* (features) without it on all nodes the model reads: 0 where features
                            * are sparse, the column's mean where they are dense */
    /* What could have been tried without the limit. Features made from the structure are not. */
    int64_t edges_in_reach, neighbours_in_reach, features_in_reach;
    double log_odds; /* of the label, with everything in its place; before doubt */
    float *edge_log_odds, *neighbour_log_odds, *feature_log_odds; /* how far they fall without it */
    /* The values behind the effects. */
    float *edge_weight, *edge_trust; /* (edges) weight 1 where edges have none; trust score */
    int32_t *neighbour_label;        /* (neighbours) its known class, of the model's; -1: unknown */
    int32_t *neighbour_said;         /* (neighbours) what the model says of it */
    float *neighbour_probability;    /* (neighbours) of the label that is explained */
    float *neighbour_weight, *neighbour_trust; /* (neighbours) of the edge to it */
    float *feature_value;                      /* (features) of the node */
    float *feature_low, *feature_high; /* (features) 90 % of the graph's nodes lie between them */
    float *feature_mean;               /* (features) of the graph's nodes */
};

/* Takes edges, neighbours and features away in turn and predicts again. Each trial costs a
 * prediction on the nodes the model reads for this one; for methods that read far, or features made
 * from the structure, that is the whole graph. options NULL: all 0. */
CONSM_API consm_status consm_explain(struct consm_explanation **out,
                                     const struct consm_model *model,
                                     const struct consm_dataset *dataset, int64_t node,
                                     const struct consm_explain_options *options);
CONSM_API void consm_explanation_free(struct consm_explanation *explanation);

/* The name of a feature of the model: its own, or its number written into buffer. */
CONSM_API const char *consm_model_feature(const struct consm_model *model, int64_t feature,
                                          char buffer[24]);

/* ---- reports ------------------------------------------------------------- */

/* One page of HTML, with everything in it: how good the model is, class by class, its confidence,
 * and the graph with what was predicted. dataset and options are those it was trained with. */
CONSM_API consm_status consm_report_write(const char *path, const struct consm_model *model,
                                          const struct consm_dataset *dataset,
                                          const struct consm_options *options);

/* ---- models of your own -------------------------------------------------- */

/* A model is a function that records its equations, once, with the builders below; training,
 * gradients, validation, saving and prediction then work as for any other. Builders never fail
 * visibly: an impossible one returns CONSM_POISON, and consm_train() reports the first fault with
 * the name of its node. */

struct consm_program;
struct consm_matrix; /* a sparse matrix of the graph */
typedef int32_t consm_node;
enum { CONSM_POISON = -1 };

enum consm_view {
    CONSM_VIEW_ADJACENCY, /* A, weights kept           */
    CONSM_VIEW_LOOPS,     /* A + I                     */
    CONSM_VIEW_GCN,       /* D^-1/2 (A+I) D^-1/2       */
    CONSM_VIEW_SYMMETRIC, /* D^-1/2 A D^-1/2           */
    CONSM_VIEW_TWO_HOP    /* the same of A² without A and I */
};

/* What a model may read while it records. */
struct consm_inputs {
    consm_node x; /* (nodes, features), dense or sparse; matmul, linear and dropout take both */
    int64_t nodes, features, classes;
    const void *inside; /* for the two calls below */
};
/* A matrix of the graph, made when first asked for; entries come in the order of its rows. */
CONSM_API const struct consm_matrix *
consm_inputs_view(struct consm_program *p, const struct consm_inputs *in, enum consm_view view);
CONSM_API int64_t consm_matrix_entries(const struct consm_matrix *matrix);
/* An option that is a number, by name: consm_inputs_option(in, "hidden"); NAN: there is none. */
CONSM_API double consm_inputs_option(const struct consm_inputs *in, const char *name);

/* Records the model and returns its logits (nodes, classes). It is called on the thread that trains
 * or predicts, more than once, and must record the same parameters each time. */
typedef consm_node (*consm_build_fn)(struct consm_program *p, const struct consm_inputs *in,
                                     void *ctx);

/* Trains this model in place of the one the options were made for. The name goes into the file. */
CONSM_API consm_status consm_options_build(struct consm_options *options, const char *name,
                                           consm_build_fn build, void *ctx);
/* Gives a loaded model of your own its equations back. */
CONSM_API void consm_model_build(struct consm_model *model, consm_build_fn build, void *ctx);

typedef void (*consm_line_fn)(void *ctx, const char *line);
/* The program as recorded so far, and the whole program that predicts on a dataset, readably: one
 * line an operation with shape, sources, bytes and place in memory. */
CONSM_API void consm_program_dump(const struct consm_program *p, consm_line_fn line, void *ctx);
CONSM_API consm_status consm_model_dump(const struct consm_model *model,
                                        const struct consm_dataset *dataset, consm_line_fn line,
                                        void *ctx);

/* The program that trains has dropout, the one that evaluates does not. */
CONSM_API bool consm_program_training(const struct consm_program *p);
CONSM_API consm_node consm_program_name(struct consm_program *p, consm_node x, const char *name);
CONSM_API int64_t consm_node_rows(const struct consm_program *p, consm_node x);
CONSM_API int64_t consm_node_cols(const struct consm_program *p, consm_node x);

enum consm_init {
    CONSM_INIT_ZERO,
    CONSM_INIT_ONE,
    CONSM_INIT_GLOROT, /* uniform ±sqrt(6 / (rows + cols)) */
    CONSM_INIT_LINEAR, /* uniform ±1/sqrt(rows) */
    CONSM_INIT_NORMAL  /* normal with deviation 0.1 */
};

/* In the comments f, g are columns and n rows; S is a matrix of the graph with m entries. */
#define CONSM_OP(name, ...) CONSM_API consm_node consm_##name(struct consm_program *p, __VA_ARGS__)

/* leaves */
CONSM_OP(param, const char *name, int64_t rows, int64_t cols, enum consm_init init);
CONSM_OP(input, const float *values, int64_t rows, int64_t cols); /* must outlive the call */
CONSM_OP(fill, float value, int64_t rows, int64_t cols);
CONSM_OP(noise, int64_t rows, int64_t cols); /* uniform in (0,1), new at every step */

/* layers: parameters are called w<name> and b<name> */
CONSM_OP(linear, const char *name, consm_node x, int64_t out); /* x·W + b */
CONSM_OP(graph_conv, const char *name, const struct consm_matrix *s, consm_node x,
         int64_t out);                                /* S·(x·W) + b */
CONSM_OP(batch_norm, const char *name, consm_node x); /* running statistics when evaluating */

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
