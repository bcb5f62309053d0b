/* Models in the public interface: train, query, set the build function, dump. */
#include "app/objects.h"
#include "base/given.h"
#include "base/sized.h"
#include "train/session.h"

#include <math.h>
#include <string.h>

consm_status consm_train(struct consm_model **out, const struct consm_dataset *dataset,
                         const struct consm_options *options)
{
    consm_status st = CONSM_OK;
    struct trained_run run;
    if (out)
        *out = NULL;
    TRY(GIVEN(out, dataset, options));
    TRY(run_by_options(&run, dataset, options, options->seed, options->threads));
    struct consm_model *model = run.model;
    run.model = NULL;
    run_free(&run);
    *out = model;
done:
    return st;
}

/* The mean of an ensemble's ConSM runs, weighted by their votes; NaN in a file counts as 0. */
static double mean_drop_share(const struct consm_model *model)
{
    double sum = 0, votes = 0;
    for (int64_t i = 0; i < (model->members ? model->members : 1); i++) {
        const struct consm_model *part = model->members ? model->member[i] : model;
        double picks = model->members ? (double)part->picks : 1;
        if (strcmp(part->def->name, "consm") != 0)
            continue;
        sum += part->config.drop_share > 0 ? picks * part->config.drop_share : 0;
        votes += picks;
    }
    return votes > 0 ? sum / votes : 0;
}

consm_status consm_model_info(struct consm_model_info *out, const struct consm_model *model)
{
    consm_status st = GIVEN(out, model);
    if (st < 0)
        return st;
    struct consm_model_info info = {
        .model = model->def->name,
        .dataset = model->dataset,
        .split = model->split,
        .version = model->version,
        .data_sha256 = model->data_sha256,
        .seed = model->result.seed,
        .classes = model->classes,
        .features = model->features,
        .structural = model->structural,
        .parameters = model->result.params,
        .epochs = model->result.epochs,
        .best_epoch = model->result.best_epoch,
        .trained = model->count[SPLIT_TRAIN],
        .validated = model->count[SPLIT_VAL],
        .tested = model->count[SPLIT_TEST],
        .held_out = model->held_out,
        .temperature = model->temperature,
        .ece_before = model->ece_before,
        .seconds = model->result.seconds,
        .train_ms = model->result.train_ms,
        .eval_ms = model->result.eval_ms,
        .coverage = model->sets.coverage,
        .calibrated = model->sets.calibrated,
        .promised = model->sets.coverage > 0 && isfinite(model->sets.threshold),
        .smoothing = model->sets.smoothing,
        .covered = model->covered,
        .set_size = model->set_size,
        .ensemble = model->ensemble.runs,
        .members = model->members ? model->members : 1,
        .rule = model->ensemble.runs ? ensemble_rule_name[model->ensemble.rule] : "",
        .metric = config_names_metric[model->config.metric],
        .val_score = model->result.val_score,
        .positive = model->positive - 1,
        .threshold_class = model->decision.made ? model->decision.positive : -1,
        .threshold = model->decision.threshold,
        .threshold_precision = model->decision.precision,
        .threshold_recall = model->decision.recall,
        .threshold_reached = model->decision.reached,
        .doubt = model->doubt,
        .class_kind = model->class_kind,
        .backbone = model->backbone,
        .uses_weights = model_weighs(model),
        .refit_labels = model->refit.labels,
        .refit_updates = model->refit.updates,
        .fold_labels = model->result.folds.labels,
        .fold_score = model->result.folds.labels ? model->result.folds.score : (double)NAN,
        .fold_error = model->result.folds.labels ? model->result.folds.error : (double)NAN,
        .drop_share = mean_drop_share(model),
        .least_covered = model->sets.coverage > 0 ? model->least_covered : (double)NAN,
        .least_class = model->least_class,
        .threshold_folds = model->decision.folds,
        .threshold_labels = model->decision.positives,
    };
    return sized_give(out, &info, sizeof info, SIZED_UP_TO(struct consm_model_info, eval_ms));
}

