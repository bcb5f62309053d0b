/* Reads Geom-GCN text. All feature numbers are collected first, because only together they show
 * which of the two styles the file uses. */
#include "data/readers/geom_gcn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/readers/edge_text.h"
#include "data/readers/node_text.h"
#include "data/readers/npz.h"
#include "io/file.h"
#include "io/sha256.h"

struct geom_rows {
    struct csv csv;
    struct classes classes;
    int64_t count;
    int64_t *id;    /* (count) */
    int32_t *place; /* (count) of the label in the list of classes */
    int64_t *line;  /* (count) for messages */
    size_t *start;  /* (count+1) into number */
    size_t id_capacity, place_capacity, line_capacity, start_capacity;
    int32_t *number; /* of the feature column */
    size_t used, capacity;
};

static void free_rows(struct geom_rows *g)
{
    csv_free(&g->csv);
    names_free(&g->classes.names);
    mem_free(g->id);
    mem_free(g->place);
    mem_free(g->line);
    mem_free(g->start);
    mem_free(g->number);
}

/* "521,92,111" */
static consm_status read_numbers(struct geom_rows *g)
{
    consm_status st = CONSM_OK;
    const struct csv_field *f = &g->csv.field[1];
    const char *at = f->text, *end = at + f->length;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        int64_t number = token_number(at, (size_t)(stop - at));
        if (number < 0 || number >= INT32_MAX)
            return csv_fail(&g->csv, 1, "whole numbers, separated by commas");
        TRY(GROW(g->number, g->used, g->capacity, 1));
        g->number[g->used++] = (int32_t)number;
        at = stop + 1;
    }
done:
    return st;
}

static consm_status read_node(struct geom_rows *g)
{
    consm_status st = CONSM_OK;
    const struct csv *c = &g->csv;
    if (c->fields != 3)
        return csv_fail_columns(c, "3 (node_id, feature, label), separated by tabs");
    TRY(GROW(g->id, g->count, g->id_capacity, 1));
    TRY(GROW(g->place, g->count, g->place_capacity, 1));
    TRY(GROW(g->line, g->count, g->line_capacity, 1));
    TRY(GROW(g->start, g->count + 1, g->start_capacity, 1));
    if (!token_int(&g->id[g->count], c->field[0].text, c->field[0].length))
        return csv_fail(c, 0, "a whole number as node id");
    TRY(classes_read(&g->place[g->count], &g->classes, c, 2));
    g->line[g->count] = c->line;
    TRY(read_numbers(g));
    g->start[++g->count] = g->used;
done:
    return st;
}

static consm_status read_nodes(struct geom_rows *g, const struct text_file *file)
{
    consm_status st = CONSM_OK;
    struct csv_place first;
    bool more;
    csv_start(&g->csv, file);
    g->csv.delimiter = '\t';
    first = csv_tell(&g->csv);
    TRY(GROW(g->start, 0, g->start_capacity, 1));
    g->start[0] = 0;
    TRY(csv_row(&more, &g->csv));
    if (more && token_number(g->csv.field[0].text, g->csv.field[0].length) >= 0)
        csv_seek(&g->csv, first); /* no header */
    for (;;) {
        TRY(csv_row(&more, &g->csv));
        if (!more)
            break;
        TRY(read_node(g));
    }
    if (g->count == 0)
        return status_fail(CONSM_EFORMAT, "%s: no nodes: expected node_id, feature, label rows",
                           file->name);
done:
    return st;
}

/* Detects 0/1 values: nothing above 1, and rows longer than the indices 0 and 1 allow, or all of
 * the same length. Sets *width to that length; 0: the numbers are indices. */
