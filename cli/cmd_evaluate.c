/* `consm evaluate`: measures a trained model on a graph with known labels. */
#include "base/counted.h"
#include "commands.h"
#include "data_args.h"
#include "model_args.h"
#include "shown.h"

#include "app/metrics_json.h"
#include "base/status.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"threads", "N", "threads (default: one per processor; a small graph uses one)", 0},
    {"device", "NAME", "cpu, cuda, cuda:N or auto (cpu)", 0},
    {"json", NULL, "print all metrics and curves as one JSON object", 0},
    DATA_FLAGS,
    PARTS_FLAG,
    {0}};

/* A figure, or "unknown". */
static const char *figure(char out[16], double value)
{
    if (isnan(value))
        strcpy(out, "unknown");
    else
        snprintf(out, 16, "%.4f", value);
    return out;
}

static void print_line(const char *head, const struct consm_metrics *x)
{
    char f1[16], recall[16], auc[16], precision[16];
    printf("%s%lld labelled nodes: accuracy %.4f, macro-F1 %s, balanced accuracy %s, ROC-AUC %s, "
           "mean average precision %s\n",
           head, (long long)x->nodes, x->accuracy, figure(f1, x->macro_f1),
           figure(recall, x->balanced_accuracy), figure(auc, x->roc_auc),
           figure(precision, x->average_precision));
}

static void print_classes(const struct model_args *m, const struct consm_metrics *x)
{
    char buffer[24], name[SHOWN], figures[5][16];
    printf("\n  %-24s %8s %9s %9s %8s %8s %8s %9s\n", "class", "nodes", "predicted", "precision",
           "recall", "F1", "ROC-AUC", "avg prec.");
    for (int32_t k = 0; k < x->classes; k++) {
        const struct consm_class_metrics *of = consm_metrics_class(x, k);
        bool there = of->support > 0;
        printf("  %s %8lld %9lld %9s %8s %8s %8s %9s\n",
               shown(name, consm_model_class(m->model, k, buffer), 24), (long long)of->support,
               (long long)of->predicted,
               figure(figures[0], of->predicted ? of->precision : (double)NAN),
               figure(figures[1], there ? of->recall : (double)NAN),
               figure(figures[2], there ? of->f1 : (double)NAN), figure(figures[3], of->roc_auc),
               figure(figures[4], of->average_precision));
    }
}

/* all: every labelled node; new, seen: NULL if they cannot be told apart. */
static void print_figures(const struct model_args *m, const struct consm_metrics *all,
                          const struct consm_metrics *new, const struct consm_metrics *seen)
{
    const struct consm_metrics *shown_classes = new &&new->nodes > 0 ? new : all;
    struct consm_model_info model = {.size = sizeof model};
    struct consm_dataset_info data = {.size = sizeof data};
    bool same = consm_model_info(&model, m->model) == CONSM_OK &&
                consm_dataset_info(&data, m->data) == CONSM_OK && data.sha256[0] &&
                strcmp(data.sha256, model.data_sha256) == 0;
    if (new && seen->nodes > 0) {
        printf("the model was trained or validated on %lld of %lld labelled %s; new to it: %lld\n",
               (long long)seen->nodes, (long long)all->nodes, all->nodes == 1 ? "node" : "nodes",
               (long long)new->nodes);
        if (new->nodes > 0)
            print_line("  new:  ", new);
        print_line(new->nodes > 0 ? "  seen: " : "  seen (says little about other nodes): ", seen);
        if (new->nodes > 0)
            print_line("  all:  ", all);
    } else {
        print_line("", all);
        if (!new)
            printf("  cannot tell new from seen nodes: no node ids, or an older consm wrote the "
                   "model\n");
        else
            printf("  all nodes are new to the model\n");
    }
    if (same)
        printf("  the model was trained on these data\n");
    if (all->foreign)
        printf("  %s of a class unknown to the model: counted as errors\n",
               COUNTED(all->foreign, "node"));
    print_classes(m, shown_classes);
    if (shown_classes == new && seen->nodes > 0)
        printf("  (new nodes only)\n");
}

static void add_part(struct text *t, const char *name, const struct consm_metrics *x,
                     const struct consm_model *model)
{
    text_printf(t, ", \"%s\": ", name);
    if (x)
        metrics_to_json(t, x, model);
    else
        text_add(t, "null");
}

/* The metrics of all labelled nodes, and inside them those of new and seen ones. */
static consm_status print_json(const struct model_args *m, const struct consm_metrics *all,
                               const struct consm_metrics *new, const struct consm_metrics *seen)
{
    consm_status st = CONSM_OK;
    struct text t = {0};
    metrics_to_json(&t, all, m->model);
    TRY(text_status(&t));
    t.length--; /* the last brace */
    add_part(&t, "new", new, m->model);
    add_part(&t, "seen", seen, m->model);
    text_add(&t, "}");
    TRY(text_status(&t));
    puts(text_string(&t));
done:
    text_free(&t);
    return st;
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_prediction *p = NULL;
    struct consm_metrics *all = NULL, *new = NULL, *seen = NULL;
    struct consm_dataset_info info = {.size = sizeof info};
    int code = model_args_open(&m, args, NULL, false);
    if (code)
        return code;
    TRY(consm_predict_on(&p, m.model, m.data, m.device, m.threads));
    TRY(consm_evaluate_prediction(&all, m.model, p, m.data, CONSM_ALL_NODES));
    if (p->seen) {
        TRY(consm_evaluate_prediction(&new, m.model, p, m.data, CONSM_NEW_NODES));
        TRY(consm_evaluate_prediction(&seen, m.model, p, m.data, CONSM_SEEN_NODES));
    }
    if (all->nodes == all->foreign) {
        TRY(consm_dataset_info(&info, m.data));
        TRY(status_fail(CONSM_EINVAL, "%s: no node has a label of a class that the model knows",
                        info.name));
    }
    if (args_has(args, "json"))
        TRY(print_json(&m, all, new, seen));
    else
        print_figures(&m, all, new, seen);
done:
    consm_metrics_free(all);
    consm_metrics_free(new);
    consm_metrics_free(seen);
    consm_prediction_free(p);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_evaluate = {
    .name = "evaluate",
    .summary = "evaluate a trained model on labelled nodes",
    .usage = "MODEL GRAPH [--json]",
    .text =
        "Predicts every node of GRAPH and compares the result with the node's label; classes are\n"
        "matched by name. Results on nodes of training or validation are optimistic: consm\n"
        "recognises these nodes by their ids and reports new and seen nodes separately. A node of "
        "a\n"
        "class that the model does not know counts as an error.\n\n"
        "  consm evaluate out/model.safetensors ./next-month\n"
        "  consm evaluate out/model.safetensors edges.csv --labels labels.csv --json\n",
    .flags = flags,
    .run = run,
};
