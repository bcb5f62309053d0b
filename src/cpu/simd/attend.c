/* Attention in one walk over a row's entries: scores of the two ends, softmax (or a gate), dropout
 * and the weighted sum; and the walk over columns for its gradient. */

/* Weights exist for a piece of a few hundred entries at a time, in the first-level cache, and are
 * computed again in the backward pass. Several short rows form one piece; a long row is cut into
 * several, always at the same places, so that the division among threads changes nothing. */
#include "cpu/simd/spmm.h"
#include "cpu/simd/vmath.h"

enum { PIECE = 2048, PIECE_ROWS = 256 }; /* numbers, entries times heads; rows */

struct piece {
    struct sparse part; /* its rows; starts count from its first entry */
    int64_t start[PIECE_ROWS + 1];
    int64_t row, rows;      /* the first, and how many */
    int64_t entry, entries; /* likewise */
    bool opens, closes;     /* contains the start of its rows, and their end */
    int64_t next, within;   /* start of the next piece: a row, and the entry within it */
};

/* Moves to the next piece; false after the last. A new one starts at row `next`. */
static bool next_piece(struct piece *p, const struct sparse *a, int64_t heads, int64_t to)
{
    const int64_t room = PIECE / heads, most = room < PIECE_ROWS ? room : PIECE_ROWS;
    if (p->next >= to)
        return false;
    const int64_t first = a->start[p->next], count = a->start[p->next + 1] - first;
    p->row = p->next;
    p->entry = first + p->within;
    p->opens = p->within == 0;
    p->rows = 0;
    p->start[0] = 0;
    if (count > room) {
        const int64_t left = count - p->within;
        p->start[++p->rows] = left < room ? left : room;
        p->within += p->start[1];
        p->closes = p->within == count;
        if (p->closes) {
            p->next++;
            p->within = 0;
        }
    } else {
        while (p->next < to && p->rows < most && a->start[p->next + 1] - first <= room)
            p->start[++p->rows] = a->start[++p->next] - first;
        p->closes = true;
    }
    p->entries = p->start[p->rows];
    p->part = (struct sparse){p->start, a->col + p->entry, NULL, NULL};
    return true;
}

/* y = A(w) x for the rows of a piece, added to what earlier pieces of a row computed. */
static void piece_product(float *y, const struct piece *p, const float *w, const float *x,
                          const struct attention *t)
{
    struct sparse a = p->part;
    float *rows = y + p->row * t->heads * t->dim;
    const struct epilogue more = {.scale = 1, .add = rows, .add_scale = 1};
    a.val = w;
    SIMD(spmm_heads)(rows, &a, x, t->heads, t->dim, p->opens ? NULL : &more, 0, p->rows);
}

/* Zeros up to the next full vector, so that loops need no tail. */
INLINE void fill_up(float *e, int64_t count)
{
    for (; count % LANES != 0; count++)
        e[count] = 0;
}

/* ---- over the entries of a row, for every head --------------------------- */

INLINE v4 v4_larger(v4 a, v4 b)
{
#if defined(__aarch64__)
    return (v4)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
#elif defined(__x86_64__)
    return (v4)_mm_max_ps((__m128)a, (__m128)b);
#else
    const __typeof__(a > b) more = a > b;
    return (v4)((more & (__typeof__(more))a) | (~more & (__typeof__(more))b));
#endif
}

/* slope·p where the score e is below zero, else p */
INLINE v4 v4_bent(v4 e, v4 p, float slope)
{
    const __typeof__(e < e) below = e < v4_set(0);
    const v4 scaled = p * v4_set(slope);
    return (v4)((below & (__typeof__(below))scaled) | (~below & (__typeof__(below))p));
}
INLINE vf v_bent(vf e, vf p, float slope)
{
    return v_select(e < v_set(0), p * v_set(slope), p);
}

/* best = max(best, e_k) over count entries */
static void row_largest(float *best, const float *e, int64_t count, int64_t heads)
{
    int64_t h = 0;
    for (; h + 8 <= heads; h += 8) {
        v4 low = v4_load(best + h), high = v4_load(best + h + 4);
        for (int64_t k = h; k < count * heads; k += heads) {
            low = v4_larger(v4_load(e + k), low);
            high = v4_larger(v4_load(e + k + 4), high);
        }
        v4_store(best + h, low);
        v4_store(best + h + 4, high);
    }
    for (; h < heads; h++) {
        int64_t k = 0;
        if (heads == 1 && count >= LANES) {
            vf v = v_load(e);
            for (k = LANES; k + LANES <= count; k += LANES)
                v = v_max(v_load(e + k), v);
            const float found = v_largest(v);
            best[h] = found > best[h] ? found : best[h];
        }
        for (; k < count; k++)
            best[h] = e[k * heads + h] > best[h] ? e[k * heads + h] : best[h];
    }
}

