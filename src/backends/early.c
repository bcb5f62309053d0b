/* Wakes a card in a thread of its own, so that this overlaps with reading and cleaning the data. */
#include "backends/early.h"

#include "backends/open.h"
#include "backends/plugin.h"
#include <pthread.h>

static struct {
    pthread_t thread;
    int card;
    bool products, running;
} early;

static void *wake(void *arg)
{
    (void)arg;
    plugin_wake("cuda", early.card, early.products);
    return NULL;
}

void backend_early(const char *name, bool products)
{
    int card = backend_card(name);
    if (card < 0 || early.running)
        return;
    early.card = card;
    early.products = products;
    early.running = pthread_create(&early.thread, NULL, wake, NULL) == 0;
}

void backend_early_end(void)
{
    if (early.running)
        pthread_join(early.thread, NULL);
    early.running = false;
}
