/* Functions of single elements, each with its derivative. */
#include "reference/kernels.h"

#include <math.h>

/* FUNCTION(name, f(x), f'(x)); a and b are attributes. At a kink the derivative is that of one
 * side; 0 for abs. */
#define FUNCTION(name, value, derivative)                                                     \
    static double value_##name(double x, double a, double b)                                  \
    {                                                                                         \
        (void)a, (void)b;                                                                     \
        return value;                                                                         \
    }                                                                                         \
    static double slope_##name(double x, double a, double b)                                  \
    {                                                                                         \
        (void)x, (void)a, (void)b;                                                            \
        return derivative;                                                                    \
    }                                                                                         \
    LOOP(name)                                                                                \
    {                                                                                         \
        EACH (r, c)                                                                           \
            OUT(r, c) = (float)value_##name(X(r, c), (double)in->attr.a, (double)in->attr.b); \
    }

static double logistic(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

FUNCTION(relu, x > 0 ? x : 0, x > 0 ? 1 : 0)
FUNCTION(leaky_relu, x > 0 ? x : a * x, x > 0 ? 1 : a)
FUNCTION(elu, x > 0 ? x : expm1(x), x > 0 ? 1 : exp(x))
FUNCTION(tanh, tanh(x), 1 - tanh(x) * tanh(x))
FUNCTION(sigmoid, logistic(x), logistic(x) * logistic(-x))
FUNCTION(log_sigmoid, fmin(x, 0) - log1p(exp(-fabs(x))), logistic(-x))
FUNCTION(exp, exp(x), exp(x))
FUNCTION(log, log(fmax(x, a)), x > a ? 1 / x : 0)
FUNCTION(square, (x) * (x), 2 * x)
FUNCTION(abs, fabs(x), x > 0 ? 1 : x < 0 ? -1 : 0)
FUNCTION(clamp, fmin(fmax(x, a), b), x >= a && x <= b ? 1 : 0)

typedef double slope_fn(double x, double a, double b);

static slope_fn *slope_of(enum op function)
{
    switch (function) {
    case OP_RELU: return slope_relu;
    case OP_LEAKY_RELU: return slope_leaky_relu;
    case OP_ELU: return slope_elu;
    case OP_TANH: return slope_tanh;
    case OP_SIGMOID: return slope_sigmoid;
    case OP_LOG_SIGMOID: return slope_log_sigmoid;
    case OP_EXP: return slope_exp;
    case OP_LOG: return slope_log;
    case OP_SQUARE: return slope_square;
    case OP_ABS: return slope_abs;
    default: return slope_clamp;
    }
}

/* g∘f'(x); the third source, y = f(x), is for backends that compute f' from it */
LOOP(unary_grad)
{
    slope_fn *slope = slope_of(in->attr.function);
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) * slope(Y(r, c), (double)in->attr.a, (double)in->attr.b));
}

LOOP(dropout)
{
    EACH (r, c)
        OUT(r, c) = (float)(X(r, c) * dropout_factor(in, step, r, c));
}
