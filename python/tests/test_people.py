"""Features that users of scikit-learn and notebooks expect: curves, figures, thresholds, reasons, warnings."""
from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pytest

import consm
from consm import ConSMClassifier, Graph
from consm import _lib, _parameters, _rare, _run


@pytest.fixture(scope="module")
def rare():
    """600 nodes, one in thirty of which is a fraud."""
    rng = np.random.default_rng(0)
    n = 600
    bad = rng.random(n) < 1 / 30
    x = rng.normal(size=(n, 4)) + 1.5 * bad[:, None]
    graph = Graph.from_arrays(rng.integers(0, n, (2, 1500)), x, node_ids=[f"n{i}" for i in range(n)])
    return graph, np.where(bad, "fraud", "fine")


# ---- profiles and parameters ---------------------------------------------------------------------

def test_given_values_win_over_a_profile_in_any_order(world, graph):
    short = {"rounds": 1, "epochs": 4, "gnn_steps": 4}
    for given in ({"profile": "paper", "lr": 0.01, **short}, {"lr": 0.01, **short, "profile": "paper"}):
        found = ConSMClassifier(**given).fit(graph, world.y).params_
        assert (found["lr"], found["rounds"], found["match_error"], found["backbone"]) == (0.01, 1, "l1", "gcn")
    model = ConSMClassifier(profile="paper", **short).fit(graph, world.y)
    assert model.params_["lr"] == 0.001
    model.set_params(profile="default", backbone="gcn", warmup=4)
    assert model.fit(graph, world.y).params_["lr"] == float(consm.parameters("consm")["lr"].default)
    assert model.params_["match_error"] == "mse"


def test_a_parameter_that_is_not_read_is_said(world, graph):
    with pytest.warns(consm.ConsmWarning, match="gcn ignores heads=3; it is a parameter of gat") as said:
        consm.GCNClassifier(heads=3, epochs=2).fit(graph, world.y)
    assert said[0].filename == __file__  # the caller's line, not one of the package
    with warnings.catch_warnings():
        warnings.simplefilter("error", consm.ConsmWarning)
        consm.GATClassifier(heads=2, hidden=8, epochs=2, threads=1, lr=0.1).fit(graph, world.y)
    assert _parameters.unused("consm", {"heads": 2, "backbone": "gat"}) == {}
    assert _parameters.unused("consm", {"heads": 2}) == {}  # one of the candidates uses it
    assert "gat" in _parameters.unused("consm", {"heads": 2, "backbone": "gcn"})["heads"]
    assert _parameters.unused("gcn", {"heads": None, "epochs": 3, "device": "cpu"}) == {}


def test_errors_speak_python(world, graph):
    assert _lib.our_words("try a smaller --match-lr") == "try a smaller match_lr"
    assert _lib.our_words("--lambda and --seed, but not x--y") == "lambda_ and random_state, but not x--y"
    with pytest.raises(ValueError, match="^lambda_ -3: expected"):
        ConSMClassifier(lambda_=-3).fit(graph, world.y)
    with pytest.raises(ValueError, match="label_column nobody") as fault:
        consm.load(_folder(graph), id_column="name", label_column="nobody")
    assert "--" not in str(fault.value)


def _folder(graph):
    import pathlib
    import tempfile
    folder = pathlib.Path(tempfile.mkdtemp()) / "g"
    folder.mkdir()
    (folder / "edges.csv").write_text("source,target,w\n" + "".join(f"{a},{b},2\n" for a, b in graph.edge_index.T))
    (folder / "nodes.csv").write_text("name,kind,v,junk\n" + "".join(f"{i},{i % 2},{i},{i}\n"
                                                                    for i in range(graph.n_nodes)))
    return folder


def test_columns_by_name(graph):
    g = consm.load(_folder(graph), id_column="name", label_column="kind", weight_column="w", ignore=["junk"])
    assert g.feature_names == ["v"] and set(g.y.tolist()) == {0, 1} and (g.edge_weight == 2).all()


