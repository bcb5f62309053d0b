/* Lists of runs, and the identity of a run. */
#include "study/plan.h"

#include "base/alloc.h"
#include "data/generate/generate.h"
#include <math.h>
#include <string.h>

void plan_free(struct plan *p)
{
    mem_free_texts(p->name, (int64_t)p->names);
    mem_free(p->run);
    *p = (struct plan){0};
}

/* The plan's own copy of a string; there are few different ones. */
static consm_status intern(struct plan *p, const char **text)
{
    consm_status st = CONSM_OK;
    if (!*text)
        return CONSM_OK;
    for (size_t i = p->names; i-- > 0;)
        if (strcmp(p->name[i], *text) == 0) {
            *text = p->name[i];
            return CONSM_OK;
        }
    TRY(GROW(p->name, p->names, p->names_capacity, 1));
    if (!(p->name[p->names] = mem_strdup(*text)))
        TRY(CONSM_ENOMEM);
    *text = p->name[p->names++];
done:
    return st;
}

consm_status plan_add(struct plan *p, const struct study_run *run)
{
    consm_status st = CONSM_OK;
    struct study_run copy = *run;
    TRY(intern(p, &copy.dataset));
    TRY(intern(p, &copy.split));
    TRY(intern(p, &copy.attack));
    TRY(intern(p, &copy.device));
    TRY(GROW(p->run, p->count, p->capacity, 1));
    p->run[p->count++] = copy;
done:
    return st;
}

consm_status plan_add_seeds(struct plan *p, const struct study_run *run, int64_t seeds)
{
    consm_status st = CONSM_OK;
    struct study_run copy = *run;
    for (int64_t seed = 0; seed < seeds; seed++) {
        copy.seed = (uint64_t)seed;
        copy.keep_graph = run->keep_graph && seed == 0;
        TRY(plan_add(p, &copy));
    }
done:
    return st;
}

struct study_run plan_run(enum study_task task, const char *dataset, const struct model_def *model,
                          const char *split)
{
    struct study_run run = {.task = task,
                            .dataset = dataset,
                            .split = split,
                            .split_options = split_defaults(),
                            .model = model,
                            .same_kept = 1,
                            .other_kept = 1};
    if (model)
        model_defaults(model, &run.config);
    else
        config_defaults(&run.config);
    return run;
}

const char *plan_task_name(enum study_task task)
{
    static const char *const name[] = {"train", "curve", "prune", "cost",
                                       "facts", "plant", "cover", "robust"};
    return name[task];
}

const char *plan_plant_name(enum study_plant plant)
{
    static const char *const name[] = {"random", "between",     "metattack",     "nettack", "dice",
                                       "pgd",    "trusted-gcn", "trusted-consm", "nothing"};
    return name[plant];
}

consm_status plan_parameters(json_t **out, const struct config *c)
{
    char buffer[32];
    *out = json_object();
    if (!*out)
        return status_fail(CONSM_ENOMEM, "out of memory for parameters");
    for (const struct config_row *row = config_rows(); row->name; row++) {
        const char *text = config_text(c, row, buffer);
        const void *field = (const char *)c + row->offset;
        json_t *value;
        if (row->kind == CONFIG_INT)
            value = json_integer(*(const int64_t *)field);
        else if (row->kind != CONFIG_WORD && !isnan(*(const double *)field))
            value = json_real(*(const double *)field);
        else
            value = json_string(text);
        if (json_object_set_new(*out, row->name, value) != 0) {
            json_decref(*out);
            *out = NULL;
            return status_fail(CONSM_ENOMEM, "out of memory for parameters");
        }
    }
    return CONSM_OK;
}

static consm_status data_identity(const char **out, const char *name, const json_t *hashes)
{
    *out = "generated";
    if (generate_knows(name))
        return CONSM_OK;
    *out = json_string_value(json_object_get(hashes, name));
    return *out ? CONSM_OK : status_fail(CONSM_ENOTFOUND, "%s: its data was never opened", name);
}

