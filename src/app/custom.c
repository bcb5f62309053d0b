/* Models of the caller's own: calls the build function and checks what it returns. */
#include "app/objects.h"

node custom_build(struct program *p, const struct inputs *in, const struct config *c)
{
    const struct custom *custom = in->context;
    struct custom_inside inside = {in, c};
    struct consm_inputs inputs = {.x = in->x,
                                  .nodes = in->nodes,
                                  .features = in->features,
                                  .classes = in->classes,
                                  .inside = &inside};
    if (!custom || !custom->build)
        return program_fault(p, "the model's equations are NULL");
    node logits = custom->build((struct consm_program *)p, &inputs, custom->ctx);
    if (!program_has(p, logits))
        return program_fault(
            p, "the model returned node %d, which does not exist: expected its logits", logits);
    if (program_rows(p, logits) != in->nodes || program_cols(p, logits) != in->classes)
        return program_fault(p, "the model's logits are %lld x %lld: expected %lld x %lld",
                             (long long)program_rows(p, logits), (long long)program_cols(p, logits),
                             (long long)in->nodes, (long long)in->classes);
    return logits;
}
