/* Every figure against golden files, drawn from fixed numbers: ordinary, hostile and empty input.
 */
#include "golden.h"

#include <math.h>
#include <unistd.h>

#include "report/html.h"
#include "report/svg.h"
#include "report/svg_inside.h"

/* Writes the figure inline and standalone; the caption is checked by the standalone form. */
static void compare(struct figure *f, const char *name)
{
    struct text out = {0};
    char file[64];
    OK(figure_to_svg(&out, f));
    assert_null(strstr(text_string(&out), "<script"));
    assert_null(strstr(text_string(&out), "nan"));
    assert_null(strstr(text_string(&out), "inf"));
    snprintf(file, sizeof file, "figure_%s.svg", name);
    const char *end = strstr(text_string(&out), "</style>"); /* looks may change, drawing may not */
    assert_non_null(end);
    golden(file, end);
    text_free(&out);
    OK(figure_to_inline(&out, f));
    assert_null(strstr(text_string(&out), "<style"));
    assert_non_null(strstr(text_string(&out), "role=\"img\""));
    text_free(&out);
    figure_free(f);
}

static void lines(void **state)
{
    double x[] = {0, 0.2, 0.4, 0.6, 0.8, 1}, a[] = {61, 64.5, NAN, 80, 81, 79.5};
    double low[] = {60, 63, NAN, 79, 80, 78}, high[] = {62, 66, NAN, 81, 82, 81};
    double b[] = {50, 51, 52, 53, 54, 55};
    struct figure_series series[] = {{"ConSM", x, a, low, high, 6, true, false},
                                     {HOSTILE_MARKUP, x, b, NULL, NULL, 6, false, true}};
    struct figure_rule rule[] = {{"true homophily", 0.81, false}, {"chance", 48, true}};
    struct line_chart chart = {
        .words = {"zeta", "Accuracy against ζ", "Cora", "95 % interval of the mean"},
        .x = {.label = "ζ"},
        .y = {.label = "Accuracy", .unit = "%"},
        .series = series,
        .series_count = 2,
        .rule = rule,
        .rules = 2};
    struct figure *f;
    (void)state;
    OK(figure_line(&f, &chart));
    assert_string_equal(f->caption, "Cora. Bands: 95 % interval of the mean.");
    compare(f, "line");
    chart.words.spread = NULL;
    FAILS(figure_line(&f, &chart), CONSM_EINVAL, "no text that explains them");
    assert_null(f);
}

static void lines_on_logarithmic_axes(void **state)
{
    double edges[] = {1e3, 1e4, 1e5, 1e6, 1e7}, time[] = {0.001, 0.01, 0, -3, 12};
    struct figure_series series = {"GCN", edges, time, NULL, NULL, 5, false, false};
    struct line_chart chart = {.words = {"complexity", "Cost", "", NULL},
                               .x = {.label = "Edges", .log = true},
                               .y = {.label = "Time", .unit = "s", .log = true},
                               .series = &series,
                               .series_count = 1};
    struct figure *f;
    (void)state;
    OK(figure_line(&f, &chart));
    compare(f, "line_log");
}

static void nothing_to_draw(void **state)
{
    double nan[] = {NAN, NAN}, one[] = {1, 1};
    struct figure_series series[] = {{"gone", nan, nan, nan, nan, 2, false, false},
                                     {"flat", one, one, NULL, NULL, 1, false, false}};
    struct line_chart chart = {.words = {NULL, NULL, NULL, "nothing"}};
    struct bar_chart bars = {.words = {"bars", "", "", NULL}};
    struct heat_map heat = {.words = {"heat", "", "", NULL}};
    struct reliability_chart reliability = {.words = {"reliability", "", "", NULL}};
    struct figure *f;
    (void)state;
    OK(figure_line(&f, &chart));
    compare(f, "line_empty");
    chart.series = series;
    chart.series_count = 2;
    OK(figure_line(&f, &chart));
    compare(f, "line_nan");
    OK(figure_bar(&f, &bars));
    compare(f, "bar_empty");
    OK(figure_heat(&f, &heat));
    compare(f, "heat_empty");
    OK(figure_reliability(&f, &reliability));
    compare(f, "reliability_empty");
}