/* y_k = e_k - shift */
static void row_shift(float *y, const float *e, const float *shift, int64_t count, int64_t heads)
{
    int64_t h = 0;
    for (; h + 8 <= heads; h += 8) {
        const v4 low = v4_load(shift + h), high = v4_load(shift + h + 4);
        for (int64_t k = h; k < count * heads; k += heads) {
            v4_store(y + k, v4_load(e + k) - low);
            v4_store(y + k + 4, v4_load(e + k + 4) - high);
        }
    }
    for (; h < heads; h++) {
        int64_t k = 0;
        for (; heads == 1 && k + LANES <= count; k += LANES)
            v_store(y + k, v_load(e + k) - v_set(*shift));
        for (; k < count; k++)
            y[k * heads + h] = e[k * heads + h] - shift[h];
    }
}

/* total += Σ p_k,  bent += Σ slope_k p_k */
static void row_totals(float *total, float *bent, const float *e, const float *p, float slope,
                       int64_t count, int64_t heads)
{
    int64_t h = 0;
    for (; h + 8 <= heads; h += 8) {
        v4 low = v4_load(total + h), high = v4_load(total + h + 4);
        v4 low_bent = v4_load(bent + h), high_bent = v4_load(bent + h + 4);
        for (int64_t k = h; k < count * heads; k += heads) {
            const v4 left = v4_load(p + k), right = v4_load(p + k + 4);
            low = low + left;
            high = high + right;
            low_bent = low_bent + v4_bent(v4_load(e + k), left, slope);
            high_bent = high_bent + v4_bent(v4_load(e + k + 4), right, slope);
        }
        v4_store(total + h, low);
        v4_store(total + h + 4, high);
        v4_store(bent + h, low_bent);
        v4_store(bent + h + 4, high_bent);
    }
    for (; h < heads; h++) {
        int64_t k = 0;
        if (heads == 1 && count >= LANES) {
            vf sum = v_set(0), slopes = sum;
            for (; k + LANES <= count; k += LANES) {
                sum = sum + v_load(p + k);
                slopes = slopes + v_bent(v_load(e + k), v_load(p + k), slope);
            }
            *total += v_sum(sum);
            *bent += v_sum(slopes);
        }
        for (; k < count; k++) {
            const float power = p[k * heads + h];
            total[h] += power;
            bent[h] += e[k * heads + h] < 0 ? power * slope : power;
        }
    }
}

/* ---- forwards ------------------------------------------------------------ */

/* For every row of a piece and head: the largest score, Σ exp(score - largest), Σ of the same times
 * the score's slope. */
struct row_sums {
    float largest[PIECE], total[PIECE], bent[PIECE];
};

/* The largest scores of the rows of a piece; of a long row all its pieces together. */
static void piece_largest(struct row_sums *s, float *e, const struct piece *p,
                          const struct attention *t, const struct sparse *a, const float *left,
                          const float *right)
{
    const int64_t heads = t->heads, room = PIECE / heads;
    for (int64_t i = 0; i < p->rows * heads; i++) {
        s->largest[i] = -INFINITY;
        s->total[i] = s->bent[i] = 0;
    }
    for (int64_t r = 0; p->closes && r < p->rows; r++)
        row_largest(s->largest + r * heads, e + p->start[r] * heads, p->start[r + 1] - p->start[r],
                    heads);
    if (p->closes)
        return;
    float other[PIECE];
    for (int64_t k = a->start[p->row]; k < a->start[p->row + 1]; k += room) {
        const int64_t left_over = a->start[p->row + 1] - k;
        const int64_t start[2] = {0, left_over < room ? left_over : room};
        const struct sparse part = {start, a->col + k, NULL, NULL};
        SIMD(edge_add)(other, &part, left + p->row * heads, right, heads, t->slope, 0, 1);
        row_largest(s->largest, other, start[1], heads);
    }
}

