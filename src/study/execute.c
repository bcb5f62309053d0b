/* The queue of runs, and the setup of one run. */
#include "study/execute_inside.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/threads.h"
#include "data/generate/generate.h"
#include "io/file.h"
#include "report/text.h"
#include "study/study.h"
#include "study/task.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* ---- the machine --------------------------------------------------------- */

static void processor_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "processor");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    if (file)
        fclose(file);
}

static char machine[512];

static void describe_machine(void)
{
    struct utsname system;
    char processor[200];
    processor_name(processor, sizeof processor);
    if (uname(&system) != 0)
        memset(&system, 0, sizeof system);
    snprintf(machine, sizeof machine, "%s, %d cores, %s %s", processor, threads_available(),
             system.sysname, system.machine);
}

const char *execute_machine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe_machine);
    return machine;
}

/* ---- which runs have to be done ------------------------------------------ */

consm_status execute_find(const json_t **record, struct runs *runs, const struct study_run *run,
                          const json_t *hashes)
{
    consm_status st = CONSM_OK;
    json_t *identity = NULL;
    char key[65];
    *record = NULL;
    TRY(plan_identity(&identity, run, hashes));
    TRY(runs_key(key, identity));
    *record = runs_find(runs, key);
done:
    json_decref(identity);
    return st;
}

consm_status execute_graph_path(char **out, const char *folder, const struct study_run *run)
{
    consm_status st = CONSM_OK;
    struct text name = {0};
    *out = NULL;
    text_add(&name, "graph-");
    text_slug(&name, run->dataset);
    text_add(&name, ".json");
    TRY(text_status(&name));
    TRY(file_join(out, folder, text_string(&name)));
done:
    text_free(&name);
    return st;
}

static consm_status graph_is_missing(bool *missing, const struct execution *x,
                                     const struct study_run *run)
{
    consm_status st = CONSM_OK;
    char *path = NULL;
    *missing = false;
    if (!run->keep_graph || !x->options->folder)
        return CONSM_OK;
    TRY(execute_graph_path(&path, x->options->folder, run));
    *missing = file_kind(path) == FILE_MISSING;
done:
    mem_free(path);
    return st;
}

static double estimate(const struct execution *x, const struct study_run *run)
{
    struct csbm_options o = csbm_defaults();
    const struct study_set *set = sets_find(x->sets, run->dataset);
    if (set) {
        const struct dataset *d = set->data;
        int64_t entries = d->sparse ? d->sparse->nnz : d->nodes * d->features;
        return plan_cost(run, set->prepared.graph->nnz / 2, entries);
    }
    if (strncmp(run->dataset, "csbm:", 5) == 0 && csbm_parse(&o, run->dataset + 5) < 0)
        status_clear();
    return plan_cost(run, (int64_t)((double)o.nodes * o.degree / 2), o.nodes * o.features);
}

/* Adds the run unless it is in the list. */
static consm_status add_job(struct execution *x, const struct study_run *run)
{
    consm_status st = CONSM_OK;
    struct job job = {.run = *run};
    bool missing;
    TRY(plan_identity(&job.identity, run, x->sets->hashes));
    TRY(runs_key(job.key, job.identity));
    TRY(graph_is_missing(&missing, x, run));
    job.found = runs_find(x->runs, job.key) && !missing;
    for (size_t i = 0; i < x->count; i++)
        if (strcmp(x->job[i].key, job.key) == 0) {
            x->job[i].run.keep_graph |= run->keep_graph;
            x->job[i].found = x->job[i].found && job.found;
            goto done;
        }
    TRY(GROW(x->job, x->count, x->capacity, 1));
    x->job[x->count++] = job;
    return CONSM_OK;
done:
    json_decref(job.identity);
    return st;
}

/* Drops the jobs whose results are in the record. */
static void keep_missing(struct execution *x)
{
    size_t kept = 0;
    for (size_t i = 0; i < x->count; i++) {
        if (x->job[i].found) {
            x->progress.found++;
            json_decref(x->job[i].identity);
            continue;
        }
        x->job[i].cost = estimate(x, &x->job[i].run);
        x->progress.work_total += x->job[i].cost;
        x->job[kept++] = x->job[i];
    }
    x->count = kept;
}

