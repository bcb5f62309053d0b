/* ConSM's training: what its parts hand to each other, and the pieces that tests compare. */
#ifndef TRAIN_CONSM_H
#define TRAIN_CONSM_H

#include "match/matcher.h"
#include "match/trust.h"
#include "nn/snapshot.h"
#include "train/guess.h"
#include "train/outlook.h"
#include "train/session.h"

/* Where Algorithm 2 is, so that an interrupted run can go on. */
struct consm_place {
    int64_t begun;
    int64_t round;      /* 0: the warm-up */
    int64_t left;       /* GNN updates still to do in it */
    int64_t idle;       /* rounds without a better validation */
    int64_t before;     /* the best epoch when the round began */
    int64_t best_round; /* that validation chose; 0: the warm-up */
    int64_t updates;    /* of the GNN so far, those of arms that were given up included */
    int64_t arm;        /* how the coefficients pull */
    int64_t choosing;   /* whether arms are being tried, from this point: */
    int64_t fork_steps, fork_updates;
    int64_t look, next, running;      /* of enum consm_look; whose turn it is; it has begun */
    int64_t over;                     /* no more rounds in this course */
    double fork_best, fork_best_loss; /* what the best epoch of `before` had there */
    int64_t prune_by;                 /* of enum config_prune_by, as the examination chose it */
    struct match_quality quality;     /* that the examination found */
};

/* How far the choice of an arm is. */
enum consm_look { LOOK_BEGINS, LOOK_STRENGTHS, LOOK_WIDE, LOOK_SECOND, LOOK_LAST, LOOKS };

/* One way of pulling by coefficients. */
struct consm_arm {
    double lambda;
    bool all;       /* all edges attract, not the share ζ */
    bool guesses;   /* its surest predictions are learned as labels */
    double entropy; /* weight of the unlabelled predictions' entropy */
};
enum { CONSM_ARMS = 21 };

/* An arm that is being tried. */
struct consm_tried {
    int64_t number;
    int64_t way;    /* of consm.way: how far it came */
    int64_t steps;  /* the learner's steps there */
    int64_t found;  /* the update with which it found the best parameters so far; 0: none */
    int64_t joined; /* with guesses, after the first look */
    double val;     /* the best validation accuracy on its way; -1: it was never run */
};

/* What the entropy of the unlabelled predictions needs; NULL where no arm has it. */
struct consm_entropy {
    float *unlabelled; /* (n) 1 for nodes that do not train, else 0 … */
    int64_t count;     /* … and how many of them there are */
    float factor;      /* of Σ p·log p in the loss */
};

/* What the session takes for labels beside those it was given; all NULL where it never does. */
struct consm_guesses {
    struct index *everyone;
    int32_t *label, *row; /* (n) the class of each guess; scratch */
    float *sure, *weight; /* (n) 1 where this round has a guess; the same while an arm heeds them */
    float given_part, guessed_part; /* shares in the supervised loss, one together */
    uint8_t *given;                 /* (n) whose label is known */
    double *share;                  /* (classes) of each among the given */
    struct guess_room room;
};

/* Pairs of nodes that are no edges. */
struct consm_pairs {
    int64_t count;
    int32_t *left, *right; /* (count) */
};

/* A graph of messages: some of the problem's edges, and pairs that are none. */
struct consm_kept {
    struct csr *graph;
    struct views *views;
    struct problem problem; /* the session's with these views … */
    struct problem
        lesson; /* … and with the votes that its student learned from, if there are any */
};

/* A run that another course may fall back to. */
struct consm_aside {
    struct session *gnn; /* with its parameters */
    struct config config;
    struct consm_place place;
    struct train_lengths lengths;
    float *match; /* the matching module's parameters */
    bool on;      /* as in struct consm_clean, and the next two */
    double share, added_share;
    struct trust trust;
};

/* Messages over other edges than the graph's (kept.c, clean_arm.c, missing_arm.c). */
struct consm_clean {
    bool on;
    double share;                /* of the edges that carry no messages; NaN: config.drop_below */
    double added_share;          /* pairs that do, by the number of edges; NaN: config.add_above */
    uint8_t *dropped, *best;     /* (|E|) which they are now, and were when validation was best */
    struct consm_pairs added;    /* in this course */
    const struct problem *whole; /* as the session got it */
    struct consm_kept *course;   /* what is trained on … */
    struct consm_kept *settled;  /* … and answered from */
    struct trust trust;          /* by which answers tell edges apart … */
    double left_out, put_in; /* … and the shares of the edges that they leave out and put in */
    struct consm_aside aside;
    int64_t legs;                   /* trials that were begun, for their names in the trail */
    int64_t unsaved;                /* updates of trials since the last checkpoint */
    int64_t course_number, courses; /* of the present course, 0: over all edges; begun so far */
};