static consm_status find_style(int64_t *width, const struct geom_rows *g)
{
    size_t first = g->start[1], longest = 0;
    int64_t odd = -1;
    *width = 0;
    for (size_t k = 0; k < g->used; k++)
        if (g->number[k] > 1)
            return CONSM_OK;
    for (int64_t i = 0; i < g->count; i++) {
        size_t length = g->start[i + 1] - g->start[i];
        longest = length > longest ? length : longest;
        if (length != first && odd < 0)
            odd = i;
    }
    if (odd >= 0 && longest <= 2)
        return CONSM_OK;
    if (odd >= 0)
        return status_fail(CONSM_EFORMAT,
                           "%s: line %lld, column 2: found %zu values, expected %zu as in the "
                           "first row",
                           g->csv.name, (long long)g->line[odd], g->start[odd + 1] - g->start[odd],
                           first);
    *width = (int64_t)first;
    return CONSM_OK;
}

/* row[id] = the row that describes it; every id 0 … n-1 once. */
static consm_status order_nodes(int64_t **row, const struct geom_rows *g)
{
    consm_status st = CONSM_OK;
    TRY(NEW(*row, g->count));
    for (int64_t i = 0; i < g->count; i++)
        (*row)[i] = -1;
    for (int64_t i = 0; i < g->count; i++) {
        int64_t id = g->id[i];
        if (id < 0 || id >= g->count)
            return status_fail(
                CONSM_EFORMAT, "%s: line %lld, column 1: found id %lld, expected 0 to %lld",
                g->csv.name, (long long)g->line[i], (long long)id, (long long)g->count - 1);
        if ((*row)[id] >= 0)
            return status_fail(
                CONSM_EFORMAT,
                "%s: line %lld, column 1: found id %lld, which is already in line %lld",
                g->csv.name, (long long)g->line[i], (long long)id, (long long)g->line[(*row)[id]]);
        (*row)[id] = i;
    }
done:
    return st;
}

/* The features as a matrix of ones: repeated indices count once. */
static consm_status make_features(struct dataset *d, const struct geom_rows *g, const int64_t *row)
{
    consm_status st = CONSM_OK;
    int64_t width, count = 0, f = 0;
    int32_t *from = NULL, *to = NULL;
    TRY(find_style(&width, g));
    for (size_t k = 0; k < g->used; k++)
        f = g->number[k] >= f ? (int64_t)g->number[k] + 1 : f;
    f = width ? width : f;
    if (!token_plausible(f, g->used))
        return status_fail(CONSM_ELIMIT, "%s: %lld features are too many for %zu numbers",
                           g->csv.name, (long long)f, g->used);
    TRY(NEW(from, g->used));
    TRY(NEW(to, g->used));
    for (int64_t i = 0; i < d->nodes; i++)
        for (size_t k = g->start[row[i]]; k < g->start[row[i] + 1]; k++) {
            if (width && g->number[k] == 0)
                continue;
            from[count] = (int32_t)i;
            to[count++] = width ? (int32_t)(k - g->start[row[i]]) : g->number[k];
        }
    d->features = f;
    if (f > 0)
        TRY(csr_from_edges(&d->sparse, d->nodes, f, count, from, to, NULL, CSR_DIRECTED, NULL));
done:
    mem_free(from);
    mem_free(to);
    return st;
}

consm_status geom_gcn_read(struct dataset *d, const struct text_file *edges,
                           const struct text_file *nodes)
{
    consm_status st = CONSM_OK;
    struct geom_rows g = {0};
    struct node_ids ids = {0};
    int64_t *row = NULL;
    TRY(read_nodes(&g, nodes));
    TRY(order_nodes(&row, &g));
    TRY(NEW(d->label, g.count));
    d->nodes = g.count;
    for (int64_t i = 0; i < g.count; i++)
        d->label[i] = g.place[row[i]];
    TRY(classes_settle(d, &g.classes));
    TRY(make_features(d, &g, row));
    ids.expected = "a node of out1_node_feature_label.txt";
    TRY(node_ids_rows(&ids, 0, g.count));
    TRY(edge_text_read(d, &ids, NULL, edges));
    d->directed = true;
done:
    free_rows(&g);
    node_ids_free(&ids);
    mem_free(row);
    return st;
}

