/* Downloads one file over HTTP: attempts, resuming, checking, and the final rename. */
#include "fetch/fetch.h"

#include "base/clock.h"
#include "io/file.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How an attempt can end. */
enum outcome { DONE, TRY_AGAIN, GIVE_UP };

struct transfer {
    const struct fetch_options *o;
    struct fetch_progress *p;
    const char *url, *part;
    CURL *curl;
    int fd;              /* of the .part file, locked */
    int64_t resumed;     /* bytes it held when this attempt began */
    int64_t length;      /* of the whole file as the server says, -1 unknown */
    bool began;          /* the first bytes of this attempt have come */
    curl_off_t moved_to; /* bytes of this attempt when data last arrived */
    double moved_at;     /* and when that was */
    bool stalled, cancelled;
    int write_error;
    consm_status status; /* of the last attempt that failed */
    char text[CURL_ERROR_SIZE];
};

static int64_t part_size(const struct transfer *t)
{
    struct stat info;
    return fstat(t->fd, &info) == 0 ? info.st_size : 0;
}

/* A server that ignores the range sends the whole file with code 200: begin again. */
static bool begin_body(struct transfer *t)
{
    long code = 0;
    curl_off_t length = -1;
    t->began = true;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code != 206)
        t->resumed = 0;
    if (ftruncate(t->fd, t->resumed) != 0 || lseek(t->fd, t->resumed, SEEK_SET) < 0) {
        t->write_error = errno;
        return false;
    }
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    t->length = length >= 0 ? t->resumed + length : -1;
    return true;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    size_t left = size * count;
    if (!t->began && !begin_body(t))
        return 0;
    if (lseek(t->fd, 0, SEEK_CUR) > t->o->most_bytes - (off_t)left) {
        t->write_error = EFBIG; /* a server that never ends would fill the disk */
        return 0;
    }
    while (left > 0) {
        ssize_t wrote = write(t->fd, bytes, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            t->write_error = errno;
            return 0;
        }
        bytes += wrote;
        left -= (size_t)wrote;
    }
    return size * count;
}

static int on_progress(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up_now)
{
    struct transfer *t = ctx;
    (void)up_total;
    (void)up_now;
    t->p->done = t->resumed + now;
    t->p->total = total > 0 ? t->resumed + total : 0;
    if (now != t->moved_to) {
        t->moved_to = now;
        t->moved_at = clock_seconds();
    }
    t->stalled = clock_seconds() - t->moved_at > t->o->stall_seconds;
    t->cancelled = t->o->progress && t->o->progress(t->o->ctx, t->p);
    return t->cancelled || t->stalled;
}

static void set_options(struct transfer *t, char range[32])
{
    CURL *c = t->curl;
    bool https = strncmp(t->url, "https:", 6) == 0;
    curl_easy_reset(c);
    curl_easy_setopt(c, CURLOPT_URL, t->url);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->text);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, 5L);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
#else
    curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS,
                     (long)(CURLPROTO_HTTPS | (https ? 0 : CURLPROTO_HTTP)));
#endif
    curl_easy_setopt(c, CURLOPT_USERAGENT, "consm");
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, 30L);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
    if (t->resumed > 0) {
        snprintf(range, 32, "%lld-", (long long)t->resumed);
        curl_easy_setopt(c, CURLOPT_RANGE, range);
    }
}

/* Explains why the connection failed, and decides what to do next. */
static enum outcome explain(struct transfer *t, CURLcode result)
{
    long code = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    if (t->cancelled) {
        t->status = status_fail(CONSM_ECANCEL, "%s: stopped", t->url);
        return GIVE_UP;
    }
    if (t->write_error) {
        t->status =
            status_fail(CONSM_EIO, "%s: cannot write: %s", t->part, strerror(t->write_error));
        return GIVE_UP;
    }
    if (result == CURLE_HTTP_RETURNED_ERROR) {
        t->status = status_fail(CONSM_EIO, "%s: the server answered %ld%s", t->url, code,
                                code == 404 ? " (not found)" : "");
        if (code == 416) { /* our bytes are not a beginning of the server's file */
            (void)!ftruncate(t->fd, 0);
            return TRY_AGAIN;
        }
        return code >= 500 || code == 408 || code == 429 ? TRY_AGAIN : GIVE_UP;
    }
    if (t->stalled)
        t->status = status_fail(CONSM_EIO, "%s: no data received for %g seconds", t->url,
                                t->o->stall_seconds);
    else
        t->status = status_fail(CONSM_EIO, "%s: %s", t->url,
                                *t->text ? t->text : curl_easy_strerror(result));
    return result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_URL_MALFORMAT ||
                   result == CURLE_TOO_MANY_REDIRECTS || result == CURLE_PEER_FAILED_VERIFICATION
               ? GIVE_UP
               : TRY_AGAIN;
}

