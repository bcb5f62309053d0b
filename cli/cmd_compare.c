/* `consm compare`: the differences between two models on one graph: changed labels, and edges whose
 * trust changed. */
#include "app/differences.h"
#include "base/counted.h"
#include "commands.h"
#include "consm.h"
#include "data_args.h"
#include "json_line.h"
#include "report/table.h"
#include "shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct flag flags[] = {
    {"top", "N", "number of labels and edges to print (10)", 0},
    {"moved", "D", "list edges whose trust differs by D or more (0.1)", 0},
    {"json", NULL, "print everything as one JSON object", 0},
    {"threads", "N", "threads (default: one per processor; a small graph uses one)", 0},
    DATA_FLAGS,
    {0}};

struct comparison {
    struct consm_dataset *data;
    struct consm_model *model[2];
    struct consm_prediction *said[2];
    struct consm_edge_scores *trust[2];
    struct differences found;
};

static void close_all(struct comparison *c)
{
    for (int i = 0; i < 2; i++) {
        consm_prediction_free(c->said[i]);
        consm_edge_scores_free(c->trust[i]);
        consm_model_free(c->model[i]);
    }
    consm_dataset_free(c->data);
    differences_free(&c->found);
}

static consm_status open_all(struct comparison *c, const struct args *args, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_open_options how = data_args_how(args);
    for (int i = 0; i < 2; i++)
        TRY(consm_model_load(&c->model[i], args->item[i]));
    how.model = c->model[1];
    TRY(consm_dataset_open_with(&c->data, args->item[2], &how));
    for (int i = 0; i < 2; i++) {
        TRY(consm_predict(&c->said[i], c->model[i], c->data, threads));
        TRY(consm_score_edges(&c->trust[i], c->model[i], c->data, threads));
    }
done:
    return st;
}

static double confidence_of(const struct comparison *c, int which, int64_t number)
{
    return (double)c->said[which]->confidence[number];
}

/* ---- for people ---------------------------------------------------------- */

static consm_status print_flips(const struct comparison *c, int64_t top)
{
    struct table *t;
    char buffer[24], name[SHOWN];
    if (c->found.flips == 0 || top == 0)
        return CONSM_OK;
    if (table_new(&t, "flips", NULL) < 0)
        return CONSM_ENOMEM;
    table_column(t, "node", TABLE_LEFT, NULL);
    for (int which = 0; which < 2; which++) {
        table_column(t, which ? "label of B" : "label of A", TABLE_LEFT, NULL);
        table_column(t, "confidence", TABLE_RIGHT, NULL);
    }
    for (int64_t k = 0; k < c->found.flips && k < top; k++) {
        int64_t i = c->found.flip[k].at;
        table_row(t);
        table_text(t, shown(name, consm_node_id(c->data, i, buffer), 0));
        for (int which = 0; which < 2; which++) {
            table_text(t, shown(name, differences_label(&c->found, which, i, buffer), 0));
            table_number(t, confidence_of(c, which, i), 3);
        }
    }
    return shown_table(t);
}

static consm_status print_moves(const struct comparison *c, int64_t top)
{
    struct table *t;
    char id[24], from[SHOWN], to[SHOWN], both[2 * SHOWN + 8];
    if (c->found.moves == 0 || top == 0)
        return CONSM_OK;
    if (table_new(&t, "moves", NULL) < 0)
        return CONSM_ENOMEM;
    table_column(t, "edge", TABLE_LEFT, NULL);
    table_column(t, "trust of A", TABLE_RIGHT, NULL);
    table_column(t, "trust of B", TABLE_RIGHT, NULL);
    for (int64_t k = 0; k < c->found.moves && k < top; k++) {
        int64_t e = c->found.move[k].at;
        snprintf(both, sizeof both, "%s – %s",
                 shown(from, consm_node_id(c->data, c->trust[0]->from[e], id), 0),
                 shown(to, consm_node_id(c->data, c->trust[0]->to[e], id), 0));
        table_row(t);
        table_text(t, both);
        table_number(t, (double)c->trust[0]->score[e], 3);
        table_number(t, (double)c->trust[1]->score[e], 3);
    }
    return shown_table(t);
}