consm_status consm_model_candidate(struct consm_candidate *out, const struct consm_model *model,
                                   int32_t index)
{
    consm_status st = GIVEN(out, model);
    if (st < 0)
        return st;
    if (index < 0 || index >= model->result.candidates)
        return status_fail(CONSM_ENOTFOUND, "candidate %d does not exist: the model has %d", index,
                           model->result.candidates);
    const struct train_candidate *of = &model->result.candidate[index];
    struct consm_candidate candidate = {.backbone = of->model,
                                        .settings = of->settings,
                                        .updates = of->updates,
                                        .val_score = of->val < 0 ? (double)NAN : of->val,
                                        .fold_score = of->fold < 0 ? (double)NAN : of->fold,
                                        .chosen = index == 0};
    return sized_give(out, &candidate, sizeof candidate,
                      SIZED_UP_TO(struct consm_candidate, chosen));
}

consm_status consm_model_epoch(struct consm_epoch *out, const struct consm_model *model,
                               int64_t index)
{
    consm_status st = CONSM_OK;
    TRY(GIVEN(out, model));
    if (index < 0 || index >= model->curve.count)
        return status_fail(CONSM_ENOTFOUND, "point %lld does not exist: the curve has %lld",
                           (long long)index, (long long)model->curve.count);
    const struct curve_point *p = &model->curve.point[index];
    struct consm_epoch epoch = {.member = (int64_t)p->member,
                                .candidate = (int64_t)p->candidate,
                                .number = (int64_t)p->number,
                                .loss = p->loss,
                                .val_score = p->score < -1 ? (double)NAN : p->score,
                                .backbone =
                                    p->candidate > 0 ? config_names_backbone[(int)p->backbone] : "",
                                .chosen = p->chosen == 1};
    return sized_give(out, &epoch, sizeof epoch, SIZED_UP_TO(struct consm_epoch, chosen));
done:
    return st;
}

consm_status consm_model_set_threshold(struct consm_model *model, int32_t class_index,
                                       double threshold)
{
    consm_status st = GIVEN(model);
    if (st < 0)
        return st;
    if (class_index < 0 || class_index >= model->classes)
        return status_fail(CONSM_EINVAL, "class %d: expected 0 to %d", class_index,
                           model->classes - 1);
    if (!(threshold >= 0 && threshold <= 1))
        return status_fail(CONSM_EINVAL, "threshold %g: expected a probability, 0 to 1", threshold);
    model->decision = (struct decision){.made = true,
                                        .positive = class_index,
                                        .threshold = threshold,
                                        .precision = NAN,
                                        .recall = NAN};
    return CONSM_OK;
}

void consm_model_build(struct consm_model *model, consm_build_fn build, void *ctx)
{
    if (!model)
        return;
    model->custom = (struct custom){build, ctx};
    for (int64_t i = 0; i < model->members; i++)
        if (model->member[i]->def == &model->member[i]->own)
            model->member[i]->custom = model->custom;
}

struct lines {
    consm_line_fn line;
    void *ctx;
};

static consm_status dump_program(void *ctx, const struct consm_model *part, struct session *s)
{
    const struct lines *lines = ctx;
    (void)part;
    program_dump(s->learner.eval, lines->line, lines->ctx);
    return CONSM_OK;
}

static consm_status dump_programs(void *ctx, const struct consm_model *model,
                                  const struct problem *problem, struct backend *backend)
{
    return model_each_session(model, problem, backend, dump_program, ctx);
}

consm_status consm_model_dump(const struct consm_model *model, const struct consm_dataset *dataset,
                              consm_line_fn line, void *ctx)
{
    consm_status st = GIVEN(model, dataset);
    struct lines lines = {line, ctx};
    if (st == CONSM_OK && !line)
        st = status_fail(CONSM_EINVAL, "consm_model_dump: line is NULL");
    return st < 0 ? st : model_on_dataset(model, dataset, 1, dump_programs, &lines);
}
