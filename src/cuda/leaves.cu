/* Copies of leaves on the card: floats, labels, row numbers, indices, sparse matrices with their
 * transposes. An array is sent when its leaf's version changed, and allocated again only if it has
 * grown. A sparse matrix has one copy for all programs: training and evaluation share the graph. */
#include "cuda/backend.cuh"

void room_free(struct card *card, struct room *room)
{
    card_give(card, room->data, room->bytes);
    *room = {};
}

/* Makes room; moved: the address changed. */
static consm_status room_fit(struct card *card, struct room *room, size_t bytes, bool *moved)
{
    consm_status st = CONSM_OK;
    void *fresh = NULL;
    if (room->data && bytes <= room->bytes)
        return CONSM_OK;
    /* An array that grew once may grow again: leave some room. */
    size_t wanted = room->data ? bytes + bytes / 4 : bytes;
    TRY(card_take(card, &fresh, wanted));
    room_free(card, room);
    *room = {fresh, wanted};
    *moved = true;
done:
    return st;
}

/* Copies an array; NULL stays NULL. The host may change its array again when this returns. */
static consm_status send(struct card *card, void **out, struct room *room, const void *from,
                         size_t bytes, bool *moved)
{
    consm_status st = CONSM_OK;
    void *before = *out;
    *out = NULL;
    if (from) {
        TRY(room_fit(card, room, bytes, moved));
        TRY(card_check(
            card, cudaMemcpyAsync(room->data, from, bytes, cudaMemcpyHostToDevice, card->stream),
            "sending data"));
        *out = room->data;
    }
    *moved = *moved || *out != before;
done:
    return st;
}
#define SEND(field, which, from, count) \
    TRY(send(card, (void **)&(field), &(which), from, (size_t)(count) * sizeof *(from), moved))

/* ---- matrices ---- */

enum { MATRIX_START, MATRIX_COL, MATRIX_VAL, MATRIX_ENTRY, T_START, T_COL, T_VAL, MATRIX_PARTS };

struct card_matrix {
    struct card_matrix *next;
    const struct csr *theirs;
    int users;
    uint64_t serial, version, generation;
    struct csr mirror, transpose;
    struct room part[MATRIX_PARTS];
};

static void matrix_leave(struct card *card, struct card_matrix *m)
{
    struct card_matrix **at = &card->matrices;
    if (--m->users > 0)
        return;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    for (int i = 0; i < MATRIX_PARTS; i++)
        room_free(card, &m->part[i]);
    card->host->free(m);
}

/* Copies a matrix's sizes into its mirror and keeps the arrays. */
static void mirror_shape(struct csr *mirror, const struct csr *theirs)
{
    mirror->rows = theirs->rows;
    mirror->cols = theirs->cols;
    mirror->nnz = theirs->nnz;
    mirror->changes = theirs->changes;
    mirror->version = theirs->version;
}

static consm_status matrix_send(struct card *card, struct card_matrix *m)
{
    consm_status st = CONSM_OK;
    const struct csr *a = m->theirs, *t = a->t;
    bool changed_place = false, *moved = &changed_place;
    struct csr *before = m->mirror.t;
    m->serial = 0; /* until all of it is there */
    m->mirror.t = NULL;
    mirror_shape(&m->mirror, a);
    SEND(m->mirror.start, m->part[MATRIX_START], a->start, a->rows + 1);
    SEND(m->mirror.col, m->part[MATRIX_COL], a->col, a->nnz);
    SEND(m->mirror.val, m->part[MATRIX_VAL], a->val, a->nnz);
    SEND(m->mirror.t_entry, m->part[MATRIX_ENTRY], a->t_entry, a->nnz);
    if (t && t != a) {
        mirror_shape(&m->transpose, t);
        SEND(m->transpose.start, m->part[T_START], t->start, t->rows + 1);
        SEND(m->transpose.col, m->part[T_COL], t->col, t->nnz);
        SEND(m->transpose.val, m->part[T_VAL], t->val, t->nnz);
    }
    m->mirror.t = t == a ? &m->mirror : t ? &m->transpose : NULL;
    m->serial = a->serial;
    m->version = a->version;
done:
    m->generation += changed_place || m->mirror.t != before;
    return st;
}

