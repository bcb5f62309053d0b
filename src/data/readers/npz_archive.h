/* The arrays of an open .npz, by key; shared by the files of the NPZ reader. */
#ifndef DATA_READERS_NPZ_ARCHIVE_H
#define DATA_READERS_NPZ_ARCHIVE_H

#include "data/dataset.h"
#include "io/npy.h"
#include "io/unpack.h"
#include "io/zip.h"

struct npz_archive {
    struct unpacked file;
    struct zip *zip;
    char sha256[65];
};

consm_status npz_open(struct npz_archive *out, const char *path);
/* The same on bytes in memory, which the caller owns. */
consm_status npz_open_memory(struct npz_archive *out, const char *name, const uint8_t *bytes,
                             size_t size);
void npz_close(struct npz_archive *archive);

/* An array and the memory it is in. Start with {0}; free with npz_array_free. */
struct npz_array {
    struct npy npy;
    struct zip_bytes bytes;
    char label[300];
};

/* The member of a key ("edges" or "edges.npy"), or NULL. */
const struct zip_member *npz_find(const struct npz_archive *archive, const char *key);

/* Fails with CONSM_EFORMAT: no array has that name; lists those that exist. */
consm_status npz_missing(const struct npz_archive *archive, const char *what);

/* Reads the array of a key; a missing one fails as above. */
consm_status npz_read(struct npz_array *out, const struct npz_archive *archive, const char *key);
void npz_array_free(struct npz_array *array);

/* The strings under a key, NULL if it is missing; expected < 0: any number. */
consm_status npz_read_strings(char ***out, const struct npz_archive *archive, const char *key,
                              int64_t *count, int64_t expected);

/* Streams the (n,f) array of a key into d->sparse, or d->dense if over a third of it is non-zero,
 * without holding both. d->nodes < 0: takes the number of nodes from the array. */
consm_status npz_read_features(struct dataset *d, const struct npz_archive *archive,
                               const char *key);

/* Reads the SciPy matrix under the keys at+"data", at+"indices", … into d->sparse; d->nodes as
 * above. */
consm_status npz_read_sparse(struct dataset *d, const struct npz_archive *archive, const char *at);

/* Labels (n) under the key, or all unknown. Sets the number of nodes if it is not known yet. */
consm_status npz_read_labels(struct dataset *d, const struct npz_archive *archive, const char *key);
/* Optional parts of all layouts, once the nodes are known: names, direction, masks. */
consm_status npz_read_extras(struct dataset *d, const struct npz_archive *archive);
/* Every stored entry of an adjacency matrix is an edge; weights that are all 1 are dropped. Takes
 * arrays of a. */
consm_status npz_adjacency_edges(struct dataset *d, struct csr *a);

/* ---- npz_people.c: archives as people save them ---- */

/* edge_index (2,e), x (n,f), y (n), edge_weight (e): PyTorch Geometric's names. */
consm_status npz_load_edge_index(struct dataset *d, const struct npz_archive *archive);
/* The key of an adjacency matrix that is one array, or NULL. */
const char *npz_adjacency_key(const struct npz_archive *archive);
/* That matrix, dense or a SciPy matrix pickled into an array of one object, with features and
 * labels. */
consm_status npz_load_matrices(struct dataset *d, const struct npz_archive *archive,
                               const char *adjacency);
/* Coordinates as scipy.sparse.save_npz writes them (row, col, data, shape). */
consm_status npz_load_coordinates(struct dataset *d, const struct npz_archive *archive);

/* The dataset of an open archive, without hash and directed hint. */
consm_status npz_load_archive(struct dataset **out, const struct npz_archive *archive,
                              const char *name);

#endif
