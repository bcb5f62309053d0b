/* Datasets of the public interface: opening and reading them. arrays.c makes them from arrays. */
#include "app/defaults.h"
#include "app/objects.h"
#include "base/given.h"
#include "base/sized.h"
#include "data/open.h"
#include "data/table/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

consm_status dataset_wrap(struct consm_dataset **out, struct dataset *data)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *d;
    *out = NULL;
    TRY(ZNEW(d, 1));
    pthread_mutex_init(&d->lock, NULL);
    d->data = data;
    d->ranks = &ranks_alone;
    d->owners = 1;
    *out = d;
done:
    if (st < 0)
        dataset_free(data);
    return st;
}

consm_status consm_dataset_open_with(struct consm_dataset **out, const char *name_or_path,
                                     const struct consm_open_options *options)
{
    return dataset_open_among(out, name_or_path, options, &ranks_alone);
}

struct data_options dataset_how(const struct consm_open_options *o)
{
    return (struct data_options){.data_dir = o->data_dir,
                                 .format = o->format,
                                 .labels = o->labels,
                                 .features = o->features,
                                 .id_column = o->id_column,
                                 .label_column = o->label_column,
                                 .weight_column = o->weight_column,
                                 .ignore = o->ignore,
                                 .source_column = o->source_column,
                                 .target_column = o->target_column,
                                 .duplicates = o->duplicates,
                                 .unknown_nodes = o->unknown_nodes,
                                 .remembered = o->model ? &o->model->choices : NULL,
                                 .notes = o->keep_attributes};
}

consm_status dataset_open_among(struct consm_dataset **out, const char *name_or_path,
                                const struct consm_open_options *options, const struct ranks *ranks)
{
    consm_status st = CONSM_OK;
    struct dataset *data;
    struct consm_dataset *made;
    struct consm_open_options whole = {.size = sizeof whole};
    struct partition partition = ranks_partition(ranks);
    if (out)
        *out = NULL;
    TRY(GIVEN(out, name_or_path));
    if (options)
        TRY(sized_take(&whole, sizeof whole, options,
                       SIZED_UP_TO(struct consm_open_options, features)));
    struct data_options how = dataset_how(&whole);
    how.partition = whole.in_parts ? &partition : NULL;
    TRY(data_open(&data, name_or_path, &how));
    TRY(dataset_wrap(&made, data));
    made->ranks = ranks;
    made->known = defaults_known(name_or_path);
    *out = made;
done:
    return st;
}

consm_status consm_dataset_open(struct consm_dataset **out, const char *name_or_path,
                                const char *data_dir)
{
    struct consm_open_options options = {.size = sizeof options, .data_dir = data_dir};
    return consm_dataset_open_with(out, name_or_path, &options);
}

struct consm_dataset *dataset_hold(struct consm_dataset *dataset)
{
    pthread_mutex_lock(&dataset->lock);
    dataset->owners++;
    pthread_mutex_unlock(&dataset->lock);
    return dataset;
}

void consm_dataset_free(struct consm_dataset *dataset)
{
    if (!dataset)
        return;
    pthread_mutex_lock(&dataset->lock);
    bool last = --dataset->owners == 0;
    pthread_mutex_unlock(&dataset->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&dataset->lock);
    if (dataset->ids)
        names_free(dataset->ids);
    mem_free(dataset->ids);
    if (dataset->graph) {
        relabelled_free(dataset);
    } else if (dataset->whole) {
        cleaned_free(dataset);
    } else {
        prepare_free(&dataset->prepared);
        dataset_free(dataset->data);
    }
    mem_free(dataset);
}

const struct ranks *dataset_ranks(const struct consm_dataset *dataset)
{
    return dataset->ranks;
}

void dataset_leave_ranks(struct consm_dataset *dataset)
{
    dataset->ranks = &ranks_alone;
}

const struct dataset *dataset_read(const struct consm_dataset *dataset)
{
    return dataset->data;
}

consm_status dataset_prepared(const struct prepared **out, const struct consm_dataset *dataset)
{
    /* The prepared form is a cache: making it changes nothing that the caller can see. */
    struct consm_dataset *d = (struct consm_dataset *)dataset;
    consm_status st = CONSM_OK;
    pthread_mutex_lock(&d->lock);
    if (!d->ready)
        st = prepare_graph(&d->prepared, d->data, d->ranks);
    d->ready = st == CONSM_OK;
    pthread_mutex_unlock(&d->lock);
    *out = st == CONSM_OK ? &d->prepared : NULL;
    return st;
}

