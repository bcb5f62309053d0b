/* Joins two planned programs and OP_KEEP into one plan, and runs it. */
#include "program/course.h"

#include "program/internal.h"
#include <string.h>

struct course {
    struct course_parts parts;
    struct backend *backend;
    struct planned plan;
    struct instr *instr;
    struct leaf *leaf;
    struct block record;
    struct compiled *ready;
};

bool course_possible(const struct program *eval)
{
    for (int32_t i = 0; i < eval->plan.instrs; i++)
        if (eval->plan.instr[i].op == OP_ANNEAL || eval->plan.instr[i].op == OP_NOISE)
            return false;
    return eval->state_bytes == 0;
}

/* Moves an operand of the second program: its arena and its leaves have other places here. */
static void move(struct operand *at, int32_t leaves)
{
    if (at->place == PLACE_ARENA)
        at->place = PLACE_OTHER;
    else if (at->place == PLACE_LEAF)
        at->leaf += leaves;
}

static struct instr moved(struct instr in, int32_t leaves)
{
    move(&in.out_at, leaves);
    for (int i = 0; i < NODE_SOURCES; i++)
        move(&in.src_at[i], leaves);
    for (int i = 0; i < NODE_UPDATES; i++)
        move(&in.update_at[i], leaves);
    return in;
}

/* The place of a kept node's value. */
static struct operand value_at(const struct program *p, node x, enum place arena)
{
    return (struct operand){.place = arena, .offset = p->node[x].offset * sizeof(float)};
}

/* Copies the best parameters; sources logits, loss, parameters; updates the record. */
static struct instr keeping(const struct course_parts *parts)
{
    const struct program *train = parts->train, *eval = parts->eval;
    node loss = node_now(train, parts->loss), logits = node_now(eval, parts->logits);
    int64_t size = train->params->size;
    return (struct instr){.op = OP_KEEP,
                          .rows = 1,
                          .cols = size,
                          .src_rows = {ROWS(eval, logits), 1, 1},
                          .src_cols = {COLS(eval, logits), 1, size},
                          .attr = {.a = parts->ties,
                                   .b = parts->always,
                                   .metric = parts->metric,
                                   .positive = parts->positive,
                                   .index = parts->rows,
                                   .label = parts->label},
                          .out_at = {.place = PLACE_BEST},
                          .src_at = {value_at(eval, logits, PLACE_OTHER),
                                     value_at(train, loss, PLACE_ARENA),
                                     {.place = PLACE_VALUE}},
                          .update_at = {{.place = PLACE_RECORD}}};
}

static consm_status check(const struct course_parts *parts)
{
    const struct program *train = parts->train, *eval = parts->eval;
    node loss = node_now(train, parts->loss), logits = node_now(eval, parts->logits);
    if (!node_good(train, loss) || train->node[loss].place != PLACE_ARENA ||
        !node_good(eval, logits) || eval->node[logits].place != PLACE_ARENA ||
        train->params != eval->params || !train->params->block[PLACE_BEST].memory)
        return status_fail(CONSM_EPROGRAM,
                           "the training and evaluation programs do not belong together");
    if (!train->backend->kind->supports(train->backend, OP_KEEP))
        return status_fail(CONSM_EPROGRAM, "the %s backend has no %s", train->backend->kind->name,
                           op_name(OP_KEEP));
    return CONSM_OK;
}

/* The current leaves of the two programs, then those of OP_KEEP. */
static void look_at_leaves(struct course *c)
{
    const struct planned *train = &c->parts.train->plan, *eval = &c->parts.eval->plan;
    if (train->leaves)
        memcpy(c->leaf, train->leaf, (size_t)train->leaves * sizeof *c->leaf);
    if (eval->leaves)
        memcpy(c->leaf + train->leaves, eval->leaf, (size_t)eval->leaves * sizeof *c->leaf);
}