/* A GNN on trial over other edges. */
struct consm_attempt {
    struct session *session; /* NULL: it diverged, or there is none */
    struct consm_kept *kept;
    uint8_t *dropped; /* (|E|) */
    double share, added_share;
    struct consm_pairs added;
};

/* How good answers are: by the run's metric, between equals by the validation nodes' loss. */
struct consm_mark {
    double score, loss;
};

typedef consm_status (*consm_rounds_fn)(struct session *s, struct progress *progress);

/* Labels and roles in which votes count as labels (student.c). */
struct voted {
    int32_t *label;
    uint8_t *role;
};

/* What a ConSM session keeps beside the common things. */
struct consm {
    struct consm_place place;
    struct edges *edges;
    int32_t *train;         /* the labelled nodes */
    struct session *winner; /* the chosen backbone as it was tried, until the GNN takes it over */
    struct train_student student;
    struct voted voted; /* what it learned from, for those that begin anew */
    int candidates;     /* that took part in the choice, the chosen one first */
    struct train_candidate candidate[TRAIN_MOST_CANDIDATES];
    struct snapshot fork, way[CONSM_ARMS]; /* where arms part, and how far each came */
    struct consm_tried tried[CONSM_ARMS];  /* while one is chosen, in the order of the choice */
    struct matcher *matcher;
    double zeta;
    struct outlook outlook;

    struct index *left, *right; /* (|E|) the ends of every edge */
    float *w;          /* (|E|) what the last round trusted each edge; matching alone at the end */
    float *slope;      /* (|E|) λ-weighted factors of the cosines in L_SUP */
    struct csr *pulls; /* of a graph in parts: the matrix that these are the values of */
    float constant;    /* the part of λ·L_SUP that does not depend on the logits */
    int32_t *order;    /* (|E|) scratch of selections */
    struct consm_guesses guesses;
    struct consm_entropy entropy;
    struct consm_clean clean;

    float *witness;              /* (|E|, WITNESSES) what speaks for each edge; NULL until asked */
    int32_t *taught;             /* (n) the class that training was told, or -1; likewise */
    struct trust_sample *sample; /* the edges that may be learned from */
    float *judged_logits;        /* (validation nodes here, c) scratch of calibration, … */
    int32_t *judged_label;       /* … their labels … */
    uint8_t *judged_role;        /* … and a role of 0 for each */

    /* Of a graph in parts: */
    struct row_halo *neighbours; /* of the partition's nodes */
    float *near_logits;          /* (n, c) of these, too */
    float *stored;               /* (n, f) the partition's features where the session has others */
    float *pruned_by, *heard_by; /* what the round's coefficients came from: the module before it
                                    learned, and the GNN */

    const struct problem *plain_problem; /* as the session got it */
    struct problem own_problem;          /* with views whose values follow the coefficients */
    struct views *own_views;
    float *plain_value; /* (nnz) of the GCN view, before coefficients … */
    float *best_value;  /* … and when validation was best … */
    float *best_match;  /* … by the matching module with these parameters */
};

/* λ·L_SUP = constant + Σ_e slope_e·cos_e (Eq. our_lp, with d = 1 - cos):
 *   w_e > k:  α·w_e·(1 - cos_e)        w_e ≤ k:  α·(1 - w_e)·cos_e
 * confident edges are the ⌊ζ|E|⌋ largest w, of equal ones the earlier; α is alpha_lu, alpha_uu, or
 * 0 between labelled nodes. order (|E|) is scratch; of a graph in parts NULL.
 */
consm_status consm_propagation(float *slope, float *constant, const float *w,
                               const struct edges *edges, const uint8_t *role, double lambda,
                               double zeta, const struct config *c, int32_t *order);

/* The supervised loss, with guesses among the labels where there are some, and λ·L_SUP. */
node consm_whole_loss(struct session *s, struct program *p, node supervised, node predictions);

/* ζ from training and validation labels: the share of known edges that join one class, smoothed by
 * one edge of each kind. It is taken apart for edges with no, one and two training nodes, each
 * weighed as it is among all edges: known edges are mostly those of training nodes, and attacks aim
 * at these. */
double consm_estimate_zeta(const struct edges *edges, const struct problem *problem);

/* Whether training or validation may know this node's label. */
bool consm_known(const struct problem *problem, int32_t i);

/* How subgraphs are pruned: as configured, or as the examination chose. */
enum config_prune_by consm_prune_by(const struct session *s);

