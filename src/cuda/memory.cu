/* Memory of the card: taken from the driver's pool and freed in stream order, so that a program may
 * be freed while it runs. Small downloads go through pinned memory. Only downloads wait for the
 * card. */
#include "cuda/backend.cuh"

#include <string.h>

enum { SLACK = 256 }; /* readable bytes after a block */

consm_status card_check(const struct card *card, cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return CONSM_OK;
    cudaGetLastError(); /* clears a recoverable error */
    return card->host->fail(CONSM_EIO, "%s failed while %s: %s", card->name, what,
                            cudaGetErrorString(error));
}

consm_status card_turn(const struct card *card)
{
    return card_check(card, cudaSetDevice(card->number), "being chosen");
}

/* Free memory, including what the pool keeps. */
static void look_at_memory(const struct card *card, size_t *available, size_t *total)
{
    cudaMemPool_t pool;
    uint64_t reserved = 0, used = 0;
    *available = *total = 0;
    cudaMemGetInfo(available, total);
    if (cudaDeviceGetDefaultMemPool(&pool, card->number) == cudaSuccess) {
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    }
    *available += reserved - used;
}

size_t cuda_room(struct backend *b)
{
    size_t available, total;
    cudaSetDevice(card_of(b)->number);
    look_at_memory(card_of(b), &available, &total);
    return available;
}

consm_status card_take(struct card *card, void **out, size_t bytes)
{
    size_t available, total;
    cudaError_t error = cudaMallocAsync(out, bytes + SLACK, card->stream);
    if (error == cudaSuccess) {
        card->held += bytes;
        return CONSM_OK;
    }
    *out = NULL;
    if (error != cudaErrorMemoryAllocation)
        return card_check(card, error, "allocating memory");
    cudaGetLastError();
    look_at_memory(card, &available, &total);
    return card->host->fail(
        CONSM_ELIMIT,
        "%s: this run uses %.2f GB of GPU memory and needs %.2f GB more, but only %.2f of %.2f GB "
        "are free; reduce hidden or the number of runs at the same time, or use device cpu",
        card->name, (double)card->held / 1e9, (double)bytes / 1e9, (double)available / 1e9,
        (double)total / 1e9);
}

void card_give(struct card *card, void *data, size_t bytes)
{
    if (!data)
        return;
    card->held -= bytes;
    cudaFreeAsync(data, card->stream);
}

consm_status cuda_allocate(struct backend *b, struct memory **out, size_t bytes)
{
    consm_status st = CONSM_OK;
    struct card *card = card_of(b);
    void *data = NULL;
    struct card_memory *m = (struct card_memory *)card->host->zalloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return CONSM_ENOMEM;
    TRY(card_turn(card));
    TRY(card_take(card, &data, bytes));
    m->base.bytes = bytes;
    m->data = (char *)data;
    CHECK(cudaMemsetAsync(data, 0, bytes + SLACK, card->stream), "clearing memory");
    *out = &m->base;
    return CONSM_OK;
done:
    card_give(card, data, bytes);
    card->host->free(m);
    return st;
}

void cuda_release(struct backend *b, struct memory *memory)
{
    struct card_memory *m = (struct card_memory *)memory;
    cudaSetDevice(card_of(b)->number);
    card_give(card_of(b), m->data, m->base.bytes);
    card_of(b)->host->free(m);
}

consm_status cuda_upload(struct backend *b, struct memory *to, size_t at, const void *from,
                         size_t bytes)
{
    consm_status st = CONSM_OK;
    struct card *card = card_of(b);
    TRY(card_turn(card));
    CHECK(cudaMemcpyAsync(data_of(to) + at, from, bytes, cudaMemcpyHostToDevice, card->stream),
          "sending data");
done:
    return st;
}

/* The only function that waits. */
consm_status cuda_download(struct backend *b, void *to, const struct memory *from, size_t at,
                           size_t bytes)
{
    consm_status st = CONSM_OK;
    struct card *card = card_of(b);
    bool small = bytes <= PINNED_BYTES;
    TRY(card_turn(card));
    CHECK(cudaMemcpyAsync(small ? card->pinned : to, data_of(from) + at, bytes,
                          cudaMemcpyDeviceToHost, card->stream),
          "returning data");
    CHECK(cudaStreamSynchronize(card->stream), "running a program");
    if (small)
        memcpy(to, card->pinned, bytes);
done:
    return st;
}

consm_status cuda_copy(struct backend *b, struct memory *to, const struct memory *from)
{
    consm_status st = CONSM_OK;
    struct card *card = card_of(b);
    TRY(card_turn(card));
    CHECK(cudaMemcpyAsync(data_of(to), data_of(from), from->bytes, cudaMemcpyDeviceToDevice,
                          card->stream),
          "copying data");
done:
    return st;
}