def _calls(folder, extra=""):
    folder.mkdir()
    (folder / "edges.csv").write_text("minutes,caller,callee\n" + "".join(f"{1 + i % 5},p{i},p{(i + 2) % 40}\n"
                                                                          for i in range(40)) + extra)
    (folder / "nodes.csv").write_text("name,kind,v,junk\n" + "".join(f"p{i},{'odd' if i % 2 else 'even'},{i % 2},{i}\n"
                                                                    for i in range(40)))
    return folder


def test_a_model_remembers_how_its_data_was_read(tmp_path):
    path = _calls(tmp_path / "may", "9,p0,p2\n3,p5,stranger\n")
    named = dict(id_column="name", label_column="kind", weight_column="minutes", source_column="caller",
                 target_column="callee", ignore=["junk"])
    with pytest.raises(ValueError, match="stranger.*use unknown_nodes drop"):
        consm.load(path, **named)
    with pytest.warns(consm.ConsmWarning, match="dropped 1 edge to nodes that are not listed"):
        g = consm.load(path, **named, duplicates="keep-first", unknown_nodes="drop")
    assert (g.n_nodes, g.n_edges, g.feature_names) == (40, 41, ["v"])
    with pytest.warns(consm.ConsmWarning, match="found only in edges"):
        assert consm.load(path, **named, unknown_nodes="add").n_nodes == 41
    with pytest.raises(ValueError, match="duplicates maen: expected mean, keep-first or error"):
        consm.load(path, **named, duplicates="maen")
    model = consm.GCNClassifier(epochs=20).fit(g)
    model.save(tmp_path / "m.safetensors")
    own = consm.GCNClassifier(epochs=20).fit(g, g.y)  # labels passed by the caller
    june = _calls(tmp_path / "june", "7,p5,another\n")
    again = pickle.loads(pickle.dumps(g))  # a pickled graph remembers how it was read
    pickled = consm.GCNClassifier(epochs=20).fit(again)
    assert (pickled.predict_proba(again) == model.predict_proba(g)).all()  # keep-first, not the mean
    for known in (model, consm.load_model(tmp_path / "m.safetensors"), own, pickled):
        with pytest.warns(consm.ConsmWarning, match="dropped 1 edge to nodes that are not listed"):
            again = consm.load(june, model=known)
        assert again.feature_names == ["v"] and again.edge_weight is not None and again.y is not None
        assert known.score(again) == 1
    with pytest.raises(ValueError, match="another"):
        consm.load(june, model=model, unknown_nodes="error")
    with pytest.raises(ValueError, match="not fitted"):
        consm.load(june, model=consm.GCNClassifier())


# ---- training ------------------------------------------------------------------------------------

def test_history(world, graph):
    model = consm.GCNClassifier(epochs=12, patience=0).fit(graph, world.y)
    history = model.history_
    assert history["epoch"].tolist() == list(range(1, 13)) and np.isfinite(history["loss"]).all()
    assert (np.diff(history["best_validation"]) >= 0).all()
    assert history["best_validation"][-1] == history["validation"].max()
    assert history["loss"][-1] < history["loss"][0]
    members = consm.GCNClassifier(epochs=5, patience=0, ensemble=2).fit(graph, world.y).history_
    assert set(members["member"].tolist()) == {1, 2} and len(members["epoch"]) == 10
    assert not hasattr(consm.GCNClassifier(), "history_")


class Stop:
    """Breaks a fit at its n-th message, as Ctrl-C does."""

    def __init__(self, monkeypatch, at):
        heard = consm._run.Progress._hear
        self.count = 0

        def hear(progress, ctx, now):
            self.count += 1
            return heard(progress, ctx, now) or self.count == at
        monkeypatch.setattr(consm._run.Progress, "_hear", hear)


