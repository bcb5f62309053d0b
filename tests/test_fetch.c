/* Downloads from a real HTTP server on loopback, which fails in every way that we must survive. The
 * first folder of a path chooses its behaviour. */
#include "check.h"

#include "base/rng.h"
#include "fetch/fetch.h"
#include "io/file.h"
#include "io/sha256.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 300000 };
static uint8_t body[SIZE];
static char body_hash[65];

/* ---- the server ---------------------------------------------------------- */

static int listener, port;
static pthread_t server;
static _Atomic int requests;    /* answered so far */
static _Atomic long last_range; /* start of the last requested range, 0 without a range */

static void send_all(int fd, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t sent = send(fd, at, count, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += sent;
        count -= (size_t)sent;
    }
}

static void send_head(int fd, const char *status, const char *more)
{
    char head[512];
    snprintf(head, sizeof head, "HTTP/1.1 %s\r\nConnection: close\r\n%s\r\n", status, more);
    send_all(fd, head, strlen(head));
}

/* The body from `from`, as a 200 or 206 that promises all of it and sends `part` of it. */
static void send_body(int fd, long from, size_t part)
{
    char more[128];
    if (from >= SIZE) {
        send_head(fd, "416 Range Not Satisfiable", "Content-Length: 0\r\n");
        return;
    }
    if (from > 0)
        snprintf(more, sizeof more, "Content-Length: %ld\r\nContent-Range: bytes %ld-%d/%d\r\n",
                 SIZE - from, from, SIZE - 1, SIZE);
    else
        snprintf(more, sizeof more, "Content-Length: %d\r\n", SIZE);
    send_head(fd, from > 0 ? "206 Partial Content" : "200 OK", more);
    send_all(fd, body + from, part > (size_t)(SIZE - from) ? (size_t)(SIZE - from) : part);
}

static void answer(int fd, const char *path, long range)
{
    char gone[8];
    if (strncmp(path, "/good/", 6) == 0) {
        send_body(fd, range, SIZE);
    } else if (strncmp(path, "/truncated/", 11) == 0) {
        send_body(fd, range, SIZE / 3); /* three requests make a whole */
    } else if (strncmp(path, "/stall/", 7) == 0) {
        send_body(fd, range, range ? SIZE : SIZE / 2);
        if (!range)
            while (recv(fd, gone, sizeof gone, 0) > 0) /* silent until they hang up */
                ;
    } else if (strncmp(path, "/norange/", 9) == 0) {
        send_body(fd, 0, SIZE);
    } else if (strncmp(path, "/nolength/", 10) == 0) {
        send_head(fd, "200 OK", "");
        send_all(fd, body, SIZE / 2);
    } else if (strncmp(path, "/busy/", 6) == 0) {
        if (requests == 1)
            send_head(fd, "503 Service Unavailable", "Content-Length: 0\r\n");
        else
            send_body(fd, range, SIZE);
    } else if (strncmp(path, "/redirect/", 10) == 0) {
        char more[128];
        snprintf(more, sizeof more, "Location: /good/%.60s\r\nContent-Length: 0\r\n", path + 10);
        send_head(fd, "302 Found", more);
    } else if (strncmp(path, "/circle/", 8) == 0) {
        send_head(fd, "302 Found", "Location: /circle/x\r\nContent-Length: 0\r\n");
    } else if (strncmp(path, "/tofile/", 8) == 0) {
        send_head(fd, "302 Found", "Location: file:///etc/hostname\r\nContent-Length: 0\r\n");
    } else if (strncmp(path, "/wrong/", 7) == 0) {
        send_head(fd, "200 OK", "Content-Length: 5\r\n");
        send_all(fd, "wrong", 5);
    } else if (strncmp(path, "/empty/", 7) == 0) {
        send_head(fd, "200 OK", "Content-Length: 0\r\n");
    } else {
        send_head(fd, "404 Not Found", "Content-Length: 0\r\n");
    }
}

static void *serve(void *arg)
{
    (void)arg;
    for (;;) {
        char request[4096];
        size_t length = 0;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        request[0] = 0;
        while (!strstr(request, "\r\n\r\n") && length < sizeof request - 1) {
            ssize_t got = recv(fd, request + length, sizeof request - 1 - length, 0);
            if (got <= 0)
                break;
            length += (size_t)got;
            request[length] = 0;
        }
        char path[256] = "/none";
        const char *range = strstr(request, "Range: bytes=");
        sscanf(request, "GET %255s", path);
        last_range = range ? strtol(range + 13, NULL, 10) : 0;
        requests++;
        answer(fd, path, last_range);
        shutdown(fd, SHUT_WR);
        close(fd);
    }
}

/* ---- the client's side --------------------------------------------------- */

