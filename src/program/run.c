/* Compiles and runs: the passes in order, then steps on the backend, and what the host may read and
 * change in between. */
#include "program/internal.h"
#include "program/spectral.h"

consm_status program_check(const struct program *p)
{
    return p->fault < 0 ? status_fail(p->fault, "%s", p->fault_text) : CONSM_OK;
}

consm_status program_compile(struct program *p, struct backend *backend)
{
    consm_status st = CONSM_OK;
    p->backend = backend;
    TRY(program_check(p));
    TRY(program_fuse(p));
    TRY(program_restrict(p));
    TRY(program_lower(p));
    TRY(program_compose(p));
    TRY(program_check(p));
    TRY(program_differentiate(p));
    TRY(program_check(p));
    TRY(program_plan(p));
    TRY(program_emit(p));
    TRY(backend->kind->compile(backend, &p->ready, &p->plan));
    TRY(program_join(p));
    p->compiled = true;
done:
    return st;
}

consm_status program_compile_later(struct program *p, struct backend *backend)
{
    consm_status st = CONSM_OK;
    TRY(program_check(p));
    for (int place = PLACE_VALUE; place <= PLACE_MOMENT2; place++)
        TRY(params_allocate(p->params, backend, place));
    p->backend = backend;
    p->later = true;
done:
    return st;
}

/* A failure is final, because it leaves the program half made; later calls repeat its message. */
consm_status program_ready(struct program *p)
{
    consm_status st = CONSM_OK;
    if (p->compiled)
        return CONSM_OK;
    TRY(program_check(p));
    if (!p->later)
        return status_fail(CONSM_EPROGRAM, "the program is not compiled");
    p->later = false;
    st = program_compile(p, p->backend);
    if (st < 0)
        program_failed(p, st);
done:
    return st;
}

consm_status program_run(struct program *p, const struct step *step)
{
    consm_status st = CONSM_OK;
    TRY(program_ready(p));
    for (int place = PLACE_VALUE; place <= PLACE_BEST; place++)
        TRY(block_send(&p->params->block[place]));
    TRY(block_send(&p->state));
    p->plan.fresh = program_fresh(p);
    p->computed = 0;
    TRY(p->backend->kind->run(p->ready, step, 1));
    p->runs++;
    p->computed = p->params->block[PLACE_VALUE].version + 1;
    for (int place = PLACE_VALUE; place <= PLACE_BEST; place++)
        if (p->plan.writes[place])
            block_ran(&p->params->block[place]);
    if (p->plan.writes[PLACE_STATE])
        block_ran(&p->state);
done:
    return st;
}

/* A kept value from the arena, fetched once a run if the host does not see it. */
static consm_status read_arena(const float **out, struct program *p, struct node_info *info,
                               const int32_t *row, int64_t count)
{
    consm_status st = CONSM_OK;
    size_t at = info->offset * sizeof(float),
           bytes = (size_t)(info->rows * info->cols) * sizeof(float);
    const char *host = p->arena.memory->host;
    *out = host ? (const float *)(host + at) : info->mirror;
    if (!*out)
        return status_fail(CONSM_EPROGRAM, "the program does not keep the value of %s", info->name);
    const struct backend_kind *kind = p->backend->kind;
    bool new = !host && info->fetched != p->runs;
    if (new &&row && kind->download_rows)
        TRY(kind->download_rows(p->backend, info->mirror, p->arena.memory, at, bytes, row, count));
    else if (new)
        TRY(kind->download(p->backend, info->mirror, p->arena.memory, at, bytes));
    info->fetched = p->runs;
done:
    return st;
}

consm_status program_read(const float **out, struct program *p, node x)
{
    return program_read_rows(out, p, x, NULL, 0);
}

consm_status program_read_rows(const float **out, struct program *p, node x, const int32_t *row,
                               int64_t count)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    x = node_now(p, x);
    if (!node_good(p, x) || !p->compiled)
        return status_fail(CONSM_EPROGRAM, "the program has no such value, or is not compiled");
    struct node_info *info = &p->node[x];
    switch (info->place) {
    case PLACE_ARENA: return read_arena(out, p, info, row, count);
    case PLACE_LEAF: *out = info->data; return CONSM_OK;
    case PLACE_VALUE:
        TRY(params_read(out, p->params, PLACE_VALUE));
        *out += p->params->item[info->parameter].offset;
        break;
    default: return status_fail(CONSM_EPROGRAM, "%s has no value", info->name);
    }
done:
    return st;
}

void program_bind(struct program *p, node x, const float *values)
{
    x = node_now(p, x);
    if (!node_good(p, x) || p->node[x].op != OP_INPUT)
        return;
    p->node[x].data = values;
    if (p->node[x].leaf < 0)
        return;
    p->leaf[p->node[x].leaf].data = values;
    p->leaf[p->node[x].leaf].version++;
}

void program_touch(struct program *p, const void *data)
{
    for (int32_t i = 0; p && i < p->plan.leaves; i++)
        if (!data || p->leaf[i].data == data)
            p->leaf[i].version++;
}

/* Whether operations have memory between runs. */
static bool remembers(const struct program *p)
{
    bool found = false;
    for (node x = 0; x < p->count; x++)
        found = found || p->node[x].op == OP_NUCLEAR;
    return found;
}

consm_status program_memory(void **out, struct program *p, int index, size_t *bytes)
{
    consm_status st = CONSM_OK;
    void *state;
    *out = NULL;
    if (remembers(p))
        TRY(program_ready(p));
    for (node x = 0; x < p->count; x++) {
        const struct attr *attr = &p->node[x].attr;
        if (p->node[x].op != OP_NUCLEAR || index-- > 0)
            continue;
        TRY(block_write(&state, &p->state));
        struct spectral s =
            spectral_at((char *)state + attr->state, attr->csr->rows, attr->csr->cols, attr->rank);
        *bytes = (size_t)(s.cols * s.width) * sizeof *s.v;
        *out = s.v;
        break;
    }
done:
    return st;
}
