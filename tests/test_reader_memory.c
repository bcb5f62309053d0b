/* Memory runs out while a binary file is read or written: every call is repeated with its first,
 * second, third … allocation refused. Each time it fails with a message and leaks nothing. */
#include "failing_memory.h"

#include "data/readers/npz.h"
#include "data/readers/planetoid.h"
#include <unistd.h>

static char written[] = "/tmp/consm-reader-XXXXXX";
static struct file_map planetoid;
static struct dataset *rich;

static consm_status load(const char *seed)
{
    char path[512];
    struct dataset *d;
    snprintf(path, sizeof path, "%s/fuzz/corpus/zip_npz/%s", TESTS_DIR, seed);
    consm_status st = npz_load(&d, path);
    if (st < 0)
        assert_null(d);
    dataset_free(d);
    return st;
}

static consm_status load_extras(void)
{
    return load("extras.deflated");
}

static consm_status load_scipy(void)
{
    return load("scipy.stored");
}

static consm_status save(void)
{
    return npz_save(rich, written);
}

/* The seed holds the eight files one after the other, each after its length. */
static consm_status read_planetoid(void)
{
    struct file_map file[PLANETOID_FILES];
    char name[] = "small", *path[PLANETOID_FILES];
    const uint8_t *at = planetoid.data;
    struct dataset *d;
    for (int i = 0; i < PLANETOID_FILES; i++) {
        file[i] = (struct file_map){at + 4, at[0] | (size_t)at[1] << 8};
        at += 4 + file[i].size;
        path[i] = name;
    }
    consm_status st = planetoid_read(&d, name, file, path);
    if (st < 0)
        assert_null(d);
    dataset_free(d);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    consm_status (*const calls[])(void) = {load_extras, load_scipy, save, read_planetoid};
    close(mkstemp(written));
    OK(npz_load(&rich, TESTS_DIR "/fuzz/corpus/zip_npz/extras.stored"));
    OK(file_map(&planetoid, TESTS_DIR "/fuzz/corpus/planetoid/small"));
    memory_runs_out(calls, sizeof calls / sizeof *calls, 10);
    file_unmap(&planetoid);
    dataset_free(rich);
    unlink(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