static void bars(void **state)
{
    const char *group[] = {"Cora", HOSTILE_MARKUP, hostile_long()};
    const char *series[] = {"GCN", "ConSM"};
    double value[] = {80.5, 83.6, 49.4, NAN, -3, 4}, low[] = {80, 83, 49, NAN, -4, 3.5};
    double high[] = {81, 84, 50, NAN, -2, 4.5}, paper[] = {80.5, 84, NAN, 52, NAN, NAN};
    struct bar_chart chart = {.words = {"bars", "Accuracy", "Ten seeds.", "std"},
                              .y = {.label = "Accuracy", .unit = "%", .from_zero = true},
                              .group_label = "Set",
                              .group = group,
                              .series = series,
                              .groups = 3,
                              .series_count = 2,
                              .value = value,
                              .low = low,
                              .high = high,
                              .reference = paper,
                              .reference_name = "the paper"};
    struct figure *f;
    (void)state;
    OK(figure_bar(&f, &chart));
    assert_string_equal(f->caption, "Ten seeds. Whiskers: std.");
    compare(f, "bar");
}

static void heat_maps(void **state)
{
    const char *column[] = {"0", "50", HOSTILE_MARKUP}, *row[] = {"0", hostile_long()};
    double value[] = {80, 70, 60, 82, NAN, 64};
    struct heat_map map = {.words = {"pruning", "Pruning", "Mean of 10 seeds.", NULL},
                           .x = {.label = "within", .unit = "%"},
                           .y = {.label = "between", .unit = "%"},
                           .column = column,
                           .row = row,
                           .columns = 3,
                           .rows = 2,
                           .value = value,
                           .value_label = "Accuracy",
                           .value_unit = "%",
                           .decimals = 1};
    struct figure *f;
    (void)state;
    OK(figure_heat(&f, &map));
    compare(f, "heat");
}

static void reliability(void **state)
{
    float p[] = {0.05F, 0.15F, 0.15F, 0.5F, 0.55F, 0.9F, 0.95F, 1.0F};
    uint8_t truth[] = {0, 0, 1, 1, 0, 1, 1, 1};
    struct stats_reliability bins;
    const char *name[] = {HOSTILE_MARKUP};
    struct reliability_chart chart = {.words = {"reliability", "Calibration", "", NULL},
                                      .x_label = "predicted",
                                      .y_label = "observed",
                                      .series = name,
                                      .bins = &bins,
                                      .series_count = 1};
    struct figure *f;
    (void)state;
    OK(stats_reliability(&bins, p, truth, 8, 10));
    OK(figure_reliability(&f, &chart));
    assert_string_equal(f->caption, "Whiskers: Wilson's 95 % interval of the observed share.");
    compare(f, "reliability");
}

/* 0 – 1, 0 – 2, 1 – 2, 2 – 3, 3 – 4 and the lonely node 5. */
static const int64_t start[] = {0, 2, 4, 7, 9, 10, 10};
static const int32_t col[] = {1, 2, 0, 2, 0, 1, 3, 2, 4, 3};
static const float score[] = {0.9F, 0.2F, 0.9F, NAN, 0.2F, NAN, 0.6F, 0.6F, 0.5F, 0.5F};
static const int32_t label[] = {0, 1, 2, -1, 0, 1}, predicted[] = {0, 2, 2, 1, -1, 1};
static const uint8_t role[] = {1, 2, 3, 0, 3, 1};
static const char *const node_name[] = {"a", HOSTILE_MARKUP, HOSTILE_BYTES, "d", "e", "f"};
static const char *const class_name[] = {"red", HOSTILE_MARKUP, "blue"};

