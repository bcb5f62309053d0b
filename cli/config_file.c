/* Reads YAML with libyaml's events: one mapping of plain values, nothing nested. */
#include "config_file.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "io/file.h"
#include "report/text.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct reading {
    struct config_file *file;
    struct args *args;
    const char *path;
    yaml_parser_t parser;
    int found; /* flags read */
    const struct flag *flag[ARGS_MAX];
    const char *value[ARGS_MAX];
    const char *dataset;
};

static int fail_at(const struct reading *r, const yaml_mark_t *mark, const char *what,
                   const char *name)
{
    return args_fail(r->args, EXIT_USAGE, "%s: line %zu, column %zu: %s%s", r->path, mark->line + 1,
                     mark->column + 1, what, name);
}

/* Stores a text as long as args may point to it. */
static const char *keep(struct config_file *file, const char *text, size_t length)
{
    char *copy = mem_strndup(text, length);
    if (!copy || GROW(file->text, file->count, file->capacity, 1) < 0) {
        mem_free(copy);
        return NULL;
    }
    return file->text[file->count++] = copy;
}

static const struct flag *flag_at(const struct command *command, int index)
{
    const struct flag *f = command->flags;
    for (; f->name; f++)
        if (index-- == 0)
            return f;
    for (f = command->more_flags ? command->more_flags() : f; f->name; f++)
        if (index-- == 0)
            return f;
    return NULL;
}

static const char *key_name(void *ctx, int index)
{
    if (index == 0)
        return "dataset";
    const struct flag *f = flag_at(ctx, index - 1);
    return f ? f->name : NULL;
}

/* Only typed flags choose where files are written or replaced: a configuration may come from anyone
 * (SECURITY.md). */
static bool chooses_output(const char *flag)
{
    return strcmp(flag, "output") == 0 || strcmp(flag, "embeddings") == 0 ||
           strcmp(flag, "force") == 0;
}

static int unknown_key(const struct reading *r, const yaml_mark_t *mark, const char *name)
{
    char text[160];
    const char *near = nearest_word(name, key_name, (void *)r->args->command);
    snprintf(text, sizeof text, "unknown key %.60s%s%s%s", name, near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "");
    return fail_at(r, mark, text, "");
}

/* A flag without a value is set by true and left out by false. */
static int take_switch(struct reading *r, const yaml_mark_t *mark, const struct flag *flag,
                       const char *value)
{
    if (strcmp(value, "false") == 0)
        return EXIT_DONE;
    if (strcmp(value, "true") != 0)
        return fail_at(r, mark, flag->name, " must be true or false");
    r->flag[r->found] = flag;
    r->value[r->found++] = "";
    return EXIT_DONE;
}

static int take_pair(struct reading *r, const yaml_event_t *key, const yaml_event_t *value)
{
    const char *name = (const char *)key->data.scalar.value;
    const struct flag *flag = NULL;
    const char *text =
        keep(r->file, (const char *)value->data.scalar.value, value->data.scalar.length);
    if (!text)
        return args_status(r->args, CONSM_ENOMEM);
    if (strlen(text) != value->data.scalar.length || strlen(name) != key->data.scalar.length)
        return fail_at(r, &key->start_mark, "the text contains a zero byte", "");
    if (args_same_name(name, "dataset")) {
        if (r->dataset)
            return fail_at(r, &key->start_mark, "duplicate key ", name);
        r->dataset = text;
        return EXIT_DONE;
    }
    for (int i = 0; (flag = flag_at(r->args->command, i)); i++)
        if (args_same_name(flag->name, name))
            break;
    if (!flag)
        return unknown_key(r, &key->start_mark, name);
    if (strcmp(flag->name, "config") == 0)
        return fail_at(r, &key->start_mark,
                       "a configuration file cannot include another one: remove ", name);
    if (chooses_output(flag->name))
        return fail_at(r, &key->start_mark,
                       "a configuration file cannot choose output files; instead, type --",
                       flag->name);
    for (int i = 0; i < r->found; i++)
        if (r->flag[i] == flag)
            return fail_at(r, &key->start_mark, "duplicate key ", name);
    if (r->found == ARGS_MAX)
        return fail_at(r, &key->start_mark, "too many keys", "");
    if (!flag->value)
        return take_switch(r, &value->start_mark, flag, text);
    r->flag[r->found] = flag;
    r->value[r->found++] = text;
    return EXIT_DONE;
}

static int next_event(struct reading *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return EXIT_DONE;
    memset(event, 0, sizeof *event);
    return fail_at(r, &r->parser.problem_mark,
                   r->parser.problem ? r->parser.problem : "not valid YAML", "");
}