consm_status dataset_whole(const struct consm_dataset *dataset, const char *who)
{
    const struct prepared *prepared;
    consm_status st = dataset_prepared(&prepared, dataset);
    return st < 0 ? st : prepare_whole(prepared, who);
}

/* ---- looking ------------------------------------------------------------- */

/* An index of the node ids, built on first use. */
static consm_status index_ids(const struct names **out, const struct consm_dataset *dataset)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *d = (struct consm_dataset *)dataset; /* a cache, like the prepared form */
    struct names *made = NULL;
    int64_t number;
    pthread_mutex_lock(&d->lock);
    if (d->ids)
        goto done;
    TRY(ZNEW(made, 1));
    for (int64_t i = 0; i < d->data->nodes; i++)
        TRY(names_add(&number, made, d->data->node_id[i], strlen(d->data->node_id[i])));
    d->ids = made;
    made = NULL;
done:
    *out = d->ids;
    pthread_mutex_unlock(&d->lock);
    if (made)
        names_free(made);
    mem_free(made);
    return st;
}

/* Finds a node without an id by its number; -1: there is none. */
static int64_t find_number(const struct dataset *d, const char *id)
{
    char *end, buffer[24];
    int64_t number = strtoll(id, &end, 10);
    bool there = number >= 0 && number < d->nodes;
    return there && strcmp(dataset_node_id(d, number, buffer), id) == 0 ? number : -1;
}

consm_status consm_dataset_find(int64_t *number, const struct consm_dataset *dataset,
                                const char *const *id, int64_t count)
{
    consm_status st = CONSM_OK;
    const struct names *ids = NULL;
    TRY(GIVEN(number, dataset, id));
    if (count < 0)
        TRY(status_fail(CONSM_EINVAL, "%lld ids: expected 0 or more", (long long)count));
    if (dataset->data->node_id)
        TRY(index_ids(&ids, dataset));
    for (int64_t k = 0; k < count; k++) {
        TRY(GIVEN(id[k]));
        number[k] = ids ? names_find(ids, id[k], strlen(id[k])) : find_number(dataset->data, id[k]);
        if (number[k] < 0)
            TRY(status_fail(CONSM_ENOTFOUND, "%s has no node \"%.80s\"", dataset->data->name,
                            id[k]));
    }
done:
    return st;
}

consm_status consm_dataset_info(struct consm_dataset_info *out, const struct consm_dataset *dataset)
{
    consm_status st = GIVEN(out, dataset);
    if (st < 0)
        return st;
    const struct dataset *d = dataset->data;
    struct consm_dataset_info info = {.name = d->name,
                                      .nodes = d->nodes,
                                      .edges = d->edges,
                                      .features = d->features,
                                      .classes = d->classes,
                                      .directed = d->directed,
                                      .weighted = d->weight || (d->rows && d->rows->val),
                                      .sha256 = d->sha256,
                                      .known = dataset->known,
                                      .in_parts = d->rows != NULL};
    for (int64_t i = 0; i < d->nodes; i++)
        info.labelled += d->label[i] >= 0;
    return sized_give(out, &info, sizeof info, SIZED_UP_TO(struct consm_dataset_info, sha256));
}

const char *consm_node_id(const struct consm_dataset *dataset, int64_t number, char buffer[24])
{
    if (!dataset || !buffer)
        return "";
    if (number < 0 || number >= dataset->data->nodes) {
        snprintf(buffer, 24, "%lld", (long long)number);
        return buffer;
    }
    return dataset_node_id(dataset->data, number, buffer);
}

const char *consm_class_name(const struct consm_dataset *dataset, int32_t class_index,
                             char buffer[24])
{
    if (!dataset || !buffer)
        return "";
    if (class_index < 0 || class_index >= dataset->data->classes) {
        snprintf(buffer, 24, "%d", class_index);
        return buffer;
    }
    return dataset_class_name(dataset->data, class_index, buffer);
}

const int32_t *consm_dataset_labels(const struct consm_dataset *dataset)
{
    return dataset ? dataset->data->label : NULL;
}
