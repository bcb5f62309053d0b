/* report.html and metrics.json of a run, compared with tests/golden/run_NAME.txt. The models are
 * the recorded ones of tests/data/models; their predictions and trust are replaced by invented
 * ones, so that every machine writes the same figures. */
#include "folder.h"
#include "golden.h"

#include <math.h>

#include "app/differences.h"
#include "app/model_json.h"
#include "app/report.h"
#include "app/suspects.h"

#define MODELS TESTS_DIR "/data/models/"

struct scene {
    struct consm_model *model;
    struct consm_dataset *data;
    struct consm_prediction *said[2];   /* by the model, and by the one it began with */
    struct consm_edge_scores *trust[2]; /* likewise */
    struct trained_run run;
};

/* ---- invented answers ---------------------------------------------------- */

/* Node i has the first class with probability 0.02, 0.08 ... 0.98; every fifth node is wrong. */
static void invent_answers(struct consm_prediction *p, const struct dataset *d, int shift)
{
    assert_int_equal(p->classes, 2);
    for (int64_t i = 0; i < p->nodes; i++) {
        float sure = (float)(0.52 + 0.06 * (double)((5 * i + shift) % 8));
        bool first = (d->label[i] == 0) == (i % 5 != 0);
        p->probability[2 * i] = first ? sure : 1 - sure;
        p->probability[2 * i + 1] = first ? 1 - sure : sure;
        p->label[i] = first ? 0 : 1;
        p->confidence[i] = sure;
        p->log_odds[2 * i] = first ? 1.5f + (float)(i % 7) : -1.5f;
        p->log_odds[2 * i + 1] = -p->log_odds[2 * i];
    }
}

static void invent_trust(struct consm_edge_scores *s, int shift)
{
    s->zeta = 0.625;
    s->threshold = 0.45;
    for (int64_t e = 0; e < s->edges; e++) {
        s->score[e] = (float)(0.05 + 0.1 * (double)((3 * e + shift) % 10));
        s->kept[e] = (double)s->score[e] >= s->threshold;
        s->low[e] = s->score[e] - 0.04f;
        s->high[e] = s->score[e] + 0.03f;
        for (int32_t w = 0; w < s->witnesses; w++)
            s->witness[e * s->witnesses + w] = (float)(0.1 * (double)((e + w) % 11));
    }
    for (int32_t w = 0; s->witnesses && w <= s->witnesses; w++)
        s->witness_weight[w] = 0.25 * (w % 5) - 0.5;
}

/* Roles in turn; without test nodes these are nobody's. */
static void give_roles(struct scene *s, bool tested)
{
    const struct dataset *d = s->data->data;
    struct roles *r = &s->run.roles;
    OK(NEW(r->role, d->nodes));
    snprintf(r->split, sizeof r->split, "by hand");
    for (int64_t i = 0; i < d->nodes; i++) {
        r->role[i] = (uint8_t)(1 + i % 3);
        if (r->role[i] == SPLIT_TEST && !tested)
            r->role[i] = SPLIT_NONE;
        r->count[r->role[i]]++;
    }
}

static void measure(struct scene *s)
{
    struct consm_model *m = s->model;
    for (uint8_t which = SPLIT_TRAIN; which <= SPLIT_TEST; which++) {
        struct predicted p = {.probability = s->said[0]->probability,
                              .label = s->data->data->label,
                              .role = s->run.roles.role,
                              .which = which,
                              .nodes = s->said[0]->nodes,
                              .classes = 2,
                              .decision = m->decision.made ? &m->decision : NULL};
        metrics_free(&m->metrics[which]);
        m->metrics[which] = (struct metrics){0};
        OK(metrics_measure(&m->metrics[which], &p));
        m->count[which] = s->run.roles.count[which];
    }
}

