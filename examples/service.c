/*
 * A saved model in a service: loads it once, then answers requests. Here a request is a line on
 * standard input that names a graph; the answer is a line of JSON. A request that fails gets an
 * answer too and does not affect others.
 *
 *     service MODEL-FILE < requests
 *
 * With --load, several threads query one model about one graph for some seconds. Every answer is
 * compared with the first, bit for bit; throughput and memory are printed at the end.
 *
 *     service MODEL-FILE --load GRAPH THREADS SECONDS
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */
#include <consm.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The message as a JSON string; messages have no control characters. */
static void print_failure(void)
{
    printf("{\"error\": \"");
    for (const char *c = consm_errmsg(); *c; c++)
        printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    printf("\"}\n");
}

static void answer(const struct consm_model *model, const char *graph)
{
    struct consm_dataset *data = NULL;
    struct consm_prediction *guess = NULL;
    /* One thread per request: a real service would answer several requests side by side, all with
     * one model. */
    if (consm_dataset_open(&data, graph, NULL) < 0 || consm_predict(&guess, model, data, 1) < 0) {
        print_failure();
    } else {
        double sure = 0;
        for (int64_t i = 0; i < guess->nodes; i++)
            sure += (double)guess->confidence[i] / (double)guess->nodes;
        printf("{\"nodes\": %lld, \"mean_confidence\": %.4f, \"counts\": {",
               (long long)guess->nodes, sure);
        for (int32_t k = 0; k < guess->classes; k++) {
            char name[24];
            int64_t count = 0;
            for (int64_t i = 0; i < guess->nodes; i++)
                count += guess->label[i] == k;
            printf("%s\"%s\": %lld", k ? ", " : "", consm_model_class(model, k, name),
                   (long long)count);
        }
        printf("}}\n");
    }
    fflush(stdout);
    consm_prediction_free(guess);
    consm_dataset_free(data);
}

/* ---- under load ----------------------------------------------------------- */

struct load {
    const struct consm_model *model;
    const struct consm_dataset *graph;
    const struct consm_prediction *first;
    double until; /* of the clock */
    atomic_long answers, faults;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *ask(void *ctx)
{
    struct load *l = ctx;
    while (now() < l->until) {
        struct consm_prediction *guess;
        size_t bytes = (size_t)l->first->nodes * (size_t)l->first->classes * sizeof(float);
        if (consm_predict(&guess, l->model, l->graph, 1) < 0 ||
            memcmp(guess->probability, l->first->probability, bytes) != 0)
            atomic_fetch_add(&l->faults, 1);
        atomic_fetch_add(&l->answers, 1);
        consm_prediction_free(guess);
    }
    return NULL;
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

/* Prints memory at a quarter of the time and at the end: it must not grow. */
static int serve_under_load(const struct consm_model *model, char **argv)
{
    enum { MOST = 256 };
    struct load l = {.model = model};
    struct consm_dataset *graph = NULL;
    struct consm_prediction *first = NULL;
    pthread_t thread[MOST];
    int threads = atoi(argv[4]), started = 0;
    double seconds = atof(argv[5]);
    if (threads < 1 || threads > MOST || consm_dataset_open(&graph, argv[3], NULL) < 0 ||
        consm_predict(&first, model, graph, 1) < 0) {
        fprintf(stderr, "service: %s\n", consm_errmsg());
        consm_dataset_free(graph);
        return 1;
    }
    l.graph = graph;
    l.first = first;
    l.until = now() + seconds;
    while (started < threads && pthread_create(&thread[started], NULL, ask, &l) == 0)
        started++;
    struct timespec quarter = {(time_t)(seconds / 4), 250000000};
    nanosleep(&quarter, NULL);
    long early = resident_kb();
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    printf("{\"threads\": %d, \"seconds\": %.0f, \"answers\": %ld, \"per_second\": %.0f, "
           "\"different\": %ld, \"rss_kb_early\": %ld, \"rss_kb_late\": %ld}\n",
           started, seconds, atomic_load(&l.answers), (double)atomic_load(&l.answers) / seconds,
           atomic_load(&l.faults), early, resident_kb());
    consm_prediction_free(first);
    consm_dataset_free(graph);
    return atomic_load(&l.faults) > 0 || started < threads;
}

int main(int argc, char **argv)
{
    struct consm_model *model;
    char line[4096];
    int load = argc == 6 && strcmp(argv[2], "--load") == 0;
    if (argc != 2 && !load) {
        fprintf(stderr, "usage: service MODEL-FILE < requests\n"
                        "       service MODEL-FILE --load GRAPH THREADS SECONDS\n");
        return 2;
    }
    if (consm_model_load(&model, argv[1]) < 0) {
        fprintf(stderr, "service: %s\n", consm_errmsg());
        return 1;
    }
    if (load) {
        int code = serve_under_load(model, argv);
        consm_model_free(model);
        return code;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (*line)
            answer(model, line);
    }
    consm_model_free(model);
    return 0;
}