static const struct graph_view graph = {.name = "tiny",
                                        .nodes = 6,
                                        .start = start,
                                        .col = col,
                                        .score = score,
                                        .threshold = 0.5,
                                        .label = label,
                                        .predicted = predicted,
                                        .role = role,
                                        .node_name = node_name,
                                        .class_name = class_name,
                                        .classes = 3};

static void neighbourhoods(void **state)
{
    struct figure_words words = {"ego", "Around a", "Two hops.", NULL};
    struct graph_view bare = {.name = "bare", .nodes = 6, .start = start, .col = col};
    struct figure *f;
    (void)state;
    OK(figure_neighbourhood(&f, &words, &graph, 0));
    compare(f, "neighbourhood");
    OK(figure_neighbourhood(&f, &words, &graph, 5));
    compare(f, "neighbourhood_lonely");
    OK(figure_neighbourhood(&f, &words, &bare, 2));
    compare(f, "neighbourhood_bare");
    FAILS(figure_neighbourhood(&f, &words, &graph, 6), CONSM_ENOTFOUND, "no node 6");
    FAILS(figure_neighbourhood(&f, &words, &graph, -1), CONSM_ENOTFOUND, "no node -1");
}

static int64_t drawn_nodes(const struct figure *f, enum whole_kind kind)
{
    const char *mark = kind == WHOLE_BOTH ? "<circle" : "h0";
    int64_t count = 0;
    for (const char *at = f->body.data; (at = strstr(at, mark)) != NULL; at++)
        count++;
    return count;
}

/* A ring of that many nodes. */
static void draw_ring(struct figure *out[WHOLE_KINDS], int64_t nodes)
{
    int64_t *begin = NULL;
    int32_t *ends = NULL;
    const struct figure_words words[WHOLE_KINDS] = {{"whole", "A ring", "", NULL},
                                                    {"classes", "Classes", "", NULL},
                                                    {"trust", "Trust", "", NULL}};
    float *trust = NULL;
    int32_t *class_of = NULL;
    OK(NEW(trust, 2 * nodes));
    OK(NEW(class_of, nodes));
    OK(NEW(begin, nodes + 1));
    OK(NEW(ends, 2 * nodes));
    for (int64_t i = 0; i < nodes; i++) {
        begin[i] = 2 * i;
        ends[2 * i] = (int32_t)((i + nodes - 1) % nodes);
        ends[2 * i + 1] = (int32_t)((i + 1) % nodes);
        trust[2 * i] = trust[2 * i + 1] = i % 2 ? 0 : 1;
        class_of[i] = (int32_t)(i % 3);
    }
    begin[nodes] = 2 * nodes;
    struct graph_view g = {.name = "ring",
                           .nodes = nodes,
                           .start = begin,
                           .col = ends,
                           .score = trust,
                           .predicted = class_of,
                           .classes = 3};
    OK(figure_whole(out, words, &g));
    mem_free(trust);
    mem_free(class_of);
    mem_free(begin);
    mem_free(ends);
}

/* Every node once, the same picture every time, a sample of large graphs. */
static void whole_graphs(void **state)
{
    static const int64_t nodes[] = {50, 1, 20000}, drawn[] = {50, 1, 5000};
    struct figure *f[WHOLE_KINDS], *again[WHOLE_KINDS];
    (void)state;
    for (int i = 0; i < 3; i++) {
        draw_ring(f, nodes[i]);
        draw_ring(again, nodes[i]);
        for (int k = 0; k < WHOLE_KINDS; k++) {
            assert_int_equal(drawn_nodes(f[k], (enum whole_kind)k), drawn[i]);
            assert_string_equal(f[k]->body.data, again[k]->body.data);
            assert_null(strstr(f[k]->body.data, "nan"));
            figure_free(again[k]);
        }
        if (i == 0) { /* what is drawn of trust has no colour of a class, and the other way round */
            assert_non_null(strstr(f[WHOLE_CLASSES]->body.data, "class=\"s2 dots\""));
            assert_null(strstr(f[WHOLE_CLASSES]->body.data, "#8250df"));
            assert_non_null(strstr(f[WHOLE_TRUST]->body.data, "#8250df"));
            assert_non_null(strstr(f[WHOLE_TRUST]->body.data, "#a0662f"));
            assert_null(strstr(f[WHOLE_TRUST]->body.data, "class=\"s"));
            assert_non_null(strstr(f[WHOLE_BOTH]->body.data, "#8250df"));
            assert_non_null(strstr(f[WHOLE_BOTH]->body.data, "class=\"s2 dot\""));
        }
        for (int k = 0; k < WHOLE_KINDS; k++)
            figure_free(f[k]);
    }
}

