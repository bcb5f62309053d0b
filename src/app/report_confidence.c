/* The report's section on confidence: temperature, calibration error, the reliability figure, and
 * prediction sets. */
#include "app/report_parts.h"
#include "base/counted.h"
#include "base/number.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The nodes whose figures the report shows. */
static const char *shown_nodes(const struct consm_model *m)
{
    return report_role(m) == CONSM_TEST ? "test" : "validation";
}

/* Describes the calibration on the nodes that the figure shows. */
static void describe_calibration(char *text, size_t size, const struct consm_model *m)
{
    double validation = consm_model_metrics(m, CONSM_VALIDATION)->ece,
           shown = consm_model_metrics(m, report_role(m))->ece;
    size_t used = (size_t)number_print(
        text, size, "Logits are divided by a temperature of %.3f, fitted on the validation nodes. ",
        m->temperature);
    if (isfinite(validation) && report_role(m) == CONSM_TEST)
        used += (size_t)number_print(
            text + used, size - used,
            "Expected calibration error on the validation nodes: %.4f before, %.4f after. ",
            m->ece_before, validation);
    if (isfinite(shown))
        used += (size_t)number_print(
            text + used, size - used, "Expected calibration error on the %s nodes%s: %.4f.",
            shown_nodes(m),
            m->refit.labels && report_role(m) == CONSM_VALIDATION ? " before the refit"
                                                                  : ", as in the figure",
            shown);
    else
        used += (size_t)number_print(text + used, size - used,
                                     "The calibration error is unknown: %lld %s nodes are too few.",
                                     (long long)consm_model_metrics(m, report_role(m))->nodes,
                                     shown_nodes(m));
    if (m->doubt > 0)
        number_print(
            text + used, size - used,
            " Probabilities are shrunk %.1f %% towards uniform, because there are only %s.",
            100 * m->doubt, COUNTED(m->count[SPLIT_VAL], "node for validation"));
}

/* Describes the guarantee of prediction sets, and their coverage on test nodes. */
static void describe_sets(char *text, size_t size, const struct consm_model *m)
{
    size_t used = (size_t)snprintf(
        text, size,
        isfinite(m->sets.threshold)
            ? " Prediction sets contain the true class with probability at least %g. %lld "
              "validation labels, not used for model selection, calibrated them."
            : " Coverage %g is not possible with only %lld calibration labels: every prediction "
              "set contains every class.",
        m->sets.coverage, (long long)m->sets.calibrated);
    if (isfinite(m->covered) && isfinite(m->sets.threshold))
        snprintf(text + used, size - used,
                 " On the test nodes, %.1f %% of the sets contain it, with %.2f classes per set.",
                 100 * m->covered, m->set_size);
}

consm_status report_add_confidence(struct report *r, const struct consm_model *m,
                                   const struct consm_prediction *p, const struct dataset *d,
                                   const uint8_t *role)
{
    consm_status st = CONSM_OK;
    static const char *const series[] = {"after scaling"};
    struct stats_reliability bins;
    float *probability = NULL;
    uint8_t *right = NULL;
    char text[1000];
    int64_t n = 0;
    TRY(NEW(probability, p->nodes));
    TRY(NEW(right, p->nodes));
    for (int64_t i = 0; i < p->nodes; i++)
        if (role[i] == report_role(m) && d->label[i] >= 0) {
            probability[n] = fminf(p->confidence[i], 1);
            right[n++] = p->label[i] == d->label[i];
        }
    describe_calibration(text, sizeof text, m);
    if (m->sets.coverage > 0)
        describe_sets(text + strlen(text), sizeof text - strlen(text), m);
    report_section(r, "Confidence", text);
    /* Draws no bars of very few nodes, and none of nodes that trained, which would be optimistic.
     */
    bool flatters = m->refit.labels && report_role(m) == CONSM_VALIDATION;
    if (n == 0 || isnan(consm_model_metrics(m, report_role(m))->ece) || flatters)
        goto done;
    report_in_columns(r);
    TRY(stats_reliability(&bins, probability, right, n, 15));
    bins.ece =
        consm_model_metrics(m, report_role(m))->ece; /* the same bins, closed at the other end */
    struct reliability_chart chart = {
        .words = {"reliability", "Calibration: confidence and accuracy",
                  "Perfectly calibrated predictions lie on the dotted line.", NULL},
        .x_label = "Confidence",
        .y_label = "Accuracy",
        .series = series,
        .bins = &bins,
        .series_count = 1};
    report_reliability(r, &chart);
done:
    mem_free(probability);
    mem_free(right);
    return st;
}
