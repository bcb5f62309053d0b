"""What is installed: the layout of structs, types, the signature of every function."""
from __future__ import annotations

import ast
import ctypes
import inspect
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import consm
from consm import _lib, _structs


def test_structs_are_those_of_the_recorded_interface(repository):
    recorded = {}
    for line in (repository / "tests/data/abi.txt").read_text().splitlines():
        if line.startswith("struct "):
            name, rest = line[7:].split(" ", 1)
            size, members = rest.split(":", 1)
            recorded[name] = (int(size), [re.match(r"(\w+)@(\d+)\+(\d+)", m).groups() for m in members.split()])
    for name, struct in _structs.NAMES.items():
        size, members = recorded[name]
        # A struct may have grown at its end. The known members must have the same offsets.
        assert ctypes.sizeof(struct) <= size, name
        for (field, place, width), ours in zip(members, struct._fields_):
            found = getattr(struct, ours[0])
            assert (field, int(place), int(width)) == (ours[0], found.offset, found.size), (name, field)


def test_every_function_is_one_of_the_recorded_interface(repository):
    text = (repository / "tests/data/abi.txt").read_text()
    for name, (_, arguments) in _lib._SIGNATURES.items():
        types = re.search(rf"^function {name} .*?{name}\((.*)\)$", text, re.M)
        assert types, name
        expected = 0 if types.group(1) in ("", "void") else types.group(1).count(",") + 1
        assert len(arguments) == expected, name


def test_the_source_is_that_of_python_3_9(repository):
    for path in (repository / "python/consm").glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 9))
        assert "from __future__ import annotations" in path.read_text(), path  # types of later versions stay text


def test_version(repository):
    header = (repository / "include/consm.h").read_text()
    assert consm.__version__ == ".".join(re.findall(r"#define CONSM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def test_signatures_and_help():
    shown = inspect.signature(consm.GATClassifier.__init__).parameters
    assert {"graph", "random_state", "progress", "hidden", "heads"} <= set(shown)
    for name in consm.__all__:
        assert getattr(consm, name).__doc__, name


def test_types(repository):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(repository / "pyproject.toml")],
                          capture_output=True, text=True, cwd=repository)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_but_the_interface_is_exported():
    """Hidden: jansson and zlib inside must not meet those of other packages."""
    if not shutil.which("nm"):
        pytest.skip("needs nm")
    nm = subprocess.run(["nm", "-D", "--defined-only", _lib._path()], capture_output=True, text=True)
    names = [line.split()[-1].split("@")[0] for line in nm.stdout.splitlines()]
    assert names and all(n.startswith(("consm_", "CONSM_")) for n in names), names[:5]


def test_the_library_needs_the_system_only():
    """zlib is inside, unless its archive cannot go into a shared library, as Debian's on x86-64."""
    if not shutil.which("readelf") or "site-packages" not in _lib._path():
        pytest.skip("needs readelf and the installed package")
    readelf = subprocess.run(["readelf", "-d", _lib._path()], capture_output=True, text=True)
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", readelf.stdout))
    inside = Path(_lib._path()).parent.parent / "consm.libs"  # auditwheel puts bundled libraries here
    needed -= {lib.name for lib in inside.glob("*")}
    system = ("libc.", "libm.", "ld-linux", "libpthread.", "libgcc_s.")
    system += ("libz.",) if platform.machine() == "x86_64" else ()
    assert all(n.startswith(system) for n in needed), needed
