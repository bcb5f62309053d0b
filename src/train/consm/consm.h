/* ConSM's training: the data that its parts share, and the pieces that tests compare. */
#ifndef TRAIN_CONSM_H
#define TRAIN_CONSM_H

#include "match/matcher.h"
#include "match/trust.h"
#include "nn/snapshot.h"
#include "train/choice.h"
#include "train/guess.h"
#include "train/outlook.h"
#include "train/session.h"

/* The position in Algorithm 2, so that an interrupted run can continue. */
struct consm_place {
    int64_t begun;
    int64_t round;      /* 0: the warm-up */
    int64_t left;       /* GNN updates left in it */
    int64_t idle;       /* rounds without a better validation */
    int64_t before;     /* the best epoch when the round began */
    int64_t best_round; /* chosen by validation; 0: the warm-up */
    int64_t updates;    /* GNN updates so far, including those of dropped arms */
    int64_t arm;        /* the current arm */
    int64_t choosing;   /* whether arms are being compared, from this point: */
    int64_t fork_steps, fork_updates;
    int64_t look, next, running;      /* of enum consm_look; the next arm; whether it has started */
    int64_t over;                     /* no more rounds in this course */
    double fork_best, fork_best_loss; /* validation and loss of the best epoch at the fork */
    int64_t prune_by;                 /* of enum config_prune_by, as the exam chose it */
    struct match_quality quality;     /* result of the exam */
};

/* Stages of the choice of an arm. */
enum consm_look { LOOK_BEGINS, LOOK_STRENGTHS, LOOK_WIDE, LOOK_SECOND, LOOK_LAST, LOOKS };

/* One way to use coefficients. */
struct consm_arm {
    double lambda;
    bool all;       /* all edges attract, not only the share ζ */
    bool guesses;   /* confident predictions serve as labels */
    double entropy; /* weight of the entropy of unlabelled predictions */
};
enum { CONSM_ARMS = 21 };

/* An arm that is being tried. */
struct consm_tried {
    int64_t number;
    int64_t way;    /* in consm.way: its state */
    int64_t steps;  /* the learner's steps there */
    int64_t found;  /* the update that found the best parameters so far; 0: none */
    int64_t joined; /* it joined with guesses, after the first look */
    double val;     /* its best validation; -1: never run */
};

/* Data of the entropy term; NULL if no arm has it. */
struct consm_entropy {
    float *unlabelled; /* (n) 1 for nodes that do not train, else 0 */
    int64_t count;     /* number of such nodes */
    float factor;      /* of Σ p·log p in the loss */
};

/* Data of guesses; all NULL if there are none. */
struct consm_guesses {
    struct index *everyone;
    int32_t *label, *row; /* (n) the class of each guess; scratch */
    float *sure, *weight; /* (n) 1 if this round has a guess; the same while an arm uses them */
    float given_part, guessed_part; /* shares in the supervised loss, together one */
    uint8_t *given;                 /* (n) nodes with a known label */
    double *share;                  /* (classes) share of each class among known labels */
    struct guess_room room;
};

/* Pairs of nodes without an edge. */
struct consm_pairs {
    int64_t count;
    int32_t *left, *right; /* (count) */
};

/* A graph of messages: some of the problem's edges, and pairs without an edge. */
struct consm_kept {
    struct csr *graph;
    struct views *views;
    struct problem problem; /* the session's problem with these views */
    struct problem lesson;  /* and with the student's votes, if there are any */
};

/* Networks that were trained without distrusted edges on the way, all without the same share of
 * them. They may predict together with ConSM (companions.c). */
enum { CONSM_SPARES = 3 };
struct consm_spares {
    int count;
    double share;
    struct choice_finalist network[CONSM_SPARES];
};

/* A saved run that another course may fall back to. */
struct consm_aside {
    struct session *gnn; /* with its parameters */
    struct config config;
    struct consm_place place;
    struct train_lengths lengths;
    float *match; /* the matching module's parameters */
    bool on;      /* as in struct consm_clean, like the next two */
    double share, added_share;
    struct trust trust;
};

/* Messages over other edges than the graph's (kept.c, clean_arm.c, missing_arm.c). */
struct consm_clean {
    bool on;
    double share;                /* share of edges without messages; NaN: config.drop_below */
    double added_share;          /* pairs with messages, relative to the number of edges; NaN:
                                    config.add_above */
    uint8_t *dropped, *best;     /* (|E|) dropped edges now, and at the best validation */
    struct consm_pairs added;    /* in this course */
    const struct problem *whole; /* as passed to the session */
    struct consm_kept *course;   /* the edges that are trained on */
    struct consm_kept *settled;  /* the edges that answers use */
    struct trust trust;          /* the trust that answers use */
    double left_out, put_in;     /* shares of edges that answers drop and add */
    struct consm_aside aside;
    struct consm_spares spares;
    int64_t legs;                   /* trials started, for their names in the trail */
    int64_t unsaved;                /* updates of trials since the last checkpoint */
    int64_t course_number, courses; /* of the current course, 0: over all edges; started so far */
};

