/* Stores a matching module in a model's parameter store. */
#include "match/matcher_inside.h"

#include <stdio.h>
#include <string.h>

struct shape {
    char name[24];
    int64_t rows, cols;
};

enum { MOST = 64 };

/* Lists every parameter of a module with that configuration; returns the number. See record.c. */
static int list_shapes(struct shape shape[MOST], const struct config *c, int64_t features,
                       int64_t classes)
{
    int count = 0;
    int64_t in = features, pooled = classes * c->match_width;
    for (int64_t l = 1; l <= c->match_layers; l++) {
        snprintf(shape[count].name, sizeof shape->name, "w%lld", (long long)l);
        shape[count].rows = in;
        shape[count++].cols = c->match_width;
        snprintf(shape[count].name, sizeof shape->name, "b%lld", (long long)l);
        shape[count].rows = 1;
        shape[count++].cols = c->match_width;
        in = c->match_width;
    }
    const struct shape rest[] = {{"references", classes, c->match_width},
                                 {"w3", pooled, c->match_hidden},
                                 {"b3", 1, c->match_hidden},
                                 {"w4", c->match_hidden, 1},
                                 {"b4", 1, 1},
                                 {"w5", c->match_width, classes},
                                 {"b5", 1, classes},
                                 {"w3r", pooled, c->match_hidden},
                                 {"w6", c->match_width, c->match_hidden},
                                 {"w6r", c->match_width, c->match_hidden},
                                 {"w7", classes, 1}};
    int more = c->match_join != MATCH_JOIN_CONCAT ? 7 : c->match_ego ? 11 : 8;
    memcpy(shape + count, rest, (size_t)more * sizeof *shape);
    return count + more;
}

consm_status matcher_declare(struct params *store, const char *prefix, const struct config *config,
                             int64_t features, int64_t classes)
{
    consm_status st = CONSM_OK;
    struct shape shape[MOST];
    int count = list_shapes(shape, config, features, classes), index;
    for (int i = 0; i < count; i++) {
        char name[48];
        snprintf(name, sizeof name, "%.16s%.23s", prefix, shape[i].name);
        TRY(params_add(store, &index, name, shape[i].rows, shape[i].cols, INIT_ZERO, false));
    }
done:
    return st;
}

/* Copies every parameter that both have; to_store gives the direction. */
static consm_status copy_values(struct params *module, struct params *store, const char *prefix,
                                bool to_store)
{
    consm_status st = CONSM_OK;
    float *inside, *outside;
    TRY(params_write(&inside, module, PLACE_VALUE));
    TRY(params_write(&outside, store, PLACE_VALUE));
    for (int i = 0; i < module->count; i++) {
        const struct parameter *item = &module->item[i];
        char name[96];
        snprintf(name, sizeof name, "%s%s", prefix, item->name);
        int other = params_find(store, name);
        if (other < 0)
            continue;
        float *mine = inside + item->offset, *theirs = outside + store->item[other].offset;
        size_t bytes = (size_t)(item->rows * item->cols) * sizeof *mine;
        memcpy(to_store ? theirs : mine, to_store ? mine : theirs, bytes);
    }
done:
    return st;
}

consm_status matcher_save(struct matcher *m, struct params *store, const char *prefix)
{
    return copy_values(m->learner.params, store, prefix, true);
}

consm_status matcher_load(struct matcher *m, struct params *store, const char *prefix)
{
    return copy_values(m->learner.params, store, prefix, false);
}
