/* Work that no candidate changes, done beside their race on a card: the exam of the matching module
 * and the witnesses that depend only on the data. Not in the paper. */

/*
 * The race leaves the host's threads and the card partly idle, and what follows it waits for the
 * exam. A thread with a backend of its own does that meanwhile. Its numbers are those of later. If
 * it fails, the work is simply done again, where a failure is reported.
 */
#include "train/consm/race.h"

#include <pthread.h>

struct consm_early {
    struct session *s;
    struct backend *backend;
    struct match_data data;
    struct config config;
    pthread_t thread;
    consm_status status;
    struct consm_exam found;
};

static void *work(void *arg)
{
    consm_status st = CONSM_OK;
    struct consm_early *e = arg;
    TRY(consm_examine(&e->found, e->s, &e->data, &e->config, e->backend));
    if (e->config.coefficients == COEFFICIENTS_TRUST)
        TRY(consm_open_witnesses(e->s, e->backend->host));
done:
    e->status = st;
    status_clear();
    return NULL;
}

/* Standardised features are prepared only after the race, and a run with a time limit may have no
 * time for the exam. */
static bool possible(const struct session *s)
{
    const struct config *c = &s->options.config;
    const struct consm *own = s->own;
    return own->tracks.count > 1 && s->backend->kind->room && edges_all(own->edges) > 0 &&
           c->normalize_features != FEATURES_STANDARD && c->time_budget == 0;
}

void consm_early_begin(struct session *s)
{
    struct consm *own = s->own;
    const struct backend *b = s->backend;
    struct consm_early *e = own->early || !possible(s) ? NULL : mem_zalloc(1, sizeof *e);
    if (!e)
        return;
    e->s = s;
    e->config = s->options.config;
    e->data = consm_match_data(s);
    if (b->kind->another(&e->backend, b, (team_size(b->host) + 1) / 2) == CONSM_OK &&
        pthread_create(&e->thread, NULL, work, e) == 0) {
        own->early = e;
        return;
    }
    status_clear();
    backend_close(e->backend);
    mem_free(e);
}

void consm_early_end(struct session *s)
{
    struct consm *own = s->own;
    struct consm_early *e = own->early;
    if (!e)
        return;
    pthread_join(e->thread, NULL);
    own->early = NULL;
    own->exam = e->found;
    own->examined = e->status == CONSM_OK;
    if (!own->examined)
        consm_close_witnesses(own);
    backend_close(e->backend);
    mem_free(e);
}
