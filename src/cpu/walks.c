/* Turns of operations that need something of all rows in between, each on a range of rows. Steps
 * and order are those of the kernels; the team divides a turn's rows. */
#include "program/spectral.h"

#include "cpu/kernels.h"
#include "cpu/sums.h"

static bool walks(const struct instr *in)
{
    return op_made(in->op) == MADE_TURNS;
}

static bool turns_back(const struct instr *in)
{
    return in->op == OP_NUCLEAR;
}

static size_t work_bytes(const struct instr *in)
{
    return in->op == OP_EDGE_DROP ? (size_t)in->attr.csr->rows * sizeof(float) : 0;
}

struct turn {
    const struct instr *in;
    const struct step *step;
    float *work;
    int64_t number, low, high;
    bool last;
};

static void drop_worker(const struct turn *t, int64_t from, int64_t to)
{
    if (t->number == 0)
        edge_drop_keep(t->work, t->in, t->step, from, to);
    else
        edge_drop_scale(t->work, t->in, from, to);
}

static void turn_worker(void *arg, struct worker who)
{
    const struct turn *t = arg;
    const struct csr *a = t->in->attr.csr;
    int64_t from, to;
    range_entries(a->start + t->low, t->high - t->low, who, &from, &to);
    from += t->low;
    to += t->low;
    if (t->in->op == OP_EDGE_DROP)
        drop_worker(t, from, to);
    else if (t->in->op == OP_NUCLEAR_GRAD)
        nuclear_grad_rows(t->in, from, to);
    else if (t->last)
        nuclear_end(t->in, who);
    else if (t->number % 2)
        nuclear_back(t->in, from, to);
    else
        nuclear_forth(t->in, from, to);
}

/* Even turns go forward; odd ones check convergence and go back. */
static struct between nuclear_turn(struct team *team, struct turn *t)
{
    const struct csr *a = t->in->attr.csr;
    struct spectral s = spectral_at(t->in->state, a->rows, a->cols, t->in->attr.rank);
    if (t->number == 0)
        nuclear_begin(t->in);
    else if (t->number % 2)
        t->last = nuclear_judge(t->in, t->number / 2);
    else
        nuclear_turned(t->in);
    team_run(team, turn_worker, t);
    return (struct between){t->last              ? NULL
                            : t->number % 2 != 0 ? s.turn
                                                 : s.y,
                            (size_t)s.width * sizeof(double)};
}

static struct between take_turn(struct team *team, const struct instr *in, const struct step *step,
                                void *work, int64_t number, int64_t low, int64_t high)
{
    struct turn t = {in, step, work, number, low, high, false};
    if (in->op == OP_NUCLEAR)
        return nuclear_turn(team, &t);
    team_run(team, turn_worker, &t);
    bool more = in->op == OP_EDGE_DROP && number == 0;
    return (struct between){more ? work : NULL, sizeof(float)};
}

const struct walks cpu_walks = {walks, turns_back, work_bytes, take_turn};
