/* The parts of `consm info`. */
#ifndef CLI_CMD_INFO_H
#define CLI_CMD_INFO_H

#include <jansson.h>

#include "app/cost.h"
#include "data/facts.h"
#include "data/registry/registry.h"
#include "data_args.h"

/* The costs of ConSM and GCN with default parameters. */
struct info_forecast {
    char split[64]; /* empty: the data cannot train */
    int64_t labels; /* that train */
    struct cost_range seconds, consm, gcn;
};

/* spec may be NULL: the split that `consm train` would take for a known set or a user's own. */
consm_status info_forecast(struct info_forecast *out, const struct dataset *d,
                           const struct data_facts *f, const char *spec, bool known);
void info_forecast_print(const struct info_forecast *f);
json_t *info_forecast_json(const struct info_forecast *f);

/* One JSON object. set (with its check) and spec may be NULL. */
void info_print_json(const struct dataset *d, const struct data_facts *f,
                     const struct info_forecast *forecast, const struct data_set *set,
                     const struct registry_check *check, const char *spec, int64_t seed);

#endif
