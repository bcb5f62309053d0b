/* Matches column names as written. */
#include "data/wanted.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/utf8.h"

const char *const unknown_nodes_name[UNKNOWN_KINDS] = {"error", "drop", "add"};

/* Remembers a column of the tables, once. */
static void note(struct wanted *w, const char *name, size_t length)
{
    size_t kept = length < WANTED_NAME ? length : WANTED_NAME - 1;
    if (!wanted_any(w) || w->seen_count == WANTED_SEEN)
        return;
    for (int i = 0; i < w->seen_count; i++)
        if (strlen(w->seen[i]) == kept && memcmp(w->seen[i], name, kept) == 0)
            return;
    memcpy(w->seen[w->seen_count], name, kept);
    w->seen[w->seen_count++][kept] = 0;
}

static bool met(struct wanted *w, const char *wanted, bool *found, const char *name, size_t length)
{
    bool it = wanted && strlen(wanted) == length && memcmp(wanted, name, length) == 0;
    note(w, name, length);
    *found |= it;
    return it;
}

bool wanted_id(struct wanted *w, const char *name, size_t length)
{
    return w && met(w, w->id, &w->found_id, name, length);
}

bool wanted_label(struct wanted *w, const char *name, size_t length)
{
    return w && met(w, w->label, &w->found_label, name, length);
}

bool wanted_weight(struct wanted *w, const char *name, size_t length)
{
    return w && met(w, w->weight, &w->found_weight, name, length);
}

bool wanted_source(struct wanted *w, const char *name, size_t length)
{
    return w && met(w, w->source, &w->found_source, name, length);
}

bool wanted_target(struct wanted *w, const char *name, size_t length)
{
    return w && met(w, w->target, &w->found_target, name, length);
}

/* The next name of a list "a,b", without blanks around it; moves *at past it. False: no more. */
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
    if (w)
        note(w, name, length);
    for (int i = 0; i < WANTED_MOST && next_name(&at, &item, &size); i++)
        if (size == length && memcmp(item, name, length) == 0) {
            w->ignored |= (uint64_t)1 << i;
            return true;
        }
    return false;
}

bool wanted_keeps(struct wanted *w, const char *name, size_t length)
{
    return w && w->notes &&
           ((w->remembered >> CHOICE_IGNORE & 1) || !wanted_ignores(w, name, length));
}

bool wanted_typed(const struct wanted *w)
{
    const char *name[] = {
        [CHOICE_ID] = w->id,         [CHOICE_LABEL] = w->label,   [CHOICE_WEIGHT] = w->weight,
        [CHOICE_SOURCE] = w->source, [CHOICE_TARGET] = w->target, [CHOICE_IGNORE] = w->ignore};
    for (int i = CHOICE_ID; i <= CHOICE_IGNORE; i++)
        if (name[i] && !(w->remembered >> i & 1))
            return true;
    return false;
}

consm_status wanted_check(const struct wanted *w)
{
    const char *at = w ? w->ignore : NULL, *item;
    size_t size;
    int count = 0;
    while (next_name(&at, &item, &size)) {
        if (size == 0)
            return status_fail(CONSM_EINVAL,
                               "ignore: empty name: expected names of columns, as in a,b");
        if (++count > WANTED_MOST)
            return status_fail(CONSM_EINVAL, "ignore: too many columns: the limit is %d",
                               WANTED_MOST);
    }
    return CONSM_OK;
}

static const char *seen_at(void *ctx, int index)
{
    const struct wanted *w = ctx;
    return index < w->seen_count ? w->seen[index] : NULL;
}

/* Reports that no table has such a column, the nearest name, and all names. */
static consm_status absent(struct wanted *w, const char *where, const char *flag, const char *name)
{
    char list[600] = "";
    size_t used = 0;
    const char *near = nearest_word(name, seen_at, w);
    for (int i = 0; i < w->seen_count && used < sizeof list - WANTED_NAME - 4; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", w->seen[i]);
    utf8_mend(list);
    return status_fail(CONSM_EINVAL, "%s: --%s %.60s: no table has this column%s%s%s%s%s", where,
                       flag, name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "",
                       !used  ? ""
                       : near ? " Columns: "
                              : "; columns: ",
                       list);
}

consm_status wanted_first(struct wanted *w, unsigned choices, const char *where)
{
    if (!w)
        return CONSM_OK;
    const struct {
        const char *name;
        bool found;
    } all[] = {[CHOICE_ID] = {w->id, w->found_id},
               [CHOICE_LABEL] = {w->label, w->found_label},
               [CHOICE_WEIGHT] = {w->weight, w->found_weight},
               [CHOICE_SOURCE] = {w->source, w->found_source},
               [CHOICE_TARGET] = {w->target, w->found_target}};
    for (int i = 0; i <= CHOICE_TARGET; i++)
        if (choices & ~w->remembered & 1U << i && all[i].name && !all[i].found)
            return absent(w, where, choice_name[i], all[i].name);
    return CONSM_OK;
}

consm_status wanted_met(struct wanted *w, const char *where)
{
    consm_status st = wanted_first(w, (1U << CHOICE_IGNORE) - 1, where);
    const char *at = w ? w->ignore : NULL, *item;
    size_t size;
    if (st < 0 || !w || (w->remembered >> CHOICE_IGNORE & 1))
        return st;
    for (int i = 0; next_name(&at, &item, &size); i++)
        if (!(w->ignored >> i & 1)) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", size < 60 ? (int)size : 60, item);
            return absent(w, where, "ignore", name);
        }
    return CONSM_OK;
}
