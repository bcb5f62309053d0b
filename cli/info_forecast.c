/* What a run with default parameters will cost, for `consm info`. */
#include "app/defaults.h"
#include "app/roles.h"
#include "cmd_info.h"
#include "graph/structural.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double columns_of(const struct dataset *d)
{
    if (d->sparse)
        return COST_SPARSE_COLUMNS * (double)d->sparse->nnz / fmax(1, (double)d->nodes);
    return d->features > 0 ? (double)d->features : STRUCTURAL_FEATURES;
}

/* The training labels of the split, or of the split that `consm train` would take. */
static consm_status count_labels(struct info_forecast *out, const struct dataset *d,
                                 const struct data_facts *f, const char *spec, bool known)
{
    consm_status st = CONSM_OK;
    struct roles roles = {0};
    const char *split = spec ? spec : defaults_split(known);
    snprintf(out->split, sizeof out->split, "%s", split);
    if (spec) {
        out->labels = f->split_size[SPLIT_TRAIN];
        return CONSM_OK;
    }
    /* Data that cannot be divided so, for example without labels, is described all the same. */
    if (roles_make(&roles, d, split, 0, NULL) < 0) {
        status_clear();
        out->split[0] = 0;
    }
    out->labels = roles.count[SPLIT_TRAIN];
    roles_free(&roles);
    return st;
}

consm_status info_forecast(struct info_forecast *out, const struct dataset *d,
                           const struct data_facts *f, const char *spec, bool known)
{
    consm_status st = CONSM_OK;
    double nodes = (double)d->nodes;
    *out = (struct info_forecast){0};
    TRY(count_labels(out, d, f, spec, known));
    struct cost_sizes sizes = {.nodes = nodes,
                               .edges = (double)f->edges,
                               .columns = columns_of(d),
                               .features =
                                   d->features > 0 ? (double)d->features : STRUCTURAL_FEATURES,
                               .classes = d->classes,
                               .labels = (double)out->labels,
                               .two_hop = fmin(f->squared_degrees, nodes * nodes),
                               .threads = 1};
    TRY(cost_forecast(&out->seconds, COST_SECONDS, &sizes));
    TRY(cost_forecast_consm(&out->consm, &sizes));
    TRY(cost_forecast(&out->gcn, COST_GCN_BYTES, &sizes));
done:
    return st;
}

/* Two significant digits, in seconds, minutes or hours. */
static const char *duration(double seconds, char text[32])
{
    double amount = seconds < 120 ? seconds : seconds < 7200 ? seconds / 60 : seconds / 3600;
    double unit = amount > 0 ? pow(10, floor(log10(amount)) - 1) : 1;
    snprintf(text, 32, "%.*f %s", amount < 10 ? 1 : 0, unit * round(amount / unit),
             seconds < 120    ? "s"
             : seconds < 7200 ? "min"
                              : "h");
    return text;
}

static void print_memory(const char *label, const struct cost_range *c)
{
    printf("    %-22s %.0f MB (%.0f to %.0f)\n", label, c->usual / 1e6, c->low / 1e6,
           c->high / 1e6);
}

void info_forecast_print(const struct info_forecast *f)
{
    char low[32], high[32];
    if (!f->split[0])
        return;
    printf("\n  forecast of `consm train`, default parameters, %lld training labels (split %s)\n",
           (long long)f->labels, f->split);
    printf("    %-22s %s to %s on %s\n", "ConSM, processor time", duration(f->seconds.low, low),
           duration(f->seconds.high, high), cost_measured_on);
    print_memory("ConSM, peak memory", &f->consm);
    print_memory("GCN, peak memory", &f->gcn);
}

static json_t *range_json(const struct cost_range *c)
{
    return json_pack("{s:f, s:f, s:f}", "low", c->low, "usual", c->usual, "high", c->high);
}

json_t *info_forecast_json(const struct info_forecast *f)
{
    if (!f->split[0])
        return json_null();
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:s}", "split", f->split, "training_labels",
                     (json_int_t)f->labels, "consm_processor_seconds", range_json(&f->seconds),
                     "consm_bytes", range_json(&f->consm), "gcn_bytes", range_json(&f->gcn),
                     "measured_on", cost_measured_on);
}
