/* Saves and restores a session between two epochs. */
#include "app/checkpoint.h"

#include "app/checkpoint_trail.h"
#include "app/model_json.h"
#include "backends/open.h"
#include "base/number.h"
#include "io/safetensors.h"
#include "io/sha256.h"
#include "train/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

consm_status checkpoint_possible(const struct train_options *options)
{
    const struct procedure *procedure;
    consm_status st = procedure_find(&procedure, options);
    if (st == CONSM_OK && procedure && (procedure->fit || procedure->step) && !procedure->resumes)
        return status_fail(CONSM_EINVAL, "training of %s cannot be resumed", options->model->name);
    return st;
}

#define CHOICE_PLACE "choice.place"

/* ---- the memory ---------------------------------------------------------- */

/* A walk over the session's blocks that keeps the first failure. */
struct walk {
    consm_status status;
    struct safetensors_writer *writer;
    const char *path;
    struct safetensors *file;
    bool copy; /* reading: check the sizes first, then copy */
};

static void declare_block(void *ctx, const char *name, void *data, size_t bytes)
{
    struct walk *w = ctx;
    int64_t count = (int64_t)bytes;
    (void)data;
    if (w->status == CONSM_OK)
        w->status = safetensors_declare(w->writer, name, SAFETENSORS_U8, 1, &count);
}

static void write_block(void *ctx, const char *name, void *data, size_t bytes)
{
    struct walk *w = ctx;
    (void)name;
    if (w->status == CONSM_OK)
        w->status = safetensors_write(w->writer, data, bytes);
}

/* Bytes of a block's real numbers; 0: integers, which procedure.sound checks. */
static size_t reals_of(const char *name)
{
    static const char *const whole[] = {
        "gam.place",   "gam.weighed", "gam.count",       "gam.labelled",
        "gam.label",   "gam.node",    "agreement.steps", "agreement.random",
        "consm.place", "match.steps", "match.sampled",   "match.next_ego",
        CHOICE_PLACE,  "lengths",     "consm.tried",     "clean.dropped",
        "clean.best",  "point",       "choice.votes"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0)
            return 0;
    bool state = strncmp(name, "train.", 6) == 0 || strncmp(name, "eval.", 5) == 0;
    return state ? sizeof(double) : sizeof(float);
}

/* Checks that every number is finite and no second moment is negative; training makes no others. */
consm_status checkpoint_block_sound(const char *path, const char *name, const void *data,
                                    size_t bytes)
{
    const uint8_t *block = data;
    const size_t length = strlen(name), width = reals_of(name);
    const bool squares = length >= 7 && strcmp(name + length - 7, "moment2") == 0;
    for (size_t at = 0; width && at < bytes; at += width) {
        float narrow;
        double value;
        memcpy(&narrow, block + at, sizeof narrow);
        if (width == sizeof value)
            memcpy(&value, block + at, sizeof value);
        else
            value = (double)narrow;
        if (!isfinite(value) || (squares && value < 0))
            return status_fail(CONSM_EFORMAT, "%s: entry %zu of %s is %g: expected a %s number",
                               path, at / width, name, value, squares ? "positive" : "finite");
    }
    return CONSM_OK;
}

static void read_block(void *ctx, const char *name, void *data, size_t bytes)
{
    struct walk *w = ctx;
    const struct safetensors_tensor *t = safetensors_find(w->file, name);
    if (w->status < 0)
        return;
    if (!t || t->type != SAFETENSORS_U8 || t->bytes != bytes)
        w->status =
            status_fail(CONSM_EFORMAT, "%s: expected %zu bytes of %s", w->path, bytes, name);
    else if (w->copy)
        memcpy(data, t->data, bytes);
    else
        w->status = checkpoint_block_sound(w->path, name, t->data, bytes);
}

/* ---- what it belongs to -------------------------------------------------- */

static void sum_csr(struct sha256 *sum, const struct csr *m)
{
    if (!m)
        return;
    sha256_add(sum, m->start, (size_t)(m->rows + 1) * sizeof *m->start);
    sha256_add(sum, m->col, (size_t)m->nnz * sizeof *m->col);
    if (m->val)
        sha256_add(sum, m->val, (size_t)m->nnz * sizeof *m->val);
}

