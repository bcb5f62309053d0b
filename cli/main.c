/* The command `consm`: finds the verb, reads its flags, runs it. */
#include "commands.h"
#include "config_args.h"
#include "help.h"
#include "together.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order in which `consm help` lists them. */
static const struct command *const commands[] = {
    &cmd_train,    //
    &cmd_predict,  //
    &cmd_evaluate, //
    &cmd_explain,  //
    &cmd_edges,    //
    &cmd_clean,    //
    &cmd_compare,  //
    &cmd_study,    //
    &cmd_bench,    //
    &cmd_report,   //
    &cmd_models,   //
    &cmd_info,     //
    &cmd_fetch,    //
    &cmd_split,    //
    &cmd_convert,  //
    &cmd_partition,
    &cmd_generate, //
    NULL,
};

static const struct command *find_command(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static const char *command_name(void *ctx, int index)
{
    (void)ctx;
    return commands[index] ? commands[index]->name : NULL;
}

static void print_overview(FILE *out)
{
    fputs(
        "consm: label the rest of your graph, and know which of its edges to trust\n\n"
        "usage: consm VERB …      consm help VERB      consm help formats      consm --version\n\n",
        out);
    for (int i = 0; commands[i]; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
}

/* The topic that begins at a flag, for the help. */
static const char *topic_of(const char *flag)
{
    static const struct {
        const char *flag, *topic;
    } topics[] = {
        {"epochs", "training"},
        {"layers", "most models"},
        {"edge-dropout", "DropEdge"},
        {"heads", "GAT, FAGCN"},
        {"hops", "APPNP, GCNII, GRAND"},
        {"reach", "H2GCN"},
        {"residual", "GCN, GAT, GIN, GRAND"},
        {"gate-hidden", "PTDNet"},
        {"samples", "GRAND"},
        {"tree-depth", "trees"},
        {"propagation", "propagation loss, for any model except consm"},
        {"profile", "ConSM: GNN and rounds"},
        {"match-steps", "ConSM: matching module"},
    };
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (strcmp(topics[i].flag, flag) == 0)
            return topics[i].topic;
    return NULL;
}

/* Columns of a flag's name and of its description. */
enum { LEFT = 32, RIGHT = 68 };

/* Columns of the word that begins here. */
static int word_width(const char *c)
{
    int width = 0;
    for (; *c && *c != ' ' && *c != '\n'; c++)
        width += (*c & 0xC0) != 0x80; /* UTF-8: not inside of a letter */
    return width;
}

/* The description of a flag, in lines of RIGHT columns; its own line breaks stay. */
static void print_wrapped(const char *c)
{
    int column = 0;
    while (*c) {
        int width = word_width(c);
        if (column > 0 && column + 1 + width > RIGHT) {
            printf("\n%*s", LEFT, "");
            column = 0;
        }
        column += printf("%s", column > 0 ? " " : "") + width;
        for (; *c && *c != ' ' && *c != '\n'; c++)
            putchar(*c);
        if (*c == '\n') {
            printf("\n%*s", LEFT, "");
            column = 0;
        }
        c += *c != 0;
    }
    putchar('\n');
}

static void print_flags(const struct flag *flags, bool topics)
{
    for (const struct flag *f = flags; f && f->name; f++) {
        char left[64];
        if (topics && topic_of(f->name))
            printf("\n%s:\n", topic_of(f->name));
        int used = snprintf(left, sizeof left, "%s%c%s--%s%s%s", f->letter ? "-" : "",
                            f->letter ? f->letter : ' ', f->letter ? ", " : "   ", f->name,
                            f->value ? " " : "", f->value ? f->value : "");
        printf("  %-*s", LEFT - 2, left);
        if (used > LEFT - 3)
            printf("\n%*s", LEFT, "");
        print_wrapped(f->help);
    }
}

/* model NULL: none was named. */
static void print_help(const struct command *command, const char *model)
{
    const struct model_def *def;
    printf("consm %s: %s\n\nusage: consm %s %s\n\n%s\nflags:\n", command->name, command->summary,
           command->name, command->usage, command->text);
    print_flags(command->flags, false);
    if (!command->more_flags)
        return;
    if (!model || model_find(&def, model) < 0)
        (void)model_find(&def, "consm");
    printf("\n"
           "In brackets: the default for %s, then the allowed values. `consm train --model NAME "
           "--help` shows\n"
           "the defaults of another model.\n",
           def->name);
    print_flags(config_flags_of(def), true);
}

static int unknown_command(const char *name)
{
    const char *near = args_nearest(name, command_name, NULL);
    if (near)
        fprintf(stderr, "consm: unknown verb %s; did you mean %s?\n", name, near);
    else
        fprintf(stderr, "consm: unknown verb %s; `consm help` lists all verbs\n", name);
    return EXIT_USAGE;
}

/* `consm help --man [VERB]`, `consm help --completion SHELL`. */
static int print_for_others(int argc, char **argv)
{
    bool man = strcmp(argv[2], "--man") == 0;
    const struct command *verb = man && argc > 3 ? find_command(argv[3]) : NULL;
    if (man && argc > 3 && !verb)
        return unknown_command(argv[3]);
    if (man)
        help_man(commands, verb);
    else if (strcmp(argv[2], "--completion") == 0)
        return help_completion(commands, argc > 3 ? argv[3] : "");
    else
        return unknown_command(argv[2]);
    return EXIT_DONE;
}

/* If a standard descriptor is closed, the next opened file would get it, and printed text would go
 * into that file. So it is opened on the null device: reading gives nothing, writing is an error.
 */
static void reserve_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", O_RDONLY);
}

/* Checks that all output was written: a full disk is a failure. */
static int end_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "consm: cannot write to standard output\n");
    return code != EXIT_DONE ? code : EXIT_FAILED;
}

