"""consm.ot against POT, and against its definitions."""
from __future__ import annotations

import numpy as np
import pytest

import consm
from consm import ot


def problem(n, m, seed, uniform=False):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 3)).astype(np.float32), rng.normal(size=(m, 3)).astype(np.float32) + 1
    a, b = rng.random(n) + 0.1, rng.random(m) + 0.1
    return (None, None) if uniform else (a / a.sum(), b / b.sum()), x, y


@pytest.mark.parametrize("n,m,seed", [(1, 1, 0), (2, 5, 1), (7, 7, 2), (12, 30, 3), (40, 15, 4)])
@pytest.mark.parametrize("uniform", [False, True])
def test_against_pot(n, m, seed, uniform):
    pot = pytest.importorskip("ot")
    (a, b), x, y = problem(n, m, seed, uniform)
    M = ot.dist(x, y)
    assert np.allclose(M, pot.dist(x.astype(float), y.astype(float)), atol=1e-5)
    theirs_a, theirs_b = (np.full(k, 1 / k) if v is None else v for k, v in ((n, a), (m, b)))
    plan, told = ot.emd(a, b, M, log=True)
    assert np.isclose(told["cost"], pot.emd2(theirs_a, theirs_b, M), atol=1e-9)
    assert np.allclose(plan.sum(axis=1), theirs_a, atol=1e-9) and np.allclose(plan.sum(axis=0), theirs_b, atol=1e-9)
    assert (told["u"][:, None] + told["v"][None, :] <= M + 1e-7).all()  # the proof that it is optimal
    assert np.isclose(told["u"] @ theirs_a + told["v"] @ theirs_b, told["cost"], atol=1e-7)
    assert ot.emd2(a, b, M) == told["cost"]
    for reg in (0.5, 2.0):
        ours = ot.sinkhorn(a, b, M, reg, stopThr=1e-12, numItermax=200000)
        theirs = pot.sinkhorn(theirs_a, theirs_b, M, reg, method="sinkhorn_log", stopThr=1e-12, numItermax=200000)
        assert np.allclose(ours, theirs, atol=1e-7)
        assert np.isclose(ot.sinkhorn2(a, b, M, reg, stopThr=1e-12, numItermax=200000), (theirs * M).sum(), atol=1e-6)


def test_batches_are_their_problems():
    rng = np.random.default_rng(0)
    Ms = [rng.random((4, k)) for k in (3, 1, 9)]
    plans = ot.sinkhorn_batch(Ms, reg=0.1)
    for M, plan in zip(Ms, plans):
        assert np.allclose(plan, ot.sinkhorn(None, None, M, 0.1), atol=1e-9)
    cube = rng.random((5, 4, 6))
    assert (ot.sinkhorn_batch(cube, 0.1, threads=1) == ot.sinkhorn_batch(cube, 0.1, threads=3)).all()
    assert ot.sinkhorn_batch(cube, 0.1, log=True)[1][0]["converged"]


def test_maps():
    plan = np.array([[0.5, 0.0, 0.25], [0.0, 0.2, 0.05]])
    points = np.array([[1.0, 0], [0, 1], [2, 2]], np.float32)
    assert np.allclose(ot.linear(plan, points, scale="none"), plan @ points)
    assert np.allclose(ot.linear(plan, points), 2 * plan @ points)
    assert np.allclose(ot.project(plan, points), plan @ points / plan.sum(axis=1, keepdims=True))
    image, assignment = ot.monge(plan, points)
    assert assignment.tolist() == [0, 1, 0] and np.allclose(image[0], points[[0, 2]].mean(axis=0))
    assert np.allclose(ot.monge(plan, points, pooling="sum")[0][0], points[[0, 2]].sum(axis=0))
    assert np.allclose(ot.monge(plan, points, pooling="max")[0][0], points[[0, 2]].max(axis=0))
    centres = ot.kmeans(np.repeat(points, 5, axis=0), 3)
    assert np.allclose(sorted(map(tuple, centres.tolist())), sorted(map(tuple, points.tolist())), atol=1e-5)


def test_what_is_wrong_is_said():
    M = np.ones((2, 3))
    for call, words in ((lambda: ot.emd([1.0], None, M), "a: found 1 masses, expected 2"),
                        (lambda: ot.emd(None, None, np.ones(3)), "M: found shape"),
                        (lambda: ot.sinkhorn(None, None, M, -1), "reg is -1: expected a positive number"),
                        (lambda: ot.sinkhorn(None, None, M, float("nan")), "reg is nan"),
                        (lambda: ot.sinkhorn(None, None, M, 1, numItermax=0), "numItermax is 0: expected 1 or more"),
                        (lambda: ot.sinkhorn_batch([M], 1, stopThr=-1), "stopThr is -1: expected 0 or more"),
                        (lambda: ot.kmeans(M, 0), "n_clusters is 0"),
                        (lambda: ot.dist(np.ones((2, 2)), np.ones((2, 3))), "expected the same number"),
                        (lambda: ot.monge(M, np.ones((2, 2))), "one per point"),
                        (lambda: ot.dist(M, metric="taxi"), "expected one of sqeuclidean"),
                        (lambda: ot.sinkhorn_batch([], 0.1), "empty")):
        with pytest.raises(consm.ConsmError, match=words):
            call()
    with pytest.warns(consm.ConsmWarning, match="did not converge"):
        ot.sinkhorn(None, None, np.random.default_rng(0).random((20, 20)), 1e-4, numItermax=2)
