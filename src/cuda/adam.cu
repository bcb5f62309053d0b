/* Adam over all trained parameters at once. The corrections of the first steps depend on the step
 * number, which is on the card: β^t is 2^(t log2 β), which is faster than a load. */
#include "cuda/device.cuh"

#include "program/params.h"

/* Trained pieces of the parameter blocks. Padding between parameters belongs to a piece; its
 * gradients and values are zero and stay so. */
enum { PIECES = 32 };
struct pieces {
    int count;
    int64_t from[PIECES], to[PIECES];
};

struct adam_step {
    float *w, *first, *second;
    const float *g;
    struct adam_options o;
    double log2_beta1, log2_beta2;
    const struct step *step;
};

/* torch.optim.Adam with L2 weight decay, t = 1, 2, …
 *   g += wd w;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g²
 *   w -= lr/(1-b1^t) · m/(sqrt(v)/sqrt(1-b2^t) + eps) */
static __global__ void __launch_bounds__(THREADS) adam_kernel(struct adam_step a, struct pieces p)
{
    begin();
    const double t = (double)(a.step->number + 1);
    const float step_size = (float)(a.o.lr / (1 - exp2(t * a.log2_beta1)));
    const float root_factor = (float)(1 / sqrt(1 - exp2(t * a.log2_beta2)));
    const float beta1 = (float)a.o.beta1, rest1 = (float)(1 - a.o.beta1), eps = (float)a.o.eps;
    const float beta2 = (float)a.o.beta2, rest2 = (float)(1 - a.o.beta2);
    const float decay = (float)a.o.weight_decay;
    const int64_t stride = (int64_t)gridDim.x * THREADS * 4;
    for (int i = 0; i < p.count; i++)
        for (int64_t e = p.from[i] + ((int64_t)blockIdx.x * THREADS + threadIdx.x) * 4; e < p.to[i];
             e += stride) {
            vec<4> g = load<4>(a.g + e), w = load<4>(a.w + e);
            vec<4> m = load<4>(a.first + e), v = load<4>(a.second + e);
            for (int k = 0; k < 4; k++) {
                const float d = fmaf(decay, w.v[k], g.v[k]);
                m.v[k] = fmaf(beta1, m.v[k], rest1 * d);
                v.v[k] = fmaf(beta2, v.v[k], rest2 * d * d);
                w.v[k] -= step_size * m.v[k] / fmaf(sqrtf(v.v[k]), root_factor, eps);
            }
            store<4>(a.w + e, w);
            store<4>(a.first + e, m);
            store<4>(a.second + e, v);
        }
}

static void launch_pieces(const struct instr *in, const struct cuda_context *cx,
                          const struct pieces *p)
{
    int64_t longest = 0;
    for (int i = 0; i < p->count; i++)
        longest = p->to[i] - p->from[i] > longest ? p->to[i] - p->from[i] : longest;
    if (longest > 0)
        launch(cx, adam_kernel, blocks_for(longest, THREADS * 4), THREADS,
               adam_step{in->out, in->update[0], in->update[1], in->src[0],
                         in->attr.optimiser->adam, log2(in->attr.optimiser->adam.beta1),
                         log2(in->attr.optimiser->adam.beta2), cx->step},
               *p);
}

/* Parameters are contiguous, each at a multiple of 16 floats. */
KERNEL(adam)
{
    const struct params *params = in->attr.optimiser->params;
    struct pieces p = {};
    for (int i = 0; i < params->count; i++) {
        const struct parameter *item = &params->item[i];
        const int64_t next = i + 1 < params->count ? item[1].offset : params->size;
        if (!item->trained || next == item->offset)
            continue;
        if (p.count > 0 && p.to[p.count - 1] == item->offset) {
            p.to[p.count - 1] = next;
            continue;
        }
        if (p.count == PIECES) {
            launch_pieces(in, cx, &p);
            p.count = 0;
        }
        p.from[p.count] = item->offset;
        p.to[p.count++] = next;
    }
    launch_pieces(in, cx, &p);
}