/* The share of edges over which a round's subgraphs are matched: ζ, all, or none. */
double consm_kept_share(const struct session *s, enum config_prune_by by, int64_t round);

/* What a matching module of the session works on. */
struct match_data consm_match_data(const struct session *s);
const float *consm_dense(const struct session *s); /* (n, f) features that it reads, or NULL */

/* ---- in_parts.c: graphs of which every rank has a partition ---- */

/* Refuses what cannot be, before anything is made; knows the neighbours. */
consm_status consm_open_parts(struct session *s);
void consm_close_parts(struct session *s);

/* A checkpoint of a graph in parts keeps nothing of edges, but what they can be scored from again:
 * the parameters of module and GNN when the round began. */
consm_status consm_note_module(struct session *s);
consm_status consm_note_gnn(struct session *s);
consm_status consm_match_again(struct session *s);
consm_status consm_parts_memory(struct session *s, memory_fn see, void *ctx);

/* Features as they are stored, where the session's programs read others. */
consm_status consm_store_features(struct session *s);

/* Logits (n, classes) of the partition's nodes and of their neighbours. */
consm_status consm_near_logits(const float **out, struct session *s);

/* witness_data_only() with the neighbours' features and rows. */
consm_status consm_near_witnesses(float *x, const struct witness_data *data, struct session *s);

/* Fills place.quality and place.prune_by (exam.c). */
consm_status consm_examine_matching(struct session *s);

/* ---- taught.c: whose labels training was told ---- */

/* Fills own->taught: from the roles, or in an evaluation from what the saved model remembers. */
consm_status consm_open_taught(struct session *s);

/* Makes room for the witnesses, with what the data says already in place. */
consm_status consm_open_witnesses(struct session *s);

/* Scores the pairs of t->edges as if they were edges; its arrays have room. */
struct edge_trust;
consm_status consm_score_pairs(struct edge_trust *t, struct session *s);

/* Calls all witnesses, with own->w as the matching coefficients and the temperatures of a fit. */
consm_status consm_call_witnesses(const struct trust *trust, struct session *s);

/* Calls all witnesses, with own->w as the matching coefficients, and weighs them by validation. */
consm_status consm_weigh_witnesses(struct trust *trust, struct session *s);

/* ---- guess.c: its own predictions as labels ---- */
/* They do nothing where --guesses is no. */

consm_status consm_open_guesses(struct session *s);
void consm_close_guesses(struct consm_guesses *g);
node consm_guess_loss(struct session *s, struct program *p, node supervised, node predictions);
consm_status consm_guess(struct session *s, int64_t round); /* guesses anew */
void consm_heed_guesses(struct session *s, bool heed);      /* whether the loss reads them */
void consm_guess_memory(struct session *s, memory_fn see, void *ctx);
bool consm_guesses_sound(const struct session *s);

/* ---- entropy.c: sharper predictions of unlabelled nodes ---- */
/* They do nothing where --entropy is 0. */

consm_status consm_open_entropy(struct session *s);
void consm_close_entropy(struct consm_entropy *e);
node consm_entropy_loss(struct session *s, struct program *p, node loss, node logits);
void consm_weigh_entropy(struct session *s, double weight); /* what the loss gives it */

/* ---- messages.c: coefficients in the propagation itself (--messages) ---- */
/* All but the first do nothing when there are none. */

/* Gives the session views of its own whose values can follow the coefficients. */
consm_status consm_open_messages(struct session *s);

/* Every message over edge e counts w_e, or 2·w_e - 1; own->w holds the matching coefficients. */
void consm_weigh_messages(struct session *s);

/* The messages belong to the parameters: what was best is remembered and restored with them. */
consm_status consm_remember_messages(struct session *s);
void consm_restore_messages(struct session *s);
void consm_message_memory(struct session *s, memory_fn see, void *ctx);

/* When training ends: the module of the best round stays, so that it can weigh the messages of any
 * graph; without such a round messages go plain, and the configuration says so. */
consm_status consm_settle_messages(struct session *s);

/* The matching module of the session's store weighs the messages of the graph at hand. */
consm_status consm_apply_messages(struct session *s);

/* ---- kept.c: messages over other edges ---- */

/* dropped (|E|) or NULL: none. */
consm_status consm_kept_new(struct consm_kept **out, const struct problem *whole,
                            const struct edges *edges, const uint8_t *dropped,
                            const struct consm_pairs *added);
void consm_kept_free(struct consm_kept *k);
void consm_pairs_free(struct consm_pairs *pairs);
void consm_close_clean(struct session *s);

