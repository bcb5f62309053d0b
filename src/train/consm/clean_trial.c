/* Trials of a GNN over other edges than the graph's, and switching to one and back; shared by
 * clean_arm.c and missing_arm.c. Not in the paper. */
#include "train/consm/clean.h"
#include "train/consm/race.h"

#include "base/log.h"
#include "train/metrics.h"
#include <math.h>
#include <string.h>

/* Progress numbers of trials start here, after those of candidates. */
enum { TRIAL_NUMBERS = 1000 };

void consm_rest(struct session *s)
{
    if (!s->backend->kind->room)
        session_drop_programs(s);
}

void consm_attempt_free(struct consm_attempt *t)
{
    session_free(t->session);
    consm_kept_free(t->kept);
    mem_free(t->dropped);
    consm_pairs_free(&t->added);
    *t = (struct consm_attempt){0};
}

static bool better(const struct consm_attempt *a, const struct consm_attempt *b)
{
    if (!a->session || !b->session)
        return a->session != NULL;
    const struct learner *x = &a->session->learner, *y = &b->session->learner;
    return x->best != y->best ? x->best > y->best : x->best_loss < y->best_loss;
}

/* Keeps the better one in *a. */
void consm_keep_better(struct consm_attempt *a, struct consm_attempt *b)
{
    if (better(b, a)) {
        struct consm_attempt swap = *a;
        *a = *b;
        *b = swap;
    }
    consm_attempt_free(b);
}

/* ---- trials -------------------------------------------------------------- */

/* A GNN alone, with drawn parameters. */
static consm_status open_gnn(struct session **out, struct session *s, const struct config *c,
                             const struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct train_options options = {
        .seed = s->options.seed, .config = *c, .positive = s->options.positive};
    options.config.epochs = race_length(c) + c->gnn_steps;
    options.config.time_budget = 0; /* one clock for all */
    TRY(model_find(&options.model, config_names_backbone[c->backbone]));
    TRY(session_new(out, problem, &options, s->backend));
done:
    return st;
}

consm_status consm_attempt_open(struct consm_attempt *t, struct session *s, const struct config *c)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const int32_t *vote = session_votes(s);
    TRY(consm_kept_new(&t->kept, own->clean.whole, own->edges, t->dropped, &t->added,
                       s->backend->host));
    t->kept->lesson = t->kept->problem;
    if (vote)
        TRY(voted_problem(&t->kept->lesson, &own->voted, vote, &t->kept->problem));
    TRY(open_gnn(&t->session, s, c, &t->kept->lesson));
done:
    return st;
}

/* Trains up to update `until`, and then keeps only the parameters: the next trial needs the memory.
 * Drops a trial that diverges. */
consm_status consm_attempt_train(struct consm_attempt *t, struct session *s, int64_t until,
                                 int64_t number)
{
    consm_status st = CONSM_OK;
    TRY(consm_take_leg(t, s));
    const struct train_options *o = &s->options;
    struct progress heard = {.seed = o->seed, .candidate = TRIAL_NUMBERS + number};
    while (t->session && t->session->learner.steps < until && !session_late(s) &&
           !consm_idle(&o->config, &t->session->learner)) {
        struct session *trial = t->session;
        int64_t updates;
        TRY(session_need_programs(trial));
        st = consm_step_on(&updates, &heard.loss, trial, until, s);
        if (st == CONSM_ENUMERIC) {
            session_free(trial);
            t->session = NULL;
            break;
        }
        TRY(st);
        if (session_late(s) || consm_looks(&o->config, trial->learner.steps) ||
            trial->learner.steps == until)
            TRY(session_validate(&heard.val_acc, trial));
        heard.update = trial->learner.steps;
        heard.best_val = trial->learner.best;
        heard.backbone = trial->options.model->name;
        heard.fraction = o->progress ? consm_fraction(s) : 0;
        TRY(consm_save_leg(s, trial, updates, o->progress && o->progress(o->progress_ctx, &heard)));
    }
    TRY(consm_end_leg(s, t->session));
    if (t->session)
        consm_rest(t->session);
done:
    return st;
}

