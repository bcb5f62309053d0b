/* Recording: makes programs, adds nodes, stores the first fault. */
#include "base/number.h"
#include "program/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct op_info op_table[OP_COUNT] = {
#define OP(NAME, name, gradient, ...) {#name, gradient},
#include "program/ops.def"
#undef OP
};

const char *op_name(enum op op)
{
    return op_table[op].name;
}

consm_status program_new(struct program **out, struct params *params, bool training)
{
    consm_status st = CONSM_OK;
    TRY(ZNEW(*out, 1));
    (*out)->params = params;
    (*out)->training = training;
    (*out)->loss = (*out)->penalty = POISON;
done:
    return st;
}

void program_free(struct program *p)
{
    if (!p)
        return;
    program_part(p);
    for (size_t i = 0; i < p->owned_count; i++)
        p->owned[i].release(p->owned[i].thing);
    if (p->ready)
        p->backend->kind->discard(p->ready);
    block_free(&p->arena);
    block_free(&p->state);
    for (node x = 0; x < p->count; x++)
        mem_free(p->node[x].mirror);
    mem_free(p->owned);
    mem_free(p->renamed);
    mem_free(p->node);
    mem_free(p->instr);
    mem_free(p->leaf);
    mem_free(p);
}

bool program_training(const struct program *p)
{
    return p->training;
}

/* Keeps the first fault; later ones follow from it. */
static node remember_fault(struct program *p, consm_status code, const char *text)
{
    if (p->fault == CONSM_OK) {
        p->fault = code;
        snprintf(p->fault_text, sizeof p->fault_text, "%s", text);
    }
    return POISON;
}

node program_fault(struct program *p, const char *format, ...)
{
    char text[sizeof p->fault_text];
    va_list args;
    va_start(args, format);
    number_vprint(text, sizeof text, format, args);
    va_end(args);
    return remember_fault(p, CONSM_EPROGRAM, text);
}

node program_failed(struct program *p, consm_status code)
{
    return remember_fault(p, code, consm_errmsg());
}

bool node_good(const struct program *p, node x)
{
    return x >= 0 && x < p->count;
}

consm_status program_own(struct program *p, void *thing, void (*release)(void *thing))
{
    consm_status st = GROW(p->owned, p->owned_count, p->owned_capacity, 1);
    if (st < 0) {
        release(thing);
        return st;
    }
    p->owned[p->owned_count++] = (struct owned){thing, release};
    return CONSM_OK;
}

node program_record(struct program *p, const struct op_args *args)
{
    for (int i = 0; i < args->sources; i++)
        if (!node_good(p, args->src[i]))
            return POISON;
    if (p->fault < 0)
        return POISON;
    for (int i = 0; i < args->sources; i++)
        if (program_is_sparse(p, args->src[i]))
            return program_fault(
                p, "%s: %s is a sparse matrix: only matmul, linear and dropout accept one",
                op_table[args->op].name, p->node[args->src[i]].name);
    int64_t values;
    if (args->rows < 0 || args->cols < 0 ||
        __builtin_mul_overflow(args->rows, args->cols, &values) || values > PARAMS_MOST)
        return program_fault(p,
                             "%s: the result would be %lld x %lld, which is too large or negative",
                             op_table[args->op].name, (long long)args->rows, (long long)args->cols);
    consm_status st = GROW(p->node, p->count, p->capacity, 1);
    if (st < 0)
        return remember_fault(p, st, consm_errmsg());
    struct node_info *info = &p->node[p->count];
    *info = (struct node_info){.op = args->op,
                               .rows = args->rows,
                               .cols = args->cols,
                               .attr = args->attr,
                               .parameter = -1,
                               .place = PLACE_ARENA,
                               .leaf = -1,
                               .instr = -1};
    for (int i = 0; i < NODE_UPDATES; i++)
        info->update[i] = i < args->updates ? args->update[i] : POISON;
    for (int i = 0; i < NODE_SOURCES; i++) {
        info->src[i] = i < args->sources ? args->src[i] : POISON;
        if (i < args->sources && p->node[args->src[i]].needs_grad)
            info->needs_grad = !op_is(args->op, IS_CHOICE);
    }
    return p->count++;
}

node program_beside(struct program *p, node x, int slot, int64_t rows, int64_t cols)
{
    node y = RECORD(p, .op = OP_BESIDE, .rows = rows, .cols = cols, .src = {x}, .sources = 1);
    if (y != POISON)
        p->node[x].update[slot] = y;
    return y;
}

