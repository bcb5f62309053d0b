"""Random input from hypothesis: the result has the right shape, or an exception of ours is raised. A crash of
the library would end the test run."""
from __future__ import annotations

import os

import numpy as np
import pytest

import consm
from consm import Graph

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

ROUNDS = int(os.environ.get("CONSM_FUZZ_ROUNDS", "30"))
quick = settings(max_examples=ROUNDS, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7)
kinds = st.one_of(hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes(), hnp.boolean_dtypes(),
                  hnp.complex_number_dtypes(), hnp.unicode_string_dtypes(max_len=3), hnp.datetime64_dtypes())
arrays = kinds.flatmap(lambda k: hnp.arrays(k, shapes))
things = st.one_of(arrays, st.none(), st.integers(), st.floats(), st.text(max_size=3), st.lists(st.integers(-3, 9)),
                   st.lists(st.one_of(st.none(), st.text(max_size=2), st.integers(-2, 3)), max_size=7), st.binary())
small = st.integers(2, 8)


@quick
@given(edges=things, x=things, y=things, weight=things, n=st.one_of(st.none(), st.integers(-2, 8)))
def test_graphs_from_anything(edges, x, y, weight, n):
    try:
        made = Graph.from_arrays(edges, x, y, weight=weight, n_nodes=n)
    except consm.ConsmError:
        return
    assert made.n_nodes >= 1 and made.edge_index.shape == (2, made.n_edges)


@quick
@given(data=st.data(), n=small)
def test_models_on_anything(data, n):
    ends = data.draw(hnp.arrays(np.int64, (2, data.draw(st.integers(0, 12))), elements=st.integers(-1, n)))
    x = data.draw(st.one_of(st.none(), hnp.arrays(np.float64, (n, data.draw(st.integers(0, 3))))))
    y = data.draw(st.one_of(hnp.arrays(np.int64, n, elements=st.integers(-2, 3)), things))
    masks = {k: data.draw(st.one_of(st.none(), hnp.arrays(bool, n), things)) for k in ("train_mask", "val_mask")}
    values = data.draw(st.dictionaries(st.sampled_from(["hidden", "dropout", "lr", "epochs", "split", "weight_decay"]),
                                       st.one_of(st.integers(-1, 4), st.floats(), st.text(max_size=3), st.none())))
    values.setdefault("epochs", 2)
    if isinstance(values["epochs"], (int, float)) and not values["epochs"] <= 4:
        values["epochs"] = 3
    try:
        graph = Graph.from_arrays(ends, x, n_nodes=n)
        model = consm.GraphClassifier(data.draw(st.sampled_from(["gcn", "mlp", "gat", "appnp"])), **values)
        model.fit(graph, y, **masks)
    except consm.ConsmError:
        return
    p = model.predict_proba(graph)
    assert p.shape == (n, len(model.classes_)) and np.isfinite(p).all()
    assert len(model.edge_trust(graph)) <= ends.shape[1]
    try:
        told = model.explain(data.draw(st.one_of(st.integers(-2, n + 1), st.text(max_size=2))))
    except consm.ConsmError:
        return
    assert 0 <= told.probability <= 1.0001


@quick
@given(a=things, b=things, M=things, reg=st.one_of(st.floats(), st.integers(-2, 2)))
def test_transport_of_anything(a, b, M, reg):
    from consm import ot
    for call in (lambda: ot.emd(a, b, M), lambda: ot.sinkhorn(a, b, M, reg, numItermax=20, warn=False),
                 lambda: ot.dist(a, b), lambda: ot.monge(M, a), lambda: ot.linear(M, b)):
        try:
            call()
        except consm.ConsmError:
            pass


@quick
@given(node=things, label=things, limit=things, path=things)
def test_questions_to_a_model(fitted, graph, node, label, limit, path):
    for call in (lambda: fitted.explain(node), lambda: fitted.explain(0, label=label),
                 lambda: fitted.explain(0, limit=limit if not isinstance(limit, int) else min(limit, 3)),
                 lambda: fitted.score(graph, label), lambda: consm.load(path), lambda: consm.load_model(path),
                 lambda: fitted.predict(node), lambda: consm.parameters(label) if isinstance(label, str) else None):
        try:
            call()
        except consm.ConsmError:
            pass
