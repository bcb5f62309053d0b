/* Defaults that depend on the data. */
#include "app/defaults.h"

#include "data/generate/generate.h"
#include "data/registry/registry.h"

bool defaults_known(const char *name_or_path)
{
    return registry_find(name_or_path) || generate_knows(name_or_path);
}

const char *defaults_split(bool known)
{
    return known ? "random" : "auto";
}

void defaults_config(struct config *c, const struct dataset *d, bool known,
                     const bool given[CONFIG_ROWS])
{
    if (known)
        return;
    if (d->dense && !given[CONFIG_ROW_normalize_features])
        c->normalize_features = FEATURES_STANDARD;
    if (!given[CONFIG_ROW_ties])
        c->ties = TIES_LOSS;
}