@pytest.mark.parametrize("settings", [
    {"method": "gcn", "epochs": 30, "patience": 0},
    {"method": "consm", "warmup": 12, "rounds": 1, "gnn_steps": 4, "match_steps": 4, "drop_share": 0},
])
def test_history_is_whole_after_a_break_and_in_a_file(world, graph, settings, monkeypatch, tmp_path):
    """A fit that was broken and resumed, and a model that was loaded, tell all epochs from the first."""
    whole = consm.GraphClassifier(**settings, threads=1).fit(graph, world.y)
    part = consm.GraphClassifier(**settings, threads=1)
    with monkeypatch.context() as patch:
        Stop(patch, 14)
        with pytest.raises(consm.ConsmError, match="stopped"):
            part.fit(graph, world.y, checkpoint=tmp_path / "run.safetensors")
    part.fit(graph, world.y, checkpoint=tmp_path / "run.safetensors", resume=True)
    whole.save(tmp_path / "model.safetensors")
    again = consm.load_model(tmp_path / "model.safetensors")
    assert whole.history_["epoch"].tolist() == list(range(1, whole.n_iter_ + 1))
    for name in whole.history_:
        for other in (part, again):
            assert np.array_equal(whole.history_[name], other.history_[name], equal_nan=True), name
    for name in whole.tournament_:
        same = whole.tournament_[name], part.tournament_[name]
        assert (same[0] == same[1]).all() if name == "backbone" else np.array_equal(*same, equal_nan=True), name
    assert (again.tournament_["candidate"].size > 0) == (settings["method"] == "consm")


def test_history_of_members_is_in_the_file(world, graph, tmp_path):
    model = consm.GCNClassifier(epochs=5, patience=0, ensemble=3).fit(graph, world.y)
    model.save(tmp_path / "model.safetensors")
    found = consm.load_model(tmp_path / "model.safetensors").history_
    assert found["member"].tolist() == [1] * 5 + [2] * 5 + [3] * 5 and found["epoch"].tolist() == [1, 2, 3, 4, 5] * 3
    for name, column in model.history_.items():
        assert np.array_equal(column, found[name], equal_nan=True), name


def test_history_of_consm_begins_with_the_tournament(world, graph):
    model = ConSMClassifier(warmup=30, rounds=1, gnn_steps=5, match_steps=5, candidates="few", threads=1).fit(graph, world.y)
    history, tried = model.history_, model.tournament_
    told = {(c, u): loss for c, u, loss in zip(*(tried[k].tolist() for k in ("candidate", "update", "loss")))}
    assert history["loss"][29] in [told[c, 30] for c, u in told if u == 30]  # a candidate's loss, not lost when the run takes over
    assert history["loss"][29] != 0
    assert history["epoch"].tolist() == list(range(1, len(history["epoch"]) + 1)) and history["epoch"][-1] == model.n_iter_
    assert history["loss"][:5].mean() > history["loss"][20:25].mean()
    assert len(set(tried["candidate"].tolist())) > 3 and model.backbone_ in tried["backbone"]
    first = tried["candidate"] == tried["candidate"][0]
    assert tried["update"][first].tolist() == list(range(1, first.sum() + 1))
    assert consm.GCNClassifier(epochs=3).fit(graph, world.y).tournament_["candidate"].size == 0


def test_the_backbone_that_won_is_named(world, graph, tmp_path):
    model = ConSMClassifier(epochs=4, warmup=4, rounds=1, backbone="mlp").fit(graph, world.y)
    assert model.backbone_ == "mlp" and "backbone mlp" in model._repr_html_()
    model.save(tmp_path / "m.safetensors")
    assert consm.load_model(tmp_path / "m.safetensors").backbone_ == "mlp"
    assert not hasattr(consm.GCNClassifier(epochs=2).fit(graph, world.y), "backbone_")


def test_the_bar_moves_while_the_backbone_is_chosen(capsys):
    pytest.importorskip("tqdm")
    bar, p = _run.Bar(True, "consm on here"), _run.Progress()
    heard = _run._lib.s.Progress(epoch=0, epochs=0, share=0.25, loss=0.7)
    p._hear(None, _run._lib.ctypes.pointer(heard))
    bar.show(p)
    heard.share = 0.5
    p._hear(None, _run._lib.ctypes.pointer(heard))
    bar.show(p)
    p._hear(None, _run._lib.ctypes.pointer(_run._lib.s.Progress(epoch=3, epochs=10, share=0.6)))
    bar.show(p)
    bar.close()
    said = capsys.readouterr().err
    assert "choosing the backbone:  25%" in said and "50%" in said and "3/10" in said


