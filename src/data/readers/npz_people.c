/* Archives in informal layouts: PyTorch Geometric's arrays, SciPy matrices of coordinates, and
 * matrices saved by numpy.savez, dense or as a pickled object. */
#include "data/readers/npy_csr.h"
#include "data/readers/npz_archive.h"
#include "io/pickle/pickle.h"
#include "io/token.h"

#include <stdio.h>
#include <string.h>

/* The first of these keys that the archive has, or NULL. */
static const char *first_key(const struct npz_archive *archive, const char *const *keys)
{
    while (*keys && !npz_find(archive, *keys))
        keys++;
    return *keys;
}

static const char *const feature_keys[] = {"x",    "features", "feat",          "attr_matrix",
                                           "attr", "X",        "node_features", NULL};
static const char *const label_keys[] = {"y", "labels", "label", "Y", "node_labels", NULL};

/* ---- edge_index ---------------------------------------------------------- */

/* (2,e), or (e,2) if that is unambiguous. */
static consm_status read_ends(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    struct npz_array array = {.label = ""};
    int32_t *pair = NULL, most = -1;
    TRY(npz_read(&array, archive, "edge_index"));
    bool rows = array.npy.rank == 2 && array.npy.shape[0] == 2;
    TRY(npy_expect(&array.npy, 2, rows ? 2 : -1, rows ? -1 : 2));
    d->edges = array.npy.shape[rows];
    TRY(NEW(pair, array.npy.count));
    TRY(npy_int32(pair, &array.npy, 0, d->nodes >= 0 ? d->nodes - 1 : INT32_MAX - 2));
    TRY(NEW(d->from, d->edges));
    TRY(NEW(d->to, d->edges));
    for (int64_t e = 0; e < d->edges; e++) {
        d->from[e] = pair[rows ? e : 2 * e];
        d->to[e] = pair[rows ? d->edges + e : 2 * e + 1];
        most = d->from[e] > most ? d->from[e] : most;
        most = d->to[e] > most ? d->to[e] : most;
    }
    if (d->nodes < 0 && !token_plausible_nodes(most + 1, (size_t)(d->edges + 1) * 8))
        TRY(status_fail(
            CONSM_ELIMIT,
            "%s: node number %d is too large for %lld edges: give the number of nodes with y or x",
            array.label, most, (long long)d->edges));
    d->nodes = d->nodes < 0 ? (int64_t)most + 1 : d->nodes;
done:
    mem_free(pair);
    npz_array_free(&array);
    return st;
}

/* (e) or (e,1); arrays with more columns are not weights. */
static consm_status read_weights(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    static const char *const keys[] = {"edge_weight", "edge_weights", "edge_attr", NULL};
    const char *key = first_key(archive, keys);
    struct npz_array array = {.label = ""};
    if (!key)
        return CONSM_OK;
    TRY(npz_read(&array, archive, key));
    if (array.npy.rank == 2 && array.npy.shape[1] != 1 && strcmp(key, "edge_attr") == 0)
        goto done;
    if (array.npy.count != d->edges)
        TRY(npy_expect(&array.npy, 1, d->edges, -1));
    TRY(NEW(d->weight, d->edges));
    TRY(npy_floats(d->weight, &array.npy, 0, d->edges));
done:
    npz_array_free(&array);
    return st;
}

consm_status npz_load_edge_index(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    const char *label = first_key(archive, label_keys), *feature = first_key(archive, feature_keys);
    if (label)
        TRY(npz_read_labels(d, archive, label));
    if (feature)
        TRY(npz_read_features(d, archive, feature));
    TRY(read_ends(d, archive));
    TRY(read_weights(d, archive));
    TRY(npz_read_extras(d, archive));
done:
    return st;
}

/* ---- matrices ------------------------------------------------------------ */

const char *npz_adjacency_key(const struct npz_archive *archive)
{
    static const char *const keys[] = {"adj", "adj_matrix", "adjacency", "adjacency_matrix",
                                       "A",   "graph",      NULL};
    return first_key(archive, keys);
}