/* Whether the copy lacks something new: a transpose that another program asked for. */
static bool matrix_lacks(const struct card_matrix *m)
{
    const struct csr *a = m->theirs;
    return (a->t && !m->mirror.t) || (a->t_entry && !m->mirror.t_entry);
}

/* Whether the copy holds these numbers. Another matrix may have the address of an earlier one with
 * that version, but not its serial number. */
static bool matrix_holds(const struct card_matrix *m, const struct csr *a)
{
    return a->serial && !a->changes && m->serial == a->serial && m->version == a->version &&
           !matrix_lacks(m);
}

/* The copy of a matrix, for one more program. */
static consm_status matrix_join(struct card *card, struct card_matrix **out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    struct card_matrix *m = card->matrices;
    while (m && m->theirs != a)
        m = m->next;
    if (!m) {
        m = (struct card_matrix *)card->host->zalloc(1, sizeof *m);
        if (!m)
            return CONSM_ENOMEM;
        m->theirs = a;
        m->next = card->matrices;
        card->matrices = m;
    }
    m->users++;
    *out = m;
    if (!matrix_holds(m, a))
        TRY(matrix_send(card, m));
done:
    return st;
}

/* ---- leaves ---- */

static consm_status send_index(struct card *card, struct card_leaf *copy, const struct index *from,
                               bool *moved)
{
    consm_status st = CONSM_OK;
    copy->index.count = from->count;
    copy->index.targets = from->targets;
    SEND(copy->index.row, copy->part[0], from->row, from->count);
    SEND(copy->index.start, copy->part[1], from->start, from->targets + 1);
    SEND(copy->index.item, copy->part[2], from->item, from->count);
    copy->data = &copy->index;
done:
    return st;
}

static consm_status follow_matrix(struct card *card, struct card_leaf *copy, const struct csr *a,
                                  bool *moved)
{
    consm_status st = CONSM_OK;
    if (copy->matrix && copy->matrix->theirs != a) {
        matrix_leave(card, copy->matrix);
        copy->matrix = NULL;
    }
    if (!copy->matrix) {
        TRY(matrix_join(card, &copy->matrix, a));
        *moved = true;
    } else if (copy->matrix->version != a->version || matrix_lacks(copy->matrix)) {
        TRY(matrix_send(card, copy->matrix));
    }
    *moved = *moved || copy->generation != copy->matrix->generation;
    copy->generation = copy->matrix->generation;
    copy->data = &copy->matrix->mirror;
done:
    return st;
}

static consm_status send_numbers(struct card *card, struct card_leaf *copy, const struct leaf *leaf,
                                 bool *moved)
{
    consm_status st = CONSM_OK;
    size_t each = leaf->kind == LEAF_FLOATS   ? sizeof(float)
                  : leaf->kind == LEAF_LABELS ? sizeof(int32_t)
                                              : sizeof(int64_t);
    void *data = (void *)copy->data;
    TRY(send(card, &data, &copy->part[0], leaf->data, (size_t)leaf->count * each, moved));
    copy->data = data;
done:
    return st;
}

consm_status leaf_follow(struct card *card, struct card_leaf *copy, const struct leaf *leaf,
                         bool *changed, bool *moved)
{
    consm_status st = CONSM_OK;
    uint64_t version = card->host->version(leaf);
    bool fresh = !copy->sent || copy->version != version;
    /* Another program may have sent the matrix again. */
    if (leaf->kind == LEAF_CSR)
        TRY(follow_matrix(card, copy, (const struct csr *)leaf->data, moved));
    else if (fresh && leaf->kind == LEAF_INDEX)
        TRY(send_index(card, copy, (const struct index *)leaf->data, moved));
    else if (fresh)
        TRY(send_numbers(card, copy, leaf, moved));
    *changed = *changed || fresh;
    copy->sent = true;
    copy->version = version;
done:
    return st;
}

void leaf_forget(struct card *card, struct card_leaf *copy)
{
    if (copy->matrix)
        matrix_leave(card, copy->matrix);
    for (int i = 0; i < LEAF_PARTS; i++)
        room_free(card, &copy->part[i]);
    *copy = {};
}
