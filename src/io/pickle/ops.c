/* Opcodes that work on the stack and the memo: containers, copies, constructor calls. */
#include "io/pickle/machine.h"

#include <string.h>

consm_status pickle_push(struct pickle *p, struct pickle_value v)
{
    consm_status st = CONSM_OK;
    TRY(GROW(p->stack, p->depth, p->stack_capacity, 1));
    p->stack[p->depth++] = v;
done:
    return st;
}

/* Pops the topmost count values, which must be above the last mark. */
static consm_status pickle_pop(struct pickle *p, struct pickle_value **out, size_t count)
{
    size_t floor = p->marks ? p->mark[p->marks - 1] : 0;
    *out = p->stack;
    if (p->depth - floor < count)
        return pickle_fault(p, "%zu values on the stack: expected %zu", p->depth - floor, count);
    p->depth -= count;
    *out = p->stack + p->depth;
    return CONSM_OK;
}

/* Pops everything above the last mark, and the mark. */
static consm_status pickle_pop_mark(struct pickle *p, struct pickle_value **out, size_t *count)
{
    *out = p->stack;
    *count = 0;
    if (p->marks == 0)
        return pickle_fault(p, "no mark on the stack: expected one");
    size_t floor = p->mark[--p->marks];
    *out = p->stack + floor;
    *count = p->depth - floor;
    p->depth = floor;
    return CONSM_OK;
}

static consm_status push_items(struct pickle *p, uint32_t kind, struct pickle_items *items)
{
    return pickle_push(p, (struct pickle_value){.kind = kind, .items = items});
}

consm_status pickle_op_empty(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_items *items;
    (void)a;
    TRY(pickle_new_items(p, &items, 0));
    TRY(push_items(p, op == ')' ? PICKLE_TUPLE : op == ']' ? PICKLE_LIST : PICKLE_DICT, items));
done:
    return st;
}

/* TUPLE, LIST and DICT from the values above the mark. */
consm_status pickle_op_from_mark(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *values;
    struct pickle_items *items;
    size_t count;
    (void)a;
    TRY(pickle_pop_mark(p, &values, &count));
    if (op == 'd' && count % 2)
        TRY(pickle_fault(p, "a key without a value"));
    TRY(pickle_new_items(p, &items, count));
    TRY(pickle_append(p, items, values, count));
    TRY(push_items(p, op == 't' ? PICKLE_TUPLE : op == 'l' ? PICKLE_LIST : PICKLE_DICT, items));
done:
    return st;
}

consm_status pickle_op_short_tuple(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *values;
    struct pickle_items *items;
    size_t count = (size_t)op - 0x84;
    (void)a;
    TRY(pickle_pop(p, &values, count));
    TRY(pickle_new_items(p, &items, count));
    TRY(pickle_append(p, items, values, count));
    TRY(push_items(p, PICKLE_TUPLE, items));
done:
    return st;
}

/* APPEND(S) and SETITEM(S): values go into the container below them. */
consm_status pickle_op_extend(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *values, *container;
    bool dict = op == 's' || op == 'u';
    size_t count = dict ? 2 : 1;
    (void)a;
    if (op == 'e' || op == 'u')
        TRY(pickle_pop_mark(p, &values, &count));
    else
        TRY(pickle_pop(p, &values, count));
    TRY(pickle_pop(p, &container, 1));
    p->depth++;
    if (container->kind != (dict ? PICKLE_DICT : PICKLE_LIST))
        TRY(pickle_fault(p, "adding to %s: expected %s", pickle_kind_name(container),
                         dict ? "a dict" : "a list"));
    if (dict && count % 2)
        TRY(pickle_fault(p, "a key without a value"));
    TRY(pickle_append(p, container->items, values, count));
done:
    return st;
}

consm_status pickle_op_mark(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    (void)a, (void)op;
    TRY(GROW(p->mark, p->marks, p->mark_capacity, 1));
    p->mark[p->marks++] = p->depth;
done:
    return st;
}

