/* Archives: ours and those of others are read correctly; false ones are refused. */
#include "check.h"

#include "io/zip.h"
#include <unistd.h>
#include <zlib.h>

static char path[] = "/tmp/consm-zip-XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* Bytes that deflate into literals, short and long matches of all kinds. */
static uint8_t *sample(size_t size, unsigned seed)
{
    uint8_t *bytes = mem_zalloc(size + 1, 1);
    for (size_t i = 0; i < size;) {
        seed = seed * 1664525 + 1013904223;
        size_t run = 1 + (seed >> 8) % 300, kind = seed >> 28;
        for (size_t k = 0; k < run && i < size; k++, i++) {
            size_t back = 1 + (seed >> 12) % (kind < 8 ? 20 : 40000);
            if (kind < 4)
                bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
            else if (kind < 12)
                bytes[i] = i >= back ? bytes[i - back] : (uint8_t)i;
        }
    }
    return bytes;
}

struct gathered {
    uint8_t *bytes;
    size_t size, room;
};

static consm_status gather(void *ctx, const uint8_t *bytes, size_t count)
{
    struct gathered *g = ctx;
    if (g->size + count > g->room)
        return CONSM_ELIMIT;
    memcpy(g->bytes + g->size, bytes, count);
    g->size += count;
    return CONSM_OK;
}

static void inflates_what_was_deflated(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 16; seed++) {
        size_t size = seed < 4 ? seed : (size_t)25000 * (seed % 8 + 1);
        uint8_t *bytes = sample(size, seed), *packed = mem_alloc(2 * size + 100, 1);
        z_stream z = {0};
        static const int strategy[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
        assert_int_equal(deflateInit2(&z, (int)(seed % 10), Z_DEFLATED, -15, 8, strategy[seed % 4]),
                         Z_OK);
        z.next_in = bytes;
        z.avail_in = (uInt)size;
        z.next_out = packed;
        z.avail_out = (uInt)(2 * size + 100);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        struct gathered g = {mem_alloc(size, 1), 0, size};
        struct inflate_input in = {packed, z.total_out, "x", 0};
        OK(inflate_push(&in, size, gather, &g));
        assert_int_equal(g.size, size);
        assert_memory_equal(g.bytes, bytes, size);
        /* One byte less or more in or out is detected. */
        g.size = 0;
        in.size--;
        assert_int_equal(inflate_push(&in, size, gather, &g), CONSM_EFORMAT);
        g.size = 0;
        in.size++;
        if (size > 0)
            assert_int_equal(inflate_push(&in, size - 1, gather, &g), CONSM_EFORMAT);
        g.size = 0;
        FAILS(inflate_push(&in, size + 1, gather, &g), CONSM_EFORMAT, "expected");
        packed[z.total_out] = 0;
        g.size = 0;
        in.size++;
        FAILS(inflate_push(&in, size, gather, &g), CONSM_EFORMAT, "bytes after the end");
        deflateEnd(&z);
        mem_free(g.bytes);
        mem_free(bytes);
        mem_free(packed);
    }
}

static void inflate_names_faults(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } bad[] = {
        {"\x07", 1, "invalid block type"},
        {"\x01\x01\x00\x00\x00", 5, "invalid stored block lengths"},
        {"\x01\x05\x00\xfa\xff", 5, "ends too early"},
        {"\x01\x05\x00", 3, "ends too early"},
        {"\x04", 1, "ends too early"},
        {"\x03\x02", 2, "invalid distance too far back"},
        {"\xfd\xff\xff", 3, "too many length or distance symbols"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t room[300];
        struct gathered g = {room, 0, sizeof room};
        struct inflate_input in = {(const uint8_t *)bad[i].bytes, bad[i].size, "f", 1000};
        FAILS(inflate_push(&in, 100, gather, &g), CONSM_EFORMAT, bad[i].message);
        assert_non_null(strstr(consm_errmsg(), "f: byte 10"));
    }
}

/* An archive of two members, one of each kind, as the bytes of a file. */
static struct file_map two_members(const uint8_t *bytes, size_t size)
{
    struct zip_writer *w;
    struct file_map map;
    OK(zip_create(&w, path));
    OK(zip_begin(w, "stored", false));
    OK(zip_put(w, bytes, size / 2));
    OK(zip_put(w, bytes + size / 2, size - size / 2));
    OK(zip_end(w));
    OK(zip_begin(w, "deflated", true));
    OK(zip_put(w, bytes, size / 3));
    OK(zip_put(w, bytes + size / 3, size - size / 3));
    OK(zip_end(w));
    OK(zip_commit(w));
    zip_close(w);
    OK(file_map(&map, path));
    return map;
}

