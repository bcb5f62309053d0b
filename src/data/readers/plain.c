/*
 * Puts the parts of a plain set together. The order matters: first what fixes the list of nodes,
 * then what refers to it.
 */
#include "data/readers/plain.h"

#include <stdio.h>
#include <string.h>

#include "data/readers/edge_text.h"
#include "data/readers/feature_file.h"
#include "data/readers/matrix_market.h"
#include "data/readers/node_text.h"
#include "data/readers/plain_about.h"
#include "data/readers/plain_in_parts.h"
#include "io/sha256.h"

/* A Matrix Market file numbers its nodes from 1. */
static consm_status read_market(struct dataset *d, struct node_ids *ids,
                                const struct text_file *file)
{
    consm_status st = CONSM_OK;
    TRY(matrix_market_read(d, file));
    if (!ids->expected) {
        ids->expected = "a row of the matrix, starting at 1";
        TRY(node_ids_rows(ids, 1, d->nodes));
    } else if (d->nodes != ids->count) {
        TRY(status_fail(CONSM_EFORMAT, "%s: found %lld nodes, expected %lld", file->name,
                        (long long)d->nodes, (long long)ids->count));
    }
done:
    return st;
}

static consm_status read_features(struct dataset *d, struct node_ids *ids, struct wanted *wanted,
                                  const struct text_file *file)
{
    if (d->features > 0)
        return status_fail(CONSM_EFORMAT,
                           "%s: nodes.csv has feature columns too: expected only one of them",
                           file->name);
    return feature_file_read(d, ids, wanted, file);
}

consm_status plain_labels_nodes(struct node_ids *ids, struct wanted *wanted,
                                const struct text_file *file)
{
    consm_status st = CONSM_OK;
    enum row_naming naming;
    int64_t rows;
    TRY(label_text_naming(&naming, wanted, file));
    if (ids->expected)
        return CONSM_OK;
    if (naming == ROWS_IN_ORDER) {
        TRY(label_text_rows(&rows, wanted, file));
        TRY(node_ids_rows(ids, 0, rows));
        ids->expected = "the number of a row of the labels, starting at 0";
    } else {
        TRY(label_text_ids(ids, wanted, file));
    }
done:
    return st;
}

consm_status plain_give_nodes(struct dataset *d, const struct plain_files *f, struct node_ids *ids,
                              struct classes *classes)
{
    consm_status st = CONSM_OK;
    TRY(node_ids_give(d, ids));
    if (!d->label) {
        TRY(NEW(d->label, d->nodes));
        memset(d->label, 0xff, (size_t)d->nodes * sizeof *d->label); /* all -1 */
    }
    if (f->labels.data)
        TRY(label_text_read(d, ids, classes, f->wanted, &f->labels));
    TRY(classes_settle(d, classes));
done:
    return st;
}

static consm_status read_parts(struct dataset *d, const struct plain_files *f, struct node_ids *ids,
                               struct classes *classes)
{
    consm_status st = CONSM_OK;
    bool market = matrix_market_is(&f->edges);
    bool add = !market && f->wanted && f->wanted->unknown == UNKNOWN_ADD;
    if (f->nodes.data)
        TRY(node_text_read(d, ids, classes, f->wanted, &f->nodes, true, add ? &f->edges : NULL));
    if (market)
        TRY(read_market(d, ids, &f->edges));
    if (f->features.data)
        TRY(read_features(d, ids, f->wanted, &f->features));
    if (f->labels.data)
        TRY(plain_labels_nodes(ids, f->wanted, &f->labels));
    if (!market)
        TRY(edge_text_read(d, ids, f->wanted, &f->edges));
    if (!ids->expected)
        ids->expected = "a node of the edges";
    TRY(plain_give_nodes(d, f, ids, classes));
    TRY(wanted_met(f->wanted, d->name));
done:
    return st;
}

consm_status plain_read(struct dataset *d, const struct plain_files *files)
{
    consm_status st = CONSM_OK;
    struct node_ids ids = {0};
    struct classes classes = {0};
    struct plain_about about = {0};
    struct wanted nothing = {0};
    struct plain_files all = *files;
    if (files->about.data)
        TRY(plain_about_read(&about, &classes, &files->about));
    if (!all.wanted && about.attributes.count > 0)
        all.wanted = &nothing;
    if (all.wanted)
        all.wanted->attributes = &about.attributes;
    TRY(read_parts(d, &all, &ids, &classes));
    if (files->about.data)
        TRY(plain_about_give(d, &about, &files->about));
    TRY(dataset_check(d));
done:
    if (all.wanted)
        all.wanted->attributes = NULL;
    node_ids_free(&ids);
    names_free(&classes.names);
    plain_about_free(&about);
    return st;
}

/* ---- files --------------------------------------------------------------- */

enum { PARTS = PLAIN_FILES };

struct opened {
    char *path[PARTS];
    struct unpacked file[PARTS];
};