/* ---- going over to one, and back ----------------------------------------- */

/* Replaces the session's GNN by that of another session, over the edges of a problem. */
static consm_status become(struct session *s, struct session *gnn, const struct problem *problem)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    int features = (int)s->options.config.normalize_features;
    for (int row = 0; row < CONFIG_ROWS; row++)
        if (row == CONFIG_ROW_backbone || consm_candidate_brings(row))
            config_copy(&s->options.config, &gnn->options.config, row);
    s->problem = problem;
    TRY(session_rebuild(s, features != (int)s->options.config.normalize_features,
                        consm_declare_store));
    TRY(learner_adopt(&s->learner, &gnn->learner));
    snapshot_free(&own->fork);
    for (int i = 0; i < CONSM_ARMS; i++)
        snapshot_free(&own->way[i]);
    TRY(consm_reserve_arms(s));
done:
    return st;
}

static size_t module_bytes(const struct consm *own)
{
    return (size_t)matcher_params(own->matcher)->size * sizeof(float);
}

/* Saves the current run, whose programs are recorded anew afterwards: a large graph leaves no room
 * for those of several networks. */
static consm_status put_aside(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    const struct consm_clean *clean = &own->clean;
    struct consm_aside *aside = &own->clean.aside;
    const float *module;
    session_free(aside->gnn);
    aside->gnn = NULL;
    consm_rest(s);
    TRY(open_gnn(&aside->gnn, s, &s->options.config, clean->whole));
    TRY(learner_adopt(&aside->gnn->learner, &s->learner));
    consm_rest(aside->gnn);
    TRY(params_read(&module, matcher_params(own->matcher), PLACE_VALUE));
    if (!aside->match)
        TRY(NEW(aside->match, matcher_params(own->matcher)->size));
    memcpy(aside->match, module, module_bytes(own));
    aside->config = s->options.config;
    aside->place = own->place;
    aside->lengths = s->lengths;
    aside->on = clean->on;
    aside->share = clean->share;
    aside->added_share = clean->added_share;
    aside->trust = clean->trust;
done:
    return st;
}

static consm_status store_trust(struct session *s, const struct trust *trust)
{
    consm_status st = CONSM_OK;
    struct params *params = s->learner.params;
    float *value;
    TRY(params_write(&value, params, PLACE_VALUE));
    trust_write(value + params->item[params_find(params, CONSM_TRUST)].offset, trust);
done:
    return st;
}

static consm_status go_back(struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_clean *clean = &own->clean;
    const struct consm_aside *aside = &clean->aside;
    float *module;
    int64_t updates = own->place.updates;
    session_drop_programs(s); /* they read the graphs that are freed next, and are made anew */
    s->problem = clean->whole;
    consm_kept_free(clean->course);
    consm_kept_free(clean->settled);
    clean->course = clean->settled = NULL;
    TRY(become(s, aside->gnn, clean->whole));
    s->options.config = aside->config;
    s->lengths = aside->lengths;
    own->place = aside->place;
    own->place.updates = updates;
    clean->on = aside->on;
    clean->share = aside->share;
    clean->added_share = aside->added_share;
    clean->trust = aside->trust;
    clean->left_out = clean->put_in = 0;
    TRY(params_write(&module, matcher_params(own->matcher), PLACE_VALUE));
    memcpy(module, aside->match, module_bytes(own));
    if (clean->on) {
        TRY(learner_restore(&s->learner));
        TRY(store_trust(s, &clean->trust));
        TRY(consm_answer(s, &clean->trust, NAN, NAN));
    }
done:
    return st;
}