static void scene_open(struct scene *s, const char *name, bool tested)
{
    char path[300];
    *s = (struct scene){0};
    snprintf(path, sizeof path, MODELS "%s.safetensors", name);
    OK(consm_model_load(&s->model, path));
    OK(consm_dataset_open(&s->data, MODELS "graph", NULL));
    for (int i = 0; i < 2; i++) {
        OK(consm_predict(&s->said[i], s->model, s->data, 1));
        OK(consm_score_edges(&s->trust[i], s->model, s->data, 1));
        invent_answers(s->said[i], s->data->data, i);
        invent_trust(s->trust[i], i);
    }
    give_roles(s, tested);
    measure(s);
    s->run.model = s->model;
    s->run.prediction = s->said[0];
}

static void scene_free(struct scene *s)
{
    for (int i = 0; i < 2; i++) {
        consm_prediction_free(s->said[i]);
        consm_edge_scores_free(s->trust[i]);
    }
    roles_free(&s->run.roles);
    consm_model_free(s->model);
    consm_dataset_free(s->data);
}

/* ---- what is compared ---------------------------------------------------- */

/* The text of a page: without styles, scripts and numbers that only place things. */
static void tell_page(struct text *out, const char *path)
{
    static char page[1 << 21];
    static const char *const hidden[][2] = {{"<script", "</script>"}, {"<style", "</style>"}};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    assert_true(size > 0 && size < sizeof page - 1);
    page[size] = 0;
    bool between = true; /* elements: nothing was told since the last line's end */
    for (const char *at = page; *at;) {
        for (int i = 0; i < 2; i++)
            if (strncmp(at, hidden[i][0], strlen(hidden[i][0])) == 0) {
                at = strstr(at, hidden[i][1]);
                assert_non_null(at);
            }
        size_t length = strcspn(at, *at == '<' ? ">" : "<");
        if (*at == '<') {
            at += length + 1;
            continue;
        }
        size_t begin = strspn(at, " \n\r\t");
        if (begin < length) {
            text_add_bytes(out, at + begin, length - begin);
            between = false;
        }
        at += length;
        if (!between)
            text_add(out, "\n");
        between = true;
    }
}

/* Cuts numbers after eight decimals: machines differ in the last digits of logarithms. */
static void tell_figures(struct text *out, const struct consm_model *m)
{
    struct text json = {0};
    size_t digits = 0;
    bool decimals = false;
    model_metrics_to_json(&json, m);
    OK(text_status(&json));
    for (const char *at = text_string(&json); *at; at++) {
        bool digit = *at >= '0' && *at <= '9';
        decimals = *at == '.' || (decimals && digit);
        digits = decimals && digit ? digits + 1 : 0;
        if (digits <= 8)
            text_add_bytes(out, at, 1);
    }
    text_free(&json);
}

/* What metrics.json and the settings say is the same after the model was saved and loaded. */
static void survives_a_file(const struct consm_model *m)
{
    struct text before = {0}, after = {0};
    struct consm_model *loaded;
    OK(consm_model_save(m, in_folder("model.safetensors")));
    OK(consm_model_load(&loaded, in_folder("model.safetensors")));
    model_metrics_to_json(&before, m);
    model_metrics_to_json(&after, loaded);
    config_to_json(&before, &m->config);
    config_to_json(&after, &loaded->config);
    assert_string_equal(text_string(&after), text_string(&before));
    text_free(&before);
    text_free(&after);
    consm_model_free(loaded);
}

static void is_golden(const char *file, const struct report_input *in)
{
    struct text out = {0};
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    OK(report_run(in_folder("report.html"), in));
    tell_page(&out, in_folder("report.html"));
    text_add(&out, "\nmetrics.json\n");
    tell_figures(&out, in->run->model);
    text_add(&out, "\n");
    OK(text_status(&out));
    golden(file, text_string(&out));
    text_free(&out);
    survives_a_file(in->run->model);
}

static struct report_input input_of(const struct scene *s)
{
    return (struct report_input){
        .run = &s->run, .data = s->data->data, .scores = s->trust[0], .set = s->data, .threads = 1};
}

/* ---- the runs ------------------------------------------------------------ */

