/* Copies of a user's choices about how to read tables. */
#include "data/choices.h"

const char *const choice_name[CHOICES] = {"id-column",     "label-column",  "weight-column",
                                          "source-column", "target-column", "ignore",
                                          "duplicates",    "unknown-nodes"};

consm_status choices_copy(struct choices *out, const char *const text[CHOICES])
{
    *out = (struct choices){0};
    for (int i = 0; i < CHOICES; i++)
        if (text[i] && !(out->text[i] = mem_strdup(text[i]))) {
            choices_free(out);
            return CONSM_ENOMEM;
        }
    return CONSM_OK;
}

void choices_free(struct choices *c)
{
    for (int i = 0; i < CHOICES; i++)
        mem_free(c->text[i]);
    *c = (struct choices){0};
}

bool choices_any(const struct choices *c)
{
    for (int i = 0; i < CHOICES; i++)
        if (c->text[i])
            return true;
    return false;
}
