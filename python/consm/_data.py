"""Datasets by name or path, and downloads.

The packaged library has no curl, so Python downloads. A file arrives as NAME.part, must have the registered
SHA-256, and only then gets its name. The command finds it there, too.
"""
from __future__ import annotations

import os
from ctypes import byref, c_int32
from typing import TYPE_CHECKING, Iterable, Optional

from . import _lib, _run, _structs
from ._errors import ConsmFormatError, ConsmOSError
from ._graph import Graph

if TYPE_CHECKING:
    from ._model import GraphClassifier
    from ._types import Duplicates, Path, UnknownNodes


def load(name_or_path: Path, *, data_dir: Optional[Path] = None, format: Optional[str] = None,
         labels: Optional[Path] = None, features: Optional[Path] = None, id_column: Optional[str] = None,
         label_column: Optional[str] = None, weight_column: Optional[str] = None,
         source_column: Optional[str] = None, target_column: Optional[str] = None,
         duplicates: Optional[Duplicates] = None, unknown_nodes: Optional[UnknownNodes] = None,
         ignore: Iterable[str] = (), model: Optional[GraphClassifier] = None) -> Graph:
    """Opens a dataset by name or path, as the command does.

    Parameters
    ----------
    name_or_path : str or path
        A name ("karate", "cora", "csbm:nodes=500,homophily=0.2"), or a path to a folder, CSV, npz,
        safetensors, GraphML, …
    data_dir : path, optional
        Folder that is searched first for files of known sets.
    format : str, optional
        The format of a path; by default it is recognised by content.
    labels, features : path, optional
        Files of labels and features, for an edge list or a graph file (GraphML, GML, …).
    id_column, label_column, weight_column : str, optional
        Names of columns in a path's tables; by default their usual names.
    source_column, target_column : str, optional
        Columns of an edge list that hold the two ends of an edge.
    duplicates : {"mean", "keep-first", "error"}, optional
        What to do with a pair of nodes that is listed with different weights; by default take the mean.
    unknown_nodes : {"error", "drop", "add"}, optional
        What to do with an edge to a node that no table lists; by default it is an error.
    ignore : iterable of str
        Columns to ignore.
    model : fitted estimator, optional
        Arguments that are not given take the value that was used for the model's training data.

    Returns
    -------
    Graph

    Examples
    --------
    >>> import consm
    >>> consm.load("karate")
    <Graph 'karate': 34 nodes, 78 edges, 34 features, labels>
    """
    how = _structs.OpenOptions()
    how.data_dir = None if data_dir is None else _lib.path_of(data_dir, "data_dir")
    how.format = None if format is None else _lib.encode(format, "format")
    how.labels = None if labels is None else _lib.path_of(labels, "labels")
    how.features = None if features is None else _lib.path_of(features, "features")
    for name, value in (("id_column", id_column), ("label_column", label_column), ("weight_column", weight_column),
                        ("source_column", source_column), ("target_column", target_column),
                        ("duplicates", duplicates), ("unknown_nodes", unknown_nodes)):
        setattr(how, name, None if value is None else _lib.encode(value, name))
    left_out = [ignore] if isinstance(ignore, str) else list(ignore)
    how.ignore = _lib.encode(",".join(left_out), "ignore") if left_out else None
    trained = None if model is None else model._fitted()
    how.model = None if trained is None else trained.pointer
    made = _lib.dataset()
    made.needs = trained  # while it is read
    _run.run(_lib.lib.consm_dataset_open_with, _lib.Out(made), _lib.path_of(name_or_path, "name_or_path"),
             byref(how))
    made.needs = None
    return Graph._from_handle(made)


def datasets() -> dict[str, dict[str, str]]:
    """Lists the public sets that are known by name.

    Returns
    -------
    dict
        By name: about, citation, licence.

    Examples
    --------
    >>> import consm
    >>> sorted(consm.datasets()["cora"])
    ['about', 'citation', 'licence']
    """
    found: dict[str, dict[str, str]] = {}
    row = _structs.KnownSet()
    while _lib.lib.consm_known_set_get(byref(row), c_int32(len(found))) == 0:
        found[_lib.decode(row.name)] = {k: _lib.decode(getattr(row, k)) for k in ("about", "citation", "licence")}
        row = _structs.KnownSet()
    return found


def cache_folder() -> str:
    """Returns the folder where fetch() stores files and load() finds them."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "consm")


def _files(name: str) -> list[dict[str, Optional[str]]]:
    first = _structs.KnownFile()
    _lib.call(_lib.lib.consm_known_file_get, byref(first), _lib.encode(name, "name"), 0)
    found: list[dict[str, Optional[str]]] = []
    row = _structs.KnownFile()
    while _lib.lib.consm_known_file_get(byref(row), name.encode(), c_int32(len(found))) == 0:
        found.append({"path": _lib.decode(row.path), "base": _lib.decode(row.base), "url": _lib.decode(row.url),
                      "sha256": None if row.sha256 is None else _lib.decode(row.sha256)})
        row = _structs.KnownFile()
    return found


def _hash(path: str) -> str:
    import hashlib
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _expected(target: str, sha256: Optional[str]) -> Optional[str]:
    """The registered hash, or the one an earlier download recorded beside the file."""
    if sha256 is None and os.path.exists(target + ".sha256"):
        with open(target + ".sha256", encoding="utf-8") as file:
            return file.read(64)
    return sha256


def _bring(url: str, target: str, sha256: Optional[str]) -> None:
    import shutil
    from urllib.error import URLError
    from urllib.request import urlopen
    part = target + ".part"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        with urlopen(url, timeout=30) as source, open(part, "wb") as file:
            length = source.headers.get("Content-Length")
            shutil.copyfileobj(source, file)
    except (URLError, OSError) as fault:
        raise ConsmOSError(f"{url}: {fault}") from None
    if length is not None and os.path.getsize(part) != int(length):
        raise ConsmOSError(f"{url}: {os.path.getsize(part)} bytes received, expected {length}")
    found = _hash(part)
    if sha256 is not None and found != sha256:
        os.unlink(part)
        raise ConsmFormatError(f"{url}: its SHA-256 is {found}, expected {sha256}")
    os.replace(part, target)


def fetch(name: str, *, data_dir: Optional[Path] = None, mirror: Optional[str] = None) -> Graph:
    """Downloads a public set if it is missing, checks it, and opens it.

    Parameters
    ----------
    name : str
        One of datasets().
    data_dir : path, optional
        Folder for the files; by default the user's cache.
    mirror : str, optional
        The URL of another server, with the layout of a data folder: URL/planetoid/ind.cora.x.

    Returns
    -------
    Graph
    """
    folder = os.fspath(data_dir) if data_dir is not None else cache_folder()
    for file in _files(name):
        path = str(file["path"])
        target = os.path.join(folder, path)
        expected = _expected(target, file["sha256"])
        if os.path.exists(target) and (expected is None or _hash(target) == expected):
            continue
        url = f"{mirror.rstrip('/')}/{path}" if mirror else f"{str(file['base']).rstrip('/')}/{file['url']}"
        _bring(url, target, expected)
        if expected is None:
            with open(target + ".sha256", "w", encoding="utf-8") as record:
                record.write(f"{_hash(target)}  {os.path.basename(target)}\n")
    return load(name, data_dir=folder)


