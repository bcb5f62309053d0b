/* One strip of columns of y = A x: included once per number of vectors N in the strip. */

/*
 *   ROWS_NAME  the function to define
 *   ROWS_HEAD  N - 1; vectors 0 … N-2 lie side by side from the strip's first column
 *   ROWS_V, ROWS_LANES, ROWS_DO(f)  the vector type, its lanes, and the prefix of its operations
 *
 * `then` is the first column of the next strip of the same rows; 0 if other rows follow. The last
 * vector begins at `last`, so that it ends with the matrix row and may overlap its predecessor:
 * both compute the same bits, and no width needs a slow tail.
 */

#define SPMM_DECLARE(i) ROWS_V a##i = zero;
#define SPMM_CARRY(i)   a##i = ROWS_DO(load)(y + (i)*ROWS_LANES);
#define SPMM_ADD(i)     a##i = a##i + ROWS_DO(load)(from_x + (i)*ROWS_LANES);
#define SPMM_FMA(i)     a##i = ROWS_DO(fma)(w, ROWS_DO(load)(from_x + (i)*ROWS_LANES), a##i);
#define SPMM_SCALE(i)   a##i = a##i * factor;
#define SPMM_PLUS(i)    a##i = ROWS_DO(fma)(factor, ROWS_DO(load)(row + (i)*ROWS_LANES), a##i);
#define SPMM_BIAS(i)    a##i = a##i + ROWS_DO(load)(bias + (i)*ROWS_LANES);
#define SPMM_RELU(i)    a##i = ROWS_DO(relu)(a##i);
#define SPMM_STORE(i)   ROWS_DO(store)(y + (i)*ROWS_LANES, a##i);
#define SPMM_EACH(M)    REPEAT(ROWS_HEAD, M)

/* The rows of x come in an unpredictable order: prefetching a few entries ahead makes products two
 * to three times as fast. */
#define SPMM_FETCH(row, level)                                                    \
    for (int c = 0; c <= ROWS_HEAD * ROWS_LANES; c += 16)                         \
        __builtin_prefetch((row) + c, 0, level);                                  \
    if (stride % 16) /* rows start anywhere in a cache line and touch one more */ \
        __builtin_prefetch((row) + behind + ROWS_LANES - 1, 0, level);

/* If x is far larger than the caches, an earlier prefetch into the second-level cache helps again:
 * it can wait for more lines at a time. (For a row of one line it is enough.) Every miss counts
 * there, so after the last entry the next strip or group is prefetched. */
#define SPMM_FAR_ROW(distance)                                                        \
    (k + (distance) < all             ? x + col[k + (distance)] * stride              \
     : k + (distance) + shift < limit ? then_x + col[k + (distance) + shift] * stride \
                                      : x)
#define SPMM_PREFETCH                                                                         \
    if (reach != SPMM_NEAR) {                                                                 \
        if (reach == SPMM_FAR) {                                                              \
            const float *early = SPMM_FAR_ROW(SPMM_EARLY);                                    \
            SPMM_FETCH(early, 2)                                                              \
            if (ROWS_HEAD * ROWS_LANES >= 16) {                                               \
                const float *ahead = SPMM_FAR_ROW(SPMM_AHEAD);                                \
                SPMM_FETCH(ahead, 3)                                                          \
            }                                                                                 \
        } else {                                                                              \
            const float *ahead = x + col[k + SPMM_AHEAD < all ? k + SPMM_AHEAD : k] * stride; \
            SPMM_FETCH(ahead, 3)                                                              \
        }                                                                                     \
    }

#define SPMM_PASTE(a, b) a##b
#define SPMM_BODY(name)  SPMM_PASTE(name, _body)

/* kind, reach and cut are constants where that pays: a short row of a near matrix would take less
 * time than the tests. */
