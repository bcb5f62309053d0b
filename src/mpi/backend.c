/* The MPI backend over another one: memory as reserved address space, runs as lists of pieces. */
#include "mpi/inside.h"

#include <string.h>
#include <sys/mman.h>

enum { SLACK = 64 }; /* bytes readable after the end of a block */

static bool divided_supports(const struct backend *b, enum op op)
{
    const struct backend *inner = ((const struct divided *)b)->inner;
    return inner->kind->supports(inner, op);
}

/* ---- memory ---- */

static consm_status divided_allocate(struct backend *b, struct memory **out, size_t bytes)
{
    struct far_memory *m = world.os->zalloc(1, sizeof *m);
    (void)b;
    *out = NULL;
    if (!m)
        return CONSM_ENOMEM;
    void *at = mmap(NULL, bytes + SLACK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        world.os->free(m);
        return world.os->fail(CONSM_ENOMEM, "no address space for %zu bytes", bytes);
    }
    madvise(at, bytes + SLACK, MADV_NOHUGEPAGE); /* one row would make 2 MB resident */
    m->base.bytes = m->near.bytes = bytes;
    m->near.host = at;
    *out = &m->base;
    return CONSM_OK;
}

static void divided_release(struct backend *b, struct memory *memory)
{
    struct far_memory *m = (struct far_memory *)memory;
    (void)b;
    munmap(m->near.host, m->near.bytes + SLACK);
    world.os->free(m->value);
    world.os->free(m);
}

struct value *memory_value(struct far_memory *m, size_t offset)
{
    for (size_t i = 0; i < m->values; i++)
        if (m->value[i].offset == offset)
            return &m->value[i];
    return NULL;
}

static consm_status divided_upload(struct backend *b, struct memory *to, size_t at,
                                   const void *from, size_t bytes)
{
    (void)b;
    memcpy((char *)((struct far_memory *)to)->near.host + at, from, bytes);
    return CONSM_OK;
}

/* Of a value with divided rows, every rank gets all rows, or its own and those of the list. */
static consm_status divided_download_rows(struct backend *b, void *to, const struct memory *from,
                                          size_t at, size_t bytes, const int32_t *row,
                                          int64_t count)
{
    struct far_memory *m = (struct far_memory *)from;
    const struct value *v = memory_value(m, at);
    const float *here = (const float *)(const void *)((const char *)m->near.host + at);
    if (!v || !v->axis || bytes != (size_t)(v->rows * v->cols) * sizeof(float))
        memcpy(to, here, bytes);
    else if (row)
        return partition_download((struct divided *)b, to, here, v, row, count);
    else
        gather_rows(to, here, v->axis, v->cols);
    return CONSM_OK;
}

static consm_status divided_download(struct backend *b, void *to, const struct memory *from,
                                     size_t at, size_t bytes)
{
    return divided_download_rows(b, to, from, at, bytes, NULL, 0);
}

static consm_status divided_copy(struct backend *b, struct memory *to, const struct memory *from)
{
    (void)b;
    memcpy(((struct far_memory *)to)->near.host, ((const struct far_memory *)from)->near.host,
           from->bytes);
    return CONSM_OK;
}

/* ---- programs ---- */

void divided_discard(struct compiled *c)
{
    if (!c)
        return;
    for (int32_t i = 0; i < c->pieces; i++) {
        if (c->piece[i].ready)
            c->owner->inner->kind->discard(c->piece[i].ready);
        exchange_free(&c->piece[i].exchange);
    }
    keeper_free(&c->keeper);
    halos_free(c->halos);
    world.os->free(c->instr);
    world.os->free(c->piece);
    world.os->free(c->leaf);
    world.os->free(c->leaf_at);
    world.os->free(c->partial);
    world.os->free(c->work);
    world.os->free(c->shift);
    world.os->free(c->seen);
    world.os->free(c->leaf_value);
    world.os->free(c);
}

void divided_follow(struct compiled *c)
{
    for (int32_t i = 0; i < c->plan->leaves; i++) {
        const struct leaf *leaf = &c->plan->leaf[i];
        uint64_t version = world.os->version(leaf);
        c->settled = c->settled && (version == c->seen[i] || !leaf->constant);
        c->seen[i] = version;
        c->leaf[i] = *leaf;
    }
    for (int32_t i = c->plan->leaves; i < c->leaves; i++) {
        const struct shifted *shift = &c->shift[i - c->plan->leaves];
        c->leaf[i] = c->plan->leaf[shift->leaf];
        c->leaf[i].data = (const char *)c->leaf[i].data + shift->bytes;
        c->leaf[i].count -= (int64_t)(shift->bytes / sizeof(float));
    }
    for (int32_t i = 0; i < c->leaves; i++)
        c->leaf_at[i] = c->leaf[i].data;
}

