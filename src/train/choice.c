/* The ranking of candidates, and their comparison as a checkpoint stores it. */
#include "train/choice.h"

#include "program/boost.h"
#include "train/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void choice_fold_free(struct choice_fold *f)
{
    if (f->own) {
        mem_free(f->once);
        mem_free(f->logits);
    }
    snapshot_free(&f->at);
    *f = (struct choice_fold){0};
}

void trial_free(struct trial *t)
{
    session_free(t->open);
    t->open = NULL;
    snapshot_free(&t->at);
}

consm_status choice_finalist_make(struct choice_finalist *out, int64_t number,
                                  const struct learner *l)
{
    consm_status st = CONSM_OK;
    const float *best;
    *out = (struct choice_finalist){
        .number = number, .updates = l->best_step, .size = l->params->size};
    TRY(params_read(&best, l->params, PLACE_BEST));
    TRY(NEW(out->value, out->size));
    memcpy(out->value, best, (size_t)out->size * sizeof *best);
done:
    return st;
}

void choice_finalist_free(struct choice_finalist *f)
{
    mem_free(f->value);
    mem_free(f->logits);
    *f = (struct choice_finalist){0};
}

void choice_forget_finalists(struct candidate_choice *c)
{
    for (int i = 0; i < CHOICE_FINALISTS; i++)
        choice_finalist_free(&c->finalist[i]);
    c->finalists = 0;
}

void choice_free(struct candidate_choice *c)
{
    for (int64_t i = 0; c && i < TRAIN_MOST_CANDIDATES; i++)
        trial_free(&c->trial[i]);
    if (c) {
        snapshot_free(&c->student.at);
        choice_fold_free(&c->fold);
        choice_forget_finalists(c);
        mem_free(c->vote);
        mem_free(c->trees.node);
    }
    mem_free(c);
}

static bool better(const struct trial *a, const struct trial *b)
{
    if (a->val != b->val)
        return a->val > b->val;
    return a->loss != b->loss ? a->loss < b->loss : a->number < b->number;
}

/* Insertion sort. */
void choice_order(struct candidate_choice *c)
{
    struct trial *trial = c->trial;
    for (int64_t i = 1; i < c->count; i++)
        for (int64_t k = i; k > 0 && better(&trial[k], &trial[k - 1]); k--) {
            struct trial swap = trial[k];
            trial[k] = trial[k - 1];
            trial[k - 1] = swap;
        }
}

void choice_keep(struct candidate_choice *c, int64_t count)
{
    for (int64_t i = count; i < c->count; i++)
        trial_free(&c->trial[i]);
    c->count = c->count < count ? c->count : count;
}

/* ---- checkpoints --------------------------------------------------------- */

static void note_trial(struct trial_place *p, const struct trial *t, bool over)
{
    *p = (struct trial_place){.number = t->number,
                              .updates = t->course.done,
                              .diverged = t->diverged,
                              .folded = t->folded,
                              .val = t->val,
                              .loss = t->loss,
                              .fold = t->fold};
    if (over || t->at.size == 0)
        return;
    p->size = t->at.size;
    p->steps = t->at.steps;
    p->best_step = t->at.best_step;
    p->best = t->at.best;
    p->best_loss = t->at.best_loss;
}

void choice_note(struct candidate_choice *c)
{
    struct choice_place *p = &c->place;
    *p = (struct choice_place){.over = c->over,
                               .rung = c->rung,
                               .next = c->next,
                               .entered = c->entered,
                               .count = c->count,
                               .taught = c->taught,
                               .votes = c->over ? c->votes : 0,
                               .trees_over = c->trees.over,
                               .trees_rounds = c->trees.rounds,
                               .trees_nodes = c->trees.nodes,
                               .trees_val = c->trees.val,
                               .replaced = c->replaced,
                               .folds = c->folds};
    const struct choice_fold *f = &c->fold;
    if (f->number > 0 && !c->over) {
        p->fold_number = f->number;
        p->fold_repeat = f->repeat;
        p->fold = f->fold;
        p->fold_score = f->score;
        p->fold_count = f->count;
        p->fold_size = f->at.size;
        p->fold_steps = f->at.steps;
        p->fold_best_step = f->at.best_step;
        p->fold_best = f->at.best;
        p->fold_best_loss = f->at.best_loss;
    }
    p->finalists = c->over ? c->finalists : 0;
    p->cells = p->finalists > 0 ? c->cells : 0;
    for (int64_t i = 0; i < p->finalists; i++) {
        p->finalist_number[i] = c->finalist[i].number;
        p->finalist_updates[i] = c->finalist[i].updates;
        p->finalist_size[i] = c->finalist[i].size;
    }
    note_trial(&p->student, &c->student, c->over);
    for (int64_t i = 0; i < c->entered; i++)
        note_trial(&p->trial[i], &c->trial[i], c->over);
}

static bool score_sound(double val, double loss)
{
    return val >= -1 && val <= 1 && loss >= 0 && isfinite(loss);
}

