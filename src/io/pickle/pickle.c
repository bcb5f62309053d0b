/* The stack machine of the pickle reader. One table row per opcode: name, argument, handler. An
 * opcode without a handler is refused. Opcodes and arguments as in CPython's pickletools. */
#include "base/number.h"
#include "io/pickle/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, FREE_BYTES = 1 << 20, MOST_PER_BYTE = 128 };

struct pickle_block {
    struct pickle_block *next;
    size_t bytes;
    uint8_t data[];
};

consm_status pickle_fault(const struct pickle *p, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    number_vprint(text, sizeof text, format, args);
    va_end(args);
    return status_fail(CONSM_EFORMAT, "%s: byte %zu: %s", p->label, p->opcode, text);
}

void *pickle_alloc(struct pickle *p, size_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    p->allocated += bytes;
    p->alloc_status = CONSM_ENOMEM;
    if (p->allocated > FREE_BYTES && (p->allocated - FREE_BYTES) / MOST_PER_BYTE > p->size) {
        p->alloc_status =
            status_fail(CONSM_ELIMIT,
                        "%s: byte %zu: needs %zu bytes of memory, too much for a file of %zu bytes",
                        p->label, p->opcode, p->allocated, p->size);
        return NULL;
    }
    if (bytes > p->block_left) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        struct pickle_block *block = mem_alloc(sizeof *block + room, 1);
        if (!block)
            return NULL;
        block->next = p->blocks;
        block->bytes = room;
        p->blocks = block;
        p->block_left = room;
    }
    void *at = p->blocks->data + (p->blocks->bytes - p->block_left);
    p->block_left -= bytes;
    return memset(at, 0, bytes);
}

consm_status pickle_new_items(struct pickle *p, struct pickle_items **out, size_t count)
{
    consm_status st = CONSM_OK;
    TRY(PICKLE_NEW(p, *out, sizeof **out));
    (*out)->capacity = (uint32_t)count;
    if (count > 0)
        TRY(PICKLE_NEW(p, (*out)->item, count * sizeof *(*out)->item));
done:
    return st;
}

consm_status pickle_append(struct pickle *p, struct pickle_items *items,
                           const struct pickle_value *values, size_t count)
{
    consm_status st = CONSM_OK;
    if (count > items->capacity - items->count) {
        size_t room = items->count + count;
        struct pickle_value *grown;
        if (items->count > 0) /* it grew before: expect more */
            room *= 2;
        TRY(PICKLE_NEW(p, grown, room * sizeof *grown));
        if (items->count > 0)
            memcpy(grown, items->item, items->count * sizeof *grown);
        items->item = grown;
        items->capacity = (uint32_t)room;
    }
    if (count > 0)
        memcpy(items->item + items->count, values, count * sizeof *values);
    items->count += (uint32_t)count;
done:
    return st;
}

static consm_status pickle_op_protocol(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    if (a->number > 5)
        return pickle_fault(p, "protocol %llu: expected 0 to 5", (unsigned long long)a->number);
    return CONSM_OK;
}

static consm_status pickle_op_frame(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)op;
    if (a->number > p->size - p->at)
        return pickle_fault(p, "a frame of %llu bytes, but only %zu are left",
                            (unsigned long long)a->number, p->size - p->at);
    return CONSM_OK;
}

static consm_status pickle_op_stop(struct pickle *p, const struct pickle_argument *a, int op)
{
    (void)a, (void)op;
    if (p->depth != 1 || p->marks != 0)
        return pickle_fault(p, "%zu values on the stack at the end: expected 1", p->depth);
    if (p->at != p->size)
        return pickle_fault(p, "the pickle ends here, but %zu bytes follow", p->size - p->at);
    p->stopped = true;
    return CONSM_OK;
}

/* How an argument is written: nothing; a number of 1 … 8 bytes; bytes after such a count; lines. */
enum { NOTHING = 0, NUMBER = 16, COUNTED = 32, LINE = 48, TWO_LINES = 64 };

