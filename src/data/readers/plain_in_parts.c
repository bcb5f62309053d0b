/* Reads a plain set in parts, in the order of plain.c; features are kept only once their owner is
 * known. */
#include "data/readers/plain_in_parts.h"

#include "data/readers/edges_in_parts.h"
#include "data/readers/features_in_parts.h"
#include "data/readers/matrix_market.h"
#include "data/readers/plain_about.h"
#include "graph/partition.h"
#include "io/sha256.h"

/* Reads everything that defines the nodes. */
static consm_status read_nodes(struct dataset *d, const struct plain_files *f, struct node_ids *ids,
                               struct classes *classes)
{
    consm_status st = CONSM_OK;
    if (matrix_market_is(&f->edges))
        TRY(status_fail(
            CONSM_EINVAL,
            "%s: a Matrix Market file cannot be read in parts: convert it with `consm partition`",
            f->edges.name));
    if (f->nodes.data)
        TRY(node_text_read(d, ids, classes, f->wanted, &f->nodes, false, NULL));
    if (f->features.data && d->features > 0)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: nodes.csv has feature columns too: expected only one of them",
                        f->features.name));
    if (f->features.data)
        TRY(features_in_parts_nodes(ids, f->wanted, &f->features));
    if (f->labels.data)
        TRY(plain_labels_nodes(ids, f->wanted, &f->labels));
done:
    return st;
}

static consm_status read_all(struct dataset *d, const struct plain_files *f,
                             const struct partition *partition, struct node_ids *ids)
{
    consm_status st = CONSM_OK;
    struct classes classes = {0};
    struct plain_about about = {0};
    if (f->about.data)
        TRY(plain_about_read(&about, &classes, &f->about));
    f->wanted->attributes = &about.attributes;
    TRY(read_nodes(d, f, ids, &classes));
    TRY(edges_in_parts_read(d, partition, ids, f->wanted, &f->edges));
    TRY(plain_give_nodes(d, f, ids, &classes));
    if (f->features.data || d->features > 0)
        TRY(features_in_parts_read(d, ids, f->wanted, &f->features, &f->nodes));
    TRY(wanted_met(f->wanted, d->name));
    if (f->about.data)
        TRY(plain_about_give(d, &about, &f->about));
done:
    f->wanted->attributes = NULL;
    names_free(&classes.names);
    plain_about_free(&about);
    return st;
}

/* ---- files --------------------------------------------------------------- */

/* A compressed file can only be unpacked from its start, and then is in memory. */
static consm_status check_packed(const struct file_map *map, const char *path)
{
    if (unpack_kind(map->data, map->size) == UNPACK_PLAIN)
        return CONSM_OK;
    return status_fail(CONSM_EINVAL,
                       "%s: a compressed file cannot be read in parts: unpack it first", path);
}

static void add_file(struct sha256 *sum, const struct file_map *map)
{
    enum { PIECE = 1 << 20 };
    for (size_t at = 0; at < map->size; at += PIECE) {
        size_t count = map->size - at < PIECE ? map->size - at : PIECE;
        sha256_add(sum, map->data + at, count);
        file_forget(map->data + at, map->data + at + count);
    }
}

consm_status plain_in_parts_load(struct dataset **out, const char *name,
                                 char *const path[PLAIN_FILES], struct reading_options *reading)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    struct file_map map[PLAIN_FILES] = {{0}};
    struct text_file file[PLAIN_FILES] = {{0}};
    struct node_ids ids = {0};
    struct sha256 sum;
    *out = NULL;
    if (reading->wanted.unknown != UNKNOWN_ERROR)
        return status_fail(CONSM_EINVAL,
                           "%s: --unknown-nodes %s: a graph read in parts must list all its nodes",
                           name, unknown_nodes_name[reading->wanted.unknown]);
    sha256_init(&sum);
    for (int i = 0; i < PLAIN_FILES; i++) {
        if (!path[i])
            continue;
        TRY(file_map(&map[i], path[i]));
        TRY(check_packed(&map[i], path[i]));
        add_file(&sum, &map[i]);
        file[i] = (struct text_file){path[i], map[i].size ? (const void *)map[i].data : "",
                                     map[i].size, map[i].size > 0};
    }
    TRY(dataset_new(&d, name));
    d->duplicates = reading->duplicates;
    sha256_hex(d->sha256, &sum);
    TRY(partition_same(reading->partition, "files", d->sha256));
    TRY(read_all(
        d, &(struct plain_files){file[0], file[1], file[2], file[3], file[4], &reading->wanted},
        reading->partition, &ids));
    *out = d;
    d = NULL;
done:
    dataset_free(d);
    node_ids_free(&ids);
    for (int i = 0; i < PLAIN_FILES; i++)
        file_unmap(&map[i]);
    return st;
}