static char folder[] = "/tmp/consm-fetch-XXXXXX";
static char base[64], path[96], part[104], record[104];
static struct data_file file = {"kind/file.bin", "file.bin", body_hash};
static struct data_set set = {.name = "test", .base = base, .file = &file, .files = 1};

static int start(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    struct rng r;
    struct sha256 s;
    rng_init(&r, 1, 2);
    for (int i = 0; i < SIZE; i++)
        body[i] = (uint8_t)rng_u32(&r);
    sha256_init(&s);
    sha256_add(&s, body, SIZE);
    sha256_hex(body_hash, &s);
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/kind/file.bin", folder);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(record, sizeof record, "%s.sha256", path);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) ||
        listen(listener, 8) || getsockname(listener, (struct sockaddr *)&address, &length))
        return -1;
    port = ntohs(address.sin_port);
    return pthread_create(&server, NULL, serve, NULL);
}

static int stop(void **state)
{
    (void)state;
    char command[64];
    shutdown(listener, SHUT_RDWR);
    close(listener);
    pthread_join(server, NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* An empty data folder, and the server's behaviour. */
static struct fetch_options fresh(const char *manner)
{
    struct fetch_options o = fetch_defaults();
    unlink(path);
    unlink(part);
    unlink(record);
    snprintf(base, sizeof base, "http://127.0.0.1:%d/%s/", port, manner);
    file.sha256 = body_hash;
    requests = 0;
    o.first_wait = 0.001;
    o.stall_seconds = 0.3;
    return o;
}

static void expect_whole(const char *at)
{
    struct file_map map;
    OK(file_map(&map, at));
    assert_int_equal(map.size, SIZE);
    assert_memory_equal(map.data, body, SIZE);
    file_unmap(&map);
    assert_int_equal(file_kind(part), FILE_MISSING);
}

static void a_good_file_arrives_once(void **state)
{
    (void)state;
    struct fetch_options o = fresh("good");
    struct fetch_report r;
    OK(fetch_set(&r, &set, folder, &o));
    assert_int_equal(r.fetched, 1);
    assert_int_equal(r.bytes, SIZE);
    expect_whole(path);
    OK(fetch_set(&r, &set, folder, &o)); /* it is here: nothing is asked of the server */
    assert_int_equal(r.present, 1);
    assert_int_equal(r.fetched, 0);
    assert_int_equal(requests, 1);
    /* A file with wrong content is replaced. */
    assert_int_equal(truncate(path, 10), 0);
    OK(fetch_set(&r, &set, folder, &o));
    assert_int_equal(r.fetched, 1);
    expect_whole(path);
}

static void broken_lines_are_resumed(void **state)
{
    (void)state;
    struct fetch_options o = fresh("truncated");
    struct fetch_report r;
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
    assert_int_equal(requests, 3);
    assert_int_equal(last_range, SIZE / 3 * 2);
    o = fresh("stall");
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
    assert_int_equal(requests, 2);
    assert_int_equal(last_range, SIZE / 2);
}

static void giving_up_keeps_the_part_only(void **state)
{
    (void)state;
    struct fetch_options o = fresh("truncated");
    struct fetch_report r;
    o.attempts = 2;
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "/truncated/file.bin");
    assert_int_equal(file_kind(path), FILE_MISSING);
    assert_int_equal(file_kind(part), FILE_REGULAR);
    OK(fetch_set(&r, &set, folder, &o)); /* the next call continues where this one stopped */
    assert_int_equal(requests, 3);
    expect_whole(path);
}

static void put_part(size_t size, int flip)
{
    FILE *f;
    char *parent;
    OK(file_join(&parent, folder, "kind"));
    OK(file_make_folders(parent));
    mem_free(parent);
    f = fopen(part, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < size; i++)
        fputc(i < SIZE ? body[i] ^ flip : 0, f);
    fclose(f);
}

static void parts_that_do_not_fit_are_dropped(void **state)
{
    (void)state;
    struct fetch_options o = fresh("good");
    struct fetch_report r;
    put_part(1000, 1); /* the beginning of some other file */
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
    assert_int_equal(requests, 2);
    o = fresh("good");
    put_part(SIZE + 5, 0); /* longer than the file: 416 */
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
    o = fresh("norange"); /* the server sends everything although only the rest was requested */
    put_part(1000, 0);
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
    assert_int_equal(requests, 1);
}

/* A server that sends too much, and a symbolic link where the part should go. */
static void nothing_grows_or_is_followed(void **state)
{
    (void)state;
    struct fetch_options o = fresh("good");
    struct fetch_report r;
    char victim[128];
    o.attempts = 2;
    o.most_bytes = SIZE - 1;
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "too large");
    assert_int_equal(file_kind(path), FILE_MISSING);
    o = fresh("good");
    o.attempts = 1;
    put_part(0, 0);
    unlink(part);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    FILE *f = fopen(victim, "w");
    assert_non_null(f);
    fputs("mine", f);
    fclose(f);
    assert_int_equal(symlink(victim, part), 0);
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "cannot write");
    struct file_map map;
    OK(file_map(&map, victim));
    assert_int_equal(map.size, 4);
    file_unmap(&map);
    unlink(victim);
}