static consm_status print_people(const struct comparison *c, int64_t top, double least)
{
    consm_status st = CONSM_OK;
    printf("%lld of %s have different labels\n", (long long)c->found.flips,
           COUNTED(c->said[0]->nodes, "node"));
    printf("%lld of %s differ in trust by %g or more\n", (long long)c->found.moves,
           COUNTED(c->trust[0]->edges, "edge"), least);
    TRY(print_flips(c, top));
    TRY(print_moves(c, top));
done:
    return st;
}

/* ---- JSON ---------------------------------------------------------------- */

static void print_json(const struct comparison *c, double least)
{
    char a[24], b[24], id[24];
    json_t *flips = json_array(), *moves = json_array();
    for (int64_t k = 0; k < c->found.flips; k++) {
        int64_t i = c->found.flip[k].at;
        json_array_append_new(
            flips, json_pack("{s:s, s:s, s:s, s:f, s:f}", "id", consm_node_id(c->data, i, id),
                             "label_a", differences_label(&c->found, 0, i, a), "label_b",
                             differences_label(&c->found, 1, i, b), "confidence_a",
                             confidence_of(c, 0, i), "confidence_b", confidence_of(c, 1, i)));
    }
    for (int64_t k = 0; k < c->found.moves; k++) {
        int64_t e = c->found.move[k].at;
        json_array_append_new(moves,
                              json_pack("{s:s, s:s, s:f, s:f}", "source",
                                        consm_node_id(c->data, c->trust[0]->from[e], a), "target",
                                        consm_node_id(c->data, c->trust[0]->to[e], b), "trust_a",
                                        (double)c->trust[0]->score[e], "trust_b",
                                        (double)c->trust[1]->score[e]));
    }
    json_line(json_pack("{s:I, s:I, s:I, s:I, s:f, s:o, s:o}", "nodes",
                        (json_int_t)c->said[0]->nodes, "flipped", (json_int_t)c->found.flips,
                        "edges", (json_int_t)c->trust[0]->edges, "moved",
                        (json_int_t)c->found.moves, "moved_by", least, "labels", flips, "trust",
                        moves),
              6);
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct comparison c = {0};
    int64_t top = 10, threads = 0;
    double least = 0.1;
    int code;
    if ((code = args_int(args, "top", 0, INT32_MAX, &top)) ||
        (code = args_int(args, "threads", 1, 1024, &threads)) ||
        (code = args_double(args, "moved", 0, 1, &least)))
        return code;
    if (args->count != 3)
        return args_fail(args, EXIT_USAGE,
                         "expected two models and a graph, as in `consm compare "
                         "last/model.safetensors out/model.safetensors ./mygraph`");
    TRY(open_all(&c, args, (int)threads));
    c.found = (struct differences){.model = {c.model[0], c.model[1]},
                                   .said = {c.said[0], c.said[1]},
                                   .trust = {c.trust[0], c.trust[1]}};
    TRY(differences_find(&c.found, least));
    if (args_has(args, "json"))
        print_json(&c, least);
    else
        TRY(print_people(&c, top, least));
done:
    close_all(&c);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_compare = {
    .name = "compare",
    .summary = "list the differences between two models' predictions",
    .usage = "A B GRAPH [--top N] [--moved D] [--json]",
    .text =
        "Predicts GRAPH with models A and B. Lists nodes with different labels, beginning with\n"
        "those where both models are confident, and edges whose trust differs by 0.1 or more.\n"
        "Classes are matched by name. To compare the two models' metrics, use `consm report A "
        "B`.\n\n"
        "  consm compare last/model.safetensors out/model.safetensors ./mygraph\n"
        "  consm compare a.safetensors b.safetensors ./mygraph --json\n",
    .flags = flags,
    .run = run,
};
