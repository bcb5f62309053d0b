/* dataset.json: facts that a plain folder's tables cannot hold: {"name": "cora", "directed": false,
 * "classes": ["A", "B"], "features": ["word1", …], "edge_attributes": ["day"]}. Every key is
 * optional. classes fixes their order and may list classes without nodes. edge_attributes are
 * columns of edges.csv that models do not read. */
#ifndef DATA_READERS_PLAIN_ABOUT_H
#define DATA_READERS_PLAIN_ABOUT_H

#include <jansson.h>

#include "data/readers/node_text.h"
#include "io/file.h"

/* All zero is empty. */
struct plain_about {
    json_t *root;
    struct names attributes; /* of edges */
};

/* Reads it and fills the fixed list of classes, if it has one. */
consm_status plain_about_read(struct plain_about *a, struct classes *classes,
                              const struct text_file *file);
/* Gives d its name, direction and feature names. */
consm_status plain_about_give(struct dataset *d, const struct plain_about *a,
                              const struct text_file *file);
void plain_about_free(struct plain_about *a);

/* Writes it for d. */
consm_status plain_about_save(const struct dataset *d, const char *path);

#endif
