/* Loads a backend at run time with dlopen: from beside this library (run paths), then from the
 * system's folders. It is never unloaded, because drivers start threads that would crash. */
#include "backends/plugin.h"

#include "base/alloc.h"
#include "base/threads.h"
#include "cpu/sums.h"
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
    .sums = &cpu_sums,
    .walks = &cpu_walks,
};

/* The address of a function of libconsm_<name>.so; scope: RTLD_LOCAL or RTLD_GLOBAL. */
static consm_status find_function(void **out, const char *name, const char *function, int scope)
{
    char file[64];
    snprintf(file, sizeof file, "libconsm_%s.so", name);
    void *library = dlopen(file, RTLD_NOW | scope);
    if (!library)
        return status_fail(CONSM_ENOTFOUND, "device %s is not available: %s", name, dlerror());
    *out = dlsym(library, function);
    if (!*out)
        return status_fail(CONSM_ENOTFOUND,
                           "device %s is not available: %s is not a plug-in of consm", name, file);
    return CONSM_OK;
}

/* dlsym returns a function's address as a data pointer; POSIX allows the copy. */
consm_status plugin_open(struct backend **out, const char *name, int device, int threads)
{
    plugin_open_fn *open;
    void *symbol;
    *out = NULL;
    consm_status st = find_function(&symbol, name, "consm_plugin", RTLD_LOCAL);
    if (st < 0)
        return st;
    memcpy(&open, &symbol, sizeof open);
    return open(out, &services, plugin_layout(), device, threads);
}

void plugin_load(const char *name)
{
    void *symbol;
    if (find_function(&symbol, name, "consm_plugin", RTLD_LOCAL) < 0)
        status_clear();
}

void plugin_wake(const char *name, int device, bool products)
{
    plugin_wake_fn *wake;
    void *symbol;
    if (find_function(&symbol, name, "consm_plugin_wake", RTLD_LOCAL) < 0) {
        status_clear();
        return;
    }
    memcpy(&wake, &symbol, sizeof wake);
    wake(device, products);
}

/* Open MPI loads its own libraries, which look for its symbols among the global ones. */
consm_status plugin_ranks(const struct ranks **out)
{
    ranks_open_fn *open;
    void *symbol;
    *out = NULL;
    if (find_function(&symbol, "mpi", "consm_ranks", RTLD_GLOBAL) < 0)
        return status_fail(
            CONSM_ENOTFOUND,
            "mpirun started this consm, but it was built without MPI: libconsm_mpi.so is missing "
            "(run scripts/bootstrap mpi, then build again)");
    memcpy(&open, &symbol, sizeof open);
    return open(out, &services, plugin_layout());
}

consm_status plugin_handout(const struct handout **out)
{
    handout_open_fn *open;
    void *symbol;
    *out = NULL;
    consm_status st = find_function(&symbol, "mpi", "consm_handout", RTLD_GLOBAL);
    if (st < 0)
        return st;
    memcpy(&open, &symbol, sizeof open);
    return open(out, plugin_layout());
}

consm_status plugin_boost(const struct boost_library **out, const struct plugin_services **with)
{
    boost_library_fn *open;
    void *symbol;
    *out = NULL;
    *with = &services;
    if (find_function(&symbol, "trees", "consm_boost", RTLD_LOCAL) < 0) {
        char why[256];
        snprintf(why, sizeof why, "%s", consm_errmsg());
        if (strstr(why, "libconsm_trees.so: cannot open"))
            return status_fail(CONSM_ENOTFOUND,
                               "trees: this consm was built without XGBoost: install "
                               "libxgboost-dev (apt) and build again");
        return status_fail(CONSM_ENOTFOUND,
                           "trees: cannot load libconsm_trees.so; install libxgboost0 (apt): %s",
                           why);
    }
    memcpy(&open, &symbol, sizeof open);
    return open(out, &services, boost_layout());
}

consm_status plugin_cut(int32_t *part, const struct csr *graph, int parts)
{
    cut_graph_fn *cut;
    void *symbol;
    if (find_function(&symbol, "mpi", "consm_cut", RTLD_GLOBAL) < 0)
        return status_fail(CONSM_ENOTFOUND,
                           "this consm was built without MPI: libconsm_mpi.so is missing (run "
                           "scripts/bootstrap mpi, then build again)");
    memcpy(&cut, &symbol, sizeof cut);
    return cut(part, graph, parts, &services, plugin_layout());
}
