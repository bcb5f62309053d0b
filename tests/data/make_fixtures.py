#!/usr/bin/env python3
"""Writes the small pickles of tests/data/pickle and the seeds of the fuzz targets.

It needs only Python's standard library: classes with NumPy's and SciPy's names reduce themselves the
way the real ones do, so that the pickles of all protocols are what those libraries write.

    python3 tests/data/make_fixtures.py
"""
import collections
import io
import os
import pickle
import struct
import sys
import types
import zipfile
import zlib

here = os.path.dirname(os.path.abspath(__file__))
corpus = os.path.join(here, "..", "fuzz", "corpus")


def module(name, **members):
    made = types.ModuleType(name)
    for key, value in members.items():
        value.__module__ = name
        setattr(made, key, value)
    sys.modules[name] = made
    return made


class dtype:
    def __init__(self, name, order):
        self.name, self.order = name, order

    def __reduce__(self):
        state = (3, self.order, None, None, None, -1, -1, 0)
        return dtype, (self.name, False, True), state


class ndarray:
    def __init__(self, kind, shape, raw, fortran=False):
        self.kind, self.shape, self.raw, self.fortran = kind, shape, raw, fortran

    def __reduce_ex__(self, protocol):
        if protocol == 5:
            order = "F" if self.fortran else "C"
            return _frombuffer, (pickle.PickleBuffer(bytearray(self.raw)), self.kind, self.shape, order)
        return _reconstruct, (ndarray, (0,), b"b"), (1, self.shape, self.kind, self.fortran, self.raw)


class scalar_value:
    def __init__(self, kind, raw):
        self.kind, self.raw = kind, raw

    def __reduce__(self):
        return scalar, (self.kind, self.raw)


class csr_matrix:
    pass


def _reconstruct():
    pass


def _frombuffer():
    pass


def scalar():
    pass


module("numpy", ndarray=ndarray, dtype=dtype)
module("numpy.core")
module("numpy.core.multiarray", _reconstruct=_reconstruct, scalar=scalar)
module("numpy.core.numeric", _frombuffer=_frombuffer)
module("scipy")
module("scipy.sparse")
module("scipy.sparse.csr", csr_matrix=csr_matrix)


def array(code, order, values, shape=None, fortran=False):
    letter = {"i4": "i", "i8": "q", "f4": "f", "f8": "d", "u1": "B"}[code]
    raw = struct.pack(order.replace("|", "<") + str(len(values)) + letter, *values)
    return ndarray(dtype(code, order), shape or (len(values),), raw, fortran)


def matrix():
    """[[0, 2, 0], [0, 0, 0], [1.5, 0, -1], [0, 4, 0]]"""
    m = csr_matrix()
    m._shape = (4, 3)
    m.maxprint = 50
    m.indices = array("i4", "<", [1, 0, 2, 1])
    m.indptr = array("i4", "<", [0, 1, 1, 3, 4])
    m.data = array("f8", "<", [2.0, 1.5, -1.0, 4.0])
    m._has_sorted_indices = True
    return m


