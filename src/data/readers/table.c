/* The formats, one row each, in the order in which they are listed. */
#include "data/readers/reader.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/readers/geom_gcn.h"
#include "data/readers/graph_maker.h"
#include "data/readers/graph_save.h"
#include "data/readers/matrix_market.h"
#include "data/readers/npz.h"
#include "data/readers/parts.h"
#include "data/readers/plain.h"
#include "data/readers/planetoid.h"
#include "data/readers/safetensors.h"

static const struct reader table[] = {
    {.name = "plain",
     .alias = "csv",
     .title = "plain folder",
     .shows = "a folder with edges.csv (or .tsv, .txt)",
     .sniff = plain_sniff,
     .load_with = plain_load_with,
     .in_parts = true,
     .save = plain_save},
    {.name = "edges",
     .title = "edge list",
     .shows = "a text file with two or three columns",
     .suffix = {".csv", ".tsv", ".txt"},
     .sniff = edge_list_sniff,
     .load_with = edge_list_load,
     .companions = true,
     .in_parts = true},
    {.name = "mtx",
     .alias = "matrix-market",
     .title = "Matrix Market",
     .shows = "a text file that begins with %%MatrixMarket",
     .suffix = {".mtx"},
     .sniff = matrix_market_sniff,
     .load_with = matrix_market_load,
     .companions = true},
    {.name = "graphml",
     .title = "GraphML",
     .shows = "an XML file with `<graphml>`",
     .suffix = {".graphml"},
     .sniff = graphml_sniff,
     .load_with = graphml_load,
     .companions = true,
     .save = graphml_save},
    {.name = "gexf",
     .title = "GEXF",
     .shows = "an XML file with `<gexf>`",
     .suffix = {".gexf"},
     .sniff = gexf_sniff,
     .load_with = gexf_load,
     .companions = true,
     .save = gexf_save},
    {.name = "gml",
     .title = "GML",
     .shows = "a text file that contains `graph [`",
     .suffix = {".gml"},
     .sniff = gml_sniff,
     .load_with = gml_load,
     .companions = true,
     .save = gml_save},
    {.name = "json",
     .alias = "node-link",
     .title = "node-link JSON",
     .shows = "a text file that begins with {",
     .suffix = {".json"},
     .sniff = node_link_sniff,
     .load_with = node_link_load,
     .companions = true,
     .save = node_link_save},
    {.name = "pajek",
     .alias = "net",
     .title = "Pajek",
     .shows = "a text file that begins with *Vertices",
     .suffix = {".net"},
     .sniff = pajek_sniff,
     .load_with = pajek_load,
     .companions = true},
    {.name = "adjlist",
     .title = "adjacency list",
     .shows = "a text file named *.adjlist",
     .suffix = {".adjlist", ".adj"},
     .sniff = adjacency_sniff,
     .load_with = adjacency_load,
     .companions = true},
    {.name = "npz",
     .title = "NumPy archive",
     .shows = "a zip archive of NumPy arrays",
     .suffix = {".npz"},
     .sniff = npz_sniff,
     .load = npz_load,
     .save = npz_save},
    {.name = "safetensors",
     .title = "safetensors",
     .shows = "a file with a safetensors header",
     .suffix = {".safetensors"},
     .sniff = safetensors_dataset_sniff,
     .load = safetensors_dataset_load,
     .whole = true,
     .save = safetensors_dataset_save},
    {.name = "parts",
     .title = "parts",
     .shows = "a folder with graph.safetensors and rows.safetensors",
     .sniff = parts_sniff,
     .load = parts_load,
     .in_parts = true,
     .whole = true},
    {.name = "geom-gcn",
     .title = "Geom-GCN",
     .shows = "a folder with out1_graph_edges.txt",
     .sniff = geom_gcn_sniff,
     .load = geom_gcn_load,
     .whole = true},
    {.name = "planetoid",
     .title = "Planetoid",
     .shows = "a folder with ind.NAME.graph, or one of those files",
     .sniff = planetoid_sniff,
     .load = planetoid_load_path,
     .whole = true},
};
enum { READERS = sizeof table / sizeof *table };

