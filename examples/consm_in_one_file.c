/*
 * ConSM in one file: Algorithms 1 and 2 of "Finding Heterophilic Neighbors via Confidence-based
 * Subgraph Matching for Semi-supervised Node Classification" (Choi et al., CIKM 2022), with plain
 * loops and only libc. Read it beside the paper. The library does the same faster, on larger
 * graphs, with later additions; tests/test_one_file.c compares the two.
 *   cc -O2 consm_in_one_file.c -lm -o one_file
 *   consm generate csbm --homophily 0.8 -o graph/        (or: consm convert karate graph/)
 *   ./one_file graph/ 20 0                               (20 labels a class, seed 0)
 * A graph is a folder with edges.csv (source,target), nodes.csv (id,label; the ids are 0, 1, 2 …)
 * and optionally features.csv (a line per node).
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, M = 1 << 17, F = 4096, C = 16 }; /* the most nodes, edges, features, classes */
enum { D = 64, HIDDEN = 32, PAIRS = 8 }; /* width of h; of M; pairs of each kind a labelled node */
enum { ROUNDS = 3, MATCH_STEPS = 60, GNN_STEPS = 150, WARMUP = 150 };
static const float LR = 0.005f, WEIGHT_DECAY = 5e-4f, LAMBDA = 1, ALPHA_LU = 1, ALPHA_UU = 0.5f;
static float drop_rate = 0.5f;

static unsigned long long random_state = 1;
static double uniform(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

/* ---- the graph ---- */
enum role { TRAIN = 1, VALIDATE, TEST };
static int n, m, f, c, l;                         /* nodes, edges, features, classes, labelled */
static int from[M], to[M];                        /* (m) the ends of each edge */
static int start[N + 1], near[2 * M], via[2 * M]; /* i's neighbours: near[start[i]] … over via[] */
static float x[N][F];                             /* (n, f) */
static int y[N], role[N], train[N], have[C]; /* (n) labels; (l) training nodes; (c) their number */

static void read_graph(const char *folder)
{
    static char line[1 << 20], class[C + 1][64];
    static const char *const name[] = {"nodes.csv", "edges.csv", "features.csv"};
    FILE *file[3];
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "%s/%s", folder, name[i]);
        file[i] = fopen(line, "r");
        if (i < 2 && (!file[i] || !fgets(line, sizeof line, file[i])))
            exit(fprintf(stderr, "%s: cannot open\n", line) > 0);
    }
    for (; n < N && c < C && fgets(line, sizeof line, file[0]); n++) {
        sscanf(line, "%*d,%63[^,\n]", class[c]); /* a new class, if not known yet */
        while (strcmp(class[y[n]], class[c]) != 0)
            y[n]++;
        c += y[n] == c;
    }
    while (m < M && fscanf(file[1], "%d,%d", &from[m], &to[m]) == 2)
        m += from[m] != to[m] && from[m] < n && to[m] < n;
    for (int i = 0; i < n && file[2] && fgets(line, sizeof line, file[2]); i++) {
        char *p = line;
        for (f = 0; f < F && (f == 0 || *p++ == ','); f++)
            x[i][f] = strtof(p, &p);
    }
    for (int i = 0; i < n && !file[2]; i++)
        x[i][i] = 1, f = n; /* without features each node gets its own */
}

/* Lists of neighbours; then per_class nodes of each class train, the others validate or test. */
static void connect_and_split(int per_class)
{
    static int next[N + 1];
    for (int e = 0; e < m; e++)
        start[from[e] + 1]++, start[to[e] + 1]++;
    for (int i = 0; i < n; i++)
        next[i + 1] = start[i + 1] += start[i];
    for (int e = 0; e < m; e++) {
        int a = next[from[e]]++, b = next[to[e]]++;
        near[a] = to[e], near[b] = from[e], via[a] = via[b] = e;
    }
    for (int tries = 0, i; tries < 100 * n; tries++)
        if (!role[i = (int)(uniform() * n)] && have[y[i]] < per_class)
            role[i] = TRAIN, train[l++] = i, have[y[i]]++;
    for (int i = 0; i < n; i++)
        role[i] = role[i] ? TRAIN : uniform() < 0.5 ? VALIDATE : TEST;
}

/* ---- parameters, Adam, and layers with their way back ---- */
struct weights {
    int rows, cols, step;
    float *value, *grad, *mean, *square; /* (rows, cols); Adam's moments */
};

