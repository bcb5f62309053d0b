/* The list of backends. */
#include "backends/open.h"

#include "cpu/backend.h"
#include "cpu/simd.h"
#include "reference/backend.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    consm_status (*open)(struct backend **out, int threads);
} backends[] = {
    {"cpu", cpu_open},
    {"reference", reference_open},
};
enum { BACKENDS = sizeof backends / sizeof *backends };

const char *backend_name(int i)
{
    return i >= 0 && i < BACKENDS ? backends[i].name : NULL;
}

/* Other BLAS implementations lack the function. */
extern char *openblas_get_corename(void) __attribute__((weak));

void backend_describe(char text[BACKEND_DESCRIPTION], const struct backend *b)
{
    snprintf(text, BACKEND_DESCRIPTION, "%s %s %s", b->kind->name, simd_best()->name,
             openblas_get_corename ? openblas_get_corename() : "blas");
}

consm_status backend_open(struct backend **out, const char *name, int threads)
{
    *out = NULL;
    for (int i = 0; i < BACKENDS; i++)
        if (!name || strcmp(name, backends[i].name) == 0)
            return backends[i].open(out, threads);
    return status_fail(CONSM_EINVAL, "there is no backend %s", name);
}