void resolve_here(const struct compiled *c, struct instr *in)
{
    void *base[PLACES];
    for (int place = 0; place < PLACES; place++)
        base[place] = c->near[place] ? c->near[place]->host : NULL;
    world.os->resolve(in, base, c->leaf_at);
}

/* If a matrix or index has changed, all ranks find its halos again. */
static consm_status follow_halos(struct compiled *c)
{
    consm_status st = CONSM_OK;
    for (int32_t i = 0; i < c->pieces; i++) {
        struct piece *piece = &c->piece[i];
        if (piece->kind != PIECE_EXCHANGE || !halo_moves(piece->halo))
            continue;
        TRY(halo_follow(piece->halo));
        if (piece->seen == piece->halo->seen)
            continue;
        exchange_free(&piece->exchange);
        TRY(exchange_new(&piece->exchange, piece->halo, piece->value, piece->cols));
        piece->seen = piece->halo->seen;
    }
done:
    return st;
}

static consm_status divided_run(struct compiled *c, const struct step *first, int64_t steps)
{
    consm_status st = CONSM_OK;
    const struct backend_kind *kind = c->owner->inner->kind;
    struct step step = *first;
    divided_follow(c);
    TRY(follow_halos(c));
    for (int64_t k = 0; k < steps; k++, step.number++) {
        for (int32_t i = 0; i < c->pieces; i++) {
            struct piece *piece = &c->piece[i];
            if (piece->once && c->settled)
                continue;
            if (piece->kind == PIECE_COMPUTE)
                TRY(kind->run(piece->ready, &step, 1));
            else if (piece->kind == PIECE_EXCHANGE)
                exchange_start(&piece->exchange);
            else if (piece->kind == PIECE_WAIT)
                exchange_wait(&c->piece[piece->started].exchange);
            else if (piece->kind == PIECE_SUM)
                sum_run(c, piece);
            else if (piece->kind == PIECE_WALK)
                walk_run(c, piece, &step);
            else
                gather_rows(piece->value, piece->value, piece->axis, piece->cols);
        }
        c->settled = true;
    }
done:
    return st;
}

/* ---- life ---- */

static void divided_close(struct backend *b)
{
    struct divided *d = (struct divided *)b;
    axes_free(d->axes);
    world.os->free(d->packed);
    d->inner->kind->close(d->inner);
    world.os->free(d);
}

/* Whether kernels accept any memory of this process, which is what we pass. */
static bool computes_here(struct backend *b)
{
    struct memory *m;
    if (b->kind->allocate(b, &m, 1) < 0)
        return false;
    bool here = m->host != NULL;
    b->kind->release(b, m);
    return here;
}

/* Rows are owned as the partition says, for all values with as many rows; the first one counts.
 */
static consm_status take_axis(struct divided *d, const struct partition *p)
{
    struct axis *axis;
    int64_t rows = p ? p->cut[p->parts] : 0;
    return !p || axis_find(d, rows) ? CONSM_OK : axis_cut(&axis, d, rows, p->cut);
}

consm_status divided_open(struct backend **out, struct backend *inner, const struct partition *rows,
                          const struct partition *columns)
{
    static struct backend_kind kind = {
        .supports = divided_supports,
        .allocate = divided_allocate,
        .release = divided_release,
        .upload = divided_upload,
        .download = divided_download,
        .download_rows = divided_download_rows,
        .copy = divided_copy,
        .compile = divided_compile,
        .run = divided_run,
        .discard = divided_discard,
        .close = divided_close,
        .separate = SIZE_MAX,
    };
    struct divided *d = NULL;
    consm_status st = CONSM_OK;
    *out = NULL;
    if (!computes_here(inner))
        TRY(world.os->fail(CONSM_EINVAL,
                           "several ranks train on CPUs only: --device %s needs a single process",
                           inner->device));
    d = world.os->zalloc(1, sizeof *d);
    if (!d)
        TRY(CONSM_ENOMEM);
    kind.name = inner->kind->name;
    kind.composes = inner->kind->composes;
    TRY(take_axis(d, rows));
    TRY(take_axis(d, columns));
    d->in_parts = rows != NULL;
    d->base = *inner;
    d->base.kind = &kind;
    d->base.near = inner;
    d->base.ranks = &world.ranks;
    d->inner = inner;
    *out = &d->base;
done:
    if (st < 0) {
        if (d)
            axes_free(d->axes);
        world.os->free(d);
        inner->kind->close(inner);
    }
    return st;
}
