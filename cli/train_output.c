/* Writes the output folder of a training run. */
#include "train_output.h"

#include "app/report.h"
#include "app/suspects.h"

#include "app/differences.h"
#include "app/metrics_json.h"
#include "config_file.h"
#include "edges_output.h"
#include "io/file.h"
#include "io/folder.h"
#include "predictions_output.h"
#include "train/consm/candidates.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- config.yaml --------------------------------------------------------- */

static void yaml_line(struct text *t, const char *key, const char *value)
{
    text_printf(t, "%s: ", key);
    yaml_scalar(t, value);
    text_add(t, "\n");
}

/* An existing path is written in full, so that the file works from any folder. */
static void yaml_path(struct text *t, const char *key, const char *value)
{
    char full[PATH_MAX];
    yaml_line(t, key, access(value, F_OK) == 0 && realpath(value, full) ? full : value);
}

static void yaml_number(struct text *t, const char *key, unsigned long long value)
{
    text_printf(t, "%s: %llu\n", key, value);
}

/* Flags about how the work is done or shown, not about the result. */
static bool is_about_the_machine(const char *flag)
{
    static const char *const names[] = {
        "config",  "output", "embeddings", "resume",           "force", "strict", "quiet", "json",
        "threads", "jobs",   "help",       "checkpoint-every", NULL};
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], flag) == 0)
            return true;
    return false;
}

static bool is_written_already(const char *flag)
{
    static const char *const names[] = {"model", "split", "seed", "seeds", NULL};
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], flag) == 0)
            return true;
    return config_find(flag) != NULL;
}

static bool is_path(const char *flag)
{
    return strcmp(flag, "data-dir") == 0 || strcmp(flag, "labels") == 0 ||
           strcmp(flag, "features") == 0;
}

/* Parameters that candidates of --backbone auto set are left out unless the user gave them: a
 * parameter in the file counts as given and would hold for every candidate. The same holds for a
 * warm-up that grows with the labels (--stretch auto). */
static bool is_left_open(const struct consm_options *o, int row)
{
    const struct config *c = options_config(o);
    bool given = options_given(o)[row] || (row == CONFIG_ROW_normalize_features &&
                                           c->normalize_features == FEATURES_STANDARD);
    bool brought = c->backbone == BACKBONE_AUTO && consm_candidate_brings(row);
    return strcmp(options_method(o)->name, "consm") == 0 && (brought || row == CONFIG_ROW_warmup) &&
           !given;
}

/* Flags that are neither parameters nor common: per-class, data-dir, …; of repeated ones the last
 * counts. */
static void yaml_other_flags(struct text *t, const struct args *args)
{
    for (int i = 0; i < args->flags; i++) {
        const struct flag *flag = args->flag[i];
        bool repeated = false;
        for (int j = i + 1; j < args->flags; j++)
            repeated = repeated || args->flag[j] == flag;
        if (repeated || is_about_the_machine(flag->name) || is_written_already(flag->name))
            continue;
        if (!flag->value)
            yaml_line(t, flag->name, "true");
        else if (is_path(flag->name))
            yaml_path(t, flag->name, args->value[i]);
        else
            yaml_line(t, flag->name, args->value[i]);
    }
}

static consm_status write_config(const char *path, const struct args *args,
                                 const struct train_identity *run)
{
    struct text t = {0};
    char buffer[32];
    text_printf(&t, "# consm %s. `consm train --config` with this file repeats the run exactly.\n",
                consm_version());
    const char *sha256 = dataset_read(run->data)->sha256;
    if (sha256[0])
        text_printf(&t, "# SHA-256 of the data: %s\n", sha256);
    yaml_path(&t, "dataset", run->dataset);
    yaml_line(&t, "model", options_method(run->options)->name);
    yaml_path(&t, "split", consm_options_get(run->options, "split", buffer));
    yaml_line(&t, "seed", consm_options_get(run->options, "seed", buffer));
    yaml_number(&t, "seeds", (unsigned long long)run->seeds);
    yaml_other_flags(&t, args);
    for (const struct config_row *row = config_rows(); row->name; row++)
        if (!is_left_open(run->options, (int)(row - config_rows())))
            yaml_line(&t, row->name, config_text(options_config(run->options), row, buffer));
    consm_status st = text_save(&t, path);
    text_free(&t);
    return st;
}

/* ---- the folder ---------------------------------------------------------- */

consm_status train_output_open(struct train_output *out, const struct args *args,
                               const struct train_identity *run)
{
    consm_status st = CONSM_OK;
    out->lock = -1;
    if (file_writes()) {
        TRY(file_make_folders(out->folder));
        TRY(folder_lock(&out->lock, out->folder));
    }
    TRY(file_join(&out->checkpoint, out->folder, "checkpoint.safetensors"));
    if (file_writes())
        file_sweep(out->checkpoint); /* this run may never write one */
    TRY(file_join(&out->config, out->folder, "checkpoint.yaml"));
    TRY(write_config(out->config, args, run));
done:
    return st;
}

