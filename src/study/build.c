/* A fingerprint of the sources: the version alone does not identify a program under development. */
#include "study/study.h"

#include "build_id.h"
#include <string.h>

const char *study_build(void)
{
    return CONSM_BUILD;
}

int64_t folder_other_builds(const struct study_folder *f)
{
    int64_t others = 0;
    for (int64_t i = 0; i < runs_count(f->runs); i++) {
        const char *build = json_string_value(json_object_get(runs_get(f->runs, i), "build"));
        others += !build || strcmp(build, study_build()) != 0;
    }
    return others;
}