/* w = exp(score - largest), and the row sums. */
static void piece_softmax(struct row_sums *s, float *w, float *e, const struct piece *p,
                          const struct attention *t, const struct sparse *a, const float *left,
                          const float *right)
{
    const int64_t heads = t->heads, cells = p->entries * heads;
    if (p->opens)
        piece_largest(s, e, p, t, a, left, right);
    for (int64_t r = 0; r < p->rows; r++)
        row_shift(w + p->start[r] * heads, e + p->start[r] * heads, s->largest + r * heads,
                  p->start[r + 1] - p->start[r], heads);
    fill_up(w, cells);
    for (int64_t i = 0; i < cells; i += LANES)
        v_store(w + i, v_exp_negative(v_load(w + i)));
    for (int64_t r = 0; r < p->rows; r++)
        row_totals(s->total + r * heads, s->bent + r * heads, e + p->start[r] * heads,
                   w + p->start[r] * heads, t->slope, p->start[r + 1] - p->start[r], heads);
}

/* One row times its heads' shares. */
INLINE void partition(float *y, const float *share, int64_t heads, int64_t dim)
{
    for (int64_t h = 0; h < heads; h++, y += dim) {
        const v4 factor = v4_set(share[h]);
        int64_t c = 0;
        for (; c + 4 <= dim; c += 4)
            v4_store(y + c, v4_load(y + c) * factor);
        for (; c < dim; c++)
            y[c] *= share[h];
    }
}

/* Divides the rows of a piece by their sums, and stores the sums. */
static void piece_finish(float *y, float *bent, float *totals, const struct piece *p,
                         struct row_sums *s, const struct attention *t)
{
    const int64_t heads = t->heads, width = heads * t->dim, count = p->rows * heads;
    float *const padded[] = {s->total, s->largest, s->bent};
    for (int i = 0; i < 3; i++)
        fill_up(padded[i], count);
    for (int64_t i = 0; i < count; i += LANES) { /* an empty row has zeros */
        const vf sum = v_load(s->total + i), share = v_and(sum > v_set(0), v_set(1) / sum);
        v_store(s->total + i, share);
        if (!totals)
            continue;
        v_store(s->largest + i, v_and(sum > v_set(0), v_load(s->largest + i) + v_log(sum)));
        v_store(s->bent + i, v_load(s->bent + i) * share);
    }
    for (int64_t r = 0; r < p->rows; r++) {
        partition(y + (p->row + r) * width, s->total + r * heads, heads, t->dim);
        if (!totals)
            continue;
        partition(bent + (p->row + r) * width, s->total + r * heads, heads, t->dim);
        float *out = totals + (p->row + r) * 2 * heads;
        memcpy(out, s->largest + r * heads, (size_t)heads * sizeof *out);
        memcpy(out + heads, s->bent + r * heads, (size_t)heads * sizeof *out);
    }
}

/* e = the derivatives of the weights, w = the weights of a gate: tanh(e)·S of one head */
static void piece_gate(float *e, float *w, const struct piece *p, const float *values)
{
    fill_up(e, p->entries);
    for (int64_t i = 0; i < p->entries; i += LANES) {
        const vf v = i + LANES <= p->entries
                         ? v_load(values + p->entry + i)
                         : v_load_part(values + p->entry + i, p->entries - i, 0);
        const vf gate = v_tanh(v_load(e + i));
        v_store(w + i, v * gate);
        v_store(e + i, v * v_fma(-gate, gate, v_set(1)));
    }
}

void SIMD(attend)(float *y, float *bent, float *totals, const struct attention *t,
                  const struct sparse *a, const float *left, const float *right, const float *z,
                  int64_t from, int64_t to)
{
    float e[PIECE], w[PIECE];
    struct row_sums s;
    struct piece p = {.next = from};
    const int64_t heads = t->heads;
    while (next_piece(&p, a, heads, to)) {
        const int64_t cells = p.entries * heads;
        SIMD(edge_add)(e, &p.part, left + p.row * heads, right, heads, t->slope, 0, p.rows);
        if (t->gate)
            piece_gate(e, w, &p, a->val);
        else
            piece_softmax(&s, w, e, &p, t, a, left, right);
        struct dropout drop = t->drop ? *t->drop : (struct dropout){0};
        drop.shift = p.entry * heads;
        if (t->drop)
            SIMD(dropout)(w, w, &drop, 0, cells);
        piece_product(y, &p, w, z, t);
        if (bent) {
            fill_up(e, cells);
            if (t->gate && t->drop)
                SIMD(dropout)(e, e, &drop, 0, cells);
            for (int64_t i = 0; !t->gate && i < cells; i += LANES)
                v_store(e + i, v_bent(v_load(e + i), v_load(w + i), t->slope));
            piece_product(bent, &p, e, z, t);
        }
        if (!t->gate && p.closes)
            piece_finish(y, bent, totals, &p, &s, t);
    }
}

