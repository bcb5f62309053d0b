/* Makes PNG with an installed converter, found when needed: our own rasteriser would be larger than
 * the rest of the report, and a library would be one more dependency. No shell is used, so paths
 * need no quoting. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "io/file.h"
#include "report/html.h"

extern char **environ;

static bool installed(const char *program)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        struct text path = {0};
        text_printf(&path, "%.*s/%s", (int)length, at, program);
        bool found = text_status(&path) >= 0 && access(text_string(&path), X_OK) == 0;
        text_free(&path);
        if (found)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Runs it silently to its end. */
static consm_status run(char *const *arguments, const char *svg)
{
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int result = 0;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&child, arguments[0], &quiet, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (error)
        return status_fail(CONSM_EIO, "%s: cannot run: %s", arguments[0], strerror(error));
    while (waitpid(child, &result, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
        return status_fail(CONSM_EIO, "%s failed on %s", arguments[0], svg);
    return CONSM_OK;
}

/* Width and height of one of our SVGs, which Chromium needs. */
static consm_status svg_size(int *width, int *height, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    char head[200] = {0};
    TRY(file_map(&map, path));
    memcpy(head, map.data, map.size < sizeof head - 1 ? map.size : sizeof head - 1);
    const char *w = strstr(head, "width=\""), *h = strstr(head, "height=\"");
    if (!w || !h || sscanf(w, "width=\"%d", width) != 1 || sscanf(h, "height=\"%d", height) != 1)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: has no width and height: expected an SVG written by consm", path));
done:
    file_unmap(&map);
    return st;
}

static consm_status by_chromium(const char *browser, const char *png, const char *svg, double scale)
{
    consm_status st = CONSM_OK;
    int width, height;
    char *full = realpath(svg, NULL);
    struct text shot = {0}, size = {0}, factor = {0}, address = {0};
    TRY(svg_size(&width, &height, svg));
    if (!full)
        TRY(status_fail(CONSM_EIO, "%s: %s", svg, strerror(errno)));
    text_printf(&shot, "--screenshot=%s", png);
    text_printf(&size, "--window-size=%d,%d", width, height);
    text_printf(&factor, "--force-device-scale-factor=%g", scale);
    text_printf(&address, "file://%s", full);
    TRY(text_status(&address));
    /* Chromium's sandbox does not work for root, as in containers. */
    TRY(run((char *[]){(char *)browser, shot.data, "--headless",
                       geteuid() == 0 ? "--no-sandbox" : "--disable-gpu", "--hide-scrollbars",
                       size.data, factor.data, address.data, NULL},
            svg));
done:
    free(full);
    text_free(&shot);
    text_free(&size);
    text_free(&factor);
    text_free(&address);
    return st;
}

static consm_status convert(const char *png, const char *svg, double scale)
{
    static const char *const browser[] = {"chromium", "chromium-browser", "google-chrome"};
    char zoom[32], dpi[32];
    number_print(zoom, sizeof zoom, "%g", scale);
    number_print(dpi, sizeof dpi, "%g", 96 * scale);
    if (installed("rsvg-convert"))
        return run((char *[]){"rsvg-convert", "-z", zoom, "-o", (char *)png, (char *)svg, NULL},
                   svg);
    if (installed("inkscape"))
        return run((char *[]){"inkscape", (char *)svg, "-o", (char *)png, "-d", dpi, NULL}, svg);
    for (size_t i = 0; i < sizeof browser / sizeof *browser; i++)
        if (installed(browser[i]))
            return by_chromium(browser[i], png, svg, scale);
    return status_fail(CONSM_ENOTFOUND,
                       "no converter found; install rsvg-convert (librsvg2-bin), Inkscape or "
                       "Chromium");
}

consm_status report_write_png(const char *png_path, const char *svg_path, double scale)
{
    consm_status st = CONSM_OK;
    struct text part = {0};
    unlink(png_path); /* an old picture must not stay if the new one fails */
    text_printf(&part, "%s.part.png", png_path); /* Inkscape chooses the format by the suffix */
    TRY(text_status(&part));
    TRY(convert(part.data, svg_path, scale));
    if (rename(part.data, png_path) != 0)
        TRY(status_fail(CONSM_EIO, "%s: %s", png_path, strerror(errno)));
done:
    if (st < 0 && part.data)
        unlink(part.data);
    text_free(&part);
    return st;
}