def test_progress_is_heard_during_the_tournament(world, graph, monkeypatch):
    shares = []

    class Ear(_run.Progress):
        def _hear(self, nothing, progress):
            stop = super()._hear(nothing, progress)
            if self.choosing:
                shares.append(self.share)
            return stop
    monkeypatch.setattr(_run, "Progress", Ear)
    ConSMClassifier(epochs=10, warmup=10, rounds=1, threads=1).fit(graph, world.y)
    assert len(shares) > 3 and 0 < max(shares) < 1 and shares[-1] > shares[0]


def test_weights_that_are_not_used_are_said(world):
    weighted = world.graph(weight=np.ones(len(world.source)) + np.arange(len(world.source)) % 2)
    with pytest.warns(consm.ConsmWarning, match="consm, whose backbone is gat, does not use the edge weights"):
        model = ConSMClassifier(epochs=4, warmup=4, rounds=1, backbone="gat").fit(weighted, world.y)
    assert model.info_["backbone"] == "gat" and model.info_["uses_weights"] is False
    with warnings.catch_warnings():
        warnings.simplefilter("error", consm.ConsmWarning)
        assert consm.GCNClassifier(epochs=2).fit(weighted, world.y).info_["uses_weights"] is True


# ---- edges ---------------------------------------------------------------------------------------

def _pairs(graph):
    return {frozenset((int(a), int(b))) for a, b in graph.edge_index.T if a != b}


def test_suggested_edges_are_new_and_ranked(world, graph, fitted):
    pytest.importorskip("pandas")
    table = fitted.suggest_edges(graph, 5)
    assert list(table.columns) == ["source", "target", "trust", "low", "high"] and len(table) == 5
    assert (np.diff(table["trust"]) <= 0).all() and not {frozenset(p) for p in table[["source", "target"]].to_numpy()} & _pairs(graph)
    with pytest.raises(ValueError, match="k is 0"):
        fitted.suggest_edges(graph, 0)


def test_a_clean_graph(world, tmp_path):
    pytest.importorskip("pandas")
    named = world.graph(y=world.y, weight=np.arange(len(world.source)) + 1.0, node_ids=world.ids)
    model = consm.GCNClassifier(random_state=0, epochs=40, hidden=8).fit(named, world.y)
    trust = model.edge_trust(named)
    graph, changes = model.clean(named, drop=0.25, add=3)
    gone = changes[changes["change"] == "dropped"]
    assert len(gone) == len(trust) // 4 and gone["trust"].max() <= np.sort(trust["trust"])[len(trust) // 4]
    assert (changes["change"] == "added").sum() == 3
    assert _pairs(graph) == (_pairs(named) - {frozenset(named.places(p)) for p in gone[["source", "target"]].to_numpy()}
                             | {frozenset(named.places(p)) for p in
                                changes.loc[changes["change"] == "added", ["source", "target"]].to_numpy()})
    assert (graph.y == named.y).all() and (graph.node_ids == named.node_ids).all() and (graph.x == named.x).all()
    assert np.allclose(graph.edge_weight[-3:], named.edge_weight.mean())  # the added edges
    assert model.clean(named).changes.shape[0] == (~trust["kept"]).sum()
    auto = model.clean(named, drop="auto").changes
    assert auto.shape[0] == round(model.info_["drop_share"] * trust.shape[0])
    high, _ = model.clean(named, threshold=1)
    assert len(_pairs(high)) == (trust["trust"] >= 1).sum()
    assert consm.GCNClassifier(epochs=5).fit(graph).classes_.tolist() == [0, 1]  # it trains like any other
    for name in ("clean", "clean.npz", "clean.graphml"):
        graph.save(tmp_path / name)
        back = consm.load(tmp_path / name)
        assert _pairs(back) == _pairs(graph) and back.node_ids.tolist() == graph.node_ids.tolist()
        assert [int(v) if str(v).isdigit() else -1 for v in back.y] == graph.y.tolist(), name
    for wrong in ({"drop": 2}, {"drop": "some"}, {"threshold": -1}, {"drop": 0.1, "threshold": 0.1}, {"add": -1}):
        with pytest.raises(ValueError):
            model.clean(named, **wrong)


# ---- answers -------------------------------------------------------------------------------------

