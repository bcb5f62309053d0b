/* Collects nodes, attributes and edges of a file. graph_finish.c makes the dataset. */
#include "data/readers/graph_maker.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/number.h"
#include "base/utf8.h"
#include "io/sha256.h"
#include "io/unpack.h"

consm_status maker_fault(struct graph_maker *m, int64_t line, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    number_vprint(what, sizeof what, format, args);
    va_end(args);
    consm_status st = line > 0 ? status_fail(CONSM_EFORMAT, "%s: line %lld: %s", m->file->name,
                                             (long long)line, what)
                               : status_fail(CONSM_EFORMAT, "%s: %s", m->file->name, what);
    return faults_take(&m->faults, st);
}

/* The index of an id, declared or not. */
static consm_status find_id(int64_t *place, struct graph_maker *m, const char *id)
{
    consm_status st = CONSM_OK;
    int64_t before = m->id.count;
    TRY(names_add(place, &m->id, id, strlen(id)));
    if (*place == before) {
        TRY(GROW(m->declared, before, m->declared_capacity, 1));
        m->declared[before] = 0;
    }
done:
    return st;
}

consm_status maker_node(int64_t *node, struct graph_maker *m, const char *id, int64_t line)
{
    consm_status st = CONSM_OK;
    *node = 0;
    if (!utf8_valid(id, strlen(id)))
        return maker_fault(m, line, "the id of a node is not UTF-8 text");
    TRY(find_id(node, m, id));
    if (m->declared[*node])
        return maker_fault(m, line, "node \"%.40s\" occurs twice", id);
    m->declared[*node] = 1;
done:
    return st;
}

consm_status maker_value(struct graph_maker *m, int64_t node, const char *column, const char *text,
                         int64_t line)
{
    consm_status st = CONSM_OK;
    int64_t place, at;
    if (!*column || !utf8_valid(column, strlen(column)) || !utf8_valid(text, strlen(text)))
        return maker_fault(m, line, "an attribute is not UTF-8 text");
    TRY(names_add(&place, &m->column, column, strlen(column)));
    TRY(names_add(&at, &m->text, text, strlen(text)));
    TRY(GROW(m->value, m->values, m->value_capacity, 1));
    m->value[m->values++] = (struct node_value){(int32_t)node, (int32_t)place, (int32_t)at,
                                                line < INT32_MAX ? (int32_t)line : 0};
done:
    return st;
}

consm_status maker_edge(struct graph_maker *m, const char *from, const char *to, int64_t line)
{
    consm_status st = CONSM_OK;
    int64_t a, b;
    if (!utf8_valid(from, strlen(from)) || !utf8_valid(to, strlen(to)))
        return maker_fault(m, line, "the id of a node is not UTF-8 text");
    TRY(find_id(&a, m, from));
    TRY(find_id(&b, m, to));
    TRY(GROW(m->from, m->edges, m->from_capacity, 1));
    TRY(GROW(m->to, m->edges, m->to_capacity, 1));
    TRY(GROW(m->line, m->edges, m->line_capacity, 1));
    TRY(GROW(m->weight, m->edges, m->weight_capacity, 1));
    m->from[m->edges] = (int32_t)a;
    m->to[m->edges] = (int32_t)b;
    m->line[m->edges] = line < INT32_MAX ? (int32_t)line : 0;
    m->weight[m->edges++] = NAN;
done:
    return st;
}

/* Whether that edge attribute is the weight. */
static bool is_weight(struct graph_maker *m, const char *name)
{
    struct wanted *w = &m->reading->wanted;
    size_t length = strlen(name);
    if (w->weight && wanted_weight(w, name, length))
        return true;
    return (!w->weight || (w->remembered >> CHOICE_WEIGHT & 1)) &&
           token_is_one_of(name, length,
                           w->weight ? "weight" : "weight|w|value|weights|edge_weight");
}

static consm_status read_weight(float *out, struct graph_maker *m, const char *text, int64_t line)
{
    if (token_float(out, text, strlen(text)))
        return CONSM_OK;
    return maker_fault(m, line,
                       "found \"%.40s\" as the weight of an edge, expected a finite number", text);
}

/* Reports each unused name once: the first few, then only their number. */
consm_status maker_pass_over(struct graph_maker *m, const char *name)
{
    consm_status st = CONSM_OK;
    int64_t place, before = m->passed.count;
    TRY(names_add(&place, &m->passed, name, strlen(name)));
    if (place == before && place < MAKER_WARNINGS)
        log_warn("%s: ignored the edge attribute %.60s (to use it as weight: --weight-column)",
                 m->file->name, name);
done:
    return st;
}

