"""Writes tests/reference/ot.json: transport problems solved by an independent program.

    python tests/reference/ot_reference.py > tests/reference/ot.json

Needs numpy, scipy and POT (Flamary et al., "POT: Python Optimal Transport", JMLR 2021); made with
POT 0.9.7. Coordinates are multiples of 1/64, so float and decimal text hold them exactly.
"""
import json
import numpy as np
import ot
from scipy.spatial.distance import cdist

rng = np.random.default_rng(7)


def grid(*shape, scale=1.0):
    return np.round(rng.normal(size=shape) * scale * 64) / 64


def masses(count):
    weight = rng.integers(1, 20, size=count).astype(float)
    return weight / weight.sum()


def case(name, r, h, metric="sqeuclidean", a=None, b=None, epsilons=(1.0, 0.1, 0.05)):
    cost = cdist(r, h, metric)
    full_a = np.full(len(r), 1 / len(r)) if a is None else a
    full_b = np.full(len(h), 1 / len(h)) if b is None else b
    plan, log = ot.emd(full_a, full_b, cost, log=True, numItermax=10**6)
    mean = cost.mean() or 1.0
    runs = []
    for epsilon in epsilons:
        p = ot.sinkhorn(full_a, full_b, cost, epsilon * mean, method="sinkhorn_log",
                        numItermax=200000, stopThr=1e-12)
        runs.append({"epsilon": epsilon * mean, "cost": float((p * cost).sum()),
                     "plan": [float(f"{x:.10g}") for x in p.ravel()]})
    image = (plan @ h) / np.where(full_a > 0, full_a, 1)[:, None]
    return {"name": name, "c": len(r), "n": len(h), "f": r.shape[1], "metric": metric,
            "references": r.ravel().tolist(), "points": h.ravel().tolist(),
            "a": None if a is None else a.tolist(), "b": None if b is None else b.tolist(),
            "cost": [float(f"{x:.14g}") for x in cost.ravel()],
            "exact": {"cost": float(log["cost"]), "plan": plan.ravel().tolist(),
                      "image": [float(f"{x:.10g}") for x in image.ravel()]},
            "sinkhorn": runs}


def barycentre(name, sets, support):
    f = sets[0].shape[1]
    best = None
    for _ in range(40):
        start = np.concatenate(sets)[rng.permutation(sum(map(len, sets)))[:support]]
        y = ot.lp.free_support_barycenter(sets, [ot.unif(len(s)) for s in sets], start.copy(),
                                          numItermax=200, stopThr=1e-12)
        value = float(np.mean([ot.emd2([], [], cdist(y, s, "sqeuclidean")) for s in sets]))
        if best is None or value < best[0]:
            best = (value, y)
    return {"name": name, "f": f, "support": support, "sizes": [len(s) for s in sets],
            "points": np.concatenate(sets).ravel().tolist(), "objective": best[0],
            "centres": best[1][np.lexsort(best[1].T[::-1])].ravel().tolist()}


cases = [
    case("small", grid(3, 2), grid(7, 2)),
    case("cosine", grid(4, 5), grid(9, 5), metric="cosine"),
    case("weighted", grid(5, 3), grid(12, 3), a=masses(5), b=masses(12)),
    case("square", grid(6, 2), grid(6, 2)),
    case("more references than points", grid(8, 3), grid(5, 3), b=masses(5)),
    case("far apart", grid(4, 2, scale=40), grid(10, 2, scale=40) + 100, a=masses(4)),
    case("one reference", grid(1, 2), grid(5, 2), b=masses(5)),
    case("one point", grid(4, 2), grid(1, 2), a=masses(4)),
]
corners = np.array([[-8.0, 0.0], [0.0, 8.0], [8.0, -4.0]])
clouds = [np.concatenate([corners + grid(3, 2, scale=0.5) for _ in range(k)]) for k in (2, 3, 1)]
balls = [barycentre("three corners", clouds, 3), barycentre("one point", clouds, 1)]
print('{"cases": [\n' + ",\n".join(map(json.dumps, cases)) + '\n],\n"barycentres": [\n' +
      ",\n".join(map(json.dumps, balls)) + "\n]}")
