/* The cost of a training step and an epoch on a device (`consm-bench --device cuda --sets cora`),
 * with the accuracy of the same run: a step is timed over a thousand that run at once, an epoch
 * with its validation over a whole training. */
#include "bench.h"

#include "app/objects.h"
#include "base/clock.h"
#include "program/internal.h"
#include "train/session.h"
#include <stdio.h>
#include <string.h>

enum { STEPS = 1000, LARGE_STEPS = 50, LARGE = 50000 };

static const char *const models[] = {"gcn", "gat", "appnp", "gcnii", "h2gcn", "mlp"};

/* Steps of the training program in one run; reading the loss waits for them. */
static consm_status time_steps(double *seconds, struct session *s, int64_t steps)
{
    consm_status st = CONSM_OK;
    struct program *p = s->learner.train.program;
    const float *loss;
    for (int warm = 0; warm < 3; warm++) {
        TRY(program_run(p, &(struct step){1, (uint64_t)warm}));
        TRY(p->backend->kind->run(p->ready, &(struct step){1, 3}, 32));
    }
    TRY(program_read(&loss, p, s->learner.train.loss));
    double begin = clock_seconds();
    TRY(p->backend->kind->run(p->ready, &(struct step){1, 100}, steps));
    p->runs++;
    TRY(program_read(&loss, p, s->learner.train.loss));
    *seconds = (clock_seconds() - begin) / (double)steps;
done:
    return st;
}

static consm_status time_model(struct bench *b, const struct problem *problem, const char *set,
                               const char *name)
{
    consm_status st = CONSM_OK;
    struct session *s = NULL;
    struct train_options options = {.seed = 1};
    struct train_result result;
    double step = 0;
    TRY(model_find(&options.model, name));
    model_defaults(options.model, &options.config);
    options.config.epochs = problem->nodes > LARGE ? LARGE_STEPS : 300;
    TRY(session_new(&s, problem, &options, b->backend));
    TRY(time_steps(&step, s, problem->nodes > LARGE ? LARGE_STEPS : STEPS));
    session_free(s);
    s = NULL;
    TRY(session_new(&s, problem, &options, b->backend));
    TRY(session_train(s, &result));
    printf("%-28s %-6s %-8s %10.4f %10.4f %9.3f %8.2f\n", set, name, b->backend->device, 1e3 * step,
           result.train_ms + result.eval_ms, result.seconds, 100 * result.test_acc);
    fflush(stdout);
done:
    session_free(s);
    return st;
}

static consm_status time_set(struct bench *b, const char *name)
{
    consm_status st = CONSM_OK;
    struct consm_dataset *data = NULL;
    const struct prepared *prepared;
    struct split_options split = split_defaults();
    uint8_t *role = NULL;
    TRY(consm_dataset_open(&data, name, NULL));
    TRY(dataset_prepared(&prepared, data));
    TRY(NEW(role, data->data->nodes));
    TRY(split_make(role, data->data, "random", 0, &split));
    struct problem problem = prepare_problem(prepared, role);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (bench_wants(b, models[i]))
            TRY(time_model(b, &problem, name, models[i]));
done:
    mem_free(role);
    consm_dataset_free(data);
    return st;
}

consm_status bench_device(struct bench *b, const char *device, char *sets)
{
    consm_status st = CONSM_OK;
    TRY(backend_open(&b->backend, device, b->threads));
    printf("%-28s %-6s %-8s %10s %10s %9s %8s\n", "set", "model", "device", "step ms", "epoch ms",
           "seconds", "test %");
    for (char *rest = sets, *name; (name = strtok_r(rest, ";", &rest));)
        TRY(time_set(b, name));
done:
    backend_close(b->backend);
    b->backend = NULL;
    return st;
}
