"""Reference values of the baseline models, in plain PyTorch and double precision.

Run `python models_reference.py` (needs torch, nothing else) to rewrite graph.json and one
MODEL.json a model beside this file. Each model is one short function of named parameters; dropout
is off, random draws (dropped edges, gate noise, sampled pairs) are inputs in the dump. `layers`
says what --layers says on the command line. Everything here is written from the papers' equations.
"""
import math

import torch
import torch.nn.functional as F

from graph_reference import CLASSES, FEATURES, HIDDEN, LEARNING_RATE, NODES, STEPS, WEIGHT_DECAY
from graph_reference import Graph, gcn_norm, grid, measure, tensor, write

GRAPH = Graph()
X = GRAPH.features
A_HAT = gcn_norm(GRAPH.dense())
DEPTHS = (1, 2, 4)


def nll(logits):
    """Mean negative log-likelihood of the labelled rows."""
    return F.cross_entropy(logits[GRAPH.train], GRAPH.labels[GRAPH.train])


def widths(layers, hidden):
    return [hidden] * (layers - 1) + [CLASSES]


def mlp(p, layers, hidden):
    """H_l = relu(H_l-1 W_l + b_l), no activation after the last layer."""
    h = X
    for l, width in enumerate(widths(layers, hidden), 1):
        h = p.linear(l, h, width)
        h = F.relu(h) if l < layers else h
    return h


def finish(p, l, z, h, activation, residual, norm):
    """activation(norm(z + b + h R)) for a layer that made z of h; the last has neither of the former.
    Where batch norm would take the bias away again there is none."""
    width = z.shape[1]
    z = z if activation and norm == "batch" else z + p.vector(f"b{l}", width)
    z = z + p.linear(f"past{l}", h, width, bias=False) if residual else z
    return activation(normalize(p, l, z, norm)) if activation else z


def gcn(p, layers, hidden, a_hat=A_HAT, activation=F.relu, residual=False, norm="none"):
    """H_l = relu(A_hat H_l-1 W_l + b_l)                            (Kipf and Welling 2017, Eq. 2)
    or relu(norm(A_hat H_l-1 W_l + b_l + H_l-1 R_l)), no norm after the last  (Luo et al. 2024)"""
    h = X
    for l, width in enumerate(widths(layers, hidden), 1):
        z = a_hat @ p.linear(l, h, width, bias=False)
        h = finish(p, l, z, h, activation if l < layers else None, residual, norm)
    return h


