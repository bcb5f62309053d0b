"""Reference values of ConSM's matching module and of its propagation loss, in plain PyTorch.

Run `python consm_reference.py` to rewrite consm.json. Three profiles, named as in the options of the
command: "paper" follows the equations of Choi et al. (CIKM 2022), "authors" the facts of their
published program, "default" has the central nodes beside their subgraphs (docs/reference/models.md). Which edges are kept and which reference point a node belongs to are inputs here:
pruning and optimal transport have tests of their own.
"""
import torch
import torch.nn.functional as F

from graph_reference import CLASSES, HIDDEN, NODES, Graph, grid, measure, write
from models_reference import ENDS, edge_kinds, gcn, nll

GRAPH = Graph()
X = GRAPH.features
MATCH_HIDDEN = 6


def subgraphs(kept):
    """(n, n) membership of j in i's subgraph: A or A^2 over the kept edges, and i itself."""
    one = GRAPH.dense(kept[GRAPH.undirected])
    return ((one + one @ one + torch.eye(NODES)) > 0).double()


def pooled(h, member, reference):
    """h'_i (C, F): the mean of the embeddings of i's subgraph that belong to each reference point,
    zero where there is none                                            (Eq. our_monge_map)"""
    belongs = F.one_hot(reference, CLASSES).double()                     # (n, C)
    counts = member @ belongs                                            # (n, C)
    sums = torch.einsum("ij,jc,jf->icf", member, belongs, h)
    return sums / counts.clamp(min=1)[:, :, None]


def encode(p, profile):
    """paper: an MLP of two layers; the others: one linear map and a relu     (Eq. embedding)"""
    h = F.relu(p.linear(1, X, HIDDEN))
    return p.linear(2, h, HIDDEN) if profile == "paper" else h


def score(p, profile, blocks, h, pairs):
    """w_ij = M(h'_i + h'_j side by side), with a sigmoid              (Eq. edge_score)
    authors: M((h'_i - h'_j)^2) without one. M is linear, relu, linear to one number.
    default: h_i and h_j beside the subgraphs, a slope of 0.2 below zero, and u (q_i * q_j) added to
    the log-odds, q the class probabilities of the central nodes."""
    i, j = pairs[:, 0], pairs[:, 1]
    left, right = blocks[i].flatten(1), blocks[j].flatten(1)
    joined = (left - right) ** 2 if profile == "authors" else torch.cat([left, right], 1)
    hidden = p.linear(3, joined, MATCH_HIDDEN)
    if profile != "default":
        w = p.linear(4, F.relu(hidden), 1)[:, 0]
        return torch.sigmoid(w) if profile == "paper" else w
    hidden = hidden + h[i] @ p.matrix("w6", HIDDEN, MATCH_HIDDEN)
    hidden = hidden + h[j] @ p.matrix("w6r", HIDDEN, MATCH_HIDDEN)
    q = torch.softmax(p.linear(5, h, CLASSES), 1)
    agree = (q[i] * q[j]) @ p.matrix("w7", CLASSES, 1)
    return torch.sigmoid(p.linear(4, F.leaky_relu(hidden, 0.2), 1) + agree)[:, 0]


def matching(p, profile, kept, reference, pairs, target):
    """L_SM (Eq. sm_loss), divided by the number of pairs:
    sum |w_ij - t_ij| + nll(f(h_i), Y_i) + nll(f(h_j), Y_j), f linear on the central node's embedding.
    authors and default: squared errors instead of absolute ones."""
    h = encode(p, profile)
    blocks = pooled(h, subgraphs(kept), reference)
    w = score(p, profile, blocks, h, pairs)
    error = (w - target).abs() if profile == "paper" else (w - target) ** 2
    log_y = torch.log_softmax(p.linear(5, h, CLASSES), 1)
    ends = pairs.flatten()
    loss = error.mean() - log_y[ends, GRAPH.labels[ends]].sum() / len(pairs)
    both_ways = torch.cat([ENDS, ENDS.flip(1)])
    return blocks.flatten(1), loss, {"embedding": h, "pair_scores": w,
                                     "edge_coefficients": score(p, profile, blocks, h, both_ways)}


def supplementary(logits, w, confident, alphas, mean):
    """L_SUP (Eq. our_lp): alpha_LU, alpha_UU times w d for confident edges and (1 - w)(1 - d) for the
    others, d = 1 - cosine of the logits; edges between two labelled nodes stay out."""
    alpha = torch.tensor([alphas[1], alphas[0], 0.0])[edge_kinds()]
    d = 1 - F.cosine_similarity(logits[ENDS[:, 0]], logits[ENDS[:, 1]], dim=1)
    total = (alpha * torch.where(confident > 0, w * d, (1 - w) * (1 - d))).sum()
    return total / len(ENDS) if mean else total


def main():
    random = torch.Generator().manual_seed(11)
    reference = torch.randint(0, CLASSES, (NODES,), generator=random)
    kept = (torch.rand(len(GRAPH.edges), generator=random) < 0.7).double()
    labelled = GRAPH.train.tolist()
    every = [(i, j) for a, i in enumerate(labelled) for j in labelled[a + 1:]]
    same = [q for q in every if GRAPH.labels[q[0]] == GRAPH.labels[q[1]]]
    other = [q for q in every if GRAPH.labels[q[0]] != GRAPH.labels[q[1]]][:len(same)]
    pairs = torch.tensor(same + other)
    target = torch.tensor([1.0] * len(same) + [0.0] * len(other))

    entries = []
    for profile in ("paper", "authors", "default"):
        entries.append(measure(
            {"part": "matching", "profile": profile, "hidden": HIDDEN, "match_hidden": MATCH_HIDDEN},
            lambda p, profile=profile: matching(p, profile, kept, reference, pairs, target), 600,
            {"reference": reference, "edge_kept": kept, "pairs": pairs, "targets": target}))

    w = grid(torch.rand(len(GRAPH.edges), generator=random))
    confident = (w > w.sort().values[len(w) // 3]).double()
    for mean, strength in ((0, 0.0625), (1, 1.0)):
        def run(p, mean=mean, strength=strength):
            logits = gcn(p, 2, HIDDEN)
            extra = supplementary(logits, w, confident, (1.0, 0.5), mean)
            return logits, nll(logits) + strength * extra, {"propagation": extra.reshape(1)}
        entries.append(measure(
            {"part": "propagation", "layers": 2, "hidden": HIDDEN, "lambda": strength, "mean": mean,
             "alpha_lu": 1.0, "alpha_uu": 0.5}, run, 610, {"edge_weights": w, "confident": confident}))
    write("consm.json", {"model": "consm", "entries": entries})


if __name__ == "__main__":
    main()
