/* Divides runs among the ranks that mpirun started. All have planned the same list; rank 0 hands
 * out job numbers, works itself, and records the others' results. */
#include "study/execute_inside.h"

#include "io/json_text.h"
#include "train/train.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The next free job; -1: none, or a run has failed. */
static int64_t take_job(struct execution *x)
{
    pthread_mutex_lock(&x->lock);
    int64_t number = x->failure.code == CONSM_OK && x->next < x->together ? (int64_t)x->next++ : -1;
    pthread_mutex_unlock(&x->lock);
    return number;
}

static consm_status run_taken(struct execution *x, int64_t number, int threads)
{
    consm_status st = CONSM_OK;
    json_t *result;
    TRY(execute_job(&result, x, &x->job[number], threads));
    st = execute_finish(x, &x->job[number], result);
    json_decref(result);
done:
    return st;
}

static consm_status run_next(void *ctx, int64_t number, int threads)
{
    int64_t taken = take_job(ctx);
    (void)number;
    return taken < 0 ? CONSM_OK : run_taken(ctx, taken, threads);
}

/* Another rank's message about a job: {"job": 3, "result": {…}}, or what went wrong. */
static consm_status take_result(struct execution *x, const char *text)
{
    consm_status st = CONSM_OK;
    json_t *said = json_loads(text, 0, NULL), *result = json_object_get(said, "result");
    int64_t number = json_integer_value(json_object_get(said, "job"));
    const char *error = json_string_value(json_object_get(said, "error"));
    if (error)
        TRY(status_fail((consm_status)json_integer_value(json_object_get(said, "code")), "%s",
                        error));
    if (!json_is_object(result) || number < 0 || (size_t)number >= x->together)
        TRY(status_fail(CONSM_EFORMAT, "a rank sent an invalid result"));
    TRY(execute_finish(x, &x->job[number], result));
done:
    json_decref(said);
    return st;
}

static void note_failure(struct execution *x, consm_status st)
{
    pthread_mutex_lock(&x->lock);
    first_failure_keep(&x->failure, st);
    pthread_mutex_unlock(&x->lock);
}

/* Rank 0 hands out jobs and takes results until all others have left: "", a result, "bye". */
static void *serve_ranks(void *arg)
{
    struct execution *x = arg;
    const struct timespec nap = {.tv_nsec = 2000000};
    for (int left = x->workers.ranks->size - 1; left > 0;) {
        char *text = NULL;
        int from = 0;
        consm_status st = x->workers.calls->poll(&text, &from);
        bool bye = text && strcmp(text, "bye") == 0;
        if (st == CONSM_OK && text && *text && !bye)
            st = take_result(x, text);
        if (st < 0)
            note_failure(x, st);
        if (text)
            x->workers.calls->reply(from, bye ? 0 : take_job(x));
        else
            nanosleep(&nap, NULL);
        left -= bye;
        mem_free(text);
    }
    return NULL;
}

/* The other ranks take jobs until there are none. */
static consm_status obey(void *ctx, int64_t ignored, int threads)
{
    struct execution *x = ctx;
    consm_status st = CONSM_OK;
    int64_t number;
    (void)ignored;
    TRY(x->workers.calls->ask(&number, ""));
    while (number >= 0 && (size_t)number < x->together) {
        json_t *result = NULL, *said;
        consm_status ran = execute_job(&result, x, &x->job[number], threads);
        if (ran == CONSM_OK)
            said = json_pack("{s:I, s:o}", "job", (json_int_t)number, "result", result);
        else
            said = json_pack("{s:I, s:i, s:s}", "job", (json_int_t)number, "code", (int)ran,
                             "error", consm_errmsg());
        char *text = json_text(said, JSON_COMPACT | JSON_REAL_PRECISION(17));
        json_decref(said);
        if (!text)
            TRY(status_fail(CONSM_ENOMEM, "out of memory for a result"));
        st = x->workers.calls->ask(&number, text);
        free(text);
        TRY(st);
    }
done:
    return st;
}

/* Checks that all have the same list; no rank adds to the record before the last has read it. */
static consm_status compare_jobs(const struct execution *x)
{
    consm_status st = CONSM_OK;
    char(*key)[sizeof x->job->key] = NULL;
    TRY(ZNEW(key, x->count));
    for (size_t i = 0; i < x->count; i++)
        memcpy(key[i], x->job[i].key, sizeof key[i]);
    TRY(x->workers.ranks->agree(&(struct alike){"runs to do", key, x->count * sizeof *key, false},
                                1));
done:
    mem_free(key);
    return st;
}

/* Runs side by side on every rank; rank 0 does those that must run alone. */
consm_status execute_among_ranks(struct execution *x, int jobs, int threads)
{
    consm_status st = CONSM_OK;
    pthread_t server;
    int64_t answer;
    struct batch batch = {.count = jobs, .jobs = jobs, .threads = threads, .run = obey, .ctx = x};
    TRY(compare_jobs(x));
    if (x->workers.ranks->rank > 0) {
        TRY(train_batch(&batch));
        return x->workers.calls->ask(&answer, "bye");
    }
    if (pthread_create(&server, NULL, serve_ranks, x) != 0)
        TRY(status_fail(CONSM_ENOMEM, "cannot start a thread to distribute runs"));
    batch.count = (int64_t)x->together;
    batch.run = run_next;
    st = batch.count > 0 ? train_batch(&batch) : CONSM_OK;
    if (st < 0)
        note_failure(x, st);
    pthread_join(server, NULL);
    st = first_failure_report(&x->failure);
done:
    return st;
}