/* Marks the edges of least trust that the session's share, or threshold, leaves out. */
void consm_mark_dropped(uint8_t *dropped, const float *trust, struct session *s);

/* The session trains on without these edges, its numbers as they are. */
consm_status consm_train_without(struct session *s, const uint8_t *dropped);

/* In a course over other edges: the round's trust decides anew; what was best is remembered and
 * restored with the parameters. They do nothing in another course. */
consm_status consm_clean_again(struct session *s);
void consm_remember_kept(struct session *s);
consm_status consm_restore_kept(struct session *s);

/* The answers of a model whose edges of less trust than config.drop_below carry no messages, and
 * pairs of config.add_above or more do: from all edges on, trust and messages decide each other
 * three times, then pairs join. Also for a graph that is new to it. Shares that are not NaN set
 * the thresholds. The store holds the trust. */
consm_status consm_answer(struct session *s, const struct trust *trust, double share,
                          double added_share);

/* When a saved model's parameters came in: messages as they were trained. */
consm_status consm_loaded(struct session *s);

/* ---- clean_trial.c: a GNN over other edges, tried and taken ---- */

void consm_attempt_free(struct consm_attempt *t);

/* A GNN alone over what t says, with parameters as drawn. */
consm_status consm_attempt_open(struct consm_attempt *t, struct session *s, const struct config *c);

/* Updates up to that number. One that diverges is given up. */
consm_status consm_attempt_train(struct consm_attempt *t, struct session *s, int64_t until,
                                 int64_t number);

/* The better one stays in *a; b is freed. */
void consm_keep_better(struct consm_attempt *a, struct consm_attempt *b);

/* ---- clean_trail.c: what of that is finished, for checkpoints ---- */

/* A trial goes on where a checkpoint says it was; after every update, a checkpoint where one is due
 * or the run is to stop; it is over, NULL: it diverged. */
consm_status consm_take_leg(struct consm_attempt *t, struct session *s);
consm_status consm_save_leg(struct session *s, struct session *trial, bool stop);
consm_status consm_end_leg(struct session *s, struct session *trial);

/* The same of a course; consm_note_course brings it up to date in the trail. */
consm_status consm_begin_course(struct session *s);
consm_status consm_note_course(struct session *s);
consm_status consm_end_course(struct session *s);

/* Updates of a warm-up. */
int64_t consm_warm_up(const struct config *c);

/* How well the warm-up of the present course validated, and its answers do. */
double consm_warm_best(const struct session *s);
consm_status consm_mark_answers(struct consm_mark *out, struct session *s);

/* The session goes over to an attempt and through the rounds. What comes out stays if it validates
 * better than before, or must; else the session is what it was, to the bit. */
consm_status consm_take_course(struct session *s, struct consm_attempt *to,
                               const struct consm_mark *before, bool must,
                               struct progress *progress, consm_rounds_fn rounds);

/* ---- clean_arm.c, missing_arm.c: whether that helps ---- */

/* After the rounds over all edges: tries the GNN without the edges of least trust, and where
 * validation is better so, goes through the rounds once more on what is left. */
consm_status consm_clean_course(struct session *s, struct progress *progress,
                                consm_rounds_fn rounds);

/* The same with the pairs of largest trust that are no edges. */
consm_status consm_missing_course(struct session *s, struct progress *progress,
                                  consm_rounds_fn rounds);

/* Fits trust to the session as it is, as a model file keeps it, into the store. */
consm_status consm_store_trust(struct trust *out, struct session *s);

/* Declares what the store keeps beside the GNN (rounds.c). */
consm_status consm_declare_store(struct session *s);

/* w of every edge with the module as it is: pruned by its own references, so that a loaded module
 * gives the same numbers. Makes the module and own->w when they are missing. */
consm_status consm_final_coefficients(struct session *s);

/* The store's entries: the matching module behind "match.", and "trust" (1, TRUST_NUMBERS). */
#define CONSM_MATCH_PREFIX "match."
#define CONSM_TRUST        "match.trust"

/* Makes the matching module of a session; in an evaluation it is filled from the session's store.
 */
consm_status consm_open_matcher(struct session *s);

/* Fills the session's configuration with the backbone, or the features of a given one, that
 * validate best; does nothing where neither is auto. */
consm_status consm_choose_backbone(struct session *s);

/* Takes the choice that a checkpoint held (procedure.take_choice); false: it is impossible. */
bool consm_take_choice(struct session *s);

/* ---- student.c: learning from all candidates ---- */

struct committee {
    double *chance; /* (n, c) the members' probabilities, added */
    int64_t members;
};