/* A rare class with a threshold, nodes to inspect with reasons, changes since another model. */
static void a_network_is_golden(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "1_network", true);
    struct consm_model *m = s.model;
    m->positive = 2;
    m->ece_before = 0.3125;
    m->decision = (struct decision){.made = true,
                                    .positive = 1,
                                    .threshold = 0.26,
                                    .precision = 0.5,
                                    .recall = 0.75,
                                    .reached = true,
                                    .folds = 5,
                                    .positives = 9};
    measure(&s);
    struct suspect_node row[] = {{3, "age 12 (+1.5)"}, {40, "n1 (+0.5)"}, {41, NULL}};
    int32_t neighbour[] = {7, 9}, feature[] = {0, 2};
    float by_neighbour[] = {1.25f, -0.5f}, by_feature[] = {0.75f, -0.25f};
    struct consm_explanation why = {.node = 3,
                                    .label = 1,
                                    .neighbours = 2,
                                    .features = 2,
                                    .neighbour = neighbour,
                                    .feature = feature,
                                    .neighbour_log_odds = by_neighbour,
                                    .feature_log_odds = by_feature};
    struct suspects suspects = {
        .class_index = 1, .count = 3, .row = row, .explanation = &why, .explained = 3};
    struct differences changes = {
        .model = {m, m}, .said = {s.said[1], s.said[0]}, .trust = {s.trust[1], s.trust[0]}};
    s.said[1]->label[5] = !s.said[1]->label[5];
    s.said[1]->label[8] = !s.said[1]->label[8];
    s.said[1]->label[13] = !s.said[1]->label[13]; /* as certain as node 5 */
    OK(differences_find(&changes, REPORT_MOVED));
    struct report_input in = input_of(&s);
    in.command = "consm train graph -m gcn";
    in.suspects = &suspects;
    in.changes = &changes;
    is_golden("run_network.txt", &in);
    differences_free(&changes);
    scene_free(&s);
}

/* Candidates, folds, a refit and a student; nobody tests; one class is never predicted. */
static void a_consm_is_golden(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "1_consm", false);
    struct train_result *r = &s.model->result;
    for (int64_t i = 0; i < s.said[0]->nodes; i++) {
        s.said[0]->probability[2 * i] = 0.75f;
        s.said[0]->probability[2 * i + 1] = 0.25f;
        s.said[0]->label[i] = 0;
    }
    s.model->positive = 2;
    measure(&s);
    r->candidates = 3;
    r->candidate[0] = (struct train_candidate){"gcn", "wide", 40, 0.75, 2, 0.625};
    r->candidate[1] = (struct train_candidate){"mlp", "", 20, 0.5, 1, -1};
    r->candidate[2] = (struct train_candidate){"gin", "", 5, -1, 3, -1};
    r->folds = (struct train_folds){48, 12, 5, 2, 0.625, 0.0625};
    r->student = (struct train_student){30, 0.8125, true};
    s.model->refit.labels = 64;
    s.model->refit.updates = 1;
    s.model->held_out = 4;
    struct report_input in = input_of(&s);
    is_golden("run_consm.txt", &in);
    scene_free(&s);
}

static void an_ensemble_is_golden(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "2_ensemble", true);
    s.model->structural = true;
    struct report_input in = input_of(&s);
    is_golden("run_ensemble.txt", &in);
    scene_free(&s);
}

/* Trees predict in ConSM's place. */
static void trees_are_golden(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "3_trees", true);
    struct report_input in = input_of(&s);
    is_golden("run_trees.txt", &in);
    scene_free(&s);
}