static consm_status join(struct course *c)
{
    consm_status st = CONSM_OK;
    const struct course_parts *parts = &c->parts;
    const struct planned *train = &parts->train->plan, *eval = &parts->eval->plan;
    struct params *params = parts->train->params;
    int32_t count = 0, leaves = train->leaves + eval->leaves;
    TRY(NEW(c->instr, train->instrs + eval->instrs + 1));
    TRY(NEW(c->leaf, leaves + 2));
    for (int32_t i = 0; i < train->instrs; i++)
        c->instr[count++] = train->instr[i];
    for (int32_t i = 0; i < eval->instrs; i++)
        c->instr[count++] = moved(eval->instr[i], train->leaves);
    c->instr[count++] = keeping(parts);
    look_at_leaves(c);
    c->leaf[leaves++] = (struct leaf){LEAF_INDEX, parts->rows, 0, false, 0, NULL};
    c->leaf[leaves++] =
        (struct leaf){LEAF_LABELS, parts->label, parts->rows->targets, false, 0, NULL};
    TRY(block_new(&c->record, c->backend, sizeof(struct keep_record)));
    c->plan = *train;
    c->plan.instr = c->instr;
    c->plan.instrs = count;
    c->plan.leaf = c->leaf;
    c->plan.leaves = leaves;
    c->plan.memory[PLACE_BEST] = params->block[PLACE_BEST].memory;
    c->plan.memory[PLACE_OTHER] = parts->eval->arena.memory;
    c->plan.memory[PLACE_RECORD] = c->record.memory;
    for (int place = 0; place < PLACES; place++)
        c->plan.writes[place] = c->plan.writes[place] || eval->writes[place];
    c->plan.writes[PLACE_BEST] = c->plan.writes[PLACE_OTHER] = c->plan.writes[PLACE_RECORD] = true;
done:
    return st;
}

consm_status course_new(struct course **out, const struct course_parts *parts)
{
    consm_status st = CONSM_OK;
    struct course *c = NULL;
    *out = NULL;
    TRY(program_ready(parts->train));
    TRY(check(parts));
    TRY(ZNEW(c, 1));
    c->parts = *parts;
    c->backend = parts->train->backend;
    TRY(join(c));
    TRY(c->backend->kind->compile(c->backend, &c->ready, &c->plan));
    *out = c;
    c = NULL;
done:
    course_free(c);
    return st;
}

void course_free(struct course *c)
{
    if (!c)
        return;
    if (c->ready)
        c->backend->kind->discard(c->ready);
    block_free(&c->record);
    mem_free(c->instr);
    mem_free(c->leaf);
    mem_free(c);
}

consm_status course_run(struct course *c, const struct step *first, int64_t epochs,
                        struct keep_record *record)
{
    consm_status st = CONSM_OK;
    struct params *params = c->parts.train->params;
    void *mine;
    const void *back;
    if (epochs > KEEP_ROOM)
        return status_fail(CONSM_EINVAL, "a course of %lld epochs: expected at most %d",
                           (long long)epochs, KEEP_ROOM);
    look_at_leaves(c);
    for (int place = PLACE_VALUE; place <= PLACE_BEST; place++)
        TRY(block_send(&params->block[place]));
    TRY(block_send(&c->parts.train->state));
    TRY(block_write(&mine, &c->record));
    record->count = 0;
    memcpy(mine, record, sizeof *record);
    TRY(block_send(&c->record));
    TRY(c->backend->kind->run(c->ready, first, epochs));
    c->parts.train->runs++;
    c->parts.eval->runs++;
    for (int place = PLACE_VALUE; place <= PLACE_BEST; place++)
        if (c->plan.writes[place])
            block_ran(&params->block[place]);
    if (c->plan.writes[PLACE_STATE])
        block_ran(&c->parts.train->state);
    block_ran(&c->record);
    TRY(block_read(&back, &c->record));
    memcpy(record, back, sizeof *record);
done:
    return st;
}
