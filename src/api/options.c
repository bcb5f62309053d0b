/* Options by name: those of config.def, and those of a run. */
#include "api/objects.h"
#include "base/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

consm_status consm_options_new(struct consm_options **out, const char *model)
{
    consm_status st = CONSM_OK;
    struct consm_options *o;
    *out = NULL;
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
    mem_free(options);
}

void consm_options_on_progress(struct consm_options *options, consm_progress_fn fn, void *ctx)
{
    options->progress = fn;
    options->progress_ctx = ctx;
}

consm_status consm_options_build(struct consm_options *options, const char *name,
                                 consm_build_fn build, void *ctx)
{
    if (strlen(name) >= sizeof options->own_name)
        return status_fail(CONSM_EINVAL, "the model's name %s is too long", name);
    strcpy(options->own_name, name);
    options->own = (struct model_def){.name = options->own_name,
                                      .title = "a model of the caller's own",
                                      .paper = "",
                                      .knobs = "",
                                      .build = custom_build};
    options->model = &options->own;
    options->custom = (struct custom){build, ctx};
    return CONSM_OK;
}

/* ---- setting by name ----------------------------------------------------- */

/* The options that are not in config.def. */
static const char *const run_option[] = {"seed",        "threads",   "split",  "per_class",
                                         "train_ratio", "val_ratio", "pooled", NULL};

static const char *known_name(void *ctx, int index)
{
    int runs = (int)(sizeof run_option / sizeof *run_option) - 1;
    (void)ctx;
    return index < runs ? run_option[index] : config_rows()[index - runs].name;
}

static bool same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return false;
    return *a == *b;
}

static consm_status number(double *out, const char *name, const char *text, double min, double max,
                           bool whole)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(value) || value < min || value > max ||
        (whole && value != floor(value)))
        return status_fail(CONSM_EINVAL, "%s %s: expected a %snumber from %g to %g", name, text,
                           whole ? "whole " : "", min, max);
    *out = value;
    return CONSM_OK;
}

static consm_status set_seed(struct consm_options *o, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-')
        return status_fail(CONSM_EINVAL, "seed %s: expected a whole number, 0 or more", text);
    o->seed = value;
    return CONSM_OK;
}

static consm_status set_split(struct consm_options *o, const char *text)
{
    char *split = mem_strdup(text);
    if (!split)
        return CONSM_ENOMEM;
    mem_free(o->split);
    o->split = split;
    return CONSM_OK;
}

consm_status consm_options_set(struct consm_options *options, const char *name, const char *value)
{
    consm_status st = CONSM_OK;
    struct split_options *s = &options->split_options;
    double found;
    const struct config_row *row = config_find(name);
    if (row) {
        TRY(config_set(&options->config, name, value));
        options->given[row - config_rows()] = true;
        return CONSM_OK;
    }
    if (same(name, "seed"))
        return set_seed(options, value);
    if (same(name, "split"))
        return set_split(options, value);
    if (same(name, "threads")) {
        TRY(number(&found, name, value, 0, 1024, true));
        options->threads = (int)found;
    } else if (same(name, "per_class")) {
        TRY(number(&found, name, value, 1, INT32_MAX, true));
        s->per_class = (int64_t)found;
    } else if (same(name, "train_ratio")) {
        TRY(number(&s->train, name, value, 0, 1, false));
    } else if (same(name, "val_ratio")) {
        TRY(number(&s->val, name, value, 0, 1, false));
    } else if (same(name, "pooled")) {
        TRY(number(&found, name, value, 0, 1, true));
        s->pooled = found == 1;
    } else {
        const char *near = nearest_word(name, known_name, NULL);
        return near ? status_fail(CONSM_ENOTFOUND, "no option %s; did you mean %s?", name, near)
                    : status_fail(CONSM_ENOTFOUND, "no option %s", name);
    }
done:
    return st;
}
