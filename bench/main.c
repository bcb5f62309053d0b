/* The command line of consm-bench. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: consm-bench [--threads N [--alone]] [--seconds S] [--filter TEXT] [--busy] [--json]\n"
    "  --threads N    measure with 1 thread and with N (default: all processors)\n"
    "  --alone        measure with N threads only\n"
    "  --seconds S    time spent on each measurement (default 0.2)\n"
    "  --filter TEXT  only lines whose kernel and shape contain TEXT, as in \"spmm cora\"\n"
    "  --device D     instead: steps and epochs of models on cpu, cuda, …, with --sets A;B;…\n"
    "  --busy         on a machine with other work: one thread, processor time instead of wall "
    "time\n"
    "  --edges N      edges of the cases \"scale\", as in --filter \"scale gcn\" --edges 3e7\n"
    "  --kernels      kernels only, no models and no files\n"
    "  --operations   with \"peers MODEL SET\": also measure every operation of the epoch alone\n"
    "  --json         one JSON object per line instead of the table\n"
    "Each line also has the machine's limit and how many times as long the kernel took.\n"
    "CONSM_SIMD=base|avx2|avx512|neon in the environment chooses the instruction set.\n";

static consm_status bench_all(struct bench *b, int threads)
{
    consm_status st = CONSM_OK;
    b->threads = threads;
    TRY(backend_open(&b->backend, NULL, threads));
    b->team = b->backend->host;
    if (!b->json)
        printf("\n==== %d thread%s, %s kernels of %d lanes ====\n", threads,
               threads == 1 ? "" : "s", b->simd->name, b->simd->lanes);
    TRY(bench_machine(b));
    TRY(bench_sparse(b));
    TRY(bench_gemm(b));
    TRY(bench_dense(b));
    if (b->kernels)
        goto done;
    TRY(bench_reading(b));
    TRY(bench_models(b));
    TRY(bench_large(b));
    TRY(bench_peers(b));
    TRY(bench_consm(b));
    TRY(bench_scale(b));
done:
    backend_close(b->backend);
    return st;
}

static int parse(struct bench *b, int *threads, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool *flag = strcmp(argv[i], "--json") == 0         ? &b->json
                     : strcmp(argv[i], "--busy") == 0       ? &b->busy
                     : strcmp(argv[i], "--alone") == 0      ? &b->alone
                     : strcmp(argv[i], "--kernels") == 0    ? &b->kernels
                     : strcmp(argv[i], "--operations") == 0 ? &b->operations
                                                            : NULL;
        if (flag) {
            *flag = true;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 1;
        }
        if (strcmp(argv[i], "--filter") == 0 && value)
            b->filter = value;
        else if (strcmp(argv[i], "--device") == 0 && value)
            b->device = value;
        else if (strcmp(argv[i], "--sets") == 0 && value)
            b->sets = argv[i + 1];
        else if (strcmp(argv[i], "--threads") == 0 && value && atoi(value) > 0)
            *threads = atoi(value);
        else if (strcmp(argv[i], "--edges") == 0 && value && atof(value) >= 1000)
            b->edges = atof(value);
        else if (strcmp(argv[i], "--seconds") == 0 && value && atof(value) > 0)
            b->seconds = atof(value);
        else {
            fprintf(stderr, "consm-bench: %s: unknown option or missing value\n%s", argv[i], usage);
            return 2;
        }
        i++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    char shape[] = "csbm:nodes=2708,classes=7,degree=4,features=1433";
    struct bench b = {.sets = shape, .seconds = 0.2, .simd = simd_best()};
    int threads = threads_available(), wrong = parse(&b, &threads, argc, argv);
    if (wrong)
        return wrong == 1 ? 0 : wrong;
    if (b.busy)
        threads = 1;
    b.most_threads = threads;
    if (b.device) {
        b.threads = threads;
        if (bench_device(&b, b.device, b.sets) == CONSM_OK)
            return 0;
        fprintf(stderr, "consm-bench: %s\n", consm_errmsg());
        return 1;
    }
    const bool one = threads == 1 || !b.alone;
    if ((one && bench_all(&b, 1) < 0) || (threads > 1 && bench_all(&b, threads) < 0)) {
        fprintf(stderr, "consm-bench: %s\n", consm_errmsg());
        return 1;
    }
    return 0;
}
