/* The draws of random operations: functions of (seed, step, stream, element); elements are counted
 * by the row's number in the whole graph. */
#include "reference/kernels.h"

#include "base/rng.h"
#include <math.h>

/* The words of one block of the operation's stream at this step. */
static void draw(uint32_t word[4], const struct instr *in, const struct step *step, uint32_t low,
                 uint32_t high)
{
    const uint32_t key[2] = {(uint32_t)step->seed, (uint32_t)(step->seed >> 32)};
    const uint32_t counter[4] = {low, high, (uint32_t)step->number, in->attr.stream};
    philox4x32(word, counter, key);
}

static uint64_t row_number(const struct instr *in, int64_t r)
{
    return (uint64_t)(in->attr.number ? in->attr.number[r] : r);
}

/* Uses the fewest of 1, 2, 4, 8 bits for which rate·2^bits is an integer, else 16. Element e has
 * bits [e·bits, (e+1)·bits) of the stream; it is kept if they are a number of at least rate·2^bits.
 */
double dropout_factor_of(const struct instr *in, const struct step *step, uint64_t element)
{
    const double rate = (double)in->attr.a;
    double whole = 2 * rate; /* rate·2^bits */
    uint64_t bits = 1;
    uint32_t word[4];
    if (rate == 0)
        return 1;
    while (bits < 16 && floor(whole) != whole) {
        bits *= 2;
        whole = rate * (double)(1u << bits);
    }
    const uint64_t first = element * bits;
    draw(word, in, step, (uint32_t)(first / 128), (uint32_t)(first / 128 >> 32));
    const uint32_t number = word[first % 128 / 32] >> first % 32 & ((1u << bits) - 1);
    return number >= (uint32_t)lrint(whole) ? 1 / (1 - rate) : 0;
}

double dropout_factor(const struct instr *in, const struct step *step, int64_t r, int64_t c)
{
    return dropout_factor_of(in, step, row_number(in, r) * (uint64_t)in->cols + (uint64_t)c);
}

/* Element e is word e mod 4 of block e/4, its upper 23 bits. */
double uniform_draw(const struct instr *in, const struct step *step, int64_t r, int64_t c)
{
    const uint64_t e = row_number(in, r) * (uint64_t)in->cols + (uint64_t)c;
    uint32_t word[4];
    draw(word, in, step, (uint32_t)(e / 4), (uint32_t)(e / 4 >> 32) | 0x80000000u);
    return ((double)(word[e % 4] >> 9) + 0.5) * 0x1p-23;
}

/* The two ends name the block, the smaller number first. */
bool edge_stays(const struct instr *in, const struct step *step, int64_t i, int64_t j)
{
    const uint64_t a = row_number(in, i), b = row_number(in, j);
    uint32_t word[4];
    draw(word, in, step, (uint32_t)(a < b ? a : b), (uint32_t)(a < b ? b : a) | 0x80000000u);
    return (double)(word[0] >> 8) * 0x1p-24 >= (double)in->attr.a;
}
