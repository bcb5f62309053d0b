/*
 * Where the graph formats of other programs meet (GraphML, GEXF, GML, node-link JSON, Pajek,
 * adjacency lists): nodes with attributes and edges with weights arrive in any order, and become a
 * dataset in the end. Attributes are columns as those of nodes.csv are: one may be the label, one
 * the split, the others become features.
 */
#ifndef DATA_READERS_GRAPH_MAKER_H
#define DATA_READERS_GRAPH_MAKER_H

#include "data/readers/reader.h"
#include "data/table/notes.h"
#include "io/faults.h"

enum { MAKER_WARNINGS = 5 }; /* attributes of edges that are named when they are not used */

struct node_value {
    int32_t node, column, text, line; /* node -1: of all that say nothing else */
};

struct graph_maker {
    const struct text_file *file;
    struct reading_options *reading;
    bool directed;
    bool declares;           /* an edge to a node that was not declared is a fault */
    const char *name_column; /* what nodes are called, if all have one and no two the same */

    struct names id;
    uint8_t *declared; /* (ids) */
    size_t declared_capacity;
    struct names column, text;
    struct node_value *value;
    size_t values, value_capacity;
    int32_t *from, *to, *line; /* (edges) */
    float *weight;             /* (edges), NAN where none is given */
    float usual_weight;        /* of those, where the file declares one */
    bool weighted, has_usual;
    bool has_edge_ids; /* some edge was given its id */
    size_t edges, from_capacity, to_capacity, line_capacity, weight_capacity;
    struct names passed; /* attributes of edges that were told to be passed over */
    struct notes notes;  /* those that are kept */
    struct faults faults;
};

/* Declares a node; twice is a fault, after which *node is the first one's. */
consm_status maker_node(int64_t *node, struct graph_maker *m, const char *id, int64_t line);
/* An attribute; the first of two of the same name counts. node -1: for all that have none. */
consm_status maker_value(struct graph_maker *m, int64_t node, const char *column, const char *text,
                         int64_t line);
/* An edge between the nodes of these ids. */
consm_status maker_edge(struct graph_maker *m, const char *from, const char *to, int64_t line);
/* The id of the last edge, if commands want to write it again; it may be NULL. */
consm_status maker_edge_id(struct graph_maker *m, const char *id, int64_t line);
/* An attribute of the last edge: its weight, a note, or passed over. */
consm_status maker_edge_value(struct graph_maker *m, const char *name, const char *text,
                              int64_t line);
/* An attribute of edges that is no text or number and gets lost. */
consm_status maker_pass_over(struct graph_maker *m, const char *name);
/* The value of an attribute for all edges that have none of their own. */
consm_status maker_edge_default(struct graph_maker *m, const char *name, const char *text,
                                int64_t line);
/* Notes a fault of a line of the file. */
consm_status maker_fault(struct graph_maker *m, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Everything into d, and the files of labels and features beside. */
consm_status maker_finish(struct dataset *d, struct graph_maker *m);
void maker_free(struct graph_maker *m);

/* Opens the file, perhaps a compressed one, and lets read() fill the maker. */
typedef consm_status (*maker_read_fn)(struct graph_maker *m);
consm_status maker_load(struct dataset **out, const char *path, struct reading_options *reading,
                        maker_read_fn read);
/* The same on bytes in memory. */
consm_status maker_read_file(struct dataset *d, const struct text_file *file,
                             struct reading_options *reading, maker_read_fn read);

/* Is that text at the beginning of the file, behind blanks, a mark and XML's or JSON's prologue? */
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
