/* Counts a rare class on validation, with intervals. */
#include "app/rare.h"

#include "app/objects.h"
#include "base/number.h"

#include <math.h>

bool rare_measure(struct rare_facts *out, const struct consm_model *m)
{
    int32_t k = m->decision.made ? m->decision.positive : m->positive - 1;
    const struct metrics *on = &m->metrics[SPLIT_VAL];
    if (k < 0 || on->all.nodes == 0 || !on->of)
        return false;
    const struct consm_class_metrics *of = &on->of[k];
    *out = (struct rare_facts){.class_index = k,
                               .positives = of->support,
                               .said = of->predicted,
                               .hits = llround(of->recall * (double)of->support)};
    out->precision = stats_wilson(out->hits, out->said, 0.95);
    out->recall = stats_wilson(out->hits, out->positives, 0.95);
    return true;
}

const char *rare_share(char out[96], int64_t hits, int64_t of, const struct stats_interval *at)
{
    if (of == 0)
        number_print(out, 96, "unknown (0 of 0)");
    else
        number_print(out, 96, "%.3f (%lld of %lld; 95 %% interval %.3f to %.3f)",
                     (double)hits / (double)of, (long long)hits, (long long)of, at->low, at->high);
    return out;
}
