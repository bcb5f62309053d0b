/* Checks for suspicious data; each check has one sentence: what was found, and what to do. */
#include "data/suspect.h"

#include "base/number.h"
#include "io/token.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void suspect(struct suspicions *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void suspect(struct suspicions *out, const char *format, ...)
{
    va_list list;
    if (out->count == SUSPICIONS)
        return;
    va_start(list, format);
    number_vprint(out->text[out->count++], SUSPICION_LENGTH, format, list);
    va_end(list);
}

static bool is_one_of(const char *text, const char *list)
{
    return token_is_one_of(text, strlen(text), list);
}

/* ---- classes ------------------------------------------------------------- */

static void look_for_blanks(struct suspicions *out, const struct dataset *d)
{
    for (int32_t k = 0; d->class_name && k < d->classes; k++)
        if (is_one_of(d->class_name[k],
                      "nan|null|none|n/a|na|nil|missing|unknown|undefined|?|-|#n/a"))
            suspect(
                out,
                "\"%s\" is a class of its own; if it means an unknown label, leave the cell empty",
                d->class_name[k]);
}

/* Edit distance of two words, counting extra letters and swaps of neighbours: 0, 1, or 2 for more.
 * Case and spaces do not count; another letter in the same place does (side a, side b). */
static int distance(const char *a, const char *b)
{
    size_t i = 0, j = 0;
    int faults = 0;
    while (a[i] && b[j]) {
        int x = tolower((unsigned char)a[i]), y = tolower((unsigned char)b[j]);
        if (x == ' ' || x == '_' || x == '-') {
            i++;
        } else if (y == ' ' || y == '_' || y == '-') {
            j++;
        } else if (x == y) {
            i++, j++;
        } else if (++faults > 1) {
            return 2;
        } else if (a[i + 1] && a[i + 1] == b[j] && a[i] == b[j + 1]) {
            i += 2, j += 2;
        } else if (strlen(a + i) > strlen(b + j)) {
            i++;
        } else if (strlen(a + i) < strlen(b + j)) {
            j++;
        } else {
            return 2;
        }
    }
    for (; a[i]; i++)
        faults += a[i] != ' ';
    for (; b[j]; j++)
        faults += b[j] != ' ';
    return faults > 1 ? 2 : faults;
}

static bool has_digit(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

/* Finds class names that differ by case, spaces or one letter. Short names and names with digits do
 * that on purpose. */
static void look_for_spellings(struct suspicions *out, const struct dataset *d)
{
    enum { MOST_CLASSES = 500, LETTERS = 5 };
    if (!d->class_name || d->classes > MOST_CLASSES)
        return;
    for (int32_t a = 0; a < d->classes; a++)
        for (int32_t b = a + 1; b < d->classes; b++) {
            const char *x = d->class_name[a], *y = d->class_name[b];
            int far = distance(x, y);
            bool typo = far == 1 && strlen(x) >= LETTERS && !has_digit(x) && !has_digit(y);
            if (far == 0 || typo)
                suspect(out,
                        "\"%s\" and \"%s\" are two classes; are they two spellings of one class?",
                        x, y);
        }
}

static void look_at_class_count(struct suspicions *out, const struct dataset *d,
                                const int64_t *size)
{
    int64_t present = 0;
    char buffer[24];
    int32_t last = 0;
    for (int32_t k = 0; k < d->classes; k++) {
        present += size[k] > 0;
        last = size[k] > 0 ? k : last;
    }
    if (present == 1)
        suspect(out, "every label is \"%s\": there is nothing to learn",
                dataset_class_name(d, last, buffer));
}

/* ---- headers ------------------------------------------------------------- */

static const char header_words[] =
    "id|node|node_id|nodeid|user|user_id|userid|name|account|account_id|customer|customer_id|"
    "person|"
    "label|labels|class|classes|target|y|is_fraud|fraud|type|category|group|source|src|from|sender|"
    "target|dst|to|receiver|src_user|dst_user|from_id|to_id|user1|user2|node1|node2";

static bool is_number(const char *text)
{
    return token_number(text, strlen(text)) >= 0;
}

/* Whether all other ids are numbers. */
static bool others_are_numbers(const struct dataset *d, int64_t a, int64_t b)
{
    for (int64_t i = 0; i < d->nodes; i++)
        if (i != a && i != b && !is_number(d->node_id[i]))
            return false;
    return d->nodes > 2;
}

/* Finds a labelled node without edges that is alone in its class and has the name of a column. */
static void look_for_label_header(struct suspicions *out, const struct dataset *d,
                                  const int64_t *degree, const int64_t *size)
{
    for (int64_t i = 0; d->node_id && d->class_name && i < d->nodes; i++) {
        if (d->label[i] < 0 || size[d->label[i]] > 1 || degree[i] > 0)
            continue;
        const char *id = d->node_id[i], *label = d->class_name[d->label[i]];
        if (is_one_of(id, header_words) || is_one_of(label, header_words))
            suspect(out,
                    "node \"%s\" of class \"%s\" looks like the header of the labels; name its "
                    "columns id,label or remove the line",
                    id, label);
    }
}

static void look_for_edge_header(struct suspicions *out, const struct dataset *d,
                                 const int64_t *degree)
{
    if (!d->node_id || d->edges < 2)
        return;
    int32_t a = d->from[0], b = d->to[0];
    if (degree[a] > 1 || degree[b] > 1 || is_number(d->node_id[a]) || is_number(d->node_id[b]))
        return;
    if ((is_one_of(d->node_id[a], header_words) && is_one_of(d->node_id[b], header_words)) ||
        others_are_numbers(d, a, b))
        suspect(out,
                "the first edge, \"%s\" to \"%s\", looks like a header; name its columns "
                "source,target or remove the line",
                d->node_id[a], d->node_id[b]);
}

/* ---- edges --------------------------------------------------------------- */

static void look_at_edges(struct suspicions *out, const struct dataset *d, const int64_t *degree)
{
    int64_t lonely = 0, labelled = 0, positive = 0, zero = 0;
    if (d->edges == 0) {
        suspect(out, "there are no edges: only features are used");
        return;
    }
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->label[i] >= 0) {
            labelled++;
            lonely += degree[i] == 0;
        }
    if (labelled > 1 && 2 * lonely > labelled)
        suspect(
            out,
            "%lld of %lld labelled nodes have no edge; do labels and edges use the same node ids?",
            (long long)lonely, (long long)labelled);
    for (int64_t e = 0; d->weight && e < d->edges; e++) {
        positive += d->weight[e] > 0;
        zero += d->weight[e] == 0;
    }
    if (d->weight && positive == 0)
        suspect(out, "no edge has a positive weight (%s): is this column really the weight?",
                zero == d->edges ? "all are 0" : "all are 0 or negative");
}