node program_name(struct program *p, node x, const char *name)
{
    if (node_good(p, x) && name)
        snprintf(p->node[x].name, sizeof p->node[x].name, "%s", name);
    return x;
}

void program_keep(struct program *p, node x)
{
    if (node_good(p, x))
        p->node[x].keep = true;
}

void program_number(struct program *p, node x, const int64_t *number)
{
    if (node_good(p, x))
        p->node[x].attr.number = number;
}

void program_penalty(struct program *p, node term)
{
    if (p->training)
        p->penalty = p->penalty == POISON ? term : add(p, p->penalty, term);
}

node program_minimize(struct program *p, node loss)
{
    if (node_good(p, loss) && (ROWS(p, loss) != 1 || COLS(p, loss) != 1))
        program_fault(p, "the loss is %lld x %lld: expected 1 x 1", (long long)ROWS(p, loss),
                      (long long)COLS(p, loss));
    p->loss = p->penalty == POISON ? loss : add(p, loss, p->penalty);
    program_keep(p, p->loss);
    return program_name(p, p->loss, "loss");
}

void program_optimize(struct program *p, const struct adam_options *adam)
{
    p->optimizes = true;
    p->optimiser = (struct optimiser){*adam, p->params};
}

/* The transpose is a cache of the matrix: making it changes no entry. */
static const struct csr *transposed(struct program *p, const struct csr *s, consm_status st)
{
    if (st < 0)
        remember_fault(p, st, consm_errmsg());
    return st < 0 ? NULL : s->t;
}

/* Unknown while a program is recorded. */
static struct team *team_of(const struct program *p)
{
    return p->backend ? p->backend->host : NULL;
}

const struct csr *program_transpose(struct program *p, const struct csr *s)
{
    return transposed(p, s, csr_transpose_on((struct csr *)s, team_of(p)));
}

const struct csr *program_transpose_entries(struct program *p, const struct csr *s)
{
    return transposed(p, s, csr_transpose_entries_on((struct csr *)s, team_of(p)));
}

/* ---- leaves -------------------------------------------------------------- */

static node parameter_node(struct program *p, const char *name, int64_t rows, int64_t cols,
                           enum init init, bool trained)
{
    int index = -1;
    consm_status st = params_add(p->params, &index, name, rows, cols, init, trained);
    if (st < 0)
        return remember_fault(p, st, consm_errmsg());
    for (node x = 0; x < p->count; x++)
        if (p->node[x].op == OP_PARAM && p->node[x].parameter == index)
            return x;
    node x = RECORD(p, .op = OP_PARAM, .rows = rows, .cols = cols);
    if (x == POISON)
        return POISON;
    p->node[x].parameter = index;
    p->node[x].needs_grad = trained;
    p->node[x].place = PLACE_VALUE;
    return program_name(p, x, name);
}

node param(struct program *p, const char *name, int64_t rows, int64_t cols, enum init init)
{
    return parameter_node(p, name, rows, cols, init, true);
}

node state(struct program *p, const char *name, int64_t rows, int64_t cols, enum init init)
{
    return parameter_node(p, name, rows, cols, init, false);
}

node input(struct program *p, const float *values, int64_t rows, int64_t cols)
{
    node x = RECORD(p, .op = OP_INPUT, .rows = rows, .cols = cols);
    if (x != POISON) {
        p->node[x].place = PLACE_LEAF;
        p->node[x].data = values;
    }
    return x;
}

node constant(struct program *p, const float *values, int64_t rows, int64_t cols)
{
    node x = input(p, values, rows, cols);
    if (x != POISON)
        p->node[x].constant = true;
    return x;
}

node in_parts(struct program *p, node x, const struct partition *partition)
{
    if (node_good(p, x))
        p->node[x].partition = partition;
    return x;
}

bool program_is_constant(const struct program *p, node x)
{
    return node_good(p, x) && p->node[x].constant;
}

bool program_is_sparse(const struct program *p, node x)
{
    return node_good(p, x) && p->node[x].op == OP_SPARSE;
}

node sparse(struct program *p, const struct csr *matrix)
{
    if (!matrix)
        return remember_fault(p, CONSM_EPROGRAM, "a sparse matrix is missing");
    node x = RECORD(p, .op = OP_SPARSE, .rows = matrix->rows, .cols = matrix->cols,
                    .attr = {.csr = matrix});
    if (x != POISON)
        p->node[x].place = PLACE_NONE;
    return x;
}

