/* Checks that ops.def is true: what a row of a result needs from each source. */

/*
 * Every operation that a case of ops_cases.def compiles to is computed by its plain loop
 * (src/reference), once as it is and once with everything changed that it is said not to read; the
 * row must be the same. And if the result may overwrite a source, it does.
 */
#include "ops_trial.h"

#include "reference/kernels.h"

typedef void loop_fn(const struct instr *in, const struct step *step);

#define reference_param  NULL
#define reference_input  NULL
#define reference_sparse NULL
#define reference_beside NULL
static loop_fn *const loops[OP_COUNT] = {
#define OP(NAME, name, ...) reference_##name,
#include "program/ops.def"
#undef OP
};

static const struct step STEP = {42, 3};
static int64_t tried[OP_COUNT];

static size_t bytes_of(int64_t rows, int64_t cols)
{
    return (size_t)(rows * cols) * sizeof(float);
}

static float *copy_of(const float *from, size_t bytes)
{
    float *to;
    OK(NEW(to, bytes / sizeof(float) + 1));
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

/* Where entry k of the walked matrix has its values. */
static int64_t entry_of(const struct instr *in, int64_t k)
{
    return in->attr.transposed && in->attr.csr->t_entry ? in->attr.csr->t_entry[k] : k;
}

/* Marks which rows of a source the result's row r, or the entries of the matrix's row r, may read.
 */
static void mark_read(uint8_t *read, const struct instr *in, int slot, int64_t r)
{
    const struct csr *s = op_walks(in->op) ? walked(in) : NULL;
    const struct index *index = in->attr.index, *other = in->attr.other;
    switch (op_reads(in->op, slot)) {
    case 'e':
    case 'r':
        if (op_made(in->op) == MADE_ENTRIES || in->src_rows[slot] == in->rows)
            read[r] = 1;
        else
            memset(read, 1, (size_t)in->src_rows[slot]);
        break;
    case 'c':
        for (int64_t k = s->start[r]; k < s->start[r + 1]; k++)
            read[s->col[k]] = 1;
        break;
    case 'n':
    case 'o':
        for (int64_t k = s->start[r]; k < s->start[r + 1]; k++)
            read[entry_of(in, k)] = 1;
        break;
    case 'i': read[index->row[r]] = 1; break;
    case 't':
        for (int64_t k = 0; k < index->count; k++)
            read[k] = read[k] || index->row[k] == r;
        break;
    case 'p': read[index->row[r]] = read[other->row[r]] = 1; break;
    default: memset(read, 1, (size_t)in->src_rows[slot]);
    }
}

/* An instruction with sources and results of its own. */
struct sandbox {
    struct instr in;
    float *src[NODE_SOURCES], *out, *update[NODE_UPDATES];
};

static void sandbox_make(struct sandbox *b, const struct instr *in)
{
    *b = (struct sandbox){.in = *in};
    for (int i = 0; i < NODE_SOURCES; i++)
        if (in->src[i])
            b->in.src[i] = b->src[i] =
                copy_of(in->src[i], bytes_of(in->src_rows[i], in->src_cols[i]));
    OK(ZNEW(b->out, in->rows * in->cols + 1));
    b->in.out = b->out;
    for (int i = 0; i < NODE_UPDATES; i++)
        if (in->update[i]) {
            OK(ZNEW(b->update[i], in->rows * in->update_cols[i] + 1));
            b->in.update[i] = b->update[i];
        }
}

static void sandbox_free(struct sandbox *b)
{
    for (int i = 0; i < NODE_SOURCES; i++)
        mem_free(b->src[i]);
    for (int i = 0; i < NODE_UPDATES; i++)
        mem_free(b->update[i]);
    mem_free(b->out);
}

/* Changes all rows of the sources but those that row r may read. */
static void change_others(struct sandbox *b, int64_t r)
{
    for (int slot = 0; slot < NODE_SOURCES; slot++) {
        uint8_t *read;
        int64_t rows = b->in.src_rows[slot], cols = b->in.src_cols[slot];
        if (!b->src[slot])
            continue;
        OK(ZNEW(read, rows + 1));
        mark_read(read, &b->in, slot, r);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t c = 0; !read[i] && c < cols; c++)
                b->src[slot][i * cols + c] = 0.3f - 2 * b->src[slot][i * cols + c];
        mem_free(read);
    }
}

static void expect_same(const struct instr *in, const float *mine, const float *expected,
                        int64_t first, int64_t count, const char *what)
{
    for (int64_t k = first; k < first + count; k++)
        if (memcmp(&mine[k], &expected[k], sizeof(float)) != 0)
            fail_msg("%s: %s[%lld] is %.9g, expected %.9g: ops.def says \"%s\"", op_name(in->op),
                     what, (long long)k, (double)mine[k], (double)expected[k],
                     op_row(in->op)->reads);
}