/* Labels and roles with votes as labels (student.c). */
struct voted {
    int32_t *label;
    uint8_t *role;
};

/* Backends on which candidates train side by side (race.c), and a thread for each; none: they train
 * on the session's. */
enum { CONSM_TRACKS = 8 };
struct consm_tracks {
    int count;
    struct backend *backend[CONSM_TRACKS];
    struct team *team;
};
void consm_close_tracks(struct consm_tracks *t);

/* What the exam of the matching module found. */
struct consm_exam {
    struct match_quality quality;
    int64_t prune_by, held; /* held: nodes that the module did not learn from */
};

struct consm_early;

/* The state of a ConSM session besides the common one. */
struct consm {
    struct consm_place place;
    struct edges *edges;
    int32_t *train;             /* the labelled nodes */
    struct session *winner;     /* the chosen backbone's trial, until the GNN takes it over */
    struct problem repeated;    /* that of a student, while it trains or is the winner */
    struct consm_tracks tracks; /* until then */
    struct consm_early *early;  /* work beside the race, during it */
    struct consm_exam exam;     /* what it found */
    bool examined;              /* it found something */
    struct train_student student;
    struct voted voted;    /* what it learned from, for networks trained from scratch later */
    struct session *trees; /* trees that predict in the session's place, or NULL */
    struct train_company company; /* candidates that predict together with it */
    bool answered;                /* trust is that of the answers: */
    struct trust answers_trust;   /* the weights of the witnesses for these */
    const float *answers;         /* (n, c) what all predict together, or NULL: its own logits */
    float *near_answers;          /* (n, c) for a graph in parts: answers with neighbours' rows */
    int candidates;               /* candidates that were compared, the chosen one first */
    struct train_candidate candidate[TRAIN_MOST_CANDIDATES];
    struct snapshot fork, way[CONSM_ARMS]; /* the fork, and the state of each arm */
    struct consm_tried tried[CONSM_ARMS];  /* while one is chosen, best first */
    struct matcher *matcher;
    double zeta;
    struct outlook outlook;

    struct index *left, *right; /* (|E|) the ends of every edge */
    float *w;          /* (|E|) trust of each edge in the last round; at the end matching alone */
    float *slope;      /* (|E|) λ-weighted factors of the cosines in L_SUP */
    struct csr *pulls; /* for a graph in parts: the matrix with these values */
    float constant;    /* the part of λ·L_SUP that does not depend on the logits */
    struct consm_guesses guesses;
    struct consm_entropy entropy;
    struct consm_clean clean;

    float *witness;              /* (|E|, DATA_WITNESSES) of each edge; NULL until needed */
    int32_t *taught;             /* (n) the training label, or -1; NULL until needed */
    struct trust_sample *sample; /* the edges that trust is fitted on */
    struct edges *pairs;         /* labelled pairs that it is fitted on, too, or NULL */
    float *pair_w;               /* (pairs) their matching coefficients */
    float *pair_witness;         /* (pairs, DATA_WITNESSES) */
    float *pair_x;               /* (pairs, WITNESSES) */
    float *judged_logits;        /* (validation nodes here, c) scratch of calibration */
    int32_t *judged_label;       /* their labels */
    uint8_t *judged_role;        /* a role of 0 for each */
    double *judged_term;         /* scratch, one for each */
    double *chance;              /* scratch of witnesses */

    /* For a graph in parts: */
    struct row_halo *neighbours; /* of the partition's nodes */
    float *near_logits;          /* (n, c) logits, also of these */
    float *stored; /* (n, f) the partition's stored features, if the session uses others */
    float *pruned_by, *heard_by; /* parameters that the round's coefficients came from: the module
                                    before it learned, and the GNN */

    const struct problem *plain_problem; /* as passed to the session */
    struct problem own_problem;          /* with views whose values follow the coefficients */
    struct views *own_views;
    float *plain_value; /* (nnz) of the GCN view, before coefficients */
    float *best_value;  /* (nnz) at the best validation */
    float *best_match;  /* the matching module's parameters then */
};

/* λ·L_SUP = constant + Σ_e slope_e·cos_e (Eq. our_lp, with d = 1 - cos):
 *   w_e > k:  α·w_e·(1 - cos_e)        w_e ≤ k:  α·(1 - w_e)·cos_e
 * Confident edges are the ⌊ζ|E|⌋ with the largest w, ties to the earlier; α is alpha_lu, alpha_uu,
 * or 0 between labelled nodes. */
