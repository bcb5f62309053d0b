/* Makes flags from the parameter table, once, and reads them back. */
#include "config_args.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 128 };

static struct flag flags[MOST + 1];
static char names[MOST][32], helps[MOST][320];

static void describe(char *text, size_t size, const struct config_row *row)
{
    int used = snprintf(text, size, "%s", row->help);
    if (row->kind == CONFIG_AUTO) {
        snprintf(text + used, size - (size_t)used, "\n(auto; or %g to %g)", row->min, row->max);
        return;
    }
    if (row->kind != CONFIG_WORD) {
        snprintf(text + used, size - (size_t)used, "\n(%g; %g to %g)", row->value, row->min,
                 row->max);
        return;
    }
    used +=
        snprintf(text + used, size - (size_t)used, "\n(%s; one of", row->choices[(int)row->value]);
    for (int i = 0; row->choices[i] && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s %s", i ? "," : "", row->choices[i]);
    if ((size_t)used < size)
        snprintf(text + used, size - (size_t)used, ")");
}

const struct flag *config_flags(void)
{
    static const char *const value[] = {"N", "X", "X", "WORD"};
    const struct config_row *row = config_rows();
    for (int i = 0; i < MOST && row[i].name; i++) {
        snprintf(names[i], sizeof names[i], "%s", row[i].name);
        for (char *c = names[i]; *c; c++)
            if (*c == '_')
                *c = '-';
        describe(helps[i], sizeof helps[i], &row[i]);
        flags[i] = (struct flag){names[i], value[row[i].kind], helps[i], 0};
    }
    return flags;
}

/* The library's message with its parameter as a flag that can be typed. */
static int bad_value(const struct args *args)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", consm_errmsg());
    for (char *c = text; *c && *c != ' '; c++)
        *c = *c == '_' ? '-' : *c;
    return args_fail(args, EXIT_USAGE, "--%s", text);
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* A parameter of another model changes nothing here, which a person should know. ConSM hands its
 * backbones everything. */
static void warn_unused(const struct args *args, const struct model_def *model,
                        const struct config_row *row)
{
    bool known = false;
    char flag[40];
    for (const struct model_def *const *other = model_list(); *other; other++)
        known = known || has_word((*other)->knobs, row->name);
    if (!known || has_word(model->knobs, row->name) || strcmp(model->name, "consm") == 0 ||
        args_has(args, "propagation") || args_has(args, "config"))
        return;
    snprintf(flag, sizeof flag, "%s", row->name);
    for (char *c = flag; *c; c++)
        *c = *c == '_' ? '-' : *c;
    args_fail(args, 0, "warning: %s does not use --%s", model->name, flag);
}

int config_args(struct config *c, bool given[CONFIG_ROWS], const struct args *args,
                const struct model_def *model)
{
    const char *profile = args_get(args, "profile");
    model_defaults(model, c);
    memset(given, 0, CONFIG_ROWS * sizeof *given);
    if (profile && config_set(c, "profile", profile) < 0)
        return bad_value(args);
    for (int i = 0; i < args->flags; i++) {
        if (strcmp(args->flag[i]->name, "profile") == 0)
            continue;
        const struct config_row *row = config_find(args->flag[i]->name);
        if (!row)
            continue;
        given[row - config_rows()] = true;
        consm_status st = config_set(c, args->flag[i]->name, args->value[i]);
        if (st < 0)
            return bad_value(args);
        warn_unused(args, model, row);
    }
    return EXIT_DONE;
}
