/* `consm models`: lists the models, their papers and their parameters. */
#include "commands.h"
#include "config_args.h"
#include "json_line.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {{"json", NULL, "print as JSON", 0}, {0}};

/* Calls fn for each name in a list separated by blanks. */
static void each_knob(const char *knobs, void (*fn)(void *ctx, const struct config_row *row),
                      void *ctx)
{
    char name[48];
    while (*knobs) {
        size_t length = strcspn(knobs, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, knobs);
        if (config_find(name))
            fn(ctx, config_find(name));
        knobs += length + (knobs[length] == ' ');
    }
}

static void print_knob(void *ctx, const struct config_row *row)
{
    char buffer[32];
    char flag[48];
    snprintf(flag, sizeof flag, "--%s", row->name);
    for (char *c = flag + 2; *c; c++)
        if (*c == '_')
            *c = '-';
    printf("    %-22s %-8s %s\n", flag, config_text(ctx, row, buffer), row->help);
}

struct json_knobs {
    const struct config *config;
    json_t *object;
};

static void add_knob(void *ctx, const struct config_row *row)
{
    struct json_knobs *knobs = ctx;
    char buffer[32];
    const char *text = config_text(knobs->config, row, buffer);
    json_t *number = row->kind == CONFIG_WORD ? NULL : json_loads(text, JSON_DECODE_ANY, NULL);
    json_object_set_new(knobs->object, row->name, number ? number : json_string(text));
}

static int run(struct args *args)
{
    struct config config;
    if (args->count)
        return args_fail(args, EXIT_USAGE, "unexpected argument %s", args->item[0]);
    for (const struct model_def *const *m = model_list_all(); *m; m++) {
        model_defaults(*m, &config);
        if (args_has(args, "json")) {
            struct json_knobs knobs = {&config, json_object()};
            each_knob((*m)->knobs, add_knob, &knobs);
            json_t *line = json_pack("{s:s, s:s, s:s, s:o}", "model", (*m)->name, "title",
                                     (*m)->title, "paper", (*m)->paper, "defaults", knobs.object);
            json_line(line, 0);
        } else {
            printf("%-10s %s (%s)\n", (*m)->name, (*m)->title, (*m)->paper);
            each_knob((*m)->knobs, print_knob, &config);
        }
    }
    return EXIT_DONE;
}

const struct command cmd_models = {
    .name = "models",
    .summary = "list the models, their papers and their parameters",
    .usage = "[--json]",
    .text =
        "Lists each model with its own parameters and their defaults. All models also take the\n"
        "training parameters, such as --epochs, --lr and --metric (`consm help train`).\n\n"
        "  consm models\n"
        "  consm models --json\n",
    .flags = flags,
    .run = run,
};
