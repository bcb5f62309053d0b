/* Suggests the word that was probably meant, by edit distance. */
#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 63 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* Number of letters to change, remove, insert or swap with their neighbour; case is ignored. Words
 * longer than LONGEST are far apart. */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1]; /* rows of the table: this letter of a, and the two before */
    int *now = rows[0], *before = rows[1], *earlier = rows[2];
    size_t la = strlen(a), lb = strlen(b);
    if (la > LONGEST || lb > LONGEST)
        return LONGEST + 1;
    for (size_t j = 0; j <= lb; j++)
        now[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int *spare = earlier;
        earlier = before;
        before = now;
        now = spare;
        now[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            now[j] = least_of(before[j - 1] + (x != y), least_of(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                now[j] = least_of(now[j], earlier[j - 2] + 1);
        }
    }
    return now[lb];
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
