/* Writes embeddings. */
#include "embeddings_output.h"

#include "io/csv.h"
#include "io/file.h"
#include "io/npy.h"

#include <string.h>
#include <strings.h>

static bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcasecmp(path + length - end, suffix) == 0;
}

consm_status embeddings_check(const char *path)
{
    if (!path || ends_in(path, ".npy") || ends_in(path, ".csv"))
        return CONSM_OK;
    return status_fail(CONSM_EINVAL, "--embeddings %s: expected a name that ends in .npy or .csv",
                       path);
}

static consm_status write_array(struct file_writer *w, const struct consm_embedding *e)
{
    consm_status st = CONSM_OK;
    char header[NPY_HEADER_BYTES];
    const int64_t shape[2] = {e->nodes, e->width};
    TRY(file_write(w, header, npy_write_header(header, "<f4", 2, shape)));
    TRY(file_write(w, e->value, (size_t)(e->nodes * e->width) * sizeof *e->value));
done:
    return st;
}

static consm_status write_table(struct file_writer *w, const struct consm_embedding *e,
                                const struct consm_dataset *data)
{
    consm_status st = CONSM_OK;
    char *text = NULL, buffer[24], number[32];
    size_t used = 0, capacity = 0;
    TRY(file_printf(w, "id"));
    for (int64_t k = 0; k < e->width; k++)
        TRY(file_printf(w, ",e%lld", (long long)k));
    for (int64_t i = 0; i < e->nodes; i++) {
        used = 0;
        TRY(csv_quote(&text, &used, &capacity, consm_node_id(data, i, buffer)));
        TRY(file_write(w, "\n", 1));
        TRY(file_write(w, text, used));
        for (int64_t k = 0; k < e->width; k++) {
            int length = token_write_float(number, e->value[i * e->width + k]);
            TRY(file_write(w, ",", 1));
            TRY(file_write(w, number, (size_t)length));
        }
    }
    TRY(file_write(w, "\n", 1));
done:
    mem_free(text);
    return st;
}

consm_status embeddings_write(const char *path, const struct consm_model *model,
                              const struct consm_dataset *data, const char *device, int threads)
{
    consm_status st = CONSM_OK;
    struct consm_embedding *e = NULL;
    struct file_writer *w = NULL;
    if (!path)
        return CONSM_OK;
    TRY(embeddings_check(path));
    TRY(consm_embed(&e, model, data, device, threads));
    TRY(file_create(&w, path));
    TRY(ends_in(path, ".npy") ? write_array(w, e) : write_table(w, e, data));
    TRY(file_commit(w));
done:
    consm_embedding_free(e);
    file_close(w);
    return st;
}
