/* ARMv8's CRC instructions, found at run time; zlib's tables everywhere else. */
#include "io/crc32.h"

#include <zlib.h>

static uint32_t with_tables(uint32_t crc, const uint8_t *bytes, size_t count)
{
    uLong sum = crc;
    while (count > 0) {
        uInt part = count < 1U << 30 ? (uInt)count : 1U << 30; /* zlib counts in 32 bits */
        sum = crc32(sum, bytes, part);
        bytes += part;
        count -= part;
    }
    return (uint32_t)sum;
}

#if defined(__aarch64__) && defined(__linux__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <string.h>
#include <sys/auxv.h>

enum { HAS_CRC32 = 1 << 7 }; /* HWCAP_CRC32 */

static uint32_t with_instructions(uint32_t crc, const uint8_t *bytes, size_t count)
{
    uint32_t sum = ~crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        __asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(sum) : "r"(word));
    }
    for (; count > 0; bytes++, count--)
        __asm__(".arch_extension crc\n\tcrc32b %w0, %w0, %w1" : "+r"(sum) : "r"(*bytes));
    return ~sum;
}

uint32_t crc32_add(uint32_t crc, const void *bytes, size_t count)
{
    if (getauxval(AT_HWCAP) & HAS_CRC32)
        return with_instructions(crc, bytes, count);
    return with_tables(crc, bytes, count);
}
#else
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t count)
{
    return with_tables(crc, bytes, count);
}
#endif