static struct weights weights(int rows, int cols) /* Glorot's uniform; a bias starts at 0 */
{
    float *all = calloc((size_t)(4 * rows * cols), sizeof *all);
    int size = rows * cols;
    for (int k = 0; all && rows > 1 && k < size; k++)
        all[k] = (float)((2 * uniform() - 1) * sqrt(6.0 / (rows + cols)));
    return (struct weights){rows, cols, 0, all, all + size, all + 2 * size, all + 3 * size};
}

static void adam(struct weights *w, int count)
{
    for (int i = 0; i < count; i++, w++)
        for (int k = 0, step = ++w->step; k < w->rows * w->cols; k++) {
            float g = w->grad[k] + WEIGHT_DECAY * w->value[k];
            w->mean[k] = 0.9f * w->mean[k] + 0.1f * g;
            w->square[k] = 0.999f * w->square[k] + 0.001f * g * g;
            double size = sqrt((double)w->square[k] / (1 - pow(0.999, step))) + 1e-8;
            w->value[k] -= (float)((double)(LR * w->mean[k]) / (1 - pow(0.9, step)) / size);
            w->grad[k] = 0;
        }
}

/* out (cols) = a (rows)·W + b, b optional */
static void affine(float *out, const float *a, const struct weights *w, const struct weights *b)
{
    for (int j = 0; j < w->cols; j++)
        out[j] = b ? b->value[j] : 0;
    for (int k = 0; k < w->rows; k++)
        for (int j = 0; a[k] != 0 && j < w->cols; j++)
            out[j] += a[k] * w->value[k * w->cols + j];
}

/* From the gradient g of out: those of W and b, and da += g·Wᵀ. */
static void backward(float *da, const float *g, const float *a, struct weights *w,
                     struct weights *b)
{
    for (int j = 0; j < w->cols; j++) {
        if (b)
            b->grad[j] += g[j];
        for (int k = 0; g[j] != 0 && k < w->rows; k++) {
            w->grad[k * w->cols + j] += g[j] * a[k];
            if (da)
                da[k] += g[j] * w->value[k * w->cols + j];
        }
    }
}

/* ReLU, then dropout; and its gradient, da from the output. */
static void relu_drop(float *a, bool training)
{
    float rate = training ? drop_rate : 0;
    for (int k = 0; k < D; k++)
        a[k] = a[k] <= 0 || (rate > 0 && uniform() < (double)rate) ? 0 : a[k] / (1 - rate);
}

static void relu_drop_back(float *da, const float *a)
{
    for (int k = 0; k < D; k++)
        da[k] = a[k] > 0 ? da[k] / (1 - drop_rate) : 0;
}

/* weight·L_nll(z, label); its gradient is added to dz. */
static double cross_entropy(float *dz, const float *z, int label, double weight)
{
    double total = 0, most = (double)z[label]; /* keeps exp() small enough */
    for (int k = 0; k < c; k++)
        total += exp((double)z[k] - most);
    for (int k = 0; k < c; k++)
        dz[k] += (float)(weight * (exp((double)z[k] - most) / total - (k == label)));
    return weight * (most + log(total) - (double)z[label]);
}

static float inner(const float *a, const float *b, int count)
{
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum += a[k] * b[k];
    return sum;
}

static float length(const float *a, int count)
{
    return fmaxf(sqrtf(inner(a, a, count)), 1e-8f);
}

/* ---- Algorithm 1: the matching module ---- */
enum { W1, B1, W3, W3R, B3, W4, B4, W5, B5, MATCH_WEIGHTS };
static struct weights theta_sm[MATCH_WEIGHTS]; /* the encoder; M, its first layer in halves; f */
static float h[N][D], dh[N][D];                /* embeddings */
static float r[C][D];                          /* reference points */
static int goes_to[N];                         /* a node's nearest reference */
static bool kept[M];                           /* edges */
static float pooled[N][C * D];                 /* h' */
static float left[N][HIDDEN], right[N][HIDDEN], dleft[N][HIDDEN], dright[N][HIDDEN];

/* h = Encoder(X)                                                               (Eq. embedding) */
static void encode(bool training)
{
    for (int i = 0; i < n; i++)
        affine(h[i], x[i], &theta_sm[W1], &theta_sm[B1]), relu_drop(h[i], training);
}

/* r: the mean embedding of each class's training nodes; and each node's nearest one. */
static void find_references(void)
{
    memset(r, 0, sizeof r);
    for (int t = 0; t < l; t++)
        for (int j = 0; j < D; j++)
            r[y[train[t]]][j] += h[train[t]][j] / (float)have[y[train[t]]];
    for (int i = 0; i < n; i++) {
        double least = INFINITY;
        for (int k = 0; k < c; k++) {
            double distance = 0;
            for (int j = 0; j < D; j++)
                distance += pow((double)(r[k][j] - h[i][j]), 2);
            goes_to[i] = distance < least ? k : goes_to[i];
            least = fmin(least, distance);
        }
    }
}