static bool trial_sound(const struct trial_place *t, bool races, int64_t updates)
{
    return t->updates >= 0 && t->updates <= updates && (t->diverged == 0 || t->diverged == 1) &&
           (t->folded == 0 || t->folded == 1) && t->size >= 0 &&
           t->size <= INT64_MAX / (int64_t)sizeof(float) / SNAPSHOT_BLOCKS &&
           (t->size == 0 || races) && t->steps >= 0 && t->steps <= t->updates &&
           t->best_step >= 0 && t->best_step <= t->steps && score_sound(t->val, t->loss) &&
           score_sound(t->fold, 0) && score_sound(t->best, t->best_loss);
}

static bool folds_sound(const struct train_folds *f)
{
    return f->labels >= 0 && f->validating >= 0 && f->folds >= 0 && f->repeats >= 0 &&
           score_sound(f->score, f->error);
}

/* What the trees themselves say is checked when they are opened. */
static bool trees_sound(const struct choice_place *p)
{
    return (p->trees_over == 0 || p->trees_over == 1) && p->trees_rounds >= 0 &&
           p->trees_rounds <= LEARNER_MOST_STEPS && p->trees_nodes >= 0 &&
           p->trees_nodes <= INT64_MAX / (int64_t)sizeof(float) / FOREST_COLUMNS &&
           (p->trees_nodes > 0) == (p->trees_rounds > 0) &&
           (p->trees_over || p->trees_rounds == 0) && score_sound(p->trees_val, 0) &&
           score_sound(p->replaced, 0);
}

enum { FOLD_MOST = 16 }; /* largest number of repeats and of folds that a file may have */

static bool fold_sound(const struct choice_place *p, int64_t updates)
{
    bool among = p->fold_number == 0;
    for (int64_t i = 0; i < p->count && !among; i++)
        among = p->trial[i].number + 1 == p->fold_number;
    return among && p->fold_repeat >= 0 && p->fold_repeat < FOLD_MOST && p->fold >= 0 &&
           p->fold < FOLD_MOST && score_sound(p->fold_score, 0) && p->fold_count >= 0 &&
           p->fold_count <= INT64_MAX / (int64_t)sizeof(float) && p->fold_size >= 0 &&
           p->fold_size <= INT64_MAX / (int64_t)sizeof(float) / SNAPSHOT_BLOCKS &&
           p->fold_steps >= 0 && p->fold_steps <= updates && p->fold_best_step >= 0 &&
           p->fold_best_step <= p->fold_steps && score_sound(p->fold_best, p->fold_best_loss) &&
           (p->fold_number > 0 || (p->fold_count == 0 && p->fold_size == 0));
}

/* Whether every candidate that entered is there once. */
static bool all_there(const struct candidate_choice *c)
{
    const struct choice_place *p = &c->place;
    for (int64_t i = 0; i < c->entered; i++) {
        int64_t found = 0;
        for (int64_t k = 0; k < c->entered; k++)
            found += p->trial[k].number == c->trial[i].number;
        if (found != 1)
            return false;
    }
    return true;
}

static bool finalists_sound(const struct choice_place *p, int64_t updates, int64_t nodes,
                            int64_t classes)
{
    bool sound = p->finalists >= 0 && p->finalists <= CHOICE_FINALISTS &&
                 (p->finalists == 0 || (p->over && p->cells == nodes * classes));
    for (int64_t i = 0; sound && i < p->finalists; i++) {
        bool among = false;
        for (int64_t k = 0; k < p->entered && !among; k++)
            among = p->trial[k].number == p->finalist_number[i];
        sound = among && p->finalist_updates[i] > 0 && p->finalist_updates[i] <= updates &&
                p->finalist_size[i] > 0 &&
                p->finalist_size[i] <= INT64_MAX / (int64_t)sizeof(float);
    }
    return sound;
}

static struct trial trial_of(const struct trial_place *p)
{
    return (struct trial){.number = p->number,
                          .val = p->val,
                          .loss = p->loss,
                          .fold = p->fold,
                          .diverged = p->diverged,
                          .folded = p->folded,
                          .at = {.size = p->size,
                                 .steps = p->steps,
                                 .best_step = p->best_step,
                                 .best = p->best,
                                 .best_loss = p->best_loss},
                          .course.done = p->updates};
}