void checkpoint_identify(struct checkpoint_run *run, const struct problem *problem)
{
    const size_t n = (size_t)problem->nodes;
    struct sha256 sum;
    sha256_init(&sum);
    if (problem->graph->partition) /* the rest of it is in data_sha256 */
        sha256_add(&sum, problem->graph->start, (n + 1) * sizeof *problem->graph->start);
    else
        sum_csr(&sum, problem->graph);
    if (!problem->graph->partition)
        sum_csr(&sum, problem->sparse);
    if (problem->dense && !problem->graph->partition)
        sha256_add(&sum, problem->dense, n * (size_t)problem->features * sizeof(float));
    sha256_add(&sum, problem->label, n * sizeof *problem->label);
    sha256_hex(run->graph, &sum);
    sha256_of(run->roles, problem->role, n);
}

/* Names and shapes of all parameters, in order: "w1 12x64;b1 1x64;…". */
static void layout(struct text *t, const struct params *params)
{
    for (int i = 0; i < params->count; i++)
        text_printf(t, "%s %lldx%lld;", params->item[i].name, (long long)params->item[i].rows,
                    (long long)params->item[i].cols);
}

/* Notes a text and frees it. */
static consm_status note_text(struct safetensors_writer *w, struct checkpoint_run *run,
                              const char *key, struct text *t)
{
    consm_status st = text_status(t);
    if (st == CONSM_OK)
        st = checkpoint_note(w, run, key, text_string(t));
    text_free(t);
    return st;
}

static consm_status note_identity(struct safetensors_writer *w, const struct session *s,
                                  struct checkpoint_run *run)
{
    consm_status st = CONSM_OK;
    struct text config = {0}, asked = {0}, shapes = {0};
    char seed[32], machine[BACKEND_DESCRIPTION];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->options.seed);
    TRY(checkpoint_note(w, run, "format", "consm checkpoint 5"));
    TRY(checkpoint_note(w, run, "version", consm_version()));
    TRY(checkpoint_note(w, run, "model", s->options.model->name));
    TRY(checkpoint_note(w, run, "dataset", run->dataset));
    TRY(checkpoint_note(w, run, "data_sha256", run->data_sha256));
    TRY(checkpoint_note(w, run, "split", run->split));
    TRY(checkpoint_note(w, run, "graph_sha256", run->graph));
    TRY(checkpoint_note(w, run, "roles_sha256", run->roles));
    backend_describe(machine, s->backend);
    TRY(checkpoint_note(w, run, "instructions", machine));
    TRY(checkpoint_note(w, run, "seed", seed));
    config_to_json(&config, &s->options.config);
    TRY(note_text(w, run, "config", &config));
    if (s->choice) {
        config_to_json(&asked, &s->choice->asked);
        TRY(note_text(w, run, "asked", &asked));
    }
    layout(&shapes, s->learner.params);
    TRY(note_text(w, run, "layout", &shapes));
done:
    return st;
}

/* While candidates are compared the session has no network of its own yet. */
static bool choosing(const struct session *s)
{
    return s->choice && !s->choice->over;
}

static consm_status note_place(struct safetensors_writer *w, const struct session *s,
                               struct checkpoint_run *run)
{
    consm_status st = CONSM_OK;
    char text[40];
    TRY(checkpoint_note(w, run, "phase", choosing(s) ? "choosing" : "training"));
    snprintf(text, sizeof text, "%lld", (long long)s->learner.steps);
    TRY(checkpoint_note(w, run, "steps", text));
    snprintf(text, sizeof text, "%lld", (long long)s->learner.best_step);
    TRY(checkpoint_note(w, run, "best_epoch", text));
    number_print(text, sizeof text, "%.17g", s->learner.best);
    TRY(checkpoint_note(w, run, "best_val", text));
    number_print(text, sizeof text, "%.17g", s->learner.best_loss);
    TRY(checkpoint_note(w, run, "best_loss", text));
done:
    return st;
}

static consm_status see_all(struct session *s, memory_fn see, void *ctx)
{
    consm_status st = CONSM_OK;
    if (s->choice) {
        choice_note(s->choice);
        see(ctx, CHOICE_PLACE, &s->choice->place, sizeof s->choice->place);
        choice_numbers(s->choice, see, ctx);
    }
    if (choosing(s))
        return CONSM_OK;
    if (s->trail.based)
        checkpoint_see_base(s, see, ctx);
    else
        TRY(session_memory(s, see, ctx));
    checkpoint_see_trail(s, see, ctx);
done:
    return st;
}

