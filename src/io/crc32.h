/* The checksum of zip archives (CRC-32, IEEE 802.3), with the processor's own instruction where it
 * has one: summing 43 MB of features with tables costs more than inflating them. */
#ifndef IO_CRC32_H
#define IO_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what crc stands for (0: nothing) followed by these bytes. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t count);

#endif
