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

/* Returns memory that making the data freed, so that training's growth is its own. */
static void forget_freed_memory(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* Peaks of the stages of a run, in MB. Where the system cannot forget a peak, they are unknown. */
struct stages {
    const struct task_input *in;
    double made; /* while the data was made */
    double data; /* when training began */
    double race; /* up to the last update of a candidate backbone; 0: there is no comparison */
    bool forgets, rounds;
};

/* Epoch 0: an update of a candidate backbone, or between the rounds of a trial. What follows the
 * last one of the comparison counts for the rounds. */
static bool on_stage(void *ctx, const struct progress *p)
{
    struct stages *s = ctx;
    s->rounds = s->rounds || p->epoch > 0;
    if (!s->rounds && s->forgets) {
        s->race = fmax(s->race, clock_peak_rss_mb());
        s->forgets = clock_reset_peak_rss();
    }
    return s->in->progress && s->in->progress(s->in->progress_ctx, p);
}

static consm_status record_stages(json_t *result, const struct stages *s)
{
    consm_status st = CONSM_OK;
    double rest = clock_peak_rss_mb(), peak = fmax(s->race, rest);
    bool known = s->forgets;
    TRY(task_number(result, "data_mb", known ? s->data : (double)NAN));
    TRY(task_number(result, "train_mb", known ? peak - s->data : (double)NAN));
    TRY(task_number(result, "race_mb", known && s->race > 0 ? s->race : (double)NAN));
    TRY(task_number(result, "rounds_mb", known ? rest : (double)NAN));
    TRY(task_number(result, "peak_mb", known ? fmax(s->made, peak) : (double)NAN));
done:
    return st;
}

/* The time of training and predicting, as `consm train` does it, and its memory. */
consm_status task_cost(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    int counter = -1;
    struct roles roles = {0};
    struct consm_model *model = NULL;
    struct consm_prediction *prediction = NULL;
    struct stages stages = {.in = in, .made = clock_peak_rss_mb()};
    struct training_request request = {.prepared = in->prepared,
                                       .roles = &roles,
                                       .options = task_options(in),
                                       .jobs = 1,
                                       .threads = in->threads};
    const struct csr *graph = in->prepared->graph;
    forget_freed_memory();
    stages.forgets = clock_reset_peak_rss();
    stages.data = clock_peak_rss_mb();
    request.options.progress = on_stage;
    request.options.progress_ctx = &stages;
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
    TRY(task_number(result, "threads", in->threads));
    TRY(task_number(result, "two_hop", portfolio_two_hop(graph)));
    TRY(record_stages(result, &stages));
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