def test_embeddings(world, graph):
    model = consm.GCNClassifier(epochs=10, hidden=6).fit(graph, world.y)
    whole = model.embeddings(graph)
    assert whole.shape == (world.n, 6) and whole.dtype == np.float32
    on_nodes = consm.GCNClassifier(graph=graph, epochs=10, hidden=6).fit(np.arange(world.n), world.y)
    assert (on_nodes.embeddings([5, 3]) == whole[[5, 3]]).all()


def test_seen_nodes_are_told_from_new_ones(rare, tmp_path):
    pytest.importorskip("pandas")
    graph, y = rare
    known = np.where(np.arange(600) < 400, y, None)
    with pytest.warns(consm.ConsmWarning):
        model = consm.MLPClassifier(epochs=5).fit(graph, known)
    assert (model.seen(graph) == (np.arange(600) < 400)).all()
    later = Graph.from_arrays([[0, 1], [1, 2]], graph.x[[7, 599, 3]], node_ids=["n7", "n599", "newcomer"])
    model.save(tmp_path / "m.safetensors")
    frame = consm.load_model(tmp_path / "m.safetensors").predict_frame(later)
    assert frame["seen"].to_dict() == {"n7": True, "n599": False, "newcomer": False}
    nameless = Graph.from_arrays([[0, 1], [1, 2]], graph.x[:3])
    assert "seen" not in model.predict_frame(nameless).columns
    with pytest.raises(ValueError, match="this graph or the training graph has no node ids"):
        model.seen(nameless)


def test_threshold(rare, tmp_path):
    graph, y = rare
    with pytest.warns(consm.ConsmWarning):
        model = consm.MLPClassifier(epochs=40, threshold_for="fraud").fit(graph, y)
    assert 0 < model.threshold_ < 1 and model.threshold_class_ == "fraud"
    said = model.predict_proba(graph)[:, list(model.classes_).index("fraud")] >= np.float32(model.threshold_)
    assert ((model.predict(graph) == "fraud") == said).all()
    model.save(tmp_path / "m.safetensors")
    assert consm.load_model(tmp_path / "m.safetensors").threshold_ == model.threshold_
    assert "predicts fraud at probability" in model._repr_html_()
    assert consm.MLPClassifier(epochs=2).fit(graph, y).threshold_ is None


def test_few_positives_are_a_warning_with_an_interval(rare):
    graph, y = rare
    with pytest.warns(consm.ConsmWarning, match=r"validation has [1-9] nodes of class 'fraud'.*recall .* \(95 % interval "
                                                r"0\.\d\d to [01]\.\d\d\)"):
        model = consm.MLPClassifier(epochs=30, positive="fraud").fit(graph, y)
    assert "95 % interval" in model._repr_html_()
    many = np.where(np.arange(600) % 2 == 0, "fraud", "fine")
    with warnings.catch_warnings():
        warnings.simplefilter("error", consm.ConsmWarning)
        consm.MLPClassifier(epochs=3, positive="fraud").fit(graph, many)


def test_the_class_in_mind_may_be_the_first():
    """Class 0 counts as named, by a threshold or by the metric; without a name the rarest in training is meant."""
    figures = {"train": {"classes": {"a": {"support": 9}, "b": {"support": 5}, "c": {"support": 2}}},
               "validation": {"classes": {"a": {"support": 1}, "b": {"support": 5}, "c": {"support": 7}}}}
    asked = [({"threshold_class": 0, "positive": 1}, 0), ({"threshold_class": -1, "positive": 0}, 0),
             ({"threshold_class": -1, "positive": 1}, 1), ({"threshold_class": -1, "positive": -1}, 2)]
    for info, expected in asked:
        assert _rare.asked_class(info, figures) == expected
    del figures["train"]
    assert _rare.asked_class({"threshold_class": -1, "positive": -1}, figures) == 0


def test_wilson():
    from consm._rare import wilson
    assert np.allclose(wilson(2, 2), (0.3424, 1), atol=1e-4) and np.allclose(wilson(5, 10), (0.2366, 0.7634), atol=1e-4)
    assert wilson(0, 0) == (0, 1)


