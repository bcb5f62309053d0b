/* Read access to a dataset's arrays, and to the list of registered public sets. */
#include "app/objects.h"
#include "base/given.h"
#include "base/sized.h"
#include "data/registry/registry.h"

/* How the dataset was read. Every call writes the same values. */
static const struct consm_open_options *reading_of(const struct consm_dataset *dataset)
{
    struct consm_dataset *d = (struct consm_dataset *)dataset;
    char *const *text = d->data->choices.text;
    pthread_mutex_lock(&d->lock);
    d->reading = (struct consm_open_options){.size = sizeof d->reading,
                                             .id_column = text[CHOICE_ID],
                                             .label_column = text[CHOICE_LABEL],
                                             .weight_column = text[CHOICE_WEIGHT],
                                             .source_column = text[CHOICE_SOURCE],
                                             .target_column = text[CHOICE_TARGET],
                                             .ignore = text[CHOICE_IGNORE],
                                             .duplicates = text[CHOICE_DUPLICATES],
                                             .unknown_nodes = text[CHOICE_UNKNOWN]};
    pthread_mutex_unlock(&d->lock);
    return &d->reading;
}

consm_status consm_dataset_arrays(struct consm_arrays *out, const struct consm_dataset *dataset)
{
    consm_status st = CONSM_OK;
    TRY(GIVEN(out, dataset));
    const struct dataset *d = dataset->data;
    if (d->unchecked) /* reading must not cost as much as preparing a graph for training */
        TRY(dataset_check(d));
    struct consm_arrays a = {.name = d->name,
                             .nodes = d->nodes,
                             .edges = d->edges,
                             .features = d->features,
                             .classes = d->classes,
                             .directed = d->directed,
                             .from = d->from,
                             .to = d->to,
                             .weight = d->weight,
                             .feature = d->sparse ? d->sparse->val : d->dense,
                             .feature_start = d->sparse ? d->sparse->start : NULL,
                             .feature_column = d->sparse ? d->sparse->col : NULL,
                             .label = d->label,
                             .node_id = (const char *const *)d->node_id,
                             .class_name = (const char *const *)d->class_name,
                             .feature_name = (const char *const *)d->feature_name,
                             .wide_starts = d->sparse != NULL,
                             .reading = choices_any(&d->choices) ? reading_of(dataset) : NULL};
    TRY(sized_give(out, &a, sizeof a, SIZED_UP_TO(struct consm_arrays, wide_starts)));
done:
    return st;
}

const uint8_t *consm_dataset_roles(const struct consm_dataset *dataset, int64_t split)
{
    const struct dataset *d = dataset ? dataset->data : NULL;
    return d && split >= 0 && split < d->splits ? d->role + split * d->nodes : NULL;
}

consm_status consm_known_set_get(struct consm_known_set *out, int32_t index)
{
    consm_status st = GIVEN(out);
    if (st < 0)
        return st;
    int32_t sets = 0;
    while (registry_get(sets))
        sets++;
    const struct data_set *set = index >= 0 && index < sets ? registry_get(index) : NULL;
    if (!set)
        return status_fail(CONSM_ENOTFOUND, "dataset number %d does not exist", index);
    struct consm_known_set s = {.name = set->name,
                                .about = set->about,
                                .citation = set->citation,
                                .licence = set->licence,
                                .files = set->files};
    return sized_give(out, &s, sizeof s, SIZED_UP_TO(struct consm_known_set, files));
}

consm_status consm_known_file_get(struct consm_known_file *out, const char *name, int32_t index)
{
    consm_status st = GIVEN(out, name);
    if (st < 0)
        return st;
    const struct data_set *set = registry_find(name);
    if (!set) {
        const char *near = registry_nearest(name);
        return near ? status_fail(CONSM_ENOTFOUND, "unknown dataset %s; did you mean %s?", name,
                                  near)
                    : status_fail(CONSM_ENOTFOUND, "unknown dataset %s", name);
    }
    if (index < 0 || index >= set->files)
        return status_fail(CONSM_ENOTFOUND, "%s has no file number %d", name, index);
    struct consm_known_file f = {.path = set->file[index].path,
                                 .base = set->base,
                                 .url = set->file[index].url,
                                 .sha256 = set->file[index].sha256};
    return sized_give(out, &f, sizeof f, SIZED_UP_TO(struct consm_known_file, sha256));
}
