/* Makes flags from the parameter table, once, and reads them back. */
#include "config_args.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 128 };

static struct flag flags[MOST + 1];
static char names[MOST][32], helps[MOST][512];

/* The default model of `consm train`. */
static const struct model_def *default_model(void)
{
    const struct model_def *model = NULL;
    (void)model_find(&model, "consm");
    return model;
}

static void describe(char *text, size_t size, const struct config_row *row,
                     const struct config *defaults)
{
    char value[32], most[32];
    int used = snprintf(text, size, "%s", row->help);
    const char *shown = config_text(defaults, row, value);
    if (row->kind != CONFIG_WORD) {
        snprintf(most, sizeof most, row->kind == CONFIG_INT ? "%.0f" : "%.10g", row->max);
        snprintf(text + used, size - (size_t)used, "\n(%s; %s%g to %s)", shown,
                 row->kind == CONFIG_AUTO ? "auto or " : "", row->min, most);
        return;
    }
    used += snprintf(text + used, size - (size_t)used, "\n(%s; one of", shown);
    for (int i = 0; row->choices[i] && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s %s", i ? "," : "", row->choices[i]);
    if ((size_t)used < size)
        snprintf(text + used, size - (size_t)used, ")");
}

const struct flag *config_flags_of(const struct model_def *model)
{
    static const char *const value[] = {"N", "X", "X", "WORD"};
    const struct config_row *row = config_rows();
    struct config defaults;
    model_defaults(model, &defaults);
    for (int i = 0; i < MOST && row[i].name; i++) {
        snprintf(names[i], sizeof names[i], "%s", row[i].name);
        for (char *c = names[i]; *c; c++)
            if (*c == '_')
                *c = '-';
        describe(helps[i], sizeof helps[i], &row[i], &defaults);
        flags[i] = (struct flag){names[i], value[row[i].kind], helps[i], 0};
    }
    return flags;
}

const struct flag *config_flags(void)
{
    return config_flags_of(default_model());
}

/* The library's message with its parameter as a flag. */
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

/* What sets the length of a model that trains in rounds, instead of this parameter; NULL: nothing.
 */
static const char *in_rounds(const struct model_def *model, const struct config_row *row)
{
    bool gam = strcmp(model->name, "gam") == 0;
    if (gam && strcmp(row->name, "epochs") == 0)
        return "--warmup, --rounds and --gnn-steps";
    if ((gam || strcmp(model->name, "consm") == 0) && strcmp(row->name, "patience") == 0)
        return "--round-patience";
    return NULL;
}

/* Warns that a parameter of another model has no effect. ConSM passes everything to its backbones.
 */
static void warn_unused(const struct args *args, const struct model_def *model,
                        const struct config_row *row)
{
    bool known = false;
    char flag[40];
    const char *instead = args_has(args, "config") ? NULL : in_rounds(model, row);
    if (instead)
        args_fail(args, 0, "warning: %s does not use --%s; use %s", model->name, row->name,
                  instead);
    for (const struct model_def *const *other = model_list_all(); *other; other++)
        known = known || has_word((*other)->knobs, row->name);
    if (!known || has_word(model->knobs, row->name) || strcmp(model->name, "consm") == 0 ||
        args_has(args, "propagation") || args_has(args, "config"))
        return;
    snprintf(flag, sizeof flag, "%s", row->name);
    for (char *c = flag; *c; c++)
        *c = *c == '_' ? '-' : *c;
    args_fail(args, 0, "warning: %s does not use --%s", model->name, flag);
}

/* The flags from number `begin` on: first the profile, then the others, which override it. */
static int take_flags(struct config *c, bool given[CONFIG_ROWS], const struct args *args, int begin,
                      int end, const struct model_def *model)
{
    struct config defaults;
    model_defaults(model ? model : default_model(), &defaults);
    for (int i = begin; i < end; i++)
        if (strcmp(args->flag[i]->name, "profile") == 0) {
            if (config_set(c, "profile", args->value[i]) < 0)
                return bad_value(args);
            config_settle_profile(c, &defaults, (bool[CONFIG_ROWS]){0});
            for (int row = 0; row < CONFIG_ROWS; row++)
                given[row] = given[row] && !config_profile_decides(row);
        }
    for (int i = begin; i < end; i++) {
        const struct config_row *row = config_find(args->flag[i]->name);
        if (!row || row - config_rows() == CONFIG_ROW_profile)
            continue;
        given[row - config_rows()] = true;
        if (config_set(c, row->name, args->value[i]) < 0)
            return bad_value(args);
        if (model)
            warn_unused(args, model, row);
    }
    return EXIT_DONE;
}

int config_args(struct config *c, bool given[CONFIG_ROWS], const struct args *args,
                const struct model_def *model)
{
    model_defaults(model ? model : default_model(), c);
    memset(given, 0, CONFIG_ROWS * sizeof *given);
    int code = take_flags(c, given, args, 0, args->from_file, model);
    return code ? code : take_flags(c, given, args, args->from_file, args->flags, model);
}
