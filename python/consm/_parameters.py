"""The library's table of methods and parameters, for Python."""
from __future__ import annotations

import functools
from ctypes import byref, c_int32
from typing import Any, NamedTuple, Optional

from . import _lib, _structs
from ._errors import ConsmKeyError

OURS = ("seed",)  # called random_state here


class Parameter(NamedTuple):
    """One row of the table."""
    name: str
    help: str
    kind: str
    default: str
    least: float
    most: float
    choices: list[str]
    own: bool


class Method(NamedTuple):
    """A method that can be trained."""
    name: str
    title: str
    paper: str
    weighs: bool


_KINDS = ("integer", "real", "real or auto", "word", "text")


@functools.lru_cache(maxsize=None)
def methods() -> dict[str, Method]:
    """Lists the methods by name: title, paper, and whether edge weights count.

    Examples
    --------
    >>> import consm
    >>> consm.methods()["gcn"].title
    'Graph convolutional network'
    """
    found: dict[str, Method] = {}
    row = _structs.Method()
    while _lib.lib.consm_method_get(byref(row), c_int32(len(found))) == 0:
        name = _lib.decode(row.name)
        found[name] = Method(name, _lib.decode(row.title), _lib.decode(row.paper), bool(row.weighs))
        row = _structs.Method()
    return found


@functools.lru_cache(maxsize=None)
def parameters(method: str) -> dict[str, Parameter]:
    """Lists the parameters of a method by their Python names, with help, default and range.

    Examples
    --------
    >>> import consm
    >>> consm.parameters("gcn")["hidden"].kind
    'integer'
    """
    if method not in methods():
        _lib.call(_lib.lib.consm_options_new, byref(_lib.Handle(_lib.lib.consm_options_free).pointer),
                  _lib.encode(method, "the method"))  # says which one was meant
    found: dict[str, Parameter] = {}
    index, row = 0, _structs.Parameter()
    while _lib.lib.consm_parameter_get(byref(row), method.encode(), c_int32(index)) == 0:
        name = _lib.decode(row.name)
        choices: list[str] = []
        while row.choices and row.choices[len(choices)]:
            choices.append(_lib.decode(row.choices[len(choices)]))
        if name not in OURS:
            found[_lib.KEYWORDS.get(name, name)] = Parameter(
                name, _lib.decode(row.help), _KINDS[row.kind] if row.kind < len(_KINDS) else "text",
                _lib.decode(row.value), row.min, row.max, choices, bool(row.own))
        index, row = index + 1, _structs.Parameter()
    return found


@functools.lru_cache(maxsize=None)
def _owners() -> dict[str, set[str]]:
    """Which methods a parameter belongs to, for those that belong to some."""
    found: dict[str, set[str]] = {}
    for method in methods():
        for name, p in parameters(method).items():
            if p.own:
                found.setdefault(name, set()).add(method)
    return found


def unused(method: str, given: dict[str, Any]) -> dict[str, set[str]]:
    """The given parameters that the method does not read, each with the methods that read it. ConSM reads those
    of its backbone, or, if it chooses the backbone, those of every candidate."""
    readers = {method}
    if method == "consm":
        backbone = given.get("backbone") or "auto"
        choices = parameters(method)["backbone"].choices
        readers |= set(choices) if backbone == "auto" else {str(backbone)}
    return {name: of for name, value in given.items()
            if value is not None and (of := _owners().get(name)) and not readers & of}


def unknown(method: str, name: str) -> str:
    """The error message for an unknown parameter, with the nearest name."""
    made = _lib.options(method, {})
    try:
        _lib.call(_lib.lib.consm_options_set, made.pointer, _lib.encode(name, "a parameter"), b"")
    except ConsmKeyError as fault:
        return str(fault)
    except Exception:
        pass
    return f"unknown parameter {name}"


def documentation(method: str, title: Optional[str] = None) -> str:
    """The docstring of a method's class."""
    about = methods()[method]
    lines = [title or f"{about.title} ({about.paper}).", "",
             "graph, random_state and progress are as in GraphClassifier. A parameter that is None has the",
             "library's default, given in brackets.", ""]
    for name, p in parameters(method).items():
        lines.append(f"{name}: {p.help} [{p.default or 'chosen from the data'}]")
    return "\n".join(lines)


def value_of(text: str) -> Any:
    """A parameter's text as a number where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