static bool must_be_alone(const struct job *job)
{
    return job->run.task == TASK_COST;
}

static int by_cost(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    if (must_be_alone(x) != must_be_alone(y))
        return must_be_alone(x) ? 1 : -1;
    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return strcmp(x->key, y->key);
}

/* ---- one run ------------------------------------------------------------- */

static bool on_epoch(void *ctx, const struct progress *progress)
{
    struct execution *x = ctx;
    (void)progress;
    return child_is_orphan() || (x->options->stop && x->options->stop(x->options->ctx));
}

/* Records the build, the machine and the time. */
static consm_status sign(json_t *result)
{
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (json_object_set_new(result, "build", json_string(study_build())) != 0 ||
        json_object_set_new(result, "machine", json_string(execute_machine())) != 0 ||
        json_object_set_new(result, "finished", json_string(when)) != 0)
        return status_fail(CONSM_ENOMEM, "out of memory for a result");
    return CONSM_OK;
}

consm_status execute_finish(struct execution *x, const struct job *job, const json_t *result)
{
    consm_status st = CONSM_OK;
    pthread_mutex_lock(&x->lock);
    TRY(runs_append(x->runs, job->identity, result));
    x->progress.finished++;
    x->progress.work += job->cost;
    x->progress.run = &job->run;
    x->progress.result = result;
    if (x->options->done)
        x->options->done(x->options->ctx, &x->progress);
done:
    pthread_mutex_unlock(&x->lock);
    return st;
}

/* Makes a run's data and does it. */
static consm_status do_job(json_t **out, struct execution *x, const struct job *job, int threads)
{
    consm_status st = CONSM_OK;
    const struct study_set *set = sets_find(x->sets, job->run.dataset);
    struct dataset *own = NULL;
    struct prepared own_prepared = {0};
    char *graph_path = NULL;
    json_t *result = NULL;
    double begin = clock_seconds();
    *out = NULL;
    struct task_input in = {.run = &job->run, .threads = threads, .progress_ctx = x};
    in.progress = on_epoch;
    if (on_epoch(x, NULL))
        return status_fail(CONSM_ECANCEL, "stopped");
    if (!set) {
        TRY(generate_named(&own, job->run.dataset));
        TRY(prepare(&own_prepared, own));
    }
    in.prepared = set ? &set->prepared : &own_prepared;
    if (job->run.attack)
        TRY(sets_graph(&in.attack, x->sets, job->run.attack));
    if (job->run.keep_graph && x->options->folder)
        TRY(execute_graph_path(&graph_path, x->options->folder, &job->run));
    in.graph_path = graph_path;
    TRY(task_run(&result, &in));
    if (!json_object_get(result, "seconds"))
        TRY(task_number(result, "seconds", clock_seconds() - begin));
    *out = result;
    result = NULL;
done:
    json_decref(result);
    mem_free(graph_path);
    prepare_free(&own_prepared);
    dataset_free(own);
    return st;
}

/* A run in a process of its own, and its result as text. */
struct apart {
    struct execution *x;
    const struct job *job;
    int threads;
};

struct parcel {
    char text[1 << 14];
};

/* The data of other runs would count. The caller keeps it: this is a copy. Its peak begins anew. */
static void forget_sets(struct execution *x)
{
    static const struct study_sets none;
    struct study_sets copy = *x->sets;
    sets_free(&copy);
    x->sets = &none;
    (void)clock_reset_peak_rss();
}

static consm_status pack_job(void *out, void *arg)
{
    consm_status st = CONSM_OK;
    const struct apart *a = arg;
    struct parcel *parcel = out;
    json_t *result = NULL;
    if (!sets_find(a->x->sets, a->job->run.dataset))
        forget_sets(a->x);
    TRY(do_job(&result, a->x, a->job, a->threads));
    size_t size = json_dumpb(result, parcel->text, sizeof parcel->text - 1, JSON_COMPACT);
    if (size == 0 || size >= sizeof parcel->text)
        TRY(status_fail(CONSM_EIO, "the result of a run has %zu bytes: at most %zu fit", size,
                        sizeof parcel->text - 1));
    parcel->text[size] = 0;
done:
    json_decref(result);
    return st;
}

