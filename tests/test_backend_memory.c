/* Memory runs out while a backend is opened, a program compiled for it and run: every call is
 * repeated with its first, second, third … allocation refused. Each time it fails with a message
 * and leaks nothing. */
#include "failing_memory.h"

#include "backends/open.h"
#include "program/program.h"

enum { NODES = 6, CLASSES = 2 };

static const int32_t label[NODES] = {0, 1, 0, 1, 0, 1};
static const float target[NODES * CLASSES];
static int which; /* of the backends */

/* A program with leaves of every kind and operations with state. */
static node record(struct program *p, const struct csr *a, const struct index *rows)
{
    node x = param(p, "x", NODES, CLASSES, INIT_NORMAL);
    node e = param(p, "e", a->nnz, 1, INIT_NORMAL);
    node z = add(p, spmm(p, a, x), input(p, target, NODES, CLASSES));
    z = batch_norm(p, "bn", dropout(p, spmm_values(p, a, e, z), 0.5f));
    program_penalty(p, nuclear(p, a, e, 1, 3));
    return nll(p, z, rows, label, NULL);
}

static consm_status train(struct backend *backend, struct params *params, const struct csr *a,
                          const struct index *rows)
{
    const struct adam_options adam = {0.01, 0.9, 0.999, 1e-8, 0};
    consm_status st = CONSM_OK;
    struct program *p = NULL;
    const float *values;
    TRY(program_new(&p, params, true));
    program_minimize(p, record(p, a, rows));
    program_optimize(p, &adam);
    TRY(program_compile(p, backend));
    TRY(params_init(params, 1));
    for (uint64_t k = 0; k < 2; k++)
        TRY(program_run(p, &(struct step){1, k}));
    TRY(params_read(&values, params, PLACE_VALUE));
done:
    program_free(p);
    return st;
}

static consm_status compile_and_run(void)
{
    static const int32_t from[] = {0, 1, 2, 3}, to[] = {1, 2, 3, 4}, labelled[] = {1, 4};
    consm_status st = CONSM_OK;
    struct backend *backend = NULL;
    struct params *params = NULL;
    struct csr *a = NULL;
    struct index *rows = NULL;
    TRY(backend_open(&backend, backend_name(which), 2));
    TRY(csr_from_edges(&a, NODES, NODES, 4, from, to, NULL, CSR_DIRECTED, NULL));
    TRY(index_new(&rows, 2, NODES));
    TRY(index_set(rows, labelled));
    TRY(params_new(&params));
    TRY(train(backend, params, a, rows));
done:
    params_free(params);
    index_free(rows);
    csr_free(a);
    backend_close(backend);
    return st;
}

static void backends_run_out_of_memory(void **state)
{
    (void)state;
    static consm_status (*const calls[])(void) = {compile_and_run};
    for (which = 0; backend_name(which); which++)
        memory_runs_out(calls, 1, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(backends_run_out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
