/* The learner: optimiser steps, and the rule for the best parameters. */
#include "nn/learner.h"

#include <math.h>
#include <stdio.h>

consm_status learner_open(struct learner *l, struct backend *backend, uint64_t seed)
{
    l->backend = backend;
    l->seed = seed;
    l->best = -INFINITY;
    return params_new(&l->params);
}

void lesson_free(struct lesson *lesson)
{
    program_free(lesson->program);
    *lesson = (struct lesson){0};
}

void learner_close(struct learner *l)
{
    lesson_free(&l->train);
    program_free(l->eval);
    params_free(l->params);
    *l = (struct learner){0};
}

consm_status learner_lesson(struct learner *l, struct lesson *out, struct program *p, node loss,
                            double lr, double weight_decay)
{
    out->program = p;
    out->loss = program_minimize(p, loss);
    l->lr = lr;
    program_optimize(p, &(struct adam_options){lr, 0.9, 0.999, 1e-8, weight_decay});
    return l->backend->kind->room ? program_compile_later(p, l->backend)
                                  : program_compile(p, l->backend);
}

consm_status learner_start(struct learner *l, uint64_t seed, bool keeps)
{
    consm_status st = params_init(l->params, seed);
    if (st == CONSM_OK && keeps)
        st = params_allocate(l->params, l->backend, PLACE_BEST);
    return st;
}

consm_status learner_run(struct learner *l, struct program *p)
{
    return program_run(p, &(struct step){l->seed, (uint64_t)l->steps});
}

consm_status learner_read(const float **out, struct learner *l, struct program *p, node x)
{
    return learner_read_rows(out, l, p, x, NULL, 0);
}

consm_status learner_read_rows(const float **out, struct learner *l, struct program *p, node x,
                               const int32_t *row, int64_t count)
{
    consm_status st = learner_run(l, p);
    return st < 0 ? st : program_read_rows(out, p, x, row, count);
}

consm_status learner_step(struct learner *l, const struct lesson *lesson, double *loss)
{
    consm_status st = CONSM_OK;
    const float *value;
    TRY(learner_read(&value, l, lesson->program, lesson->loss));
    *loss = (double)value[0];
    TRY(learner_took(l, *loss));
done:
    return st;
}

bool learner_far(const struct learner *l)
{
    return !l->params->block[PLACE_VALUE].memory->host;
}

consm_status learner_step_unseen(struct learner *l, const struct lesson *lesson)
{
    consm_status st = learner_run(l, lesson->program);
    l->steps += st == CONSM_OK;
    return st;
}

consm_status learner_look(struct learner *l, const struct lesson *lesson, double *loss)
{
    consm_status st = CONSM_OK;
    const float *value;
    TRY(program_read(&value, lesson->program, lesson->loss));
    *loss = (double)value[0];
    l->steps--;
    TRY(learner_took(l, *loss));
done:
    return st;
}

consm_status learner_took(struct learner *l, double loss)
{
    l->steps++;
    if (!isfinite(loss))
        return status_fail(CONSM_ENUMERIC, "%s is %g at %s %lld with learning rate %g; %s", l->what,
                           loss, l->unit, (long long)l->steps, l->lr, l->advice);
    return CONSM_OK;
}

consm_status learner_judge(struct learner *l, double score, double loss, bool anyway)
{
    if (!(score > l->best || (score == l->best && loss < l->best_loss) || anyway))
        return CONSM_OK;
    l->best = score;
    l->best_loss = loss;
    l->best_step = l->steps;
    return block_copy(&l->params->block[PLACE_BEST], &l->params->block[PLACE_VALUE]);
}

consm_status learner_restore(struct learner *l)
{
    return block_copy(&l->params->block[PLACE_VALUE], &l->params->block[PLACE_BEST]);
}

consm_status learner_memory(struct learner *l, const char *prefix, memory_fn see, void *ctx)
{
    static const struct {
        enum place place;
        const char *name;
    } blocks[] = {{PLACE_VALUE, "parameters"},
                  {PLACE_MOMENT1, "moment1"},
                  {PLACE_MOMENT2, "moment2"},
                  {PLACE_BEST, "best"}};
    consm_status st = CONSM_OK;
    char name[64];
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, blocks[i].name);
        if (l->params->block[blocks[i].place].memory)
            TRY(params_memory(l->params, blocks[i].place, name, see, ctx));
    }
done:
    return st;
}