static void written_comes_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 1000, 131071, 131072, 131073, 500000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *bytes = sample(sizes[i], 7);
        struct file_map map = two_members(bytes, sizes[i]);
        struct zip *z;
        OK(zip_open(&z, path, map.data, map.size));
        assert_int_equal(z->count, 2);
        assert_null(zip_find(z, "other"));
        static const char *const name[] = {"stored", "deflated"};
        for (int k = 0; k < 2; k++) {
            struct zip_bytes got;
            OK(zip_read(&got, z, zip_find(z, name[k])));
            assert_int_equal(got.size, sizes[i]);
            assert_memory_equal(got.data, bytes, sizes[i]);
            assert_int_equal(got.owned == NULL, k == 0);
            zip_bytes_free(&got);
        }
        zip_free(z);
        file_unmap(&map);
        mem_free(bytes);
    }
}

enum { MANY = 66000 };

/* More members than 16 bits can count need the zip64 end record. */
static void many_members(void **state)
{
    (void)state;
    struct zip_writer *w;
    struct file_map map;
    struct zip *z;
    OK(zip_create(&w, path));
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        OK(zip_begin(w, name, false));
        OK(zip_end(w));
    }
    OK(zip_commit(w));
    zip_close(w);
    OK(file_map(&map, path));
    OK(zip_open(&z, path, map.data, map.size));
    assert_int_equal(z->count, MANY);
    zip_free(z);
    file_unmap(&map);
}

/* Opens and reads everything; the first failure. */
static consm_status read_all(const uint8_t *bytes, size_t size)
{
    struct zip *z;
    consm_status st = zip_open(&z, "f.zip", bytes, size);
    for (int64_t i = 0; st >= 0 && i < z->count; i++) {
        struct zip_bytes got;
        st = zip_read(&got, z, &z->member[i]);
        zip_bytes_free(&got);
    }
    zip_free(z);
    return st;
}

static uint8_t *copy_of(const struct file_map *map)
{
    uint8_t *copy = mem_alloc(map->size, 1);
    memcpy(copy, map->data, map->size);
    return copy;
}

static void every_truncation_fails(void **state)
{
    (void)state;
    uint8_t *bytes = sample(400, 3);
    struct file_map map = two_members(bytes, 400);
    OK(read_all(map.data, map.size));
    for (size_t size = 0; size < map.size; size++) {
        /* A block of exactly this size, so that a sanitizer detects any read past it. */
        uint8_t *cut = malloc(size ? size : 1);
        memcpy(cut, map.data, size);
        assert_int_equal(read_all(cut, size), CONSM_EFORMAT);
        assert_non_null(strstr(consm_errmsg(), "f.zip: byte "));
        free(cut);
    }
    file_unmap(&map);
    mem_free(bytes);
}

static void every_flipped_byte_is_survived(void **state)
{
    (void)state;
    uint8_t *bytes = sample(300, 4);
    struct file_map map = two_members(bytes, 300);
    uint8_t *copy = copy_of(&map);
    int refused = 0;
    for (size_t at = 0; at < map.size; at++)
        for (int mask = 1; mask < 256; mask = mask * 15 + 1) {
            copy[at] ^= (uint8_t)mask;
            refused += read_all(copy, map.size) < 0;
            copy[at] ^= (uint8_t)mask;
        }
    assert_true(refused > (int)map.size);
    mem_free(copy);
    file_unmap(&map);
    mem_free(bytes);
}

/* Places in the archive of two_members: local header 0, and the directory's first entry. */
static size_t directory_of(const struct file_map *map)
{
    const uint8_t *end = map->data + map->size - 22;
    return end[16] | (size_t)end[17] << 8 | (size_t)end[18] << 16;
}

