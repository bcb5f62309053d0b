"""Behaviour inside the caller's process: the GIL, Ctrl-C, threads, warnings, the import."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import consm


def python(code: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1500, **more)


def test_importing_starts_no_thread():
    """Beyond those that NumPy starts."""
    count = "import os; print(len(os.listdir('/proc/self/task')))"
    numpy_alone, with_consm = python("import numpy; " + count), python("import numpy, consm; " + count)
    assert numpy_alone.stdout == with_consm.stdout, with_consm.stderr


def test_importing_brings_nothing_heavy():
    """What makes an import slow is what it imports: none of the optional packages."""
    found = python("import sys, consm; print([m for m in ('scipy', 'pandas', 'networkx', 'sklearn', 'torch', 'tqdm',"
                   " 'IPython', 'urllib.request', 'inspect') if m in sys.modules and m not in before])".replace(
                       "import sys, consm;", "import sys, numpy; before = set(sys.modules); import consm;"))
    assert found.stdout.strip() == "[]", found


def test_two_fits_run_side_by_side(world, graph):
    """Each waits for the other in its first progress call: that works only if the GIL is released."""
    barrier = threading.Barrier(2, timeout=1500)
    met = []

    def fit(seed):
        from consm import _lib, _run
        seen = []

        class Meeting(_run.Progress):
            def _hear(self, nothing, progress):
                if not seen:
                    seen.append(1)
                    barrier.wait()
                    met.append(seed)
                return super()._hear(nothing, progress)

        progress = Meeting()
        options = _lib.options("gcn", {"epochs": 20, "seed": seed, "threads": 1})
        _lib.lib.consm_options_on_progress(options.pointer, _lib.ctypes.cast(progress.callback, _lib.c_void_p), None)
        data, _ = graph._labelled(world.y, {})
        model = _lib.model()
        _lib.call(_lib.lib.consm_train, _lib.byref(model.pointer), data.pointer, options.pointer)

    threads = [threading.Thread(target=fit, args=(s,)) for s in (0, 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(met) == [0, 1]


def test_threads_give_the_same_bits_as_one_after_another(world, graph):
    alone = [consm.GATClassifier(random_state=s, epochs=15).fit(graph, world.y).predict_proba(graph) for s in (0, 1, 2)]
    together = [None] * 3

    def work(s):
        together[s] = consm.GATClassifier(random_state=s, epochs=15).fit(graph, world.y).predict_proba(graph)
    threads = [threading.Thread(target=work, args=(s,)) for s in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all((a == b).all() for a, b in zip(alone, together))


def test_a_crowd_gets_the_same_answers(world, graph):
    """Two fits of wide layers side by side, then 32 threads that ask one model at once."""
    def fit(seed):
        return consm.GraphClassifier("gcnii", random_state=seed, epochs=6, hidden=160, threads=2).fit(graph, world.y)
    alone = [fit(seed) for seed in (0, 1)]
    expected = [m.predict_proba(graph) for m in alone]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            together = list(pool.map(fit, (0, 1)))
            assert all((m.predict_proba(graph) == p).all() for m, p in zip(together, expected))
    others = [world.graph() for _ in range(32)]  # new graphs: no prediction is cached
    start = threading.Barrier(32, timeout=1500)

    def ask(g):
        start.wait()
        return alone[0].predict_proba(g)
    with ThreadPoolExecutor(32) as pool:
        assert all((p == expected[0]).all() for p in pool.map(ask, others))


INTERRUPTED = """
import os, signal, threading, time, numpy as np, consm
def later():
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)
g = consm.load("csbm:nodes=20000,degree=20,features=64,homophily=0.6")
try:
    threading.Thread(target=later).start()
    consm.GraphClassifier("METHOD", random_state=0, epochs=100000, patience=100000, threads=1).fit(g)
    print("finished")
except KeyboardInterrupt:
    print("stopped")
small = consm.load("karate")
print(len(consm.GCNClassifier(epochs=5, per_class=4).fit(small).predict(small)))
"""


@pytest.mark.parametrize("method", ["gcn", "consm"])
def test_ctrl_c(method):
    """KeyboardInterrupt long before the training would end, and the interpreter goes on working."""
    done = python(INTERRUPTED.replace("METHOD", method))
    assert done.stdout.split("\n")[:2] == ["stopped", "34"], done


UNSTOPPABLE = """
import os, signal, threading
from consm import _run
over = threading.Event()
def deaf():  # Ctrl-C comes when the call is on its way, however slow the machine
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    over.wait(1400)
    return 0
try:
    _run.run(deaf)
