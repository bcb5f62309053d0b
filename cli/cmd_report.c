/* `consm report`: writes the page, tables and figures of a study's folder. */
#include "commands.h"
#include "report_compare.h"
#include "study_run.h"

#include "io/file.h"
#include <string.h>

static const struct flag flags[] = {
    {"output", "FILE", "write the page to FILE (DIR/report.html)", 'o'},
    {"files", "DIR", "write tables as CSV, Markdown and LaTeX, figures as SVG and PNG (DIR/files)",
     0},
    {"only", "STUDY", "only this study", 0},
    {"quiet", NULL, "do not print the tables", 'q'},
    {0}};

static int run(struct args *args)
{
    consm_status st = CONSM_OK;
    struct study_folder f = {.lock = -1};
    char *page = NULL, *files = NULL;
    int code = EXIT_DONE;
    const char *only = args_get(args, "only");
    if (args->count == 2)
        return report_compare(args);
    if (args->count != 1)
        return args_fail(args, EXIT_USAGE, "missing folder, as in `consm report results`");
    if (only && !study_find(only))
        return args_fail(args, EXIT_USAGE, "unknown study %s; `consm help study` lists all", only);
    TRY(folder_open(&f, args->item[0], RUNS_READ));
    TRY(file_join(&page, args->item[0], "report.html"));
    TRY(file_join(&files, args->item[0], "files"));
    code = study_run_report(
        args, &f, only, args_has(args, "output") ? args_get(args, "output") : page,
        args_has(args, "files") ? args_get(args, "files") : files, args_has(args, "quiet"));
done:
    mem_free(page);
    mem_free(files);
    folder_close(&f);
    return st < 0 ? args_status(args, st) : code;
}

const struct command cmd_report = {
    .name = "report",
    .summary = "write a study's tables and figures, or compare two trained models",
    .usage = "DIR [-o report.html] [--files DIR], or A B [-o page.html]",
    .text =
        "Reads the runs of `consm study` or `consm bench` in DIR. Writes one self-contained HTML\n"
        "page, and every table and figure as files. This also works while a study is running or\n"
        "after an interruption: missing results are marked as missing.\n"
        "PNG figures need rsvg-convert (package librsvg2-bin), Inkscape or Chromium.\n\n"
        "With two arguments (folders of `consm train -o`, or model files) it compares two trained\n"
        "models: their metrics, per class, and the settings that differ.\n\n"
        "  consm report results -o report.html\n"
        "  consm report out/ out-without-weights/\n",
    .flags = flags,
    .run = run,
};
