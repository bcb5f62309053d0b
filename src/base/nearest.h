/* "Did you mean …?": the known word nearest to a misspelt one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/* known(ctx, 0), known(ctx, 1), … until NULL. NULL when no word is near enough to be meant. */
const char *nearest_word(const char *word, const char *(*known)(void *ctx, int index), void *ctx);

#endif
