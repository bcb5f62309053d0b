"""Optimal transport, with the names of POT (Python Optimal Transport).

    from consm import ot
    M = ot.dist(xs, xt)                       # squared Euclidean
    plan = ot.emd(a, b, M)                    # exact; ot.emd2 gives its cost
    plan = ot.sinkhorn(a, b, M, reg=0.1)      # entropic, in the log domain: no reg makes it underflow
    plans = ot.sinkhorn_batch(Ms, reg=0.1)    # many problems with uniform masses, on all processors

Masses a (n) and b (m) may be None or empty: uniform. Plans are (n, m) float64. Beyond POT: linear() and
monge() maps, barycentric project(), kmeans() references. docs/explanation/transport.md explains them.
"""
from __future__ import annotations

import warnings
from ctypes import byref
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _lib, _run, _structs
from ._arrays import Array, reals
from ._errors import ConsmValueError, ConsmWarning

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_METRICS = {"sqeuclidean": 0, "cosine": 1}
_SCALES = {"none": 0, "sqrt": 1, "mass": 2}
_POOLINGS = {"mean": 0, "sum": 1, "max": 2}


def _doubles(value: Any, what: str, ndim: int) -> Array:
    return np.ascontiguousarray(reals(value, what, ndim), np.float64)


def _floats(value: Any, what: str) -> Array:
    return np.ascontiguousarray(reals(value, what, 2), np.float32)


def _masses(value: Any, what: str, count: int) -> Optional[Array]:
    if value is None or np.size(value) == 0:
        return None
    masses = _doubles(value, what, 1)
    if len(masses) != count:
        raise ConsmValueError(f"{what}: found {len(masses)} masses, expected {count}, as in M")
    return masses


def _chosen(table: dict[str, int], value: str, what: str) -> int:
    if value not in table:
        raise ConsmValueError(f"{what} is {value!r}: expected one of {', '.join(table)}")
    return table[value]


def dist(x1: ArrayLike, x2: Optional[ArrayLike] = None, metric: str = "sqeuclidean") -> Array:
    """Computes the costs (n, m) between points (n, f) and (m, f); metric sqeuclidean or cosine.

    Examples
    --------
    >>> from consm import ot
    >>> ot.dist([[0.0], [1.0]], [[3.0]]).tolist()
    [[9.0], [4.0]]
    """
    left = _floats(x1, "x1")
    right = left if x2 is None else _floats(x2, "x2")
    if left.shape[1] != right.shape[1]:
        raise ConsmValueError(f"x1 has {left.shape[1]} columns and x2 has {right.shape[1]}: expected the same number")
    cost = np.empty((len(left), len(right)))
    _lib.call(_lib.lib.consm_ot_cost_matrix, _lib.address(cost), _lib.address(left), _lib.address(right), len(left),
              len(right), left.shape[1], _chosen(_METRICS, metric, "metric"))
    return cost


def _log(result: _structs.OtResult, **more: Any) -> dict[str, Any]:
    return {"cost": float(result.cost), "err": float(result.marginal_error), "niter": int(result.iterations),
            "converged": bool(result.converged), **more}