/* The pairs of the mapping, until it ends. */
static int read_pairs(struct reading *r)
{
    int code = EXIT_DONE;
    bool open = true;
    while (code == EXIT_DONE && open) {
        yaml_event_t key = {0}, value = {0};
        code = next_event(r, &key);
        open = key.type != YAML_MAPPING_END_EVENT;
        if (code == EXIT_DONE && open) {
            if (key.type != YAML_SCALAR_EVENT)
                code = fail_at(r, &key.start_mark, "expected `key: value`", "");
            else if ((code = next_event(r, &value)) == EXIT_DONE)
                code = value.type == YAML_SCALAR_EVENT
                           ? take_pair(r, &key, &value)
                           : fail_at(r, &value.start_mark, "expected a single value for ",
                                     (const char *)key.data.scalar.value);
        }
        yaml_event_delete(&key);
        yaml_event_delete(&value);
    }
    return code;
}

/* An empty file is fine; otherwise there is exactly one document, a mapping. */
static int read_document(struct reading *r)
{
    int code = EXIT_DONE;
    bool done = false;
    while (code == EXIT_DONE && !done) {
        yaml_event_t event = {0};
        if ((code = next_event(r, &event)) != EXIT_DONE)
            break;
        if (event.type == YAML_MAPPING_START_EVENT)
            code = read_pairs(r);
        else if (event.type == YAML_STREAM_END_EVENT)
            done = true;
        else if (event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
                 event.type != YAML_DOCUMENT_END_EVENT &&
                 !(event.type == YAML_SCALAR_EVENT && event.data.scalar.length == 0))
            code = fail_at(r, &event.start_mark, "expected `key: value` lines", "");
        yaml_event_delete(&event);
    }
    return code;
}

/* Puts the file's flags before the typed ones. */
static int merge(struct reading *r)
{
    struct args *args = r->args;
    if (args->flags + r->found > ARGS_MAX)
        return args_fail(args, EXIT_USAGE, "too many flags: the limit is %d", ARGS_MAX);
    memmove(args->flag + r->found, args->flag, (size_t)args->flags * sizeof(args->flag[0]));
    memmove(args->value + r->found, args->value, (size_t)args->flags * sizeof(args->value[0]));
    memcpy(args->flag, r->flag, (size_t)r->found * sizeof(args->flag[0]));
    memcpy(args->value, r->value, (size_t)r->found * sizeof(args->value[0]));
    args->flags += r->found;
    args->from_file = r->found;
    if (args->count == 0 && r->dataset)
        args->item[args->count++] = r->dataset;
    return EXIT_DONE;
}

/* "# SHA-256 of the data: …" in one of the first lines. */
static void note_hash(struct config_file *file, const char *text, size_t size)
{
    static const char mark[] = "# SHA-256 of the data: ";
    size_t length = sizeof mark - 1, digits = sizeof file->sha256 - 1;
    for (size_t at = 0; at + length + digits <= size && at < 1024; at++)
        if (memcmp(text + at, mark, length) == 0) {
            memcpy(file->sha256, text + at + length, digits);
            return;
        }
}

void config_file_warn(const struct config_file *file, const struct args *args, const char *sha256)
{
    if (file->sha256[0] && strcmp(file->sha256, sha256) != 0)
        args_fail(args, 0, "warning: the data changed since %s was written: results will differ",
                  args_get(args, "config"));
}

int config_file_apply(struct config_file *file, struct args *args)
{
    static struct reading r; /* large, and used once a process */
    struct file_map map;
    r = (struct reading){.file = file, .args = args, .path = args_get(args, "config")};
    if (!r.path)
        return EXIT_DONE;
    if (file_map(&map, r.path) < 0)
        return args_fail(args, EXIT_FAILED, "%s", consm_errmsg());
    if (!yaml_parser_initialize(&r.parser)) {
        file_unmap(&map);
        return args_fail(args, EXIT_FAILED, "out of memory");
    }
    static const yaml_char_t nothing[] = "";
    yaml_parser_set_input_string(&r.parser, map.size ? map.data : nothing, map.size);
    note_hash(file, (const char *)map.data, map.size);
    int code = read_document(&r);
    yaml_parser_delete(&r.parser);
    file_unmap(&map);
    return code == EXIT_DONE ? merge(&r) : code;
}

void config_file_free(struct config_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        mem_free(file->text[i]);
    mem_free(file->text);
    *file = (struct config_file){0};
}

void yaml_scalar(struct text *out, const char *value)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=,";
    bool simple = *value && strspn(value, plain) == strlen(value) && !strchr("-=,", *value);
    if (simple)
        text_add(out, value);
    else
        text_json(out, value); /* JSON strings are YAML */
}