/* The attack, and the GCN that is trained after dropping edges. */
static consm_status add_planted(json_t *id, const struct study_run *run, const json_t *hashes)
{
    consm_status st = CONSM_OK;
    json_t *again = NULL, *attacker = NULL;
    const char *bytes = NULL;
    if (run->attack)
        TRY(data_identity(&bytes, run->attack, hashes));
    TRY(plan_parameters(&again, &run->again));
    if (json_object_set_new(id, "again", again) |
        json_object_set_new(id, "plant", json_string(plan_plant_name(run->plant))) |
        json_object_set_new(id, "rate", json_real(run->rate)) |
        (bytes ? json_object_set_new(id, "attack", json_string(bytes)) : 0))
        TRY(status_fail(CONSM_ENOMEM, "out of memory for the identity of a run"));
    if (run->plant == PLANT_TRUSTED_CONSM)
        TRY(plan_parameters(&attacker, &run->attacker));
    if (attacker && json_object_set_new(id, "attacker", attacker) != 0)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for the identity of a run"));
done:
    return st;
}

/* What each kind of run depends on besides its data. */
static consm_status add_particulars(json_t *id, const struct study_run *run)
{
    consm_status st = CONSM_OK;
    const struct split_options *o = &run->split_options;
    json_t *parameters = NULL;
    int fault = json_object_set_new(id, "split", json_string(run->split)) |
                json_object_set_new(id, "per_class", json_integer(o->per_class));
    if (o->train > 0 || o->val > 0)
        fault |= json_object_set_new(id, "train_ratio", json_real(o->train)) |
                 json_object_set_new(id, "val_ratio", json_real(o->val));
    if (o->pooled)
        fault |= json_object_set_new(id, "pooled", json_true());
    if (run->task == TASK_PRUNE)
        fault |= json_object_set_new(id, "same_kept", json_real(run->same_kept)) |
                 json_object_set_new(id, "other_kept", json_real(run->other_kept));
    if (run->device)
        fault |= json_object_set_new(id, "device", json_string(run->device));
    if (run->ensemble)
        fault |= json_object_set_new(id, "ensemble", json_integer(run->ensemble));
    if (run->model) {
        TRY(plan_parameters(&parameters, &run->config));
        fault |= json_object_set_new(id, "seed", json_integer((json_int_t)run->seed)) |
                 json_object_set_new(id, "model", json_string(run->model->name)) |
                 json_object_set_new(id, "parameters", parameters);
    }
    if (fault)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for the identity of a run"));
done:
    return st;
}

consm_status plan_identity(json_t **out, const struct study_run *run, const json_t *hashes)
{
    consm_status st = CONSM_OK;
    const char *data;
    *out = NULL;
    TRY(data_identity(&data, run->dataset, hashes));
    *out = json_pack("{s:s, s:s, s:s, s:s}", "task", plan_task_name(run->task), "dataset",
                     run->dataset, "data", data, "version", consm_version());
    if (!*out)
        TRY(status_fail(CONSM_EINVAL, "%s: its name is not UTF-8", run->dataset));
    TRY(add_particulars(*out, run));
    if (run->task == TASK_PLANT || run->task == TASK_ROBUST)
        TRY(add_planted(*out, run, hashes));
done:
    if (st < 0) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}

double plan_cost(const struct study_run *run, int64_t edges, int64_t feature_entries)
{
    const struct config *c = &run->config;
    double step = 2e4 + (double)edges + (double)feature_entries, more = 0;
    if (run->ensemble)
        step *= (double)run->ensemble;
    if (run->task == TASK_FACTS)
        return step;
    if (run->task == TASK_PLANT || run->task == TASK_ROBUST) /* a GCN for each way to drop edges */
        more = step * 4 * (double)run->again.epochs;
    if (strcmp(run->model->name, "consm") != 0)
        return step * (double)c->epochs + more;
    /* Matching costs a few GNN updates per step, and an automatic backbone three more trainings. */
    double tried = c->backbone == BACKBONE_AUTO ? 3 : 0;
    double steps = (double)c->warmup * (1 + tried) + (double)(c->rounds * c->gnn_steps);
    return step * (steps + 200 * (double)c->rounds) + more;
}
