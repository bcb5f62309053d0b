/* Reads options, and answers studies' questions about them. */
#include "study/options.h"

#include "backends/open.h"
#include "data/generate/generate.h"
#include "train/ensemble.h"

#include <string.h>

static consm_status read_names(struct study_options *o)
{
    const json_t *datasets = json_object_get(o->json, "datasets");
    const json_t *models = json_object_get(o->json, "models");
    size_t i;
    const json_t *value;
    if (json_array_size(datasets) < 1 || json_array_size(datasets) > STUDY_MOST)
        return status_fail(CONSM_EINVAL, "a study needs 1 to %d datasets", STUDY_MOST);
    json_array_foreach((json_t *)datasets, i, value)
    {
        if (!json_is_string(value))
            return status_fail(CONSM_EFORMAT, "study options: a dataset is not text");
        o->dataset[o->datasets++] = json_string_value(value);
    }
    if (!models) {
        for (; model_list()[o->models] && o->models < STUDY_MOST; o->models++)
            o->model[o->models] = model_list()[o->models];
        return CONSM_OK;
    }
    if (json_array_size(models) < 1 || json_array_size(models) > STUDY_MOST)
        return status_fail(CONSM_EINVAL, "a study needs 1 to %d models", STUDY_MOST);
    json_array_foreach((json_t *)models, i, value)
    {
        const char *name = json_string_value(value);
        consm_status st = model_find(&o->model[o->models++], name ? name : "?");
        if (st < 0)
            return st;
    }
    return CONSM_OK;
}

static int64_t whole(const json_t *json, const char *name, int64_t missing)
{
    const json_t *value = json_object_get(json, name);
    return json_is_integer(value) ? json_integer_value(value) : missing;
}

static consm_status read_splits(struct study_options *o, const json_t *split)
{
    size_t count = json_is_array(split) ? json_array_size(split) : 1;
    if (count < 1 || count > STUDY_MOST_SPLITS)
        return status_fail(CONSM_EINVAL, "a study needs 1 to %d splits", STUDY_MOST_SPLITS);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(split) ? json_array_get(split, i) : split;
        const char *name = json_string_value(one);
        o->splits[o->split_count++] = name ? name : "paper";
    }
    o->split = o->splits[0];
    return CONSM_OK;
}

/* Runs on a card differ from those on the CPU: in rounding and in time. So `auto` is resolved here,
 * once. */
static consm_status read_device(struct study_options *o, const json_t *device)
{
    const char *name = json_string_value(device);
    if (!name || strcmp(name, "cpu") == 0)
        return CONSM_OK;
    if (!backend_possible(name))
        return status_fail(CONSM_EINVAL, "device %s: expected cpu, cuda, cuda:N or auto", name);
    o->device = name;
    if (strcmp(name, "auto") == 0) {
        o->device = NULL;
        for (int i = 0; backend_name(i); i++)
            if (strcmp(backend_name(i), "cuda") == 0)
                o->device = "cuda";
    }
    return CONSM_OK;
}

/* The attacks of `robust` by name; without a list all of them. */
static consm_status read_attacks(struct study_options *o, const json_t *list)
{
    size_t i;
    const json_t *value;
    for (enum study_plant plant = 0; plant < PLANTS; plant++)
        o->without[plant] = json_array_size(list) > 0;
    json_array_foreach((json_t *)list, i, value)
    {
        const char *name = json_string_value(value);
        enum study_plant plant = 0;
        while (plant < PLANTS && (!name || strcmp(plan_plant_name(plant), name) != 0))
            plant++;
        if (plant == PLANTS || plant == PLANT_BETWEEN || plant == PLANT_NOTHING)
            return status_fail(CONSM_EINVAL,
                               "unknown attack %s: expected metattack, nettack, dice, random, pgd, "
                               "trusted-gcn or trusted-consm",
                               name ? name : "?");
        o->without[plant] = false;
    }
    return CONSM_OK;
}

