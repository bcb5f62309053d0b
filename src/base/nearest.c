/* Levenshtein's distance, for error messages that guess what was meant. */
#include "base/nearest.h"

#include <string.h>

/* Words longer than 63 letters count as far apart. */
static int edit_distance(const char *a, const char *b)
{
    int row[64];
    size_t la = strlen(a), lb = strlen(b);
    if (la > 63 || lb > 63)
        return 64;
    for (size_t j = 0; j <= lb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < least ? change : least;
        }
    }
    return row[lb];
}

const char *nearest_word(const char *word, const char *(*known)(void *ctx, int index), void *ctx)
{
    const char *best = NULL, *name;
    int least = (int)strlen(word) / 2 + 1;
    for (int i = 0; (name = known(ctx, i)) != NULL; i++) {
        int distance = edit_distance(word, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}
