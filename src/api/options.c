/* Options by name: the parameters of config.def and the options of a run. */
#include "api/run_options.h"
#include "app/objects.h"
#include "backends/open.h"
#include "base/given.h"
#include "base/nearest.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

consm_status consm_options_new(struct consm_options **out, const char *model)
{
    consm_status st = CONSM_OK;
    struct consm_options *o = NULL;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, model));
    TRY(ZNEW(o, 1));
    TRY(model_find(&o->model, model));
    model_defaults(o->model, &o->config);
    o->split_options = split_defaults();
    *out = o;
    return CONSM_OK;
done:
    mem_free(o);
    return st;
}

void consm_options_free(struct consm_options *options)
{
    if (!options)
        return;
    mem_free(options->split);
    mem_free(options->positive);
    mem_free(options->threshold_for);
    mem_free(options->checkpoint);
    mem_free(options);
}

void consm_options_on_progress(struct consm_options *options, consm_progress_fn fn, void *ctx)
{
    if (!options)
        return;
    options->progress = fn;
    options->progress_ctx = ctx;
}

consm_status consm_options_build(struct consm_options *options, const char *name,
                                 consm_build_fn build, void *ctx)
{
    consm_status st = GIVEN(options, name);
    if (st == CONSM_OK && !build)
        st = status_fail(CONSM_EINVAL, "consm_options_build: build is NULL");
    if (st < 0)
        return st;
    if (strlen(name) >= sizeof options->own_name)
        return status_fail(CONSM_EINVAL, "the model's name %s is too long", name);
    strcpy(options->own_name, name);
    options->own = (struct model_def){.name = options->own_name,
                                      .title = "a model defined by the caller",
                                      .paper = "",
                                      .knobs = "",
                                      .build = custom_build};
    options->model = &options->own;
    options->custom = (struct custom){build, ctx};
    return CONSM_OK;
}

/* ---- options of a run ---------------------------------------------------- */

static consm_status number(double *out, const struct run_option *row, const char *text)
{
    char *end;
    bool whole = row->kind == CONSM_INTEGER;
    errno = 0;
    double value = number_parse(text, &end);
    if (errno || end == text || *end || !isfinite(value) || value < row->min || value > row->max ||
        (whole && value != floor(value)))
        return status_fail(CONSM_EINVAL, "%s %s: expected a %snumber from %.10g to %.10g",
                           row->name, text, whole ? "whole " : "", row->min, row->max);
    *out = value;
    return CONSM_OK;
}

/* A seed has 64 bits; a double cannot hold them all. */
static consm_status set_seed(uint64_t *to, const struct run_option *row, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-')
        return status_fail(CONSM_EINVAL, "%s %s: expected a whole number, 0 or more", row->name,
                           text);
    *to = value;
    return CONSM_OK;
}

static consm_status set_device(struct consm_options *o, const struct run_option *row,
                               const char *text)
{
    if (!backend_possible(text) || strlen(text) >= sizeof o->device)
        return status_fail(CONSM_EINVAL, "%s %s: expected cpu, cuda, cuda:N or auto", row->name,
                           text);
    strcpy(o->device, text);
    return CONSM_OK;
}

static consm_status set_field(struct consm_options *o, const struct run_option *row,
                              const char *text)
{
    consm_status st = CONSM_OK;
    void *to = (char *)o + row->at;
    double value = 0;
    if (row->kind != CONSM_TEXT && row->field != FIELD_SEED)
        TRY(number(&value, row, text));
    switch (row->field) {
    case FIELD_SEED: return set_seed(to, row, text);
    case FIELD_INT: *(int *)to = (int)value; break;
    case FIELD_INT64: *(int64_t *)to = (int64_t)value; break;
    case FIELD_BOOL: *(bool *)to = value == 1; break;
    case FIELD_REAL: *(double *)to = value; break;
    case FIELD_TEXT: return options_set_text(to, text);
    case FIELD_DEVICE: return set_device(o, row, text);
    }
done:
    return st;
}

/* A field that was never set may be below its least value. */
static long long at_least(const struct run_option *row, int64_t value)
{
    return (double)value < row->min ? (long long)row->min : (long long)value;
}

static const char *get_field(const struct consm_options *o, const struct run_option *row,
                             char buffer[32])
{
    const void *from = (const char *)o + row->at;
    const char *text = NULL;
    switch (row->field) {
    case FIELD_SEED:
        snprintf(buffer, 32, "%llu", (unsigned long long)*(const uint64_t *)from);
        break;
    case FIELD_INT: snprintf(buffer, 32, "%lld", at_least(row, *(const int *)from)); break;
    case FIELD_INT64: snprintf(buffer, 32, "%lld", at_least(row, *(const int64_t *)from)); break;
    case FIELD_BOOL: snprintf(buffer, 32, "%d", *(const bool *)from); break;
    case FIELD_REAL: number_print(buffer, 32, "%.17g", *(const double *)from); break;
    case FIELD_TEXT: text = *(char *const *)from; return text ? text : "";
    case FIELD_DEVICE: return o->device[0] ? o->device : "cpu";
    }
    return buffer;
}

