/* Gives one graph other labels. Everything that does not depend on labels (edges, features, ids,
 * the cleaned graph and its matrices) is shared. */
#include "app/arrays.h"
#include "base/given.h"
#include "base/sized.h"

/* Frees the parts that belong to the relabelled dataset itself. */
static void free_own(struct dataset *d)
{
    if (!d)
        return;
    mem_free(d->label);
    mem_free(d->role);
    mem_free_texts(d->class_name, d->classes);
    mem_free(d);
}

void relabelled_free(struct consm_dataset *dataset)
{
    struct consm_dataset *graph = dataset->graph;
    free_own(dataset->data);
    dataset->data = NULL;
    consm_dataset_free(graph);
}

static consm_status relabelled(struct dataset **out, const struct dataset *whole,
                               const struct consm_labels *labels)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    struct consm_arrays a = {.nodes = whole->nodes,
                             .classes = labels->classes,
                             .label = labels->label,
                             .wide_labels = labels->wide,
                             .role = labels->role};
    TRY(NEW(d, 1));
    *d = *whole;
    d->label = NULL;
    d->role = NULL;
    d->class_name = NULL;
    d->splits = 0;
    d->classes = labels->classes;
    d->class_kind = labels->class_kind;
    d->sha256[0] = 0;
    TRY(take_labels(d, &a));
    TRY(take_roles(d, &a));
    TRY(take_names(&d->class_name, labels->class_name, labels->classes, "class_name"));
    *out = d;
    return CONSM_OK;
done:
    free_own(d);
    return st;
}

consm_status consm_dataset_with_labels(struct consm_dataset **out, struct consm_dataset *graph,
                                       const struct consm_labels *labels)
{
    consm_status st = CONSM_OK;
    struct consm_labels whole = {0};
    struct consm_dataset *d = NULL;
    const struct prepared *prepared;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, graph, labels));
    TRY(sized_take(&whole, sizeof whole, labels, SIZED_UP_TO(struct consm_labels, role)));
    if (whole.classes < 0)
        TRY(status_fail(CONSM_EINVAL, "%d classes: expected 0 or more", whole.classes));
    if (whole.class_kind < CONSM_CLASS_UNSAID || whole.class_kind > CONSM_CLASS_BOOLEAN)
        TRY(status_fail(CONSM_EINVAL, "class_kind %d: expected 0 to %d", whole.class_kind,
                        CONSM_CLASS_BOOLEAN));
    TRY(dataset_prepared(&prepared, graph));
    TRY(ZNEW(d, 1));
    TRY(relabelled(&d->data, graph->data, &whole));
    pthread_mutex_init(&d->lock, NULL);
    d->ranks = graph->ranks;
    d->owners = 1;
    d->graph = dataset_hold(graph);
    d->prepared = *prepared;
    d->prepared.data = d->data;
    d->ready = true;
    *out = d;
    return CONSM_OK;
done:
    mem_free(d);
    return st;
}
