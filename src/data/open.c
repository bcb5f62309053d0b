/* Opens a dataset by what the user typed. */
#include "data/open.h"

#include "base/log.h"
#include "data/generate/generate.h"
#include "data/load.h"
#include "data/registry/registry.h"

#include <stdio.h>
#include <string.h>

static consm_status open_registered(struct dataset **out, const struct data_set *set,
                                    const struct data_options *o)
{
    consm_status st = CONSM_OK;
    char *path = NULL, *name = NULL;
    TRY(registry_locate(&path, set, o->data_dir));
    TRY(data_load_path(out, path, set->format));
    name = mem_strdup(set->name);
    if (!name)
        TRY(CONSM_ENOMEM);
    mem_free((*out)->name);
    (*out)->name = name;
done:
    mem_free(path);
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

/* The index of a word in a list; NULL: the first. */
static consm_status choose(int *out, const char *flag, const char *word, const char *const *name,
                           int count)
{
    char list[80] = "";
    size_t used = 0;
    for (*out = 0; word && *out < count && strcmp(word, name[*out]) != 0;)
        ++*out;
    if (*out < count)
        return CONSM_OK;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0           ? ""
                                 : i == count - 1 ? " or "
                                                  : ", ",
                                 name[i]);
    return status_fail(CONSM_EINVAL, "--%s %.40s: expected %s", flag, word, list);
}

/* The options that the user typed, then those that a model stores. A typed column has only that
 * role. Returns the bits of enum choice that are remembered. */
static unsigned said(const char *text[CHOICES], const struct data_options *o)
{
    const char *typed[CHOICES] = {
        [CHOICE_ID] = o->id_column,          [CHOICE_LABEL] = o->label_column,
        [CHOICE_WEIGHT] = o->weight_column,  [CHOICE_SOURCE] = o->source_column,
        [CHOICE_TARGET] = o->target_column,  [CHOICE_IGNORE] = o->ignore,
        [CHOICE_DUPLICATES] = o->duplicates, [CHOICE_UNKNOWN] = o->unknown_nodes};
    unsigned remembered = 0;
    for (int i = 0; i < CHOICES; i++) {
        const char *old = o->remembered ? o->remembered->text[i] : NULL;
        for (int k = 0; old && i < CHOICE_IGNORE && k < CHOICE_IGNORE; k++)
            if (typed[k] && strcmp(typed[k], old) == 0)
                old = NULL;
        text[i] = typed[i] ? typed[i] : old;
        remembered |= !typed[i] && old ? 1U << i : 0;
    }
    return remembered;
}

static consm_status open_path(struct dataset **out, const char *path, const struct data_options *o)
{
    consm_status st = CONSM_OK;
    const char *text[CHOICES];
    unsigned remembered = said(text, o);
    struct reading_options reading = {.labels = o->labels,
                                      .features = o->features,
                                      .partition = o->partition,
                                      .wanted = {.id = text[CHOICE_ID],
                                                 .label = text[CHOICE_LABEL],
                                                 .weight = text[CHOICE_WEIGHT],
                                                 .source = text[CHOICE_SOURCE],
                                                 .target = text[CHOICE_TARGET],
                                                 .ignore = text[CHOICE_IGNORE],
                                                 .remembered = remembered,
                                                 .notes = o->notes}};
    const struct wanted *w = &reading.wanted;
    int choice;
    TRY(choose(&choice, "duplicates", text[CHOICE_DUPLICATES], duplicates_name, DUPLICATES_KINDS));
    reading.duplicates = (enum repeat_rule)choice;
    TRY(choose(&choice, "unknown-nodes", text[CHOICE_UNKNOWN], unknown_nodes_name, UNKNOWN_KINDS));
    reading.wanted.unknown = (enum unknown_nodes)choice;
    TRY(data_load_with(out, path, o->format, &reading));
    TRY(choices_copy(&(*out)->choices, text));
    if ((remembered >> CHOICE_WEIGHT & 1) && !w->found_weight && !(*out)->weight)
        log_warn("%s: has no column %.60s, which contained the weights in training: every edge "
                 "gets weight 1",
                 (*out)->name, w->weight);
done:
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

static consm_status unknown(const char *name)
{
    const char *near = registry_nearest(name);
    if (near)
        return status_fail(CONSM_ENOTFOUND, "unknown dataset or file %s; did you mean %s?", name,
                           near);
    return status_fail(CONSM_ENOTFOUND, "unknown dataset or file %s; `consm info` lists all names",
                       name);
}

consm_status data_open(struct dataset **out, const char *name_or_path, const struct data_options *o)
{
    struct data_options defaults = {0};
    const struct data_set *set = registry_find(name_or_path);
    *out = NULL;
    o = o ? o : &defaults;
    if (o->format || o->labels || o->features || o->id_column || o->label_column ||
        o->weight_column || o->ignore || o->source_column || o->target_column || o->unknown_nodes)
        return open_path(out, name_or_path, o);
    if (o->partition && (generate_knows(name_or_path) || set))
        return status_fail(CONSM_EINVAL,
                           "%s: --in-parts reads files; create them with `consm partition`",
                           name_or_path);
    if (generate_knows(name_or_path))
        return generate_named(out, name_or_path);
    if (set)
        return open_registered(out, set, o);
    if (file_kind(name_or_path) != FILE_MISSING || strchr(name_or_path, '/'))
        return open_path(out, name_or_path, o);
    return unknown(name_or_path);
}
