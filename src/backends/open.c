/* The list of backends: built-in ones, and plug-ins that a machine may have. */
#include "backends/open.h"

#include "backends/plugin.h"
#include "cpu/backend.h"
#include "cpu/simd.h"
#include "reference/backend.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    consm_status (*open)(struct backend **out, int threads);
} backends[] = {
    {"cpu", cpu_open},
    {"reference", reference_open},
};
enum { BACKENDS = sizeof backends / sizeof *backends, MOST_CARDS = 64 };

int backend_card(const char *name)
{
    int number = 0;
    if (strcmp(name, "cuda") == 0)
        return 0;
    if (strncmp(name, "cuda:", 5) != 0 || name[5] == '\0')
        return -1;
    for (const char *digit = name + 5; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || number > MOST_CARDS)
            return -1;
        number = 10 * number + (*digit - '0');
    }
    return number;
}

bool backend_possible(const char *name)
{
    for (int i = 0; i < BACKENDS; i++)
        if (strcmp(name, backends[i].name) == 0)
            return true;
    return strcmp(name, "auto") == 0 || backend_card(name) >= 0;
}

consm_status backend_open(struct backend **out, const char *name, int threads)
{
    *out = NULL;
    if (name && strcmp(name, "auto") == 0) {
        if (plugin_open(out, "cuda", 0, threads) == CONSM_OK)
            return CONSM_OK;
        status_clear();
        name = NULL;
    }
    for (int i = 0; i < BACKENDS; i++)
        if (!name || strcmp(name, backends[i].name) == 0)
            return backends[i].open(out, threads);
    int card = backend_card(name);
    if (card >= 0)
        return plugin_open(out, "cuda", card, threads);
    return status_fail(CONSM_EINVAL, "unknown device %s: expected cpu, cuda, cuda:N or auto", name);
}

/* ---- what this machine has ---- */

void backend_describe(char text[BACKEND_DESCRIPTION], const struct backend *b)
{
    snprintf(text, BACKEND_DESCRIPTION, "%s %s", b->kind->name, simd_best()->name);
}

static bool card_there;

static void look_for_card(void)
{
    struct backend *b;
    card_there = plugin_open(&b, "cuda", 0, 1) == CONSM_OK;
    if (card_there)
        backend_close(b);
    else
        status_clear();
}

const char *backend_name(int i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (i >= 0 && i < BACKENDS)
        return backends[i].name;
    pthread_once(&once, look_for_card);
    return i == BACKENDS && card_there ? "cuda" : NULL;
}
