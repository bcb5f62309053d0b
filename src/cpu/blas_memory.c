/* Each thread inside a product of OpenBLAS has a buffer of its own, which is mapped when first
 * needed and then kept. If it cannot be mapped, OpenBLAS tries again, without end. So we look for
 * the room first, and have it mapped while we know that it is there. */
#include "cpu/blas_memory.h"

#include <pthread.h>
#include <sys/mman.h>

/* OpenBLAS's own; other implementations lack them. */
extern void *blas_memory_alloc(int purpose) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

/* A buffer has 128 MB on x86-64 and 32 MB elsewhere (BUFFER_SIZE in OpenBLAS's common_*.h).
 * OpenBLAS built without threads has 50 of them before it speaks up. */
#if defined(__x86_64__)
static const size_t buffer_bytes = (size_t)136 << 20;
#else
static const size_t buffer_bytes = (size_t)36 << 20;
#endif
enum { MOST_BUFFERS = 48 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int mapped; /* buffers that are there */

static bool room_for(int buffers)
{
    size_t bytes = (size_t)buffers * buffer_bytes;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

consm_status blas_reserve(int threads)
{
    consm_status st = CONSM_OK;
    void *buffer[MOST_BUFFERS];
    const int aim = threads < MOST_BUFFERS ? threads : MOST_BUFFERS;
    pthread_mutex_lock(&lock);
    if (!blas_memory_alloc || !blas_memory_free || aim <= mapped) {
        /* nothing to do */
    } else if (!room_for(aim)) {
        st = status_fail(CONSM_ENOMEM, "out of memory: %d threads need %zu MB for products",
                         threads, (size_t)aim * buffer_bytes >> 20);
    } else {
        for (int i = 0; i < aim; i++)
            buffer[i] = blas_memory_alloc(1);
        for (int i = 0; i < aim; i++)
            blas_memory_free(buffer[i]);
        mapped = aim;
    }
    pthread_mutex_unlock(&lock);
    return st;
}