/* A matrix under a key: numbers, or one pickled SciPy matrix. */
static consm_status read_matrix(struct csr **out, const struct npz_archive *archive,
                                const char *key, bool entries)
{
    consm_status st = CONSM_OK;
    char label[300];
    struct zip_bytes bytes = {0};
    struct pickle *pickle = NULL;
    struct npy dense;
    struct npy_csr parts;
    float *value = NULL;
    size_t header;
    const struct zip_member *member = npz_find(archive, key);
    snprintf(label, sizeof label, "%s: %s", archive->zip->file, member->name);
    TRY(zip_read(&bytes, archive->zip, member));
    if (npy_is_pickled(&header, bytes.data, bytes.size)) {
        TRY(pickle_load(&pickle, bytes.data + header, bytes.size - header, label));
        TRY(pickle_root_csr(&parts, pickle));
        TRY(entries ? npy_csr_entries(out, &parts) : npy_csr_matrix(out, &parts));
    } else {
        TRY(npy_parse(&dense, bytes.data, bytes.size, label));
        TRY(npy_expect(&dense, 2, -1, -1));
        TRY(NEW(value, dense.count));
        TRY(npy_floats(value, &dense, 0, dense.count));
        TRY(csr_from_dense(out, value, dense.shape[0], dense.shape[1]));
    }
done:
    mem_free(value);
    pickle_free(pickle);
    zip_bytes_free(&bytes);
    return st;
}

static consm_status check_square(const struct csr *a, const struct npz_archive *archive,
                                 const char *key)
{
    if (a->rows == a->cols)
        return CONSM_OK;
    return status_fail(CONSM_EFORMAT, "%s: %s: %lld x %lld: expected a square matrix",
                       archive->zip->file, key, (long long)a->rows, (long long)a->cols);
}

static bool is_pickled(const struct npz_archive *archive, const char *key, consm_status *st)
{
    struct zip_bytes bytes = {0};
    size_t header;
    *st = zip_read(&bytes, archive->zip, npz_find(archive, key));
    bool pickled = *st >= 0 && npy_is_pickled(&header, bytes.data, bytes.size);
    zip_bytes_free(&bytes);
    return pickled;
}

consm_status npz_load_matrices(struct dataset *d, const struct npz_archive *archive,
                               const char *adjacency)
{
    consm_status st = CONSM_OK;
    const char *label = first_key(archive, label_keys), *feature = first_key(archive, feature_keys);
    struct csr *a = NULL;
    TRY(read_matrix(&a, archive, adjacency, true));
    TRY(check_square(a, archive, adjacency));
    d->nodes = a->rows;
    TRY(npz_adjacency_edges(d, a));
    if (feature && is_pickled(archive, feature, &st)) {
        TRY(read_matrix(&d->sparse, archive, feature, false));
        d->features = d->sparse->cols;
    } else if (feature) {
        TRY(st);
        TRY(npz_read_features(d, archive, feature));
    }
    if (label)
        TRY(npz_read_labels(d, archive, label));
    TRY(npz_read_extras(d, archive));
done:
    csr_free(a);
    return st;
}

/* ---- coordinates --------------------------------------------------------- */

consm_status npz_load_coordinates(struct dataset *d, const struct npz_archive *archive)
{
    consm_status st = CONSM_OK;
    static const char *const keys[] = {"row", "col", "data", "shape"};
    struct npz_array part[4] = {{.label = ""}, {.label = ""}, {.label = ""}, {.label = ""}};
    int64_t shape[2];
    bool weighted = false;
    for (int i = 0; i < 4; i++)
        TRY(npz_read(&part[i], archive, keys[i]));
    TRY(npy_expect(&part[3].npy, 1, 2, -1));
    TRY(npy_int64(shape, &part[3].npy, 0, INT32_MAX - 1));
    if (shape[0] != shape[1])
        TRY(status_fail(CONSM_EFORMAT, "%s: %lld x %lld: expected a square matrix", part[3].label,
                        (long long)shape[0], (long long)shape[1]));
    TRY(npy_expect(&part[0].npy, 1, -1, -1));
    d->edges = part[0].npy.count;
    d->nodes = shape[0];
    if (!token_plausible_nodes(d->nodes, (size_t)(d->edges + 1) * 8))
        TRY(status_fail(CONSM_ELIMIT, "%s: %lld nodes are too many for %lld entries", part[3].label,
                        (long long)d->nodes, (long long)d->edges));
    for (int i = 1; i < 3; i++)
        TRY(npy_expect(&part[i].npy, 1, d->edges, -1));
    TRY(NEW(d->from, d->edges));
    TRY(NEW(d->to, d->edges));
    TRY(NEW(d->weight, d->edges));
    TRY(npy_int32(d->from, &part[0].npy, 0, d->nodes - 1));
    TRY(npy_int32(d->to, &part[1].npy, 0, d->nodes - 1));
    TRY(npy_floats(d->weight, &part[2].npy, 0, d->edges));
    for (int64_t e = 0; e < d->edges; e++)
        weighted |= d->weight[e] != 1;
    if (!weighted) {
        mem_free(d->weight);
        d->weight = NULL;
    }
    TRY(npz_read_extras(d, archive));
done:
    for (int i = 0; i < 4; i++)
        npz_array_free(&part[i]);
    return st;
}
