/* Measures a dataset. */
#include "data/facts.h"

#include "data/split.h"
#include "graph/components.h"
#include "graph/twins.h"

#include <math.h>
#include <string.h>

const double facts_quantile[FACTS_QUANTILES] = {0, 0.25, 0.5, 0.75, 0.9, 0.99, 1};

static int64_t degree_of(const struct csr *g, int64_t node)
{
    return g->start[node + 1] - g->start[node];
}

/* Degree quantiles by counting: entry ceil(q·n) of the sorted degrees, the first for q = 0. */
static consm_status measure_degrees(struct data_facts *f, const struct csr *g)
{
    consm_status st = CONSM_OK;
    int64_t *count = NULL, most = 0, seen = 0;
    for (int64_t i = 0; i < g->rows; i++)
        most = degree_of(g, i) > most ? degree_of(g, i) : most;
    TRY(ZNEW(count, most + 1));
    for (int64_t i = 0; i < g->rows; i++) {
        count[degree_of(g, i)]++;
        f->squared_degrees += (double)degree_of(g, i) * (double)degree_of(g, i);
    }
    f->isolated = count[0];
    f->mean_degree = (double)g->nnz / (double)g->rows;
    for (int64_t k = 0, next = 0, bucket = 0; k <= most; k++) {
        while (bucket + 1 < FACTS_BUCKETS && k >= (int64_t)1 << bucket)
            bucket++;
        f->degree_count[bucket] += count[k];
        seen += count[k];
        while (next < FACTS_QUANTILES && seen > 0 &&
               (double)seen >= ceil(facts_quantile[next] * (double)g->rows))
            f->degree[next++] = k;
    }
done:
    mem_free(count);
    return st;
}

/* The edges as stored: how many are distinct, loops, and stored both ways. */
static void measure_stored(struct data_facts *f, const struct csr *directed)
{
    f->directed = directed->nnz;
    f->symmetric = true;
    for (int64_t r = 0; r < directed->rows; r++)
        for (int64_t k = directed->start[r]; k < directed->start[r + 1]; k++) {
            int32_t other = directed->col[k];
            f->directed_loops += other == r;
            if (f->symmetric && csr_find(directed, other, (int32_t)r) < 0)
                f->symmetric = false;
        }
}

static void measure_nodes(struct data_facts *f, const struct dataset *d)
{
    for (int64_t i = 0; i < d->nodes; i++) {
        if (d->label[i] >= 0)
            f->class_size[d->label[i]]++;
        else
            f->unlabelled++;
    }
    if (d->sparse) {
        f->feature_nonzeros = d->sparse->nnz;
        for (int64_t k = 0; d->sparse->val && k < d->sparse->nnz; k++)
            f->feature_nonzeros -= d->sparse->val[k] == 0;
    }
    for (int64_t k = 0; d->dense && k < d->nodes * d->features; k++)
        f->feature_nonzeros += d->dense[k] != 0;
}

/* Duplicates by one view of the nodes, and how many leak across the splits. */
static consm_status measure_doubles(struct duplicates *out, const struct twin_view *view,
                                    const struct dataset *d, const uint8_t *role)
{
    consm_status st = CONSM_OK;
    int32_t *leader = NULL;
    int64_t leaked, size[4];
    double sum = 0;
    out->leaked = -1;
    out->leaked_share = (double)NAN;
    TRY(NEW(leader, d->nodes));
    TRY(twins_find(leader, view));
    TRY(twins_count(&out->nodes, leader, d->nodes));
    if (role)
        TRY(twins_shared(&out->leaked, leader, role, d->nodes, SPLIT_TEST, SPLIT_TRAIN));
    for (int64_t s = 0; s < d->splits; s++) {
        const uint8_t *stored = d->role + s * d->nodes;
        TRY(twins_shared(&leaked, leader, stored, d->nodes, SPLIT_TEST, SPLIT_TRAIN));
        split_count(size, stored, d->nodes);
        sum += size[SPLIT_TEST] ? (double)leaked / (double)size[SPLIT_TEST] : 0;
    }
    if (d->splits)
        out->leaked_share = sum / (double)d->splits;
done:
    mem_free(leader);
    return st;
}

/* The labels as a matrix with one entry per row, so that twins can be compared by label. */
static consm_status label_matrix(struct csr **out, const struct dataset *d)
{
    consm_status st = CONSM_OK;
    TRY(csr_new(out, d->nodes, d->classes + 1, d->nodes, false));
    for (int64_t i = 0; i < d->nodes; i++) {
        (*out)->col[i] = d->label[i] >= 0 ? d->label[i] : d->classes;
        (*out)->start[i + 1] = i + 1;
    }
done:
    return st;
}

static consm_status measure_duplicates(struct data_facts *f, const struct dataset *d,
                                       const struct csr *g, struct csr *directed,
                                       const uint8_t *role)
{
    consm_status st = CONSM_OK;
    struct csr *label = NULL;
    struct twin_view twins = {d->nodes, {g, d->sparse, NULL}, d->dense, d->features};
    TRY(measure_doubles(&f->twins, &twins, d, role));
    TRY(label_matrix(&label, d));
    TRY(csr_transpose(directed));
    struct twin_view copies = {d->nodes, {directed, directed->t, label}, NULL, 0};
    TRY(measure_doubles(&f->copies, &copies, d, role));
done:
    csr_free(label);
    return st;
}

consm_status facts_measure(struct data_facts *out, const struct dataset *d, const uint8_t *role)
{
    consm_status st = CONSM_OK;
    struct csr *g = NULL, *directed = NULL;
    struct edge_facts cleaned;
    struct components parts = {0};
    memset(out, 0, sizeof *out);
    TRY(ZNEW(out->class_size, d->classes));
    TRY(dataset_graph(&g, d, &cleaned));
    TRY(csr_from_edges(&directed, d->nodes, d->nodes, d->edges, d->from, d->to, NULL, CSR_DIRECTED,
                       NULL));
    out->entries = d->edges;
    out->loop_entries = cleaned.loops;
    out->edges = g->nnz / 2;
    measure_stored(out, directed);
    measure_nodes(out, d);
    TRY(measure_degrees(out, g));
    TRY(components_find(&parts, g));
    out->components = parts.count;
    out->largest_component = parts.largest;
    TRY(homophily_measure(&out->homophily, g, d->label, d->classes));
    TRY(measure_duplicates(out, d, g, directed, role));
    if (role)
        split_count(out->split_size, role, d->nodes);
done:
    components_free(&parts);
    csr_free(g);
    csr_free(directed);
    if (st < 0)
        facts_free(out);
    return st;
}

void facts_free(struct data_facts *facts)
{
    mem_free(facts->class_size);
    facts->class_size = NULL;
}
