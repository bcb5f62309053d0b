/* Opening an archive and finding arrays in it. */
#include "data/npz_archive.h"

#include "store/sha256.h"
#include <stdio.h>
#include <string.h>

consm_status npz_open_memory(struct npz_archive *out, const char *name, const uint8_t *bytes,
                             size_t size)
{
    struct sha256 hash;
    *out = (struct npz_archive){.zip = NULL};
    sha256_init(&hash);
    sha256_add(&hash, bytes, size);
    sha256_hex(out->sha256, &hash);
    return zip_open(&out->zip, name, bytes, size);
}

consm_status npz_open(struct npz_archive *out, const char *path)
{
    consm_status st = CONSM_OK;
    struct file_map map;
    *out = (struct npz_archive){.zip = NULL};
    TRY(file_map(&map, path));
    st = npz_open_memory(out, path, map.data, map.size);
    out->map = map;
    if (st < 0)
        npz_close(out);
done:
    return st;
}

void npz_close(struct npz_archive *archive)
{
    zip_free(archive->zip);
    file_unmap(&archive->map);
    *archive = (struct npz_archive){.zip = NULL};
}

const struct zip_member *npz_find(const struct npz_archive *archive, const char *key)
{
    char name[128];
    snprintf(name, sizeof name, "%s.npy", key);
    const struct zip_member *m = zip_find(archive->zip, name);
    return m ? m : zip_find(archive->zip, key);
}

/* "edges.npy, node_labels.npy, …" as far as it fits. */
static void list_members(char *text, size_t room, const struct zip *z)
{
    size_t used = 0;
    *text = 0;
    for (int64_t i = 0; i < z->count; i++) {
        const char *name = z->member[i].name;
        if (strlen(name) + 6 > room - used) {
            strcpy(text + used, "…");
            return;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : "", name);
    }
}

consm_status npz_read(struct npz_array *out, const struct npz_archive *archive, const char *key)
{
    consm_status st = CONSM_OK;
    const struct zip_member *m = npz_find(archive, key);
    if (!m) {
        char members[300];
        list_members(members, sizeof members, archive->zip);
        return status_fail(CONSM_EFORMAT, "%s: no array %s: the archive has %s", archive->zip->file,
                           key, *members ? members : "no members");
    }
    snprintf(out->label, sizeof out->label, "%s: %s", archive->zip->file, m->name);
    TRY(zip_read(&out->bytes, archive->zip, m));
    TRY(npy_parse(&out->npy, out->bytes.data, out->bytes.size, out->label));
done:
    return st;
}

void npz_array_free(struct npz_array *array)
{
    zip_bytes_free(&array->bytes);
}