/* ---- features ------------------------------------------------------------ */

/* FNV-1a over a column's values. */
static uint64_t column_hash(const struct dataset *d, int64_t f)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < d->nodes; i++) {
        uint32_t bits;
        memcpy(&bits, &d->dense[i * d->features + f], sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    return hash;
}

static bool same_column(const struct dataset *d, int64_t a, int64_t b)
{
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->dense[i * d->features + a] != d->dense[i * d->features + b])
            return false;
    return true;
}

static consm_status look_for_copies(struct suspicions *out, const struct dataset *d)
{
    enum { MOST_COLUMNS = 1000 };
    consm_status st = CONSM_OK;
    uint64_t *hash = NULL;
    char a[24], b[24];
    if (!d->dense || d->features > MOST_COLUMNS || d->nodes < 2)
        return CONSM_OK;
    TRY(NEW(hash, d->features));
    for (int64_t f = 0; f < d->features; f++)
        hash[f] = column_hash(d, f);
    for (int64_t f = 1; f < d->features; f++)
        for (int64_t g = 0; g < f; g++) {
            if (hash[f] != hash[g] || !same_column(d, f, g))
                continue;
            snprintf(a, sizeof a, "%lld", (long long)g);
            snprintf(b, sizeof b, "%lld", (long long)f);
            suspect(out, "feature columns %s and %s are the same in every row",
                    d->feature_name ? d->feature_name[g] : a,
                    d->feature_name ? d->feature_name[f] : b);
            break;
        }
done:
    mem_free(hash);
    return st;
}

consm_status dataset_suspect(struct suspicions *out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    int64_t *degree = NULL, *size = NULL;
    out->count = 0;
    TRY(ZNEW(degree, d->nodes));
    TRY(ZNEW(size, d->classes));
    if (d->unchecked) /* a mapped file of ours: its ends are not checked yet */
        TRY(dataset_check(d));
    for (int64_t e = 0; e < d->edges; e++) {
        degree[d->from[e]]++;
        degree[d->to[e]]++;
    }
    for (int64_t i = 0; i < d->nodes; i++)
        if (d->label[i] >= 0)
            size[d->label[i]]++;
    look_for_label_header(out, d, degree, size);
    look_for_edge_header(out, d, degree);
    look_for_blanks(out, d);
    look_for_spellings(out, d);
    look_at_class_count(out, d, size);
    look_at_edges(out, d, degree);
    TRY(look_for_copies(out, d));
done:
    mem_free(degree);
    mem_free(size);
    return st;
}
