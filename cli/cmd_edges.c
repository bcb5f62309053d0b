/* `consm edges`: scores every edge of a graph with a trained model, and measures the scores if
 * there are labels. */
#include "base/counted.h"
#include "commands.h"
#include "data_args.h"
#include "edges_output.h"
#include "json_line.h"
#include "model_args.h"

#include "base/status.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>

static const struct flag flags[] = {
    {"output", "FILE", "write the CSV to FILE (standard output)", 'o'},
    {"threads", "N", "threads (default: one per processor; a small graph uses one)", 0},
    {"device", "NAME", "cpu, cuda, cuda:N or auto (cpu)", 0},
    {"suggest", "K", "write the K most trusted pairs of unconnected nodes instead", 0},
    {"witnesses", NULL, "add a column for each kind of evidence (ConSM only)", 0},
    SAFE_CSV_FLAG,
    {"json", NULL, "print the scores' quality as JSON (with -o)", 0},
    DATA_FLAGS,
    {0}};

static void print_quality(FILE *out, const struct consm_edge_scores *scores,
                          const struct edges_quality *q, bool json)
{
    int64_t kept = 0;
    for (int64_t e = 0; e < scores->edges; e++)
        kept += scores->kept[e];
    if (json) {
        json_t *o = json_pack(
            "{s:I, s:I, s:f, s:f, s:I, s:o, s:o, s:o, s:o}", "edges", (json_int_t)scores->edges,
            "kept", (json_int_t)kept, "zeta", scores->zeta, "threshold", scores->threshold,
            "judged", (json_int_t)q->edges, "homophily", json_figure(q->homophily), "f1",
            json_figure(q->f1), "auc", json_figure(q->auc), "ece", json_figure(q->ece));
        json_dumpf(o, out, JSON_REAL_PRECISION(6));
        fputc('\n', out);
        json_decref(o);
        return;
    }
    fprintf(out, "%s, %lld kept (score >= %.3f)\n", COUNTED(scores->edges, "edge"), (long long)kept,
            scores->threshold);
    if (isfinite(q->f1))
        fprintf(out,
                "compared with the labels of %s: F1 %.3f (keeping the true number of edges within "
                "a class; "
                "chance %.3f), AUC %.3f, calibration error %.3f\n",
                COUNTED(q->edges, "edge"), q->f1, q->homophily, q->auc, q->ece);
}

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct model_args m;
    struct consm_edge_scores *scores = NULL;
    struct edges_quality quality;
    struct consm_dataset_info info = {.size = sizeof info};
    bool to_file = args_has(args, "output");
    int64_t most = 0;
    int code = args_int(args, "suggest", 1, INT32_MAX, &most);
    code = code ? code : model_args_open(&m, args, "trust.csv", false);
    if (code)
        return code;
    if (most > 0) {
        TRY(consm_suggest_edges(&scores, m.model, m.data, most, m.device, m.threads));
        TRY(edges_write(m.output, scores, m.data, args_has(args, "safe-csv"),
                        args_has(args, "witnesses")));
        goto done;
    }
    TRY(consm_score_edges_on(&scores, m.model, m.data, m.device, m.threads));
    TRY(consm_dataset_info(&info, m.data));
    if (info.in_parts) { /* no process has all scores */
        TRY(edges_write(m.output, scores, m.data, args_has(args, "safe-csv"),
                        args_has(args, "witnesses")));
        goto done;
    }
    TRY(edges_judge(&quality, scores, m.data));
    TRY(edges_write(m.output, scores, m.data, args_has(args, "safe-csv"),
                    args_has(args, "witnesses")));
    print_quality(to_file ? stdout : stderr, scores, &quality, to_file && args_has(args, "json"));
done:
    consm_edge_scores_free(scores);
    model_args_close(&m);
    return st < 0 ? args_status(args, st) : EXIT_DONE;
}

const struct command cmd_edges = {
    .name = "edges",
    .summary = "score the edges of a graph by trust",
    .usage = "MODEL GRAPH [-o FILE]",
    .text =
        "Writes source,target,score,kept,low,high for every undirected edge of GRAPH. The score\n"
        "is the probability that both ends belong to the same class; low and high are the bounds\n"
        "of its 90 % interval (ConSM only). Edges with a score of 0.5 or more are kept. If these\n"
        "are fewer than the edges expected to join the same class, the threshold is lowered.\n"
        "--witnesses adds the evidence behind each score. If labels are known, the quality of the\n"
        "scores follows: F1 (keeping the true number of edges within a class), AUC, and\n"
        "calibration error. The quality of scores of a graph in parts (a folder of\n"
        "`consm partition`) is not measured.\n\n"
        "--suggest K writes the K most trusted pairs of unconnected nodes. Candidates are pairs\n"
        "that are close in the model's embedding or in their features.\n\n"
        "  consm train ./mygraph --model consm -o out/\n"
        "  consm edges out/model.safetensors ./mygraph -o trust.csv\n"
        "  consm edges out/model.safetensors ./mygraph --suggest 100\n",
    .flags = flags,
    .run = run,
};