/* ---- backwards, over columns --------------------------------------------- */

/* Values of a piece's entries: e the score, w score - log Σ exp, along ⟨g, result⟩ of their rows.
 */
static void piece_scores(float *e, float *w, float *along, const struct piece *p,
                         const struct attention *t, const float *packed, const float *right)
{
    const int64_t heads = t->heads;
    for (int64_t r = 0; r < p->rows; r++) {
        const float *own = right + (p->row + r) * heads;
        for (int64_t k = p->start[r]; k < p->start[r + 1]; k++) {
            const float *row = packed + p->part.col[k] * 3 * heads;
            if (k + SPMM_AHEAD < p->entries)
                v_prefetch(packed + p->part.col[k + SPMM_AHEAD] * 3 * heads, 3 * heads);
            int64_t h = 0;
            for (; h + 4 <= heads; h += 4) {
                const v4 sum = v4_load(row + h) + v4_load(own + h);
                const v4 score = v4_bent(sum, sum, t->slope);
                v4_store(e + k * heads + h, score);
                v4_store(w + k * heads + h, score - v4_load(row + heads + h));
                v4_store(along + k * heads + h, v4_load(row + 2 * heads + h));
            }
            for (; h < heads; h++) {
                const float sum = row[h] + own[h], score = sum < 0 ? sum * t->slope : sum;
                e[k * heads + h] = score;
                w[k * heads + h] = score - row[heads + h];
                along[k * heads + h] = row[2 * heads + h];
            }
        }
    }
}

/* The numbers of a piece of columns: scores, weights, kept weights, dot products. */
struct column_cells {
    float e[PIECE], w[PIECE], along[PIECE], keep[PIECE], dot[PIECE];
};

/* w becomes the weights, dot the gradients of the scores. */
static void piece_slopes(struct column_cells *c, int64_t cells, const struct attention *t)
{
    for (int64_t i = 0; i < cells; i += LANES) {
        const vf e = v_load(c->e + i), keep = v_load(c->keep + i), dot = v_load(c->dot + i);
        if (t->gate) { /* along holds S */
            const vf gate = v_tanh(e), v = v_load(c->along + i) * keep;
            v_store(c->w + i, v * gate);
            v_store(c->dot + i, v * v_fma(-gate, gate, v_set(1)) * dot);
            continue;
        }
        const vf power = v_exp_negative(v_load(c->w + i)), w = power * keep;
        v_store(c->w + i, w);
        v_store(c->dot + i, v_bent(e, w * dot - power * v_load(c->along + i), t->slope));
    }
}

void SIMD(attend_columns)(float *gz, float *gright, const struct attention *t,
                          const struct sparse *a, const float *packed, const float *right,
                          const float *z, const float *g, int64_t from, int64_t to)
{
    struct column_cells c;
    float sums[PIECE];
    struct piece p = {.next = from};
    const int64_t heads = t->heads, width = heads * t->dim;
    while (next_piece(&p, a, heads, to)) {
        const int64_t cells = p.entries * heads;
        piece_scores(c.e, c.w, c.along, &p, t, packed, right);
        for (int64_t k = 0; t->gate && k < p.entries; k++)
            c.along[k] = a->val[p.entry + k];
        if (t->drop)
            SIMD(dropout_lookup)(c.keep, t->drop, a->index + p.entry, p.entries, heads);
        else
            SIMD(fill)(c.keep, 1, 0, cells);
        SIMD(sddmm)(c.dot, &p.part, z + p.row * width, g, heads, t->dim, 0, p.rows);
        float *const padded[] = {c.e, c.w, c.along, c.keep, c.dot};
        for (int i = 0; i < 5; i++)
            fill_up(padded[i], cells);
        piece_slopes(&c, cells, t);
        piece_product(gz, &p, c.w, g, t);
        if (!gright)
            continue;
        float *out = gright + p.row * heads;
        SIMD(edge_row_sum)(p.opens ? out : sums, &p.part, c.dot, heads, 0, p.rows);
        for (int64_t i = 0; !p.opens && i < heads; i++)
            out[i] += sums[i];
    }
}
