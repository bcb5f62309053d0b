"""Runs the code of the manual and the notebooks as written."""
from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest


def blocks(repository, page):
    return re.findall(r"^```python\n(.*?)^```$", (repository / page).read_text(), re.S | re.M)


def test_the_pages_code_runs_as_it_stands(repository, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    code = blocks(repository, "docs/how-to/python.md")
    assert len(code) == 3
    for one in code:
        done = subprocess.run([sys.executable, "-c", one], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, one + done.stderr
    assert "<html" in (tmp_path / "out/report.html").read_text()
    assert (tmp_path / "out/model.safetensors").stat().st_size > 1000


def test_the_first_page(repository):
    """README's lines, with tables in front of them."""
    pd = pytest.importorskip("pandas")
    lines = blocks(repository, "README.md")[0]
    names = [f"n{i}" for i in range(30)]
    edges = pd.DataFrame({"src": names, "dst": [names[(i + 2) % 30] for i in range(30)]})
    nodes = pd.DataFrame({"v": [float(i % 2) for i in range(30)]}, index=names)
    y = pd.Series([i % 2 if i < 16 else None for i in range(30)], index=names)
    scope = {"edges": edges, "nodes": nodes, "y": y}
    exec(lines, scope)
    assert (scope["model"].predict(scope["g"]) == [i % 2 for i in range(30)]).all()


@pytest.mark.parametrize("name", ["fraud", "heterophily"])
def test_notebooks(repository, name, tmp_path):
    pytest.importorskip("ipykernel")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    path = repository / f"examples/notebooks/{name}.ipynb"
    assert all(not c.get("outputs") for c in json.loads(path.read_text())["cells"])  # made anew, never stored
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=1500, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = json.dumps(book)
    assert "text/html" in shown and "accuracy" in shown


MODULES = ("consm", "consm._answers", "consm._data", "consm._figures", "consm._graph", "consm._kept", "consm._model",
           "consm._parameters", "consm._rare", "consm._trust", "consm.ot")


def test_examples_in_docstrings(monkeypatch):
    """As doctest runs them, with warnings as errors."""
    import doctest
    import importlib
    import warnings
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    tried = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in MODULES:
            found = doctest.testmod(importlib.import_module(name), verbose=False)
            assert found.failed == 0, name
            tried += found.attempted
    assert tried > 90


def test_the_reference_has_every_method(repository):
    """scripts/api-python makes it from the sources."""
    import consm
    made = subprocess.run([sys.executable, str(repository / "scripts/api-python")], capture_output=True, text=True, check=True)
    for kind in (consm.GraphClassifier, consm.Graph):
        for name in dir(kind):
            if not name.startswith("_") and callable(getattr(kind, name)):
                assert re.search(rf"^### \w+\.{name}$", made.stdout, re.M), name


def test_public_functions_are_documented_and_typed(repository):
    """Every public function says what it does, and no argument of it is just Any."""
    import ast
    checked = 0
    for name in ("_answers", "_data", "_figures", "_graph", "_kept", "_model", "_trust", "ot"):
        tree = ast.parse((repository / f"python/consm/{name}.py").read_text())
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            assert ast.get_docstring(node), (name, node.name)
            for argument in node.args.args + node.args.kwonlyargs:
                kind = "" if argument.annotation is None else ast.unparse(argument.annotation)
                assert argument.arg in ("self", "cls") or kind, (name, node.name, argument.arg)
                assert kind != "Any", (name, node.name, argument.arg)
                checked += 1
    assert checked > 100
