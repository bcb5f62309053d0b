/* Other messages between processes that divide rows: sums and failures. */
#include "graph/partition.h"

#include <string.h>

/* Two steps: each process adds up a range of the elements, then sends it to all. */
consm_status partition_sum(int64_t *sum, int64_t count, const struct partition *partition)
{
    consm_status st = CONSM_OK;
    if (!partition)
        return CONSM_OK;
    int64_t parts = partition->parts, *send = NULL, *got, *all = NULL;
    void *came = NULL, *sums = NULL;
    TRY(NEW(send, 2 * (parts + 1)));
    got = send + parts + 1;
    for (int64_t p = 0; p <= parts; p++)
        send[p] = count * p / parts;
    TRY(partition->swap(&came, got, sum, send, sizeof *sum));
    int64_t width = got[1] - got[0];   /* of this process's range, as every process sent it */
    TRY(ZNEW(all, parts * width + 1)); /* the sums, one copy per process */
    for (int64_t p = 0; p < parts; p++)
        for (int64_t c = 0; c < width; c++)
            all[c] += ((const int64_t *)came)[p * width + c];
    mem_free(came);
    came = NULL;
    for (int64_t p = 0; p <= parts; p++) {
        if (p > 0 && p < parts)
            memcpy(all + p * width, all, (size_t)width * sizeof *all);
        send[p] = p * width;
    }
    TRY(partition->swap(&sums, got, all, send, sizeof *all));
    memcpy(sum, sums, (size_t)count * sizeof *sum);
done:
    mem_free(send);
    mem_free(all);
    mem_free(came);
    mem_free(sums);
    return st;
}

/* Sends the same bytes to processes low … high-1; *out and got: what each of them sent here. */
static consm_status tell(void **out, int64_t *got, const void *bytes, int64_t count, int low,
                         int high, const struct partition *partition)
{
    consm_status st = CONSM_OK;
    int64_t parts = partition->parts, *send = NULL;
    char *copies = NULL;
    *out = NULL;
    TRY(ZNEW(send, parts + 1));
    for (int p = 0; p < parts; p++)
        send[p + 1] = send[p] + (p >= low && p < high ? count : 0);
    TRY(NEW(copies, send[parts] + 1));
    for (int p = 0; p < parts; p++)
        if (send[p + 1] > send[p])
            memcpy(copies + send[p], bytes, (size_t)count);
    TRY(partition->swap(out, got, copies, send, 1));
done:
    mem_free(send);
    mem_free(copies);
    return st;
}

consm_status partition_tell(void **out, int64_t *got, const void *bytes, int64_t count,
                            const struct partition *partition)
{
    return tell(out, got, bytes, count, 0, partition->parts, partition);
}

consm_status partition_of_lengths(struct csr **out, const struct partition *partition,
                                  int64_t *start, int64_t rows, int64_t cols, bool weighted)
{
    consm_status st = CONSM_OK;
    *out = NULL;
    TRY(partition_sum(start, rows + 1, partition));
    for (int64_t r = 0; r < rows; r++)
        start[r + 1] += start[r];
    TRY(partition_csr(out, partition, rows, cols, start[rows], weighted));
    mem_free((*out)->start);
    (*out)->start = start;
    start = NULL;
done:
    mem_free(start);
    return st;
}

consm_status partition_hand_on(double *sum, int64_t count, const struct partition *partition,
                               int turn)
{
    consm_status st = CONSM_OK;
    if (!partition)
        return CONSM_OK;
    bool mine = turn == partition->part, last = turn == partition->parts - 1;
    int64_t bytes = count * (int64_t)sizeof *sum, *got = NULL;
    void *next = NULL;
    TRY(NEW(got, partition->parts + 1));
    TRY(tell(&next, got, sum, mine ? bytes : 0, last ? 0 : turn + 1, last ? turn : turn + 2,
             partition));
    if (got[partition->parts] == bytes)
        memcpy(sum, next, (size_t)bytes);
done:
    mem_free(got);
    mem_free(next);
    return st;
}

struct failure {
    int64_t place;
    int32_t status, part;
};

/* The failure with the smallest place, or one with CONSM_OK. */
static consm_status first_failure(struct failure *out, const struct partition *partition,
                                  consm_status mine, int64_t place)
{
    consm_status st = CONSM_OK;
    struct failure own = {place, mine, partition->part}, one;
    void *all = NULL;
    int64_t *got = NULL;
    *out = (struct failure){0};
    TRY(NEW(got, partition->parts + 1));
    TRY(partition_tell(&all, got, &own, (int64_t)sizeof own, partition));
    for (int p = 0; p < partition->parts; p++) {
        memcpy(&one, (const char *)all + (size_t)p * sizeof one, sizeof one);
        if (one.status < 0 && (out->status >= 0 || one.place < out->place))
            *out = one;
    }
done:
    mem_free(got);
    mem_free(all);
    return st;
}

consm_status partition_status(const struct partition *partition, consm_status mine, int64_t place)
{
    consm_status st = CONSM_OK;
    struct failure first;
    char *text = NULL;
    void *said = NULL;
    int64_t *got = NULL;
    TRY(NEW(got, partition->parts + 1));
    TRY(first_failure(&first, partition, mine, place));
    if (first.status >= 0)
        goto done;
    bool own = first.part == partition->part;
    const char *words = consm_errmsg();
    TRY(partition_tell(&said, got, words, own ? (int64_t)strlen(words) : 0, partition));
    text = mem_strndup(said, (size_t)got[partition->parts]);
    if (!text)
        TRY(CONSM_ENOMEM);
    st = status_fail_lines((consm_status)first.status, text);
done:
    mem_free(got);
    mem_free(said);
    mem_free(text);
    return st;
}

consm_status partition_same(const struct partition *partition, const char *what, const char *text)
{
    consm_status st = CONSM_OK;
    uint64_t sum = 0xcbf29ce484222325u, other; /* FNV-1a */
    void *sums = NULL;
    int64_t *got = NULL;
    TRY(NEW(got, partition->parts + 1));
    for (const char *c = text; *c; c++)
        sum = (sum ^ (unsigned char)*c) * 0x100000001b3u;
    TRY(partition_tell(&sums, got, &sum, (int64_t)sizeof sum, partition));
    memcpy(&sum, sums, sizeof sum);
    for (int p = 1; p < partition->parts; p++) {
        memcpy(&other, (const char *)sums + (size_t)p * sizeof other, sizeof other);
        if (other != sum)
            TRY(status_fail(CONSM_EINVAL,
                            "the ranks disagree: rank %d differs from rank 0 in its %s", p, what));
    }
done:
    mem_free(got);
    mem_free(sums);
    return st;
}
