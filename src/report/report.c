/* Fills a report, and writes its tables and figures as files. */
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "report/report_inside.h"
#include "report/table_inside.h"

static char *copy(struct report *r, const char *s)
{
    char *words = r->status >= 0 && s ? mem_strdup(s) : NULL;
    if (s && !words && r->status >= 0)
        r->status = CONSM_ENOMEM;
    return words;
}

consm_status report_new(struct report **out, const char *title)
{
    consm_status st = CONSM_OK;
    struct report *r;
    *out = NULL;
    TRY(ZNEW(r, 1));
    r->title = copy(r, title ? title : "");
    TRY(r->status);
    *out = r;
    return CONSM_OK;
done:
    report_free(r);
    return st;
}

static void free_lines(struct report_lines *list)
{
    for (size_t i = 0; i < list->count; i++) {
        mem_free(list->line[i].key);
        mem_free(list->line[i].value);
        mem_free(list->line[i].detail);
    }
    mem_free(list->line);
}

void report_free(struct report *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->items; i++) {
        mem_free(r->item[i].title);
        mem_free(r->item[i].text);
        table_free(r->item[i].table);
        figure_free(r->item[i].figure);
    }
    mem_free(r->item);
    struct report_lines *const all[] = {&r->about,  &r->facts,    &r->summary,
                                        &r->claims, &r->commands, &r->hashes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free_lines(all[i]);
    mem_free(r->title);
    mem_free(r);
}

consm_status report_status(const struct report *r)
{
    for (size_t i = 0; r->status >= 0 && i < r->items; i++)
        if (r->item[i].table && r->item[i].table->status < 0)
            return r->item[i].table->status;
    return r->status;
}

static void add_line(struct report *r, struct report_lines *list, const char *key,
                     const char *value, const char *detail, bool yes)
{
    if (r->status < 0 || (r->status = GROW(list->line, list->count, list->capacity, 1)) < 0)
        return;
    list->line[list->count++] =
        (struct report_line){copy(r, key), copy(r, value), copy(r, detail), yes};
}

void report_about(struct report *r, const char *key, const char *value)
{
    add_line(r, &r->about, key, value, NULL, false);
}

void report_fact(struct report *r, const char *value, const char *label, const char *detail)
{
    add_line(r, &r->facts, label, value, detail, false);
}

void report_summary(struct report *r, const char *sentence)
{
    add_line(r, &r->summary, sentence, NULL, NULL, false);
}

void report_claim(struct report *r, const char *claim, bool reproduced, const char *detail)
{
    add_line(r, &r->claims, claim, NULL, detail, reproduced);
}

void report_command(struct report *r, const char *command)
{
    add_line(r, &r->commands, command, NULL, NULL, false);
}

void report_hash(struct report *r, const char *name, const char *sha256)
{
    add_line(r, &r->hashes, name, sha256, NULL, false);
}

/* Appends a new item of that kind, or NULL. Everything but a section needs a section before it. */
static struct report_item *add_item(struct report *r, enum item_kind kind)
{
    if (r->status >= 0 && r->items == 0 && kind != ITEM_SECTION)
        report_section(r, "Results", NULL);
    if (r->status < 0 || (r->status = GROW(r->item, r->items, r->items_capacity, 1)) < 0)
        return NULL;
    r->item[r->items] = (struct report_item){.kind = kind};
    return &r->item[r->items++];
}

void report_section(struct report *r, const char *title, const char *intro)
{
    struct report_item *item = add_item(r, ITEM_SECTION);
    if (!item)
        return;
    item->title = copy(r, title ? title : "");
    item->text = copy(r, intro);
}

void report_in_columns(struct report *r)
{
    for (size_t i = r->items; r->status >= 0 && i-- > 0;)
        if (r->item[i].kind == ITEM_SECTION) {
            r->item[i].columns = true;
            return;
        }
}

static const char *item_name(const struct report_item *item)
{
    return item->table ? item->table->name : item->figure ? item->figure->name : "";
}

/* Names become file names and ids, so a second "accuracy" is called "accuracy-2". */
static void make_unique(struct report *r, char **name)
{
    char *first = *name;
    for (int number = 2; r->status >= 0; number++) {
        bool taken = false;
        for (size_t i = 0; i + 1 < r->items; i++)
            taken = taken || strcmp(item_name(&r->item[i]), *name) == 0;
        if (!taken)
            break;
        struct text next = {0};
        text_printf(&next, "%s-%d", first, number);
        char *words = copy(r, text_string(&next));
        text_free(&next);
        if (!words)
            break;
        if (*name != first)
            mem_free(*name);
        *name = words;
    }
    if (*name != first)
        mem_free(first);
}

