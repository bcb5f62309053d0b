/* Golden files: a writer's output is compared with tests/golden/NAME, byte for byte. With
 * CONSM_UPDATE_GOLDEN=1 in the environment the files are rewritten instead; check the diff. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "check.h"

/* Names that a hostile data file may use. */
#define HOSTILE_MARKUP "<script>alert(\"x\")</script>&amp;'--><!--|`*_$\\%{}#~^[]"
#define HOSTILE_BYTES  "caf\xc3\xa9 \xff\xc0\x80 \xed\xa0\x80 \x1b[31m \xe2\x80\xae end\xe6\x97"
#define HOSTILE_WIDE   "数据集 é\xcc\x81 🙂"

static inline const char *hostile_long(void)
{
    static char name[501];
    for (int i = 0; i < 500; i++)
        name[i] = (char)('a' + i % 26);
    return name;
}

static inline void golden(const char *name, const char *found)
{
    char path[512];
    snprintf(path, sizeof path, TESTS_DIR "/golden/%s", name);
    if (getenv("CONSM_UPDATE_GOLDEN")) {
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        fputs(found, out);
        fclose(out);
        return;
    }
    FILE *in = fopen(path, "rb");
    if (!in)
        fail_msg("%s is missing; make it with CONSM_UPDATE_GOLDEN=1", path);
    size_t length = strlen(found), at = 0;
    int line = 1;
    for (int c; (c = fgetc(in)) != EOF; at++) {
        if (at >= length || (char)c != found[at]) {
            fclose(in);
            fail_msg("golden/%s differs from what is written at line %d: ...%.60s", name, line,
                     at < length ? found + at : "");
        }
        line += c == '\n';
    }
    fclose(in);
    if (at != length)
        fail_msg("golden/%s ends where more is written: %.60s", name, found + at);
}

#endif
