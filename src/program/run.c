/* Running: one wake-up of the team, every kernel in turn, a barrier between two kernels. What is
 * constant was computed by the first run and stands in the arena. */
#include "program/internal.h"

struct run {
    const struct program *program;
    const struct step *step;
};

static void run_worker(void *arg, struct worker who)
{
    const struct run *run = arg;
    const struct program *p = run->program;
    for (int32_t i = 0; i < p->instrs; i++) {
        const struct instr *in = &p->instr[i];
        if (in->once && p->settled)
            continue;
        p->backend->run[in->op](in, run->step, who);
        team_barrier(who);
    }
}

void program_run(struct program *p, struct team *team, const struct step *step)
{
    struct run run = {p, step};
    team_run(team, run_worker, &run);
    p->settled = true;
}