static void lies_are_named(void **state)
{
    (void)state;
    uint8_t *bytes = sample(500, 5);
    struct file_map map = two_members(bytes, 500);
    size_t entry = directory_of(&map), second = entry + 46 + strlen("stored"), end = map.size - 22;
    const struct {
        size_t at, width;
        uint64_t value;
        consm_status code;
        const char *message;
    } lie[] = {
        {entry + 8, 2, 1, CONSM_EFORMAT, "member stored is encrypted"},
        {entry + 10, 2, 12, CONSM_EFORMAT, "compressed with method 12"},
        {entry + 16, 4, 1, CONSM_EFORMAT, "expected 00000001"},
        {entry + 20, 4, 499, CONSM_EFORMAT, "but has 499 bytes packed and 500 unpacked"},
        {entry + 20, 4, 100000, CONSM_EFORMAT, "member stored: has 100000 bytes at 0"},
        {entry + 24, 4, 0xffffffff, CONSM_EFORMAT, "4294967295 unpacked"},
        {entry + 28, 2, 60000, CONSM_EFORMAT, "ends after the directory"},
        {entry + 42, 4, 5, CONSM_EFORMAT, "the header of member stored"},
        {entry + 42, 4, 0xfffffff0, CONSM_EFORMAT, "at 4294967280"},
        {entry, 4, 0, CONSM_EFORMAT, "a directory entry is missing"},
        {30, 1, 'S', CONSM_EFORMAT, "contains another name"},
        {26, 2, 65000, CONSM_EFORMAT, "ends after the end of the file"},
        {second + 24, 4, 501, CONSM_EFORMAT, "inflates to 500 bytes: expected 501"},
        {second + 24, 4, 499, CONSM_EFORMAT, "more than its declared size"},
        {second + 24, 4, 4000000000, CONSM_EFORMAT, "packed bytes cannot inflate to that many"},
        {end + 4, 2, 3, CONSM_EFORMAT, "multi-part"},
        {end + 10, 2, 3, CONSM_EFORMAT, "directory has 3 entries"},
        {end + 10, 2, 5000, CONSM_EFORMAT, "directory has 5000 entries"},
        {end + 16, 4, 0xfffffff0, CONSM_EFORMAT, "at 4294967280"},
    };
    for (size_t i = 0; i < sizeof lie / sizeof *lie; i++) {
        uint8_t *copy = copy_of(&map);
        for (size_t b = 0; b < lie[i].width; b++)
            copy[lie[i].at + b] = (uint8_t)(lie[i].value >> (8 * b));
        FAILS(read_all(copy, map.size), lie[i].code, lie[i].message);
        mem_free(copy);
    }
    /* A comment after the end record is fine. */
    uint8_t *longer = mem_alloc(map.size + 3, 1);
    memcpy(longer, map.data, map.size);
    memcpy(longer + map.size, "hi!", 3);
    longer[end + 20] = 3;
    OK(read_all(longer, map.size + 3));
    mem_free(longer);
    file_unmap(&map);
    mem_free(bytes);
}

static void put(uint8_t **to, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        *(*to)++ = (uint8_t)(value >> (8 * i));
}

/* A member "a" of three stored bytes whose sizes are all in zip64 fields. */
static size_t zip64_archive(uint8_t *out, uint64_t size, uint64_t offset, uint64_t extra_bytes)
{
    uint8_t *p = out;
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)"xyz", 3);
    put(&p, 0x04034b50, 4);
    put(&p, 45, 2), put(&p, 0, 8), put(&p, crc, 4);
    put(&p, 0xffffffff, 4), put(&p, 0xffffffff, 4), put(&p, 1, 2), put(&p, 20, 2);
    *p++ = 'a';
    put(&p, 1, 2), put(&p, 16, 2), put(&p, 3, 8), put(&p, 3, 8);
    memcpy(p, "xyz", 3);
    p += 3;
    uint64_t directory = (uint64_t)(p - out);
    put(&p, 0x02014b50, 4);
    put(&p, 45, 2), put(&p, 45, 2), put(&p, 0, 8), put(&p, crc, 4);
    put(&p, 0xffffffff, 4), put(&p, 0xffffffff, 4), put(&p, 1, 2), put(&p, 4 + extra_bytes, 2);
    put(&p, 0, 8), put(&p, 0, 2), put(&p, 0xffffffff, 4);
    *p++ = 'a';
    put(&p, 1, 2), put(&p, extra_bytes, 2);
    uint64_t field[] = {size, size, offset};
    for (uint64_t i = 0; i < extra_bytes / 8; i++)
        put(&p, field[i], 8);
    uint64_t end64 = (uint64_t)(p - out);
    put(&p, 0x06064b50, 4), put(&p, 44, 8), put(&p, 45, 2), put(&p, 45, 2), put(&p, 0, 8);
    put(&p, 1, 8), put(&p, 1, 8), put(&p, end64 - directory, 8), put(&p, directory, 8);
    put(&p, 0x07064b50, 4), put(&p, 0, 4), put(&p, end64, 8), put(&p, 1, 4);
    put(&p, 0x06054b50, 4), put(&p, 0xffffffff, 4), put(&p, 0xffffffff, 4);
    put(&p, 0xffffffff, 4), put(&p, 0xffffffff, 4), put(&p, 0, 2);
    return (size_t)(p - out);
}