/* Checks the hash of a complete file. */
static enum outcome check_part(struct transfer *t, char hash[65], const char *sha256)
{
    int64_t size = part_size(t);
    if (!sha256 && t->length != size) {
        t->status = status_fail(
            CONSM_EIO, "%s: cannot check the download: its size and its SHA-256 are unknown",
            t->url);
        return GIVE_UP;
    }
    if (fsync(t->fd) != 0) {
        t->status = status_fail(CONSM_EIO, "%s: cannot write: %s", t->part, strerror(errno));
        return GIVE_UP;
    }
    t->status = registry_hash(hash, t->part);
    if (t->status < 0)
        return GIVE_UP;
    if (sha256 && strcmp(hash, sha256) != 0) {
        t->status =
            status_fail(CONSM_EFORMAT, "%s: its SHA-256 is %s, expected %s; the file was discarded",
                        t->url, hash, sha256);
        (void)!ftruncate(t->fd, 0);
        /* A resumed file may consist of two versions; a fresh one is simply another file. */
        return t->resumed > 0 ? TRY_AGAIN : GIVE_UP;
    }
    return DONE;
}

static enum outcome attempt(struct transfer *t, char hash[65], const char *sha256)
{
    char range[32];
    t->resumed = sha256 ? part_size(t) : 0;
    t->length = -1;
    t->began = false;
    t->write_error = 0;
    t->moved_to = 0;
    t->moved_at = clock_seconds();
    t->stalled = false;
    t->text[0] = 0;
    set_options(t, range);
    CURLcode result = curl_easy_perform(t->curl);
    if (result == CURLE_OK && !t->began && !begin_body(t)) /* an empty file */
        result = CURLE_WRITE_ERROR;
    if (result != CURLE_OK)
        return explain(t, result);
    return check_part(t, hash, sha256);
}

static void wait_seconds(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Opens and locks the .part file. Another process may have renamed or removed it between open and
 * lock; then the name belongs to another file, and we open again. */
static consm_status open_part(struct transfer *t)
{
    struct stat ours, named;
    for (;;) {
        t->fd = open(t->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (t->fd < 0)
            return status_fail(CONSM_EIO, "%s: cannot write: %s", t->part, strerror(errno));
        if (flock(t->fd, LOCK_EX | LOCK_NB) != 0)
            return status_fail(CONSM_EIO, "%s: another `consm fetch` is downloading it", t->part);
        if (fstat(t->fd, &ours) == 0 && stat(t->part, &named) == 0 && ours.st_ino == named.st_ino &&
            ours.st_dev == named.st_dev)
            return CONSM_OK;
        close(t->fd);
    }
}

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

consm_status fetch_file(char hash[65], const char *url, const char *path, const char *sha256,
                        const struct fetch_options *o, struct fetch_progress *p)
{
    consm_status st = CONSM_OK;
    struct transfer t = {.o = o, .p = p, .url = url, .fd = -1};
    enum outcome outcome = TRY_AGAIN;
    double wait = o->first_wait;
    char *part;
    TRY(NEW(part, strlen(path) + 6));
    sprintf(part, "%s.part", path);
    t.part = part;
    TRY(open_part(&t));
    pthread_once(&curl_once, start_curl);
    t.curl = curl_easy_init();
    if (!t.curl)
        TRY(status_fail(CONSM_ENOMEM, "cannot start libcurl"));
    for (p->attempt = 1; outcome == TRY_AGAIN && p->attempt <= o->attempts; p->attempt++) {
        if (p->attempt > 1) {
            wait_seconds(wait);
            wait *= 2;
        }
        outcome = attempt(&t, hash, sha256);
    }
    if (outcome != DONE) {
        st = t.status;
        if (sha256 == NULL || part_size(&t) == 0) /* nothing worth resuming */
            unlink(part);
        goto done;
    }
    p->done = part_size(&t);
    if (rename(part, path) != 0)
        TRY(status_fail(CONSM_EIO, "%s: cannot rename it to %s: %s", part, path, strerror(errno)));
done:
    if (t.curl)
        curl_easy_cleanup(t.curl);
    if (t.fd >= 0)
        close(t.fd);
    mem_free(part);
    return st;
}
