/* Writes a plain folder, replacing it in one step. */
#include "base/utf8.h"
#include "data/readers/plain.h"

#include <stdio.h>
#include <string.h>

#include "data/readers/plain_about.h"
#include "data/readers/svmlight.h"
#include "data/table/notes.h"
#include "io/csv.h"
#include "io/folder.h"

/* A growing line. */
struct line {
    char *text;
    size_t used, capacity;
};

static consm_status add_text(struct line *l, const char *text, size_t length)
{
    consm_status st = GROW(l->text, l->used, l->capacity, length);
    if (st < 0)
        return st;
    memcpy(l->text + l->used, text, length);
    l->used += length;
    return CONSM_OK;
}

static consm_status add_quoted(struct line *l, const char *text)
{
    return csv_quote(&l->text, &l->used, &l->capacity, text);
}

static consm_status add_float(struct line *l, float value)
{
    char number[32];
    int length = token_write_float(number, value);
    return add_text(l, number, (size_t)length);
}

static consm_status end_line(struct line *l, struct file_writer *w)
{
    consm_status st = add_text(l, "\n", 1);
    if (st >= 0)
        st = file_write(w, l->text, l->used);
    l->used = 0;
    return st;
}

static consm_status add_id(struct line *l, const struct dataset *d, int64_t node)
{
    char number[24];
    return add_quoted(l, dataset_node_id(d, node, number));
}

static consm_status write_edge_header(struct file_writer *w, const struct dataset *d,
                                      struct line *l)
{
    consm_status st = CONSM_OK;
    char name[NOTES_NAME];
    TRY(add_text(l, "source,target", 13));
    if (d->weight)
        TRY(add_text(l, ",weight", 7));
    for (int64_t k = 0; d->edge_notes && k < d->edge_notes->column.count; k++) {
        TRY(add_text(l, ",", 1));
        TRY(add_quoted(l, notes_edge_name(name, d->edge_notes, k)));
    }
    TRY(end_line(l, w));
done:
    return st;
}

/* The cells of an edge's notes, from note number *at on; cell is all NULL before and after. */
static consm_status add_notes(struct line *l, const struct notes *n, int64_t edge, size_t *at,
                              const char **cell)
{
    consm_status st = CONSM_OK;
    for (; n && *at < n->count && n->note[*at].item == edge; ++*at)
        cell[n->note[*at].column] = names_at(&n->text, n->note[*at].text);
    for (int64_t k = 0; n && k < n->column.count; k++) {
        TRY(add_text(l, ",", 1));
        if (cell[k])
            TRY(add_quoted(l, cell[k]));
        cell[k] = NULL;
    }
done:
    return st;
}

static consm_status write_edges(struct file_writer *w, const struct dataset *d, struct line *l)
{
    consm_status st = CONSM_OK;
    size_t note = 0;
    const char **cell = NULL; /* (columns of notes) the edge's */
    TRY(write_edge_header(w, d, l));
    TRY(ZNEW(cell, d->edge_notes ? d->edge_notes->column.count + 1 : 1));
    for (int64_t e = 0; e < d->edges; e++) {
        TRY(add_id(l, d, d->from[e]));
        TRY(add_text(l, ",", 1));
        TRY(add_id(l, d, d->to[e]));
        if (d->weight) {
            TRY(add_text(l, ",", 1));
            TRY(add_float(l, d->weight[e]));
        }
        TRY(add_notes(l, d->edge_notes, e, &note, cell));
        TRY(end_line(l, w));
    }
done:
    mem_free(cell);
    return st;
}

/* Always writes both columns, so that a row is never blank and the separator is visible. */
static consm_status write_nodes(struct file_writer *w, const struct dataset *d, struct line *l)
{
    consm_status st = CONSM_OK;
    static const char *const role_name[4] = {"", "train", "val", "test"};
    char number[24];
    TRY(file_printf(w, "id,label"));
    for (int64_t s = 0; s < d->splits; s++)
        TRY(d->splits == 1 ? file_printf(w, ",split")
                           : file_printf(w, ",split_%lld", (long long)s));
    TRY(file_printf(w, "\n"));
    for (int64_t i = 0; i < d->nodes; i++) {
        TRY(add_id(l, d, i));
        TRY(add_text(l, ",", 1));
        if (d->label[i] >= 0)
            TRY(add_quoted(l, dataset_class_name(d, d->label[i], number)));
        for (int64_t s = 0; s < d->splits; s++) {
            const char *role = role_name[d->role[s * d->nodes + i]];
            TRY(add_text(l, ",", 1));
            TRY(add_text(l, role, strlen(role)));
        }
        TRY(end_line(l, w));
    }
done:
    return st;
}

