/* `consm edges`: scores every edge of a graph with a trained model, and says how good the scores
 * are where labels allow. */
#include "commands.h"
#include "data_args.h"
#include "edges_output.h"
#include "model_args.h"

#include "app/objects.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>

static const struct flag flags[] = {{"output", "FILE", "where the CSV goes (standard output)", 'o'},
                                    {"threads", "N", "threads (one per processor)", 0},
                                    {"device", "NAME", "cpu, cuda, cuda:N or auto (cpu)", 0},
                                    SAFE_CSV_FLAG,
                                    {"json", NULL, "print the quality as JSON (with -o)", 0},
                                    DATA_FLAGS,
                                    {0}};

static json_t *number_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void print_quality(FILE *out, const struct consm_edge_scores *scores,
                          const struct edges_quality *q, bool json)
{
    int64_t kept = 0;
    for (int64_t e = 0; e < scores->edges; e++)
        kept += scores->kept[e];
    if (json) {
        json_t *o = json_pack("{s:I, s:I, s:f, s:I, s:o, s:o, s:o, s:o}", "edges",
                              (json_int_t)scores->edges, "kept", (json_int_t)kept, "zeta",
                              scores->zeta, "judged", (json_int_t)q->edges, "homophily",
                              number_or_null(q->homophily), "f1", number_or_null(q->f1), "auc",
                              number_or_null(q->auc), "ece", number_or_null(q->ece));
        json_dumpf(o, out, JSON_REAL_PRECISION(6));
        fputc('\n', out);
        json_decref(o);
        return;
    }
    fprintf(out, "%lld edges, %lld kept (ratio %.3f)\n", (long long)scores->edges, (long long)kept,
            scores->zeta);
    if (isfinite(q->f1))
        fprintf(out,
                "against the labels of %lld edges: F1 %.3f at the homophily's k (chance %.3f), "
                "AUC %.3f, calibration error %.3f\n",
                (long long)q->edges, q->f1, q->homophily, q->auc, q->ece);
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_edge_scores *scores = NULL;
    struct edges_quality quality;
    bool to_file = args_has(args, "output");
    int code = model_args_open(&m, args, "trust.csv");
    if (code)
        return code;
    TRY(consm_score_edges_on(&scores, m.model, m.data, m.device, m.threads));
    if (m.data->data->rows) { /* nobody has all scores */
        TRY(edges_write(m.output, scores, m.data, args_has(args, "safe-csv")));
        goto done;
    }
    TRY(edges_judge(&quality, scores, m.data));
    TRY(edges_write(m.output, scores, m.data, args_has(args, "safe-csv")));
    print_quality(to_file ? stdout : stderr, scores, &quality, to_file && args_has(args, "json"));
done:
    consm_edge_scores_free(scores);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_edges = {
    .name = "edges",
    .summary = "say which edges of a graph to trust",
    .usage = "MODEL GRAPH [-o FILE]",
    .text = "Writes source,target,score,kept for every undirected edge of GRAPH. The score is the\n"
            "chance that both ends belong to one class; kept marks the share of edges the model\n"
            "trusts. Where labels are known, the scores' quality follows: F1 when as many edges\n"
            "are kept as join one class, AUC, and the calibration error. Of a graph in parts (a\n"
            "folder of `consm partition`) scores are written, and not judged.\n\n"
            "  consm train ./mygraph --model consm -o out/\n"
            "  consm edges out/model.safetensors ./mygraph -o trust.csv\n",
    .flags = flags,
    .run = run,
};
