/* Finds node numbers by name. */
#include "nodes_args.h"

#include "base/alloc.h"
#include "io/file.h"
#include <string.h>

/* Cuts text at every `mark` into *id (*count), which points into it; lines may end in \r\n, and
 * empty pieces are left out. */
static consm_status cut(const char ***id, int64_t *count, char *text, char mark)
{
    consm_status st = CONSM_OK;
    size_t room = 0;
    for (char *at = text; at;) {
        char *end = strchr(at, mark), *next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        size_t length = strlen(at);
        if (length > 0 && at[length - 1] == '\r')
            at[length - 1] = 0;
        if (*at) {
            TRY(GROW(*id, *count, room, 1));
            (*id)[(*count)++] = at;
        }
        at = next;
    }
done:
    return st;
}

consm_status nodes_args_find(int64_t **node, int64_t *count, const struct consm_dataset *data,
                             const char *list)
{
    consm_status st = CONSM_OK;
    struct file_map map = {0};
    char *text = NULL;
    const char **id = NULL;
    bool file = file_kind(list) == FILE_REGULAR;
    *node = NULL;
    *count = 0;
    if (file)
        TRY(file_map(&map, list));
    text = file ? mem_strndup((const char *)map.data, map.size) : mem_strdup(list);
    if (!text)
        TRY(CONSM_ENOMEM);
    TRY(cut(&id, count, text, file ? '\n' : ','));
    if (*count == 0)
        TRY(status_fail(CONSM_EINVAL, "--nodes %s contains no node id", list));
    TRY(NEW(*node, *count));
    TRY(consm_dataset_find(*node, data, id, *count));
done:
    file_unmap(&map);
    mem_free(text);
    mem_free(id);
    return st;
}
