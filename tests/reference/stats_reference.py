#!/usr/bin/env python3
"""Values of SciPy and scikit-learn that tests/test_stats.c compares with.

usage: python3 tests/reference/stats_reference.py > tests/reference/stats.json
"""
import itertools
import json
import sys

import numpy as np
import scipy
import sklearn
from scipy import special, stats
from sklearn import metrics

rng = np.random.default_rng(20220817)


def wilcoxon_by_enumeration(a, b):
    """The exact two-sided p with ties: every sign pattern of the observed mean ranks."""
    d = np.asarray(a) - np.asarray(b)
    d = d[d != 0]
    ranks = stats.rankdata(abs(d))
    plus = ranks[d > 0].sum()
    larger = max(plus, ranks.sum() - plus)
    sums = [sum(r for r, s in zip(ranks, signs) if s)
            for signs in itertools.product((0, 1), repeat=len(d))]
    return min(1.0, 2 * np.mean(np.array(sums) >= larger - 1e-9))


def wilcoxon_cases():
    cases = []
    for n, method in ((5, "exact"), (10, "exact"), (25, "exact"), (26, "approx"), (60, "approx")):
        a = np.round(rng.normal(0.8, 0.02, n), 6)
        b = np.round(a - rng.normal(0.008, 0.02, n), 6)
        p = stats.wilcoxon(a, b, method=method, correction=True).pvalue
        cases.append(dict(a=a.tolist(), b=b.tolist(), p=float(p)))
    for n in (6, 10, 14):  # ties and zeros: multiples of 1/8 subtract without rounding
        a = rng.integers(0, 12, n) / 8
        b = rng.integers(0, 9, n) / 8
        cases.append(dict(a=a.tolist(), b=b.tolist(), p=float(wilcoxon_by_enumeration(a, b))))
    a, b = rng.integers(0, 12, 50) / 8, rng.integers(0, 11, 50) / 8
    p = stats.wilcoxon(a, b, method="approx", correction=True).pvalue
    cases.append(dict(a=a.tolist(), b=b.tolist(), p=float(p)))
    return cases


def holm(p):
    p = np.asarray(p)
    order = np.argsort(p)
    steps = np.minimum(1, p[order] * (len(p) - np.arange(len(p))))
    out = np.empty_like(p)
    out[order] = np.maximum.accumulate(steps)
    return out.tolist()


def samples():
    out = []
    for n in (2, 3, 10, 37):
        x = np.round(rng.normal(0.7, 0.05, n), 6)
        mean, error = x.mean(), stats.sem(x)
        low, high = stats.t.interval(0.95, n - 1, loc=mean, scale=error)
        out.append(dict(x=x.tolist(), mean=float(mean), std=float(x.std(ddof=1)),
                        low=float(low), high=float(high)))
    return out


def rankings():
    out = []
    for n, levels in ((40, 0), (60, 8), (30, 2)):
        truth = rng.random(n) < 0.4
        score = rng.random(n) * 0.6 + truth * rng.random(n) * 0.4
        if levels:
            score = np.floor(score * levels) / levels
        score = score.astype(np.float32)
        k = int(truth.sum())
        case = dict(score=[float(s) for s in score], positive=truth.astype(int).tolist(),
                    auc=float(metrics.roc_auc_score(truth, score)))
        if not levels:
            chosen = np.zeros(n, bool)
            chosen[np.argsort(-score)[:k]] = True
            case.update(k=k, f1=float(metrics.f1_score(truth, chosen)))
        bins = np.minimum((score.astype(float) * 10).astype(int), 9)
        ece = sum(abs(truth[bins == b].mean() - score[bins == b].astype(float).mean()) *
                  (bins == b).mean() for b in range(10) if (bins == b).any())
        case.update(ece=float(ece), brier=float(metrics.brier_score_loss(truth, score)))
        out.append(case)
    return out


def main():
    sample_list = samples()
    x = np.array([1e3, 1e4, 3e4, 1e5, 1e6])
    y = 2e-6 * x ** 1.1 * np.exp(rng.normal(0, 0.1, 5))
    fit = stats.linregress(np.log(x), np.log(y))
    p = [0.01, 0.04, 0.03, 0.005, 0.6, 0.03]
    betas = [(a, b, x_) for a in (0.5, 1, 4.5, 60, 2000) for b in (0.5, 2, 30)
             for x_ in (1e-6, 0.1, 0.5, 0.93)]
    wilson = stats.binomtest(7, 30).proportion_ci(0.95, method="wilson")
    json.dump(dict(
        made_with=dict(scipy=scipy.__version__, sklearn=sklearn.__version__),
        beta=[[*t, float(special.betainc(*t))] for t in betas],
        t=[[t, v, float(stats.t.cdf(t, v))] for t in (-9, -1.5, 1e-5, 0.3, 2, 40)
           for v in (1, 2.5, 9, 400)],
        t_quantile=[[q, v, float(stats.t.ppf(q, v))] for q in (0.001, 0.05, 0.6, 0.975, 0.9995)
                    for v in (1, 2, 9, 400)],
        samples=sample_list, wilcoxon=wilcoxon_cases(), rankings=rankings(),
        holm=dict(p=p, adjusted=holm(p)), wilson=[wilson.low, wilson.high],
        power=dict(x=x.tolist(), y=y.tolist(), exponent=float(fit.slope),
                   factor=float(np.exp(fit.intercept)), r_squared=float(fit.rvalue ** 2),
                   half=float(stats.t.ppf(0.975, 3) * fit.stderr)),
    ), sys.stdout, indent=None, separators=(",", ":"))
    print()


main()
