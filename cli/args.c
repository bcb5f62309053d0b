/* Parses flags by a verb's table, and reports errors. */
#include "args.h"

#include "progress.h"

#include "base/nearest.h"
#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct flag common_flags[] = {{"help", NULL, "show this help", 'h'}, {0}};

/* The tables a verb's flags come from, by number. */
static const struct flag *flag_table(const struct command *command, int table)
{
    switch (table) {
    case 0: return command->flags;
    case 1: return command->more_flags ? command->more_flags() : NULL;
    default: return common_flags;
    }
}

static const struct flag *find_flag(const struct command *command, const char *name, size_t length,
                                    char letter)
{
    for (int table = 0; table < 3; table++)
        for (const struct flag *f = flag_table(command, table); f && f->name; f++)
            if (letter ? f->letter == letter
                       : strncmp(f->name, name, length) == 0 && f->name[length] == 0)
                return f;
    return NULL;
}

static const char *flag_name(void *ctx, int index)
{
    for (int table = 0; table < 3; table++)
        for (const struct flag *f = flag_table(ctx, table); f && f->name; f++)
            if (index-- == 0)
                return f->name;
    return NULL;
}

const char *args_nearest(const char *word, const char *(*known)(void *ctx, int index), void *ctx)
{
    return nearest_word(word, known, ctx);
}

static int unknown_flag(const struct args *args, const char *text, size_t length)
{
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    const char *near = args_nearest(name, flag_name, (void *)args->command);
    if (near)
        return args_fail(args, EXIT_USAGE, "unknown flag --%s; did you mean --%s?", name, near);
    return args_fail(args, EXIT_USAGE, "unknown flag --%s; `consm help %s` lists all flags", name,
                     args->command->name);
}

/* Reads one flag at argv[*i]; advances *i if the value is the next word. */
static int parse_flag(struct args *args, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *value = NULL;
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    size_t length = is_long ? strcspn(name, "=") : 1;
    const struct flag *flag = find_flag(args->command, name, length, is_long ? 0 : *name);
    if (!flag)
        return is_long ? unknown_flag(args, name, length)
                       : args_fail(args, EXIT_USAGE, "unknown flag -%c", *name);
    if (name[length])
        value = name + length + (is_long ? 1 : 0);
    if (flag->value && !value) {
        if (*i + 1 >= argc)
            return args_fail(args, EXIT_USAGE, "--%s needs a value: %s", flag->name, flag->value);
        value = argv[++*i];
    }
    if (!flag->value && value)
        return args_fail(args, EXIT_USAGE, "--%s does not take a value", flag->name);
    if (args->flags == ARGS_MAX)
        return args_fail(args, EXIT_USAGE, "too many flags: the limit is %d", ARGS_MAX);
    args->flag[args->flags] = flag;
    args->value[args->flags++] = value ? value : "";
    return EXIT_DONE;
}

int args_parse(struct args *args, const struct command *command, int argc, char **argv)
{
    bool only_items = false;
    memset(args, 0, sizeof *args);
    args->command = command;
    for (int i = 0; i < argc; i++) {
        if (!only_items && strcmp(argv[i], "--") == 0) {
            only_items = true;
        } else if (!only_items && argv[i][0] == '-' && argv[i][1]) {
            int code = parse_flag(args, argc, argv, &i);
            if (code)
                return code;
        } else if (args->count == ARGS_MAX) {
            return args_fail(args, EXIT_USAGE, "too many arguments: the limit is %d", ARGS_MAX);
        } else {
            args->item[args->count++] = argv[i];
        }
    }
    return EXIT_DONE;
}

bool args_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return false;
    return *a == *b;
}

const char *args_get(const struct args *args, const char *name)
{
    for (int i = args->flags - 1; i >= 0; i--)
        if (strcmp(args->flag[i]->name, name) == 0)
            return args->value[i];
    return NULL;
}

bool args_has(const struct args *args, const char *name)
{
    return args_get(args, name) != NULL;
}

int args_double(const struct args *args, const char *name, double min, double max, double *out)
{
    const char *text = args_get(args, name);
    char *end;
    if (!text)
        return EXIT_DONE;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < min || value > max)
        return args_fail(args, EXIT_USAGE, "--%s %s: expected a number from %.10g to %.10g", name,
                         text, min, max);
    *out = value;
    return EXIT_DONE;
}

int args_int(const struct args *args, const char *name, int64_t min, int64_t max, int64_t *out)
{
    const char *text = args_get(args, name);
    char *end;
    if (!text)
        return EXIT_DONE;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < min || value > max)
        return args_fail(args, EXIT_USAGE, "--%s %s: expected a whole number from %lld to %lld",
                         name, text, (long long)min, (long long)max);
    *out = value;
    return EXIT_DONE;
}

int args_fail(const struct args *args, int code, const char *format, ...)
{
    char message[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    utf8_tame(message);
    fprintf(stderr, "consm %s: %s\n", args->command->name, message);
    return code;
}

int args_status(const struct args *args, consm_status st)
{
    bool typed = st == CONSM_EINVAL || st == CONSM_ENOTFOUND;
    /* Already cleaned; it may be a list of faults, one a line. */
    fprintf(stderr, "consm %s: %s\n", args->command->name, consm_errmsg());
    if (st == CONSM_ECANCEL && progress_stopped())
        return EXIT_INTERRUPTED;
    return typed ? EXIT_USAGE : EXIT_FAILED;
}
