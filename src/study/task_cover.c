/* Prediction sets of a trained model, as `consm train --coverage` makes them: half of the
 * validation nodes select, the other half calibrates, and the test nodes measure coverage and size;
 * without smoothing, with λ = 1/2, and with the λ that the selecting half prefers. */
#include "study/task.h"

#include "app/roles.h"
#include "backends/open.h"
#include "base/alloc.h"
#include "stats/conformal.h"
#include "train/metrics.h"
#include "train/session.h"
#include <math.h>
#include <stdio.h>

static const int levels[] = {80, 90, 95}; /* percent */

struct covering {
    const struct problem *problem;
    struct conformal_data data;
    const uint8_t *calibrates;
    uint8_t *selects, *set;
};

/* Adds covered_LEVEL, size_LEVEL and share_LEVEL (λ) of one level to an object. */
static consm_status add_level(json_t *to, struct covering *v, int level, double smoothing)
{
    consm_status st = CONSM_OK;
    const struct problem *problem = v->problem;
    struct conformal c;
    char name[32];
    int64_t tested = 0, covered = 0, size = 0;
    if (isnan(smoothing))
        TRY(conformal_choose(&smoothing, &v->data, problem->label, v->selects, level / 100.0));
    TRY(conformal_fit(&c, &v->data, problem->label, v->calibrates, level / 100.0, smoothing));
    TRY(conformal_apply(v->set, &c, &v->data));
    for (int64_t i = 0; i < problem->nodes; i++) {
        if (problem->role[i] != SPLIT_TEST || problem->label[i] < 0)
            continue;
        const uint8_t *row = v->set + i * problem->classes;
        tested++;
        covered += row[problem->label[i]];
        for (int32_t k = 0; k < problem->classes; k++)
            size += row[k];
    }
    snprintf(name, sizeof name, "covered_%d", level);
    TRY(task_number(to, name, (double)covered / (double)tested));
    snprintf(name, sizeof name, "size_%d", level);
    TRY(task_number(to, name, (double)size / (double)tested));
    snprintf(name, sizeof name, "share_%d", level);
    TRY(task_number(to, name, smoothing));
    TRY(task_number(to, "calibrated", (double)c.calibrated));
done:
    return st;
}

static consm_status measure(json_t *result, struct covering *v, const float *logits)
{
    static const struct {
        const char *name;
        double smoothing;
    } way[] = {{"plain", 0}, {"smooth", 0.5}, {"chosen", (double)NAN}};
    consm_status st = CONSM_OK;
    const struct problem *p = v->problem;
    struct predicted selecting = {logits, p->label, p->role, SPLIT_VAL, p->nodes, p->classes, NULL};
    json_t *to = NULL;
    float *probability = NULL;
    TRY(NEW(probability, p->nodes * p->classes));
    metrics_softmax(probability, logits, metrics_temperature(&selecting), p->nodes, p->classes);
    v->data.probability = probability;
    for (size_t w = 0; w < sizeof way / sizeof *way; w++) {
        if (!(to = json_object()))
            TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
        for (size_t k = 0; k < sizeof levels / sizeof *levels; k++)
            TRY(add_level(to, v, levels[k], way[w].smoothing));
        if (json_object_set(result, way[w].name, to) != 0)
            TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
        json_decref(to);
        to = NULL;
    }
done:
    json_decref(to);
    mem_free(probability);
    return st;
}

consm_status task_cover(json_t *result, const struct task_input *in)
{
    consm_status st = CONSM_OK;
    uint8_t *role = NULL, *calibrates = NULL;
    struct backend *backend = NULL;
    struct session *s = NULL;
    struct train_result trained;
    struct train_options options = task_options(in);
    const float *logits;
    struct covering v = {0};
    TRY(task_roles(&role, in));
    struct problem problem = prepare_problem(in->prepared, role);
    TRY(NEW(calibrates, problem.nodes));
    TRY(NEW(v.selects, problem.nodes));
    TRY(NEW(v.set, problem.nodes * problem.classes));
    TRY((consm_status)fmin(0, (double)roles_halve(role, calibrates, problem.nodes, in->run->seed)));
    for (int64_t i = 0; i < problem.nodes; i++)
        v.selects[i] = role[i] == SPLIT_VAL;
    TRY(backend_open(&backend, in->run->device, in->threads));
    TRY(session_new(&s, &problem, &options, backend));
    TRY(session_train(s, &trained));
    TRY(task_record(result, &trained));
    TRY(session_answers(&logits, s));
    v.problem = &problem;
    v.calibrates = calibrates;
    v.data = (struct conformal_data){.nodes = problem.nodes,
                                     .classes = problem.classes,
                                     .start = problem.graph->start,
                                     .col = problem.graph->col,
                                     .seed = in->run->seed};
    TRY(measure(result, &v, logits));
done:
    session_free(s);
    backend_close(backend);
    mem_free(v.selects);
    mem_free(v.set);
    mem_free(calibrates);
    mem_free(role);
    return st;
}
