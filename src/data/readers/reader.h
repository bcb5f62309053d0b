/* A format is a row of a table: its name, how its files are recognised, how they are read and, for
 * some, written. */

/*
 * All code about formats uses the table (data/load.c to recognise, the command for --format, --to,
 * completion and `consm help formats`), and a test compares docs/reference/formats.md with it.
 * Modelled on GDAL's drivers.
 */
#ifndef DATA_READERS_READER_H
#define DATA_READERS_READER_H

#include <string.h>

#include "data/dataset.h"
#include "data/table/names.h"
#include "data/wanted.h"
#include "io/token.h"
#include "io/unpack.h"

/* What is visible of a path before reading it: a file's first bytes, or the names in a folder. */
struct probe {
    const char *path;
    bool folder;
    struct text_file file;  /* unpacked, if it is compressed */
    struct unpacked opened; /* the memory of its bytes */
    struct names names;
};

consm_status probe_open(struct probe *p, const char *path);
void probe_close(struct probe *p);

static inline bool probe_has(const struct probe *p, const char *name)
{
    return names_find(&p->names, name, strlen(name)) >= 0;
}

/* How to read a path. */
struct reading_options {
    const char *labels, *features; /* files beside an edge list or a graph file, or NULL */
    /* The processes that read it together, each its own rows (their number and swap; the reader
     * decides the rows); NULL: the whole is read. */
    const struct partition *partition;
    struct wanted wanted;
    enum repeat_rule duplicates;
};

enum sniffed { SNIFF_NO, SNIFF_PERHAPS, SNIFF_YES };

enum { READER_SUFFIXES = 4 };

struct reader {
    const char *name, *alias; /* "npz", as in --format npz; a second name, or NULL */
    const char *title;        /* "NumPy archive": its section in docs/reference/formats.md */
    const char *shows;        /* "a text file with …": how it is recognised, for messages */
    const char *suffix[READER_SUFFIXES]; /* of its files; none: its sets are folders */
    enum sniffed (*sniff)(const struct probe *p);
    consm_status (*load)(struct dataset **out, const char *path);
    /* Instead of load, if there are choices about columns; */
    consm_status (*load_with)(struct dataset **out, const char *path,
                              struct reading_options *reading);
    bool companions; /* files of labels and features may accompany it */
    bool in_parts;   /* each of several processes can read its own rows */
    bool whole;      /* it is read from disk as it is, not unpacked */
    consm_status (*save)(const struct dataset *d, const char *path); /* NULL: read-only */
};

/* The names of the table, and those that have a save, for messages and help. */
#define READER_NAMES                                                                         \
    "plain, edges, mtx, graphml, gexf, gml, json, pajek, adjlist, npz, safetensors, parts, " \
    "geom-gcn, planetoid"
#define READER_SAVED_NAMES "plain, graphml, gexf, gml, json, npz, safetensors"

/* Row index, or NULL after the last. */
const struct reader *reader_get(int index);

/* By name or alias. CONSM_EINVAL with the list of names if there is none. */
consm_status reader_find(const struct reader **out, const char *name);

/* By a file's suffix, in any case, ignoring .gz and .zst; NULL: none. */
const struct reader *reader_of_suffix(const char *path);

/* The suffix of a path, like ".npz" or ".csv.gz"; NULL: none. */
const char *reader_suffix(const char *path);
/* Whether a path has that suffix, ignoring .gz and .zst. */
bool reader_has_suffix(const char *path, const char *suffix);

/* By the path's content: the first row that is certain, else the first that would accept it. */
consm_status reader_recognise(const struct reader **out, const char *path);

#endif