consm_status checkpoint_save(struct session *s, struct checkpoint_run *run, const char *path)
{
    consm_status st = CONSM_OK;
    struct walk w = {0};
    if (s->procedure && s->procedure->note && !choosing(s))
        TRY(s->procedure->note(s));
    TRY(safetensors_writer_new(&w.writer));
    TRY(see_all(s, declare_block, &w));
    checkpoint_see_curve(run, declare_block, &w);
    TRY(w.status);
    if (s->trail.based) {
        TRY(checkpoint_note_again(w.writer, run));
    } else {
        TRY(note_identity(w.writer, s, run));
        TRY(note_place(w.writer, s, run));
    }
    TRY(safetensors_begin(w.writer, path, true));
    TRY(see_all(s, write_block, &w));
    checkpoint_see_curve(run, write_block, &w);
    TRY(w.status);
    TRY(safetensors_commit(w.writer));
    s->trail.unsaved = false;
done:
    safetensors_writer_free(w.writer);
    return st;
}

/* ---- reading ------------------------------------------------------------- */

struct source {
    const char *path;
    struct safetensors *file;
};

/* Checks that the file is from this run. */
static consm_status same(const struct source *f, const char *key, const char *now)
{
    const char *then = safetensors_metadata(f->file, key);
    if (then && strcmp(then, now) == 0)
        return CONSM_OK;
    return status_fail(CONSM_EINVAL, "%s: the interrupted run had %s %.80s, this run has %.80s",
                       f->path, key, then ? then : "(none)", now);
}

static consm_status same_config(const struct source *f, const char *key, const struct config *mine)
{
    consm_status st = CONSM_OK;
    const char *text = safetensors_metadata(f->file, key);
    json_t *then = text ? json_loads(text, 0, NULL) : NULL;
    char now[32];
    if (!json_is_object(then))
        TRY(status_fail(CONSM_EFORMAT, "%s: the configuration is missing", f->path));
    for (const struct config_row *row = config_rows(); row->name; row++) {
        const char *old = json_string_value(json_object_get(then, row->name));
        const char *new = config_text(mine, row, now);
        if (!old || strcmp(old, new) != 0)
            TRY(status_fail(CONSM_EINVAL,
                            "%s: the interrupted run had %s %.80s, this run has %.80s", f->path,
                            row->name, old ? old : "(none)", new));
    }
done:
    json_decref(then);
    return st;
}

/* A run continues on the machine that made its bits. A run from a card may also continue on the
 * CPU, because the card may have failed. */
static consm_status same_machine(const struct source *f, const struct session *s)
{
    const char *then = safetensors_metadata(f->file, "instructions");
    char now[BACKEND_DESCRIPTION];
    backend_describe(now, s->backend);
    if (then && strncmp(then, "cpu ", 4) != 0 && strncmp(now, "cpu ", 4) == 0)
        return CONSM_OK;
    return same(f, "instructions", now);
}

static consm_status same_run(const struct source *f, const struct session *s,
                             const struct checkpoint_run *run)
{
    consm_status st = CONSM_OK;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->options.seed);
    TRY(same(f, "format", "consm checkpoint 5"));
    TRY(same(f, "version", consm_version()));
    TRY(same(f, "model", s->options.model->name));
    TRY(same(f, "dataset", run->dataset));
    TRY(same(f, "data_sha256", run->data_sha256));
    TRY(same(f, "split", run->split));
    TRY(same(f, "seed", seed));
    if (same(f, "graph_sha256", run->graph) < 0)
        TRY(status_fail(CONSM_EINVAL,
                        "%s: the interrupted run used a different graph, features or labels",
                        f->path));
    if (same(f, "roles_sha256", run->roles) < 0)
        TRY(status_fail(CONSM_EINVAL,
                        "%s: the interrupted run used different training, validation or test nodes",
                        f->path));
    TRY(same_machine(f, s));
done:
    return st;
}

static consm_status same_network(const struct source *f, const struct session *s)
{
    consm_status st = CONSM_OK;
    struct text shapes = {0};
    TRY(same_config(f, "config", &s->options.config));
    layout(&shapes, s->learner.params);
    TRY(text_status(&shapes));
    TRY(same(f, "layout", text_string(&shapes)));
done:
    text_free(&shapes);
    return st;
}

