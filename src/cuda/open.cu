/* Opens and closes a card as a backend, with its streams, memory pool and cuBLAS. */
#include "cuda/backend.cuh"

#include <stdio.h>

enum {
    WORKSPACE_BYTES = 32 << 20, /* what cuBLAS recommends for Hopper */
    SEPARATE_BYTES =
        32 << 20, /* values up to this size do not share memory: they stay in the cache */
};

/* ---- loading and capturing ------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    int loads, captures; /* that are under way, or wait for the captures to end */
} calm = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

void card_load(void)
{
    pthread_mutex_lock(&calm.lock);
    calm.loads++;
    while (calm.captures > 0)
        pthread_cond_wait(&calm.change, &calm.lock);
    pthread_mutex_unlock(&calm.lock);
}

void card_loaded(void)
{
    pthread_mutex_lock(&calm.lock);
    calm.loads--;
    pthread_mutex_unlock(&calm.lock);
}

bool card_capture(void)
{
    pthread_mutex_lock(&calm.lock);
    const bool may = calm.loads == 0;
    calm.captures += may;
    pthread_mutex_unlock(&calm.lock);
    return may;
}

void card_captured(void)
{
    pthread_mutex_lock(&calm.lock);
    if (--calm.captures == 0)
        pthread_cond_broadcast(&calm.change);
    pthread_mutex_unlock(&calm.lock);
}

/* ---- opening and closing -------------------------------------------------- */

static void cuda_close(struct backend *b)
{
    struct card *card = card_of(b);
    cudaSetDevice(card->number);
    card_load();
    if (card->blas)
        cublasDestroy(card->blas);
    card_give(card, card->workspace, WORKSPACE_BYTES);
    if (card->pinned)
        cudaFreeHost(card->pinned);
    card_loaded();
    if (card->stream)
        cudaStreamSynchronize(card->stream);
    for (int i = 0; i < LANES; i++)
        if (card->lane[i])
            cudaStreamDestroy(card->lane[i]);
    if (card->start)
        cudaEventDestroy(card->start);
    card->host->team_free(b->host);
    card->host->free(card);
}

static consm_status cuda_another(struct backend **out, const struct backend *b, int threads);

static const struct backend_kind cuda_kind = {
    .name = "cuda",
    .supports = cuda_supports,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy = cuda_copy,
    .compile = cuda_compile,
    .run = cuda_run,
    .discard = cuda_discard,
    .close = cuda_close,
    .separate = SEPARATE_BYTES,
    .composes = 0,   /* the steps of a walk are one kernel already */
    .reuses = false, /* its evaluation runs beside the next step */
    .room = cuda_room,
    .another = cuda_another,
    .download_rows = NULL, /* no rank divides its values */
};

/* Freed memory is kept for the next program. */
static consm_status keep_pool(struct card *card)
{
    consm_status st = CONSM_OK;
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, card->number), "being opened");
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "being opened");
done:
    return st;
}

static consm_status check_blas(const struct card *card, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return CONSM_OK;
    return card->host->fail(CONSM_EIO, "%s: cuBLAS: %s", card->name, cublasGetStatusString(status));
}

/* cuBLAS can be captured if we own its workspace, and gives the same bits on one stream. */
consm_status card_open_blas(struct card *card)
{
    consm_status st = CONSM_OK;
    card_load();
    TRY(check_blas(card, cublasCreate(&card->blas)));
    TRY(check_blas(card, cublasSetStream(card->blas, card->stream)));
    TRY(card_take(card, &card->workspace, WORKSPACE_BYTES));
    TRY(check_blas(card, cublasSetWorkspace(card->blas, card->workspace, WORKSPACE_BYTES)));
    TRY(check_blas(card, cublasSetMathMode(card->blas, CUBLAS_PEDANTIC_MATH)));
done:
    if (st < 0 && card->blas) {
        cublasDestroy(card->blas);
        card->blas = NULL;
    }
    card_loaded();
    return st;
}

/* Whether there is such a card; a one-line message if not. */
static consm_status find_card(const struct plugin_services *host, int number)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorInitializationError)
        return host->fail(
            CONSM_ENOTFOUND,
            "device cuda is not available: this machine has no NVIDIA driver, or an old one");
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
        return host->fail(CONSM_ENOTFOUND,
                          "device cuda is not available: this machine has no NVIDIA GPU");
    if (error != cudaSuccess)
        return host->fail(CONSM_ENOTFOUND, "device cuda is not available: %s",
                          cudaGetErrorString(error));
    if (number >= count)
        return host->fail(
            CONSM_ENOTFOUND,
            "device cuda:%d does not exist: this machine has %d GPU%s, starting at cuda:0", number,
            count, count == 1 ? "" : "s");
    return CONSM_OK;
}

/* Opens a card that exists. */
static consm_status open_card(struct backend **out, const struct plugin_services *services,
                              int device, int threads)
{
    consm_status st = CONSM_OK;
    cudaError_t pinned;
    struct card *card = (struct card *)services->zalloc(1, sizeof *card);
    *out = NULL;
    if (!card)
        return CONSM_ENOMEM;
    card->base.kind = &cuda_kind;
    card->base.device = card->name;
    card->host = services;
    card->number = device;
    snprintf(card->name, sizeof card->name, "cuda:%d", device);
    TRY(services->team_new(&card->base.host, threads));
    TRY(card_turn(card));
    for (int i = 0; i < LANES; i++)
        CHECK(cudaStreamCreateWithFlags(&card->lane[i], cudaStreamNonBlocking), "being opened");
    card->stream = card->lane[0];
    CHECK(cudaEventCreateWithFlags(&card->start, cudaEventDisableTiming), "being opened");
    card_load();
    pinned = cudaMallocHost((void **)&card->pinned, PINNED_BYTES);
    card_loaded();
    CHECK(pinned, "being opened");
    TRY(keep_pool(card));
    *out = &card->base;
    return CONSM_OK;
done:
    cuda_close(&card->base);
    return st;
}

static consm_status cuda_another(struct backend **out, const struct backend *b, int threads)
{
    const struct card *card = (const struct card *)b;
    return open_card(out, card->host, card->number, threads);
}

/* The first product loads cuBLAS's code, which takes a tenth of a second. */
static void load_products(void)
{
    enum { N = 64 };
    const float one = 1, zero = 0;
    cublasHandle_t blas;
    void *numbers = NULL;
    card_load();
    if (cudaMalloc(&numbers, 3 * N * N * sizeof(float)) == cudaSuccess &&
        cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS) {
        float *a = (float *)numbers;
        cudaMemset(a, 0, 3 * N * N * sizeof(float));
        cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH);
        cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, a + N * N, N, &zero,
                    a + 2 * N * N, N);
        cublasDestroy(blas);
    }
    cudaFree(numbers);
    card_loaded();
}

extern "C" CONSM_API void consm_plugin_wake(int device, bool products)
{
    if (cudaSetDevice(device) == cudaSuccess && cudaFree(NULL) == cudaSuccess && products)
        load_products();
    cudaGetLastError();
}

extern "C" CONSM_API consm_status consm_plugin(struct backend **out,
                                               const struct plugin_services *services,
                                               uint64_t layout, int device, int threads)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    if (layout != plugin_layout())
        return services->fail(
            CONSM_ENOTFOUND,
            "device cuda is not available: libconsm_cuda.so is from another build of consm");
    TRY(find_card(services, device));
    TRY(open_card(out, services, device, threads));
done:
    return st;
}
