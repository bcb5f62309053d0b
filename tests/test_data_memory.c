/* Memory runs out while data is made, split, measured or searched: every call is repeated with its
 * first, second, third … allocation refused. Each time it fails with a message and leaks nothing.
 */
#include "failing_memory.h"

#include "data/facts.h"
#include "data/generate/generate.h"
#include "data/open.h"
#include "data/registry/registry.h"
#include "data/split.h"
#include <unistd.h>

static struct dataset *karate;
static struct csr *graph;
static uint8_t role[34];
static char file[] = "/tmp/consm-memory-XXXXXX";
static const struct split_options four = {.per_class = 4};

static consm_status make(const char *name)
{
    struct dataset *d;
    consm_status st = data_open(&d, name, NULL);
    if (st < 0)
        assert_null(d);
    dataset_free(d);
    return st;
}

static consm_status make_karate(void)
{
    return make("karate");
}

static consm_status make_csbm(void)
{
    return make("csbm:nodes=60,degree=4");
}

static consm_status make_words(void)
{
    return make("csbm:nodes=60,degree=4,words=5,exponent=2.5");
}

static consm_status split_random(void)
{
    return split_make(role, karate, "random", 1, &four);
}

static consm_status split_pooled(void)
{
    const struct split_options o = {.per_class = 4, .pooled = true};
    return split_make(role, karate, "random", 1, &o);
}

static consm_status split_to_file_and_back(void)
{
    uint8_t back[34];
    consm_status st = split_write(file, karate, role);
    return st < 0 ? st : split_make(back, karate, file, 0, NULL);
}

static consm_status facts(void)
{
    struct data_facts f;
    consm_status st = facts_measure(&f, karate, role);
    facts_free(&f);
    return st;
}

/* Not finding a file is the success of this call. */
static consm_status locate(void)
{
    char *path;
    consm_status st = registry_locate(&path, registry_find("cora"), "/nowhere");
    return st == CONSM_EIO ? CONSM_OK : st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    consm_status (*const calls[])(void) = {make_karate,  make_csbm,    make_words,
                                           split_random, split_pooled, split_to_file_and_back,
                                           facts,        locate};
    close(mkstemp(file));
    unsetenv("CONSM_DATA");
    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    OK(generate_karate(&karate));
    OK(dataset_graph(&graph, karate, NULL));
    OK(split_random());
    memory_runs_out(calls, sizeof calls / sizeof *calls, 1);
    csr_free(graph);
    dataset_free(karate);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