static void zip64_fields(void **state)
{
    (void)state;
    uint8_t bytes[512];
    OK(read_all(bytes, zip64_archive(bytes, 3, 0, 24)));
    size_t size = zip64_archive(bytes, UINT64_C(1) << 60, 0, 24);
    FAILS(read_all(bytes, size), CONSM_EFORMAT, "1152921504606846976 bytes at 0");
    size = zip64_archive(bytes, 3, UINT64_MAX - 10, 24);
    FAILS(read_all(bytes, size), CONSM_EFORMAT, "at 18446744073709551605");
    size = zip64_archive(bytes, 3, 0, 16);
    FAILS(read_all(bytes, size), CONSM_EFORMAT, "a zip64 field of 16 bytes: expected 24");
}

static void overlaps_and_doubles(void **state)
{
    (void)state;
    struct zip_writer *w;
    struct file_map map;
    OK(zip_create(&w, path));
    for (int i = 0; i < 2; i++) {
        OK(zip_begin(w, "same", false));
        OK(zip_end(w));
    }
    OK(zip_commit(w));
    zip_close(w);
    OK(file_map(&map, path));
    FAILS(read_all(map.data, map.size), CONSM_EFORMAT, "two members have the name same");
    file_unmap(&map);

    /* Two directory entries that share one large member. */
    uint8_t *bytes = sample(4000, 6);
    map = two_members(bytes, 4000);
    uint8_t *copy = copy_of(&map);
    size_t first = directory_of(&map), second = first + 46 + strlen("stored");
    memcpy(copy + second + 10, copy + first + 10, 18);
    memcpy(copy + second + 42, copy + first + 42, 4);
    FAILS(read_all(copy, map.size), CONSM_EFORMAT, "members overlap");
    mem_free(copy);
    mem_free(bytes);
    file_unmap(&map);
}

static void bombs_are_refused(void **state)
{
    (void)state;
    struct zip_writer *w;
    struct file_map map;
    struct zip *z;
    struct zip_bytes got;
    uint8_t *zeros = mem_zalloc(1 << 20, 1);
    OK(zip_create(&w, path));
    OK(zip_begin(w, "bomb", true));
    for (int i = 0; i < 40; i++)
        OK(zip_put(w, zeros, 1 << 20));
    OK(zip_end(w));
    OK(zip_commit(w));
    zip_close(w);
    OK(file_map(&map, path));
    assert_true(map.size < 60000);
    OK(zip_open(&z, path, map.data, map.size));
    FAILS(zip_read(&got, z, zip_find(z, "bomb")), CONSM_ELIMIT, "the limit is 200-fold");
    z->member[0].size = 400 << 20;
    z->member[0].packed = 700 << 10;
    FAILS(zip_push(z, &z->member[0], gather, NULL), CONSM_ELIMIT, "the limit is 500-fold");
    zip_free(z);
    file_unmap(&map);
    mem_free(zeros);
}

static void no_archives(void **state)
{
    (void)state;
    FAILS(read_all(NULL, 0), CONSM_EFORMAT, "f.zip: byte 0: the file is empty");
    FAILS(read_all((const uint8_t *)"source,target\n1,2\n3,4\n5,6\n", 26), CONSM_EFORMAT,
          "not a zip archive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inflates_what_was_deflated),
        cmocka_unit_test(inflate_names_faults),
        cmocka_unit_test(written_comes_back),
        cmocka_unit_test(many_members),
        cmocka_unit_test(every_truncation_fails),
        cmocka_unit_test(every_flipped_byte_is_survived),
        cmocka_unit_test(lies_are_named),
        cmocka_unit_test(zip64_fields),
        cmocka_unit_test(overlaps_and_doubles),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(no_archives),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