def test_ties_are_ranked_by_log_odds(world, graph, fitted):
    p, odds = fitted.predict_proba(graph), fitted.log_odds(graph)
    assert odds.shape == p.shape and np.allclose(odds[:, 0], -odds[:, 1], atol=1e-3)
    assert len(np.unique(odds[:, 1])) >= len(np.unique(p[:, 1]))
    order = np.argsort(odds[:, 1])
    assert (np.diff(p[order, 1]) >= -1e-6).all()  # the same order, only finer
    from consm._rare import ranked
    p, odds = np.array([0.5, 0.9, 0.9, 0.9, 0.95]), np.array([0.0, 3.0, 9.0, 5.0, 7.0])
    assert ranked(p, odds, np.array([True, True, True, True, False]), 3).tolist() == [2, 3, 1]


def test_a_report_shows_how_the_model_learned(world, graph, tmp_path):
    with_labels = world.graph(y=world.y)
    model = ConSMClassifier(warmup=20, rounds=1, gnn_steps=5, match_steps=5, candidates="few", threads=1).fit(with_labels)
    model.save(tmp_path / "m.safetensors")
    model.report(tmp_path / "a.html")
    loaded = consm.load_model(tmp_path / "m.safetensors")
    assert (loaded.n_iter_, loaded.best_iter_) == (model.n_iter_, model.best_iter_)
    loaded.report(tmp_path / "b.html", with_labels)
    pickle.loads(pickle.dumps(model)).report(tmp_path / "c.html", with_labels)
    pages = [(tmp_path / f"{name}.html").read_text() for name in "abc"]
    for page in pages:
        for title in ("Learning curve: loss", "Learning curve: validation", "Choice of the backbone"):
            figure = page[page.index(title):]
            assert figure.index("<path") < figure.index("</svg>")
    curves = [re.findall(r'<svg.*?</svg>', page, re.S) for page in pages]
    drawn = [next(svg for svg in of if "Learning curve: loss" in svg) for of in curves]
    assert drawn[0] == drawn[1] == drawn[2]
    with pytest.raises(ValueError, match="report\\(path, graph\\)"):
        loaded.report(tmp_path / "d.html")
    with pytest.raises(ValueError, match="has no labels"):
        loaded.report(tmp_path / "d.html", graph)


@pytest.mark.filterwarnings("ignore::consm.ConsmWarning")
def test_suspects(rare):
    pytest.importorskip("pandas")
    graph, y = rare
    known = np.where(np.arange(600) < 400, y, None)
    model = consm.MLPClassifier(epochs=40, positive="fraud").fit(graph, known)
    table = model.suspects(graph, k=10, y=known)
    column = list(model.classes_).index("fraud")
    p = model.predict_proba(graph)[:, column]
    odds = model.log_odds(graph)[:, column]
    by_hand = sorted(range(400, 600), key=lambda i: (-p[i], -odds[i]))
    assert table.index.tolist() == [f"n{i}" for i in by_hand[:10]]
    assert table["probability"].tolist() == p[by_hand[:10]].tolist()
    assert table.index.tolist() == model.suspects(graph, "fraud", k=10, y=known).index.tolist()
    common = consm.MLPClassifier(epochs=5, positive="fine").fit(graph, known)  # the named class, not the rarest
    assert common.suspects(graph, k=9, y=known).equals(common.suspects(graph, "fine", k=9, y=known))
    nobody = consm.MLPClassifier(epochs=5, metric="accuracy").fit(graph, known)
    assert nobody.info_["positive"] == -1
    assert nobody.suspects(graph, k=9, y=known).equals(nobody.suspects(graph, "fraud", k=9, y=known))
    with_reasons = model.suspects(graph, k=2, y=known, reasons=True)
    assert list(with_reasons.columns) == ["probability", "label", "feature", "neighbour", "edge"]
    assert with_reasons["feature"].iloc[0].endswith(")")
    with pytest.raises(ValueError, match="k is 0"):
        model.suspects(graph, k=0)
    with pytest.raises(ValueError, match="unknown class 'x'"):
        model.suspects(graph, "x")