consm_status consm_propagation(float *slope, float *constant, const float *w,
                               const struct edges *edges, const uint8_t *role, double lambda,
                               double zeta, const struct config *c, struct team *team);

/* The supervised loss, with guesses among the labels if there are any, plus λ·L_SUP. */
node consm_whole_loss(struct session *s, struct program *p, node supervised, node predictions);

/* Estimates ζ from training and validation labels: the share of known edges that join one class,
 * smoothed by one edge of each kind. Edges with no, one and two training nodes are counted
 * separately and weighted by their number among all edges: known edges are mostly those of training
 * nodes, and attacks aim at these. */
double consm_estimate_zeta(const struct edges *edges, const struct problem *problem);

/* Whether training or validation may know this node's label. */
bool consm_known(const struct problem *problem, int32_t i);

/* How subgraphs are pruned: as configured, or as the exam chose. */
enum config_prune_by consm_prune_by(const struct session *s);

/* The share of edges in a round's subgraphs: ζ, all, or none. */
double consm_kept_share(const struct session *s, enum config_prune_by by, int64_t round);

/* The input of the session's matching module. */
struct match_data consm_match_data(const struct session *s);
const float *
consm_dense(const struct session *s); /* (n, f) dense features that it reads, or NULL */

/* ---- checkpoint.c: of struct procedure ---- */

consm_status consm_see_place(struct session *s, memory_fn see, void *ctx);
consm_status consm_memory(struct session *s, memory_fn see, void *ctx);
bool consm_sound(const struct session *s);

/* ---- in_parts.c: graphs of which every rank has a partition ---- */

/* Refuses unsupported settings first; fetches the neighbours. */
consm_status consm_open_parts(struct session *s);
void consm_close_parts(struct session *s);

/* A checkpoint of a graph in parts stores no edge values, but what they can be computed from: the
 * parameters of module and GNN at the start of the round. */
consm_status consm_note_module(struct session *s);
consm_status consm_note_gnn(struct session *s);
consm_status consm_match_again(struct session *s);
consm_status consm_parts_memory(struct session *s, memory_fn see, void *ctx);

/* Whether matching reads features as stored although the backbone's differ. */
bool consm_matches_stored(const struct session *s);

/* Features as stored, if the session's programs read others. */
consm_status consm_store_features(struct session *s);

/* Logits (n, classes) of the partition's nodes and of their neighbours. */
consm_status consm_near_logits(const float **out, struct session *s);

/* witness_data_only() with the neighbours' features and rows. */
consm_status consm_near_witnesses(float *stored, const struct witness_data *data,
                                  struct session *s);

/* Examines the matching module (exam.c). data and config as consm_match_data() and the session have
 * them. */
consm_status consm_examine(struct consm_exam *out, const struct session *s,
                           const struct match_data *data, const struct config *config,
                           struct backend *backend);

/* ---- early.c: beside the race of candidates, on a card ---- */

/* Starts the exam and consm_open_witnesses() in a thread, if that is possible; waits for it and
 * notes what it found. Meanwhile the session's data and configuration must not change. */
void consm_early_begin(struct session *s);
void consm_early_end(struct session *s);

/* ---- taught.c: whose labels training was told ---- */

/* Fills own->taught: from the roles, or in an evaluation from the model file. */
consm_status consm_open_taught(struct session *s);

/* Scores the pairs of t->edges as if they were edges; its arrays are allocated. */
struct edge_trust;
consm_status consm_score_pairs(struct edge_trust *t, struct session *s);

/* ---- weigh.c: witnesses, and the fits of their weights ---- */

/* Allocates the witnesses and computes those that depend only on the data, unless that is done. */
consm_status consm_open_witnesses(struct session *s, struct team *team);
void consm_close_witnesses(struct consm *own);

/* What the witnesses of the session's edges are computed from, and the weights of its network's
 * trust, which the store holds. */
struct witness_data consm_witness_data(const struct session *s);
consm_status consm_network_trust(struct trust *out, struct session *s);

/* The witnesses of all edges, with own->w as the matching coefficients and the temperatures of a
 * fit, until the GNN or the matching module runs again. */
consm_status consm_call_witnesses(struct witnesses *out, const struct trust *trust,
                                  struct session *s);

/* The same, but of the answers instead of the network's predictions, if the session was told some.
 */
consm_status consm_call_answers(struct witnesses *out, const struct trust *trust,
                                struct session *s);