def emd(a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, log: bool = False) -> Any:
    """Computes the optimal plan.

    Parameters
    ----------
    a, b : arrays of shape (n,) and (m,), or None
        Masses; None: uniform.
    M : array of shape (n, m)
        Costs.
    log : bool
        Also return a dict with cost and the dual potentials u (n) and v (m).

    Returns
    -------
    array of shape (n, m), or that and a dict

    Examples
    --------
    >>> from consm import ot
    >>> ot.emd(None, None, [[0.0, 1.0], [1.0, 0.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    cost = _doubles(M, "M", 2)
    n, m = cost.shape
    left, right = _masses(a, "a", n), _masses(b, "b", m)
    plan, u, v, result = np.empty((n, m)), np.empty(n), np.empty(m), _structs.OtResult()
    _run.run(_lib.lib.consm_ot_exact, plan, u, v, byref(result), cost, left, right, n, m)
    return (plan, _log(result, u=u, v=v)) if log else plan


def emd2(a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, log: bool = False) -> Any:
    """Computes the cost of the optimal plan; arguments as in emd.

    Examples
    --------
    >>> from consm import ot
    >>> ot.emd2(None, None, [[0.0, 1.0], [1.0, 0.0]])
    0.0
    """
    _, told = emd(a, b, M, log=True)
    return (told["cost"], told) if log else told["cost"]


exact = emd


def _options(reg: float, stop: float, iterations: int, relative: bool) -> _structs.OtOptions:
    for name, value, good, expected in (("reg", reg, reg > 0, "a positive number"),
                                        ("stopThr", stop, stop >= 0, "0 or more"),
                                        ("numItermax", iterations, iterations >= 1, "1 or more")):
        if not good:
            raise ConsmValueError(f"{name} is {value!r}: expected {expected}")
    options = _structs.OtOptions()
    _lib.call(_lib.lib.consm_ot_defaults, byref(options))
    options.epsilon, options.tolerance = float(reg), float(stop)
    options.max_iterations, options.relative = int(iterations), bool(relative)
    return options


def sinkhorn(a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, reg: float, numItermax: int = 10000,
             stopThr: float = 1e-9, log: bool = False, warn: bool = True, relative: bool = False) -> Any:
    """Computes the entropic plan.

    Parameters
    ----------
    a, b, M
        As in emd.
    reg : float
        The regularisation as in POT; with relative it is in units of the mean cost.
    numItermax, stopThr
        Stop after this many iterations, or when masses are this close to a and b.
    log : bool
        Also return a dict with cost, err, niter and converged.
    warn : bool
        Warn if it did not converge.

    Returns
    -------
    array of shape (n, m), or that and a dict

    Examples
    --------
    >>> from consm import ot
    >>> ot.sinkhorn(None, None, [[0.0, 1.0], [1.0, 0.0]], reg=0.5).round(2).tolist()
    [[0.44, 0.06], [0.06, 0.44]]
    """
    cost = _doubles(M, "M", 2)
    n, m = cost.shape
    left, right = _masses(a, "a", n), _masses(b, "b", m)
    plan, result = np.empty((n, m)), _structs.OtResult()
    _run.run(_lib.lib.consm_ot_sinkhorn, plan, byref(result), cost, left, right, n, m,
             byref(_options(reg, stopThr, numItermax, relative)))
    if warn and not result.converged:
        warnings.warn(f"Sinkhorn did not converge in {numItermax} iterations (error {result.marginal_error:.3g})",
                      ConsmWarning, stacklevel=2)
    return (plan, _log(result)) if log else plan


def sinkhorn2(a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, reg: float, **more: Any) -> float:
    """Computes the transport cost of the entropic plan; arguments as in sinkhorn."""
    more["log"] = True
    return float(sinkhorn(a, b, M, reg, **more)[1]["cost"])


def sinkhorn_batch(Ms: Union[Array, list[Any]], reg: float, numItermax: int = 10000, stopThr: float = 1e-9,
                   log: bool = False, relative: bool = False, threads: int = 0) -> Any:
    """Plans of many problems with uniform masses. Ms: (k, n, m), or k matrices (n, m_i) with the same n."""
    costs = [_doubles(M, f"Ms[{i}]", 2) for i, M in enumerate(Ms)]
    if not costs:
        raise ConsmValueError("Ms is empty: expected at least one cost matrix")
    n = costs[0].shape[0]
    if any(c.shape[0] != n for c in costs):
        raise ConsmValueError("Ms: the matrices have different numbers of rows: expected the same")
    start = np.cumsum([0] + [c.shape[1] for c in costs]).astype(np.int64)
    flat = np.concatenate([c.reshape(-1) for c in costs])
    plans, results = np.empty_like(flat), (_structs.OtResult * len(costs))()
    _run.run(_lib.lib.consm_ot_sinkhorn_batch, plans, results, flat, start,
             len(costs), n, byref(_options(reg, stopThr, numItermax, relative)), int(threads))
    each = [plans[n * start[i]:n * start[i + 1]].reshape(n, -1) for i in range(len(costs))]
    out: Any = np.stack(each) if isinstance(Ms, np.ndarray) else each
    return (out, [_log(r) for r in results]) if log else out


def _plan_and_points(plan: Any, points: Any) -> tuple[Array, Array]:
    matrix, x = _doubles(plan, "plan", 2), _floats(points, "points")
    if matrix.shape[1] != len(x):
        raise ConsmValueError(f"plan has {matrix.shape[1]} columns: expected one per point, {len(x)}")
    return matrix, x


def linear(plan: ArrayLike, points: ArrayLike, scale: str = "mass") -> Array:
    """Linear map (mass may split): returns scale · plan · points, an image (n, f) of the references. scale is none,
    sqrt or mass."""
    matrix, x = _plan_and_points(plan, points)
    image = np.empty((len(matrix), x.shape[1]), np.float32)
    _lib.call(_lib.lib.consm_ot_linear, _lib.address(image), _lib.address(matrix), _lib.address(x), len(matrix),
              len(x), x.shape[1], _chosen(_SCALES, scale, "scale"))
    return image


def project(plan: ArrayLike, points: ArrayLike) -> Array:
    """Barycentric projection: row k of the result (n, f) is the mean of the points under row k of the plan."""
    matrix, x = _plan_and_points(plan, points)
    image, empty = np.empty((len(matrix), x.shape[1]), np.float32), np.empty(len(matrix), np.uint8)
    _lib.call(_lib.lib.consm_ot_project, _lib.address(image), _lib.address(empty), _lib.address(matrix),
              _lib.address(x), len(matrix), len(x), x.shape[1])
    return image


def monge(plan: ArrayLike, points: ArrayLike, pooling: str = "mean") -> tuple[Array, Array]:
    """Monge map (mass does not split): every point goes to the reference that takes most of its mass. Returns
    (image, assignment): row k of image (n, f) is pooled from the points of reference k (mean, sum or max);
    assignment (m) is the reference of each point, -1 for a point without mass."""
    matrix, x = _plan_and_points(plan, points)
    image, empty = np.empty((len(matrix), x.shape[1]), np.float32), np.empty(len(matrix), np.uint8)
    assignment = np.empty(len(x), np.int32)
    _lib.call(_lib.lib.consm_ot_monge, _lib.address(image), _lib.address(assignment), _lib.address(empty),
              _lib.address(matrix), _lib.address(x), len(matrix), len(x), x.shape[1],
              _chosen(_POOLINGS, pooling, "pooling"))
    return image, assignment


def kmeans(points: ArrayLike, n_clusters: int, random_state: int = 0) -> Array:
    """k-means: returns the centres (n_clusters, f), for use as reference points."""
    x = _floats(points, "points")
    if n_clusters < 1:
        raise ConsmValueError(f"n_clusters is {n_clusters!r}: expected 1 or more")
    centres = np.empty((int(n_clusters), x.shape[1]), np.float32)
    _lib.call(_lib.lib.consm_ot_kmeans, _lib.address(centres), _lib.address(x), int(n_clusters), len(x), x.shape[1],
              int(random_state))
    return centres