/* Bars of trust have the colours of trust. */
static void trust_bars(void **state)
{
    static const char *const group[] = {"0.0"}, *const series[] = {"kept", "dropped"};
    static const int style[] = {FIGURE_TRUSTED, FIGURE_DISTRUSTED};
    static const double value[] = {3, 4};
    struct figure *f;
    (void)state;
    struct bar_chart chart = {.words = {"trust", "Trust", "", NULL},
                              .group = group,
                              .series = series,
                              .groups = 1,
                              .series_count = 2,
                              .value = value,
                              .style = style};
    OK(figure_bar(&f, &chart));
    assert_non_null(strstr(f->body.data, "class=\"trusted bar\""));
    assert_non_null(strstr(f->body.data, "class=\"distrusted bar\""));
    assert_null(strstr(f->body.data, "class=\"s0 bar\""));
    figure_free(f);
}

static void graphs_as_json(void **state)
{
    struct text out = {0};
    (void)state;
    OK(report_graph_json(&out, &graph, 100));
    golden("graph.json", text_string(&out));
    text_free(&out);
    OK(report_graph_json(&out, &graph, 2)); /* too large: only a part is embedded */
    golden("graph_sample.json", text_string(&out));
    text_free(&out);
}

static void ticks_are_round(void **state)
{
    struct ticks t;
    (void)state;
    axis_ticks(&t, 0, 1, false, 6);
    assert_int_equal(t.count, 6);
    assert_string_equal(t.label[1], "0.2");
    axis_ticks(&t, -0.3, 0.3, false, 6);
    assert_string_equal(t.label[t.count / 2], "0.0");
    axis_ticks(&t, 0, 3e6, false, 6);
    assert_string_equal(t.label[2], "1000 k");
    axis_ticks(&t, 1e3, 1e7, true, 6);
    assert_string_equal(t.label[0], "1 k");
    assert_string_equal(t.label[t.count - 1], "10 M");
    axis_ticks(&t, 2, 50, true, 6);
    assert_string_equal(t.label[0], "2");
    assert_string_equal(t.label[t.count - 1], "50");
    for (double span = 1e-12; span < 1e12; span *= 3.7) {
        axis_ticks(&t, span, 2 * span, false, 6);
        assert_in_range(t.count, 2, 12);
    }
}

static void colours_are_in_order(void **state)
{
    (void)state;
    assert_int_equal(colour_viridis(-1), 0x440154);
    assert_int_equal(colour_viridis(2), 0xfde725);
    assert_int_equal(colour_trust(0.5), 0x999999);
    assert_true(colour_is_dark(colour_viridis(0)));
    assert_false(colour_is_dark(colour_viridis(1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),           cmocka_unit_test(lines_on_logarithmic_axes),
        cmocka_unit_test(nothing_to_draw), cmocka_unit_test(bars),
        cmocka_unit_test(heat_maps),       cmocka_unit_test(reliability),
        cmocka_unit_test(neighbourhoods),  cmocka_unit_test(whole_graphs),
        cmocka_unit_test(trust_bars),      cmocka_unit_test(graphs_as_json),
        cmocka_unit_test(ticks_are_round), cmocka_unit_test(colours_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