static consm_status read_number(double *out, const struct source *f, const char *key, double min,
                                double max)
{
    const char *text = safetensors_metadata(f->file, key);
    char *end;
    if (text) {
        *out = number_parse(text, &end);
        if (end != text && !*end && *out >= min && *out <= max)
            return CONSM_OK;
    }
    return status_fail(CONSM_EFORMAT, "%s: \"%s\" is %.40s: expected a number from %g to %g",
                       f->path, key, text ? text : "missing", min, max);
}

/* Whether the file was written while candidates were compared. */
static bool was_choosing(const struct source *f)
{
    const char *phase = safetensors_metadata(f->file, "phase");
    return phase && strcmp(phase, "choosing") == 0;
}

consm_status checkpoint_load_choice(struct session *s, struct checkpoint_run *run, const char *path)
{
    consm_status st = CONSM_OK;
    struct source f = {.path = path};
    struct candidate_choice *c = s->choice;
    TRY(safetensors_open(&f.file, path));
    TRY(safetensors_verify(f.file));
    TRY(same_run(&f, s, run));
    TRY(same_config(&f, "asked", &c->asked));
    struct walk w = {.path = path, .file = f.file, .copy = true};
    read_block(&w, CHOICE_PLACE, &c->place, sizeof c->place);
    TRY(w.status);
    if (!s->procedure->take_choice(s))
        TRY(status_fail(CONSM_EFORMAT, "%s: the choice among candidates is invalid", path));
    w.copy = false; /* first check the sizes, so that no memory is allocated for a bad file */
    choice_numbers(c, read_block, &w);
    TRY(w.status);
    TRY(choice_reserve(c));
    w.copy = true;
    choice_numbers(c, read_block, &w);
    TRY(w.status);
    TRY(checkpoint_read_curve(run, f.file, path));
done:
    safetensors_close(f.file);
    return st;
}

static bool lengths_sound(const struct train_lengths *l)
{
    bool sound = l->count >= 0 && l->count <= TRAIN_MOST_LENGTHS && l->begun >= 0 &&
                 l->begun <= LEARNER_MOST_STEPS;
    for (int i = 0; i < TRAIN_MOST_LENGTHS; i++)
        sound = sound && l->updates[i] >= 0 && l->updates[i] <= LEARNER_MOST_STEPS;
    return sound;
}

consm_status checkpoint_load(struct session *s, struct checkpoint_run *run, const char *path)
{
    consm_status st = CONSM_OK;
    struct source f = {.path = path};
    double steps = 0, best_epoch = 0, best_val = 0, best_loss = 0;
    TRY(safetensors_open(&f.file, path));
    TRY(safetensors_verify(f.file));
    TRY(same_run(&f, s, run));
    if (s->choice && was_choosing(&f)) /* it continued there before this session was made */
        goto done;
    TRY(checkpoint_read_curve(run, f.file, path));
    TRY(same_network(&f, s));
    TRY(read_number(&steps, &f, "steps", 0, 1e15));
    /* ConSM's first round tries several arms from one point, so the best epoch may be ahead on
     * another arm. */
    TRY(read_number(&best_epoch, &f, "best_epoch", 0, steps + (double)s->options.config.gnn_steps));
    TRY(read_number(&best_val, &f, "best_val", -1, 1));
    TRY(read_number(&best_loss, &f, "best_loss", 0, 1e300));
    struct walk w = {.path = path, .file = f.file, .copy = true};
    if (s->procedure && s->procedure->place)
        TRY(s->procedure->place(s, read_block, &w));
    w.copy = false;
    TRY(session_memory(s, read_block, &w));
    TRY(w.status);
    w.copy = true;
    TRY(session_memory(s, read_block, &w));
    session_touch(s, NULL);
    if (s->procedure && s->procedure->sound && !s->procedure->sound(s))
        TRY(status_fail(CONSM_EFORMAT, "%s: the file contains invalid values", path));
    if (!lengths_sound(&s->lengths))
        TRY(status_fail(CONSM_EFORMAT, "%s: the file contains invalid lengths", path));
    s->learner.steps = (int64_t)steps;
    s->learner.best_step = (int64_t)best_epoch;
    s->learner.best = best_val;
    s->learner.best_loss = best_loss;
    TRY(checkpoint_read_trail(s, f.file, path));
    TRY(checkpoint_remember(run, f.file));
done:
    safetensors_close(f.file);
    return st;
}