bool choice_take(struct candidate_choice *c, int64_t rungs, int64_t updates, int64_t nodes,
                 int64_t classes)
{
    const struct choice_place *p = &c->place;
    bool sound = (p->over == 0 || p->over == 1) && p->rung >= 0 && p->rung < rungs &&
                 p->entered == c->entered && p->count >= 1 && p->count <= p->entered &&
                 p->next >= 0 && p->next <= p->count && (p->taught == 0 || p->taught == 1) &&
                 (p->votes == 0 || (p->votes == nodes && p->over && p->taught)) &&
                 folds_sound(&p->folds) && trees_sound(p) && all_there(c) &&
                 finalists_sound(p, updates, nodes, classes);
    for (int64_t i = 0; sound && i < p->entered; i++)
        sound = trial_sound(&p->trial[i], i < p->count && !p->over, updates);
    sound = sound && trial_sound(&p->student, !p->over, updates) &&
            (p->student.size == 0 || p->student.number == p->trial[0].number) &&
            fold_sound(p, updates);
    if (!sound)
        return false;
    c->over = p->over;
    c->rung = p->rung;
    c->next = p->next;
    c->count = p->count;
    c->taught = p->taught;
    c->votes = p->votes;
    c->folds = p->folds;
    c->replaced = p->replaced;
    c->trees = (struct choice_trees){.over = p->trees_over,
                                     .rounds = p->trees_rounds,
                                     .val = p->trees_val,
                                     .nodes = p->trees_nodes};
    c->finalists = p->finalists;
    c->cells = p->cells;
    for (int64_t i = 0; i < p->finalists; i++)
        c->finalist[i] = (struct choice_finalist){.number = p->finalist_number[i],
                                                  .updates = p->finalist_updates[i],
                                                  .size = p->finalist_size[i]};
    c->student = trial_of(&p->student);
    c->fold = (struct choice_fold){.number = p->fold_number,
                                   .repeat = p->fold_repeat,
                                   .fold = p->fold,
                                   .score = p->fold_score,
                                   .count = p->fold_count,
                                   .own = true,
                                   .at = {.size = p->fold_size,
                                          .steps = p->fold_steps,
                                          .best_step = p->fold_best_step,
                                          .best = p->fold_best,
                                          .best_loss = p->fold_best_loss}};
    for (int64_t i = 0; i < c->entered; i++)
        c->trial[i] = trial_of(&p->trial[i]);
    return true;
}

static consm_status reserve(struct snapshot *at)
{
    return at->size > 0 ? ZNEW(at->numbers, SNAPSHOT_BLOCKS * at->size) : CONSM_OK;
}

consm_status choice_reserve(struct candidate_choice *c)
{
    consm_status st = CONSM_OK;
    if (c->votes > 0)
        TRY(ZNEW(c->vote, c->votes));
    if (c->trees.nodes > 0)
        TRY(ZNEW(c->trees.node, c->trees.nodes * FOREST_COLUMNS));
    for (int64_t i = 0; i < c->finalists; i++) {
        TRY(ZNEW(c->finalist[i].value, c->finalist[i].size));
        TRY(ZNEW(c->finalist[i].logits, c->cells));
    }
    TRY(reserve(&c->student.at));
    TRY(reserve(&c->fold.at));
    if (c->fold.count > 0) {
        TRY(ZNEW(c->fold.once, c->fold.count));
        TRY(ZNEW(c->fold.logits, c->fold.count));
    }
    for (int64_t i = 0; i < c->count; i++)
        TRY(reserve(&c->trial[i].at));
done:
    return st;
}

static void show(const struct snapshot *at, const char *who, memory_fn see, void *ctx)
{
    static const char *const block[SNAPSHOT_BLOCKS] = {"parameters", "moment1", "moment2", "best"};
    char name[48];
    for (int b = 0; at->size > 0 && b < SNAPSHOT_BLOCKS; b++) {
        snprintf(name, sizeof name, "choice.%s.%s", who, block[b]);
        see(ctx, name, at->numbers ? at->numbers + b * at->size : NULL,
            (size_t)at->size * sizeof(float));
    }
}

void choice_numbers(struct candidate_choice *c, memory_fn see, void *ctx)
{
    char who[16], name[48];
    if (c->votes > 0)
        see(ctx, "choice.votes", c->vote, (size_t)c->votes * sizeof *c->vote);
    if (c->trees.nodes > 0)
        see(ctx, "choice.trees", c->trees.node,
            (size_t)c->trees.nodes * FOREST_COLUMNS * sizeof *c->trees.node);
    for (int64_t i = 0; c->over && i < c->finalists; i++) {
        struct choice_finalist *f = &c->finalist[i];
        snprintf(name, sizeof name, "choice.finalist%d.value", (int)i);
        see(ctx, name, f->value, (size_t)f->size * sizeof *f->value);
        snprintf(name, sizeof name, "choice.finalist%d.logits", (int)i);
        see(ctx, name, f->logits, (size_t)c->cells * sizeof *f->logits);
    }
    if (c->over)
        return;
    show(&c->student.at, "student", see, ctx);
    show(&c->fold.at, "fold", see, ctx);
    if (c->fold.count > 0) {
        see(ctx, "choice.fold.once", c->fold.once, (size_t)c->fold.count * sizeof(float));
        see(ctx, "choice.fold.logits", c->fold.logits, (size_t)c->fold.count * sizeof(float));
    }
    for (int64_t i = 0; i < c->count; i++) {
        snprintf(who, sizeof who, "%d", (int)i);
        show(&c->trial[i].at, who, see, ctx);
    }
}
