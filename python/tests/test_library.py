"""Where the package searches for its library."""
import os

import pytest

from consm import _lib


@pytest.mark.parametrize("platform, inside, system", [("linux", "libconsm.so", "libconsm.so.0"),
                                                      ("darwin", "libconsm.dylib", "libconsm.0.dylib")])
def test_path(monkeypatch: pytest.MonkeyPatch, platform: str, inside: str, system: str) -> None:
    beside = os.path.join(os.path.dirname(_lib.__file__), inside)
    monkeypatch.setattr(_lib.sys, "platform", platform)
    monkeypatch.delenv("CONSM_LIBRARY", raising=False)
    monkeypatch.setattr(_lib.os.path, "exists", lambda path: path == beside)
    assert _lib._path() == beside
    monkeypatch.setattr(_lib.os.path, "exists", lambda path: False)
    assert _lib._path() == system  # the one that a system's package installed
    monkeypatch.setenv("CONSM_LIBRARY", "/elsewhere/libconsm.so")
    assert _lib._path() == "/elsewhere/libconsm.so"