except KeyboardInterrupt:
    print("stopped", over.is_set(), _run.PATIENCE < 1)
over.set()
"""


def test_ctrl_c_does_not_wait_for_a_call_that_cannot_stop():
    assert python(UNSTOPPABLE).stdout == "stopped False True\n"


LEFT_BEHIND = """
import gc, os, signal, threading, time, weakref, numpy as np
from consm import _run
over, seen = threading.Event(), []
def deaf(address):
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    over.wait(1400)
    seen.append(np.ctypeslib.as_array((__import__("ctypes").c_double * 3).from_address(address)).sum())
    return 0
class Mine(np.ndarray):
    pass
def call():
    array = np.ones(3).view(Mine)
    kept.append(weakref.ref(array))
    _run.run(deaf, array)
kept = []
try:
    call()
except KeyboardInterrupt:
    pass
gc.collect()
print("held", kept[0]() is not None)
over.set()
while not seen:
    time.sleep(0.01)
print(seen)
"""


def test_what_an_interrupted_call_works_on_is_not_freed_under_it():
    done = python(LEFT_BEHIND)
    assert done.stdout == "held True\n[np.float64(3.0)]\n" or done.stdout == "held True\n[3.0]\n", done


def test_warnings_and_errors_from_warnings(tmp_path):
    """What the library says comes through `warnings`, with the caller's line."""
    from consm import _lib
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        outcome = _lib.Outcome(lambda: (_lib._hear(None, 1, b"beware"), 0)[1], ())
        outcome.settle()
    assert [str(w.message) for w in heard] == ["beware"] and heard[0].category is consm.ConsmWarning
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(consm.ConsmWarning, match="beware"):
            outcome.settle()


def test_progress_through_tqdm(world, graph, capsys):
    pytest.importorskip("tqdm")
    from consm import _run
    bar, p = _run.Bar(True, "gcn on here"), _run.Progress()
    p.epoch, p.epochs, p.loss, p.best_val = 30, 100, 0.5, 0.75
    bar.show(p)
    bar.close()
    said = capsys.readouterr().err
    assert "gcn on here" in said and "30/100" in said and "validation 0.750" in said
    consm.GCNClassifier(progress=True, epochs=5).fit(graph, world.y)
    quiet = capsys.readouterr()
    consm.GCNClassifier(progress=False, epochs=5).fit(graph, world.y)
    assert capsys.readouterr().err == "" and quiet.out == ""


def test_memory_goes_back(world):
    """Graphs, models and predictions that nobody holds are freed."""
    def rss() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    big = np.random.default_rng(0).normal(size=(world.n, 4000))

    def once():
        g = consm.Graph.from_arrays((world.source, world.target), big)
        consm.MLPClassifier(epochs=1, hidden=4).fit(g, world.y).predict(g)
    for _ in range(5):
        once()
    before = rss()
    for _ in range(60):
        once()
    assert rss() - before < 40 * big.nbytes // 4  # 60 graphs, if none were freed, would take more


def test_features_are_not_copied():
    """Dense 32-bit features stay where they are: neither a graph nor a fit asks for as much again."""
    done = python("""
import os, resource, numpy as np, consm
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng, n = np.random.default_rng(0), 20000
x = rng.random((n, 800), np.float32)
edges = rng.integers(0, n, (2, 3 * n))
y = np.where(np.arange(n) < 200, np.arange(n) % 2, -1)
before = peak()
g = consm.Graph.from_arrays(edges, x)
a = consm._structs.Arrays()
consm._lib.call(consm._lib.lib.consm_dataset_arrays, consm._lib.byref(a), g._dataset().pointer)
print(a.feature == x.ctypes.data, (peak() - before) / x.nbytes < 0.2)
p = consm.MLPClassifier(epochs=2, hidden=4, normalize_features="none", threads=1).fit(g, y)
print((peak() - before) / x.nbytes)
held = g.x
del x, g
print(float(held.sum()) > 0)
""")
    lines = done.stdout.split()
    assert lines[:2] == ["True", "True"] and float(lines[2]) < 0.6 and lines[3] == "True", done


def test_signal_handlers_stay(world, graph):
    before = signal.getsignal(signal.SIGINT)
    consm.GCNClassifier(epochs=3).fit(graph, world.y)
    assert signal.getsignal(signal.SIGINT) is before