/* A configuration without a checkpoint cannot be resumed. */
void train_output_close(struct train_output *out)
{
    if (out->config && file_writes() && file_kind(out->checkpoint) == FILE_MISSING)
        unlink(out->config);
    if (out->checkpoint)
        folder_unlock(out->lock);
    mem_free(out->checkpoint);
    mem_free(out->config);
    out->checkpoint = out->config = NULL;
}

/* ---- the rest ------------------------------------------------------------ */

static consm_status write_metrics(const char *path, const struct consm_model *model)
{
    struct text t = {0};
    model_metrics_to_json(&t, model);
    consm_status st = text_status(&t);
    if (st == CONSM_OK)
        st = text_save(&t, path);
    text_free(&t);
    return st;
}

/* An existing model is also kept under the next free name: model.safetensors.1, .2, …. It keeps its
 * own name until the new one replaces it, so that a failed run changes nothing. */
static consm_status keep_aside(const char *path)
{
    char aside[PATH_MAX];
    if (file_kind(path) == FILE_MISSING)
        return CONSM_OK;
    for (int number = 1; number < 10000; number++) {
        snprintf(aside, sizeof aside, "%s.%d", path, number);
        if (file_kind(aside) != FILE_MISSING)
            continue;
        if (link(path, aside) != 0 && rename(path, aside) != 0) /* no links here */
            return status_fail(CONSM_EIO, "%s: cannot be renamed to %s; --force overwrites it",
                               path, aside);
        fprintf(
            stderr,
            "consm train: warning: the existing model was renamed to %s (--force overwrites it)\n",
            aside);
        return CONSM_OK;
    }
    return status_fail(CONSM_EIO,
                       "%s: too many older models in the same folder: delete some, or use --force",
                       path);
}

consm_status train_output_write(const struct train_output *out, const struct trained_run *run,
                                const struct consm_dataset *data)
{
    consm_status st = CONSM_OK;
    struct consm_edge_scores *scores = NULL; /* the trained model's scores on its own graph */
    struct suspects suspects = {0};
    struct consm_prediction *before = NULL;
    struct consm_edge_scores *trust = NULL;
    struct differences changes = {.model = {out->from, run->model},
                                  .said = {NULL, run->prediction}};
    enum { FILES = 8 };
    char *path[FILES] = {0};
    static const char *const name[FILES] = {"model.safetensors", "predictions.csv", "metrics.json",
                                            "report.html",       "edges.csv",       "config.yaml",
                                            "suspects.csv",      "graph.svg"};
    for (int i = 0; i < FILES; i++)
        TRY(file_join(&path[i], out->folder, name[i]));
    if (!out->force && file_writes())
        TRY(keep_aside(path[0]));
    TRY(consm_model_save(run->model, path[0]));
    if (file_writes() && rename(out->config, path[5]) != 0)
        TRY(status_fail(CONSM_EIO, "%s: cannot write: %s", path[5], strerror(errno)));
    TRY(predictions_write(path[1], run->model, run->prediction, data,
                          &(struct predictions_style){.probabilities = out->probabilities,
                                                      .safe_csv = out->safe_csv}));
    TRY(write_metrics(path[2], run->model));
    TRY(consm_score_edges_on(&scores, run->model, data, out->device, out->threads));
    TRY(edges_write(path[4], scores, data, out->safe_csv, false));
    if (dataset_read(data)->rows) {
        fprintf(stderr, "consm train: no report.html, because the graph is in parts\n");
    } else {
        TRY(suspects_find(&suspects, run->model, data, run->prediction, &run->roles, out->threads));
        TRY(suspects_write(path[6], &suspects, run->model, data, run->prediction, out->safe_csv));
        if (out->from) {
            TRY(consm_predict_on(&before, out->from, data, out->device, out->threads));
            TRY(consm_score_edges_on(&trust, out->from, data, out->device, out->threads));
            changes.said[0] = before;
            changes.trust[0] = trust;
            changes.trust[1] = scores;
            TRY(differences_find(&changes, REPORT_MOVED));
        }
        TRY(report_run(path[3], &(struct report_input){run, dataset_read(data), scores,
                                                       "consm train --config config.yaml", data,
                                                       out->threads, &suspects, path[7],
                                                       out->from ? &changes : NULL}));
    }
    if (file_writes()) {
        unlink(out->checkpoint);
        file_sweep(out->checkpoint);
    }
done:
    suspects_free(&suspects);
    differences_free(&changes);
    consm_prediction_free(before);
    consm_edge_scores_free(trust);
    consm_edge_scores_free(scores);
    for (int i = 0; i < FILES; i++)
        mem_free(path[i]);
    return st;
}
