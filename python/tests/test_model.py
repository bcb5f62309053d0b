"""Estimators: training, answers, files, explanations."""
from __future__ import annotations

import pickle
import subprocess

import numpy as np
import pytest

import consm
from conftest import METHODS
from consm import ConSMClassifier, Graph, GraphClassifier


def test_all_methods_by_name_and_by_class(world, graph):
    assert len(consm.methods()) == 14
    for name in METHODS:
        short = {"warmup": 10} if name == "consm" else {}
        model = GraphClassifier(name, random_state=1, epochs=6, hidden=8, backbone="gcn", **short) \
            if name == "consm" else GraphClassifier(name, random_state=1, epochs=6, hidden=8)
        assert model.fit(graph, world.y).predict(graph).shape == (world.n,), name
        assert model.predict_proba(graph).shape == (world.n, 2)
        assert np.allclose(model.predict_proba(graph).sum(axis=1), 1, atol=1e-5)
    classes = {getattr(consm, c)().method for c in dir(consm) if c.endswith("Classifier") and c != "GraphClassifier"}
    assert classes == set(consm.methods())


@pytest.mark.skipif("trees" not in METHODS, reason="no libconsm_trees.so")
def test_trees_predict_for_consm_where_they_are_better(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.random((240, 4))
    truth = np.where((x[:, 0] > 0.3) & (x[:, 0] < 0.7), "in", "out")
    table = Graph.from_arrays(rng.integers(0, 240, (2, 480)), x=np.exp(12 * x))
    y = np.where(np.arange(240) % 4 == 0, None, truth)
    model = ConSMClassifier(warmup=6, rounds=1, gnn_steps=3, match_steps=5, drop_share=0, add_share=0,
                            metric="accuracy").fit(table, y)
    assert model.params_["with_trees"] == "yes"
    assert model.candidates_[-1]["backbone"] == "trees" and not model.candidates_[-1]["chosen"]
    alone = consm.TreesClassifier(metric="accuracy").fit(table, y)
    assert (model.predict_proba(table) == alone.predict_proba(table)).all()
    assert np.mean(model.predict(table) == truth) > 0.9
    assert np.isfinite(model.edge_trust(table)["low"]).all()  # ConSM's: agreement has no interval
    assert (pickle.loads(pickle.dumps(model)).predict(table) == model.predict(table)).all()
    model.save(tmp_path / "model.safetensors")
    again = consm.load_model(tmp_path / "model.safetensors")
    assert again.method == "consm" and (again.predict_proba(table) == model.predict_proba(table)).all()


def test_labels_of_every_kind(world, graph):
    pd = pytest.importorskip("pandas")
    known = world.known
    texts = np.array(["no", "yes"])[world.truth]
    cases = {
        "numbers": (world.y, np.array([0, 1])),
        "floats with NaN": (np.where(known, world.truth.astype(float), np.nan), np.array([0.0, 1.0])),
        "text with None": (np.where(known, texts, None), np.array(["no", "yes"])),
        "a series": (pd.Series(np.where(known, texts, None)), np.array(["no", "yes"])),
        "categories": (pd.Series(pd.Categorical(np.where(known, texts, None))), np.array(["no", "yes"])),
        "nullable": (pd.Series(np.where(known, world.truth, None), dtype="Int64"), np.array([0, 1])),
        "booleans": (world.truth.astype(bool), np.array([False, True])),
        "a series of numbers": (pd.Series(world.y), np.array([0, 1])),
        "a list": (world.y.tolist(), np.array([0, 1])),
        "a column": (world.y[:, None], np.array([0, 1])),
    }
    expected = None
    for name, (y, classes) in cases.items():
        model = consm.GCNClassifier(random_state=0, epochs=25).fit(graph, y)
        assert (model.classes_ == classes).all() and model.classes_.dtype.kind == classes.dtype.kind, name
        guess = model.predict(graph)
        assert set(guess.tolist()) <= set(classes.tolist()), name
        if name != "booleans":
            expected = model.predict_proba(graph) if expected is None else expected
            assert (model.predict_proba(graph) == expected).all(), name
    assert model.score(graph, world.truth) > 0.8


def test_parameters_come_from_the_librarys_table():
    table = consm.parameters("gat")
    assert "hidden" in table and "hidden" in consm.GATClassifier.__doc__ and table["hidden"].help
    model = GraphClassifier("gat", hidden=128)
    assert model.get_params()["hidden"] == 128 and repr(model) == "GraphClassifier('gat', hidden=128)"
    with pytest.raises(TypeError, match="did you mean hidden?"):
        GraphClassifier("gat", hiden=128)
    with pytest.raises(ValueError, match="did you mean dropout?"):
        model.set_params(dropuot=0.1)
    with pytest.raises(consm.ConsmKeyError, match="did you mean gcn?"):
        GraphClassifier("gnc")
    assert ConSMClassifier(lambda_=0.5).get_params()["lambda_"] == 0.5
    assert model.set_params(method="gcn").method == "gcn"


def test_a_value_that_is_impossible_is_named(world, graph):
    for values, words in (({"hidden": -1}, "hidden"), ({"dropout": 2.0}, "dropout"), ({"epochs": "many"}, "epochs"),
                          ({"hidden": None, "lr": [1]}, "parameter"), ({"split": "nothing"}, "split|nothing")):
        with pytest.raises(ValueError, match=words):
            consm.GCNClassifier(**values).fit(graph, world.y)


def test_masks_say_who_trains(world, graph):
    train, val, test = np.arange(40), np.arange(40, 60), np.arange(60, world.n)
    model = consm.GCNClassifier(epochs=20).fit(graph, world.truth, train_mask=train, val_mask=val, test_mask=test)
    assert (model.info_["trained"], model.info_["validated"], model.info_["tested"]) == (40, 20, 60)
    assert {role: figures["nodes"] for role, figures in model.metrics_.items()} == {
        "train": 40, "validation": 20, "test": 60}
    guess = model.predict(graph)
    assert np.isclose(model.metrics_["test"]["accuracy"], (guess[test] == world.truth[test]).mean())
    assert 0 < model.metrics_["test"]["average_precision"] <= 1
    assert 0 < model.metrics_["test"]["classes"][1]["average_precision"] <= 1
    confusion = model.metrics_["test"]["confusion"]
    assert confusion.sum() == 60 and confusion[0, 1] == ((world.truth[test] == 0) & (guess[test] == 1)).sum()
    with pytest.raises(ValueError, match="in another mask"):
        consm.GCNClassifier().fit(graph, world.truth, train_mask=train, val_mask=train)
    with pytest.raises(ValueError, match="needs train_mask"):
        consm.GCNClassifier().fit(graph, world.truth, val_mask=val)


def test_files_travel(world, graph, fitted, tmp_path):
    path = tmp_path / "m.safetensors"
    fitted.save(path)
    again = consm.load_model(path)
    assert (again.predict(graph) == fitted.predict(graph)).all()
    assert (again.predict_proba(graph) == fitted.predict_proba(graph)).all()
    assert again.method == "gcn" and again.params_["hidden"] == 8 and (again.classes_ == [0, 1]).all()
    with pytest.raises(ValueError, match="loaded from a file"):
        again.report(tmp_path / "r.html")
    fitted.report(tmp_path / "new folder" / "report.html")
    assert "<html" in (tmp_path / "new folder" / "report.html").read_text()


def test_pickling_and_joblib(world, graph, fitted):
    joblib = pytest.importorskip("joblib")
    again = pickle.loads(pickle.dumps(fitted))
    assert type(again) is type(fitted) and again.get_params() == fitted.get_params()
    assert (again.predict_proba(graph) == fitted.predict_proba(graph)).all()
    seeds = joblib.Parallel(n_jobs=2)(joblib.delayed(_fit)(graph, world.y, s) for s in (0, 1, 0))
    assert (seeds[0] == seeds[2]).all() and (seeds[0] != seeds[1]).any()


def _fit(graph, y, seed):
    return consm.GCNClassifier(random_state=seed, epochs=20).fit(graph, y).predict_proba(graph)


def test_same_bits_as_the_command(command, tmp_path):
    """Same data, seed and options: models and predictions of both sides are equal to the bit, on any
    number of threads."""
    for data, method, options in (("karate", "gcn", {"per_class": 4, "epochs": 30}),
                                  ("csbm:nodes=300,homophily=0.7", "gat", {"epochs": 12}),
                                  ("csbm:nodes=300,homophily=0.3", "consm", {"epochs": 40, "backbone": "gcn"})):
        out = tmp_path / f"{method}"
        flags = [f for k, v in options.items() for f in (f"--{k.replace('_', '-')}", str(v))]
        subprocess.run([command, "train", data, "--model", method, "--seed", "3", "-o", str(out), *flags], check=True,
                       capture_output=True)
        g = consm.load(data)
        theirs = consm.load_model(out / "model.safetensors")
        for threads in (1, 3):
            ours = GraphClassifier(method, random_state=3, threads=threads, **options).fit(g)
            assert ours.info_["split"] == theirs.info_["split"]
            assert (ours.predict_proba(g) == theirs.predict_proba(g)).all(), (method, threads)
        ours.save(tmp_path / "ours.safetensors")
        both = [subprocess.run([command, "predict", str(p), data, "--probabilities"], check=True, capture_output=True,
                               text=True).stdout for p in (out / "model.safetensors", tmp_path / "ours.safetensors")]
        assert both[0] == both[1] and both[0].count("\n") == g.n_nodes + 1


def test_trust(world, graph, fitted):
    trust = fitted.edge_trust(graph)
    pairs = {frozenset(p) for p in zip(world.source.tolist(), world.target.tolist())}
    assert len(trust) == len(pairs)
    source, target = (np.asarray(trust[end]).astype(int) for end in ("source", "target"))  # without pandas, too
    same = world.truth[source] == world.truth[target]
    assert trust["trust"][same].mean() > trust["trust"][~same].mean() + 0.1


def test_prediction_sets_and_ensembles(world, graph):
    model = consm.GCNClassifier(coverage=0.8, epochs=20, ensemble=3).fit(graph, world.truth)
    sets = model.predict_set(graph)
    assert sets.shape == (world.n, 2) and sets.dtype == bool and model.info_["ensemble"] == 3
    with pytest.raises(ValueError, match="coverage"):
        consm.GCNClassifier(epochs=2).fit(graph, world.y).predict_set(graph)


def test_removing_the_named_edge_changes_most(world, graph, fitted):
    """Every edge of the graph is taken away by hand."""
    told = fitted.explain(5)
    column = int(np.flatnonzero(fitted.classes_ == told.label)[0])
    before = fitted.predict_proba(graph)[5, column]
    assert np.isclose(before, told.probability, atol=1e-5)
    pairs = sorted({(min(p), max(p)) for p in zip(world.source.tolist(), world.target.tolist())})
    changes = {}
    for pair in pairs:
        left = [p for p in zip(world.source, world.target) if (min(p), max(p)) != pair]
        less = Graph.from_arrays(np.array(left).T, world.x)
        changes[pair] = before - fitted.predict_proba(less)[5, column]
    first = told.edges[0]
    largest = max(changes, key=lambda p: abs(changes[p]))
    assert abs(abs(changes[largest]) - abs(first[2])) < 1e-4
    assert abs(changes[(first[0], first[1])]) >= abs(changes[largest]) - 1e-4
    assert told.neighbours and told.features and "probability" in str(told)
    other = [c for c in fitted.classes_ if c != told.label][0]
    assert np.isclose(fitted.explain(5, label=other).probability, 1 - told.probability, atol=1e-4)
    with pytest.raises(ValueError, match="unknown class"):
        fitted.explain(5, label="green")
    with pytest.raises(KeyError, match="no node 999"):
        fitted.explain(999)


def test_what_a_notebook_shows(fitted):
    page = fitted._repr_html_()
    assert "accuracy" in page and "GCNClassifier" in page and "validation" in page
    assert "not fitted" in consm.GCNClassifier()._repr_html_()


def test_checkpoints(world, graph, tmp_path):
    path = tmp_path / "run.checkpoint"
    whole = consm.GCNClassifier(random_state=2, epochs=30).fit(graph, world.y)
    resumed = consm.GCNClassifier(random_state=2, epochs=30).fit(graph, world.y, checkpoint=path, resume=True)
    assert (whole.predict_proba(graph) == resumed.predict_proba(graph)).all()


def test_device(world, graph):
    """A card where there is one; where there is none, one clear line, from training and from answers."""
    known = consm.GCNClassifier(random_state=0, epochs=5, device="cpu").fit(graph, world.y)
    assert (known.predict(graph) == consm.GCNClassifier(random_state=0, epochs=5).fit(graph, world.y).predict(graph)).all()
    with pytest.raises(consm.ConsmError, match="expected cpu, cuda, cuda:N or auto"):
        consm.GCNClassifier(device="gpu").fit(graph, world.y)
    try:
        model = consm.GCNClassifier(random_state=0, epochs=5, device="cuda").fit(graph, world.y)
    except consm.ConsmError as fault:
        assert str(fault).startswith("device cuda")
        away = ConSMClassifier(random_state=0, epochs=6, warmup=6, backbone="gcn").fit(graph, world.y)
        away.set_params(device="cuda")
        for ask in (away.predict, away.edge_trust):
            with pytest.raises(consm.ConsmError, match="device cuda"):
                ask(world.graph())
    else:
        assert (model.predict(graph) == known.predict(graph)).all()


@pytest.mark.parametrize("classes", [["1", "2"], ["01", "02"], ["0", "1"], [False, True], [0.0, 1.0], [3, 7], ["a", "b"],
                                     ["False", "True"], [np.int8(1), np.int8(4)]])
def test_classes_are_of_the_same_kind_after_loading(world, graph, tmp_path, classes):
    y = np.array(classes)[world.truth]
    model = consm.GCNClassifier(epochs=20).fit(graph, y)
    model.save(tmp_path / "m.safetensors")
    again = consm.load_model(tmp_path / "m.safetensors")
    assert again.classes_.dtype.kind == model.classes_.dtype.kind and (again.classes_ == model.classes_).all()
    assert again.predict(graph).tolist() == model.predict(graph).tolist()
    assert again.score(graph, y) == model.score(graph, y) > 0.8
    assert again.metrics_["validation"]["classes"].keys() == model.metrics_["validation"]["classes"].keys()


def test_labels_of_another_kind_are_no_silent_zero(world, graph, fitted):
    with pytest.raises(ValueError, match="none of its labels is a class of the model: '[01]', '[01]'; its classes are 0, 1"):
        fitted.score(graph, world.truth.astype(str))
    assert fitted.score(graph, np.where(world.truth == 0, 7, 1)) < 0.7  # a class it does not know counts as wrong


def write_classes(folder, classes, world):
    folder.mkdir()
    (folder / "edges.csv").write_text("source,target\n" + "".join(
        f"{a},{b}\n" for a, b in zip(world.source, world.target)))
    (folder / "nodes.csv").write_text("id,label,f\n" + "".join(
        f"{i},{classes[t]},{world.x[i, 0]:.3f}\n" for i, t in enumerate(world.truth)))
    return folder


@pytest.mark.parametrize("classes", [["-1", "1"], ["01", "02"], ["3", "7"], ["x", "2"]])
def test_classes_of_a_file(world, tmp_path, command, classes):
    """They are numbers only where that loses nothing, in the graph as in a model that the command trained."""
    folder = write_classes(tmp_path / "data", classes, world)
    subprocess.run([command, "train", str(folder), "--model", "gcn", "--epochs", "20", "-o", str(tmp_path / "out"),
                    "--quiet"], check=True, capture_output=True)
    if classes == ["-1", "1"]:
        with pytest.warns(consm.ConsmWarning, match="-1 means an unknown label"):
            g = consm.load(folder)
    else:
        g = consm.load(folder)
    expected = sorted([3, 7] if classes == ["3", "7"] else classes)
    theirs = consm.load_model(tmp_path / "out/model.safetensors")
    mask = np.arange(world.n) % 2 == 0
    with_mask = consm.GCNClassifier(epochs=20).fit(g, train_mask=mask)
    assert sorted(set(g.y.tolist())) == sorted(with_mask.classes_.tolist()) == expected
    assert sorted(theirs.classes_.tolist()) == expected and theirs.score(g) > 0.8
    assert with_mask.info_["trained"] + with_mask.info_["validated"] == mask.sum()
    by_hand = np.array([a == b for a, b in zip(theirs.predict(g).tolist(), g.y.tolist())]).mean()
    assert theirs.score(g) == by_hand


def test_random_states(world, graph):
    """A whole number is the seed; states of NumPy give one, the same for the same state."""
    def proba(state):
        return consm.GCNClassifier(epochs=5, random_state=state).fit(graph, world.y).predict_proba(graph)
    assert (proba(None) == proba(0)).all() and (proba(np.int64(3)) == proba(3)).all() and (proba(0) != proba(3)).any()
    for make in (np.random.RandomState, np.random.default_rng):
        assert (proba(make(1)) == proba(make(1))).all() and (proba(make(1)) != proba(make(2))).any()
    for wrong in (-1, 2**63, True, 1.5):
        with pytest.raises(ValueError, match="random_state is"):
            proba(wrong)


def test_a_second_fit_forgets_the_first_ones_answers(world, graph):
    model = consm.GCNClassifier(epochs=20).fit(graph, world.y)
    first = model.predict(graph)
    swapped = np.where(world.y >= 0, 1 - world.y, -1)
    assert (model.fit(graph, swapped).predict(graph) != first).mean() > 0.8


def test_confidence_is_the_labels_own(world):
    """Where a threshold decides, the label is not the most probable class."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    rare = (rng.random(400) < 0.1).astype(int)
    graph = Graph.from_arrays(rng.integers(0, 400, (2, 900)), rng.normal(size=(400, 4)) + 0.8 * rare[:, None])
    model = consm.MLPClassifier(epochs=40, threshold_for="bad").fit(graph, np.array(["good", "bad"])[rare])
    frame, p = model.predict_frame(graph), model.predict_proba(graph)
    assert isinstance(frame, pd.DataFrame)
    of_label = p[np.arange(400), np.searchsorted(model.classes_, frame["label"])]
    assert np.allclose(frame["confidence"], of_label, atol=1e-6)
    assert (frame["confidence"] < 0.5).any(), "no label that only its threshold decided"


def test_a_class_as_a_parameter(world, graph):
    for classes, wanted in (([False, True], True), ([0.0, 1.0], 1.0), ([0, 1], np.int64(1)), (["a", "b"], "b")):
        model = consm.GCNClassifier(epochs=5, threshold_for=wanted).fit(graph, np.array(classes)[world.truth])
        assert model.info_["threshold_class"] == 1


def test_refit(graph, world):
    """Without test nodes the model ends with all labels; its figures are those of the run that chose."""
    chosen = consm.GCNClassifier(random_state=2, epochs=30, refit="no").fit(graph, world.y)
    again = consm.GCNClassifier(random_state=2, epochs=30).fit(graph, world.y)
    assert again.refit_ and not chosen.refit_
    assert again.info_["refit_labels"] == chosen.info_["trained"] + chosen.info_["validated"]
    assert again.info_["refit_updates"] == chosen.best_iter_
    assert again.metrics_["validation"]["nll"] == chosen.metrics_["validation"]["nll"]
    assert list(again.history_["epoch"]) == list(chosen.history_["epoch"])
    assert (again.predict_proba(graph) != chosen.predict_proba(graph)).any()


def test_candidates(graph, world):
    """What ConSM chose its backbone from; nothing where it chose from none."""
    model = consm.ConSMClassifier(warmup=10, rounds=1, gnn_steps=4, drop_share=0, candidates="few").fit(graph, world.y)
    rows = model.candidates_
    assert len(rows) > 4 and [row["chosen"] for row in rows] == [True] + [False] * (len(rows) - 1)
    assert rows[0]["backbone"] == model.backbone_ and all(row["updates"] > 0 for row in rows)
    compared = [row["fold_score"] for row in rows if row["fold_score"] == row["fold_score"]]
    assert bool(compared) == (model.info_["fold_labels"] > 0)
    assert not compared or rows[0]["fold_score"] == max(compared) == model.info_["fold_score"]
    assert consm.GCNClassifier(epochs=3).fit(graph, world.y).candidates_ == []


def test_the_strongest_evidence_by_hand():
    def row(kind, name, log_odds):
        return {"kind": kind, "name": name, "log_odds": log_odds, "effect": 0.0}

    rows = [row("edge", "a-b", -0.5), row("feature", "age", 0.25), row("feature", "height", 0.125),
            row("neighbour", "b", 0.0), row("neighbour", "c", -1.0)]
    told = consm.Explanation("a", "x", 0.5, [], [], [], (0, 0, 0), 0.0, rows)
    assert told.main("feature") == "age (+0.25)"
    assert told.main("edge") == told.main("neighbour") == told.main("other") == ""


def test_a_run_with_a_checkpoint_is_waited_for(world, graph, tmp_path, monkeypatch):
    waited, run = [], consm._run.run

    def listen(function, *arguments, to_the_end=False, **more):
        waited.append(to_the_end)
        return run(function, *arguments, to_the_end=to_the_end, **more)

    monkeypatch.setattr(consm._run, "run", listen)
    consm.GCNClassifier(epochs=2).fit(graph, world.y)
    assert waited and not any(waited)
    del waited[:]
    consm.GCNClassifier(epochs=2).fit(graph, world.y, checkpoint=tmp_path / "c")
    assert any(waited)
