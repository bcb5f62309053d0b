/* Collects messages and joins them, one a line. */
#include "io/faults.h"

#include <stdio.h>
#include <string.h>

consm_status faults_take(struct faults *f, consm_status st)
{
    if (st != CONSM_EFORMAT)
        return st;
    if (f->count < FAULTS_KEPT)
        snprintf(f->text[f->count], FAULT_LENGTH, "%s", consm_errmsg());
    f->count++;
    status_clear();
    return CONSM_OK;
}

consm_status faults_status(const struct faults *f, const char *file)
{
    char list[FAULTS_KEPT * (FAULT_LENGTH + 4) + 128];
    size_t used = 0, name = strlen(file);
    int kept = f->count < FAULTS_KEPT ? (int)f->count : FAULTS_KEPT;
    if (f->count == 0)
        return CONSM_OK;
    if (f->count == 1)
        return status_fail(CONSM_EFORMAT, "%s", f->text[0]);
    used += (size_t)snprintf(list, sizeof list, "%.100s: %lld errors%s:", file, (long long)f->count,
                             kept < f->count ? ", the first ones" : "");
    for (int i = 0; i < kept; i++) {
        const char *text = f->text[i];
        if (strncmp(text, file, name) == 0 && strncmp(text + name, ": ", 2) == 0)
            text += name + 2;
        used += (size_t)snprintf(list + used, sizeof list - used, "\n  %s", text);
    }
    return status_fail_lines(CONSM_EFORMAT, list);
}
