/* Choosing ConSM's backbone, or only the features of a given one, by successive halving (Jamieson
 * and Talwalkar 2016): all candidates train for a part of the warm-up, those that validate best go
 * on, until one has had it whole. Its parameters are handed to the warm-up, which is over with
 * that. Only training and validation labels are read. */
#include "train/consm/consm.h"

#include "base/clock.h"
#include "base/log.h"

/* The plain choices (feature normalisation, weight decay, dropout, keeping a node's own embedding
 * apart) are open to the same selection as the models. Learning rates are those that reach a
 * model's best within the warm-up; the authors' are often too short for it. Long steps with much
 * dropout suit GCN, DropEdge and H2GCN where edges lie; so do GAT's, which drops as many edges as
 * its authors, but fewer embeddings. GRAND is as its authors set it for Cora but for its steps; the
 * wide GCN with layer norm follows Luo et al. (2024); a GCN that sees half of the edges at a time
 * validates better where many of them lie, and so does one held down by weight decay. */
static const struct candidate {
    enum config_backbone backbone;
    enum config_normalize_features normalize_features;
    double lr, weight_decay, dropout, input_dropout, attention_dropout;
    int64_t reach, layers, hidden, hops;
    enum config_norm norm;
} candidates[] = {
    {BACKBONE_GCN, FEATURES_NONE, 0.05, 5e-4, 0.8, 0.5, 0.5, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GCN, FEATURES_ROW, 0.01, 5e-4, 0.5, 0.5, 0.5, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_APPNP, FEATURES_ROW, 0.01, 5e-4, 0.8, 0.8, 0.5, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_H2GCN, FEATURES_ROW, 0.1, 2e-3, 0.3, 0, 0.5, 1, 1, 64, 10, NORM_NONE},
    {BACKBONE_GCNII, FEATURES_NONE, 0.005, 5e-4, 0.5, 0, 0.5, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GAT, FEATURES_NONE, 0.02, 5e-4, 0.4, 0, 0.6, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GCN, FEATURES_NONE, 0.005, 5e-4, 0.5, 0, 0.5, 2, 2, 256, 10, NORM_LAYER},
    {BACKBONE_DROPEDGE, FEATURES_NONE, 0.05, 5e-4, 0.8, 0, 0.5, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GRAND, FEATURES_ROW, 0.03, 5e-4, 0.5, 0.5, 0.5, 2, 2, 32, 8, NORM_NONE},
    {BACKBONE_GCN, FEATURES_NONE, 0.005, 5e-3, 0.8, 0, 0.5, 2, 2, 64, 10, NORM_NONE},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

/* Where the run is judged by how it ranks or by what it says of a rare class, the mean loss is
 * almost all of the others: decay and dropout, which suit even classes, then leave of the rare
 * one's small gradient nothing. Half of these do (almost) without them and take longer steps; an
 * MLP is among them, because edges may say nothing of such a class. */
static const struct candidate rare_candidates[] = {
    {BACKBONE_GCN, FEATURES_NONE, 0.03, 0, 0, 0, 0, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GAT, FEATURES_NONE, 0.02, 5e-5, 0.2, 0, 0.2, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_H2GCN, FEATURES_NONE, 0.03, 0, 0, 0, 0, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_MLP, FEATURES_NONE, 0.03, 0, 0, 0, 0, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GCN, FEATURES_NONE, 0.005, 5e-4, 0.5, 0, 0.5, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_MLP, FEATURES_NONE, 0.01, 5e-4, 0.5, 0, 0.5, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GAT, FEATURES_NONE, 0.005, 5e-4, 0.6, 0, 0.6, 2, 2, 64, 10, NORM_NONE},
    {BACKBONE_GIN, FEATURES_NONE, 0.03, 0, 0, 0, 0, 2, 2, 64, 10, NORM_NONE},
};
enum { RARE_CANDIDATES = sizeof rare_candidates / sizeof *rare_candidates };
_Static_assert((int)RARE_CANDIDATES <= (int)CANDIDATES, "there is room for the larger list");

/* Accuracy is chosen by among even classes; what else a run goes by, it goes by for a rare one. */
static bool is_rare(const struct config *c)
{
    return c->metric != METRIC_ACCURACY && c->metric != METRIC_AUTO;
}

/* GRAND propagates `samples` augmentations over `hops` hops, and a wide GCN four times the columns:
 * on a graph with more entries than this they would take longer than all others together. */
enum { COSTLY_ENTRIES = 500000 };

/* The rungs: at tenths of the warm-up so many stay. The first, at five updates, is for the clock:
 * it tells what each costs before a person is told how long all will take. The next is at 60 of 200
 * updates: slow starters (dropout of 0.8) are last at 30. What finds a rare class finds it late, at
 * a third of the way it is often still last. An ensemble takes one more on to the end: it is glad
 * of variety. */
enum { RUNGS = 5, OFFERED = 4 };
struct rung {
    int64_t tenths, stay;
};
static const struct rung even_rungs[RUNGS] = {{0, CANDIDATES}, {3, 3}, {6, 2}, {9, 1}, {10, 1}};
static const struct rung rare_rungs[RUNGS] = {{0, CANDIDATES}, {6, 3}, {8, 2}, {9, 1}, {10, 1}};

/* Before the last rung validation is looked at every so many updates only: it costs almost as much
 * as an update, and the best come late. A given backbone's warm-up does the same, so that naming
 * what was chosen repeats a run to the bit. */
enum { LOOK_EVERY = 5 };

static const struct rung *rungs_of(const struct config *c)
{
    return is_rare(c) ? rare_rungs : even_rungs;
}

/* The parameters that a candidate brings. */
static const int brought[] = {
    CONFIG_ROW_lr,
    CONFIG_ROW_weight_decay,
    CONFIG_ROW_dropout,
    CONFIG_ROW_reach,
    CONFIG_ROW_input_dropout,
    CONFIG_ROW_attention_dropout,
    CONFIG_ROW_layers,
    CONFIG_ROW_hidden,
    CONFIG_ROW_hops,
    CONFIG_ROW_norm,
    CONFIG_ROW_normalize_features,
};

bool consm_candidate_brings(int row)
{
    for (size_t i = 0; i < sizeof brought / sizeof *brought; i++)
        if (brought[i] == row)
            return true;
    return false;
}

/* given (CONFIG_ROWS) tells which parameters a person set: they hold for every candidate. NULL:
 * none. */
static void apply(struct config *c, const struct candidate *candidate, const bool *given)
{
    const struct config before = *c;
    c->backbone = candidate->backbone;
    if (c->normalize_features != FEATURES_STANDARD) /* the user's word about the columns */
        c->normalize_features = candidate->normalize_features;
    c->lr = candidate->lr;
    c->weight_decay = candidate->weight_decay;
    c->dropout = candidate->dropout;
    c->input_dropout = candidate->input_dropout;
    c->attention_dropout = candidate->attention_dropout;
    c->reach = candidate->reach;
    c->layers = candidate->layers;
    c->hidden = candidate->hidden;
    c->hops = candidate->hops;
    c->norm = candidate->norm;
    for (size_t i = 0; given && i < sizeof brought / sizeof *brought; i++)
        if (given[brought[i]] && !(brought[i] == CONFIG_ROW_normalize_features &&
                                   before.normalize_features == FEATURES_AUTO))
            config_copy(c, &before, brought[i]);
}

/* A candidate has the warm-up's number of updates, and one at least. */
static int64_t trial_epochs(const struct config *c)
{
    int64_t warmup = c->warmup > 0 ? c->warmup : 1;
    return c->epochs < warmup ? c->epochs : warmup;
}

static int64_t rung_epochs(const struct config *c, int r)
{
    const struct rung *rung = rungs_of(c);
    int64_t whole = trial_epochs(c), part = whole * rung[r ? r : 1].tenths / 10;
    part = r == 0 && part > LOOK_EVERY ? LOOK_EVERY : part;
    return part > 0 ? part : 1;
}

bool consm_looks(const struct config *c, int64_t update)
{
    return update % LOOK_EVERY == 0 || update > rung_epochs(c, RUNGS - 2) ||
           update == trial_epochs(c);
}

/* How many configurations there are to choose from; 0 when all is given. */
static int64_t choices(const struct config *c)
{
    if (c->backbone == BACKBONE_AUTO)
        return is_rare(c) ? RARE_CANDIDATES : CANDIDATES;
    return c->normalize_features == FEATURES_AUTO ? 2 : 0;
}

/* The i-th of them: a candidate, or the given backbone on features as they are, then row by row. */
static void choose(struct config *c, int64_t i, const bool *given)
{
    if (c->backbone == BACKBONE_AUTO)
        apply(c, is_rare(c) ? &rare_candidates[i] : &candidates[i], given);
    else
        c->normalize_features = i == 0 ? FEATURES_NONE : FEATURES_ROW;
}

/* ---- one candidate ------------------------------------------------------- */

/* Between two rungs a candidate is numbers only: programs and their memory are made again, so that
 * a large graph never holds more than one of them. */
struct trial {
    int64_t number; /* of the candidate */
    struct snapshot at;
    double val, loss; /* the best so far, -1: none; loss is 0 unless ties on validation go by it */
    struct outlook_candidate course;
};

/* All that are left, the best first. */
struct field {
    struct session *s;
    struct trial *trial;
    int64_t count;
};

/* The share of the run's time that is over while candidates climb. */
static double share_of(const struct field *f)
{
    const struct config *c = &f->s->options.config;
    const struct rung *rung = rungs_of(c);
    struct consm *own = f->s->own;
    struct outlook_candidate course[CANDIDATES];
    struct outlook_rung way[RUNGS];
    for (int64_t i = 0; i < f->count; i++)
        course[i] = f->trial[i].course;
    for (int r = 0; r < RUNGS; r++)
        way[r] =
            (struct outlook_rung){rung_epochs(c, r), r == RUNGS - 1 ? 1 : LOOK_EVERY, rung[r].stay};
    double left = outlook_choice(course, f->count, way, RUNGS);
    outlook_choose(&own->outlook, course, f->count);
    left += consm_after_choice(&own->outlook, c);
    double elapsed = clock_seconds() - own->outlook.begun;
    if (c->time_budget > 0 && left > c->time_budget - elapsed)
        left = c->time_budget > elapsed ? c->time_budget - elapsed : 0;
    return outlook_share(elapsed, left);
}

static consm_status open_trial(struct session **out, struct session *s, const struct trial *t)
{
    consm_status st = CONSM_OK;
    struct session *trial = NULL;
    struct train_options options = {
        .seed = s->options.seed, .config = s->options.config, .positive = s->options.positive};
    options.config.epochs = trial_epochs(&s->options.config);
    options.config.time_budget = 0; /* one clock for all */
    choose(&options.config, t->number, s->options.given);
    TRY(model_find(&options.model, config_names_backbone[options.config.backbone]));
    TRY(session_new(&trial, s->problem, &options, s->backend));
    TRY(snapshot_put(&t->at, &trial->learner));
    *out = trial;
    return CONSM_OK;
done:
    session_free(trial);
    return st;
}

/* Updates of a candidate up to that number; every look at validation is told. */
static consm_status go_on(struct field *f, struct trial *t, struct session *trial, int64_t until)
{
    consm_status st = CONSM_OK;
    struct session *s = f->s;
    struct progress heard = {.seed = s->options.seed};
    bool late = session_late(s) && trial->learner.steps > 0, first = true;
    while (trial->learner.steps < until && !late) {
        double since = clock_seconds();
        TRY(session_step(trial, &heard.loss));
        double stepped = clock_seconds();
        pace_update(&t->course.pace, stepped - since, first);
        first = false;
        late = session_late(s);
        if (late || consm_looks(&s->options.config, trial->learner.steps)) {
            TRY(session_validate(&heard.val_acc, trial));
            pace_look(&t->course.pace, clock_seconds() - stepped);
        }
        t->course.done = trial->learner.steps;
        heard.best_val = trial->learner.best;
        heard.share = s->options.progress ? share_of(f) : 0;
        if (s->options.progress && s->options.progress(s->options.progress_ctx, &heard))
            TRY(status_fail(CONSM_ECANCEL, "stopped while the backbone was being chosen"));
    }
done:
    return st;
}

static consm_status climb(struct field *f, struct trial *t, int r)
{
    consm_status st = CONSM_OK;
    struct session *s = f->s, *trial = NULL;
    TRY(open_trial(&trial, s, t));
    TRY(go_on(f, t, trial, rung_epochs(&s->options.config, r)));
    t->val = trial->learner.best;
    t->loss = trial->learner.best_loss;
    TRY(snapshot_take(&t->at, &trial->learner));
    if (r == RUNGS - 1) { /* the winner stays as it is */
        ((struct consm *)s->own)->winner = trial;
        trial = NULL;
    }
done:
    session_free(trial);
    return st;
}

/* ---- all of them --------------------------------------------------------- */

static bool better(const struct trial *a, const struct trial *b)
{
    if (a->val != b->val)
        return a->val > b->val;
    return a->loss != b->loss ? a->loss < b->loss : a->number < b->number;
}

/* Insertion sort: the best first. */
static void order(struct trial *trial, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        for (int64_t k = i; k > 0 && better(&trial[k], &trial[k - 1]); k--) {
            struct trial swap = trial[k];
            trial[k] = trial[k - 1];
            trial[k - 1] = swap;
        }
}

/* All candidates up to a rung, the best first; what the clock leaves out has no validation and
 * comes last. */
static consm_status climb_all(struct field *f, int r)
{
    consm_status st = CONSM_OK;
    for (int64_t i = 0; i < f->count && (i == 0 || !session_late(f->s)); i++)
        TRY(climb(f, &f->trial[i], r));
    order(f->trial, f->count);
done:
    return st;
}

/* The best after the first rung are trained whole, each offered to whoever collects them; the best
 * is trained on. */
static consm_status offer_best(struct field *f)
{
    consm_status st = CONSM_OK;
    struct session *s = f->s, *whole = NULL;
    struct trial *trial = f->trial;
    TRY(climb_all(f, 0));
    TRY(climb_all(f, 1));
    f->count = f->count < OFFERED ? f->count : OFFERED;
    for (int64_t i = 0; i < f->count; i++) {
        TRY(open_trial(&whole, s, &trial[i]));
        TRY(go_on(f, &trial[i], whole, trial_epochs(&s->options.config)));
        trial[i].val = whole->learner.best;
        trial[i].loss = whole->learner.best_loss;
        TRY(snapshot_take(&trial[i].at, &whole->learner));
        TRY(learner_restore(&whole->learner));
        TRY(s->options.offer(s->options.offer_ctx, whole));
        session_free(whole);
        whole = NULL;
    }
    order(trial, f->count);
    TRY(climb(f, &trial[0], RUNGS - 1));
done:
    session_free(whole);
    return st;
}

static consm_status halve(struct field *f)
{
    consm_status st = CONSM_OK;
    const struct rung *rung = rungs_of(&f->s->options.config);
    for (int r = 0; r < RUNGS - 1; r++) {
        TRY(climb_all(f, r));
        f->count = f->count < rung[r].stay ? f->count : rung[r].stay;
    }
    TRY(climb(f, &f->trial[0], RUNGS - 1));
done:
    return st;
}

/* GAT divides a layer's width among its heads; a width that was given may not allow it. */
static bool possible(const struct session *s, int64_t i)
{
    struct config c = s->options.config;
    choose(&c, i, s->options.given);
    return s->options.config.backbone != BACKBONE_AUTO || c.backbone != BACKBONE_GAT ||
           c.layers < 2 || c.hidden % c.heads == 0;
}

static bool affordable(const struct session *s, int64_t i)
{
    bool costly = s->options.config.backbone == BACKBONE_AUTO && !is_rare(&s->options.config) &&
                  (candidates[i].backbone == BACKBONE_GRAND || candidates[i].hidden > 64);
    return !costly || s->problem->graph->nnz <= COSTLY_ENTRIES;
}

consm_status consm_choose_backbone(struct session *s)
{
    consm_status st = CONSM_OK;
    struct trial trial[CANDIDATES] = {0};
    int64_t count = 0, all = choices(&s->options.config), impossible = 0;
    for (int64_t i = 0; i < all; i++) {
        impossible += !possible(s, i);
        if (affordable(s, i) && possible(s, i))
            trial[count++] = (struct trial){.number = i, .val = -1};
    }
    if (impossible)
        log_warn("--backbone auto leaves GAT out: --hidden %lld is not a multiple of --heads %lld",
                 (long long)s->options.config.hidden, (long long)s->options.config.heads);
    if (count == 0)
        return CONSM_OK;
    struct field field = {s, trial, count};
    TRY(s->options.offer ? offer_best(&field) : halve(&field));
    choose(&s->options.config, trial[0].number, s->options.given);
done:
    for (int64_t i = 0; i < CANDIDATES; i++)
        snapshot_free(&trial[i].at);
    return st;
}

consm_status consm_take_over(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    if (!own->winner)
        return CONSM_OK;
    TRY(learner_adopt(&s->learner, &own->winner->learner));
    session_free(own->winner);
    own->winner = NULL;
done:
    return st;
}
