/* `consm info --json`: the same facts as one object. An undefined measure is null. */
#include "cmd_info.h"
#include "json_line.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

static void put(json_t *o, const char *key, int64_t value)
{
    json_object_set_new(o, key, json_integer(value));
}

static json_t *classes(const struct dataset *d, const struct data_facts *f)
{
    json_t *list = json_array();
    char buffer[24];
    for (int32_t k = 0; k < d->classes; k++) {
        json_t *row = json_object();
        json_object_set_new(row, "name", json_string(dataset_class_name(d, k, buffer)));
        put(row, "nodes", f->class_size[k]);
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *degrees(const struct data_facts *f)
{
    static const char *const key[FACTS_QUANTILES] = {"min", "q25", "median", "q75",
                                                     "q90", "q99", "max"};
    json_t *o = json_object(), *histogram = json_array();
    json_object_set_new(o, "mean", json_real(f->mean_degree));
    for (int i = 0; i < FACTS_QUANTILES; i++)
        put(o, key[i], f->degree[i]);
    for (int b = 0; b < FACTS_BUCKETS; b++)
        if (f->degree_count[b]) {
            json_t *row = json_object();
            put(row, "from", b ? (int64_t)1 << (b - 1) : 0);
            put(row, "to", b ? ((int64_t)1 << b) - 1 : 0);
            put(row, "nodes", f->degree_count[b]);
            json_array_append_new(histogram, row);
        }
    json_object_set_new(o, "histogram", histogram);
    return o;
}

static json_t *homophily(const struct homophily *h)
{
    json_t *o = json_object();
    json_object_set_new(o, "edge", json_figure(h->edge));
    json_object_set_new(o, "node", json_figure(h->node));
    json_object_set_new(o, "class_insensitive", json_figure(h->class_insensitive));
    json_object_set_new(o, "adjusted", json_figure(h->adjusted));
    json_object_set_new(o, "label_informativeness", json_figure(h->informativeness));
    return o;
}

static json_t *doubles(const struct duplicates *twins)
{
    json_t *o = json_object();
    put(o, "nodes", twins->nodes);
    json_object_set_new(o, "test_nodes_with_one_in_training",
                        twins->leaked >= 0 ? json_integer(twins->leaked) : json_null());
    json_object_set_new(o, "share_of_test_nodes_over_stored_splits",
                        json_figure(twins->leaked_share));
    return o;
}

static json_t *split(const struct data_facts *f, const char *spec, int64_t seed)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(spec));
    put(o, "seed", seed);
    for (enum split_role r = SPLIT_NONE; r <= SPLIT_TEST; r++)
        put(o, split_role_name(r), f->split_size[r]);
    return o;
}

static void put_registered(json_t *o, const struct data_set *set,
                           const struct registry_check *check)
{
    json_object_set_new(o, "as_registered",
                        check->wrong                 ? json_false()
                        : check->right == set->files ? json_true()
                                                     : json_null());
    json_object_set_new(o, "about", json_string(set->about));
    json_object_set_new(o, "source", json_string(set->base));
    json_object_set_new(o, "citation", json_string(set->citation));
    json_object_set_new(o, "licence", json_string(set->licence));
    json_object_set_new(o, "preparation", json_string(set->preparation));
}

void info_print_json(const struct dataset *d, const struct data_facts *f,
                     const struct info_forecast *forecast, const struct data_set *set,
                     const struct registry_check *check, const char *spec, int64_t seed)
{
    json_t *o = json_object();
    json_object_set_new(o, "dataset", json_string(d->name));
    put(o, "nodes", d->nodes);
    put(o, "edges", f->edges);
    put(o, "stored_entries", f->entries);
    put(o, "directed_edges", f->directed);
    put(o, "directed_edges_without_loops", f->directed - f->directed_loops);
    put(o, "self_loops", f->directed_loops);
    put(o, "self_loop_entries", f->loop_entries);
    put(o, "repeats", f->entries - f->directed);
    json_object_set_new(o, "symmetric", json_boolean(f->symmetric));
    json_object_set_new(o, "weighted", json_boolean(d->weight != NULL));
    put(o, "features", d->features);
    put(o, "feature_nonzeros", f->feature_nonzeros);
    json_object_set_new(o, "feature_density",
                        json_figure(d->features ? (double)f->feature_nonzeros /
                                                      ((double)d->nodes * (double)d->features)
                                                : (double)NAN));
    put(o, "classes", d->classes);
    json_object_set_new(o, "class_sizes", classes(d, f));
    put(o, "unlabelled", f->unlabelled);
    put(o, "isolated", f->isolated);
    put(o, "components", f->components);
    put(o, "largest_component", f->largest_component);
    json_object_set_new(o, "degree", degrees(f));
    json_object_set_new(o, "homophily", homophily(&f->homophily));
    json_object_set_new(o, "twins", doubles(&f->twins));
    json_object_set_new(o, "copies", doubles(&f->copies));
    put(o, "stored_splits", d->splits);
    if (spec)
        json_object_set_new(o, "split", split(f, spec, seed));
    put(o, "gcn_bytes", (int64_t)forecast->gcn.usual);
    json_object_set_new(o, "forecast", info_forecast_json(forecast));
    json_object_set_new(o, "sha256", d->sha256[0] ? json_string(d->sha256) : json_null());
    if (set)
        put_registered(o, set, check);
    json_line(o, 12);
}
