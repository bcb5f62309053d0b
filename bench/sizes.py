#!/usr/bin/env python3
"""Size and start of consm, LightGBM, scikit-learn and PyTorch Geometric, as a table in Markdown.

pip installs each package into a virtual environment of its own in FOLDER; existing ones are used again. Sizes: the
wheel's file, and the growth of the environment (the package with all its dependencies). Start: the processor time of
`import`, the shortest of several runs, minus that of a Python that imports nothing. Processor time differs little on a
busy machine. Below the table: the sizes of the library and the command, the start of the command, and the libraries that
the dynamic linker loads for libconsm.so.

usage: python3 bench/sizes.py FOLDER BUILD-FOLDER WHEEL     e.g. ../sizes build/release build/wheels/consm-….whl
"""
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

RUNS = 9
OTHERS = [("LightGBM", ["lightgbm"], "lightgbm"), ("scikit-learn", ["scikit-learn"], "sklearn.ensemble"),
          ("PyTorch Geometric", ["torch", "torch_geometric"], "torch_geometric.nn")]


def quiet(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def grown(folder):
    """Bytes of all files below a folder; compiled bytecode is left out, which pip may or may not write."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


def processor_seconds(*command):
    """The least processor time of several runs of a command."""
    least = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        quiet(*command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return least


def environment(folder, name, packages):
    """A virtual environment with the packages, and its size before them."""
    there = folder / name
    python = there / "bin" / "python"
    if not (there / "ready").exists():
        quiet(sys.executable, "-m", "venv", str(there))
        empty = grown(there)
        quiet(str(python), "-m", "pip", "-q", "--disable-pip-version-check", "install", *packages)
        (there / "ready").write_text(str(empty))
    return str(python), grown(there) - int((there / "ready").read_text())


def wheel_bytes(folder, name, packages):
    """The size of the packages' own wheels, as the index has them for this machine."""
    there = folder / (name + "-wheels")
    if not there.exists():
        quiet(sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "download", "--no-deps", "--only-binary=:all:",
              "-d", str(there), *packages)
    return sum(file.stat().st_size for file in there.iterdir())


def version(python, package):
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def row(folder, title, packages, module, wheel):
    key = title.split()[0].lower()
    python, installed = environment(folder, key, packages)
    start = processor_seconds(python, "-c", f"import {module}") - processor_seconds(python, "-c", "pass")
    named = f"{title} {version(python, 'consm' if title == 'consm' else packages[-1])}"
    print(f"| {named} | {wheel / 1e6:.1f} MB | {installed / 1e6:.0f} MB | {start:.2f} s |", flush=True)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.rstrip().splitlines()[-1])
    folder, build, wheel = (Path(word).resolve() for word in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    print("| package | wheel | installed, with what it needs | import, processor time |\n|---|---|---|---|")
    row(folder, "consm", [str(wheel)], "consm", wheel.stat().st_size)
    for title, packages, module in OTHERS:
        row(folder, title, packages, module, wheel_bytes(folder, title.split()[0].lower(), packages))
    command, library = build / "consm", (build / "libconsm.so").resolve()
    for file in command, library:
        print(f"\n{file.name}: {os.path.getsize(file) / 1e6:.1f} MB", end="")
    print(f"\nconsm --version: {processor_seconds(str(command), '--version') * 1000:.0f} ms of processor time")
    needs = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    print("libconsm.so loads:", ", ".join(re.findall(r"^\t(?:/\S*/)?(\S+?\.so\S*)", needs, re.M)))


main()
