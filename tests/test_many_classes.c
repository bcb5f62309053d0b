/* Twenty thousand classes: training does not fail at the end because its metrics do not fit a file,
 * and nothing takes the square of their number. */
#include "check.h"

#include "app/objects.h"
#include "data/facts.h"
#include <math.h>
#include <unistd.h>

enum { CLASSES = 20000, NODES = 300 };

static void twenty_thousand_classes(void **state)
{
    (void)state;
    static int32_t from[NODES], to[NODES], label[NODES];
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m, *back;
    char path[64];
    for (int i = 0; i < NODES; i++) {
        from[i] = i;
        to[i] = (i * 7 + 1) % NODES;
        label[i] = i * 61 % CLASSES;
    }
    struct consm_arrays a = {.size = sizeof a,
                             .nodes = NODES,
                             .edges = NODES,
                             .classes = CLASSES,
                             .from = from,
                             .to = to,
                             .label = label};
    snprintf(path, sizeof path, "/tmp/consm-classes-%ld.safetensors", (long)getpid());
    OK(consm_dataset_from_arrays(&d, &a));
    OK(consm_options_new(&o, "mlp"));
    OK(consm_options_set(o, "epochs", "1"));
    OK(consm_options_set(o, "hidden", "4"));
    OK(consm_options_set(o, "threads", "1"));
    OK(consm_train(&m, d, o));
    OK(consm_model_save(m, path));
    OK(consm_model_load(&back, path));
    for (int role = CONSM_TRAIN; role <= CONSM_TEST; role++) {
        const struct metrics *x = &m->metrics[role], *y = &back->metrics[role];
        assert_int_equal(x->cells, y->cells);
        if (x->cells)
            assert_memory_equal(x->cell, y->cell, (size_t)x->cells * sizeof *x->cell);
        for (int32_t k = 0; k < CLASSES; k++) {
            assert_int_equal(x->of[k].support, y->of[k].support);
            assert_true(x->of[k].recall == y->of[k].recall);
        }
    }
    assert_true(m->metrics[CONSM_TRAIN].cells > 0);
    unlink(path);
    consm_model_free(back);
    consm_model_free(m);
    consm_options_free(o);
    struct data_facts facts;
    OK(facts_measure(&facts, d->data, NULL));
    facts_free(&facts);
    consm_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twenty_thousand_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
