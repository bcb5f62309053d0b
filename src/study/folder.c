/* A study's folder: opens it and writes study.json. */
#include "study/study.h"

#include "io/file.h"
#include "io/folder.h"
#include "io/json_text.h"
#include <stdlib.h>
#include <string.h>

static consm_status read_about(struct study_folder *f)
{
    consm_status st = CONSM_OK;
    char *path = NULL;
    struct file_map map = {0};
    json_error_t error;
    TRY(file_join(&path, f->path, "study.json"));
    if (file_kind(path) == FILE_MISSING) {
        f->about = json_pack("{s:s, s:{}, s:[], s:[]}", "version", consm_version(), "data",
                             "studies", "invocations");
        if (!f->about)
            TRY(status_fail(CONSM_ENOMEM, "out of memory for study.json"));
        goto done;
    }
    TRY(file_map(&map, path));
    f->about = json_loadb((const char *)map.data, map.size, JSON_REJECT_DUPLICATES, &error);
    if (!f->about)
        TRY(status_fail(CONSM_EFORMAT, "%s: line %d, column %d: %s", path, error.line, error.column,
                        error.text));
    if (!json_is_object(json_object_get(f->about, "data")) ||
        !json_is_array(json_object_get(f->about, "studies")) ||
        !json_is_array(json_object_get(f->about, "invocations")))
        TRY(status_fail(CONSM_EFORMAT, "%s: data, studies or invocations are missing", path));
done:
    file_unmap(&map);
    mem_free(path);
    return st;
}

consm_status folder_open(struct study_folder *out, const char *path, enum runs_mode mode)
{
    consm_status st = CONSM_OK;
    char *runs = NULL;
    *out = (struct study_folder){.lock = -1};
    if (mode == RUNS_APPEND) {
        TRY(file_make_folders(path));
        TRY(folder_lock(&out->lock, path));
    } else if (file_kind(path) != FILE_FOLDER) {
        return status_fail(CONSM_EIO, "%s: folder not found; `consm study -o %s` creates one", path,
                           path);
    }
    if (!(out->path = mem_strdup(path)))
        TRY(CONSM_ENOMEM);
    TRY(file_join(&runs, path, "runs.jsonl"));
    TRY(runs_open(&out->runs, runs, mode));
    TRY(read_about(out));
done:
    mem_free(runs);
    if (st < 0)
        folder_close(out);
    return st;
}

void folder_close(struct study_folder *f)
{
    runs_close(f->runs);
    json_decref(f->about);
    mem_free(f->path);
    folder_unlock(f->lock);
    *f = (struct study_folder){.lock = -1};
}

consm_status folder_enter(struct study_folder *f, const char *study, json_t *options)
{
    json_t *list = json_object_get(f->about, "studies"), *entry;
    for (size_t i = json_array_size(list); i-- > 0;) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "study"));
        if (name && strcmp(name, study) == 0)
            json_array_remove(list, i);
    }
    entry = json_pack("{s:s, s:O}", "study", study, "options", options);
    return json_array_append_new(list, entry) == 0
               ? CONSM_OK
               : status_fail(CONSM_ENOMEM, "out of memory for study.json");
}

consm_status folder_invoked(struct study_folder *f, const char *command, double seconds,
                            int64_t runs)
{
    json_t *entry = json_pack("{s:s, s:f, s:I, s:s}", "command", command, "seconds", seconds,
                              "runs", (json_int_t)runs, "machine", execute_machine());
    return json_array_append_new(json_object_get(f->about, "invocations"), entry) == 0
               ? CONSM_OK
               : status_fail(CONSM_EINVAL, "study.json: the command is not UTF-8");
}

consm_status folder_save(struct study_folder *f)
{
    consm_status st = CONSM_OK;
    char *path = NULL, *text = NULL;
    struct file_writer *file = NULL;
    TRY(file_join(&path, f->path, "study.json"));
    if (!(text = json_text(f->about, JSON_INDENT(1) | JSON_REAL_PRECISION(17))))
        TRY(status_fail(CONSM_ENOMEM, "out of memory for study.json"));
    TRY(file_create(&file, path));
    TRY(file_write(file, text, strlen(text)));
    TRY(file_write(file, "\n", 1));
    TRY(file_commit(file));
done:
    file_close(file);
    free(text);
    mem_free(path);
    return st;
}
