/* Functions of single elements. A partial vector at the end of a range uses the same vector
 * arithmetic, so an element's bits do not depend on where a range ends. */
#include "cpu/simd/vmath.h"

/* out[i] = expression of a = x[i] (and b = z[i]) for i in [from, to) */
#define MAP1(out, x, expression)                          \
    do {                                                  \
        int64_t i = from;                                 \
        for (; i + LANES <= to; i += LANES) {             \
            const vf a = v_load((x) + i);                 \
            v_store((out) + i, expression);               \
        }                                                 \
        if (i < to) {                                     \
            const vf a = v_load_part((x) + i, to - i, 1); \
            v_store_part((out) + i, expression, to - i);  \
        }                                                 \
    } while (0)

#define MAP2(out, x, z, expression)                       \
    do {                                                  \
        int64_t i = from;                                 \
        for (; i + LANES <= to; i += LANES) {             \
            const vf a = v_load((x) + i);                 \
            const vf b = v_load((z) + i);                 \
            v_store((out) + i, expression);               \
        }                                                 \
        if (i < to) {                                     \
            const vf a = v_load_part((x) + i, to - i, 1); \
            const vf b = v_load_part((z) + i, to - i, 1); \
            v_store_part((out) + i, expression, to - i);  \
        }                                                 \
    } while (0)

void SIMD(fill)(float *y, float value, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        y[i] = value;
}

void SIMD(scale)(float *y, float factor, const float *x, int64_t from, int64_t to)
{
    MAP1(y, x, v_set(factor) * a);
}

void SIMD(axpby)(float *y, float alpha, const float *x, float beta, const float *z, int64_t from,
                 int64_t to)
{
    const vf va = v_set(alpha), vb = v_set(beta);
    MAP2(y, x, z, v_fma(va, a, vb * b));
}

void SIMD(mul)(float *y, const float *x, const float *z, int64_t from, int64_t to)
{
    MAP2(y, x, z, a * b);
}

void SIMD(square_diff)(float *y, const float *x, const float *z, int64_t from, int64_t to)
{
    MAP2(y, x, z, (a - b) * (a - b));
}

void SIMD(unary)(enum unary op, float *y, const float *x, float param, int64_t from, int64_t to)
{
    const vf p = v_set(param), zero = v_set(0);
    switch (op) {
    case UNARY_RELU: MAP1(y, x, v_relu(a)); break;
    case UNARY_LEAKY_RELU: MAP1(y, x, v_select(a < zero, p * a, a)); break;
    case UNARY_ELU: MAP1(y, x, v_select(a <= zero, p * v_expm1(a), a)); break;
    case UNARY_TANH: MAP1(y, x, v_tanh(a)); break;
    case UNARY_SIGMOID: MAP1(y, x, v_sigmoid(a)); break;
    case UNARY_LOG_SIGMOID: MAP1(y, x, v_log_sigmoid(a)); break;
    case UNARY_EXP: MAP1(y, x, v_exp(a)); break;
    case UNARY_ABS: MAP1(y, x, v_abs(a)); break;
    case UNARY_SQUARE: MAP1(y, x, a * a); break;
    }
}

/* a is the incoming gradient, b the saved array: the output, or the input if the derivative is
 * exact only from it. */
void SIMD(unary_grad)(enum unary op, float *gx, const float *g, const float *saved, float param,
                      int64_t from, int64_t to)
{
    const vf p = v_set(param), zero = v_set(0), one = v_set(1);
    switch (op) {
    case UNARY_RELU: MAP2(gx, g, saved, v_and(b > zero, a)); break;
    case UNARY_LEAKY_RELU: MAP2(gx, g, saved, v_select(b > zero, a, p * a)); break;
    case UNARY_ELU: MAP2(gx, g, saved, v_select(b > zero, a, a * (b + p))); break;
    case UNARY_TANH: MAP2(gx, g, saved, a * (one - b * b)); break;
    case UNARY_SIGMOID: MAP2(gx, g, saved, a * (b * (one - b))); break;
    case UNARY_LOG_SIGMOID: MAP2(gx, g, saved, a * v_sigmoid(-b)); break;
    case UNARY_EXP: MAP2(gx, g, saved, a * b); break;
    case UNARY_ABS: MAP2(gx, g, saved, v_select(b > zero, a, v_and(b < zero, -a))); break;
    case UNARY_SQUARE: MAP2(gx, g, saved, a * (b + b)); break;
    }
}

/* m = b1 m + (1-b1) g, v = b2 v + (1-b2) g², w -= step m / (sqrt(v) root + eps) */
void SIMD(adam)(float *w, float *m, float *v, const float *g, const struct adam *rule, int64_t from,
                int64_t to)
{
    const vf beta1 = v_set(rule->beta1), beta2 = v_set(rule->beta2), eps = v_set(rule->eps);
    const vf rest1 = v_set(rule->one_minus_beta1), rest2 = v_set(rule->one_minus_beta2);
    const vf decay = v_set(rule->weight_decay), step = v_set(-rule->step_size);
    const vf root = v_set(rule->root_factor);
    for (int64_t i = from; i < to; i += LANES) {
        const int64_t left = to - i;
        const bool whole = left >= LANES;
        vf wi = whole ? v_load(w + i) : v_load_part(w + i, left, 0);
        vf mi = whole ? v_load(m + i) : v_load_part(m + i, left, 0);
        vf vi_ = whole ? v_load(v + i) : v_load_part(v + i, left, 0);
        vf gi = whole ? v_load(g + i) : v_load_part(g + i, left, 0);
        gi = v_fma(decay, wi, gi);
        mi = v_fma(rest1, gi, beta1 * mi);
        vi_ = v_fma(rest2 * gi, gi, beta2 * vi_);
        wi = v_fma(step, mi / v_fma(v_sqrt(vi_), root, eps), wi);
        if (whole) {
            v_store(w + i, wi);
            v_store(m + i, mi);
            v_store(v + i, vi_);
        } else {
            v_store_part(w + i, wi, left);
            v_store_part(m + i, mi, left);
            v_store_part(v + i, vi_, left);
        }
    }
}
