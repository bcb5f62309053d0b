/* Transposes of CSR matrices, made once and kept with them: O(rows + entries). */
#include "graph/csr.h"

#include "base/order.h"
#include <pthread.h>
#include <string.h>

/* Whether the matrix is its own transpose: walks over the entries as the transpose would be filled,
 * without making it, because a large graph has no memory for a second one. */
static consm_status is_symmetric(bool *out, const struct csr *a)
{
    consm_status st = CONSM_OK;
    int64_t *slot = NULL;
    *out = a->symmetric;
    if (a->symmetric || a->rows != a->cols)
        return CONSM_OK;
    TRY(NEW(slot, a->rows));
    memcpy(slot, a->start, (size_t)a->rows * sizeof *slot);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = a->start[r]; k < a->start[r + 1]; k++) {
            int64_t at = slot[a->col[k]]++;
            if (at >= a->start[a->col[k] + 1] || a->col[at] != (int32_t)r ||
                (a->val && a->val[at] != a->val[k]))
                goto done;
        }
    *out = true;
done:
    mem_free(slot);
    return st;
}

/* Columns whose places in the transpose stay in a core's cache while they are filled. */
enum { BLOCK = 1 << 16 };

/* Filling a transpose. A thread takes some columns of every row, a block at a time, so that entries
 * of a column come in the order of rows whatever the number of threads. */
struct transposing {
    const struct csr *a;
    struct csr *t;   /* gets entries; NULL: it has them, and only `entry` is filled */
    int64_t *slot;   /* (cols) */
    int64_t *entry;  /* (nnz) */
    int64_t *starts; /* (cols+1) of the transpose */
};

/* The first entry of a row from column `low` on. */
static int64_t first_entry(const struct csr *a, int64_t row, int64_t low)
{
    return low > 0 ? order_first(a->col, a->start[row], a->start[row + 1], low) : a->start[row];
}

static void count_columns(const struct transposing *q, int64_t low, int64_t high)
{
    const struct csr *a = q->a;
    memset(q->slot + low, 0, (size_t)(high - low) * sizeof *q->slot);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = first_entry(a, r, low); k < a->start[r + 1] && a->col[k] < high; k++)
            q->slot[a->col[k]]++;
}

static void fill_columns(const struct transposing *q, int64_t low, int64_t high)
{
    const struct csr *a = q->a;
    memcpy(q->slot + low, q->starts + low, (size_t)(high - low) * sizeof *q->slot);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t k = first_entry(a, r, low); k < a->start[r + 1] && a->col[k] < high; k++) {
            int64_t at = q->slot[a->col[k]]++;
            q->entry[at] = k;
            if (!q->t)
                continue;
            q->t->col[at] = (int32_t)r;
            if (a->val)
                q->t->val[at] = a->val[k];
        }
}

static void transposing_worker(void *arg, struct worker who)
{
    const struct transposing *q = arg;
    int64_t low, high;
    team_range(who, q->a->cols, 1, &low, &high);
    if (q->t) {
        for (int64_t c = low; c < high; c += BLOCK)
            count_columns(q, c, high < c + BLOCK ? high : c + BLOCK);
        team_barrier(who);
        if (who.id == 0)
            for (int64_t c = 0; c < q->a->cols; c++)
                q->starts[c + 1] = q->starts[c] + q->slot[c];
        team_barrier(who);
    }
    for (int64_t c = low; c < high; c += BLOCK)
        fill_columns(q, c, high < c + BLOCK ? high : c + BLOCK);
}

static consm_status make_transpose(struct csr *a, struct team *team)
{
    consm_status st = CONSM_OK;
    struct csr *t = NULL;
    int64_t *slot = NULL, *entry = NULL;
    bool symmetric;
    TRY(is_symmetric(&symmetric, a));
    if (symmetric) {
        a->t = a;
        return CONSM_OK;
    }
    TRY(csr_new(&t, a->cols, a->rows, a->nnz, a->val != NULL));
    TRY(NEW(entry, a->nnz));
    TRY(NEW(slot, a->cols));
    team_run_or_alone(team, transposing_worker, &(struct transposing){a, t, slot, entry, t->start});
    a->t_entry = entry; /* only now, when it is complete: not every reader takes the lock */
    entry = NULL;
    a->t = t;
    t = NULL;
done:
    mem_free(slot);
    mem_free(entry);
    csr_free(t);
    return st;
}

/* Finds the entries of an existing transpose, in its order: columns, then rows. */
static consm_status make_entries(struct csr *a, struct team *team)
{
    consm_status st = CONSM_OK;
    int64_t *slot = NULL, *entry = NULL;
    if (a->changes)
        return status_fail(
            CONSM_EPROGRAM,
            "the entries of this sparse matrix change: it cannot have a value per entry");
    if (a->partition)
        return partition_entries(a);
    TRY(NEW(entry, a->nnz));
    TRY(NEW(slot, a->cols));
    team_run_or_alone(team, transposing_worker,
                      &(struct transposing){a, NULL, slot, entry, a->t->start});
    a->t_entry = entry;
    entry = NULL;
done:
    mem_free(slot);
    mem_free(entry);
    return st;
}

/* Parallel runs share matrices; only one thread at a time adds what a matrix lacks. Matrices share
 * a few locks, so that side by side programs transpose matrices of their own. */
#define FOUR(lock) lock, lock, lock, lock
static pthread_mutex_t transpose_locks[] = {
    FOUR(PTHREAD_MUTEX_INITIALIZER), FOUR(PTHREAD_MUTEX_INITIALIZER),
    FOUR(PTHREAD_MUTEX_INITIALIZER), FOUR(PTHREAD_MUTEX_INITIALIZER)};

static pthread_mutex_t *lock_of(const struct csr *a)
{
    return &transpose_locks[a->serial % (sizeof transpose_locks / sizeof *transpose_locks)];
}

consm_status csr_transpose_on(struct csr *a, struct team *team)
{
    pthread_mutex_lock(lock_of(a));
    consm_status st = a->t ? CONSM_OK : make_transpose(a, team);
    pthread_mutex_unlock(lock_of(a));
    return st;
}

consm_status csr_transpose(struct csr *a)
{
    return csr_transpose_on(a, NULL);
}

consm_status csr_transpose_entries_on(struct csr *a, struct team *team)
{
    consm_status st = CONSM_OK;
    pthread_mutex_lock(lock_of(a));
    if (!a->t)
        TRY(make_transpose(a, team));
    if (!a->t_entry)
        TRY(make_entries(a, team));
done:
    pthread_mutex_unlock(lock_of(a));
    return st;
}

consm_status csr_transpose_entries(struct csr *a)
{
    return csr_transpose_entries_on(a, NULL);
}