@pytest.mark.filterwarnings("ignore::consm.ConsmWarning")
def test_suspects_of_equal_probability_are_ranked_by_log_odds(rare):
    pytest.importorskip("pandas")
    graph, y = rare
    known = np.where(np.arange(600) < 400, y, None)
    model = consm.MLPClassifier(epochs=60, lr=0.1).fit(graph, known)  # so sure that probabilities are rounded alike
    column = list(model.classes_).index("fine")
    p, odds = model.predict_proba(graph)[400:, column], model.log_odds(graph)[400:, column]
    assert len(np.unique(p)) < 180 and len(np.unique(odds)) == 200
    by_hand = sorted(range(200), key=lambda i: (-p[i], -odds[i]))
    assert by_hand != sorted(range(200), key=lambda i: (-p[i], i))  # probabilities alone do not give this order
    assert model.suspects(graph, "fine", k=200, y=known).index.tolist() == [f"n{400 + i}" for i in by_hand]


def test_an_explanation_says_the_values_behind_it(world, graph, fitted):
    pytest.importorskip("pandas")
    told = fitted.explain(5)
    assert told.log_odds > np.log(told.probability / (1 - told.probability))  # few validation nodes: probabilities are shrunk
    frame = told.to_frame()
    for kind in ("edge", "neighbour", "feature"):
        effects = frame.loc[frame["kind"] == kind, "log_odds"].abs().to_numpy()
        assert (np.diff(effects) <= 1e-6).all() and effects.size
    first = frame[frame["kind"] == "feature"].iloc[0]
    column = int(first["name"])
    assert np.isclose(first["value"], world.x[5, column], atol=1e-5) and first["low"] < first["high"]
    assert np.isclose(first["mean"], world.x[:, column].mean(), atol=1e-4)
    neighbours = frame[frame["kind"] == "neighbour"]
    assert set(neighbours["said"]) <= {0, 1} and ((neighbours["trust"] >= 0) & (neighbours["trust"] <= 1)).all()
    assert "usually" in str(told) and "trust" in str(told)
    assert told.main("feature") == "" or "(+" in told.main("feature")


# ---- figures -------------------------------------------------------------------------------------

def test_figures(world, graph):
    pytest.importorskip("matplotlib")
    test = np.arange(world.n) >= 60
    model = consm.GCNClassifier(epochs=30).fit(graph, world.truth, train_mask=np.arange(40), val_mask=np.arange(40, 60),
                                              test_mask=np.flatnonzero(test))
    held_out = np.where(test, world.truth, -1)
    stored, computed = model.plot_roc(label=1), model.plot_roc(graph, held_out, label=1)
    areas = [float(ax.get_legend().get_texts()[0].get_text().split("area ")[1][:-1]) for ax in (stored, computed)]
    assert abs(areas[1] - model.metrics_["test"]["classes"][1]["roc_auc"]) < 1e-3 and abs(areas[0] - areas[1]) < 0.02
    assert stored.get_title() == "test nodes" and computed.get_title() == "60 nodes"
    assert stored.get_xlim() == (0, 1) and stored.get_ylim() == (0, 1.02)
    ax = model.plot_reliability(graph, held_out)
    assert ax.get_xlim() == (0, 1) and ax.get_ylim() == (0, 1.02)
    assert ax.get_lines()[0].get_linewidth() == 1  # the diagonal
    shown = ax.get_lines()[1].get_xydata()
    assert ((shown >= 0) & (shown <= 1)).all()
    assert sum(int(t.get_text().replace(",", "")) for t in ax.texts) == 60
    trust = model.edge_trust(graph)
    ax = model.plot_trust(graph)
    assert sum(p.get_height() for p in ax.patches) >= len(trust) and "edges" in ax.get_title()
    ax = model.plot_neighbourhood(5, graph, limit=3)
    around = ((trust["source"] == 5) | (trust["target"] == 5)).sum()
    assert len(ax.get_lines()) == 3 and f"{around - 3:,} more not shown" in ax.get_title()
    same = model.plot_trust(graph, ax=ax)
    assert same is ax
    with pytest.raises(ValueError, match="needs labelled nodes of the class"):
        model.plot_roc(graph, np.where(world.truth == 1, 1, -1))
    with pytest.raises(ValueError, match="requires y"):
        model.plot_reliability(graph)


def test_figures_without_matplotlib(world, graph, fitted, monkeypatch):
    import builtins
    real = builtins.__import__

    def without(name, *more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *more)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        fitted.plot_trust(graph)
