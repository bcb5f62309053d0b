/* Blocks and their host copies; closing a backend. */
#include "program/block.h"

#include "base/alloc.h"
#include <string.h>

void backend_close(struct backend *b)
{
    if (b)
        b->kind->close(b);
}

consm_status block_new(struct block *b, struct backend *backend, size_t bytes)
{
    *b = (struct block){.backend = backend};
    return backend->kind->allocate(backend, &b->memory, bytes);
}

void block_free(struct block *b)
{
    if (b->memory)
        b->backend->kind->release(b->backend, b->memory);
    mem_free(b->mirror);
    *b = (struct block){0};
}

/* The host's address. A new copy is zero, as the backend's memory is until something writes it. */
static consm_status find(void **out, struct block *b)
{
    *out = b->memory->host ? b->memory->host : b->mirror;
    if (*out)
        return CONSM_OK;
    *out = b->mirror = mem_zalloc(1, b->memory->bytes);
    return b->mirror ? CONSM_OK : CONSM_ENOMEM;
}

/* The host's address, with the backend's latest values. */
static consm_status fetch(void **out, struct block *b)
{
    consm_status st = CONSM_OK;
    TRY(find(out, b));
    if (b->backend_newer && !b->memory->host)
        TRY(b->backend->kind->download(b->backend, b->mirror, b->memory, 0, b->memory->bytes));
    b->backend_newer = false;
done:
    return st;
}

consm_status block_read(const void **out, struct block *b)
{
    void *host = NULL;
    consm_status st = fetch(&host, b);
    *out = host;
    return st;
}

consm_status block_write(void **out, struct block *b)
{
    consm_status st = fetch(out, b);
    b->host_newer = st == CONSM_OK && !b->memory->host;
    b->version++;
    return st;
}

consm_status block_overwrite(void **out, struct block *b)
{
    consm_status st = CONSM_OK;
    TRY(find(out, b));
    b->backend_newer = false;
    b->host_newer = !b->memory->host;
    b->version++;
done:
    return st;
}

consm_status block_put(struct block *b, size_t at, const void *from, size_t bytes)
{
    void *host = b->memory->host ? b->memory->host : b->backend_newer ? NULL : b->mirror;
    b->version++;
    if (host)
        memcpy((char *)host + at, from, bytes);
    else
        b->backend_newer = true;
    if (b->memory->host || b->host_newer) /* the next run will see it */
        return CONSM_OK;
    return b->backend->kind->upload(b->backend, b->memory, at, from, bytes);
}

consm_status block_send(struct block *b)
{
    if (!b->host_newer)
        return CONSM_OK;
    b->host_newer = false;
    return b->backend->kind->upload(b->backend, b->memory, 0, b->mirror, b->memory->bytes);
}

consm_status block_copy(struct block *to, struct block *from)
{
    consm_status st = CONSM_OK;
    TRY(block_send(from));
    TRY(to->backend->kind->copy(to->backend, to->memory, from->memory));
    to->host_newer = false;
    block_ran(to);
done:
    return st;
}

void block_ran(struct block *b)
{
    b->backend_newer = true;
    b->version++;
}
