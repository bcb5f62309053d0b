/* Numbers that kernels get once per step: dropout's threshold and Adam's corrections, in double
 * precision as in torch. */
#include "cpu/simd.h"

#include <math.h>

struct dropout dropout_rule(float p, uint64_t seed, uint32_t step, uint32_t op)
{
    struct dropout d = {.seed = seed, .step = step, .op = op, .bits = 1};
    while (d.bits < 16 && fmodf(p * (float)(1u << d.bits), 1) != 0)
        d.bits *= 2;
    d.threshold = (uint32_t)lrintf(p * (float)(1u << d.bits));
    d.scale = (float)(1 / (1 - (double)p));
    return d;
}

struct adam adam_rule(double lr, double beta1, double beta2, double eps, double weight_decay,
                      int64_t t)
{
    return (struct adam){
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .one_minus_beta1 = (float)(1 - beta1),
        .one_minus_beta2 = (float)(1 - beta2),
        .weight_decay = (float)weight_decay,
        .eps = (float)eps,
        .step_size = (float)(lr / (1 - pow(beta1, (double)t))),
        .root_factor = (float)(1 / sqrt(1 - pow(beta2, (double)t))),
    };
}