static int larger_first(const void *a, const void *b)
{
    return (*(const float *)a < *(const float *)b) - (*(const float *)a > *(const float *)b);
}

/* The top ⌊ζ|E|⌋ edges: those that score at least as high as the last of them. */
static void top_edges(bool *top, const float *score, double zeta)
{
    static float sorted[M];
    int k = (int)floor(zeta * m);
    memcpy(sorted, score, (size_t)m * sizeof *score);
    qsort(sorted, (size_t)m, sizeof *sorted, larger_first);
    for (int e = 0; e < m; e++)
        top[e] = k > 0 && score[e] >= sorted[k - 1];
}

/* S = h·rᵀ, as cosines; w_ij = S_i·S_j; the top ⌊ζ|E|⌋ edges are kept          (Eq. similarity) */
static void keep_confident(double zeta)
{
    static float S[N][C], score[M];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c; k++)
            S[i][k] = inner(h[i], r[k], D) / (length(h[i], D) * length(r[k], D));
    for (int e = 0; e < m; e++)
        score[e] = inner(S[from[e]], S[to[e]], c);
    top_edges(kept, score, zeta);
}

/* G_i = Ã[i], Ã = A ∨ A² over the kept edges: the node, its neighbours, theirs; and how many of
 * them go to each reference. */
static int two_hops(int *member, int size[C], int i)
{
    static int met[N], turn;
    int count = 1, direct = 1;
    member[0] = i, met[i] = ++turn, size[goes_to[i]]++;
    for (int a = 0; a < direct; direct = a++ == 0 ? count : direct)
        for (int v = member[a], k = start[v]; k < start[v + 1]; k++)
            if (kept[via[k]] && met[near[k]] != turn)
                met[near[k]] = turn, member[count++] = near[k], size[goes_to[near[k]]]++;
    return count;
}

/* h'_i = B(p*_i, h_i): every node of G_i goes to its nearest reference; h' is the mean per
 * reference (Eq. our_monge_map). Left and right are M's first layer, which splits. */
static void pool(int i)
{
    static int member[N];
    int size[C] = {0}, count = two_hops(member, size, i);
    memset(pooled[i], 0, sizeof pooled[i]);
    for (int a = 0; a < count; a++)
        for (int v = member[a], k = goes_to[v], j = 0; j < D; j++)
            pooled[i][k * D + j] += h[v][j] / (float)size[k];
    affine(left[i], pooled[i], &theta_sm[W3], &theta_sm[B3]);
    affine(right[i], pooled[i], &theta_sm[W3R], NULL);
}

static void pool_back(int i)
{
    static int member[N];
    int size[C] = {0}, count = two_hops(member, size, i);
    float back[C * D] = {0};
    backward(back, dleft[i], pooled[i], &theta_sm[W3], &theta_sm[B3]);
    backward(back, dright[i], pooled[i], &theta_sm[W3R], NULL);
    for (int a = 0; a < count; a++)
        for (int v = member[a], k = goes_to[v], j = 0; j < D; j++)
            dh[v][j] += back[k * D + j] / (float)size[k];
}

/* w_ij = M(h'_i ⊕ h'_j): linear, ReLU (which gives joined), linear, sigmoid    (Eq. edge_score) */
static float match_pair(int i, int j, float joined[HIDDEN])
{
    for (int k = 0; k < HIDDEN; k++)
        joined[k] = fmaxf(left[i][k] + right[j][k], 0);
    return 1 / (1 + expf(-inner(joined, theta_sm[W4].value, HIDDEN) - theta_sm[B4].value[0]));
}

/* Pairs of training nodes, as many of one class as of two. */
static int sample_pairs(int *a, int *b)
{
    int count = 0;
    for (int tries = 0; tries < 100 * PAIRS * l && count < 2 * PAIRS * l; tries++) {
        a[count] = train[tries % l], b[count] = train[(int)(uniform() * l)];
        count += a[count] != b[count] && (y[a[count]] == y[b[count]]) == (count % 2 == 0);
    }
    return count;
}

/* An epoch: all pairs in one update, so the loss is divided by their number: L_SM = Σ |w_ij - [Y_i
 * = Y_j]| + L_nll(f(h_i), Y_i) + L_nll(f(h_j), Y_j) (Eq. sm_loss) */