/* ---- the folder ---------------------------------------------------------- */

/* FOLDER/WHERE/NAME_split_0.6_0.2_I.npz, or NULL if it does not exist. */
static consm_status find_split(char **out, const char *folder, const char *where, const char *name,
                               int number)
{
    size_t room = strlen(folder) + strlen(where) + strlen(name) + 64;
    *out = mem_alloc(room, 1);
    if (!*out)
        return CONSM_ENOMEM;
    snprintf(*out, room, "%s/%s%s_split_0.6_0.2_%d.npz", folder, where, name, number);
    if (file_kind(*out) == FILE_REGULAR)
        return CONSM_OK;
    mem_free(*out);
    *out = NULL;
    return CONSM_OK;
}

static consm_status hash_file(struct sha256 *sum, const char *path)
{
    struct file_map map;
    consm_status st = file_map(&map, path);
    if (st < 0)
        return st;
    sha256_add(sum, map.data, map.size);
    file_unmap(&map);
    return CONSM_OK;
}

/* The splits named after the folder, numbered from 0 without a gap. */
static consm_status read_splits(struct dataset *d, const char *folder, struct sha256 *sum)
{
    consm_status st = CONSM_OK;
    static const char *const places[] = {"", "splits/", "../splits/"};
    char *real = realpath(folder, NULL), *path = NULL;
    const char *slash = real ? strrchr(real, '/') : NULL;
    const char *name = slash ? slash + 1 : "";
    size_t capacity = 0;
    for (int i = 0; d->splits == i; i++) {
        for (int k = 0; !path && k < 3; k++)
            TRY(find_split(&path, folder, places[k], name, i));
        if (!path)
            break;
        TRY(GROW(d->role, i * d->nodes, capacity, d->nodes));
        TRY(npz_read_split(d->role + i * d->nodes, d->nodes, path));
        TRY(hash_file(sum, path));
        d->splits++;
        mem_free(path);
        path = NULL;
    }
done:
    free(real); /* realpath's own block */
    mem_free(path);
    return st;
}

static const char *const file_names[2] = {"out1_graph_edges.txt", "out1_node_feature_label.txt"};

enum sniffed geom_gcn_sniff(const struct probe *p)
{
    return probe_has(p, file_names[0]) ? SNIFF_YES : SNIFF_NO;
}

static consm_status load_folder(struct dataset **out, const char *folder)
{
    consm_status st = CONSM_OK;
    char *path[2] = {NULL, NULL};
    struct file_map map[2] = {{0}, {0}};
    struct text_file file[2];
    struct dataset *d = NULL;
    struct sha256 sum;
    *out = NULL;
    sha256_init(&sum);
    for (int i = 0; i < 2; i++) {
        TRY(file_join(&path[i], folder, file_names[i]));
        TRY(file_map(&map[i], path[i]));
        file[i] = (struct text_file){path[i], map[i].data, map[i].size, false};
        sha256_add(&sum, map[i].data, map[i].size);
    }
    TRY(dataset_new(&d, folder));
    TRY(geom_gcn_read(d, &file[0], &file[1]));
    TRY(read_splits(d, folder, &sum));
    sha256_hex(d->sha256, &sum);
    TRY(dataset_check(d));
    *out = d;
    d = NULL;
done:
    for (int i = 0; i < 2; i++) {
        file_unmap(&map[i]);
        mem_free(path[i]);
    }
    dataset_free(d);
    return st;
}

consm_status geom_gcn_load(struct dataset **out, const char *path)
{
    consm_status st = CONSM_OK;
    char *folder = NULL;
    *out = NULL;
    if (file_kind(path) != FILE_REGULAR)
        return load_folder(out, path);
    TRY(file_folder(&folder, path));
    TRY(load_folder(out, folder));
done:
    mem_free(folder);
    return st;
}