CHECKPOINT = """
import os, signal, sys, time, consm
from consm import _run
class Interrupted(_run.Progress):
    def _hear(self, nothing, progress):
        if progress.contents.epoch == 3:
            os.kill(os.getpid(), signal.SIGINT)
            while not self.stop:
                time.sleep(0.01)
        return super()._hear(nothing, progress)
_run.Progress = Interrupted
g = consm.load("csbm:nodes=3000,features=50")
consm.GCNClassifier(random_state=1, epochs=20).fit(g, checkpoint=sys.argv[1])
"""


def test_an_interrupted_fit_leaves_its_checkpoint(tmp_path, monkeypatch):
    """The script ends with the interruption, as scripts do; the file is there, whole, and can be resumed."""
    path = tmp_path / "run.checkpoint"
    done = subprocess.run([sys.executable, "-c", CHECKPOINT, str(path)], capture_output=True, text=True, timeout=1500)
    assert done.returncode != 0 and "resume=True" in done.stderr.strip().splitlines()[-1], done
    assert path.exists(), done
    g = consm.load("csbm:nodes=3000,features=50")
    whole = consm.GCNClassifier(random_state=1, epochs=20).fit(g)
    heard = []
    from consm import _run

    class Ear(_run.Progress):
        def _hear(self, nothing, progress):
            heard.append(progress.contents.epoch)
            return super()._hear(nothing, progress)
    monkeypatch.setattr(_run, "Progress", Ear)
    resumed = consm.GCNClassifier(random_state=1, epochs=20).fit(g, checkpoint=path, resume=True)
    assert (resumed.predict_proba(g) == whole.predict_proba(g)).all() and min(heard) >= 3


CHOOSING = CHECKPOINT.replace("progress.contents.epoch == 3", "progress.contents.candidate == 2").replace(
    'g = consm.load("csbm:nodes=3000,features=50")', 'g = consm.load("csbm:nodes=120,features=8")').replace(
    "consm.GCNClassifier(random_state=1, epochs=20)",
    'consm.ConSMClassifier(random_state=1, epochs=30, warmup=8, candidates="few", threads=1)')  # one after the other


def test_an_interrupted_choice_goes_on(tmp_path, monkeypatch):
    """Stopped while ConSM compares backbones: the message has the file, and what was trained stays trained."""
    path = tmp_path / "run.checkpoint"
    done = subprocess.run([sys.executable, "-c", CHOOSING, str(path)], capture_output=True, text=True, timeout=1500)
    assert done.returncode != 0 and str(path) in done.stderr.strip().splitlines()[-1], done
    assert path.exists(), done
    g = consm.load("csbm:nodes=120,features=8")
    model = consm.ConSMClassifier(random_state=1, epochs=30, warmup=8, candidates="few")
    whole = model.fit(g).predict_proba(g)
    heard = []
    from consm import _run

    class Ear(_run.Progress):
        def _hear(self, nothing, progress):
            heard.append((progress.contents.candidate, progress.contents.update))
            return super()._hear(nothing, progress)
    monkeypatch.setattr(_run, "Progress", Ear)
    assert (model.fit(g, checkpoint=path, resume=True).predict_proba(g) == whole).all()
    assert (1, 1) not in heard and (2, 1) not in heard and (2, 2) in heard


EARLY = """
import ctypes, os, signal, threading
from consm import _lib, _run
over, freed = threading.Event(), []
def early(out):  # gives its result before it is whole, as predict with prediction sets once did
    out._obj.value = 17
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    over.wait(1400)
    return 0
def call():
    made = _lib.Handle(lambda pointer: freed.append(pointer.value))
    _run.run(early, _lib.Out(made))
try:
    call()
except KeyboardInterrupt:
    pass
print(freed)
over.set()
for thread in threading.enumerate():
    if thread.name == "consm":
        thread.join()
print(freed)
"""


def test_a_result_is_not_freed_while_an_interrupted_call_works_on_it():
    assert python(EARLY).stdout == "[]\n[17]\n"


def test_some_nodes_have_the_bits_of_all(world, fitted):
    g = world.graph(node_ids=world.ids)
    asked = ["person 7", "person 119", "person 7"]
    some = fitted.predict_proba(g, nodes=asked)  # before the whole graph is predicted and remembered
    labels = fitted.predict(g, nodes=asked)
    whole = fitted.predict_proba(g)
    assert np.array_equal(some, whole[[7, 119, 7]])
    assert np.array_equal(labels, fitted.predict(g)[[7, 119, 7]])
    assert np.array_equal(some, fitted.predict_proba(g, nodes=asked))


def test_a_frame_of_some_nodes(world, fitted):
    pytest.importorskip("pandas")
    g = world.graph(node_ids=world.ids)
    asked = ["person 7", "person 119", "person 7"]
    frame = fitted.predict_frame(g, nodes=asked)  # before the whole graph is predicted and remembered
    assert frame.index.tolist() == asked and np.array_equal(frame["label"], fitted.predict(g)[[7, 119, 7]])