COPIED void SPMM_BODY(ROWS_NAME)(const struct spmm_job *j, int64_t column, int64_t last,
                                 int64_t then, int64_t from, int64_t to, const enum spmm_kind kind,
                                 const enum spmm_reach reach, const bool cut)
{
    const ROWS_V zero = ROWS_DO(set)(0);
    const struct epilogue end = j->end ? *j->end : (struct epilogue){.scale = 1};
    const int64_t *start = j->start, *index = j->index;
    const int32_t *col = j->col;
    const float *val = j->val, *x = j->x + column;
    const int64_t stride = j->stride, behind = last - column, all = start[to];
    const float *then_x = j->x + then;
    const float *add = j->add ? j->add + column : NULL, *bias = j->bias ? j->bias + column : NULL;
    const int64_t shift = then ? start[from] - all : 0, limit = j->limit;
    (void)then_x, (void)shift, (void)limit;
    for (int64_t r = from; r < to; r++) {
        const int64_t stop = start[r + 1];
        float *y = j->y + r * stride + column;
        SPMM_EACH(SPMM_DECLARE)
        ROWS_V z = zero;
        if (end.carry) {
            SPMM_EACH(SPMM_CARRY)
            z = ROWS_DO(load)(y + behind);
        }
        if (kind == SPMM_ONES) {
            for (int64_t k = start[r]; k < stop; k++) {
                const float *from_x = x + col[k] * stride;
                SPMM_PREFETCH
                SPMM_EACH(SPMM_ADD)
                z = z + ROWS_DO(load)(from_x + behind);
            }
        } else if (kind == SPMM_VALUES) {
            int64_t k = cut ? end.cursor[r] : start[r];
            if (cut) { /* processors cannot predict where the entries of later rows continue */
                const int64_t later = end.cursor[r + SPMM_CUT_AHEAD < to ? r + SPMM_CUT_AHEAD : r];
                __builtin_prefetch(col + later);
                __builtin_prefetch(val + later);
            }
            for (; k < stop && (!cut || col[k] < end.below); k++) {
                const float *from_x = x + col[k] * stride;
                const ROWS_V w = ROWS_DO(set)(val[k]);
                SPMM_PREFETCH
                SPMM_EACH(SPMM_FMA)
                z = ROWS_DO(fma)(w, ROWS_DO(load)(from_x + behind), z);
            }
            if (cut && !then) /* the last strip */
                end.cursor[r] = k;
        } else {
            for (int64_t k = start[r]; k < stop; k++) {
                const float *from_x = x + col[k] * stride;
                const int64_t entry = index ? index[k] : k;
                if (index && k + SPMM_AHEAD < all) /* the values are in another order */
                    __builtin_prefetch(val + index[k + SPMM_AHEAD] * j->val_stride);
                const ROWS_V w = ROWS_DO(set)(val[entry * j->val_stride]);
                SPMM_PREFETCH
                SPMM_EACH(SPMM_FMA)
                z = ROWS_DO(fma)(w, ROWS_DO(load)(from_x + behind), z);
            }
        }
        if (end.scale != 1) {
            const ROWS_V factor = ROWS_DO(set)(end.scale);
            SPMM_EACH(SPMM_SCALE)
            z = z * factor;
        }
        if (add) {
            const float *row = add + r * stride;
            const ROWS_V factor = ROWS_DO(set)(end.add_scale);
            SPMM_EACH(SPMM_PLUS)
            z = ROWS_DO(fma)(factor, ROWS_DO(load)(row + behind), z);
        }
        if (bias) {
            SPMM_EACH(SPMM_BIAS)
            z = z + ROWS_DO(load)(bias + behind);
        }
        if (end.relu) {
            SPMM_EACH(SPMM_RELU)
            z = ROWS_DO(relu)(z);
        }
        SPMM_EACH(SPMM_STORE)
        ROWS_DO(store)(y + behind, z);
    }
}

static void ROWS_NAME(const struct spmm_job *j, int64_t column, int64_t last, int64_t then,
                      int64_t from, int64_t to)
{
    if (j->end && j->end->cursor)
        SPMM_BODY(ROWS_NAME)(j, column, last, then, from, to, SPMM_VALUES, SPMM_NEAR, true);
    else if (ROWS_HEAD < 4 && j->reach == SPMM_NEAR && j->kind == SPMM_VALUES)
        SPMM_BODY(ROWS_NAME)(j, column, last, then, from, to, SPMM_VALUES, SPMM_NEAR, false);
    else
        SPMM_BODY(ROWS_NAME)(j, column, last, then, from, to, j->kind, j->reach, false);
}

#undef SPMM_PASTE
#undef SPMM_BODY
#undef SPMM_DECLARE
#undef SPMM_CARRY
#undef SPMM_ADD
#undef SPMM_FMA
#undef SPMM_SCALE
#undef SPMM_PLUS
#undef SPMM_BIAS
#undef SPMM_RELU
#undef SPMM_STORE
#undef SPMM_EACH
#undef SPMM_FETCH
#undef SPMM_FAR_ROW
#undef SPMM_PREFETCH
#undef ROWS_NAME
#undef ROWS_HEAD
