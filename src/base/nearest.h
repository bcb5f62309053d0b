/* "Did you mean …?": finds the known word nearest to a misspelt one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/* Words are known(ctx, 0), known(ctx, 1), … until NULL. Returns NULL if no word is near enough. */
const char *nearest_word(const char *word, const char *(*known)(void *ctx, int index), void *ctx);

#endif
