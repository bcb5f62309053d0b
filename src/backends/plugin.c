/* Loading a backend at run time, by dlopen: the library is looked for beside us (run paths), then
 * where the system looks. It is never unloaded: drivers start threads that do not like it. */
#include "backends/plugin.h"

#include "base/alloc.h"
#include "base/threads.h"
#include "program/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct plugin_services services = {
    .fail = status_fail,
    .zalloc = mem_zalloc,
    .free = mem_free,
    .version = leaf_version,
    .resolve = instr_resolve,
    .team_new = team_new,
    .team_free = team_free,
};

consm_status plugin_open(struct backend **out, const char *name, int device, int threads)
{
    char file[64];
    plugin_open_fn *open;
    *out = NULL;
    snprintf(file, sizeof file, "libconsm_%s.so", name);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return status_fail(CONSM_ENOTFOUND, "no device %s: %s", name, dlerror());
    /* A function's address comes as a pointer to data; POSIX allows the copy. */
    void *symbol = dlsym(library, "consm_plugin");
    if (!symbol)
        return status_fail(CONSM_ENOTFOUND, "no device %s: %s is no plug-in of consm", name, file);
    memcpy(&open, &symbol, sizeof open);
    return open(out, &services, plugin_layout(), device, threads);
}
