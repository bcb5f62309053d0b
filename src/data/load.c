/* Recognising formats. Only the first bytes of a file are looked at, and the names in a folder. */
#include "data/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data/readers/geom_gcn.h"
#include "data/readers/matrix_market.h"
#include "data/readers/npz.h"
#include "data/readers/plain.h"
#include "data/readers/planetoid.h"
#include "data/readers/safetensors.h"
#include "io/file.h"

enum format { UNKNOWN, PLAIN, EDGES, NPZ, SAFETENSORS, MARKET, GEOM_GCN, PLANETOID };

static const struct {
    const char *name;
    enum format format;
} formats[] = {
    {"plain", PLAIN},
    {"csv", PLAIN},
    {"edges", EDGES},
    {"npz", NPZ},
    {"safetensors", SAFETENSORS},
    {"mtx", MARKET},
    {"matrix-market", MARKET},
    {"geom-gcn", GEOM_GCN},
    {"planetoid", PLANETOID},
};

static consm_status format_by_name(enum format *out, const char *name, const char *known)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *out = formats[i].format;
            return CONSM_OK;
        }
    return status_fail(CONSM_EINVAL, "no format %s: expected %s", name, known);
}

/* The set of a Planetoid file: "cora" for …/ind.cora.graph; length 0 for any other name. */
static const char *planetoid_name(const char *path, size_t *length)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strncmp(base, "ind.", 4) == 0 ? strchr(base + 4, '.') : NULL;
    *length = dot ? (size_t)(dot - base) - 4 : 0;
    return base + 4;
}

/* ---- folders ------------------------------------------------------------- */

struct folder_facts {
    bool edges, geom_gcn;
    char planetoid[64]; /* the set, "" for none */
    bool several;       /* sets of Planetoid files */
};

static consm_status look_into(struct folder_facts *f, const char *folder)
{
    struct dirent *entry;
    DIR *listing = opendir(folder);
    *f = (struct folder_facts){0};
    if (!listing)
        return status_fail(CONSM_EIO, "%s: cannot open the folder: %s", folder, strerror(errno));
    while ((entry = readdir(listing)) != NULL) {
        const char *name = entry->d_name;
        size_t length;
        const char *set = planetoid_name(name, &length);
        f->edges |= strcmp(name, "edges.csv") == 0 || strcmp(name, "edges.tsv") == 0 ||
                    strcmp(name, "edges.txt") == 0;
        f->geom_gcn |= strcmp(name, "out1_graph_edges.txt") == 0;
        if (length == 0 || length >= sizeof f->planetoid)
            continue;
        f->several |=
            *f->planetoid && (strncmp(f->planetoid, set, length) != 0 || f->planetoid[length] != 0);
        memcpy(f->planetoid, set, length);
        f->planetoid[length] = 0;
    }
    closedir(listing);
    return CONSM_OK;
}

static consm_status recognise_folder(enum format *out, const char *path)
{
    consm_status st = CONSM_OK;
    struct folder_facts f;
    TRY(look_into(&f, path));
    *out = f.edges ? PLAIN : f.geom_gcn ? GEOM_GCN : *f.planetoid ? PLANETOID : UNKNOWN;
    if (*out == UNKNOWN)
        return status_fail(CONSM_EFORMAT,
                           "%s: no dataset in this folder: looked for edges.csv (plain), "
                           "out1_graph_edges.txt (geom-gcn), ind.NAME.graph (planetoid)",
                           path);
done:
    return st;
}

/* ---- files --------------------------------------------------------------- */

/* Text of some kind: no zero byte at its beginning. */
static bool looks_like_text(const struct file_map *map)
{
    size_t length = map->size < 4096 ? map->size : 4096;
    return length > 0 && !memchr(map->data, 0, length);
}

