"""Compatibility with scikit-learn: its own checks, searches and cross-validation over node sets."""
from __future__ import annotations

import pickle

import numpy as np
import pytest

import consm
from conftest import METHODS

sklearn = pytest.importorskip("sklearn", minversion="1.6")
from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

# Checks that cannot pass, each with its reason.
ON_TABLES = {
    "check_classifiers_classes": "its labels are -1 and 1; here -1 means unknown, as in sklearn.semi_supervised",
    "check_supervised_y_2d": "a column of labels is taken as it is, without a warning: DataFrames have columns",
}
BY_NAME = {
    "check_no_attributes_set_in_init": "the method decides which parameters there are",
    "check_do_not_raise_errors_in_init_or_set_params": "sets the method to -1: no such method has parameters",
    "check_set_params": "likewise",
}
# All of these fit a table, whose rows are nodes without edges. An MLP accepts that. The other methods refuse
# it and name what they expect (test_bad_input.py). test_the_same_on_graphs checks the same on a graph.
WITHOUT_EDGES = {name: "X is a table: it has no edges, which this method needs" for name in """
check_classifier_data_not_an_array check_classifiers_classes check_classifiers_one_label
check_classifiers_regression_target check_classifiers_train check_complex_data check_dict_unchanged
check_dont_overwrite_parameters check_dtype_object check_estimator_sparse_array check_estimator_sparse_matrix
check_estimator_sparse_tag check_estimators_dtypes check_estimators_empty_data_messages
check_estimators_fit_returns_self check_estimators_nan_inf check_estimators_overwrite_params check_estimators_pickle
check_f_contiguous_array_estimator check_fit2d_1feature check_fit2d_1sample check_fit2d_predict1d
check_fit_check_is_fitted check_fit_idempotent check_fit_score_takes_y check_methods_sample_order_invariance
check_methods_subset_invariance check_n_features_in check_n_features_in_after_fitting check_pipeline_consistency
check_positive_only_tag_during_fit check_readonly_memmap_input check_supervised_y_2d
""".split()}
CLASSES = [getattr(consm, name) for name in consm.__all__ if name.endswith("Classifier") and name != "GraphClassifier"]


