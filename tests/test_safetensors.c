/* The container: written data reads back in place and unchanged; an invalid file gets a one-line
 * message. */
#include "check.h"

#include "io/safetensors.h"
#include <unistd.h>

static char folder[] = "/tmp/consm-safetensors-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/t.safetensors", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static const int64_t numbers[3] = {1, -2, INT64_MAX};
static const float matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};

static void write_sample(bool sealed)
{
    struct safetensors_writer *w;
    OK(safetensors_writer_new(&w));
    OK(safetensors_declare(w, "numbers", SAFETENSORS_I64, 1, (int64_t[]){3}));
    OK(safetensors_declare(w, "matrix", SAFETENSORS_F32, 2, (int64_t[]){2, 3}));
    OK(safetensors_declare(w, "none", SAFETENSORS_F32, 2, (int64_t[]){0, 7}));
    OK(safetensors_declare(w, "scalar", SAFETENSORS_U8, 0, NULL));
    OK(safetensors_note(w, "name", "caf\u00e9 \"quoted\""));
    OK(safetensors_begin(w, path, sealed));
    OK(safetensors_write(w, numbers, sizeof numbers));
    OK(safetensors_write(w, matrix[0], sizeof matrix[0])); /* in pieces */
    OK(safetensors_write(w, matrix[1], sizeof matrix[1]));
    OK(safetensors_write(w, "\x07", 1));
    OK(safetensors_commit(w));
    safetensors_writer_free(w);
}

static void round_trip(void **state)
{
    (void)state;
    struct safetensors *s;
    for (int sealed = 0; sealed < 2; sealed++) {
        write_sample(sealed);
        OK(safetensors_open(&s, path));
        assert_int_equal(safetensors_count(s), 4 + sealed);
        assert_string_equal(safetensors_metadata(s, "name"), "caf\u00e9 \"quoted\"");
        assert_null(safetensors_metadata(s, "other"));
        assert_null(safetensors_find(s, "other"));
        const struct safetensors_tensor *t = safetensors_find(s, "numbers");
        assert_int_equal((uintptr_t)t->data % 64, 0);
        assert_memory_equal(t->data, numbers, sizeof numbers);
        t = safetensors_find(s, "matrix");
        assert_int_equal(t->rank, 2);
        assert_int_equal(t->shape[1], 3);
        assert_int_equal(t->type, SAFETENSORS_F32);
        assert_memory_equal(t->data, matrix, sizeof matrix);
        assert_int_equal(safetensors_find(s, "none")->bytes, 0);
        assert_int_equal(safetensors_find(s, "scalar")->count, 1);
        assert_true((safetensors_seal(s) != NULL) == sealed);
        OK(safetensors_verify(s));
        safetensors_close(s);
    }
}

/* The writer refuses to make a file that differs from its declaration. */
static void writer_keeps_its_word(void **state)
{
    (void)state;
    struct safetensors_writer *w;
    OK(safetensors_writer_new(&w));
    OK(safetensors_declare(w, "a", SAFETENSORS_U8, 1, (int64_t[]){3}));
    FAILS(safetensors_declare(w, "b", SAFETENSORS_F32, 0, NULL), CONSM_EINVAL, "smaller elements");
    FAILS(safetensors_declare(w, "a", SAFETENSORS_U8, 0, NULL), CONSM_EINVAL, "twice");
    FAILS(safetensors_declare(w, "c", SAFETENSORS_U8, 2, ((int64_t[]){1LL << 40, 1LL << 40})),
          CONSM_EINVAL, "larger");
    FAILS(safetensors_note(w, "key", "\xff"), CONSM_EINVAL, "UTF-8");
    unlink(path);
    OK(safetensors_begin(w, path, false));
    OK(safetensors_write(w, "ab", 2));
    FAILS(safetensors_write(w, "cd", 2), CONSM_EINVAL, "more");
    FAILS(safetensors_commit(w), CONSM_EINVAL, "2 tensor bytes were written, but 3");
    safetensors_writer_free(w);
    assert_int_equal(file_kind(path), FILE_MISSING);
}