static consm_status recognise_file(enum format *out, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    size_t length;
    *out = UNKNOWN;
    TRY(file_map(&map, path));
    planetoid_name(path, &length);
    if (map.size >= 4 && memcmp(map.data, "PK\3\4", 4) == 0)
        *out = NPZ;
    else if (map.size >= 9 && map.data[8] == '{' && map.data[7] == 0)
        *out = SAFETENSORS;
    else if (matrix_market_is(&(struct text_file){path, map.data, map.size}))
        *out = MARKET;
    else if (length > 0)
        *out = PLANETOID;
    else if (looks_like_text(&map))
        *out = EDGES;
    if (map.size == 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: is empty: expected a dataset", path));
    if (*out == UNKNOWN)
        TRY(status_fail(CONSM_EFORMAT,
                        "%s: no format known: looked for a zip (npz), a safetensors header, "
                        "%%%%MatrixMarket, and lines of text (edges)",
                        path));
done:
    file_unmap(&map);
    return st;
}

static consm_status recognise(enum format *out, const char *path)
{
    switch (file_kind(path)) {
    case FILE_FOLDER: return recognise_folder(out, path);
    case FILE_REGULAR: return recognise_file(out, path);
    case FILE_MISSING: return status_fail(CONSM_EIO, "%s: cannot open: %s", path, strerror(errno));
    default: return status_fail(CONSM_EIO, "%s: is neither a file nor a folder", path);
    }
}

/* ---- loading ------------------------------------------------------------- */

/* The folder with its only set, or one of the set's files. */
static consm_status load_planetoid(struct dataset **out, const char *path)
{
    consm_status st = CONSM_OK;
    struct folder_facts f;
    size_t length;
    const char *set = planetoid_name(path, &length);
    char *folder = NULL, *name = NULL;
    if (file_kind(path) == FILE_FOLDER) {
        TRY(look_into(&f, path));
        if (f.several)
            TRY(status_fail(CONSM_EFORMAT,
                            "%s: several sets in this folder: expected the path of one, such as "
                            "%s/ind.%s.graph",
                            path, path, f.planetoid));
        return planetoid_load(out, path, f.planetoid);
    }
    if (length == 0)
        TRY(status_fail(CONSM_EFORMAT, "%s: expected a folder of Planetoid files, or one of them",
                        path));
    name = mem_strndup(set, length);
    folder = set - 4 == path ? mem_strdup(".") : mem_strndup(path, (size_t)(set - 4 - path));
    if (!name || !folder)
        TRY(CONSM_ENOMEM);
    TRY(planetoid_load(out, folder, name));
done:
    mem_free(name);
    mem_free(folder);
    return st;
}

static bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcmp(path + length - tail, suffix) == 0;
}

/* A set without a name of its own is called after the last part of its path. */
static consm_status shorten_name(struct dataset *d, const char *path)
{
    static const char *const suffixes[] = {".npz", ".safetensors", ".mtx", ".csv", ".tsv", ".txt"};
    size_t end = strlen(path), begin;
    if (strcmp(d->name, path) != 0)
        return CONSM_OK;
    while (end > 0 && path[end - 1] == '/')
        end--;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_in(path, suffixes[i]))
            end = strlen(path) - strlen(suffixes[i]);
    for (begin = end; begin > 0 && path[begin - 1] != '/';)
        begin--;
    if (begin == end || path[begin] == '.')
        return CONSM_OK;
    char *name = mem_strndup(path + begin, end - begin);
    if (!name)
        return CONSM_ENOMEM;
    mem_free(d->name);
    d->name = name;
    return CONSM_OK;
}

/* The edge list reader would also take other text. */
static consm_status check_market(const char *path)
{
    struct file_map map;
    consm_status st = file_map(&map, path);
    if (st < 0)
        return st;
    if (!matrix_market_is(&(struct text_file){path, map.data, map.size}))
        st = status_fail(CONSM_EFORMAT, "%s: line 1: expected %%%%MatrixMarket", path);
    file_unmap(&map);
    return st;
}

static consm_status load_format(struct dataset **out, const char *path, enum format f,
                                const char *labels, const char *features)
{
    switch (f) {
    case PLAIN: return plain_load(out, path);
    case MARKET:
    case EDGES: {
        consm_status st = f == MARKET ? check_market(path) : CONSM_OK;
        return st < 0 ? st : edge_list_load(out, path, labels, features);
    }
    case NPZ: return npz_load(out, path);
    case SAFETENSORS: return safetensors_dataset_load(out, path);
    case GEOM_GCN: return geom_gcn_load(out, path);
    case PLANETOID: return load_planetoid(out, path);
    default: return status_fail(CONSM_EINVAL, "%s: no format known", path);
    }
}

consm_status data_load_parts(struct dataset **out, const char *path, const char *format,
                             const char *labels, const char *features)
{
    consm_status st = CONSM_OK;
    enum format f = UNKNOWN;
    *out = NULL;
    if (format)
        TRY(format_by_name(&f, format, DATA_FORMATS));
    else
        TRY(recognise(&f, path));
    if ((labels || features) && f != EDGES && f != MARKET)
        return status_fail(CONSM_EINVAL,
                           "%s: is no edge list: files of labels and features go with edge lists",
                           path);
    TRY(load_format(out, path, f, labels, features));
    TRY(shorten_name(*out, path));
done:
    if (st < 0) {
        dataset_free(*out);
        *out = NULL;
    }
    return st;
}

consm_status data_load_path(struct dataset **out, const char *path, const char *format)
{
    return data_load_parts(out, path, format, NULL, NULL);
}

consm_status data_save_path(const struct dataset *d, const char *path, const char *format)
{
    consm_status st = CONSM_OK;
    enum format f = ends_in(path, ".npz")           ? NPZ
                    : ends_in(path, ".safetensors") ? SAFETENSORS
                                                    : PLAIN;
    if (format)
        TRY(format_by_name(&f, format, DATA_SAVE_FORMATS));
    TRY(dataset_check(d));
    switch (f) {
    case PLAIN: return plain_save(d, path);
    case NPZ: return npz_save(d, path);
    case SAFETENSORS: return safetensors_dataset_save(d, path);
    default:
        return status_fail(CONSM_EINVAL, "%s cannot be written: expected %s", format,
                           DATA_SAVE_FORMATS);
    }
done:
    return st;
}