static void check_row(const struct instr *in, const struct sandbox *whole, int64_t r)
{
    struct sandbox b;
    sandbox_make(&b, in);
    change_others(&b, r);
    loops[in->op](&b.in, &STEP);
    if (op_made(in->op) == MADE_ENTRIES) {
        const struct csr *s = walked(in);
        for (int64_t k = s->start[r]; k < s->start[r + 1]; k++)
            expect_same(in, b.out, whole->out, entry_of(in, k) * in->cols, in->cols, "an entry");
    } else {
        expect_same(in, b.out, whole->out, r * in->cols, in->cols, "a row");
        for (int i = 0; i < NODE_UPDATES; i++)
            if (b.update[i])
                expect_same(in, b.update[i], whole->update[i], r * in->update_cols[i],
                            in->update_cols[i], "beside it");
    }
    sandbox_free(&b);
}

/* Element by element: all other elements of the sources changed. */
static void check_element(const struct instr *in, const struct sandbox *whole, int64_t at)
{
    struct sandbox b;
    sandbox_make(&b, in);
    for (int slot = 0; slot < NODE_SOURCES; slot++)
        for (int64_t k = 0; b.src[slot] && k < in->src_rows[slot] * in->src_cols[slot]; k++)
            if (k != at)
                b.src[slot][k] = 0.3f - 2 * b.src[slot][k];
    loops[in->op](&b.in, &STEP);
    expect_same(in, b.out, whole->out, at, 1, "an element");
    sandbox_free(&b);
}

static void check_in_place(const struct instr *in, const struct sandbox *whole, int slot)
{
    struct sandbox b;
    if (!in->src[slot] || !op_in_place(in->op, slot) || in->src_rows[slot] != in->rows ||
        in->src_cols[slot] != in->cols)
        return;
    sandbox_make(&b, in);
    b.in.out = b.src[slot];
    loops[in->op](&b.in, &STEP);
    expect_same(in, b.src[slot], whole->out, 0, in->rows * in->cols, "in place,");
    sandbox_free(&b);
}

static void check_instr(const struct instr *in)
{
    bool entries = op_made(in->op) == MADE_ENTRIES;
    int64_t rows = entries ? walked(in)->rows : in->rows;
    struct sandbox whole;
    bool by_rows = entries || op_makes_rows(in->op, &in->attr, in->rows, in->src_rows[0]);
    if (!by_rows && op_made(in->op) != MADE_ELEMENTS)
        return;
    sandbox_make(&whole, in);
    loops[in->op](&whole.in, &STEP);
    for (int64_t r = 0; by_rows && r < rows; r += 1 + rows / 5)
        check_row(in, &whole, r);
    for (int64_t k = 0; op_made(in->op) == MADE_ELEMENTS && k < in->rows * in->cols; k += 7)
        check_element(in, &whole, k);
    for (int slot = 0; slot < NODE_SOURCES; slot++)
        check_in_place(in, &whole, slot);
    sandbox_free(&whole);
    tried[in->op]++;
}

/* All instructions of a program, with addresses in the CPU's memory. */
static void check_program(struct program *p)
{
    void *base[PLACES] = {0};
    const void **leaf;
    OK(NEW(leaf, p->plan.leaves + 1));
    for (int place = 0; place < PLACES; place++)
        base[place] = p->plan.memory[place] ? p->plan.memory[place]->host : NULL;
    for (int32_t i = 0; i < p->plan.leaves; i++)
        leaf[i] = p->plan.leaf[i].data;
    for (int32_t i = 0; i < p->plan.instrs; i++) {
        struct instr in = p->plan.instr[i];
        instr_resolve(&in, base, leaf);
        check_instr(&in);
    }
    mem_free(leaf);
}

static void rows_need_what_is_said(void **state)
{
    struct backend *cpu;
    (void)state;
    OK(backend_open(&cpu, "cpu", 1));
    for (int c = 0; c < OP_CASES; c++)
        for (int training = 0; training < 2; training++) {
            struct spot at = {9, 5, GRAPH_LOPSIDED, VIEW_LOOPS};
            struct trial t;
            if (!trial_possible(&op_cases[c], at, cpu))
                continue;
            trial_make(&t, &op_cases[c], at, cpu, training);
            trial_run(&t, 3);
            check_program(t.p);
            trial_free(&t);
        }
    backend_close(cpu);
    for (int op = 0; op < OP_COUNT; op++)
        if ((op_made((enum op)op) == MADE_ELEMENTS || op_made((enum op)op) == MADE_ROWS ||
             op_made((enum op)op) == MADE_ENTRIES) &&
            !tried[op])
            fail_msg("%s: no case compiles to it", op_name((enum op)op));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_need_what_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
