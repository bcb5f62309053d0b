/* Built-in data by name: the karate club, and csbm with its parameters. */
#include "data/generate/generate.h"
#include "base/number.h"

#include "base/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Zachary's karate club ----------------------------------------------- */

/* W. W. Zachary, "An information flow model for conflict and fission in small groups", Journal of
 * Anthropological Research 33 (1977). Contacts outside the club; row by row, each once. */
static const uint8_t karate_edges[78][2] = {
    {0, 1},   {0, 2},   {0, 3},   {0, 4},   {0, 5},   {0, 6},   {0, 7},   {0, 8},   {0, 10},
    {0, 11},  {0, 12},  {0, 13},  {0, 17},  {0, 19},  {0, 21},  {0, 31},  {1, 2},   {1, 3},
    {1, 7},   {1, 13},  {1, 17},  {1, 19},  {1, 21},  {1, 30},  {2, 3},   {2, 7},   {2, 8},
    {2, 9},   {2, 13},  {2, 27},  {2, 28},  {2, 32},  {3, 7},   {3, 12},  {3, 13},  {4, 6},
    {4, 10},  {5, 6},   {5, 10},  {5, 16},  {6, 16},  {8, 30},  {8, 32},  {8, 33},  {9, 33},
    {13, 33}, {14, 32}, {14, 33}, {15, 32}, {15, 33}, {18, 32}, {18, 33}, {19, 33}, {20, 32},
    {20, 33}, {22, 32}, {22, 33}, {23, 25}, {23, 27}, {23, 29}, {23, 32}, {23, 33}, {24, 25},
    {24, 27}, {24, 31}, {25, 31}, {26, 29}, {26, 33}, {27, 33}, {28, 31}, {28, 33}, {29, 32},
    {29, 33}, {30, 32}, {30, 33}, {31, 32}, {31, 33}, {32, 33}};

/* The side of each member when the club split: 0 the instructor Mr. Hi, 1 the officer. */
static const char karate_side[] = "0000000001000011001010111111111111";

consm_status generate_karate(struct dataset **out)
{
    enum { NODES = 34, EDGES = 78 };
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    *out = NULL;
    TRY(dataset_new(&d, "karate"));
    d->nodes = NODES;
    d->edges = EDGES;
    TRY(NEW(d->from, EDGES));
    TRY(NEW(d->to, EDGES));
    for (int e = 0; e < EDGES; e++) {
        d->from[e] = karate_edges[e][0];
        d->to[e] = karate_edges[e][1];
    }
    d->classes = 2;
    TRY(ZNEW(d->class_name, 2));
    d->class_name[0] = mem_strdup("Mr. Hi");
    d->class_name[1] = mem_strdup("Officer");
    if (!d->class_name[0] || !d->class_name[1])
        TRY(CONSM_ENOMEM);
    TRY(NEW(d->label, NODES));
    for (int i = 0; i < NODES; i++)
        d->label[i] = karate_side[i] - '0';
    /* The club has no features. Each member gets its own feature (the identity matrix), so that
     * models which read features can tell the nodes apart. */
    TRY(csr_new(&d->sparse, NODES, NODES, NODES, false));
    for (int i = 0; i < NODES; i++) {
        d->sparse->col[i] = i;
        d->sparse->start[i + 1] = i + 1;
    }
    d->features = NODES;
    *out = d;
    return CONSM_OK;
done:
    dataset_free(d);
    return st;
}

/* ---- csbm's knobs -------------------------------------------------------- */

struct csbm_options csbm_defaults(void)
{
    return (struct csbm_options){
        .nodes = 1000, .classes = 4, .degree = 10, .features = 32, .signal = 2, .homophily = 0.2};
}

enum knob_kind { KNOB_WHOLE, KNOB_REAL, KNOB_SEED };

struct knob {
    const char *name;
    enum knob_kind kind;
    size_t offset;
    double min, max;
};