static const struct opcode {
    const char *name;
    int argument;
    consm_status (*run)(struct pickle *p, const struct pickle_argument *a, int op);
} opcodes[256] = {
    ['('] = {"MARK", NOTHING, pickle_op_mark},
    ['.'] = {"STOP", NOTHING, pickle_op_stop},
    ['0'] = {"POP", NOTHING, pickle_op_pop},
    ['1'] = {"POP_MARK", NOTHING, pickle_op_pop},
    ['2'] = {"DUP", NOTHING, pickle_op_duplicate},
    ['F'] = {"FLOAT", LINE, pickle_op_float_text},
    ['I'] = {"INT", LINE, pickle_op_decimal},
    ['J'] = {"BININT", NUMBER + 4, pickle_op_binint},
    ['K'] = {"BININT1", NUMBER + 1, pickle_op_unsigned},
    ['L'] = {"LONG", LINE, pickle_op_decimal},
    ['M'] = {"BININT2", NUMBER + 2, pickle_op_unsigned},
    ['N'] = {"NONE", NOTHING, pickle_op_none},
    ['P'] = {"PERSID", LINE, NULL},
    ['Q'] = {"BINPERSID", NOTHING, NULL},
    ['R'] = {"REDUCE", NOTHING, pickle_op_call},
    ['S'] = {"STRING", LINE, pickle_op_quoted},
    ['T'] = {"BINSTRING", COUNTED + 4, pickle_op_bytes},
    ['U'] = {"SHORT_BINSTRING", COUNTED + 1, pickle_op_bytes},
    ['V'] = {"UNICODE", LINE, pickle_op_escaped_text},
    ['X'] = {"BINUNICODE", COUNTED + 4, pickle_op_text},
    ['a'] = {"APPEND", NOTHING, pickle_op_extend},
    ['b'] = {"BUILD", NOTHING, pickle_op_build},
    ['c'] = {"GLOBAL", TWO_LINES, pickle_op_global},
    ['d'] = {"DICT", NOTHING, pickle_op_from_mark},
    ['}'] = {"EMPTY_DICT", NOTHING, pickle_op_empty},
    ['e'] = {"APPENDS", NOTHING, pickle_op_extend},
    ['g'] = {"GET", LINE, pickle_op_get},
    ['h'] = {"BINGET", NUMBER + 1, pickle_op_get},
    ['i'] = {"INST", TWO_LINES, NULL},
    ['j'] = {"LONG_BINGET", NUMBER + 4, pickle_op_get},
    ['l'] = {"LIST", NOTHING, pickle_op_from_mark},
    [']'] = {"EMPTY_LIST", NOTHING, pickle_op_empty},
    ['o'] = {"OBJ", NOTHING, NULL},
    ['p'] = {"PUT", LINE, pickle_op_put},
    ['q'] = {"BINPUT", NUMBER + 1, pickle_op_put},
    ['r'] = {"LONG_BINPUT", NUMBER + 4, pickle_op_put},
    ['s'] = {"SETITEM", NOTHING, pickle_op_extend},
    ['t'] = {"TUPLE", NOTHING, pickle_op_from_mark},
    [')'] = {"EMPTY_TUPLE", NOTHING, pickle_op_empty},
    ['u'] = {"SETITEMS", NOTHING, pickle_op_extend},
    ['G'] = {"BINFLOAT", NUMBER + 8, pickle_op_float},
    ['B'] = {"BINBYTES", COUNTED + 4, pickle_op_bytes},
    ['C'] = {"SHORT_BINBYTES", COUNTED + 1, pickle_op_bytes},
    [0x80] = {"PROTO", NUMBER + 1, pickle_op_protocol},
    [0x81] = {"NEWOBJ", NOTHING, pickle_op_call},
    [0x82] = {"EXT1", NUMBER + 1, NULL},
    [0x83] = {"EXT2", NUMBER + 2, NULL},
    [0x84] = {"EXT4", NUMBER + 4, NULL},
    [0x85] = {"TUPLE1", NOTHING, pickle_op_short_tuple},
    [0x86] = {"TUPLE2", NOTHING, pickle_op_short_tuple},
    [0x87] = {"TUPLE3", NOTHING, pickle_op_short_tuple},
    [0x88] = {"NEWTRUE", NOTHING, pickle_op_bool},
    [0x89] = {"NEWFALSE", NOTHING, pickle_op_bool},
    [0x8a] = {"LONG1", COUNTED + 1, pickle_op_long},
    [0x8b] = {"LONG4", COUNTED + 4, pickle_op_long},
    [0x8c] = {"SHORT_BINUNICODE", COUNTED + 1, pickle_op_text},
    [0x8d] = {"BINUNICODE8", COUNTED + 8, pickle_op_text},
    [0x8e] = {"BINBYTES8", COUNTED + 8, pickle_op_bytes},
    [0x8f] = {"EMPTY_SET", NOTHING, NULL},
    [0x90] = {"ADDITEMS", NOTHING, NULL},
    [0x91] = {"FROZENSET", NOTHING, NULL},
    [0x92] = {"NEWOBJ_EX", NOTHING, NULL},
    [0x93] = {"STACK_GLOBAL", NOTHING, pickle_op_stack_global},
    [0x94] = {"MEMOIZE", NOTHING, pickle_op_put},
    [0x95] = {"FRAME", NUMBER + 8, pickle_op_frame},
    [0x96] = {"BYTEARRAY8", COUNTED + 8, pickle_op_bytes},
    [0x97] = {"NEXT_BUFFER", NOTHING, NULL},
    [0x98] = {"READONLY_BUFFER", NOTHING, NULL},
};