def graph():
    g = collections.defaultdict(list)
    g[0] = [1, 2, 2]
    g[1] = [0]
    g[2] = [0, 300, -1, 70000]
    g[3] = [3, scalar_value(dtype("i8", "<"), struct.pack("<q", 12345678901))]
    g[4] = []
    return g


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def npy(descr, shape, raw, fortran=False, version=1):
    text = "{'descr': %r, 'fortran_order': %r, 'shape': %r, }" % (descr, fortran, shape)
    fixed = 10 if version == 1 else 12
    text += " " * (-(len(text) + fixed + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + raw


def npz(members, compression):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as z:
        for name, data in members.items():
            info = zipfile.ZipInfo(name + ".npy")
            info.compress_type = compression
            with z.open(info, "w", force_zip64=True) as f:
                f.write(data)
    return out.getvalue()


def pack(letter, values):
    return struct.pack("<%d%s" % (len(values), letter), *values)


def yandex():
    return {
        "node_features": npy("<f4", (4, 3), pack("f", [0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0])),
        "node_labels": npy("<i8", (4,), pack("q", [0, 1, 1, -1])),
        "edges": npy("<i8", (3, 2), pack("q", [0, 1, 1, 2, 2, 3])),
        "train_masks": npy("|b1", (2, 4), bytes([1, 0, 0, 1, 0, 0, 0, 0]), fortran=True),
        "val_masks": npy("|b1", (2, 4), bytes([0, 1, 1, 0, 0, 0, 0, 0]), fortran=True),
        "test_masks": npy("|b1", (2, 4), bytes([0, 0, 0, 0, 1, 1, 1, 0]), fortran=True),
    }


def extras():
    more = yandex()
    more["node_ids"] = npy("<U2", (4,), "a\0b\0c\0de".encode("utf-32-le"))
    more["class_names"] = npy("|S3", (3,), b"redtanx\0\0")
    more["feature_names_ends"] = npy("<i8", (3,), pack("q", [1, 2, 3]))
    more["feature_names_utf8"] = npy("|u1", (3,), b"xyz")
    more["edge_weights"] = npy(">f2", (3,), struct.pack(">3e", 1, 0.5, 2))
    more["directed"] = npy("|b1", (), b"\1")
    more["num_classes"] = npy("<i4", (), pack("i", [3]))
    return more


def scipy():
    return {
        "adj_data": npy("<f4", (4,), pack("f", [1, 1, 1, 2])),
        "adj_indices": npy("<i4", (4,), pack("i", [1, 0, 2, 1])),
        "adj_indptr": npy("<i4", (4,), pack("i", [0, 1, 3, 4])),
        "adj_shape": npy("<i8", (2,), pack("q", [3, 3])),
        "attr_data": npy("<f8", (3,), pack("d", [1, 2, 3])),
        "attr_indices": npy("<i4", (3,), pack("i", [4, 0, 4])),
        "attr_indptr": npy("<i4", (4,), pack("i", [0, 1, 3, 3])),
        "attr_shape": npy("<i8", (2,), pack("q", [3, 5])),
        "labels": npy("|u1", (3,), bytes([0, 1, 0])),
    }


def csr(cols, rows):
    """A matrix from rows of {column: value}."""
    m = csr_matrix()
    m._shape = (len(rows), cols)
    starts, columns, values = [0], [], []
    for row in rows:
        columns += sorted(row)
        values += [row[c] for c in sorted(row)]
        starts.append(len(columns))
    m.indptr = array("i4", "<", starts)
    m.indices = array("i4", "<", columns)
    m.data = array("f4", "<", values)
    return m


def planetoid():
    """Six nodes, 0 to 2 in allx; node 4 is missing in test.index, as some are in Citeseer."""
    known = [{0: 1.0}, {1: 1.0, 3: 1.0}, {}]
    graph = collections.defaultdict(list, {0: [1, 2, 1], 1: [0], 2: [0, 2, 5], 5: [2], 3: [], 4: []})
    things = [csr(4, known[:2]), csr(4, [{2: 5.0}, {0: 3.0}]), csr(4, known),
              array("i4", "<", [1, 0, 0, 1], (2, 2)), array("i4", "<", [0, 1, 1, 0], (2, 2)),
              array("i4", "<", [1, 0, 0, 1, 0, 1], (3, 2)), graph]
    return [pickle.dumps(thing, 2) for thing in things] + [b"5\n3\n"]


def raw_deflate(data, level, strategy):
    z = zlib.compressobj(level, zlib.DEFLATED, -15, 8, strategy)
    return z.compress(data) + z.flush()


def main():
    files = planetoid()
    write(os.path.join(corpus, "planetoid", "small"),
          b"".join(struct.pack("<I", len(f)) + f for f in files))
    text = b"the cat sat on the mat " * 20 + bytes(range(256)) + bytes(1000)
    for strategy in range(5):
        write(os.path.join(corpus, "inflate", "strategy%d" % strategy), raw_deflate(text, 9, strategy))
    write(os.path.join(corpus, "inflate", "stored"), raw_deflate(text, 0, 0))
    things = {"csr": matrix(), "graph": graph(),
              "array": array("i4", ">", [1, 0, 0, 0, 1, 1], (3, 2), fortran=True)}
    for name, thing in things.items():
        for protocol in range(6):
            data = pickle.dumps(thing, protocol)
            write(os.path.join(here, "pickle", "%s.%d" % (name, protocol)), data)
            write(os.path.join(corpus, "pickle", "%s.%d" % (name, protocol)), data)
    for name, members in {"yandex": yandex(), "extras": extras(), "scipy": scipy()}.items():
        write(os.path.join(corpus, "zip_npz", name + ".stored"), npz(members, zipfile.ZIP_STORED))
        write(os.path.join(corpus, "zip_npz", name + ".deflated"), npz(members, zipfile.ZIP_DEFLATED))
        for key, data in members.items():
            write(os.path.join(corpus, "npy", name + "." + key), data)
    for version in (2, 3):
        write(os.path.join(corpus, "npy", "version%d" % version),
              npy("<u2", (3,), pack("H", [1, 2, 3]), version=version))


main()
