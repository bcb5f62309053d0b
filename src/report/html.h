/* The report: one self-contained page that needs no network, and the same tables and figures as
 * files. Callers fill it from top to bottom; the page puts the summary first, then the sections in
 * order, then the claims, the commands and the data's hashes. */

/*
 * As with tables, filling reports no errors: the first fault is stored, and writing returns it.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/svg.h"
#include "report/table.h"

struct report;

consm_status report_new(struct report **out, const char *title);
void report_free(struct report *r); /* NULL is fine */
consm_status report_status(const struct report *r);

/* A line of the head: "version" "0.1.0", "machine" "…", "time taken" "2 h 10 min". */
void report_about(struct report *r, const char *key, const char *value);

/* The summary: a few key figures, then sentences. */
void report_fact(struct report *r, const char *value, const char *label, const char *detail);
void report_summary(struct report *r, const char *sentence);

/* Begins a section; what is added next belongs to it. intro may be NULL. */
void report_section(struct report *r, const char *title, const char *intro);
/* Puts the section's figures and tables, all narrow, in two columns if the screen is wide enough.
 */
void report_in_columns(struct report *r);
/* A new table for the caller to fill; NULL, which may be filled too, if the report has a fault. */
struct table *report_new_table(struct report *r, const char *name, const char *caption);
void report_lines(struct report *r, const struct line_chart *chart);
void report_bars(struct report *r, const struct bar_chart *chart);
void report_heat(struct report *r, const struct heat_map *map);
void report_reliability(struct report *r, const struct reliability_chart *chart);
/* Adds one that exists. */
void report_table(struct report *r, struct table *t);   /* takes ownership, also on failure */
void report_figure(struct report *r, struct figure *f); /* the same */

/* A picker that draws the neighbourhood of a chosen node. Graphs of up to REPORT_EDGES edges are
 * embedded completely; of larger ones, balls around evenly spread nodes, and the page says so. */
enum { REPORT_EDGES = 250000 };
void report_graph(struct report *r, const struct graph_view *g);

/* A claim of the paper, whether we reproduced it, and our result. */
void report_claim(struct report *r, const char *claim, bool reproduced, const char *detail);

/* How to reproduce it: exact commands, and the SHA-256 of every data file. */
void report_command(struct report *r, const char *command);
void report_hash(struct report *r, const char *name, const char *sha256);

consm_status report_to_html(struct text *out, const struct report *r);
consm_status report_write_html(const struct report *r, const char *path); /* atomic */

/* Writes every table as NAME.csv, NAME.md, NAME.tex and every figure as NAME.svg into a folder,
 * which is created. */
consm_status report_write_files(const struct report *r, const char *folder);

/* Writes a NAME.png beside every NAME.svg of report_write_files. Tries every figure; returns the
 * first failure, CONSM_ENOTFOUND if no converter is installed. */
consm_status report_write_pngs(const struct report *r, const char *folder);

/* The tables, the claims and the summary as text for a terminal with that many columns. */
consm_status report_to_terminal(struct text *out, const struct report *r, int width, bool bold);

/* Converts an SVG file to PNG, `scale` pixels per unit, with the first installed of rsvg-convert,
 * Inkscape and Chromium. CONSM_ENOTFOUND if there is none; the message names them. */
consm_status report_write_png(const char *png_path, const char *svg_path, double scale);

/* The graph as the JSON that assets/picker.js reads. */
consm_status report_graph_json(struct text *out, const struct graph_view *g, int64_t most_edges);

#endif
