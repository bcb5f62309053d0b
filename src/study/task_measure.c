/* Tasks that do not measure accuracy: the cost of a run, facts about the data. */
#include "study/task.h"

#include "app/objects.h"
#include "app/roles.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/instructions.h"
#include "data/facts.h"
#include "train/portfolio_work.h"
#include <math.h>
#include <stdio.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Returns memory that earlier runs freed, so that this run's growth is its own. */
static void forget_freed_memory(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* The time of training and predicting, as `consm train` does it, and its memory besides the data,
 * which is already loaded. */
consm_status task_cost(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    int counter = -1;
    struct roles roles = {0};
    struct consm_model *model = NULL;
    struct consm_prediction *prediction = NULL;
    struct training_request request = {.prepared = in->prepared,
                                       .roles = &roles,
                                       .options = task_options(in),
                                       .jobs = 1,
                                       .threads = in->threads};
    const struct csr *graph = in->prepared->graph;
    forget_freed_memory();
    bool fresh = clock_reset_peak_rss();
    double data_mb = clock_peak_rss_mb();
    double begin = clock_seconds(), begin_used = clock_processor_seconds();
    TRY(task_roles(&roles.role, in));
    split_count(roles.count, roles.role, in->prepared->data->nodes);
    snprintf(roles.split, sizeof roles.split, "%s", in->run->split);
    counter = instructions_begin();
    TRY(model_train(&model, &prediction, &request));
    double instructions = instructions_end(counter);
    counter = -1;
    double all = clock_seconds() - begin, used = clock_processor_seconds() - begin_used;
    TRY(task_record(result, &model->result));
    TRY(task_number(result, "all_seconds", all));
    TRY(task_number(result, "processor_seconds", used));
    TRY(task_number(result, "instructions", instructions));
    TRY(task_number(result, "labels_train", (double)roles.count[SPLIT_TRAIN]));
    TRY(task_number(result, "two_hop", portfolio_two_hop(graph)));
    TRY(task_number(result, "train_mb", fresh ? clock_peak_rss_mb() - data_mb : (double)NAN));
    TRY(task_number(result, "data_mb", fresh ? data_mb : (double)NAN));
    if (json_object_set_new(result, "edges", json_integer(graph->nnz / 2)) != 0 ||
        json_object_set_new(result, "nodes", json_integer(graph->rows)) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    instructions_end(counter);
    consm_prediction_free(prediction);
    consm_model_free(model);
    roles_free(&roles);
    return st;
}

static int put(json_t *to, const char *name, int64_t value)
{
    return json_object_set_new(to, name, json_integer(value));
}

consm_status task_facts(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    uint8_t *role = NULL;
    struct data_facts f = {0};
    const struct dataset *d = in->prepared->data;
    TRY(task_roles(&role, in));
    TRY(facts_measure(&f, d, role));
    if (put(result, "nodes", d->nodes) | put(result, "edges", f.edges) |
        put(result, "directed_edges", f.directed) | put(result, "features", d->features) |
        put(result, "classes", d->classes) | put(result, "train", f.split_size[SPLIT_TRAIN]) |
        put(result, "val", f.split_size[SPLIT_VAL]) |
        put(result, "test", f.split_size[SPLIT_TEST]) | put(result, "copies", f.copies.nodes) |
        put(result, "leaked", f.copies.leaked))
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
    TRY(task_number(result, "homophily", f.homophily.edge));
    TRY(task_number(result, "adjusted_homophily", f.homophily.adjusted));
    TRY(task_number(result, "leaked_share", f.copies.leaked_share));
done:
    facts_free(&f);
    mem_free(role);
    return st;
}