def checked(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {r["check_name"]: repr(r["exception"]) for r in results if r["status"] == "failed"}
    assert not failed, "\n".join(f"{k}: {v}" for k, v in failed.items())
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    assert not passed & set(expected), f"no longer to be excused: {passed & set(expected)}"
    return passed


def test_the_checks_of_scikit_learn():
    assert len(checked(consm.MLPClassifier(random_state=0, epochs=120, hidden=16), ON_TABLES)) > 35
    assert len(checked(consm.GraphClassifier("gcn"), {**WITHOUT_EDGES, **BY_NAME})) >= 15


@pytest.mark.parametrize("kind", [c for c in CLASSES if c is not consm.MLPClassifier])
def test_the_checks_of_every_class(kind):
    assert len(checked(kind(random_state=0), WITHOUT_EDGES)) >= 18


@pytest.mark.parametrize("method", METHODS)
def test_the_same_on_graphs(world, graph, method):
    model = consm.GraphClassifier(method, random_state=0, epochs=4, hidden=8, threads=1)
    before = model.get_params()
    assert model.fit(graph, world.y) is model
    assert model.get_params() == before and sorted(clone(model).get_params()) == sorted(before)
    proba, held = model.predict_proba(graph), sorted(vars(model))
    guess = model.predict(graph)
    assert sorted(vars(model)) == held, "answering set attributes"
    assert np.allclose(proba.sum(1), 1) and (model.classes_[proba.argmax(1)] == guess).all()
    assert model.score(graph, world.truth) == (guess == world.truth).mean()
    assert (clone(model).fit(graph, world.y).predict_proba(graph) == proba).all()
    assert (model.fit(graph, world.y).predict_proba(graph) == proba).all()
    assert (pickle.loads(pickle.dumps(model)).predict_proba(graph) == proba).all()
    assert model.n_features_in_ == graph.n_features and not hasattr(clone(model), "classes_")
    on_nodes = clone(model).set_params(graph=graph).fit(np.arange(world.n), world.y)
    some = np.array([5, 3, 8])
    assert (on_nodes.predict_proba(some) == on_nodes.predict_proba(np.arange(world.n))[some]).all()
    with pytest.raises(ValueError):
        clone(model).predict(graph)
    with pytest.raises(ValueError, match="one per node"):
        model.fit(graph, world.y[:-1])


def test_cloning(graph):
    model = consm.GraphClassifier("gat", graph=graph, hidden=32, random_state=7)
    copy = clone(model)
    assert copy.get_params() == model.get_params() and copy.graph is graph and is_classifier(copy)
    assert not copy.__sklearn_is_fitted__()
    for name in consm.methods():
        assert clone(consm.GraphClassifier(name)).method == name
    assert clone(consm.ConSMClassifier(epochs=5)).get_params()["epochs"] == 5


def test_cross_validation_over_nodes(world, graph):
    """X is the list of nodes; the graph is a parameter, so nobody cuts it."""
    nodes = np.flatnonzero(world.known)
    y = world.truth[nodes]
    model = consm.GCNClassifier(graph=graph, random_state=0, epochs=40, hidden=8)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    guess = cross_val_predict(model, nodes, y, cv=folds)
    assert guess.shape == y.shape and (guess == y).mean() > 0.75
    by_hand = np.empty_like(y)
    for train, test in folds.split(nodes, y):
        by_hand[test] = clone(model).fit(nodes[train], y[train]).predict(nodes[test])
    assert (guess == by_hand).all()
    assert cross_val_score(model, nodes, y, cv=folds).mean() > 0.75
    column = cross_val_predict(model, nodes[:, None], y, cv=folds, method="predict_proba")
    assert column.shape == (len(y), 2)


def test_grid_search(world, graph):
    nodes = np.flatnonzero(world.known)
    search = GridSearchCV(consm.GCNClassifier(graph=graph, random_state=0, epochs=20),
                          {"hidden": [4, 16], "dropout": [0.0, 0.5]}, cv=3)
    search.fit(nodes, world.truth[nodes])
    assert set(search.best_params_) == {"hidden", "dropout"} and len(search.cv_results_["params"]) == 4
    assert search.best_estimator_.graph is graph
    assert search.predict(np.arange(world.n)).shape == (world.n,)
    assert search.score(np.arange(world.n), world.truth) > 0.7


def test_nodes_by_name(world):
    named = world.graph(node_ids=world.ids)
    nodes = world.ids[world.known]
    guess = cross_val_predict(consm.GCNClassifier(graph=named, epochs=30), nodes, world.truth[world.known], cv=3)
    assert (guess == world.truth[world.known]).mean() > 0.7


def test_a_graph_as_fit_parameter_is_left_whole(world, graph):
    """scikit-learn cuts fit parameters that look like arrays of samples; a Graph does not."""
    from sklearn.utils.validation import _check_method_params
    kept = _check_method_params(np.arange(graph.n_nodes), {"graph": graph}, indices=np.arange(5))
    assert kept["graph"] is graph


def test_feature_names_in(world):
    names = ["age", "height", "weight", "income"]
    model = consm.GCNClassifier(epochs=3, hidden=4)
    assert list(model.fit(world.graph(feature_names=names), world.y).feature_names_in_) == names
    assert not hasattr(model.fit(world.graph(), world.y), "feature_names_in_")


def test_random_states_draw_the_seed(world, graph):
    def probabilities(random_state):
        return consm.GCNClassifier(random_state=random_state, epochs=3, hidden=4).fit(graph, world.y).predict_proba(graph)

    # The seed is the next number below 2**31 - 1, as in scikit-learn.
    drawn = int(np.random.RandomState(5).randint(2**31 - 1)), int(np.random.default_rng(5).integers(2**31 - 1))
    assert (probabilities(np.random.RandomState(5)) == probabilities(drawn[0])).all()
    assert (probabilities(np.random.default_rng(5)) == probabilities(drawn[1])).all()
    assert (probabilities(None) == probabilities(0)).all() and not (probabilities(0) == probabilities(1)).all()