static consm_status go_over(struct session *s, struct consm_attempt *to)
{
    consm_status st = CONSM_OK;
    struct consm *own = s->own;
    struct consm_clean *clean = &own->clean;
    struct consm_place *at = &own->place;
    TRY(put_aside(s));
    if (!clean->best) {
        TRY(NEW(clean->best, own->edges->count + 1));
        TRY(NEW(clean->dropped, own->edges->count + 1));
    }
    memcpy(clean->dropped, to->dropped, (size_t)own->edges->count);
    memcpy(clean->best, to->dropped, (size_t)own->edges->count);
    st = become(s, to->session, &to->kept->problem);
    if (st < 0)
        s->problem = clean->whole; /* the caller frees `to` */
    TRY(st);
    consm_kept_free(clean->course);
    consm_pairs_free(&clean->added);
    clean->course = to->kept;
    clean->added = to->added;
    clean->share = to->share;
    clean->added_share = to->added_share;
    to->kept = NULL;
    to->added = (struct consm_pairs){0};
    clean->on = true;
    at->look = at->next = at->running = at->over = 0;
    at->round = at->left = at->idle = at->best_round = at->arm = at->choosing = 0;
    at->before = s->learner.best_step;
    s->lengths = (struct train_lengths){0}; /* of this course */
done:
    return st;
}

/* ---- what comes out ------------------------------------------------------ */

consm_status consm_mark_answers(struct consm_mark *out, struct session *s)
{
    consm_status st = CONSM_OK;
    const struct problem *p = s->problem;
    const float *logits;
    TRY(session_logits(&logits, s));
    out->score = judge_score(&s->judge, logits, false);
    out->loss = metrics_nll(
        &(struct predicted){logits, p->label, p->role, SPLIT_VAL, p->nodes, p->classes, NULL}, 1);
done:
    return st;
}

static bool validates_better(const struct consm_mark *a, const struct consm_mark *b)
{
    return a->score != b->score ? a->score > b->score : a->loss < b->loss;
}

consm_status consm_store_trust(struct trust *out, struct session *s)
{
    consm_status st = CONSM_OK;
    float kept[TRUST_NUMBERS];
    struct trust trust;
    struct witnesses heard;
    TRY(consm_final_coefficients(s));
    TRY(consm_weigh_witnesses(&trust, &heard, s));
    trust_write(kept, &trust);
    trust_read(out, kept);
    TRY(store_trust(s, out));
done:
    return st;
}

/* Fits trust once more, as a model file stores it; answers use it and are measured. */
static consm_status settle(struct consm_mark *found, struct session *s)
{
    consm_status st = CONSM_OK;
    struct consm_clean *clean = &((struct consm *)s->own)->clean;
    TRY(learner_restore(&s->learner));
    TRY(consm_store_trust(&clean->trust, s));
    consm_rest(s); /* the answers need the evaluation only, over other edges */
    TRY(consm_answer(s, &clean->trust, clean->share, clean->added_share));
    s->options.config.drop_share = clean->left_out;
    if (clean->added_share != 0) /* otherwise it is still open */
        s->options.config.add_share = clean->put_in;
    TRY(consm_mark_answers(found, s));
done:
    return st;
}

double consm_warm_best(const struct session *s)
{
    const struct consm_place *at = &((const struct consm *)s->own)->place;
    return at->fork_updates > 0 ? at->fork_best : s->learner.best;
}

consm_status consm_take_course(struct session *s, struct consm_attempt *to,
                               const struct consm_mark *before, bool must,
                               struct progress *progress, consm_rounds_fn rounds)
{
    consm_status st = CONSM_OK;
    struct consm_mark found;
    TRY(go_over(s, to));
    consm_attempt_free(to);
    TRY(consm_begin_course(s));
    TRY(rounds(s, progress));
    TRY(consm_end_course(s));
    TRY(settle(&found, s));
    log_info("seed %llu: validation score %.4f with edges dropped or added, %.4f before",
             (unsigned long long)s->options.seed, found.score, before->score);
    if (must || validates_better(&found, before))
        s->learner.best = found.score;
    else
        TRY(go_back(s));
done:
    return st;
}
