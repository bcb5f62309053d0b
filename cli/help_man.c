/* Manual pages in man macros. Paragraphs of a verb's text are filled; indented lines are examples
 * and stay as they are. */
#include "help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct flag *help_flag(const struct command *command, int index)
{
    const struct flag *f = command->flags;
    for (; f && f->name; f++)
        if (index-- == 0)
            return f;
    for (f = command->more_flags ? command->more_flags() : NULL; f && f->name; f++)
        if (index-- == 0)
            return f;
    return NULL;
}

/* Text with roff's special characters escaped. */
static void put(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (i == 0 && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", stdout);
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(text[i]);
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

/* Lines of the help: blank ones end a paragraph, indented ones are examples. */
static void put_body(const char *text)
{
    bool example = false, filled = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool indented = text[0] == ' ', blank = length == 0;
        if (example && !indented) {
            fputs(".EE\n", stdout);
            example = false;
        }
        if (blank) {
            if (filled)
                fputs(".PP\n", stdout);
            filled = false;
        } else {
            if (indented && !example)
                fputs(".EX\n", stdout);
            example = indented;
            put(text, length);
            putchar('\n');
            filled = true;
        }
        text += length + (text[length] == '\n');
    }
    if (example)
        fputs(".EE\n", stdout);
}

static void put_flag(const struct flag *f)
{
    fputs(".TP\n\\fB", stdout);
    if (f->letter)
        printf("\\-%c\\fR, \\fB", f->letter);
    fputs("\\-\\-", stdout);
    put_text(f->name);
    fputs("\\fR", stdout);
    if (f->value) {
        fputs(" \\fI", stdout);
        put_text(f->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    for (const char *c = f->help; *c;) {
        size_t length = strcspn(c, "\n");
        put(c, length);
        putchar('\n');
        c += length + (c[length] == '\n');
    }
}

static void put_head(const char *verb, const char *summary)
{
    char upper[64];
    snprintf(upper, sizeof upper, "CONSM%s%s", *verb ? "-" : "", verb);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    fputs(".TH ", stdout);
    put_text(upper);
    printf(" 1 \"\" \"consm %s\" \"consm\"\n.SH NAME\nconsm", consm_version());
    if (*verb)
        printf("\\-%s", verb);
    fputs(" \\- ", stdout);
    put_text(summary);
    putchar('\n');
}

static void put_tail(const struct command *const *commands, const struct command *verb)
{
    fputs(".SH EXIT STATUS\n"
          ".TP\n"
          "0\n"
          "success\n"
          ".TP\n"
          "1\n"
          "failure; one line on standard error gives the reason\n"
          ".TP\n"
          "2\n"
          "wrong usage; one line says what was expected\n"
          ".TP\n"
          "130\n"
          "train, study or bench was interrupted, for example by Ctrl\\-C\n"
          ".SH SEE ALSO\n",
          stdout);
    if (verb)
        fputs(".BR consm (1)\n", stdout);
    for (int i = 0; !verb && commands[i]; i++)
        printf(".BR consm\\-%s (1)%s\n", commands[i]->name, commands[i + 1] ? "," : "");
}

static void man_overview(const struct command *const *commands)
{
    put_head("", "label the rest of your graph, and know which of its edges to trust");
    fputs(".SH SYNOPSIS\n.B consm\n.I VERB\n…\n.br\n.B consm help\n.I VERB\n.SH DESCRIPTION\n"
          "Node classification on graphs, homophilic or not: trains, compares and applies models, "
          "and scores edges.\nData goes to standard output, progress and messages to standard "
          "error.\n.SH VERBS\n",
          stdout);
    for (int i = 0; commands[i]; i++) {
        printf(".TP\n.B %s\n", commands[i]->name);
        put_text(commands[i]->summary);
        putchar('\n');
    }
    fputs(".SH ENVIRONMENT\n"
          ".TP\n"
          ".B CONSM_DATA\n"
          "folder with the files of registered datasets; searched after \\-\\-data\\-dir and "
          "before the user's cache\n"
          ".TP\n"
          ".B XDG_CACHE_HOME\n"
          "the user's cache is $XDG_CACHE_HOME/consm; default: ~/.cache/consm\n"
          ".TP\n"
          ".B CONSM_SIMD\n"
          "instruction set of the vector kernels: base, avx2 or avx512 on x86\\-64, base or neon "
          "on aarch64; default: the widest that the processor has\n"
          ".TP\n"
          ".B CONSM_RANKS\n"
          "divide: under mpirun, train divides small graphs, too; default: rank 0 trains them "
          "alone\n",
          stdout);
}

void help_man(const struct command *const *commands, const struct command *verb)
{
    if (!verb) {
        man_overview(commands);
        put_tail(commands, NULL);
        return;
    }
    put_head(verb->name, verb->summary);
    printf(".SH SYNOPSIS\n.B consm %s\n", verb->name);
    put_text(verb->usage);
    fputs("\n.SH DESCRIPTION\n", stdout);
    put_body(verb->text);
    if (help_flag(verb, 0))
        fputs(".SH OPTIONS\n", stdout);
    const struct flag *f;
    for (int i = 0; (f = help_flag(verb, i)); i++)
        put_flag(f);
    put_tail(commands, verb);
}
