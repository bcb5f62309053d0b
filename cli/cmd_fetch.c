/* `consm fetch`: downloads the public files of registered sets into the user's cache. */
#include "base/clock.h"
#include "commands.h"
#include "data/generate/generate.h"
#include "fetch/fetch.h"
#include "json_line.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct flag flags[] = {
    {"all", NULL, "fetch every registered dataset", 0},
    {"mirror", "URL",
     "download from another server with the layout of a data folder:\n"
     "URL/planetoid/ind.cora.x",
     0},
    {"data-dir", "DIR", "write the files to DIR instead of the cache", 0},
    {"attempts", "N", "attempts per file (5)", 0},
    {"json", NULL, "print one JSON object per dataset", 0},
    {0}};

/* The line on the terminal. */
struct bar {
    const char *set;
    bool shown;
    double drawn; /* when it was drawn last */
};

static bool draw_bar(void *ctx, const struct fetch_progress *p)
{
    enum { CELLS = 24 };
    struct bar *bar = ctx;
    double now = clock_seconds();
    if (bar->shown && now - bar->drawn < 0.1 && p->done != p->total)
        return false;
    bar->drawn = now;
    int full = p->total > 0 ? (int)(CELLS * p->done / p->total) : 0;
    fprintf(stderr, "\r\033[K%s  %d/%d  ", bar->set, p->index + 1, p->files);
    for (int i = 0; i < CELLS; i++)
        fputs(i < full ? "█" : "░", stderr);
    fprintf(stderr, "  %.1f", (double)p->done / 1e6);
    if (p->total > 0)
        fprintf(stderr, " of %.1f", (double)p->total / 1e6);
    fprintf(stderr, " MB  %s%s", p->file, p->attempt > 1 ? "  (again)" : "");
    bar->shown = true;
    return false;
}

static void report_people(const struct data_set *set, const char *folder,
                          const struct fetch_report *r)
{
    printf("%s: ", set->name);
    if (r->fetched)
        printf("%d file%s fetched (%.1f %s)%s", r->fetched, r->fetched == 1 ? "" : "s",
               (double)r->bytes / (r->bytes < 1000000 ? 1e3 : 1e6),
               r->bytes < 1000000 ? "kB" : "MB", r->present ? ", " : "");
    if (r->present)
        printf("%d already there", r->present);
    printf(", in %s\n", folder);
    if (r->recorded)
        printf("%s: no SHA-256 is registered for %d file%s; the SHA-256 of the download is "
               "recorded beside "
               "%s and checked from now on\n",
               set->name, r->recorded, r->recorded == 1 ? "" : "s",
               r->recorded == 1 ? "it" : "them");
}

static void report_json(const struct data_set *set, const char *folder,
                        const struct fetch_report *r, consm_status st)
{
    json_t *o = json_pack("{s:s, s:s, s:b, s:i, s:i, s:i, s:I}", "dataset", set->name, "folder",
                          folder, "ok", st == CONSM_OK, "fetched", r->fetched, "present",
                          r->present, "recorded", r->recorded, "bytes", (json_int_t)r->bytes);
    if (st < 0)
        json_object_set_new(o, "error", json_string(consm_errmsg()));
    json_line(o, 0);
}

static int fetch_named(const struct args *args, const struct data_set *set, const char *folder,
                       struct fetch_options *o)
{
    struct fetch_report report;
    struct bar bar = {.set = set->name};
    o->ctx = &bar;
    o->progress = isatty(STDERR_FILENO) ? draw_bar : NULL;
    consm_status st = fetch_set(&report, set, folder, o);
    if (bar.shown)
        fputs("\r\033[K", stderr);
    if (args_has(args, "json"))
        report_json(set, folder, &report, st);
    else if (st == CONSM_OK)
        report_people(set, folder, &report);
    return st < 0 ? args_fail(args, EXIT_FAILED, "%s: %s", set->name, consm_errmsg()) : EXIT_DONE;
}

/* Checks all names before the first download. */
static int check_names(const struct args *args)
{
    if (args->count == 0 && !args_has(args, "all"))
        return args_fail(args, EXIT_USAGE,
                         "missing dataset: give names, as in `consm fetch cora`, or --all");
    for (int i = 0; i < args->count; i++)
        if (!registry_find(args->item[i]) && !generate_knows(args->item[i])) {
            const char *near = registry_nearest(args->item[i]);
            return args_fail(args, EXIT_USAGE, "unknown dataset %s%s%s%s", args->item[i],
                             near ? "; did you mean " : "; `consm info` lists all",
                             near ? near : "", near ? "?" : "");
        }
    return EXIT_DONE;
}

static int run(struct args *args)
{
    struct fetch_options o = fetch_defaults();
    struct data_folders folders;
    int64_t attempts = o.attempts;
    int code, worst = EXIT_DONE;
    if ((code = check_names(args)) || (code = args_int(args, "attempts", 1, 100, &attempts)))
        return code;
    o.attempts = (int)attempts;
    o.mirror = args_get(args, "mirror");
    consm_status st = registry_folders(&folders, args_get(args, "data-dir"));
    if (st < 0)
        return args_status(args, st);
    const char *folder = folders.given ? folders.given : folders.cache;
    if (!folder)
        return args_fail(args, EXIT_FAILED, "no cache folder: set HOME or use --data-dir");
    const struct data_set *set;
    for (int i = 0; args_has(args, "all") && (set = registry_get(i)); i++)
        if ((code = fetch_named(args, set, folder, &o)))
            worst = code;
    for (int i = 0; !args_has(args, "all") && i < args->count; i++) {
        if (!(set = registry_find(args->item[i])))
            printf("%s: built in, nothing to fetch\n", args->item[i]);
        else if ((code = fetch_named(args, set, folder, &o)))
            worst = code;
    }
    registry_folders_free(&folders);
    return worst;
}

const struct command cmd_fetch = {
    .name = "fetch",
    .summary = "download public datasets, checked and resumable",
    .usage = "NAME… | --all",
    .text =
        "Downloads files from fixed public sources (`consm info NAME` cites them), checks their\n"
        "SHA-256 and stores them in $XDG_CACHE_HOME/consm or ~/.cache/consm. An interrupted\n"
        "download is resumed. A file gets its final name only when it is complete.\n\n"
        "  consm fetch cora pubmed\n"
        "  consm fetch --all --mirror https://example.org/datasets\n",
    .flags = flags,
    .run = run,
};
