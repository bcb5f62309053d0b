/* `consm evaluate`: how good a trained model is on a graph whose labels are known. */
#include "commands.h"
#include "data_args.h"
#include "model_args.h"
#include "shown.h"

#include "app/model_json.h"
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"threads", "N", "threads (one per processor)", 0},
    {"json", NULL, "all figures as one JSON object, with curves", 0},
    DATA_FLAGS,
    PARTS_FLAG,
    {0}};

static void print_figures(const struct model_args *m, const struct consm_metrics *x)
{
    char buffer[24], name[SHOWN];
    printf(
        "%lld labelled nodes: accuracy %.4f, macro-F1 %.4f, balanced accuracy %.4f, ROC-AUC %.4f, "
        "average precision %.4f\n",
        (long long)x->nodes, x->accuracy, x->macro_f1, x->balanced_accuracy, x->roc_auc,
        x->average_precision);
    if (m->data->data->sha256[0] && strcmp(m->data->data->sha256, m->model->data_sha256) == 0)
        printf("  these are the data it was trained on: the nodes that trained and chose are among "
               "them\n");
    printf("\n  %-24s %8s %9s %9s %8s %8s %8s %9s\n", "class", "nodes", "predicted", "precision",
           "recall", "F1", "ROC-AUC", "avg prec.");
    for (int32_t k = 0; k < x->classes; k++) {
        const struct consm_class_metrics *of = consm_metrics_class(x, k);
        printf("  %s %8lld %9lld %9.4f %8.4f %8.4f %8.4f %9.4f\n",
               shown(name, consm_model_class(m->model, k, buffer), 24), (long long)of->support,
               (long long)of->predicted, of->precision, of->recall, of->f1, of->roc_auc,
               of->average_precision);
    }
}

static consm_status print_json(const struct model_args *m, const struct consm_metrics *x)
{
    struct text t = {0};
    metrics_to_json(&t, (const struct metrics *)x, m->model);
    consm_status st = text_status(&t);
    if (st == CONSM_OK)
        puts(text_string(&t));
    text_free(&t);
    return st;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_metrics *found = NULL;
    int code = model_args_open(&m, args, NULL);
    if (code)
        return code;
    TRY(consm_evaluate(&found, m.model, m.data, m.threads));
    if (args_has(args, "json"))
        TRY(print_json(&m, found));
    else
        print_figures(&m, found);
done:
    consm_metrics_free(found);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_evaluate = {
    .name = "evaluate",
    .summary = "say how good a trained model is on labelled nodes",
    .usage = "MODEL GRAPH [--json]",
    .text =
        "Predicts every node of GRAPH and compares with the labels it has; classes are matched\n"
        "by name. Give it nodes the model has not seen: next month's, or another shop's.\n\n"
        "  consm evaluate out/model.safetensors ./next-month\n"
        "  consm evaluate out/model.safetensors edges.csv --labels labels.csv --json\n",
    .flags = flags,
    .run = run,
};