/* Prints the library's warnings. */
static void print_warning(void *ctx, enum consm_log_level level, const char *message)
{
    (void)ctx;
    if (level == CONSM_LOG_WARN)
        fprintf(stderr, "consm: warning: %s\n", message);
}

/* jansson does not check everywhere whether it got memory: words go missing, or an assertion
 * aborts. The command ends instead. */
static void *json_memory(size_t bytes)
{
    void *block = malloc(bytes);
    if (!block) {
        fputs("consm: out of memory\n", stderr);
        _exit(EXIT_FAILED);
    }
    return block;
}

static int run(struct together *together, int argc, char **argv)
{
    static struct args args;
    const char *verb = argc > 1 ? argv[1] : "";
    if (argc < 2 || strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 ||
        (strcmp(verb, "help") == 0 && argc == 2)) {
        print_overview(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_DONE;
    }
    if (strcmp(verb, "--version") == 0) {
        printf("consm %s\n", consm_version());
        return EXIT_DONE;
    }
    bool help = strcmp(verb, "help") == 0;
    if (help && argv[2][0] == '-')
        return print_for_others(argc, argv);
    if (help && strcmp(argv[2], "formats") == 0) {
        help_formats();
        return EXIT_DONE;
    }
    const struct command *command = find_command(help ? argv[2] : verb);
    if (!command)
        return unknown_command(help ? argv[2] : verb);
    if (help) {
        print_help(command, NULL);
        return EXIT_DONE;
    }
    int code;
    if (!together_takes_part(together, verb, &code))
        return code;
    code = args_parse(&args, command, argc - 2, argv + 2);
    args.together = together;
    if (code == EXIT_DONE && args_has(&args, "help")) {
        print_help(command, args_get(&args, "model"));
        return EXIT_DONE;
    }
    return code != EXIT_DONE ? code : command->run(&args);
}

/* Input files are mapped. If another program shortens one, reading it raises SIGBUS. */
static void on_short_file(int number, siginfo_t *info, void *context)
{
    static const char text[] = "consm: an input file shrank while consm read it, or its disk "
                               "failed; run the command again\n";
    (void)context;
    signal(number, SIG_DFL);
    if (info->si_code == BUS_ADRERR) { /* anything else is our bug and happens again */
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv)
{
    const struct sigaction short_file = {.sa_sigaction = on_short_file, .sa_flags = SA_SIGINFO};
    reserve_descriptors();
    sigaction(SIGBUS, &short_file, NULL);
    signal(
        SIGXFSZ,
        SIG_IGN); /* a file that becomes too large is a failed write with a message, not a kill */
    json_set_alloc_funcs(json_memory, free);
    consm_set_log(print_warning, NULL);
    struct together together;
    int code = together_begin(&together, argc, argv);
    return together_end(&together,
                        code == EXIT_DONE ? end_output(run(&together, argc, argv)) : code);
}