def gat(p, layers, hidden, heads, residual=False, norm="none"):
    """e_ij = leakyrelu(a_src W h_j + a_dst W h_i), alpha = softmax over j in N(i) + {i},
    h_i' = sum_j alpha_ij W h_j + b                        (Velickovic et al. 2018, Eqs. 1 to 6)

    Heads are concatenated (hidden = heads x width of a head) with ELU between layers; the last
    layer has one head. Edge weights do not enter: attention replaces them. Residual and norm as in
    gcn().
    """
    neighbours = (GRAPH.dense() + torch.eye(NODES)) > 0
    h = X
    for l, width in enumerate(widths(layers, hidden), 1):
        k = heads if l < layers else 1
        z = p.linear(l, h, width, bias=False).view(NODES, k, width // k)
        src = (z * p.vector(f"att_src{l}", k, width // k)).sum(-1)              # (n, heads)
        dst = (z * p.vector(f"att_dst{l}", k, width // k)).sum(-1)
        scores = F.leaky_relu(dst[:, None, :] + src[None, :, :], 0.2)          # (i, j, head)
        alpha = torch.softmax(scores.masked_fill(~neighbours[:, :, None], -math.inf), 1)
        z = torch.einsum("ijk,jkd->ikd", alpha, z).reshape(NODES, width)
        h = finish(p, l, z, h, F.elu if l < layers else None, residual, norm)
    # The edge study reads the last layer's scores before the softmax, one a directed edge (i, j).
    return h, {"edge_coefficients": scores[GRAPH.row, GRAPH.col, 0]}


def batch_norm(p, number, x):
    """Statistics of this batch of all nodes (biased variance), then scale and shift."""
    centred = x - x.mean(0)
    normal = centred / torch.sqrt((centred ** 2).mean(0) + 1e-5)
    return normal * p.vector(f"bn{number}.scale", x.shape[1], center=1.0) \
        + p.vector(f"bn{number}.shift", x.shape[1])


def layer_norm(p, number, x):
    """PyTorch's own, over each row."""
    return F.layer_norm(x, x.shape[1:], p.vector(f"ln{number}.scale", x.shape[1], center=1.0),
                        p.vector(f"ln{number}.shift", x.shape[1]))


def normalize(p, number, x, norm):
    return {"none": lambda p, l, x: x, "batch": batch_norm, "layer": layer_norm}[norm](p, number, x)


def gin(p, layers, hidden, norm):
    """h_i' = relu(MLP((1 + eps) h_i + sum_j w_ij h_j)), MLP = linear, relu, linear
                                                                     (Xu et al. 2019, Eq. 4.1)
    the last layer's MLP classifies and has no relu behind it. The optional norm stands
    between the first linear map of an MLP and its relu, as in the authors' code.
    """
    h = X
    for l in range(1, layers + 1):
        eps = p.vector(f"eps{l}", 1)
        h = p.linear(2 * l - 1, (1 + eps) * h + GRAPH.dense() @ h, hidden)
        h = F.relu(normalize(p, l, h, norm))
        if l == layers:
            return p.linear(2 * l, h, CLASSES)
        h = F.relu(p.linear(2 * l, h, hidden))


def appnp(p, layers, hidden, hops, alpha):
    """Z_0 = MLP(X), Z_k = (1 - alpha) A_hat Z_k-1 + alpha Z_0     (Klicpera et al. 2019, Eq. 4)
    `layers` is the depth of the MLP."""
    z0 = mlp(p, layers, hidden)
    z = z0
    for _ in range(hops):
        z = (1 - alpha) * A_HAT @ z + alpha * z0
    return z


def gcnii(p, layers, hidden, alpha, theta):
    """H_0 = relu(X W_1 + b_1), S = (1 - alpha) A_hat H_l-1 + alpha H_0,
    H_l = relu((1 - beta_l) S + beta_l S W_l+1), beta_l = log(theta / l + 1)
                                                                    (Chen et al. 2020, Eq. 5)
    and a linear map to the classes."""
    h0 = F.relu(p.linear(1, X, hidden))
    h = h0
    for l in range(1, layers + 1):
        beta = math.log(theta / l + 1)
        s = (1 - alpha) * A_HAT @ h + alpha * h0
        h = F.relu((1 - beta) * s + beta * p.linear(l + 1, s, hidden, bias=False))
    return p.linear(layers + 2, h, CLASSES)


def h2gcn(p, layers, hidden, reach):
    """R_0 = relu(X W_1 + b_1), R_k = [A1 R_k-1, A2 R_k-1], logits = [R_0, ..., R_K] W_2 + b_2
                                                              (Zhu et al. 2020, Eqs. 5 to 7)
    A1 joins neighbours, A2 (without weights) nodes at distance exactly two; both without self-loops,
    scaled by D^-1/2 on both sides. `layers` is the number of rounds K. From the third round on the
    two parts are averaged instead of concatenated: the paper stops at two, where width explodes.
    w2 holds the blocks of W_2 side by side, one a round's part, in the order of `parts`. With reach 1
    there is no A2: R_k = A1 R_k-1.
    """
    one = (GRAPH.dense() > 0).double()
    two = ((one @ one > 0) & (one == 0)).double()
    two.fill_diagonal_(0)
    a1, a2 = gcn_norm(GRAPH.dense(), loops=False), gcn_norm(two, loops=False)
    r0 = F.relu(p.linear(1, X, hidden))
    parts = [r0, a1 @ r0, a2 @ r0]
    if reach == 1:
        parts = [r0]
        for _ in range(layers):
            parts.append(a1 @ parts[-1])
    elif layers > 1:
        second = [a1 @ a1 @ r0, a2 @ a1 @ r0, a1 @ a2 @ r0, a2 @ a2 @ r0]
        parts += second
        for _ in range(3, layers + 1):
            second = [(a1 @ r + a2 @ r) / 2 for r in second]
            parts += second
    w2 = p.matrix("w2", hidden, len(parts) * CLASSES).view(hidden, len(parts), CLASSES)
    return torch.einsum("bnh,hbc->nc", torch.stack(parts), w2) + p.vector("b2", CLASSES)


def fagcn(p, layers, hidden, eps, self_loops):
    """H_0 = relu(X W_1 + b_1), h_i' = eps h_i^0 + sum_j tanh(g [h_i || h_j]) w_ij / sqrt(d_i d_j) h_j
                                                                      (Bo et al. 2021, Eqs. 4, 7)
    and a linear map to the classes. g is split into its halves att_dst (i) and att_src (j). With
    `self_loops` the normalisation is A_hat's, as in PyTorch Geometric; without, the paper's.
    """
    norm = A_HAT if self_loops else gcn_norm(GRAPH.dense(), loops=False)
    h0 = F.relu(p.linear(1, X, hidden))
    h = h0
    for l in range(1, layers + 1):
        dst, src = h @ p.vector(f"att_dst{l}", hidden), h @ p.vector(f"att_src{l}", hidden)
        gate = torch.tanh(dst[:, None] + src[None, :])
        h = eps * h0 + (gate * norm) @ h
    return p.linear(2, h, CLASSES), {"edge_coefficients": gate[GRAPH.row, GRAPH.col]}


# ---- PTDNet ---------------------------------------------------------------------------------------

def ptdnet(p, layers, hidden, gate_hidden, noise, temperature, gamma, zeta, activation):
    """For every layer and directed edge (u, v)                        (Luo et al. 2021, Eqs. 3 to 9)
        log_alpha = v [relu(h_u Wn + bn) || relu(h_v Ws + bs)] + c
        s = sigmoid((log eps - log(1 - eps) + log_alpha) / t),  z = clip(s (zeta - gamma) + gamma, 0, 1)
    A_l has z_uv w_uv on the edges; the layer is a GCN layer over D^-1/2 (A_l + I) D^-1/2, D its row
    sums. Sparsity: mean over edges of P(z > 0) = sigmoid(log_alpha - t log(-gamma / zeta)).
    Low rank: the sum of the `rank` largest singular values of A_l. Both are summed over layers.
    """
    h, sparsity, nuclear, gates = X, 0, 0, []
    for l, width in enumerate(widths(layers, hidden), 1):
        nb = F.relu(h @ p.matrix(f"gate_nb_w{l}", h.shape[1], gate_hidden) + p.vector(f"gate_nb_b{l}", gate_hidden))
        ego = F.relu(h @ p.matrix(f"gate_self_w{l}", h.shape[1], gate_hidden) + p.vector(f"gate_self_b{l}", gate_hidden))
        log_alpha = (nb @ p.vector(f"gate_nb_v{l}", gate_hidden))[GRAPH.row] \
            + (ego @ p.vector(f"gate_self_v{l}", gate_hidden))[GRAPH.col] + p.vector(f"gate_c{l}", 1)
        s = torch.sigmoid((torch.logit(noise[l - 1]) + log_alpha) / temperature)
        z = torch.clamp(s * (zeta - gamma) + gamma, 0, 1)
        a = GRAPH.dense(z * GRAPH.directed_weights)
        sparsity = sparsity + torch.sigmoid(log_alpha - temperature * math.log(-gamma / zeta)).mean()
        nuclear = nuclear + torch.linalg.svdvals(a)[:2].sum()
        h = gcn_norm(a) @ (h @ p.matrix(f"w{l}", h.shape[1], width)) + p.vector(f"b{l}", width)
        h = activation(h) if l < layers else h
        gates.append(s)
    return h, sparsity, nuclear, torch.stack(gates)


# ---- GRAND ----------------------------------------------------------------------------------------

def grand(p, layers, hidden, hops, kept, norm, gate=False):
    """X_s = kept_s X, Xbar_s = 1/(K+1) sum_k A_hat^k X_s, Z_s = MLP(Xbar_s)
                                                              (Feng et al. 2020, Eqs. 1, 2, 3)
    kept (samples, nodes) holds 0 or 1/(1 - delta). The optional norm follows the relu; batch
    norm takes the statistics of all samples together. The optional gate multiplies the columns of
    Xbar_s. Gives Z (samples, nodes, classes).
    """
    h = []
    for mask in kept:
        x = mask[:, None] * X
        total = x
        for _ in range(hops):
            x = A_HAT @ x
            total = total + x
        h.append(total / (hops + 1))
    h = torch.stack(h)
    for l, width in enumerate(widths(layers, hidden), 1):
        w = p.matrix(f"w{l}", h.shape[2], width)
        w = p.matrix("gate", h.shape[2], 1) * w if gate and l == 1 else w
        h = h @ w + p.vector(f"b{l}", width)
        if l < layers:
            h = normalize(p, l, F.relu(h).reshape(-1, width), norm).reshape(h.shape)
    return h


def grand_loss(z, consistency, sharpening):
    """mean_s nll(Z_s) + lambda / (S n) sum_s ||P' - P_s||^2, P' the sharpened mean of the softmax P_s,
    without a gradient of its own                                 (Feng et al. 2020, Eqs. 4 to 6)"""
    probabilities = torch.softmax(z, 2)
    power = probabilities.mean(0) ** (1 / sharpening)
    target = (power / power.sum(1, keepdim=True)).detach()
    supervised = torch.stack([nll(sample) for sample in z]).mean()
    return supervised + consistency * ((probabilities - target) ** 2).sum() / (len(z) * NODES)


# ---- label propagation, agreement -----------------------------------------------------------------

ENDS = torch.tensor(GRAPH.edges)                                    # (edges, 2), u < v


def edge_kinds():
    """0, 1 or 2 labelled ends for every undirected edge."""
    labelled = torch.zeros(NODES, dtype=torch.long)
    labelled[GRAPH.train] = 1
    return labelled[ENDS[:, 0]] + labelled[ENDS[:, 1]]


def propagation(logits, weights, alphas, distance):
    """sum over edges of alpha_kind w_ij d(i, j)                    (ConSM paper, Eq. original_lp)
    alphas = (LL, LU, UU); d is 1 - cosine of the logits or of the probabilities, or the squared
    difference of the probabilities (the agreement model's own paper)."""
    alpha = torch.tensor([alphas[2], alphas[1], alphas[0]])[edge_kinds()]
    y = logits if distance == "logits" else torch.softmax(logits, 1)
    if distance == "squared":
        d = ((y[ENDS[:, 0]] - y[ENDS[:, 1]]) ** 2).sum(1)
    else:
        d = 1 - F.cosine_similarity(y[ENDS[:, 0]], y[ENDS[:, 1]], dim=1)
    return (alpha * weights * d).sum()


def p_reg(logits):
    """phi(Z, P Z) / n with P = D^-1 A; a node without neighbours is its own  (Yang et al. 2021, Eq. 3)
    phi: the cross-entropy of softmax(Z) and softmax(P Z)."""
    a = GRAPH.dense()
    a = a + torch.diag((a.sum(1) == 0).double())
    smoothed = (a / a.sum(1, keepdim=True)) @ logits
    return -(torch.softmax(logits, 1) * torch.log_softmax(smoothed, 1)).sum() / NODES


def agreement(p, hidden, pairs):
    """w_ij = sigmoid(relu((e_i - e_j)^2 W_2 + b_2) W_3 + b_3), e = relu(X W_1 + b_1)
    (Stretcu et al. 2019; ConSM paper, Eq. gam). Returns the values before the sigmoid."""
    e = F.relu(p.linear(1, X, hidden))
    difference = (e[pairs[:, 0]] - e[pairs[:, 1]]) ** 2
    return p.linear(3, F.relu(p.linear(2, difference, hidden)), 1)[:, 0]


# ---- the dumps ------------------------------------------------------------------------------------

def simple(forward, scale=1.0, **knobs):
    """Entries at every depth of a model whose loss is the plain one."""
    entries = []
    for layers in DEPTHS:
        config = {"layers": layers, "hidden": HIDDEN, **knobs}

        def run(p, layers=layers):
            result = forward(p, layers, HIDDEN, *knobs.values())
            logits, outputs = result if isinstance(result, tuple) else (result, {})
            return logits, nll(logits), outputs
        entries.append(measure(config, run, 100 + layers, scale=scale))
    return entries


def deep_entries():
    """GCN and GAT with a linear way past every layer and with norms, alone and together."""
    entries = []
    for model, forward, knobs in (("gcn", gcn, {}), ("gat", gat, {"heads": 4})):
        for layers, residual, norm in ((1, 1, "none"), (2, 1, "none"), (2, 0, "batch"), (2, 0, "layer"),
                                       (4, 1, "batch"), (4, 1, "layer")):
            def run(p, forward=forward, knobs=knobs, layers=layers, residual=residual, norm=norm):
                result = forward(p, layers, HIDDEN, residual=residual, norm=norm, **knobs)
                logits = result[0] if isinstance(result, tuple) else result
                return logits, nll(logits), {}
            entries.append(measure({"model": model, "layers": layers, "hidden": HIDDEN,
                                    "residual": residual, "norm": norm, **knobs}, run, 150 + layers))
    return entries


def dropedge_entries():
    entries = []
    for layers in DEPTHS:
        random = torch.Generator().manual_seed(layers)
        keep = (torch.rand(len(GRAPH.edges), generator=random) >= 0.5).double()
        a_hat = gcn_norm(GRAPH.dense(GRAPH.directed_weights * keep[GRAPH.undirected]))

        def run(p, layers=layers, a_hat=a_hat):
            logits = gcn(p, layers, HIDDEN, a_hat)
            return logits, nll(logits), {}
        entries.append(measure({"layers": layers, "hidden": HIDDEN}, run, 200 + layers,
                               {"edge_kept": keep}))
    return entries


def ptdnet_entries():
    entries = []
    knobs = {"gate_hidden": 5, "gate_open": 0, "temperature": 1.25, "temperature_decay": 1,
             "gate_low": -0.1,
             "gate_high": 1.1, "sparsity": 0.1, "low_rank": 0.01, "rank": 2,
             "activation": "sigmoid"}
    for layers in DEPTHS:
        random = torch.Generator().manual_seed(layers)
        noise = grid(0.05 + 0.9 * torch.rand(layers, len(GRAPH.row), generator=random))

        def run(p, layers=layers, noise=noise):
            logits, sparsity, nuclear, gates = ptdnet(
                p, layers, HIDDEN, 5, noise, 1.25, -0.1, 1.1, torch.sigmoid)
            loss = nll(logits) + 0.1 * sparsity + 0.01 * nuclear
            still = ptdnet(p, layers, HIDDEN, 5, torch.full_like(noise, 0.5), 1.0, -0.1, 1.1, torch.sigmoid)
            return logits, loss, {"gates": gates, "sparsity": sparsity.reshape(1),
                                  "nuclear": nuclear.reshape(1), "edge_coefficients": still[3][-1]}
        entries.append(measure({"layers": layers, "hidden": HIDDEN, **knobs}, run, 300 + layers,
                               {"noise": noise}))
    return entries


def grand_entries():
    entries = []
    knobs = {"hops": 3, "samples": 4, "node_dropout": 0.5, "consistency": 0.75, "sharpening": 0.5}
    cases = [(layers, "none", False) for layers in DEPTHS] + [(2, "batch", False), (2, "none", True), (2, "batch", True)]
    for layers, norm, gate in cases:
        random = torch.Generator().manual_seed(layers)
        kept = 2.0 * (torch.rand(knobs["samples"], NODES, generator=random) >= 0.5)

        def run(p, layers=layers, norm=norm, gate=gate, kept=kept):
            z = grand(p, layers, HIDDEN, knobs["hops"], kept, norm, gate)
            still = grand(p, layers, HIDDEN, knobs["hops"], torch.ones(1, NODES), "none", gate)[0]
            side_by_side = z.permute(1, 0, 2).reshape(NODES, -1)
            outputs = {"evaluation": still} if norm == "none" else {}
            return side_by_side, grand_loss(z, knobs["consistency"], knobs["sharpening"]), outputs
        own = {"feature_gate": "yes"} if gate else {}
        entries.append(measure({"layers": layers, "hidden": HIDDEN, "norm": norm, **own, **knobs}, run,
                               350 + layers, {"kept": kept}))
    return entries


def gam_entries():
    """part "agreement": the agreement model alone, on a fixed balanced list of labelled pairs;
    part "classifier": a GCN with the propagation loss, agreement weights given."""
    labelled = GRAPH.train.tolist()
    pairs = [(i, j) for a, i in enumerate(labelled) for j in labelled[a + 1:]]
    same = [q for q in pairs if GRAPH.labels[q[0]] == GRAPH.labels[q[1]]]
    other = [q for q in pairs if GRAPH.labels[q[0]] != GRAPH.labels[q[1]]][:len(same)]
    pairs = torch.tensor(same + other)
    target = torch.tensor([1.0] * len(same) + [0.0] * len(other))

    def run_agreement(p):
        loss = F.binary_cross_entropy_with_logits(agreement(p, HIDDEN, pairs), target)
        scores = agreement(p, HIDDEN, ENDS)
        return scores, loss, {"edge_coefficients": torch.sigmoid(scores)}
    entries = [measure({"part": "agreement", "layers": 2, "hidden": HIDDEN, "match_hidden": HIDDEN}, run_agreement, 401,
                       {"pairs": pairs, "targets": target})]

    weights = grid(torch.rand(len(GRAPH.edges), generator=torch.Generator().manual_seed(5)))
    for layers in DEPTHS:
        def run(p, layers=layers):
            logits = gcn(p, layers, HIDDEN)
            extra = propagation(logits, weights, (0.5, 1.0, 0.5), "logits")
            return logits, nll(logits) + 0.05 * extra, {"propagation": extra.reshape(1)}
        entries.append(measure({"part": "classifier", "layers": layers, "hidden": HIDDEN, "lambda": 0.05,
                                "propagation": "gam", "distance": "logits", "lambda_per": "sum",
                                "alpha_ll": 0.5, "alpha_lu": 1.0, "alpha_uu": 0.5}, run, 410 + layers,
                               {"edge_weights": weights}))
    return entries


def propagation_entries():
    """Each propagation loss on a two-layer GCN."""
    ones = torch.ones(len(GRAPH.edges))
    weights = grid(torch.rand(len(GRAPH.edges), generator=torch.Generator().manual_seed(6)))
    cases = [("ngm", "logits", ones), ("ngm", "probabilities", ones), ("ngm", "squared", ones),
             ("gam", "logits", weights), ("gam", "squared", weights), ("p-reg", "", None)]
    entries = []
    for kind, distance, w in cases:
        def run(p, kind=kind, distance=distance, w=w):
            logits = gcn(p, 2, HIDDEN)
            extra = p_reg(logits) if w is None else \
                propagation(logits, w, (0.25, 1.0, 0.5), distance)
            return logits, nll(logits) + 0.25 * extra, {"propagation": extra.reshape(1)}
        entries.append(measure({"layers": 2, "hidden": HIDDEN, "propagation": kind, "distance": distance or "logits",
                                "lambda": 0.25, "lambda_per": "sum", "alpha_ll": 0.25, "alpha_lu": 1.0, "alpha_uu": 0.5},
                               run, 500, {} if w is None else {"edge_weights": w}))
    return entries


def main():
    write("graph.json", {
        "nodes": NODES, "features": FEATURES, "classes": CLASSES,
        "learning_rate": LEARNING_RATE, "weight_decay": WEIGHT_DECAY, "steps": STEPS,
        "edges": tensor(ENDS), "weights": tensor(GRAPH.weights), "x": tensor(X),
        "labels": tensor(GRAPH.labels), "train": tensor(GRAPH.train)})
    dumps = {
        "mlp": simple(mlp),
        "gcn": simple(gcn),
        "dropedge": dropedge_entries(),
        "deep": deep_entries(),
        "gat": simple(gat, heads=4) + simple(gat, heads=8)[1:2],
        "gin": simple(gin, 0.6, norm="none") + simple(gin, norm="batch")[1:2],
        "appnp": simple(appnp, hops=10, alpha=0.1),
        "gcnii": simple(gcnii, alpha=0.1, theta=0.5),
        "gam": gam_entries(),
        "h2gcn": simple(h2gcn, reach=2) + simple(h2gcn, reach=1),
        "fagcn": simple(fagcn, eps=0.1, self_loops=0) + simple(fagcn, eps=0.1, self_loops=1)[1:2],
        "ptdnet": ptdnet_entries(),
        "grand": grand_entries(),
        "propagation": propagation_entries(),
    }
    for name, entries in dumps.items():
        write(f"{name}.json", {"model": name, "entries": entries})


if __name__ == "__main__":
    main()
