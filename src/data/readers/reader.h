/*
 * A format is a row of a table: what it is called, what its files show, how they are read and, for
 * some, written. Whoever speaks of formats asks the table (data/load.c to recognise, the command
 * for --format, --to, completion and `consm help formats`), and a test holds
 * docs/reference/formats.md against it. The model are GDAL's drivers.
 */
#ifndef DATA_READERS_READER_H
#define DATA_READERS_READER_H

#include <string.h>

#include "data/dataset.h"
#include "data/table/names.h"
#include "data/wanted.h"
#include "io/token.h"
#include "io/unpack.h"

/* What can be seen of a path without reading it: a file's bytes, or the names in a folder. */
struct probe {
    const char *path;
    bool folder;
    struct text_file file;  /* unpacked, where it is packed */
    struct unpacked opened; /* what its bytes lie in */
    struct names names;
};

consm_status probe_open(struct probe *p, const char *path);
void probe_close(struct probe *p);

static inline bool probe_has(const struct probe *p, const char *name)
{
    return names_find(&p->names, name, strlen(name)) >= 0;
}

/* How a path is to be read. */
struct reading_options {
    const char *labels, *features; /* files that stand beside an edge list, or NULL */
    /* The processes that read it together, each a share of it (who they are, and their swap); NULL:
     * the whole is read. */
    const struct partition *crew;
    struct wanted wanted;
    enum repeat_rule duplicates;
};

enum sniffed { SNIFF_NO, SNIFF_PERHAPS, SNIFF_YES };

enum { READER_SUFFIXES = 4 };

struct reader {
    const char *name, *alias; /* "npz", as in --format npz; a second name, or NULL */
    const char *title;        /* "NumPy archive": its section in docs/reference/formats.md */
    const char *shows;        /* "a zip file": what it is recognised by, for people */
    const char *suffix[READER_SUFFIXES]; /* of its files; none: its sets are folders */
    enum sniffed (*sniff)(const struct probe *p);
    consm_status (*load)(struct dataset **out, const char *path);
    /* Instead of load, where there is something to say about columns … */
    consm_status (*load_with)(struct dataset **out, const char *path,
                              struct reading_options *reading);
    bool parts;  /* … and files of labels and features may stand beside */
    bool shares; /* can be read in shares, or is in parts as it is */
    bool whole;  /* is read as it is on the disk, not unpacked */
    consm_status (*save)(const struct dataset *d, const char *path); /* NULL: is only read */
};

/* The names of the table, and those that have a save, for messages and help. */
#define READER_NAMES                                                                         \
    "plain, edges, mtx, graphml, gexf, gml, json, pajek, adjlist, npz, safetensors, parts, " \
    "geom-gcn, planetoid"
#define READER_SAVED_NAMES "plain, graphml, gexf, gml, json, npz, safetensors"

/* Row index, or NULL behind the last. */
const struct reader *reader_get(int index);

/* By name or alias. CONSM_EINVAL with the list of names when there is none. */
consm_status reader_find(const struct reader **out, const char *name);

/* By the end of a file's name, in any case, .gz and .zst behind it aside; NULL: there is none. */
const struct reader *reader_of_suffix(const char *path);

/* The end of a path that says what kind of file it is, as ".npz" or ".csv.gz"; NULL: none. */
const char *reader_suffix(const char *path);
/* Whether a path ends in that suffix, .gz and .zst behind it aside. */
bool reader_has_suffix(const char *path, const char *suffix);

/* By what the path holds: the first row that is sure, else the first that would take it. */
consm_status reader_recognise(const struct reader **out, const char *path);

#endif