static double matching_step(double zeta, const int *a, const int *b, int count)
{
    static int times[N];
    struct weights *w = theta_sm;
    double loss = 0;
    memset(dh, 0, sizeof dh), memset(times, 0, sizeof times);
    memset(dleft, 0, sizeof dleft), memset(dright, 0, sizeof dright);
    encode(false), find_references(), keep_confident(zeta); /* lines 2 to 5 */
    encode(true);
    for (int t = 0; t < l; t++)
        pool(train[t]);
    for (int p = 0; p < count; p++) {
        int i = a[p], j = b[p];
        float joined[HIDDEN], score = match_pair(i, j, joined), target = y[i] == y[j];
        float slope = (score > target ? 1.0f : -1.0f) * score * (1 - score) / (float)count;
        loss += fabs((double)(score - target)) / count;
        times[i]++, times[j]++;
        w[B4].grad[0] += slope;
        for (int k = 0; k < HIDDEN; k++) {
            w[W4].grad[k] += slope * joined[k];
            dleft[i][k] += joined[k] > 0 ? slope * w[W4].value[k] : 0;
            dright[j][k] += joined[k] > 0 ? slope * w[W4].value[k] : 0;
        }
    }
    for (int t = 0; t < l; t++) {
        float logit[C], back[C] = {0}, *at = h[train[t]];
        pool_back(train[t]);
        affine(logit, at, &w[W5], &w[B5]);
        loss += cross_entropy(back, logit, y[train[t]], (double)times[train[t]] / count);
        backward(dh[train[t]], back, at, &w[W5], &w[B5]);
    }
    for (int i = 0; i < n; i++)
        relu_drop_back(dh[i], h[i]), backward(NULL, dh[i], x[i], &w[W1], &w[B1]);
    adam(w, MATCH_WEIGHTS);
    return loss;
}

/* The last line: w of all edges, the same in both directions. */
static void coefficients(float *w)
{
    float joined[HIDDEN];
    encode(false), find_references();
    for (int i = 0; i < n; i++)
        pool(i);
    for (int e = 0; e < m; e++)
        w[e] = (match_pair(from[e], to[e], joined) + match_pair(to[e], from[e], joined)) / 2;
}

/* ---- Algorithm 2: a GCN, and what the coefficients say of its edges ---- */
enum { G1, C1, G2, C2, GNN_WEIGHTS };
static struct weights theta_g[GNN_WEIGHTS], saved[GNN_WEIGHTS];
static float hidden[N][D], dhidden[N][D], scratch[N][D];
static float z[N][D], dz[N][D]; /* (n, c) logits */

static void start_networks(void)
{
    struct weights *w = theta_sm;
    w[W1] = weights(f, D), w[B1] = weights(1, D), w[W3] = weights(c * D, HIDDEN);
    w[W3R] = weights(c * D, HIDDEN), w[B3] = weights(1, HIDDEN), w[W4] = weights(HIDDEN, 1);
    w[B4] = weights(1, 1), w[W5] = weights(D, c), w[B5] = weights(1, c);
    for (w = theta_g; w; w = w == theta_g ? saved : NULL)
        w[G1] = weights(f, D), w[C1] = weights(1, D), w[G2] = weights(D, c), w[C2] = weights(1, c);
}

/* out (n, width) = Â a + b, Â = D^-1/2 (A + I) D^-1/2, which is its own transpose */
static void propagate(float out[][D], float a[][D], int width, const float *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++) {
            double own = 1.0 / (1 + start[i + 1] - start[i]);
            out[i][j] = (float)own * a[i][j] + (b ? b[j] : 0);
            for (int k = start[i]; k < start[i + 1]; k++) {
                int v = near[k], degree = 1 + start[v + 1] - start[v];
                out[i][j] += (float)sqrt(own / degree) * a[v][j];
            }
        }
}

/* Z = Â σ(Â X W_0) W_1 */
static void gnn_forward(bool training)
{
    for (int i = 0; i < n; i++)
        affine(scratch[i], x[i], &theta_g[G1], NULL);
    propagate(hidden, scratch, D, theta_g[C1].value);
    for (int i = 0; i < n; i++)
        relu_drop(hidden[i], training), affine(scratch[i], hidden[i], &theta_g[G2], NULL);
    propagate(z, scratch, c, theta_g[C2].value);
}