static void redirects_are_followed_with_care(void **state)
{
    (void)state;
    struct fetch_options o = fresh("redirect");
    struct fetch_report r;
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
    assert_int_equal(requests, 2);
    o = fresh("circle");
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "/circle/file.bin");
    o = fresh("tofile");
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "/tofile/file.bin");
    assert_int_equal(file_kind(path), FILE_MISSING);
}

static void wrong_answers_leave_nothing(void **state)
{
    (void)state;
    struct fetch_report r;
    struct fetch_options o = fresh("wrong");
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EFORMAT, "its SHA-256 is");
    assert_int_equal(requests, 1);
    assert_int_equal(file_kind(path), FILE_MISSING);
    assert_int_equal(file_kind(part), FILE_MISSING);
    o = fresh("missing");
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "the server answered 404 (not found)");
    assert_int_equal(requests, 1);
    assert_int_equal(file_kind(part), FILE_MISSING);
    o = fresh("empty");
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EFORMAT, "expected");
    o = fresh("busy");
    OK(fetch_set(&r, &set, folder, &o));
    assert_int_equal(requests, 2);
    o = fresh("good");
    o.mirror = "http://127.0.0.1:1";
    o.attempts = 2;
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "http://127.0.0.1:1/kind/file.bin");
    o.mirror = "ftp://127.0.0.1";
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "ftp://127.0.0.1/kind/file.bin");
}

static void unknown_hashes_are_recorded(void **state)
{
    (void)state;
    struct fetch_options o = fresh("good");
    struct fetch_report r;
    struct file_map map;
    file.sha256 = NULL;
    OK(fetch_set(&r, &set, folder, &o));
    assert_int_equal(r.recorded, 1);
    expect_whole(path);
    OK(file_map(&map, record));
    assert_memory_equal(map.data, body_hash, 64);
    file_unmap(&map);
    OK(fetch_set(&r, &set, folder, &o));
    assert_int_equal(r.present, 1);
    assert_int_equal(r.recorded, 0);
    /* The start of another file would go unnoticed. */
    o = fresh("good");
    file.sha256 = NULL;
    put_part(1000, 1);
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
    OK(fetch_set(&r, &set, folder, &o));
    assert_int_equal(r.present, 1);
    /* From now on the record counts. */
    unlink(path);
    snprintf(base, sizeof base, "http://127.0.0.1:%d/wrong/", port);
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EFORMAT, "its SHA-256 is");
    /* Half a file without a length looks like a whole one. */
    o = fresh("nolength");
    file.sha256 = NULL;
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "cannot check the download");
    assert_int_equal(file_kind(path), FILE_MISSING);
    assert_int_equal(file_kind(part), FILE_MISSING);
    /* A half is not kept either, because the next server might send something else. */
    o = fresh("truncated");
    file.sha256 = NULL;
    o.attempts = 1;
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "/truncated/");
    assert_int_equal(file_kind(part), FILE_MISSING);
}

static bool stop_at_once(void *ctx, const struct fetch_progress *p)
{
    *(int *)ctx += 1;
    return p->done > 0;
}

static void callers_may_stop_and_others_are_kept_out(void **state)
{
    (void)state;
    struct fetch_options o = fresh("stall");
    struct fetch_report r;
    int calls = 0;
    o.progress = stop_at_once;
    o.ctx = &calls;
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_ECANCEL, "stopped");
    assert_true(calls > 0);
    assert_int_equal(file_kind(path), FILE_MISSING);
    o = fresh("good");
    put_part(10, 0);
    int other = open(part, O_RDWR);
    assert_int_equal(flock(other, LOCK_EX), 0);
    FAILS(fetch_set(&r, &set, folder, &o), CONSM_EIO, "another `consm fetch` is downloading it");
    close(other);
    OK(fetch_set(&r, &set, folder, &o));
    expect_whole(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_arrives_once),
        cmocka_unit_test(broken_lines_are_resumed),
        cmocka_unit_test(giving_up_keeps_the_part_only),
        cmocka_unit_test(parts_that_do_not_fit_are_dropped),
        cmocka_unit_test(nothing_grows_or_is_followed),
        cmocka_unit_test(redirects_are_followed_with_care),
        cmocka_unit_test(wrong_answers_leave_nothing),
        cmocka_unit_test(unknown_hashes_are_recorded),
        cmocka_unit_test(callers_may_stop_and_others_are_kept_out),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
