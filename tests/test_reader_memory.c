/* Memory that runs out while a binary file is read or written: every call is repeated with its
 * first, second, third … allocation refused; each time it says so and leaves nothing. */
#include "check.h"

#include "data/npz.h"
#include "data/planetoid.h"
#include <unistd.h>

static long until_failure, blocks;

static void *counting_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    if (until_failure-- <= 0)
        return NULL;
    blocks++;
    return aligned_alloc(64, bytes);
}

static void counting_free(void *ctx, void *block)
{
    (void)ctx;
    blocks--;
    free(block);
}

static const struct consm_allocator counting = {counting_alloc, counting_free, NULL};
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

/* The seed holds the eight files one behind the other, each after its length. */
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
    consm_set_allocator(&counting);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        consm_status status = CONSM_ENOMEM;
        int refused = 0;
        for (; status != CONSM_OK && refused < 2000; refused++) {
            until_failure = refused;
            status = calls[i]();
            if (status != CONSM_OK && status != CONSM_ENOMEM)
                fail_msg("call %zu with allocation %d refused: status %d: %s", i, refused, status,
                         consm_errmsg());
            if (blocks != 0)
                fail_msg("call %zu with allocation %d refused: %ld blocks left", i, refused,
                         blocks);
        }
        assert_true(status == CONSM_OK && refused > 10);
    }
    consm_set_allocator(NULL);
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
