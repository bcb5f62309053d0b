/* A graph file that is being written. */
#ifndef DATA_READERS_GRAPH_SAVE_INSIDE_H
#define DATA_READERS_GRAPH_SAVE_INSIDE_H

#include "data/readers/graph_save.h"
#include "io/file.h"

struct notes;

struct saving {
    const struct dataset *d;
    const struct graph_extras *extras;
    enum graph_form form;
    struct file_writer *w;
    consm_status st;
    bool first;        /* no item, or no attribute, was written yet */
    size_t odd;        /* the next odd cell of the table */
    size_t exact;      /* the next exact one */
    unsigned taken[2]; /* bits: the name of this extra attribute of nodes, of edges is taken */
    size_t note[2];    /* the next note of nodes, of edges */
    int64_t id;        /* the column of notes that holds the edges' ids, or -1 */
    int64_t title;     /* the one with the display names of nodes, or -1 */
    uint8_t *kind[2];  /* (columns of notes) of enum note_kind */
    uint8_t *text;     /* (columns of cells) 1: the column holds words */
};

/* Text as it is, for XML, and as a JSON string. A failure is kept in s->st. */
void saving_put(struct saving *s, const char *text);
void saving_xml(struct saving *s, const char *text);
void saving_json(struct saving *s, const char *text);

/* The declarations of all attributes, and what comes before them. */
void saving_head(struct saving *s);

/* One attribute; a number; the features and table cells of node i; the notes and added attributes
 * of node or edge i. */
void saving_attribute(struct saving *s, const char *key, const char *name, enum graph_type type,
                      const char *value);
void saving_real(struct saving *s, const char *key, const char *name, double value);
void saving_features(struct saving *s, int64_t i);
void saving_notes(struct saving *s, bool edge, int64_t i);
void saving_extras(struct saving *s, bool edge, int64_t i);

/* The notes of nodes or edges, or NULL. */
const struct notes *saving_notes_of(const struct saving *s, bool edge);
/* Whether nodes or edges already have an attribute with that name. */
bool saving_has(const struct saving *s, const char *name, bool edge);

#endif