#define FIELD(type, member) FIELD_##type, offsetof(struct consm_options, member)

static const struct run_option rows[] = {
    {"seed", "0", "seed of parameters, dropout and random splits", CONSM_INTEGER, 0, 0x1p64,
     FIELD(SEED, seed)},
    {"threads", "0", "0: one per processor, fewer where a run is small", CONSM_INTEGER, 0, 1024,
     FIELD(INT, threads)},
    {"ensemble", "1", "number of runs to combine; validation chooses how; 1: a single run",
     CONSM_INTEGER, 1, ENSEMBLE_MOST_RUNS, FIELD(INT64, ensemble)},
    {"split", "",
     "auto, paper, public, random, labels:N, 48/32/20, file:I or a CSV file; default: random for "
     "known datasets, auto for your own graphs",
     CONSM_TEXT, 0, 0, FIELD(TEXT, split)},
    {"per_class", "20", "training nodes per class, for paper and random", CONSM_INTEGER, 1,
     INT32_MAX, FIELD(INT64, split_options.per_class)},
    {"train_ratio", "0",
     "random: share of each class for training, instead of per_class; 0: use per_class", CONSM_REAL,
     0, 1, FIELD(REAL, split_options.train)},
    {"val_ratio", "0", "random: share of each class for validation; 0: half of the rest",
     CONSM_REAL, 0, 1, FIELD(REAL, split_options.val)},
    {"pooled", "0", "random: draw from all classes together, not per class", CONSM_INTEGER, 0, 1,
     FIELD(BOOL, split_options.pooled)},
    {"positive", "", "positive class of the metric average-precision (default: the rarest class)",
     CONSM_TEXT, 0, 0, FIELD(TEXT, positive)},
    {"threshold_for", "", "class to predict above a probability threshold chosen on validation",
     CONSM_TEXT, 0, 0, FIELD(TEXT, threshold_for)},
    {"at_precision", "0", "threshold_for: the lowest threshold with this precision; 0: not used",
     CONSM_REAL, 0, 1, FIELD(REAL, at_precision)},
    {"at_recall", "0", "threshold_for: the highest threshold with this recall; 0: not used",
     CONSM_REAL, 0, 1, FIELD(REAL, at_recall)},
    {"device", "cpu", "cpu, cuda, cuda:N (GPU N), or auto: a GPU if there is one", CONSM_TEXT, 0, 0,
     FIELD(DEVICE, device)},
    {0}};

const struct run_option *run_options(void)
{
    return rows;
}

static const struct run_option *run_option_find(const char *name)
{
    for (const struct run_option *row = rows; row->name; row++)
        if (config_same_name(row->name, name))
            return row;
    return NULL;
}

/* ---- by name ------------------------------------------------------------- */

static const char *known_name(void *ctx, int index)
{
    int runs = (int)(sizeof rows / sizeof *rows) - 1;
    (void)ctx;
    return index < runs ? rows[index].name : config_rows()[index - runs].name;
}

/* Options that were set by name keep their value, whether set before or after the profile. */
static consm_status set_profile(struct consm_options *o, const char *value)
{
    consm_status st = CONSM_OK;
    struct config defaults, named = o->config;
    model_defaults(o->model, &defaults);
    TRY(config_set(&named, "profile", value)); /* reports what is wrong with the word */
    o->config.profile = named.profile;
    config_settle_profile(&o->config, &defaults, o->given);
done:
    return st;
}

consm_status consm_options_set(struct consm_options *options, const char *name, const char *value)
{
    consm_status st = GIVEN(options, name, value);
    TRY(st);
    const struct config_row *row = config_find(name);
    const struct run_option *option = run_option_find(name);
    if (option)
        return set_field(options, option, value);
    if (!row) {
        const char *near = nearest_word(name, known_name, NULL);
        return near
                   ? status_fail(CONSM_ENOTFOUND, "unknown option %s; did you mean %s?", name, near)
                   : status_fail(CONSM_ENOTFOUND, "unknown option %s", name);
    }
    if (row - config_rows() == CONFIG_ROW_profile)
        return set_profile(options, value);
    TRY(config_set(&options->config, name, value));
    options->given[row - config_rows()] = true;
done:
    return st;
}

const char *consm_options_get(const struct consm_options *options, const char *name,
                              char buffer[32])
{
    if (!options || !name || !buffer)
        return NULL;
    const struct config_row *row = config_find(name);
    const struct run_option *option = run_option_find(name);
    if (option)
        return get_field(options, option, buffer);
    return row ? config_text(&options->config, row, buffer) : NULL;
}

consm_status consm_options_checkpoint(struct consm_options *options, const char *path,
                                      int64_t every, bool resume)
{
    consm_status st = GIVEN(options);
    if (st < 0)
        return st;
    char *copy = NULL;
    if (every < 0)
        return status_fail(CONSM_EINVAL, "checkpoint every %lld epochs: expected 0 or more",
                           (long long)every);
    if (path && !(copy = mem_strdup(path)))
        return CONSM_ENOMEM;
    mem_free(options->checkpoint);
    options->checkpoint = copy;
    options->checkpoint_every = every;
    options->resume = resume;
    return CONSM_OK;
}