#define AT(field) offsetof(struct csbm_options, field)
static const struct knob knobs[] = {
    {"nodes", KNOB_WHOLE, AT(nodes), 2, 2000000000},
    {"classes", KNOB_WHOLE, AT(classes), 2, 1000},
    {"degree", KNOB_REAL, AT(degree), 0, 1e6},
    {"exponent", KNOB_REAL, AT(exponent), 0, 100},
    {"features", KNOB_WHOLE, AT(features), 0, 1000000},
    {"signal", KNOB_REAL, AT(signal), 0, 1e6},
    {"words", KNOB_WHOLE, AT(words), 0, 100000},
    {"homophily", KNOB_REAL, AT(homophily), 0, 1},
    {"seed", KNOB_SEED, AT(seed), 0, 1.8446744073709552e19},
};
#undef AT
enum { KNOBS = sizeof knobs / sizeof *knobs };

static const char *knob_name(void *ctx, int index)
{
    (void)ctx;
    return index < KNOBS ? knobs[index].name : NULL;
}

static const struct knob *find_knob(const char *name)
{
    for (int i = 0; i < KNOBS; i++)
        if (strcmp(knobs[i].name, name) == 0)
            return &knobs[i];
    return NULL;
}

static consm_status unknown_knob(const char *name)
{
    const char *near = nearest_word(name, knob_name, NULL);
    if (near)
        return status_fail(CONSM_EINVAL, "csbm: unknown key %s; did you mean %s?", name, near);
    return status_fail(CONSM_EINVAL,
                       "csbm: unknown key %s: expected nodes, classes, degree, exponent, features, "
                       "signal, words, homophily or seed",
                       name);
}

/* Sets one parameter from its text. */
static consm_status set_knob(struct csbm_options *o, const struct knob *k, const char *text)
{
    char *field = (char *)o + k->offset, *end = NULL;
    errno = 0;
    if (k->kind == KNOB_REAL) {
        double value = number_parse(text, &end);
        if (end == text || *end || !isfinite(value) || value < k->min || value > k->max)
            return status_fail(CONSM_EINVAL, "csbm: %s=%s: expected a number from %.10g to %.10g",
                               k->name, text, k->min, k->max);
        memcpy(field, &value, sizeof value);
    } else if (k->kind == KNOB_SEED) {
        uint64_t value = strtoull(text, &end, 10);
        if (errno || end == text || *end || *text == '-')
            return status_fail(CONSM_EINVAL, "csbm: seed=%s: expected a whole number, 0 or more",
                               text);
        memcpy(field, &value, sizeof value);
    } else {
        int64_t value = strtoll(text, &end, 10);
        if (errno || end == text || *end || (double)value < k->min || (double)value > k->max)
            return status_fail(CONSM_EINVAL,
                               "csbm: %s=%s: expected a whole number from %.0f to %.0f", k->name,
                               text, k->min, k->max);
        memcpy(field, &value, sizeof value);
    }
    return CONSM_OK;
}

consm_status csbm_parse(struct csbm_options *o, const char *text)
{
    while (*text) {
        char pair[96], *value;
        size_t length = strcspn(text, ",");
        snprintf(pair, sizeof pair, "%.*s", length > 90 ? 90 : (int)length, text);
        value = strchr(pair, '=');
        if (!value)
            return status_fail(CONSM_EINVAL, "csbm: \"%s\": expected key=value, as in nodes=5000",
                               pair);
        *value++ = 0;
        const struct knob *k = find_knob(pair);
        consm_status st = k ? set_knob(o, k, value) : unknown_knob(pair);
        if (st < 0)
            return st;
        text += length;
        if (*text == ',')
            text++;
    }
    return CONSM_OK;
}

/* ---- by name ------------------------------------------------------------- */

bool generate_knows(const char *name)
{
    return strcmp(name, "karate") == 0 || strcmp(name, "csbm") == 0 ||
           strncmp(name, "csbm:", 5) == 0;
}

consm_status generate_named(struct dataset **out, const char *name)
{
    consm_status st = CONSM_OK;
    struct csbm_options o = csbm_defaults();
    *out = NULL;
    if (!generate_knows(name))
        return status_fail(CONSM_ENOTFOUND, "unknown graph %s: expected karate or csbm", name);
    if (strcmp(name, "karate") == 0)
        return generate_karate(out);
    if (name[4] == ':')
        TRY(csbm_parse(&o, name + 5));
    TRY(generate_csbm(out, &o));
    mem_free((*out)->name);
    (*out)->name = mem_strdup(name);
    if (!(*out)->name) {
        dataset_free(*out);
        *out = NULL;
        st = CONSM_ENOMEM;
    }
done:
    return st;
}