consm_status pickle_op_pop(struct pickle *p, const struct pickle_argument *a, int op)
{
    struct pickle_value *values;
    size_t count;
    (void)a;
    if (op == '1' || (p->marks > 0 && p->mark[p->marks - 1] == p->depth))
        return pickle_pop_mark(p, &values, &count);
    return pickle_pop(p, &values, 1);
}

consm_status pickle_op_duplicate(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *top, copy;
    (void)a, (void)op;
    TRY(pickle_pop(p, &top, 1));
    p->depth++;
    copy = *top;
    TRY(pickle_push(p, copy));
done:
    return st;
}

/* The index of GET and PUT, which is text. */
static consm_status text_index(struct pickle *p, const struct pickle_argument *a, uint64_t *out)
{
    *out = 0;
    if (a->size == 0 || a->size > 10)
        return pickle_fault(p, "a memo index of %zu digits", a->size);
    for (size_t i = 0; i < a->size; i++) {
        if (a->text[i] < '0' || a->text[i] > '9')
            return pickle_fault(p, "a memo index that is not a number");
        *out = 10 * *out + (uint64_t)(a->text[i] - '0');
    }
    return CONSM_OK;
}

consm_status pickle_op_put(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *top;
    uint64_t index = op == 0x94 ? p->memo_count : a->number;
    if (op == 'p')
        TRY(text_index(p, a, &index));
    /* A pickler counts up and spends two bytes on each: a valid index never exceeds the file's
     * size. */
    if (index > p->size)
        TRY(pickle_fault(p, "memo index %llu in a file of %zu bytes", (unsigned long long)index,
                         p->size));
    TRY(pickle_pop(p, &top, 1));
    p->depth++;
    if (index >= p->memo_count) {
        TRY(GROW(p->memo, p->memo_count, p->memo_capacity, index + 1 - p->memo_count));
        for (size_t i = p->memo_count; i < index; i++)
            p->memo[i] = (struct pickle_value){.kind = UINT32_MAX};
        p->memo_count = index + 1;
    }
    p->memo[index] = p->stack[p->depth - 1];
done:
    return st;
}

consm_status pickle_op_get(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    uint64_t index = a->number;
    if (op == 'g')
        TRY(text_index(p, a, &index));
    if (index >= p->memo_count || p->memo[index].kind == UINT32_MAX)
        TRY(pickle_fault(p, "memo entry %llu was never stored", (unsigned long long)index));
    TRY(pickle_push(p, p->memo[index]));
done:
    return st;
}

consm_status pickle_op_global(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value v;
    (void)op;
    TRY(pickle_global(p, &v, a->text, a->size, a->text2, a->size2));
    TRY(pickle_push(p, v));
done:
    return st;
}

consm_status pickle_op_stack_global(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *name, v;
    (void)a, (void)op;
    TRY(pickle_pop(p, &name, 2));
    if (name[0].kind != PICKLE_TEXT || name[1].kind != PICKLE_TEXT)
        TRY(pickle_fault(p, "a global whose names are %s and %s: expected two strings",
                         pickle_kind_name(&name[0]), pickle_kind_name(&name[1])));
    TRY(pickle_global(p, &v, name[0].text, name[0].size, name[1].text, name[1].size));
    TRY(pickle_push(p, v));
done:
    return st;
}

consm_status pickle_op_call(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *pair, v;
    (void)a;
    TRY(pickle_pop(p, &pair, 2));
    TRY(pickle_call(p, &v, &pair[0], &pair[1], op == 0x81));
    TRY(pickle_push(p, v));
done:
    return st;
}

consm_status pickle_op_build(struct pickle *p, const struct pickle_argument *a, int op)
{
    consm_status st = CONSM_OK;
    struct pickle_value *pair;
    (void)a, (void)op;
    TRY(pickle_pop(p, &pair, 2));
    p->depth++;
    TRY(pickle_build(p, &pair[0], &pair[1]));
done:
    return st;
}
