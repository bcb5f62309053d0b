/* Wakes a card in threads of their own, so that this overlaps with reading and cleaning the data.
 */
#include "backends/early.h"

#include "backends/open.h"
#include "backends/plugin.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct {
    pthread_t thread;
    int card;
    bool products, running;
} early;

/* A function of a library; NULL: none. dlsym returns it as a data pointer; POSIX allows the copy.
 */
static void find(void *function, size_t bytes, void *library, const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, bytes);
}

/* Starts the driver and makes its context for the card, through the driver's own library: loading
 * ours, with cuBLAS, takes as long as half of that. */
static void *wake_driver(void *arg)
{
    int (*init)(unsigned flags), (*get)(int *device, int ordinal);
    int (*retain)(void **context, int device), device;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context;
    find(&init, sizeof init, library, "cuInit");
    find(&get, sizeof get, library, "cuDeviceGet");
    find(&retain, sizeof retain, library, "cuDevicePrimaryCtxRetain");
    if (init && get && retain && init(0) == 0 && get(&device, early.card) == 0)
        retain(&context, device);
    return arg;
}

static void *wake(void *arg)
{
    pthread_t driver;
    bool beside = pthread_create(&driver, NULL, wake_driver, NULL) == 0;
    plugin_load("cuda");
    if (beside)
        pthread_join(driver, NULL);
    plugin_wake("cuda", early.card, early.products);
    return arg;
}

void backend_early(const char *name, bool products)
{
    int card = backend_card(name);
    if (card < 0 || early.running)
        return;
    early.card = card;
    early.products = products;
    early.running = pthread_create(&early.thread, NULL, wake, NULL) == 0;
}

void backend_early_end(void)
{
    if (early.running)
        pthread_join(early.thread, NULL);
    early.running = false;
}