void report_table(struct report *r, struct table *t)
{
    struct report_item *item = t ? add_item(r, ITEM_TABLE) : NULL;
    if (!item) {
        table_free(t);
        return;
    }
    item->table = t;
    if (t->status < 0)
        r->status = t->status;
    make_unique(r, &t->name);
}

struct table *report_new_table(struct report *r, const char *name, const char *caption)
{
    struct table *t = NULL;
    if (r->status >= 0)
        r->status = table_new(&t, name, caption);
    report_table(r, t);
    return r->status < 0 ? NULL : t;
}

void report_figure(struct report *r, struct figure *f)
{
    struct report_item *item = f ? add_item(r, ITEM_FIGURE) : NULL;
    if (!item) {
        figure_free(f);
        return;
    }
    item->figure = f;
    make_unique(r, &f->name);
}

/* Adds a figure, or the failure to make it. */
static void add_made(struct report *r, struct figure *f, consm_status made)
{
    if (r->status >= 0 && made < 0)
        r->status = made;
    report_figure(r, f);
}

void report_lines(struct report *r, const struct line_chart *chart)
{
    struct figure *f;
    consm_status st = figure_line(&f, chart);
    add_made(r, f, st);
}

void report_bars(struct report *r, const struct bar_chart *chart)
{
    struct figure *f;
    consm_status st = figure_bar(&f, chart);
    add_made(r, f, st);
}

void report_heat(struct report *r, const struct heat_map *map)
{
    struct figure *f;
    consm_status st = figure_heat(&f, map);
    add_made(r, f, st);
}

void report_reliability(struct report *r, const struct reliability_chart *chart)
{
    struct figure *f;
    consm_status st = figure_reliability(&f, chart);
    add_made(r, f, st);
}

void report_graph(struct report *r, const struct graph_view *g)
{
    struct text json = {0};
    struct report_item *item = add_item(r, ITEM_GRAPH);
    if (!item)
        return;
    item->title = copy(r, g->name ? g->name : "");
    consm_status st = report_graph_json(&json, g, REPORT_EDGES);
    if (st < 0) {
        r->status = st;
        text_free(&json);
        return;
    }
    item->text = json.data; /* the item owns it now */
}

/* ---- files --------------------------------------------------------------- */

static consm_status save(const char *folder, const char *name, const char *ending,
                         const struct text *content)
{
    consm_status st = CONSM_OK;
    struct text file = {0};
    char *path = NULL;
    text_printf(&file, "%s.%s", name, ending);
    TRY(text_status(&file));
    TRY(file_join(&path, folder, text_string(&file)));
    TRY(text_save(content, path));
done:
    text_free(&file);
    mem_free(path);
    return st;
}

static consm_status save_table(const char *folder, const struct table *t)
{
    static const struct {
        const char *ending;
        consm_status (*write)(struct text *, const struct table *);
    } form[] = {{"csv", table_to_csv}, {"md", table_to_markdown}, {"tex", table_to_latex}};
    consm_status st = CONSM_OK;
    struct text content = {0};
    for (int i = 0; i < 3; i++) {
        text_free(&content);
        TRY(form[i].write(&content, t));
        TRY(save(folder, t->name, form[i].ending, &content));
    }
done:
    text_free(&content);
    return st;
}

consm_status report_write_files(const struct report *r, const char *folder)
{
    consm_status st = CONSM_OK;
    struct text content = {0};
    TRY(report_status(r));
    TRY(file_make_folders(folder));
    for (size_t i = 0; i < r->items; i++) {
        if (r->item[i].table)
            TRY(save_table(folder, r->item[i].table));
        if (r->item[i].figure) {
            text_free(&content);
            TRY(figure_to_svg(&content, r->item[i].figure));
            TRY(save(folder, r->item[i].figure->name, "svg", &content));
        }
    }
done:
    text_free(&content);
    return st;
}

/* Twice the size on the page: sharp on high-resolution screens and in print. */
static consm_status save_png(const char *folder, const char *name)
{
    consm_status st = CONSM_OK;
    struct text svg = {0}, png = {0};
    char *from = NULL, *to = NULL;
    text_printf(&svg, "%s.svg", name);
    text_printf(&png, "%s.png", name);
    TRY(file_join(&from, folder, text_string(&svg)));
    TRY(file_join(&to, folder, text_string(&png)));
    TRY(report_write_png(to, from, 2));
done:
    text_free(&svg);
    text_free(&png);
    mem_free(from);
    mem_free(to);
    return st;
}

consm_status report_write_pngs(const struct report *r, const char *folder)
{
    consm_status first = r->status;
    for (size_t i = 0; i < r->items; i++) {
        consm_status st = CONSM_OK;
        if (r->item[i].figure)
            st = save_png(folder, r->item[i].figure->name);
        first = first < 0 ? first : st;
    }
    return first;
}