static consm_status cut_short(const struct pickle *p, const char *name)
{
    return pickle_fault(p, "the file ends in the argument of %s", name);
}

static bool take_line(struct pickle *p, const char **text, size_t *size)
{
    const char *from = (const char *)p->bytes + p->at;
    const char *end = p->at < p->size ? memchr(from, '\n', p->size - p->at) : NULL;
    if (!end)
        return false;
    *text = from;
    *size = (size_t)(end - from);
    p->at += *size + 1;
    if (*size > 0 && end[-1] == '\r') /* written in text mode on Windows */
        --*size;
    return true;
}

/* Reads what follows the opcode. */
static consm_status take_argument(struct pickle *p, struct pickle_argument *a,
                                  const struct opcode *o)
{
    size_t bytes = o->argument & 15;
    if (bytes > p->size - p->at)
        return cut_short(p, o->name);
    for (size_t i = 0; i < bytes; i++)
        a->number |= (uint64_t)p->bytes[p->at + i] << (8 * i);
    p->at += bytes;
    switch (o->argument & ~15) {
    case COUNTED:
        if (a->number > p->size - p->at)
            return pickle_fault(p, "%s of %llu bytes, but only %zu are left", o->name,
                                (unsigned long long)a->number, p->size - p->at);
        a->text = (const char *)p->bytes + p->at;
        a->size = a->number;
        p->at += a->size;
        break;
    case LINE:
        if (!take_line(p, &a->text, &a->size))
            return cut_short(p, o->name);
        break;
    case TWO_LINES:
        if (!take_line(p, &a->text, &a->size) || !take_line(p, &a->text2, &a->size2))
            return cut_short(p, o->name);
        break;
    default: break;
    }
    return CONSM_OK;
}

static consm_status run(struct pickle *p)
{
    consm_status st = CONSM_OK;
    while (!p->stopped) {
        struct pickle_argument a = {0, NULL, NULL, 0, 0};
        p->opcode = p->at;
        if (p->at == p->size)
            TRY(pickle_fault(p, "the file ends here: expected a pickle that ends with STOP"));
        int op = p->bytes[p->at++];
        const struct opcode *o = &opcodes[op];
        if (!o->name)
            TRY(pickle_fault(p, "byte 0x%02x is not a pickle opcode", op));
        if (!o->run)
            TRY(pickle_fault(p,
                             "opcode %s is not allowed: expected only arrays, matrices and "
                             "dicts of lists",
                             o->name));
        TRY(take_argument(p, &a, o));
        TRY(o->run(p, &a, op));
    }
done:
    return st;
}

consm_status pickle_load(struct pickle **out, const uint8_t *bytes, size_t size, const char *label)
{
    consm_status st = CONSM_OK;
    struct pickle *p = NULL;
    *out = NULL;
    if (size == 0)
        return status_fail(CONSM_EFORMAT, "%s: the file is empty: expected a pickle", label);
    if (size >= UINT32_MAX / 4)
        return status_fail(CONSM_ELIMIT, "%s: the pickle has %zu bytes: expected less than 1 GiB",
                           label, size);
    TRY(ZNEW(p, 1));
    p->bytes = bytes;
    p->size = size;
    if (!(p->label = mem_strdup(label)))
        TRY(CONSM_ENOMEM);
    TRY(GROW(p->stack, 0, p->stack_capacity, 16)); /* never NULL, even when nothing is pushed */
    TRY(run(p));
    *out = p;
    return CONSM_OK;
done:
    pickle_free(p);
    return st;
}

void pickle_free(struct pickle *p)
{
    if (!p)
        return;
    while (p->blocks) {
        struct pickle_block *next = p->blocks->next;
        mem_free(p->blocks);
        p->blocks = next;
    }
    mem_free(p->stack);
    mem_free(p->mark);
    mem_free(p->memo);
    mem_free(p->label);
    mem_free(p);
}

const struct pickle_value *pickle_root(const struct pickle *p)
{
    return pickle_inside(&p->stack[0]);
}
