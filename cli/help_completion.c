/* Completion scripts. A flag's value is completed from its possible words, or as a file name; a
 * verb's argument from the names of studies or datasets, and as a file name. */
#include "help.h"

#include "data/readers/reader.h"
#include "data/registry/registry.h"
#include "study/study.h"

#include <stdio.h>
#include <string.h>

/* ---- what a flag may be -------------------------------------------------- */

/* For a dataset: --format reads (and in `consm generate` writes) it, --to writes it. */
static bool names_format(const char *flag)
{
    return strcmp(flag, "format") == 0 || strcmp(flag, "to") == 0;
}

/* The possible words of a library parameter, or NULL. */
static const char *const *words_of(const char *flag)
{
    struct consm_parameter p = {.size = sizeof p};
    for (int32_t i = 0; consm_parameter_get(&p, "consm", i) == CONSM_OK; i++)
        if (p.choices && args_same_name(p.name, flag))
            return p.choices;
    return NULL;
}

/* Prints the possible words of a flag's value, separated by blanks; false if it may be anything. */
static bool print_choices(const char *flag)
{
    const char *const *words = words_of(flag);
    struct consm_method method = {.size = sizeof method};
    const struct reader *r;
    if (strcmp(flag, "model") == 0) {
        for (int32_t i = 0; consm_method_get(&method, i) == CONSM_OK; i++)
            printf("%s%s", i ? " " : "", method.name);
        return true;
    }
    if (strcmp(flag, "split") == 0) {
        fputs("auto paper public random", stdout);
        return true;
    }
    if (names_format(flag)) {
        for (int i = 0, printed = 0; (r = reader_get(i)) != NULL; i++)
            if (r->save || strcmp(flag, "format") == 0)
                printf("%s%s", printed++ ? " " : "", r->name);
        return true;
    }
    for (int i = 0; words && words[i]; i++)
        printf("%s%s", i ? " " : "", words[i]);
    return words != NULL;
}

static bool has_choices(const char *flag)
{
    return strcmp(flag, "model") == 0 || strcmp(flag, "split") == 0 || names_format(flag) ||
           words_of(flag);
}

static bool wants_file(const struct flag *f)
{
    return f->value && (strstr(f->value, "FILE") || strstr(f->value, "FOLDER") ||
                        strstr(f->value, "DIR") || strstr(f->value, "PATH"));
}

/* Prints the possible names of a verb's arguments, separated by blanks; files are possible as well.
 */
static void print_items(const struct command *command)
{
    const char *verb = command->name;
    const struct data_set *set;
    if (strcmp(verb, "models") == 0 || strcmp(verb, "report") == 0)
        return;
    if (strcmp(verb, "study") == 0) {
        for (int i = 0; study_list()[i]; i++)
            printf("%s ", study_list()[i]->name);
        fputs("all", stdout);
        return;
    }
    fputs("karate csbm", stdout);
    for (int i = 0; strcmp(verb, "generate") != 0 && (set = registry_get(i)); i++)
        printf(" %s", set->name);
}

static void print_verbs(const struct command *const *commands)
{
    for (int i = 0; commands[i]; i++)
        printf("%s ", commands[i]->name);
    fputs("help", stdout);
}

/* The first line of a help text inside single quotes: `quote` replaces a quote, and a backslash
 * precedes any of `special`. */
static void print_quoted(const char *text, const char *quote, const char *special)
{
    for (const char *c = text; *c && *c != '\n'; c++) {
        if (*c == '\'') {
            fputs(quote, stdout);
            continue;
        }
        if (strchr(special, *c))
            putchar('\\');
        putchar(*c);
    }
}

/* ---- bash ---------------------------------------------------------------- */

static void bash(const struct command *const *commands)
{
    const struct flag *f;
    fputs("# bash completion for consm; made by `consm help --completion bash`\n"
          "_consm() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local verb=${COMP_WORDS[1]} flags= words= items=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ] || { [ \"$COMP_CWORD\" = 2 ] && [ \"$verb\" = help ]; }; "
          "then\n        COMPREPLY=($(compgen -W '",
          stdout);
    print_verbs(commands);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case $before in\n", stdout);
    for (int i = 0; commands[i]; i++)
        for (int k = 0; (f = help_flag(commands[i], k)); k++) {
            /* A flag of several verbs has one meaning, so the first case serves. */
            if (!f->value || !has_choices(f->name))
                continue;
            printf("    --%s", f->name);
            if (f->letter)
                printf(" | -%c", f->letter);
            fputs(") words='", stdout);
            print_choices(f->name);
            fputs("' ;;\n", stdout);
        }
    fputs("    esac\n    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n        return\n    fi\n"
          "    case $verb in\n",
          stdout);
    for (int i = 0; commands[i]; i++) {
        printf("    %s) flags='", commands[i]->name);
        for (int k = 0; (f = help_flag(commands[i], k)); k++)
            printf("--%s ", f->name);
        fputs("--help' items='", stdout);
        print_items(commands[i]);
        fputs("' ;;\n", stdout);
    }
    fputs("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) "
          ";;\n    *) COMPREPLY=($(compgen -f -- \"$word\") $(compgen -W \"$items\" -- \"$word\")) "
          ";;\n"
          "    esac\n}\ncomplete -o filenames -F _consm consm\n",
          stdout);
}

