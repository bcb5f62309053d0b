/* The table of public sets, and where their files are searched. */
#include "check.h"

#include "data/open.h"
#include "data/registry/registry.h"
#include "io/file.h"
#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_hex(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    return true;
}

static void rows_are_sound(void **state)
{
    (void)state;
    const struct data_set *set;
    int sets = 0;
    for (; (set = registry_get(sets)); sets++) {
        assert_ptr_equal(registry_find(set->name), set);
        assert_true(set->files > 0 && set->citation && set->licence && set->preparation);
        /* https://raw.githubusercontent.com/OWNER/REPOSITORY/COMMIT/… */
        const char *at = set->base;
        for (int slashes = 0; slashes < 5; at++)
            slashes += *at == '/';
        assert_true(is_hex(at, 40) && at[40] == '/');
        assert_int_equal(set->base[strlen(set->base) - 1], '/');
        for (int i = 0; i < set->files; i++) {
            assert_non_null(strchr(set->file[i].path, '/'));
            if (set->file[i].sha256)
                assert_true(strlen(set->file[i].sha256) == 64 && is_hex(set->file[i].sha256, 64));
            for (int j = 0; j < i; j++)
                assert_string_not_equal(set->file[i].path, set->file[j].path);
        }
    }
    assert_int_equal(sets, 16);
}

static void names_are_found(void **state)
{
    (void)state;
    assert_string_equal(registry_find("film")->name, "actor");
    assert_string_equal(registry_find("roman_empire")->name, "roman-empire");
    assert_null(registry_find("coral"));
    assert_null(registry_find(""));
    assert_string_equal(registry_nearest("coar"), "cora");
    assert_string_equal(registry_nearest("karatee"), "karate");
    assert_string_equal(registry_nearest("flim"), "film");
    struct dataset *d;
    FAILS(data_open(&d, "citeser", NULL), CONSM_ENOTFOUND, "did you mean citeseer?");
    FAILS(data_open(&d, "zzzzzzzzzzzzzzz", NULL), CONSM_ENOTFOUND, "unknown dataset or file zzz");
    OK(data_open(&d, "karate", NULL));
    dataset_free(d);
    OK(data_open(&d, "csbm:nodes=50,degree=4", NULL));
    assert_int_equal(d->nodes, 50);
    dataset_free(d);
}

/* A scratch folder with empty files in it. */
static char root[] = "/tmp/consm-registry-XXXXXX";

static void touch(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    char *slash = strrchr(path, '/');
    *slash = 0;
    OK(file_make_folders(path));
    *slash = '/';
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void expect_at(const char *set, const char *data_dir, const char *expected)
{
    char *path, whole[256];
    OK(registry_locate(&path, registry_find(set), data_dir));
    snprintf(whole, sizeof whole, "%s/%s", root, expected);
    assert_string_equal(path, whole);
    mem_free(path);
}

static void folders_are_searched_in_order(void **state)
{
    (void)state;
    char given[64], environment[64], cache[64], *path;
    const struct data_set *texas = registry_find("texas"), *cora = registry_find("cora");
    assert_non_null(mkdtemp(root));
    snprintf(given, sizeof given, "%s/given", root);
    snprintf(environment, sizeof environment, "%s/env", root);
    snprintf(cache, sizeof cache, "%s/xdg", root);
    setenv("CONSM_DATA", environment, 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    FAILS(registry_locate(&path, texas, given), CONSM_EIO, "/given $CONSM_DATA=");
    FAILS(registry_locate(&path, texas, given), CONSM_EIO,
          "/xdg/consm); download them with `consm fetch texas`");
    touch("xdg/consm/yandex/texas.npz");
    expect_at("texas", given, "xdg/consm/yandex/texas.npz");
    touch("env/yandex/texas.npz");
    expect_at("texas", given, "env/yandex/texas.npz");
    touch("given/texas.npz"); /* flat */
    expect_at("texas", given, "given/texas.npz");
    expect_at("texas", NULL, "env/yandex/texas.npz");

    /* A folder with all files is preferred to one with some, which is named if none has all. */
    for (int i = 0; i < cora->files - 1; i++) {
        char name[128];
        snprintf(name, sizeof name, "env/%s", cora->file[i].path);
        touch(name);
    }
    FAILS(registry_locate(&path, cora, given), CONSM_EIO,
          "/env lacks planetoid/ind.cora.test.index; download it with `consm fetch cora`");
    for (int i = 0; i < cora->files; i++) {
        char name[128];
        snprintf(name, sizeof name, "xdg/consm/%s", cora->file[i].path);
        touch(name);
    }
    expect_at("cora", NULL, "xdg/consm/planetoid/ind.cora.x");

    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", root, 1);
    struct data_folders f;
    OK(registry_folders(&f, ""));
    assert_null(f.given);
    char home[64];
    snprintf(home, sizeof home, "%s/.cache/consm", root);
    assert_string_equal(f.cache, home);
    registry_folders_free(&f);
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sound),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(folders_are_searched_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
