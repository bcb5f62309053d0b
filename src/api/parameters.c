/* Lists the methods and the options of each method. */
#include "api/run_options.h"
#include "app/objects.h"
#include "base/given.h"
#include "base/sized.h"

#include <stdio.h>
#include <string.h>

consm_status consm_method_get(struct consm_method *out, int32_t index)
{
    consm_status st = GIVEN(out);
    if (st < 0)
        return st;
    int32_t count = 0;
    while (model_list_all()[count])
        count++;
    if (index < 0 || index >= count)
        return status_fail(CONSM_ENOTFOUND, "method %d does not exist: there are %d", index, count);
    const struct model_def *m = model_list_all()[index];
    struct consm_method method = {
        .name = m->name, .title = m->title, .paper = m->paper, .weighs = !m->unweighted};
    return sized_give(out, &method, sizeof method, SIZED_UP_TO(struct consm_method, weighs));
}

/* Whether a name is in a list separated by blanks. */
static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static struct consm_parameter of_run(const struct run_option *row)
{
    struct consm_parameter p = {
        .name = row->name, .help = row->help, .kind = row->kind, .min = row->min, .max = row->max};
    snprintf(p.value, sizeof p.value, "%s", row->value);
    return p;
}

static struct consm_parameter of_config(const struct config_row *row, const struct model_def *model)
{
    static const enum consm_kind kind[] = {[CONFIG_INT] = CONSM_INTEGER,
                                           [CONFIG_REAL] = CONSM_REAL,
                                           [CONFIG_AUTO] = CONSM_REAL_OR_AUTO,
                                           [CONFIG_WORD] = CONSM_WORD};
    struct consm_parameter p = {.name = row->name,
                                .help = row->help,
                                .kind = kind[row->kind],
                                .min = row->min,
                                .max = row->max,
                                .choices = row->choices,
                                .own = listed(model->knobs, row->name)};
    struct config defaults;
    char buffer[32];
    model_defaults(model, &defaults);
    snprintf(p.value, sizeof p.value, "%s", config_text(&defaults, row, buffer));
    return p;
}

consm_status consm_parameter_get(struct consm_parameter *out, const char *method, int32_t index)
{
    consm_status st = GIVEN(out, method);
    TRY(st);
    const struct model_def *model;
    int32_t runs = 0;
    while (run_options()[runs].name)
        runs++;
    TRY(model_find(&model, method));
    if (index < 0 || index >= runs + CONFIG_ROWS)
        return status_fail(CONSM_ENOTFOUND, "parameter %d does not exist: there are %d", index,
                           runs + CONFIG_ROWS);
    struct consm_parameter p = index < runs ? of_run(&run_options()[index])
                                            : of_config(&config_rows()[index - runs], model);
    TRY(sized_give(out, &p, sizeof p, SIZED_UP_TO(struct consm_parameter, value)));
done:
    return st;
}

const char *consm_model_parameter(const struct consm_model *model, const char *name,
                                  char buffer[32])
{
    const struct config_row *row = model && name && buffer ? config_find(name) : NULL;
    return row ? config_text(&model->config, row, buffer) : NULL;
}