consm_status options_read(struct study_options *out, json_t *json)
{
    consm_status st = CONSM_OK;
    *out = (struct study_options){.json = json_incref(json), .split_options = split_defaults()};
    TRY(read_splits(out, json_object_get(json, "split")));
    out->chosen = json_is_true(json_object_get(json, "chosen"));
    out->splits_chosen = json_is_true(json_object_get(json, "split_chosen"));
    out->profiles = json_is_true(json_object_get(json, "profiles"));
    out->quick = json_is_true(json_object_get(json, "quick"));
    out->seeds = whole(json, "seeds", 10);
    out->split_options.per_class = whole(json, "per_class", out->split_options.per_class);
    out->split_options.train = json_number_value(json_object_get(json, "train_ratio"));
    out->split_options.val = json_number_value(json_object_get(json, "val_ratio"));
    out->split_options.pooled = json_is_true(json_object_get(json, "pooled"));
    out->ensemble = whole(json, "ensemble", 0);
    out->set = json_object_get(json, "set");
    out->search = whole(json, "search", 0);
    out->search_seeds = whole(json, "search_seeds", 3);
    out->space = json_object_get(json, "space");
    if (out->seeds < 1 || out->seeds > STUDY_MOST_SEEDS || out->search_seeds < 1 ||
        out->search_seeds > STUDY_MOST_SEEDS || out->search < 0 || out->search > 100000)
        TRY(status_fail(CONSM_EINVAL, "a study needs 1 to %d seeds", STUDY_MOST_SEEDS));
    if (out->ensemble < 0 || out->ensemble > ENSEMBLE_MOST_RUNS)
        TRY(status_fail(CONSM_EINVAL, "an ensemble needs 1 to %d runs", ENSEMBLE_MOST_RUNS));
    TRY(read_attacks(out, json_object_get(json, "attacks")));
    TRY(read_device(out, json_object_get(json, "device")));
    TRY(read_names(out));
done:
    if (st < 0)
        options_free(out);
    return st;
}

void options_free(struct study_options *o)
{
    json_decref(o->json);
    *o = (struct study_options){0};
}

consm_status options_apply(struct config *c, const json_t *set)
{
    consm_status st = CONSM_OK;
    const char *name;
    const json_t *value;
    /* A profile sets many parameters, so it comes first; what is set by name overrides it. */
    const char *profile = json_string_value(json_object_get(set, "profile"));
    if (profile)
        TRY(config_set(c, "profile", profile));
    json_object_foreach((json_t *)set, name, value)
    {
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
        if (strcmp(name, "profile") != 0)
            st = config_set(c, name, text ? text : json_string_value(value));
        free(text);
        TRY(st);
    }
done:
    return st;
}

static bool can_have(const char *dataset, const char *split)
{
    return !generate_knows(dataset) ||
           (strcmp(split, "public") != 0 && strncmp(split, "file:", 5) != 0);
}

struct study_options options_with_split(const struct study_options *o, int split)
{
    struct study_options copy = *o;
    copy.split = o->splits[split];
    copy.datasets = 0;
    for (int i = 0; i < o->datasets; i++)
        if (split == 0 || can_have(o->dataset[i], copy.split))
            copy.dataset[copy.datasets++] = o->dataset[i];
    return copy;
}

int options_splits(const struct study_options *o)
{
    return o->splits_chosen && !o->quick ? o->split_count : 1;
}

consm_status options_run(struct study_run *out, const struct study_options *o, enum study_task task,
                         const char *dataset, const struct model_def *model)
{
    *out = plan_run(task, dataset, model, o->split);
    out->split_options = o->split_options;
    out->device = o->device;
    /* The karate club has 17 members a side: the default of 20 per class is impossible. */
    if (strcmp(dataset, "karate") == 0 && o->split_options.per_class == split_defaults().per_class)
        out->split_options.per_class = 4;
    if (o->quick) {
        out->config.epochs /= 2;
        out->config.warmup /= 2;
    }
    return options_apply(&out->config, o->set);
}

int options_datasets(const char **out, const struct study_options *o, const char *const *preferred)
{
    int count = 0;
    for (int i = 0; preferred && !o->chosen && preferred[i]; i++)
        for (int k = 0; k < o->datasets; k++)
            if (strcmp(o->dataset[k], preferred[i]) == 0)
                out[count++] = o->dataset[k];
    for (int k = 0; count == 0 && k < o->datasets; k++)
        out[k] = o->dataset[k];
    return count ? count : o->datasets;
}

const struct model_def *options_model(const struct study_options *o, const char *name)
{
    for (int i = 0; i < o->models; i++)
        if (strcmp(o->model[i]->name, name) == 0)
            return o->model[i];
    return NULL;
}

int64_t options_seeds(const struct study_options *o, int64_t most)
{
    return o->seeds < most ? o->seeds : most;
}