/* A file whose header is `header`, followed by `data` bytes of zero. */
static consm_status read_header(const char *header, size_t data)
{
    static uint8_t bytes[4096];
    struct safetensors *s;
    size_t length = strlen(header);
    memset(bytes, 0, sizeof bytes);
    bytes[0] = (uint8_t)length;
    bytes[1] = (uint8_t)(length >> 8);
    memcpy(bytes + 8, header, length);
    consm_status st = safetensors_read(&s, "t", bytes, 8 + length + data);
    assert_true((s == NULL) == (st < 0));
    safetensors_close(s);
    return st;
}

static void bad_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *message;
    } faults[] = {
        {"{\"a\":1}", "\"dtype\""},
        {"{\"a\":{\"shape\":[],\"data_offsets\":[0,4]}}", "\"dtype\""},
        {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", "unknown"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", "\"shape\""},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", ">= 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", ">= 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", "8"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,4]}}",
         "larger"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387905],\"data_offsets\":[0,4]}}",
         "expected 4611686018427387905 elements"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}",
         "not JSON"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
         "has 4 bytes: expected 2 elements of 4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", "data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", "bytes 4 to 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", "bytes -4 to 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}}", "expected 0 to 4"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", "2 bytes after"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}", "begins at byte 2"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
         "\"b\" begins at byte 2 of the data: expected 4"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}",
         "duplicate"},
        {"{\"__metadata__\":[],\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
         "not an object"},
        {"{\"__metadata__\":{\"n\":1},\"a\":{\"dtype\":\"F32\",\"shape\":[1],"
         "\"data_offsets\":[0,4]}}",
         "is not text"},
        {"[1]", "byte 8 is 0x5b"},
        {"{\"a\":", "not JSON"},
        {"{\"a\\n\":1}", "\"a?\""},
    };
    OK(read_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4));
    OK(read_header("{}  ", 0));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        FAILS(read_header(faults[i].header, 4), CONSM_EFORMAT, faults[i].message);
}

static void deep_nesting(void **state)
{
    (void)state;
    size_t depth = 100000;
    char *bytes = mem_zalloc(8 + 6 * depth, 1);
    struct safetensors *s;
    for (size_t i = 0; i < depth; i++)
        memcpy(bytes + 8 + 5 * i, "{\"a\":", 5);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(5 * depth >> 8 * i);
    FAILS(safetensors_read(&s, "deep", bytes, 8 + 5 * depth), CONSM_EFORMAT, "depth");
    mem_free(bytes);
}

static void sizes_and_foreign_files(void **state)
{
    (void)state;
    struct safetensors *s;
    FAILS(safetensors_read(&s, "t", "", 0), CONSM_EFORMAT, "t: has 0 bytes");
    FAILS(safetensors_read(&s, "t", "PK\3\4aaaaaaaaaaaa", 16), CONSM_EFORMAT, "byte 8 is 0x61");
    FAILS(safetensors_read(&s, "t", "\377\377\377\377\377\377\377\377{}", 10), CONSM_EFORMAT,
          "the header should have 18446744073709551615 bytes, but the file has only 10");
    char *large = mem_zalloc((32 << 20) + 8, 1);
    memcpy(large, "\0\0\0\2\0\0\0\0{", 9);
    FAILS(safetensors_read(&s, "t", large, (32 << 20) + 8), CONSM_ELIMIT, "the limit is 16777216");
    mem_free(large);
}

/* A truncated file is refused; the seal detects a changed byte anywhere before it. */
static void cut_and_changed(void **state)
{
    (void)state;
    struct file_map map;
    struct safetensors *s;
    write_sample(true);
    OK(file_map(&map, path));
    uint8_t *copy = mem_alloc(map.size, 1);
    memcpy(copy, map.data, map.size);
    for (size_t cut = 0; cut < map.size; cut++) {
        FAILS(safetensors_read(&s, "cut", copy, cut), CONSM_EFORMAT, "cut: ");
        assert_null(s);
    }
    for (size_t i = 0; i < map.size; i++) {
        copy[i] ^= 1;
        if (safetensors_read(&s, "changed", copy, map.size) == CONSM_OK && safetensors_seal(s))
            FAILS(safetensors_verify(s), CONSM_EFORMAT, "the stored checksum is");
        safetensors_close(s);
        copy[i] ^= 1;
    }
    mem_free(copy);
    file_unmap(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),      cmocka_unit_test(writer_keeps_its_word),
        cmocka_unit_test(bad_headers),     cmocka_unit_test(deep_nesting),
        cmocka_unit_test(cut_and_changed), cmocka_unit_test(sizes_and_foreign_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
