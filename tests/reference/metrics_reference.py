#!/usr/bin/env python3
"""Values of scikit-learn and SciPy that tests/test_metrics.c compares with.

usage: python3 tests/reference/metrics_reference.py > tests/reference/metrics.json
"""
import json
import sys
import warnings

import numpy as np
from scipy import optimize, special
from sklearn import metrics

rng = np.random.default_rng(20170806)
warnings.filterwarnings("ignore")


def ece(probability, label, bins=15):
    confidence = probability.max(1)
    right = probability.argmax(1) == label
    edges = np.linspace(0, 1, bins + 1)
    total = 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return total


def nll(logits, label, temperature):
    log_p = special.log_softmax(logits / temperature, axis=1)
    return -log_p[np.arange(len(label)), label].mean()


def case(n, classes, strength, absent=(), decimals=3, scale=1.0):
    label = rng.integers(0, classes, n)
    for k in absent:
        label[label == k] = (k + 1) % classes
    logits = rng.normal(0, 1, (n, classes))
    logits[np.arange(n), label] += strength
    logits = np.round(logits * scale, decimals).astype(np.float32).astype(np.float64)
    p = special.softmax(logits, axis=1).astype(np.float32).astype(np.float64)
    said = p.argmax(1)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        label, said, labels=range(classes), zero_division=0)
    areas = [metrics.roc_auc_score(label == k, p[:, k]) if 0 < (label == k).sum() < n else None
             for k in range(classes)]
    best = optimize.minimize_scalar(lambda t: nll(logits, label, np.exp(t)) + t * t / (2 * n),
                                    bounds=(np.log(0.05), np.log(20)), method="bounded",
                                    options=dict(xatol=1e-10))
    return dict(
        classes=classes, logits=logits.ravel().tolist(), label=label.tolist(),
        accuracy=metrics.accuracy_score(label, said),
        macro_f1=metrics.f1_score(label, said, average="macro", zero_division=0),
        balanced_accuracy=metrics.balanced_accuracy_score(label, said),
        roc_auc=float(np.mean([a for a in areas if a is not None])),
        nll=nll(logits, label, 1), ece=ece(p, label),
        precision=precision.tolist(), recall=recall.tolist(), f1=f1.tolist(),
        support=support.tolist(), areas=areas,
        confusion=metrics.confusion_matrix(label, said, labels=range(classes)).ravel().tolist(),
        temperature=float(np.exp(best.x)), nll_after=float(nll(logits, label, np.exp(best.x))))


json.dump([case(60, 4, 1.5), case(40, 2, 1.0), case(50, 3, 2.0, absent=(1,)),
           case(30, 3, 0.5, decimals=0), case(80, 5, 1.2, scale=4.0),
           case(45, 3, 2.5, scale=0.3)], sys.stdout)
print()