/* Those of the network, after a fit of their temperatures and weights. */
consm_status consm_weigh_witnesses(struct trust *trust, struct witnesses *out, struct session *s);

/* Trust in every edge (|E|), which the caller frees, with the weights that the store holds. */
consm_status consm_stored_trust(float **out, struct session *s);

/* ---- guess.c: its own predictions as labels ---- */
/* They do nothing with --guesses no. */

consm_status consm_open_guesses(struct session *s);
void consm_close_guesses(struct consm_guesses *g);
node consm_guess_loss(struct session *s, struct program *p, node supervised, node predictions);
consm_status consm_guess(struct session *s, int64_t round); /* makes new guesses */
void consm_heed_guesses(struct session *s, bool heed);      /* whether the loss uses them */
void consm_guess_memory(struct session *s, memory_fn see, void *ctx);
bool consm_guesses_sound(const struct session *s);

/* ---- entropy.c: sharper predictions of unlabelled nodes ---- */
/* They do nothing with --entropy 0. */

consm_status consm_open_entropy(struct session *s);
void consm_close_entropy(struct consm_entropy *e);
node consm_entropy_loss(struct session *s, struct program *p, node loss, node logits);
void consm_weigh_entropy(struct session *s, double weight); /* sets its weight in the loss */

/* ---- messages.c: coefficients in the propagation itself (--messages) ---- */
/* All but the first do nothing if messages are not weighted. */

/* Gives the session views of its own whose values can follow the coefficients. */
consm_status consm_open_messages(struct session *s);

/* Weights every message over edge e by w_e, or 2·w_e - 1; own->w holds the matching coefficients.
 */
void consm_weigh_messages(struct session *s);

/* Messages belong to the parameters: the best ones are stored and restored with them. */
consm_status consm_remember_messages(struct session *s);
void consm_restore_messages(struct session *s);
void consm_message_memory(struct session *s, memory_fn see, void *ctx);

/* At the end of training: keeps the module of the best round, so that it can weigh the messages of
 * any graph. Without such a round messages are unweighted, and the configuration says so. */
consm_status consm_settle_messages(struct session *s);

/* Weighs the messages of the current graph with the stored matching module. */
consm_status consm_apply_messages(struct session *s);

/* Fits trust to the current session and puts it into the store, as in a model file. */
consm_status consm_store_trust(struct trust *out, struct session *s);

/* Declares what the store holds besides the GNN (rounds.c). */
consm_status consm_declare_store(struct session *s);

/* w of every edge with the current module, pruned by its own references, so that a loaded module
 * gives the same numbers. Makes the module and own->w if missing. */
consm_status consm_final_coefficients(struct session *s);

/* The store's entries: the matching module with prefix "match.", and "trust" (1, TRUST_NUMBERS). */
#define CONSM_MATCH_PREFIX "match."
#define CONSM_TRUST        "match.trust"

/* Makes a session's matching module; in an evaluation it is filled from the store. */
consm_status consm_open_matcher(struct session *s);

/* ---- arms.c: λ, which edges attract, guesses, entropy ---- */

/* The arms that a configuration leaves open; returns their number. */
int consm_arms(struct consm_arm arm[CONSM_ARMS], const struct config *c);

/* GNN updates of a round, at most. */
int64_t consm_round_updates(const struct config *c, int64_t round);

/* Whether an arm with guesses continues, given the metrics of it and of one without. */
bool consm_guesses_go_on(double with, double without);

/* Sorts arms, best first. */
void consm_order_arms(struct consm_tried *t, int count);

/* Expected updates of a round after the first, for the remaining time. */
int64_t consm_later_updates(const struct config *c);

/* Sets the propagation loss of the current arm from own->w. */
consm_status consm_pull(struct session *s);

/* Allocates the states of a choice; saves the fork; tries all arms and leaves the best in
 * place.arm; records it in configuration and result at the end of training. */
consm_status consm_reserve_arms(struct session *s);
/* Of session_memory, while an arm is chosen. */
consm_status consm_arms_memory(struct session *s, memory_fn see, void *ctx);
bool consm_arms_sound(const struct session *s);
consm_status consm_fork(struct session *s);
consm_status consm_choose_arm(struct session *s, struct progress *progress);
void consm_settle_arm(struct session *s, struct train_arm *told);

/* ---- how far it is (outlook.c) ------------------------------------- */

double consm_fraction(const struct session *s); /* procedure.fraction */

/* Seconds of the phases after the choice of a backbone. */
double consm_after_choice(const struct outlook *o, const struct config *c);

/* Records the time of an update of the warm-up or of a round, with its validation if it had one. */
void consm_note_update(struct session *s, double seconds, bool looked, bool first);

#endif