/* ---- zsh ----------------------------------------------------------------- */

static void zsh_flag(const struct flag *f)
{
    const char *equals = f->value ? "=" : "";
    if (f->letter)
        printf("            '(-%c --%s)'{-%c,--%s%s}'[", f->letter, f->name, f->letter, f->name,
               equals);
    else
        printf("            '--%s%s[", f->name, equals);
    print_quoted(f->help, "'\\''", "[]\\");
    putchar(']');
    if (f->value) {
        printf(":%s:", f->value);
        if (has_choices(f->name)) {
            putchar('(');
            print_choices(f->name);
            putchar(')');
        } else if (wants_file(f)) {
            fputs("_files", stdout);
        }
    }
    fputs("' \\\n", stdout);
}

/* From the function path zsh calls the file at the first <tab>; sourced, it registers itself. */
static void zsh(const struct command *const *commands)
{
    const struct flag *f;
    fputs("#compdef consm\n# zsh completion for consm; made by `consm help --completion zsh`\n"
          "_consm() {\n    local -a verbs items\n    verbs=(\n",
          stdout);
    for (int i = 0; commands[i]; i++) {
        printf("        '%s:", commands[i]->name);
        print_quoted(commands[i]->summary, "'\\''", "");
        fputs("'\n", stdout);
    }
    fputs(
        "        'help:what a verb does'\n    )\n    if (( CURRENT == 2 )) || [[ $words[2] == help "
        "]]; then\n        _describe verb verbs\n        return\n    fi\n    case $words[2] in\n",
        stdout);
    for (int i = 0; commands[i]; i++) {
        printf("    %s)\n        items=(", commands[i]->name);
        print_items(commands[i]);
        fputs(")\n        _arguments \\\n", stdout);
        for (int k = 0; (f = help_flag(commands[i], k)); k++)
            zsh_flag(f);
        fputs("            '*:name or path:_consm_items' ;;\n", stdout);
    }
    fputs("    esac\n}\n"
          "_consm_items() {\n"
          "    _alternative \"names:name:($items)\" 'files:path:_files'\n"
          "}\n"
          "if [[ $funcstack[1] == _consm ]]; then\n    _consm \"$@\"\nelse\n"
          "    compdef _consm consm\nfi\n",
          stdout);
}

/* ---- fish ---------------------------------------------------------------- */

static void fish_flag(const char *verb, const struct flag *f)
{
    printf("complete -c consm -n '__fish_seen_subcommand_from %s' -l %s", verb, f->name);
    if (f->letter)
        printf(" -s %c", f->letter);
    if (f->value && has_choices(f->name)) {
        fputs(" -x -a '", stdout);
        print_choices(f->name);
        putchar('\'');
    } else if (f->value) {
        fputs(wants_file(f) ? " -r" : " -x", stdout);
    }
    fputs(" -d '", stdout);
    print_quoted(f->help, "\\'", "\\");
    fputs("'\n", stdout);
}

static void fish(const struct command *const *commands)
{
    const struct flag *f;
    fputs("# fish completion for consm; made by `consm help --completion fish`\n", stdout);
    for (int i = 0; commands[i]; i++) {
        printf("complete -c consm -n __fish_use_subcommand -f -a %s -d '", commands[i]->name);
        print_quoted(commands[i]->summary, "\\'", "\\");
        fputs("'\n", stdout);
    }
    fputs("complete -c consm -n __fish_use_subcommand -f -a help -d 'what a verb does'\n"
          "complete -c consm -n '__fish_seen_subcommand_from help' -f -a '",
          stdout);
    print_verbs(commands);
    fputs("'\n", stdout);
    for (int i = 0; commands[i]; i++) {
        for (int k = 0; (f = help_flag(commands[i], k)); k++)
            fish_flag(commands[i]->name, f);
        printf("complete -c consm -n '__fish_seen_subcommand_from %s' -a '", commands[i]->name);
        print_items(commands[i]);
        fputs("'\n", stdout);
    }
}

int help_completion(const struct command *const *commands, const char *shell)
{
    if (strcmp(shell, "bash") == 0) {
        bash(commands);
    } else if (strcmp(shell, "zsh") == 0) {
        zsh(commands);
    } else if (strcmp(shell, "fish") == 0) {
        fish(commands);
    } else {
        fprintf(stderr, "consm: no completion for %s: expected bash, zsh or fish\n", shell);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}
