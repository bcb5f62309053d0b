/* Threads of a kernel as fibres: each has a stack, begins by makecontext and changes hands by a jump,
 * which unlike swapcontext costs no system call. GCC's own jump saves three registers (the compiler
 * keeps the others), the C library's all of them, with a mask and a cipher. */
#undef _FORTIFY_SOURCE /* its longjmp takes the change of stacks for an error */
#include <cuda_runtime.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#if defined(__GNUC__) && !defined(__clang__)
typedef void *place[5];
#define JUMPS __attribute__((noipa)) /* the compiler sees no call in a jump */
#define MARK(at) __builtin_setjmp(at)
#define JUMP(at) __builtin_longjmp(at, 1)
#else
typedef jmp_buf place;
#define JUMPS
#define MARK(at) _setjmp(at)
#define JUMP(at) _longjmp(at, 1)
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

enum { MOST = 1024, STACK = 64 * 1024 + 704, LANES = 32, VALUE = 16 }; /* stacks spread in caches */
enum state { RUNS, AT_BLOCK, AT_WARP, ENDED };

struct fibre {
    enum state state;
    bool begun;
    place at;
    ucontext_t context;
    unsigned exchanges;
};

static struct fibre fibre[MOST];
static char *stacks;
static place scheduler;
static unsigned current;
static const std::function<void()> *body;
static uint64_t launches;

/* What lanes put down: one table for even and one for odd exchanges, since a lane may be one ahead
 * of another. */
static char table[MOST / LANES][2][LANES * VALUE];
static int any[2];
static unsigned ors;

JUMPS static void jump_to(place &at)
{
    JUMP(at);
}

JUMPS static void give_way(enum state state)
{
    const unsigned me = current;
    fibre[me].state = state;
    if (MARK(fibre[me].at) == 0)
        jump_to(scheduler);
}

void card_block_barrier(void)
{
    give_way(AT_BLOCK);
}

void card_grid_barrier(void)
{
    give_way(AT_BLOCK);
}

int card_block_or(int mine)
{
    const unsigned turn = ors & 1;
    any[turn] |= mine;
    give_way(AT_BLOCK);
    return any[turn];
}

const void *card_exchange(const void *mine, size_t size)
{
    const unsigned me = current, turn = fibre[me].exchanges++ & 1;
    char *here = table[me / LANES][turn];
    memcpy(here + me % LANES * size, mine, size);
    give_way(AT_WARP);
    return here;
}

/* A fibre that has come to its end is there for the thread of its number in the next block. */
static void begin_fibre(void)
{
    for (;;) {
        (*body)();
        give_way(ENDED);
    }
}

JUMPS static void run_fibre(unsigned t)
{
    current = t;
    threadIdx = uint3{t, 0, 0};
    if (MARK(scheduler) != 0)
        return;
    if (fibre[t].begun)
        jump_to(fibre[t].at);
    fibre[t].begun = true;
    getcontext(&fibre[t].context);
    fibre[t].context.uc_stack.ss_sp = stacks + (size_t)t * STACK;
    fibre[t].context.uc_stack.ss_size = STACK;
    makecontext(&fibre[t].context, begin_fibre, 0);
    setcontext(&fibre[t].context);
}

/* Lets those go on for whom all have come. Returns whether there were any. */
static bool release(unsigned threads)
{
    unsigned at_block = 0, alive = 0;
    bool moved = false;
    for (unsigned w = 0; w < threads; w += LANES) {
        unsigned here = 0, living = 0;
        for (unsigned t = w; t < w + LANES && t < threads; t++) {
            living += fibre[t].state != ENDED;
            here += fibre[t].state == AT_WARP;
            at_block += fibre[t].state == AT_BLOCK;
        }
        alive += living;
        for (unsigned t = w; here > 0 && here == living && t < w + LANES && t < threads; t++)
            if (fibre[t].state == AT_WARP)
                fibre[t].state = RUNS;
        moved = moved || (here > 0 && here == living);
    }
    if (at_block > 0 && at_block == alive) {
        for (unsigned t = 0; t < threads; t++)
            if (fibre[t].state == AT_BLOCK)
                fibre[t].state = RUNS;
        ors++;
        any[ors & 1] = 0;
        moved = true;
    }
    return moved;
}

static void run_block(unsigned threads, bool backwards)
{
    for (unsigned t = 0; t < threads; t++) {
        fibre[t].state = RUNS;
        fibre[t].exchanges = 0;
    }
    for (;;) {
        bool alive = false;
        for (unsigned i = 0; i < threads; i++) {
            const unsigned t = backwards ? threads - 1 - i : i;
            if (fibre[t].state == RUNS)
                run_fibre(t);
            alive = alive || fibre[t].state != ENDED;
        }
        if (!alive)
            return;
        if (!release(threads)) {
            fprintf(stderr, "card: threads wait for others that never come\n");
            abort();
        }
    }
}

void card_launch(const cudaLaunchConfig_t *config, const std::function<void()> &thread)
{
    const bool backwards = launches++ % 2 != 0;
    if (!stacks)
        stacks = (char *)malloc((size_t)MOST * STACK);
    body = &thread;
    blockDim = config->blockDim;
    gridDim = config->gridDim;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeCooperative)
            gridDim = dim3(1);
    const uint64_t blocks = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
    for (uint64_t i = 0; i < blocks; i++) {
        const uint64_t b = backwards ? blocks - 1 - i : i;
        blockIdx.x = (unsigned)(b % gridDim.x);
        blockIdx.y = (unsigned)(b / gridDim.x % gridDim.y);
        blockIdx.z = (unsigned)(b / gridDim.x / gridDim.y);
        run_block(blockDim.x, backwards);
    }
}
