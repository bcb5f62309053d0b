/* Replacing files and folders: by several processes at once, by a killed process, and with traps in
 * place. The target is always complete. THREADED */
#include "check.h"

#include "data/load.h"
#include "data/open.h"
#include "io/file.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static char *at(const char *name)
{
    static _Thread_local char path[4][160];
    static _Thread_local int next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static void put(const char *path, const char *text)
{
    struct file_writer *w;
    OK(file_create(&w, path));
    OK(file_write(w, text, strlen(text)));
    OK(file_commit(w));
    file_close(w);
}

static bool holds(const char *path, const char *text)
{
    struct file_map map;
    OK(file_map(&map, path));
    bool same = map.size == strlen(text) && memcmp(map.data, text, map.size) == 0;
    file_unmap(&map);
    return same;
}

/* ---- several at once ------------------------------------------------------ */

enum { SAVES = 60 };

static void *save_often(void *model)
{
    for (int i = 0; i < SAVES; i++)
        if (consm_model_save(model, at("shared.safetensors")) < 0)
            return "saving failed";
    return NULL;
}

static void two_threads_save_to_one_path(void **state)
{
    (void)state;
    struct consm_dataset *d;
    struct consm_options *o;
    struct consm_model *m, *back;
    pthread_t thread[2];
    void *fault[2];
    OK(consm_dataset_open(&d, "karate", NULL));
    OK(consm_options_new(&o, "gcn"));
    OK(consm_options_set(o, "epochs", "1"));
    OK(consm_options_set(o, "per_class", "2"));
    OK(consm_options_set(o, "threads", "1"));
    OK(consm_train(&m, d, o));
    OK(consm_model_save(m, at("shared.safetensors")));
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, save_often, m);
    for (int i = 0; i < SAVES; i++) {
        OK(consm_model_load(&back, at("shared.safetensors")));
        consm_model_free(back);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &fault[i]);
        assert_null(fault[i]);
    }
    consm_model_free(m);
    consm_options_free(o);
    consm_dataset_free(d);
}

/* ---- traps ---------------------------------------------------------------- */

static void planted_links_are_not_followed(void **state)
{
    (void)state;
    char trap[192];
    put(at("victim"), "mine");
    snprintf(trap, sizeof trap, "%s.%ld.tmp", at("target"), (long)getpid());
    assert_int_equal(symlink(at("victim"), trap), 0);
    put(at("target"), "new");
    assert_true(holds(at("victim"), "mine"));
    assert_true(holds(at("target"), "new"));
    unlink(trap);
}

static void permissions_are_kept(void **state)
{
    (void)state;
    struct stat info;
    mode_t before = umask(022);
    put(at("secret"), "one");
    stat(at("secret"), &info);
    assert_int_equal(info.st_mode & 07777, 0644);
    chmod(at("secret"), 0600);
    put(at("secret"), "two");
    stat(at("secret"), &info);
    assert_int_equal(info.st_mode & 07777, 0600);
    umask(before);
}

/* Leftovers of a killed process are removed; files of a living one, and files with similar names,
 * are not. */
static void only_the_dead_are_swept(void **state)
{
    (void)state;
    char dead[192], living[192], other[192];
    struct file_writer *w;
    snprintf(dead, sizeof dead, "%s.0123456789abcdef.tmp", at("swept"));
    snprintf(living, sizeof living, "%s.fedcba9876543210.tmp", at("swept"));
    snprintf(other, sizeof other, "%s.notes.tmp", at("swept"));
    int fd = open(dead, O_CREAT | O_WRONLY, 0666);
    close(fd);
    fd = open(other, O_CREAT | O_WRONLY, 0666);
    close(fd);
    int held = open(living, O_CREAT | O_WRONLY, 0666);
    assert_int_equal(flock(held, LOCK_EX), 0);
    OK(file_create(&w, at("swept")));
    put(at("swept"), "second"); /* while the first is open */
    OK(file_write(w, "first", 5));
    OK(file_commit(w));
    file_close(w);
    assert_true(holds(at("swept"), "first"));
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(living, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    close(held);
    unlink(living);
    unlink(other);
}

/* ---- folders -------------------------------------------------------------- */

static const char *const graph[2] = {"csbm:nodes=40,features=0", "csbm:nodes=90,features=0,seed=1"};

static void write_for_ever(void)
{
    struct dataset *d[2];
    struct data_options o = {0};
    for (int i = 0; i < 2; i++)
        if (data_open(&d[i], graph[i], &o) < 0)
            _exit(1);
    for (int i = 0;; i++)
        if (data_save_path(d[i % 2], at("graph"), "plain") < 0)
            _exit(1);
}

/* Killed at any moment, the folder is one graph or the other. */
static void a_folder_is_never_mixed(void **state)
{
    (void)state;
    struct data_options o = {0};
    struct dataset *d[2], *found;
    for (int i = 0; i < 2; i++)
        OK(data_open(&d[i], graph[i], &o));
    OK(data_save_path(d[0], at("graph"), "plain"));
    put(at("graph/README"), "of the owner");
    for (int round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0)
            write_for_ever();
        usleep(3000 + 977 * (useconds_t)(round * 7 % 13));
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        OK(data_load_path(&found, at("graph"), "plain"));
        const struct dataset *now = found->nodes == d[0]->nodes ? d[0] : d[1];
        assert_int_equal(found->nodes, now->nodes);
        assert_int_equal(found->edges, now->edges);
        dataset_free(found);
        assert_true(holds(at("graph/README"), "of the owner"));
    }
    OK(data_save_path(d[1], at("graph"), "plain"));
    char command[200];
    snprintf(command, sizeof command, "test -z \"$(find %s -name '*.tmp')\"", folder);
    assert_int_equal(system(command), 0);
    mkdir(at("graph/inner"), 0777);
    FAILS(data_save_path(d[0], at("graph"), "plain"), CONSM_EIO, "inner");
    for (int i = 0; i < 2; i++)
        dataset_free(d[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_save_to_one_path),
        cmocka_unit_test(planted_links_are_not_followed),
        cmocka_unit_test(permissions_are_kept),
        cmocka_unit_test(only_the_dead_are_swept),
        cmocka_unit_test(a_folder_is_never_mixed),
    };
    char command[100];
    snprintf(folder, sizeof folder, "/tmp/consm-replace-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(command, sizeof command, "rm -r %s", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return system(command) < 0 ? 1 : failed;
}