/* The learning curve as callers read it. */
static void epochs_by_hand(void **state)
{
    (void)state;
    struct scene s;
    struct consm_epoch e = {.size = sizeof e};
    scene_open(&s, "1_consm", true);
    curve_free(&s.model->curve);
    OK(GROW(s.model->curve.point, 0, s.model->curve.room, 3));
    s.model->curve.point[0] = (struct curve_point){0, 2, 5, 0.75, -2, BACKBONE_GCN, 1};
    s.model->curve.point[1] = (struct curve_point){1, 3, 6, 0.5, -1, BACKBONE_MLP, 0};
    s.model->curve.point[2] = (struct curve_point){1, 0, 7, 0.25, 0.5, 0, 0};
    s.model->curve.count = 3;
    OK(consm_model_epoch(&e, s.model, 0));
    assert_true(e.member == 0 && e.candidate == 2 && e.number == 5 && e.loss == 0.75 && e.chosen);
    assert_true(isnan(e.val_score));
    assert_string_equal(e.backbone, "gcn");
    OK(consm_model_epoch(&e, s.model, 1));
    assert_true(e.member == 1 && e.candidate == 3 && e.val_score == -1 && !e.chosen);
    assert_string_equal(e.backbone, "mlp");
    OK(consm_model_epoch(&e, s.model, 2));
    assert_true(e.candidate == 0 && e.number == 7 && e.val_score == 0.5 && !e.chosen);
    assert_string_equal(e.backbone, "");
    FAILS(consm_model_epoch(&e, s.model, 3), CONSM_ENOTFOUND, "point 3 does not exist");
    FAILS(consm_model_epoch(&e, s.model, -1), CONSM_ENOTFOUND, "the curve has 3");
    scene_free(&s);
}

/* Test nodes by probability, then log-odds, then number; suspects.csv holds what they say. */
static void suspects_by_hand(void **state)
{
    (void)state;
    struct scene s;
    struct suspects found;
    char *line, *rest;
    scene_open(&s, "1_network", true); /* a threshold for "member" */
    assert_true(s.model->decision.made && s.model->decision.positive == 1);
    for (int64_t i = 0; i < s.said[0]->nodes; i++)
        s.said[0]->probability[2 * i + 1] = s.said[0]->log_odds[2 * i + 1] = 0;
    static const struct {
        int64_t node;
        float probability, log_odds;
    } odd[] = {{2, 0.5f, 1}, {5, 0.75f, 2}, {8, 0.75f, 3}, {11, 0.5f, 1}, {12, 1, 9}, {13, 1, 9}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) { /* 12 trains, 13 validates */
        s.said[0]->probability[2 * odd[i].node + 1] = odd[i].probability;
        s.said[0]->log_odds[2 * odd[i].node + 1] = odd[i].log_odds;
    }
    OK(suspects_find(&found, s.model, s.data, s.said[0], &s.run.roles, 1));
    assert_int_equal(found.count, 32);
    static const int64_t first[] = {8, 5, 2, 11, 14};
    for (int i = 0; i < 5; i++)
        assert_int_equal(found.row[i].node, first[i]);
    assert_int_equal(found.explained, 8);
    assert_non_null(found.row[SUSPECTS_EXPLAINED - 1].reasons);
    assert_null(found.row[SUSPECTS_EXPLAINED].reasons);
    mem_free(found.row[0].reasons);
    found.row[0].reasons = mem_strdup("a, b");
    found.count = 2;
    mem_free(found.row[1].reasons);
    found.row[1].reasons = NULL;
    OK(suspects_write(in_folder("suspects.csv"), &found, s.model, s.data, s.said[0], false));
    char text[1000] = "";
    FILE *file = fopen(in_folder("suspects.csv"), "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    line = strtok_r(text, "\n", &rest);
    assert_string_equal(line, "rank,id,predicted,p_member,log_odds,reasons");
    char expected[100], id[24], name[24];
    for (int i = 0; i < 2; i++) {
        snprintf(expected, sizeof expected, "%d,%s,%s,0.750000,%d.0000,%s", i + 1,
                 consm_node_id(s.data, first[i], id),
                 consm_model_class(s.model, s.said[0]->label[first[i]], name), 3 - i,
                 i ? "" : "\"a, b\"");
        assert_string_equal(strtok_r(NULL, "\n", &rest), expected);
    }
    found.count = 32;
    suspects_free(&found);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_network_is_golden, fresh, clean),
        cmocka_unit_test_setup_teardown(a_consm_is_golden, fresh, clean),
        cmocka_unit_test_setup_teardown(an_ensemble_is_golden, fresh, clean),
        cmocka_unit_test_setup_teardown(trees_are_golden, fresh, clean),
        cmocka_unit_test_setup_teardown(suspects_by_hand, fresh, clean),
        cmocka_unit_test_setup_teardown(epochs_by_hand, fresh, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