static void gnn_backward(void)
{
    memset(dhidden, 0, sizeof dhidden);
    propagate(scratch, dz, c, NULL);
    for (int i = 0; i < n; i++) {
        backward(dhidden[i], scratch[i], hidden[i], &theta_g[G2], NULL);
        for (int j = 0; j < c; j++)
            theta_g[C2].grad[j] += dz[i][j];
        relu_drop_back(dhidden[i], hidden[i]);
        for (int j = 0; j < D; j++)
            theta_g[C1].grad[j] += dhidden[i][j];
    }
    propagate(scratch, dhidden, D, NULL);
    for (int i = 0; i < n; i++)
        backward(NULL, scratch[i], x[i], &theta_g[G1], NULL);
}

/* λ L_SUP over LU and UU edges as a mean, d(i,j) = 1 - cos(z_i, z_j): the top ⌊ζ|E|⌋ pull by w·d,
 * the others push by (1-w)(1-d)                                                   (Eq. our_lp) */
static double supplement(const float *w, const bool *top)
{
    double loss = 0;
    for (int e = 0; e < m; e++) {
        int i = from[e], j = to[e], known = (role[i] == TRAIN) + (role[j] == TRAIN);
        float alpha = LAMBDA * (known == 2 ? 0 : known ? ALPHA_LU : ALPHA_UU) / (float)m;
        float a = length(z[i], c), b = length(z[j], c), cosine = inner(z[i], z[j], c) / (a * b);
        float slope = alpha * (top[e] ? -w[e] : 1 - w[e]);
        loss += (double)(slope * cosine + (top[e] ? alpha * w[e] : 0));
        for (int k = 0; k < c; k++) {
            dz[i][k] += slope * (z[j][k] / (a * b) - cosine * z[i][k] / (a * a));
            dz[j][k] += slope * (z[i][k] / (a * b) - cosine * z[j][k] / (b * b));
        }
    }
    return loss;
}

/* One update by L_G = L_GNN + λ L_SUP, without coefficients by L_GNN alone        (Eq. gnn_loss) */
static double gnn_step(const float *w, const bool *top)
{
    double loss = 0;
    memset(dz, 0, sizeof dz);
    gnn_forward(true);
    for (int t = 0; t < l; t++)
        loss += cross_entropy(dz[train[t]], z[train[t]], y[train[t]], 1.0 / l);
    loss += w ? supplement(w, top) : 0;
    gnn_backward();
    adam(theta_g, GNN_WEIGHTS);
    return loss;
}

static double accuracy_of(enum role of)
{
    double correct = 0, all = 0;
    gnn_forward(false);
    for (int i = 0, best = 0; i < n; i++, best = 0) {
        for (int k = 1; k < c; k++)
            best = z[i][k] > z[i][best] ? k : best;
        all += role[i] == (int)of, correct += role[i] == (int)of && best == y[i];
    }
    return all > 0 ? correct / all : 0;
}

static void copy_weights(struct weights *dest, const struct weights *w)
{
    for (int i = 0; i < GNN_WEIGHTS; i++)
        memcpy(dest[i].value, w[i].value, (size_t)(w[i].rows * w[i].cols) * sizeof(float));
}

/* Lines 7 to 14: updates; saves the parameters with the best validation and loads them at the end.
 */
static void train_gnn(double *best, int steps, const float *w, const bool *top)
{
    for (double now; steps > 0; steps--, *best = fmax(*best, now)) {
        gnn_step(w, top);
        now = accuracy_of(VALIDATE);
        if (now > *best)
            copy_weights(saved, theta_g);
    }
    copy_weights(theta_g, saved);
}

int main(int count, char **argument)
{
    static int a[2 * PAIRS * N], b[2 * PAIRS * N];
    static float w[M];
    static bool top[M];
    double best = 0, loss = 0, zeta, same = 1, known = 2;
    read_graph(count > 1 ? argument[1] : ".");
    random_state = 1 + (count > 3 ? strtoull(argument[3], NULL, 10) : 0);
    connect_and_split(count > 2 ? atoi(argument[2]) : 20);
    start_networks();
    for (int e = 0; e < m; e++) /* ζ: the share of edges within a class, among known labels */
        if (role[from[e]] != TEST && role[to[e]] != TEST)
            known++, same += y[from[e]] == y[to[e]];
    zeta = same / known;
    train_gnn(&best, WARMUP, NULL, NULL);
    printf("%d nodes, %d edges, zeta %.2f; GCN alone: validation %.4f\n", n, m, zeta, best);
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < MATCH_STEPS; i++)
            loss = matching_step(zeta, a, b, sample_pairs(a, b));
        coefficients(w);
        top_edges(top, w, zeta);
        train_gnn(&best, GNN_STEPS, w, top);
        printf("round %d: matching loss %.4f, validation %.4f\n", round, loss, best);
    }
    printf("test accuracy %.4f\n", accuracy_of(TEST));
    return 0;
}
