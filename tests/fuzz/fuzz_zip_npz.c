/* Fuzzes archives: every member is read, then the whole is read as a graph. Checksums are not
 * compared in this build, but sizes are, and a changed byte of a deflated stream rarely tests
 * anything. So every other change is made inside a member: it is unpacked, changed, and the archive
 * is written again, stored, with correct sizes and checksums. */
#include "data/readers/npz_archive.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npz_archive archive;
    struct dataset *d = NULL;
    if (npz_open_memory(&archive, "fuzz.npz", data, size) >= 0) {
        for (int64_t i = 0; i < archive.zip->count && i < 32; i++) {
            struct zip_bytes bytes;
            zip_read(&bytes, archive.zip, &archive.zip->member[i]);
            zip_bytes_free(&bytes);
        }
        npz_load_archive(&d, &archive, "fuzz.npz");
    }
    dataset_free(d);
    npz_close(&archive);
    return 0;
}

/* ---- changes inside a member --------------------------------------------------- */

enum { MOST_MEMBERS = 32, MEMBER_BYTES = 1 << 14, LOCAL = 30, CENTRAL = 46, END = 22 };

static uint8_t *number(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = i < 8 ? (uint8_t)(value >> 8 * i) : 0;
    return at;
}

/* A header's fields from "version needed" to "extra length", which both kinds share. */
static uint8_t *common(uint8_t *at, const uint8_t *bytes, size_t size, size_t name)
{
    memset(at, 0, 10);
    *at = 20;
    at = number(at + 10, crc32(0, bytes, (uInt)size), 4);
    at = number(at, size, 4);
    at = number(at, size, 4);
    at = number(at, name, 2);
    return number(at, 0, 2);
}

struct member {
    char name[64];
    uint8_t bytes[MEMBER_BYTES];
    size_t size, place;
};

/* The archive of these members, or 0 if it does not fit. */
static size_t assemble(uint8_t *out, size_t most, struct member *m, int count)
{
    uint8_t *at = out;
    size_t need = END;
    for (int i = 0; i < count; i++)
        need += LOCAL + CENTRAL + 2 * strlen(m[i].name) + m[i].size;
    if (need > most)
        return 0;
    for (int i = 0; i < count; i++) {
        m[i].place = (size_t)(at - out);
        at = number(at, 0x04034b50, 4);
        at = common(at, m[i].bytes, m[i].size, strlen(m[i].name));
        at = (uint8_t *)mempcpy(at, m[i].name, strlen(m[i].name));
        at = (uint8_t *)mempcpy(at, m[i].bytes, m[i].size);
    }
    size_t directory = (size_t)(at - out);
    for (int i = 0; i < count; i++) {
        at = number(number(at, 0x02014b50, 4), 20, 2);
        at = common(at, m[i].bytes, m[i].size, strlen(m[i].name));
        at = number(number(at, 0, 10), m[i].place, 4);
        at = (uint8_t *)mempcpy(at, m[i].name, strlen(m[i].name));
    }
    size_t length = (size_t)(at - out) - directory;
    at = number(number(at, 0x06054b50, 4), 0, 4);
    at = number(number(at, (uint64_t)count, 2), (uint64_t)count, 2);
    at = number(number(number(at, length, 4), directory, 4), 0, 2);
    return (size_t)(at - out);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static struct member member[MOST_MEMBERS];
    struct npz_archive archive;
    int count = 0;
    size_t whole = 0;
    if (seed % 2 && npz_open_memory(&archive, "fuzz.npz", data, size) >= 0) {
        for (int64_t i = 0; i < archive.zip->count && count < MOST_MEMBERS; i++) {
            struct zip_bytes bytes;
            const struct zip_member *from = &archive.zip->member[i];
            if (zip_read(&bytes, archive.zip, from) >= 0 && bytes.size <= MEMBER_BYTES &&
                strlen(from->name) < sizeof member->name) {
                struct member *to = &member[count++];
                strcpy(to->name, from->name);
                memcpy(to->bytes, bytes.data, bytes.size);
                to->size = bytes.size;
            }
            zip_bytes_free(&bytes);
        }
        npz_close(&archive);
        if (count) {
            struct member *m = &member[seed / 2 % (unsigned)count];
            m->size = LLVMFuzzerMutate(m->bytes, m->size, MEMBER_BYTES);
            whole = assemble(data, most, member, count);
        }
    }
    return whole ? whole : LLVMFuzzerMutate(data, size, most);
}