/* Of two with the same name the first counts. */
static consm_status keep_note(struct graph_maker *m, int64_t edge, const char *name,
                              const char *text, int64_t line)
{
    const struct notes *n = &m->notes;
    int64_t column = names_find(&n->column, name, strlen(name));
    if (!utf8_valid(text, strlen(text)))
        return maker_fault(m, line, "an attribute is not UTF-8 text");
    for (size_t k = n->count; k > 0 && n->note[k - 1].item == edge; k--)
        if (n->note[k - 1].column == column)
            return CONSM_OK;
    return notes_add(&m->notes, edge, name, strlen(name), text, strlen(text));
}

consm_status maker_edge_id(struct graph_maker *m, const char *id, int64_t line)
{
    if (!id || m->edges == 0 || !wanted_keeps(&m->reading->wanted, NOTES_ID, strlen(NOTES_ID)))
        return CONSM_OK;
    m->has_edge_ids = true;
    return keep_note(m, (int64_t)m->edges - 1, NOTES_ID, id, line);
}

consm_status maker_edge_value(struct graph_maker *m, const char *name, const char *text,
                              int64_t line)
{
    if (m->edges == 0)
        return CONSM_OK;
    if (is_weight(m, name)) {
        m->weighted = true;
        return read_weight(&m->weight[m->edges - 1], m, text, line);
    }
    if (!utf8_valid(name, strlen(name)))
        return CONSM_OK;
    if (m->has_edge_ids && strcmp(name, NOTES_ID) == 0) /* an attribute besides the real id */
        name = NOTES_ID "_";
    if (wanted_keeps(&m->reading->wanted, name, strlen(name)))
        return keep_note(m, (int64_t)m->edges - 1, name, text, line);
    if (strcmp(name, NOTES_ID) == 0 || wanted_ignores(&m->reading->wanted, name, strlen(name)))
        return CONSM_OK;
    return maker_pass_over(m, name);
}

consm_status maker_edge_default(struct graph_maker *m, const char *name, const char *text,
                                int64_t line)
{
    bool weight = is_weight(m, name);
    if (!weight && *name && utf8_valid(name, strlen(name)) &&
        wanted_keeps(&m->reading->wanted, name, strlen(name)))
        return keep_note(m, -1, name, text, line);
    if (!weight || m->has_usual)
        return CONSM_OK;
    m->weighted = m->has_usual = true;
    return read_weight(&m->usual_weight, m, text, line);
}

static void maker_free(struct graph_maker *m)
{
    names_free(&m->id);
    names_free(&m->column);
    names_free(&m->text);
    names_free(&m->passed);
    notes_free(&m->notes);
    mem_free(m->declared);
    mem_free(m->value);
    mem_free(m->from);
    mem_free(m->to);
    mem_free(m->line);
    mem_free(m->weight);
}

/* ---- files --------------------------------------------------------------- */

consm_status maker_read_file(struct dataset *d, const struct text_file *file,
                             struct reading_options *reading, maker_read_fn read)
{
    consm_status st = CONSM_OK;
    struct graph_maker *m = NULL;
    TRY(ZNEW(m, 1));
    m->file = file;
    m->reading = reading;
    TRY(read(m));
    TRY(faults_status(&m->faults, file->name));
    TRY(maker_finish(d, m));
done:
    if (m)
        maker_free(m);
    mem_free(m);
    return st;
}

consm_status maker_load(struct dataset **out, const char *path, struct reading_options *reading,
                        maker_read_fn read)
{
    consm_status st = CONSM_OK;
    struct dataset *d = NULL;
    struct unpacked file = {0};
    *out = NULL;
    TRY(unpack_open(&file, path));
    TRY(dataset_new(&d, path));
    TRY(maker_read_file(d, &(struct text_file){path, file.data, file.size, false}, reading, read));
    if (!reading->labels && !reading->features)
        sha256_of(d->sha256, file.data, file.size);
    *out = d;
    d = NULL;
done:
    unpack_close(&file);
    dataset_free(d);
    return st;
}

bool maker_opens_with(const struct probe *p, const char *element)
{
    enum { LOOK = 4096 };
    size_t length = p->file.size < LOOK ? p->file.size : LOOK;
    const char *text = p->file.data, *hit;
    if (p->folder || length == 0)
        return false;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3, length -= 3;
    while (length > 0 && strchr(" \t\r\n", *text) && *text)
        text++, length--;
    hit = memmem(text, length, element, strlen(element));
    return length > 0 && *text == *element && hit != NULL;
}
