/* Files and hashes: nothing is visible before commit, nothing is left behind after a failure. */
#include "check.h"

#include "io/file.h"
#include "io/sha256.h"
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/consm-io-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void hash_repeated(char hex[65], const char *text, size_t repeat)
{
    struct sha256 s;
    sha256_init(&s);
    for (size_t i = 0; i < repeat; i++)
        sha256_add(&s, text, strlen(text));
    sha256_hex(hex, &s);
}

static void known_hashes(void **state)
{
    (void)state;
    char hex[65];
    hash_repeated(hex, "", 1);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_repeated(hex, "abc", 1);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_repeated(hex, "aaaaaaaaaa", 100000);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void commit_makes_visible(void **state)
{
    (void)state;
    char *path;
    struct file_writer *w;
    struct file_map map;
    OK(file_join(&path, folder, "out.txt"));
    OK(file_create(&w, path));
    OK(file_printf(w, "%d lines\n", 3));
    assert_int_equal(file_kind(path), FILE_MISSING);
    OK(file_commit(w));
    file_close(w);
    OK(file_map(&map, path));
    assert_int_equal(map.size, 8);
    assert_memory_equal(map.data, "3 lines\n", 8);
    file_unmap(&map);
    unlink(path);
    mem_free(path);
}

static void close_without_commit_leaves_nothing(void **state)
{
    (void)state;
    char *path;
    struct file_writer *w;
    OK(file_join(&path, folder, "never.txt"));
    OK(file_create(&w, path));
    OK(file_write(w, "half", 4));
    file_close(w);
    assert_int_equal(file_kind(path), FILE_MISSING);
    mem_free(path);
}

static void faults_are_named(void **state)
{
    (void)state;
    struct file_map map;
    struct file_writer *w;
    FAILS(file_map(&map, "/no/such/file"), CONSM_EIO, "/no/such/file: cannot open");
    FAILS(file_map(&map, folder), CONSM_EIO, "is a folder");
    FAILS(file_create(&w, "/no/such/folder/x"), CONSM_EIO, "/no/such/folder/x: cannot write");
    if (file_kind("/dev/full") == FILE_OTHER) {
        OK(file_create(&w, "-"));
        file_close(w);
    }
}

/* A named pipe without a writer is refused at once. */
static void pipes_do_not_hang(void **state)
{
    (void)state;
    char path[64];
    struct file_map map;
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20); /* ends the test if it hangs; the call itself reads no clock */
    FAILS(file_map(&map, path), CONSM_EIO, "is not a regular file: expected a regular file");
    alarm(0);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes),
        cmocka_unit_test(commit_makes_visible),
        cmocka_unit_test(close_without_commit_leaves_nothing),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(pipes_do_not_hang),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