def test_unknown_nodes_are_named(world, fitted):
    g = world.graph(node_ids=world.ids)
    with pytest.raises(consm.ConsmKeyError, match="nobody"):
        fitted.predict(g, nodes=["person 1", "nobody"])
    with pytest.raises(consm.ConsmValueError, match="nodes= needs a Graph"):
        consm.GraphClassifier("mlp", epochs=2).fit(world.x, world.truth).predict(world.x, nodes=[1])


def test_edges_of_a_growing_graph_may_be_an_array(world):
    g = world.graph()
    def grown(edges):
        growing = consm.GrowingGraph(g)
        growing.add_edges(edges)
        return growing
    pairs = [(0, 7), (9, 3), (2, world.n - 1)]
    fitted = consm.GCNClassifier(epochs=2, random_state=0).fit(g, world.y)
    expected = fitted.predict_proba(grown(pairs), nodes=[0, 2, 9])
    assert not np.array_equal(expected, fitted.predict_proba(g, nodes=[0, 2, 9]))
    for other in (np.array(pairs), np.array(pairs, np.int32), iter(pairs), [(str(a), b) for a, b in pairs],
                  [(0, 7), (9, "3"), (2, world.n - 1)]):
        assert np.array_equal(fitted.predict_proba(grown(other), nodes=[0, 2, 9]), expected)
    growing = grown(np.array(pairs))
    growing.remove_edges(np.array(pairs[:2]))
    assert np.array_equal(fitted.predict_proba(growing, nodes=[2]), fitted.predict_proba(grown(pairs[2:]), nodes=[2]))
    for bad in ([(0, world.n)], np.array([(0, -1)]), [(0, 1.5)]):
        with pytest.raises(consm.ConsmKeyError, match='no node'):
            growing.add_edges(bad)


def test_a_growing_graph_answers_as_its_snapshot(world, fitted):
    g = world.graph(node_ids=world.ids)
    growing = consm.GrowingGraph(g)
    assert np.array_equal(fitted.predict_proba(growing, nodes=["person 7"]), fitted.predict_proba(g)[[7]])
    assert growing.add_nodes(world.x[:2] + 1, ids=["new 1", "new 2"]) == world.n
    growing.add_edges([("new 1", "person 3"), ("new 2", "new 1"), ("person 3", "person 90")])
    growing.set_features(["person 3"], world.x[5:6])
    growing.remove_edges([("person 3", "person 90")])
    asked = ["new 1", "person 3", "new 2"]
    now = growing.snapshot()
    assert now.n_nodes == growing.n_nodes == world.n + 2
    assert np.array_equal(fitted.predict_proba(growing, nodes=asked), fitted.predict_proba(now)[now.places(asked)])
    everything = fitted.edge_trust(now)
    mine = everything[np.isin(everything["source"], asked) | np.isin(everything["target"], asked)]
    for graph in (growing, now):
        some = fitted.edge_trust(graph, nodes=asked)
        assert some["source"].tolist() == mine["source"].tolist() and some["trust"].tolist() == mine["trust"].tolist()
        told = fitted.explain("new 1", graph)
        assert told.node == "new 1" and {name for name, _ in told.neighbours} == {"person 3", "new 2"}
        assert told.edges == fitted.explain("new 1", now).edges
    with pytest.raises(consm.ConsmValueError, match="choose nodes with nodes="):
        fitted.edge_trust(growing)
    with pytest.raises(consm.ConsmKeyError, match="nobody"):
        growing.add_edges([("new 1", "nobody")])
    with pytest.raises(consm.ConsmValueError, match="4, as"):
        growing.add_nodes([[1.0, 2.0]], ids=["new 3"])
    with pytest.raises(consm.ConsmValueError, match="choose nodes with nodes="):
        fitted.predict(growing)
    assert growing.n_nodes == world.n + 2


def test_no_bar_before_anything_is_known():
    pytest.importorskip("tqdm")
    from consm import _run
    bar, p = _run.Bar(True, "consm on here"), _run.Progress()
    bar.show(p)
    assert bar._bar is None
    p.share, p.choosing = 0.25, True
    bar.show(p)
    assert (bar._bar.n, bar._bar.total) == (25, 100)
    p.epochs, p.epoch, p.choosing = 40, 3, False
    bar.show(p)
    assert (bar._bar.n, bar._bar.total) == (3, 40)
    bar.close()
