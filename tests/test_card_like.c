/* Whole runs of ConSM on a backend that is used as a card is: its memory is hidden, programs share
 * no memory and are kept between the rungs of the race, candidates train on several tracks, maps
 * and pooling are programs. The sanitizers see these paths here; they cannot see a card. */
#include "far_backend.h"
#include "narrow.h"
#include "training.h"

#include <math.h>

static consm_status card_like_another(struct backend **out, const struct backend *b, int threads);

static size_t card_like_room(struct backend *b)
{
    (void)b;
    return (size_t)1 << 34;
}

static struct far *card_like_open(int threads)
{
    static struct backend_kind kind;
    struct far *far = far_open_over("reference", threads);
    if (!kind.another) { /* the first one; others are opened by tracks, side by side */
        kind = *far->base.kind;
        kind.separate = 1 << 24;
        kind.room = card_like_room;
        kind.another = card_like_another;
    }
    far->base.kind = &kind;
    return far;
}

static consm_status card_like_another(struct backend **out, const struct backend *b, int threads)
{
    (void)b;
    *out = &card_like_open(threads)->base;
    return CONSM_OK;
}

static void train(const struct scene *s, const char *cap, const char *refresh)
{
    const struct model_def *model;
    struct outcome out;
    struct far *far = card_like_open(2);
    OK(model_find(&model, "consm"));
    struct train_options o = {.model = model, .seed = 11};
    model_defaults(model, &o.config);
    narrow(&o);            /* the reference takes long for more */
    o.config.warmup = 130; /* all rungs of the race */
    o.config.rounds = 3;
    o.config.gnn_steps = 20;
    OK(config_set(&o.config, "two_hop_cap", cap));
    OK(config_set(&o.config, "match_refresh", refresh));
    train_with(&out, &s->problem, &o, &far->base);
    assert_true(far->runs > 0);
    assert_true(out.result.val_acc > 0.8);
    for (int64_t k = 0; k < out.logits; k++)
        assert_true(isfinite(out.logit[k]));
    outcome_free(&out);
    backend_close(&far->base);
}

static void whole_runs(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "csbm:nodes=36,classes=3,degree=3,features=4,signal=1.5,homophily=0.8,seed=4",
               6);
    train(&s, "64", "1");
    train(&s, "4", "2"); /* sampled sets, a map of its own */
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
