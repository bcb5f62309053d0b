/* Names of columns, compared as they are written. */
#include "data/wanted.h"

#include <string.h>

static bool same(const char *wanted, const char *name, size_t length)
{
    return wanted && strlen(wanted) == length && memcmp(wanted, name, length) == 0;
}

bool wanted_id(struct wanted *w, const char *name, size_t length)
{
    bool it = w && same(w->id, name, length);
    if (it)
        w->found_id = true;
    return it;
}

bool wanted_label(struct wanted *w, const char *name, size_t length)
{
    bool it = w && same(w->label, name, length);
    if (it)
        w->found_label = true;
    return it;
}

bool wanted_weight(struct wanted *w, const char *name, size_t length)
{
    bool it = w && same(w->weight, name, length);
    if (it)
        w->found_weight = true;
    return it;
}

/* The next name of a list "a,b", blanks around it left out; moves *at behind it. False: no more. */
static bool next_name(const char **at, const char **name, size_t *length)
{
    const char *end;
    if (!*at)
        return false;
    *name = *at + strspn(*at, " ");
    end = strchr(*name, ',');
    *length = end ? (size_t)(end - *name) : strlen(*name);
    *at = end ? end + 1 : NULL;
    while (*length > 0 && (*name)[*length - 1] == ' ')
        --*length;
    return true;
}

bool wanted_ignores(struct wanted *w, const char *name, size_t length)
{
    const char *at = w ? w->ignore : NULL, *item;
    size_t size;
    for (int i = 0; i < WANTED_MOST && next_name(&at, &item, &size); i++)
        if (size == length && memcmp(item, name, length) == 0) {
            w->ignored |= (uint64_t)1 << i;
            return true;
        }
    return false;
}

consm_status wanted_check(const struct wanted *w)
{
    const char *at = w ? w->ignore : NULL, *item;
    size_t size;
    int count = 0;
    while (next_name(&at, &item, &size)) {
        if (size == 0)
            return status_fail(CONSM_EINVAL, "ignore: a name is empty: expected names of columns, "
                                             "as in a,b");
        if (++count > WANTED_MOST)
            return status_fail(CONSM_EINVAL, "ignore: more than %d columns", WANTED_MOST);
    }
    return CONSM_OK;
}

consm_status wanted_met(const struct wanted *w, const char *where)
{
    const char *at = w ? w->ignore : NULL, *item;
    size_t size;
    if (w && w->id && !w->found_id)
        return status_fail(CONSM_EINVAL, "%s: --id-column %.60s: no table has such a column", where,
                           w->id);
    if (w && w->label && !w->found_label)
        return status_fail(CONSM_EINVAL, "%s: --label-column %.60s: no table has such a column",
                           where, w->label);
    if (w && w->weight && !w->found_weight)
        return status_fail(CONSM_EINVAL, "%s: --weight-column %.60s: the edges have no such column",
                           where, w->weight);
    for (int i = 0; next_name(&at, &item, &size); i++)
        if (!(w->ignored >> i & 1))
            return status_fail(CONSM_EINVAL, "%s: --ignore %.*s: no table has such a column", where,
                               size < 60 ? (int)size : 60, item);
    return CONSM_OK;
}