/* With names it writes a header and ids, because a header of numbers would look like a row. */
static consm_status write_dense(struct file_writer *w, const struct dataset *d, struct line *l)
{
    consm_status st = CONSM_OK;
    if (d->feature_name) {
        TRY(add_text(l, "id", 2));
        for (int64_t k = 0; k < d->features; k++) {
            TRY(add_text(l, ",", 1));
            TRY(add_quoted(l, d->feature_name[k]));
        }
        TRY(end_line(l, w));
    }
    for (int64_t i = 0; i < d->nodes; i++) {
        if (d->feature_name)
            TRY(add_id(l, d, i));
        for (int64_t k = 0; k < d->features; k++) {
            if (k > 0 || d->feature_name)
                TRY(add_text(l, ",", 1));
            TRY(add_float(l, d->dense[i * d->features + k]));
        }
        TRY(end_line(l, w));
    }
done:
    return st;
}

static consm_status write_sparse(struct file_writer *w, const struct dataset *d, struct line *l)
{
    (void)l;
    return svmlight_write(w, d->sparse, d->label);
}

typedef consm_status (*part_writer)(struct file_writer *w, const struct dataset *d, struct line *l);

static consm_status save_part(const struct dataset *d, const char *folder, const char *name,
                              part_writer write)
{
    consm_status st = CONSM_OK;
    struct file_writer *w = NULL;
    struct line l = {0};
    char *path = NULL;
    TRY(file_join(&path, folder, name));
    TRY(file_create(&w, path));
    TRY(write(w, d, &l));
    TRY(file_commit(w));
done:
    file_close(w);
    mem_free(l.text);
    mem_free(path);
    return st;
}

/* Checks that the folder will not contradict itself with our files in it. */
static consm_status check_folder(const struct dataset *d, const char *folder)
{
    consm_status st = CONSM_OK;
    static const char *const others[] = {"edges.tsv",    "edges.txt",    "nodes.tsv",
                                         "nodes.txt",    "features.csv", "features.tsv",
                                         "features.svm", "features.npy", "features.npz"};
    const char *own = d->features == 0 ? "" : d->sparse ? "features.svm" : "features.csv";
    char *path = NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        TRY(file_join(&path, folder, others[i]));
        if (strcmp(others[i], own) != 0 && file_kind(path) != FILE_MISSING)
            TRY(status_fail(CONSM_EIO, "%s: exists already: choose a new folder", path));
        mem_free(path);
        path = NULL;
    }
done:
    mem_free(path);
    return st;
}

/* Checks for texts that a table cannot hold, or would read back differently. */
static consm_status check_names(char *const *names, int64_t count, const char *what)
{
    for (int64_t i = 0; names && i < count; i++)
        if (!*names[i] || !utf8_valid(names[i], strlen(names[i])))
            return status_fail(CONSM_EINVAL, "%s %lld is empty or not UTF-8 text", what,
                               (long long)i);
    return CONSM_OK;
}

consm_status plain_save(const struct dataset *d, const char *folder)
{
    consm_status st = CONSM_OK;
    struct folder_work work = {NULL, NULL, -1};
    char *about = NULL;
    TRY(dataset_check(d));
    TRY(check_names(d->node_id, d->nodes, "the id of node"));
    TRY(check_names(d->class_name, d->classes, "the name of class"));
    TRY(check_names(d->feature_name, d->features, "the name of feature"));
    TRY(check_folder(d, folder));
    TRY(folder_begin(&work, folder));
    TRY(file_make_folders(work.path));
    TRY(save_part(d, work.path, "edges.csv", write_edges));
    TRY(save_part(d, work.path, "nodes.csv", write_nodes));
    if (d->features > 0)
        TRY(d->sparse ? save_part(d, work.path, "features.svm", write_sparse)
                      : save_part(d, work.path, "features.csv", write_dense));
    TRY(file_join(&about, work.path, "dataset.json"));
    TRY(plain_about_save(d, about));
    TRY(folder_commit(&work));
done:
    folder_end(&work);
    mem_free(about);
    return st;
}
