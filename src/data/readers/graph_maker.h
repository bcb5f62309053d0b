/* Shared by the graph formats of other programs (GraphML, GEXF, GML, node-link JSON, Pajek,
 * adjacency lists): nodes with attributes and edges with weights arrive in any order and become a
 * dataset at the end. */

/*
 * Attributes are columns like those of nodes.csv: one may be the label, one the split, the others
 * become features.
 */
#ifndef DATA_READERS_GRAPH_MAKER_H
#define DATA_READERS_GRAPH_MAKER_H

#include "data/readers/reader.h"
#include "data/table/notes.h"
#include "io/faults.h"

enum { MAKER_WARNINGS = 5 }; /* unused edge attributes that are named in messages */

struct node_value {
    int32_t node, column, text, line; /* node -1: the default for all others */
};

struct graph_maker {
    const struct text_file *file;
    struct reading_options *reading;
    bool directed;
    bool declares; /* an edge to an undeclared node is a fault */
    const char
        *name_column; /* the attribute that names nodes, if all have it and no two are equal */

    struct names id;
    uint8_t *declared; /* (ids) */
    size_t declared_capacity;
    struct names column, text;
    struct node_value *value;
    size_t values, value_capacity;
    int32_t *from, *to, *line; /* (edges) */
    float *weight;             /* (edges), NAN: none */
    float usual_weight;        /* their default, if the file declares one */
    bool weighted, has_usual;
    bool has_titles;   /* nodes have display names in the column NOTES_TITLE */
    bool has_edge_ids; /* some edge has an id */
    size_t edges, from_capacity, to_capacity, line_capacity, weight_capacity;
    struct names passed; /* edge attributes already reported as ignored */
    struct notes notes;  /* those that are kept */
    struct faults faults;
};

/* Declares a node; a second declaration is a fault, and *node is the first one's. */
consm_status maker_node(int64_t *node, struct graph_maker *m, const char *id, int64_t line);
/* Adds an attribute; of two with the same name the first counts. node -1: the default. */
consm_status maker_value(struct graph_maker *m, int64_t node, const char *column, const char *text,
                         int64_t line);
/* Adds an edge between the nodes with these ids. */
consm_status maker_edge(struct graph_maker *m, const char *from, const char *to, int64_t line);
/* Sets the id of the last edge, if it is to be written again; it may be NULL. */
consm_status maker_edge_id(struct graph_maker *m, const char *id, int64_t line);
/* An attribute of the last edge: its weight, a note, or ignored. */
consm_status maker_edge_value(struct graph_maker *m, const char *name, const char *text,
                              int64_t line);
/* Reports an edge attribute that is neither text nor number and gets lost. */
consm_status maker_pass_over(struct graph_maker *m, const char *name);
/* The default value of an edge attribute. */
consm_status maker_edge_default(struct graph_maker *m, const char *name, const char *text,
                                int64_t line);
/* Records a fault in a line of the file. */
consm_status maker_fault(struct graph_maker *m, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts everything into d, with the files of labels and features beside it. */
consm_status maker_finish(struct dataset *d, struct graph_maker *m);

/* Opens the file, which may be compressed, and lets read() fill the maker. */
typedef consm_status (*maker_read_fn)(struct graph_maker *m);
consm_status maker_load(struct dataset **out, const char *path, struct reading_options *reading,
                        maker_read_fn read);
/* The same on bytes in memory. */
consm_status maker_read_file(struct dataset *d, const struct text_file *file,
                             struct reading_options *reading, maker_read_fn read);

/* Whether the file begins with that text, after blanks, a byte order mark and XML's or JSON's
 * prologue. */
bool maker_opens_with(const struct probe *p, const char *element);

/* The formats. */
consm_status graphml_read(struct graph_maker *m);
consm_status gexf_read(struct graph_maker *m);
consm_status gml_read(struct graph_maker *m);
consm_status node_link_read(struct graph_maker *m);
consm_status pajek_read(struct graph_maker *m);
consm_status adjacency_read(struct graph_maker *m);

enum sniffed graphml_sniff(const struct probe *p);
enum sniffed gexf_sniff(const struct probe *p);
enum sniffed gml_sniff(const struct probe *p);
enum sniffed node_link_sniff(const struct probe *p);
enum sniffed pajek_sniff(const struct probe *p);
enum sniffed adjacency_sniff(const struct probe *p);

consm_status graphml_load(struct dataset **out, const char *path, struct reading_options *reading);
consm_status gexf_load(struct dataset **out, const char *path, struct reading_options *reading);
consm_status gml_load(struct dataset **out, const char *path, struct reading_options *reading);
consm_status node_link_load(struct dataset **out, const char *path,
                            struct reading_options *reading);
consm_status pajek_load(struct dataset **out, const char *path, struct reading_options *reading);
consm_status adjacency_load(struct dataset **out, const char *path,
                            struct reading_options *reading);

#endif