node fill(struct program *p, float value, int64_t rows, int64_t cols)
{
    return RECORD(p, .op = OP_FILL, .rows = rows, .cols = cols, .attr = {.a = value});
}

node noise(struct program *p, int64_t rows, int64_t cols)
{
    return RECORD(p, .op = OP_NOISE, .rows = rows, .cols = cols, .attr = {.stream = p->streams++});
}

node anneal(struct program *p, float start, float factor)
{
    return RECORD(p, .op = OP_ANNEAL, .rows = 1, .cols = 1, .attr = {.a = start, .b = factor});
}

/* ---- looking at a program ------------------------------------------------ */

node node_now(const struct program *p, node x)
{
    if (!p->renamed || x < 0 || x >= p->recorded)
        return x;
    return p->renamed[x];
}

int64_t program_elements(const struct program *p)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < p->plan.instrs; i++)
        sum += p->plan.instr[i].once ? 0 : p->plan.instr[i].rows * p->plan.instr[i].cols;
    return sum;
}

node program_before(const struct program *p, node x)
{
    int64_t columns = node_good(p, x) ? COLS(p, x) : 0;
    for (node k = x; columns > 0 && k >= 0; k--) {
        const struct node_info *n = &p->node[k];
        node from = n->src[0];
        bool dense = n->op == OP_MATMUL && p->node[n->src[1]].op == OP_PARAM;
        bool sparse = n->op == OP_SPMM && p->node[from].op == OP_PARAM;
        if (sparse) /* a linear layer on sparse features has nothing before it */
            break;
        if (dense && ROWS(p, k) == ROWS(p, x) && COLS(p, k) % columns == 0 &&
            COLS(p, from) != columns)
            return from;
    }
    return x;
}

bool program_has(const struct program *p, node x)
{
    return node_good(p, x);
}

int64_t program_rows(const struct program *p, node x)
{
    x = node_now(p, x);
    return node_good(p, x) ? ROWS(p, x) : 0;
}

int64_t program_cols(const struct program *p, node x)
{
    x = node_now(p, x);
    return node_good(p, x) ? COLS(p, x) : 0;
}

size_t program_arena_bytes(const struct program *p)
{
    return p->arena_floats * sizeof(float);
}

static const char *place_text(const struct program *p, const struct node_info *info,
                              char buffer[40])
{
    static const char *const word[PLACES] = {[PLACE_NONE] = "-",
                                             [PLACE_VALUE] = "parameter",
                                             [PLACE_GRAD] = "gradient",
                                             [PLACE_LEAF] = "input"};
    if (info->place != PLACE_ARENA)
        return word[info->place];
    if (!p->compiled || !info->live)
        return p->compiled ? "unused" : "unplanned";
    snprintf(buffer, 40, "arena+%zu", info->offset * sizeof(float));
    return buffer;
}

void program_dump(const struct program *p, void (*line)(void *ctx, const char *text), void *ctx)
{
    char text[256], sources[80], place[40], shape[48];
    snprintf(text, sizeof text, "%5s  %-22s %-18s %-16s %-22s %12s  %s", "node", "op", "name",
             "shape", "sources", "bytes", "where");
    line(ctx, text);
    for (node x = 0; x < p->count; x++) {
        const struct node_info *info = &p->node[x];
        int used = 0;
        sources[0] = 0;
        for (int i = 0; i < NODE_SOURCES; i++)
            if (info->src[i] != POISON && used < (int)sizeof sources - 14)
                used += snprintf(sources + used, sizeof sources - (size_t)used, "%s%d",
                                 used ? " " : "", info->src[i]);
        snprintf(shape, sizeof shape, "%lld x %lld", (long long)info->rows, (long long)info->cols);
        snprintf(text, sizeof text, "%5d  %-22s %-18.31s %-16s %-22s %12lld  %s", x,
                 op_table[info->op].name, info->name, shape, sources,
                 info->place == PLACE_NONE ? 0LL : (long long)(info->rows * info->cols * 4),
                 place_text(p, info, place));
        line(ctx, text);
    }
    snprintf(text, sizeof text, "arena %zu bytes, %lld parameters", p->arena_floats * sizeof(float),
             (long long)p->params->trained);
    line(ctx, text);
}