static bool is_stopped(void *ctx)
{
    return on_epoch(ctx, NULL);
}

/* Costs are measured in a process of their own, or memory that earlier runs left would count. A
 * device that this process has open would not work there. */
static bool must_be_apart(const struct job *job)
{
    return job->run.task == TASK_COST && !job->run.device;
}

static consm_status do_apart(json_t **out, struct execution *x, const struct job *job, int threads)
{
    consm_status st = CONSM_OK;
    struct apart apart = {x, job, threads};
    struct parcel *parcel = NULL;
    TRY(NEW(parcel, 1));
    TRY(child_run(parcel, sizeof *parcel, NULL,
                  &(struct child){.work = pack_job, .arg = &apart, .stop = is_stopped, .ctx = x}));
    *out = json_loads(parcel->text, 0, NULL);
    if (!*out)
        TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
done:
    mem_free(parcel);
    return st;
}

consm_status execute_job(json_t **out, struct execution *x, const struct job *job, int threads)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    TRY(must_be_apart(job) ? do_apart(out, x, job, threads) : do_job(out, x, job, threads));
    TRY(sign(*out));
    return CONSM_OK;
done:
    json_decref(*out);
    *out = NULL;
    return st;
}

static consm_status run_job(void *ctx, int64_t number, int threads)
{
    struct execution *x = ctx;
    consm_status st = CONSM_OK;
    const struct job *job = &x->job[x->offset + (size_t)number];
    json_t *result;
    TRY(execute_job(&result, x, job, threads));
    st = execute_finish(x, job, result);
    json_decref(result);
done:
    return st;
}

/* ---- all runs ------------------------------------------------------------ */

/* Runs side by side come first; each run uses the remaining cores. */
static consm_status run_batch(struct execution *x, size_t from, size_t count, int jobs, int threads)
{
    int side_by_side = (size_t)jobs < count ? jobs : (int)count;
    if (threads <= 0 && side_by_side > 0)
        threads = threads_available() / side_by_side;
    struct batch batch = {.count = (int64_t)count,
                          .jobs = jobs,
                          .threads = threads > 0 ? threads : 1,
                          .run = run_job,
                          .ctx = x};
    x->offset = from;
    return count > 0 ? train_batch(&batch) : CONSM_OK;
}

consm_status execute_plan(struct runs *runs, const struct plan *plan, const struct study_sets *sets,
                          const struct execute_options *o)
{
    consm_status st = CONSM_OK;
    struct execution x = {.runs = runs, .sets = sets, .options = o};
    x.workers = o->workers ? *o->workers : (struct workers){&ranks_alone, NULL};
    const struct ranks *ranks = x.workers.ranks;
    bool shared = ranks->size > 1, worker = ranks->rank > 0;
    int jobs = o->jobs > 0 ? o->jobs : shared ? ranks_threads(ranks, 0) : threads_available();
    pthread_mutex_init(&x.lock, NULL);
    for (size_t i = 0; i < plan->count; i++)
        TRY(add_job(&x, &plan->run[i]));
    keep_missing(&x);
    if (x.count > 0)
        qsort(x.job, x.count, sizeof *x.job, by_cost);
    while (x.together < x.count && !must_be_alone(&x.job[x.together]))
        x.together++;
    x.progress.total = (int64_t)x.count;
    if (o->begin && !worker)
        o->begin(o->ctx, &x.progress);
    if (shared)
        TRY(execute_among_ranks(&x, jobs, o->threads > 0 ? o->threads : 1));
    else
        TRY(run_batch(&x, 0, x.together, jobs, o->threads));
    if (!worker)
        TRY(run_batch(&x, x.together, x.count - x.together, 1, o->threads));
done:
    for (size_t i = 0; i < x.count; i++)
        json_decref(x.job[i].identity);
    mem_free(x.job);
    pthread_mutex_destroy(&x.lock);
    return st;
}