void committee_free(struct committee *c);

/* A member's predictions with the parameters it has. */
consm_status committee_hear(struct committee *c, struct session *member);

/* Its vote on every node that has no given label, (n) and the caller's to free, -1: it is not sure
 * enough; how many votes there are. */
consm_status committee_vote(int32_t **out, int64_t *count, const struct committee *c,
                            const struct problem *p);

/* The problem with votes as labels that train. It lives as long as the room, which is filled when
 * it is empty. */
consm_status voted_problem(struct problem *out, struct voted *room, const int32_t *vote,
                           const struct problem *p);
void voted_free(struct voted *v);

/* Whether a session's choice of a backbone ends with a student. */
bool consm_has_student(const struct session *s);

/* A refit of a run whose student was taken: its warm-up on the votes and all labels, whose network
 * becomes the winner. In checkpoints it is a choice with one candidate. */
consm_status consm_repeat_student(struct session *s);

/* What a candidate's session is made from. */
consm_status consm_trial_options(struct train_options *out, const struct session *s,
                                 const struct trial *t);

/* After every update of a candidate: makes a checkpoint when one is due, and stops when the
 * progress function asked for it. */
consm_status consm_save_choice(struct session *s, struct trial *t, struct session *trial,
                               bool stop);

/* ---- finalists.c: the last of them compared by folds ---- */

/* Whether they are; the comparison, which leaves the best one in front. */
bool consm_folds(const struct session *s);
consm_status consm_compare_finalists(struct session *s);

/* ---- portfolio.c: the candidates ---- */

enum {
    CONSM_CANDIDATES = 0
#define CANDIDATE(model, settings) +1
#include "train/consm/portfolio.def"
#undef CANDIDATE
};

/* Whether a candidate backbone brings its own value of a parameter (CONFIG_ROW_…) that nobody gave.
 */
bool consm_candidate_brings(int row);

/* Makes a configuration that of a candidate. given (CONFIG_ROWS) tells which parameters a person
 * set: they hold for every candidate. NULL: none. */
consm_status consm_apply_candidate(struct config *c, int64_t number, const bool *given);

/* What a candidate is, for people. */
const char *consm_candidate_settings(int64_t number);

/* Whether the graph, its features and what a person set allow a candidate. */
bool consm_candidate_fits(const struct session *s, int64_t number);

/* Training labels, on average over the classes. */
double consm_labels_a_class(const struct problem *p);

/* On graphs with more entries a choice takes half as many candidates on. */
#define CONSM_MILLION_ENTRIES 1000000

/* Whether validation is looked at after that update of the warm-up, and whether the warm-up is over
 * because nothing better was found for long. */
bool consm_looks(const struct config *c, int64_t update);
bool consm_idle(const struct config *c, const struct learner *l);

/* Gives the warm-up its length: as configured, times what the number of labels asks for. */
void consm_settle_length(struct session *s);

/* Goes on where the chosen candidate is. */
consm_status consm_take_over(struct session *s);

/* ---- arms.c: λ, which edges attract, guesses, entropy ---- */

/* The arms that a configuration leaves open; how many there are. */
int consm_arms(struct consm_arm arm[CONSM_ARMS], const struct config *c);

/* GNN updates of a round, at most. */
int64_t consm_round_updates(const struct config *c, int64_t round);

/* Whether an arm with guesses goes on that validated so beside one without, by the run's metric. */
bool consm_guesses_go_on(double with, double without);

/* Updates to expect of a round after the first, for the time left. */
int64_t consm_later_updates(const struct config *c);

/* Sets the propagation loss of the present arm from own->w. */
consm_status consm_pull(struct session *s);

/* Makes room for what a choice puts aside; remembers the point where arms part; tries them all and
 * leaves the best in place.arm; writes it into configuration and result, when training ends. */
consm_status consm_reserve_arms(struct session *s);
/* Of session_memory, while an arm is chosen. */
consm_status consm_arms_memory(struct session *s, memory_fn see, void *ctx);
bool consm_arms_sound(const struct session *s);
consm_status consm_fork(struct session *s);
consm_status consm_choose_arm(struct session *s, struct progress *progress);
void consm_settle_arm(struct session *s, struct train_arm *told);

/* ---- how far it is (outlook.c) ------------------------------------- */

double consm_share(const struct session *s); /* procedure.share */

/* Seconds of what follows the choice of a backbone. */
double consm_after_choice(const struct outlook *o, const struct config *c);

/* An update of the warm-up or of a round took so long, with its look if it had one. */
void consm_note_update(struct session *s, double seconds, bool looked, bool first);

#endif