static void close_parts(struct opened *o)
{
    for (int i = 0; i < PARTS; i++) {
        unpack_close(&o->file[i]);
        mem_free(o->path[i]);
    }
}

/* Maps the parts that have a path, in the order of struct plain_files, and reads them. */
static consm_status load_parts(struct dataset **out, const char *name, struct opened *o,
                               struct reading_options *reading)
{
    consm_status st = CONSM_OK;
    struct wanted *wanted = &reading->wanted;
    if (reading->partition)
        return plain_in_parts_load(out, name, o->path, reading);
    struct dataset *d = NULL;
    struct text_file part[PARTS] = {{0}};
    struct sha256 sum;
    sha256_init(&sum);
    for (int i = 0; i < PARTS; i++) {
        if (!o->path[i])
            continue;
        TRY(unpack_open(&o->file[i], o->path[i]));
        /* An empty file counts as present. */
        part[i] =
            (struct text_file){o->path[i], o->file[i].size ? (const void *)o->file[i].data : "",
                               o->file[i].size, false};
        sha256_add(&sum, o->file[i].data, o->file[i].size);
    }
    TRY(dataset_new(&d, name));
    TRY(plain_read(d, &(struct plain_files){part[0], part[1], part[2], part[3], part[4], wanted}));
    sha256_hex(d->sha256, &sum);
    *out = d;
    d = NULL;
done:
    dataset_free(d);
    return st;
}

/* The file with one of these names in the folder, compressed or not; two contradicting ones are an
 * error. */
static consm_status find_part(char **out, const char *folder, const char *const *names)
{
    static const char *const packed[] = {"", ".gz", ".zst"};
    enum { WAYS = sizeof packed / sizeof *packed };
    consm_status st = CONSM_OK;
    char *path = NULL, name[64];
    *out = NULL;
    for (int i = 0; names[i / WAYS]; i++) {
        snprintf(name, sizeof name, "%s%s", names[i / WAYS], packed[i % WAYS]);
        TRY(file_join(&path, folder, name));
        if (file_kind(path) != FILE_MISSING) {
            if (*out)
                TRY(status_fail(CONSM_EFORMAT, "%s: %s exists too: expected only one of them", path,
                                *out));
            *out = path;
            path = NULL;
        }
        mem_free(path);
        path = NULL;
    }
done:
    mem_free(path);
    return st;
}

static const char *const edge_names[] = {"edges.csv", "edges.tsv", "edges.txt", NULL};

enum sniffed plain_sniff(const struct probe *p)
{
    char name[64];
    for (int i = 0; edge_names[i]; i++) {
        if (probe_has(p, edge_names[i]))
            return SNIFF_YES;
        snprintf(name, sizeof name, "%s.gz", edge_names[i]);
        if (probe_has(p, name))
            return SNIFF_YES;
        snprintf(name, sizeof name, "%s.zst", edge_names[i]);
        if (probe_has(p, name))
            return SNIFF_YES;
    }
    return SNIFF_NO;
}

consm_status plain_load(struct dataset **out, const char *folder)
{
    struct reading_options reading = {0};
    return plain_load_with(out, folder, &reading);
}

consm_status plain_load_with(struct dataset **out, const char *folder,
                             struct reading_options *reading)
{
    consm_status st = CONSM_OK;
    static const char *const nodes[] = {"nodes.csv", "nodes.tsv", "nodes.txt", NULL};
    static const char *const features[] = {"features.csv", "features.tsv", "features.svm",
                                           "features.npy", "features.npz", NULL};
    static const char *const about[] = {"dataset.json", NULL};
    struct opened o = {0};
    *out = NULL;
    TRY(find_part(&o.path[0], folder, edge_names));
    if (!o.path[0])
        TRY(status_fail(CONSM_EIO, "%s: contains no edges.csv", folder));
    TRY(find_part(&o.path[1], folder, nodes));
    TRY(find_part(&o.path[3], folder, features));
    TRY(find_part(&o.path[4], folder, about));
    TRY(load_parts(out, folder, &o, reading));
done:
    close_parts(&o);
    return st;
}

enum sniffed edge_list_sniff(const struct probe *p)
{
    size_t length = p->file.size < 4096 ? p->file.size : 4096;
    return length > 0 && !memchr(p->file.data, 0, length) ? SNIFF_PERHAPS : SNIFF_NO;
}

consm_status edge_list_load(struct dataset **out, const char *edges,
                            struct reading_options *reading)
{
    consm_status st = CONSM_OK;
    const char *path[PARTS] = {edges, NULL, reading->labels, reading->features, NULL};
    struct opened o = {0};
    *out = NULL;
    for (int i = 0; i < PARTS; i++)
        if (path[i] && !(o.path[i] = mem_strdup(path[i])))
            TRY(CONSM_ENOMEM);
    TRY(load_parts(out, edges, &o, reading));
done:
    close_parts(&o);
    return st;
}
