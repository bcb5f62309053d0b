/* Joins the ranks, silences all but the first, and ends them. */
#include "together.h"

#include "commands.h"
#include "io/file.h"
#include "progress.h"
#include "report/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int real_stderr = -1; /* of a silenced rank */
static int unsaid = -1;      /* its stored messages */

/* Discards standard output and stores standard error, in case no other rank reports it. */
static void keep_quiet(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    unsaid = memfd_create("consm", MFD_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (unsaid >= 0)
        dup2(unsaid, STDERR_FILENO);
    file_write_nothing();
}

static consm_status agree_on_words(const struct ranks *ranks, int argc, char **argv)
{
    struct text words = {0};
    for (int i = 1; i < argc; i++)
        text_printf(&words, "%s%s", i > 1 ? " " : "", argv[i]);
    consm_status st = text_status(&words);
    if (st == CONSM_OK)
        st = ranks_agree_text(ranks, "the command", text_string(&words));
    text_free(&words);
    return st;
}

int together_begin(struct together *t, int argc, char **argv)
{
    consm_status st = ranks_join(&t->joined);
    t->ranks = t->joined;
    t->workers = (struct workers){&ranks_alone, NULL};
    if (t->joined->rank > 0) /* also if the version differs: rank 0 reports it */
        keep_quiet();
    else if (t->joined->size > 1) /* as mpirun does to the others when one is gone */
        progress_last_words(
            "consm: mpirun ended the job because a rank failed or was stopped; files already "
            "written are complete; --resume continues from a checkpoint\n");
    if (st == CONSM_OK)
        st = agree_on_words(t->joined, argc, argv);
    if (st == CONSM_OK)
        return EXIT_DONE;
    fprintf(stderr, "consm: %s\n", consm_errmsg());
    return EXIT_FAILED;
}

bool together_takes_part(struct together *t, const char *verb, int *code)
{
    static const char *const shared[] = {"train", "predict", "evaluate", "edges", "explain"};
    static const char *const apart[] = {"study", "bench"};
    *code = EXIT_DONE;
    if (t->joined->size == 1)
        return true;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(verb, shared[i]) == 0)
            return true;
    t->ranks = &ranks_alone;
    /* No call of these verbs may wait for another rank. */
    if (ranks_part(&t->workers, t->joined) < 0) {
        fprintf(stderr, "consm %s: %s\n", verb, consm_errmsg());
        *code = EXIT_FAILED;
        return false;
    }
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strcmp(verb, apart[i]) == 0)
            return true;
    return t->joined->rank == 0;
}

/* Prints the stored messages with the rank's number. */
static void say_it(int rank)
{
    char said[4096];
    ssize_t length = unsaid >= 0 ? pread(unsaid, said, sizeof said - 1, 0) : 0;
    if (length <= 0 || real_stderr < 0)
        return;
    said[length] = 0;
    dprintf(real_stderr, "rank %d: %s%s", rank, said, said[length - 1] == '\n' ? "" : "\n");
}

int together_end(const struct together *t, int code)
{
    fflush(stdout);
    fflush(stderr);
    if (code !=
        EXIT_DONE) /* the reason was printed; the first rank to leave makes mpirun end the others */
        progress_last_words(NULL);
    if (!t->joined->end(code != EXIT_DONE))
        return code;
    say_it(t->joined->rank);
    t->joined->abandon(code);
    return code;
}
