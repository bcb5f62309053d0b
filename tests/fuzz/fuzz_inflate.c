/* Fuzzes inflate: a stream in pieces with a declared size, compared with zlib in one go: the same
 * bytes, or a fault in both. */
#include "io/inflate.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { ROOM = 1 << 20 };
static uint8_t theirs[ROOM], ours[ROOM];

static consm_status gather(void *ctx, const uint8_t *bytes, size_t count)
{
    size_t *used = ctx;
    if (count > ROOM - *used)
        abort();
    memcpy(ours + *used, bytes, count);
    *used += count;
    return CONSM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    z_stream z = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
    size_t used = 0;
    struct inflate_input in = {data, size, "fuzz", 0};
    if (inflateInit2(&z, -15) != Z_OK)
        return 0;
    z.next_out = theirs;
    z.avail_out = ROOM;
    int answer = inflate(&z, Z_FINISH);
    size_t produced = ROOM - z.avail_out, consumed = size - z.avail_in;
    inflateEnd(&z);
    if (answer == Z_STREAM_END) {
        in.size = consumed;
        if (inflate_push(&in, produced, gather, &used) < 0 || used != produced ||
            memcmp(ours, theirs, used) != 0)
            abort();
    } else if (answer == Z_DATA_ERROR || (answer == Z_BUF_ERROR && z.avail_out > 0)) {
        /* Broken or truncated: no size makes it valid. */
        if (inflate_push(&in, produced, gather, &used) >= 0)
            abort();
    }
    return 0;
}