const struct reader *reader_get(int index)
{
    return index >= 0 && index < READERS ? &table[index] : NULL;
}

consm_status reader_find(const struct reader **out, const char *name)
{
    for (int i = 0; i < READERS; i++)
        if (strcmp(table[i].name, name) == 0 ||
            (table[i].alias && strcmp(table[i].alias, name) == 0)) {
            *out = &table[i];
            return CONSM_OK;
        }
    return status_fail(CONSM_EINVAL, "unknown format %s: expected " READER_NAMES, name);
}

const char *reader_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *stem = path + unpack_stem(path), *dot = stem > base ? stem - 1 : stem;
    while (dot > base && *dot != '.')
        dot--;
    if (dot == base && *stem) /* edges.gz */
        dot = stem;
    /* .hidden has no suffix, and neither has a version number, as in graph-1.2. */
    return dot > base && *dot == '.' && isalpha((unsigned char)dot[1]) ? dot : NULL;
}

bool reader_has_suffix(const char *path, const char *suffix)
{
    size_t stem = unpack_stem(path), length = strlen(suffix);
    return stem > length && strncasecmp(path + stem - length, suffix, length) == 0;
}

const struct reader *reader_of_suffix(const char *path)
{
    for (int i = 0; i < READERS; i++)
        for (int k = 0; k < READER_SUFFIXES && table[i].suffix[k]; k++)
            if (reader_suffix(path) && reader_has_suffix(path, table[i].suffix[k]))
                return &table[i];
    return NULL;
}

/* ---- recognising --------------------------------------------------------- */

static consm_status list_folder(struct probe *p)
{
    consm_status st = CONSM_OK;
    struct dirent *entry;
    int64_t index;
    DIR *listing = opendir(p->path);
    if (!listing)
        return status_fail(CONSM_EIO, "%s: cannot open the folder: %s", p->path, strerror(errno));
    while ((entry = readdir(listing)) != NULL)
        TRY(names_add(&index, &p->names, entry->d_name, strlen(entry->d_name)));
done:
    closedir(listing);
    return st;
}

consm_status probe_open(struct probe *p, const char *path)
{
    consm_status st = CONSM_OK;
    *p = (struct probe){.path = path};
    switch (file_kind(path)) {
    case FILE_FOLDER:
        p->folder = true;
        TRY(list_folder(p));
        break;
    case FILE_REGULAR:
        TRY(unpack_open(&p->opened, path));
        p->file = (struct text_file){path, p->opened.data, p->opened.size, false};
        break;
    case FILE_MISSING:
        TRY(status_fail(CONSM_EIO, "%s: cannot open: %s", path, strerror(errno)));
        break;
    default: TRY(status_fail(CONSM_EIO, "%s: is neither a file nor a folder", path));
    }
done:
    if (st < 0)
        probe_close(p);
    return st;
}

void probe_close(struct probe *p)
{
    unpack_close(&p->opened);
    names_free(&p->names);
}

/* "a zip archive of NumPy arrays (npz), …": what would have been recognised. */
static consm_status refuse(const struct probe *p)
{
    char known[1024] = "";
    size_t used = 0;
    if (!p->folder && p->file.size == 0)
        return status_fail(CONSM_EFORMAT, "%s: is empty: expected a dataset", p->path);
    for (int i = 0; i < READERS && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s (%s)", i ? ", " : "",
                                 table[i].shows, table[i].name);
    return status_fail(CONSM_EFORMAT, "%s: unknown format: looked for %s", p->path, known);
}

consm_status reader_recognise(const struct reader **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct probe p;
    enum sniffed best = SNIFF_NO;
    *out = NULL;
    TRY(probe_open(&p, path));
    for (int i = 0; i < READERS; i++) {
        enum sniffed found = table[i].sniff(&p);
        if (found > best) {
            best = found;
            *out = &table[i];
        }
    }
    if (!*out)
        st = refuse(&p);
    probe_close(&p);
done:
    return st;
}
