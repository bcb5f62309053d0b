"""Finds and calls the C library. Its errors become exceptions, its messages become warnings.

ctypes releases the GIL during a call. Messages are collected per thread and passed to `warnings` and `logging`
after the call, so that a filter that turns warnings into errors cannot unwind through C.
"""
from __future__ import annotations

import ctypes
import functools
import logging
import os
import re
import sys
import threading
import warnings
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int32, c_int64, c_uint64, c_void_p
from typing import Any, Callable, Optional

import numpy as np

from . import _structs as s
from ._errors import BY_CODE, ConsmError, ConsmValueError, ConsmWarning

_log = logging.getLogger("consm")
CANCELLED = -8


def _path() -> str:
    """The library of CONSM_LIBRARY, else the one in the package, else the system's."""
    inside, system = ("libconsm.dylib", "libconsm.0.dylib") if sys.platform == "darwin" else ("libconsm.so", "libconsm.so.0")
    beside = os.path.join(os.path.dirname(__file__), inside)
    return os.environ.get("CONSM_LIBRARY") or (beside if os.path.exists(beside) else system)


def _open() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(_path())
    except OSError as fault:
        raise ImportError(f"cannot load consm's library: {fault}. To build the package, run "
                          "`pip install .` in its source folder") from fault


lib = _open()

_P, _PP = c_void_p, POINTER(c_void_p)
_TEXT = c_char_p
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "consm_version": (_TEXT, []),
    "consm_errmsg": (_TEXT, []),
    "consm_set_log": (None, [_P, _P]),
    "consm_alloc_count": (c_uint64, []),
    "consm_dataset_open_with": (c_int, [_PP, _TEXT, POINTER(s.OpenOptions)]),
    "consm_dataset_from_arrays": (c_int, [_PP, POINTER(s.Arrays)]),
    "consm_dataset_free": (None, [_P]),
    "consm_dataset_arrays": (c_int, [POINTER(s.Arrays), _P]),
    "consm_dataset_roles": (_P, [_P, c_int64]),
    "consm_dataset_with_labels": (c_int, [_PP, _P, POINTER(s.Labels)]),
    "consm_dataset_info": (c_int, [POINTER(s.DatasetInfo), _P]),
    "consm_known_set_get": (c_int, [POINTER(s.KnownSet), c_int32]),
    "consm_known_file_get": (c_int, [POINTER(s.KnownFile), _TEXT, c_int32]),
    "consm_node_id": (_TEXT, [_P, c_int64, _P]),
    "consm_class_name": (_TEXT, [_P, c_int32, _P]),
    "consm_dataset_labels": (_P, [_P]),
    "consm_method_get": (c_int, [POINTER(s.Method), c_int32]),
    "consm_parameter_get": (c_int, [POINTER(s.Parameter), _TEXT, c_int32]),
    "consm_options_new": (c_int, [_PP, _TEXT]),
    "consm_options_free": (None, [_P]),
    "consm_options_set": (c_int, [_P, _TEXT, _TEXT]),
    "consm_options_get": (_TEXT, [_P, _TEXT, _P]),
    "consm_options_checkpoint": (c_int, [_P, _TEXT, c_int64, c_bool]),
    "consm_options_on_progress": (None, [_P, _P, _P]),
    "consm_train": (c_int, [_PP, _P, _P]),
    "consm_model_free": (None, [_P]),
    "consm_model_info": (c_int, [POINTER(s.ModelInfo), _P]),
    "consm_model_parameter": (_TEXT, [_P, _TEXT, _P]),
    "consm_model_candidate": (c_int, [POINTER(s.Candidate), _P, c_int32]),
    "consm_model_epoch": (c_int, [POINTER(s.Epoch), _P, c_int64]),
    "consm_model_class": (_TEXT, [_P, c_int32, _P]),
    "consm_model_feature": (_TEXT, [_P, c_int64, _P]),
    "consm_model_metrics": (POINTER(s.Metrics), [_P, c_int]),
    "consm_metrics_class": (POINTER(s.ClassMetrics), [POINTER(s.Metrics), c_int32]),
    "consm_metrics_confusion": (None, [_P, POINTER(s.Metrics)]),
    "consm_model_save": (c_int, [_P, _TEXT]),
    "consm_model_load": (c_int, [_PP, _TEXT]),
    "consm_predict_on": (c_int, [POINTER(POINTER(s.Prediction)), _P, _P, c_char_p, c_int]),
    "consm_predictor_new": (c_int, [_PP, _P, _P, c_int]),
    "consm_predictor_nodes": (c_int, [POINTER(POINTER(s.Prediction)), _P, _P, c_int64]),
    "consm_predictor_free": (None, [_P]),
    "consm_predictor_edges": (c_int, [POINTER(POINTER(s.EdgeScores)), _P, _P, c_int64]),
    "consm_predictor_explain": (c_int, [POINTER(POINTER(s.ExplanationStruct)), _P, c_int64,
                                        POINTER(s.ExplainOptions)]),
    "consm_graph_id": (c_int, [c_char_p, ctypes.c_size_t, _P, c_int64]),
    "consm_predictor_new_on": (c_int, [_PP, _P, _P, c_int]),
    "consm_graph_new": (c_int, [_PP, _P]),
    "consm_graph_free": (None, [_P]),
    "consm_graph_nodes": (c_int64, [_P]),
    "consm_graph_find": (c_int, [_P, _P, POINTER(_TEXT), c_int64]),
    "consm_graph_add_nodes": (c_int, [_P, POINTER(s.Arrays), POINTER(c_int64)]),
    "consm_graph_add_edges": (c_int, [_P, _P, _P, _P, c_int64]),
    "consm_graph_remove_edges": (c_int, [_P, _P, _P, c_int64]),
    "consm_graph_set_features": (c_int, [_P, _P, POINTER(s.Arrays)]),
    "consm_graph_dataset": (c_int, [_PP, _P]),
    "consm_embed": (c_int, [POINTER(POINTER(s.Embedding)), _P, _P, c_char_p, c_int]),
    "consm_embedding_free": (None, [POINTER(s.Embedding)]),
    "consm_metrics_curve": (c_int64, [POINTER(POINTER(s.CurvePoint)), POINTER(s.Metrics), c_int32]),
    "consm_prediction_free": (None, [POINTER(s.Prediction)]),
    "consm_score_edges_on": (c_int, [POINTER(POINTER(s.EdgeScores)), _P, _P, c_char_p, c_int]),
    "consm_edge_scores_free": (None, [POINTER(s.EdgeScores)]),
    "consm_suggest_edges": (c_int, [POINTER(POINTER(s.EdgeScores)), _P, _P, c_int64, c_char_p, c_int]),
    "consm_clean_choose": (c_int, [_P, POINTER(s.EdgeScores), POINTER(s.CleanOptions)]),
    "consm_dataset_clean": (c_int, [_PP, _P, POINTER(s.EdgeScores), _P, POINTER(s.EdgeScores)]),
    "consm_dataset_save": (c_int, [_P, _TEXT, _TEXT]),
    "consm_explain": (c_int, [POINTER(POINTER(s.ExplanationStruct)), _P, _P, c_int64,
                              POINTER(s.ExplainOptions)]),
    "consm_explanation_free": (None, [POINTER(s.ExplanationStruct)]),
    "consm_report_write": (c_int, [_TEXT, _P, _P, _P]),
    "consm_ot_defaults": (c_int, [POINTER(s.OtOptions)]),
    "consm_ot_cost_matrix": (c_int, [_P, _P, _P, c_int64, c_int64, c_int64, c_int]),
    "consm_ot_exact": (c_int, [_P, _P, _P, POINTER(s.OtResult), _P, _P, _P, c_int64, c_int64]),
    "consm_ot_sinkhorn": (c_int, [_P, POINTER(s.OtResult), _P, _P, _P, c_int64, c_int64,
                                  POINTER(s.OtOptions)]),
    "consm_ot_sinkhorn_batch": (c_int, [_P, POINTER(s.OtResult), _P, _P, c_int64, c_int64,
                                        POINTER(s.OtOptions), c_int]),
    "consm_ot_linear": (c_int, [_P, _P, _P, c_int64, c_int64, c_int64, c_int]),
    "consm_ot_project": (c_int, [_P, _P, _P, _P, c_int64, c_int64, c_int64]),
    "consm_ot_monge": (c_int, [_P, _P, _P, _P, _P, c_int64, c_int64, c_int64, c_int]),
    "consm_ot_kmeans": (c_int, [_P, _P, c_int64, c_int64, c_int64, c_uint64]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments

# ---- messages ----------------------------------------------------------------------------------

_heard = threading.local()
KEYWORDS = {"lambda": "lambda_", "seed": "random_state"}  # what parameters of the library are called here
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")
_FIRST = re.compile(r"^(lambda|seed)(?= )")


def our_words(text: str) -> str:
    """A message of the library with the names that parameters have in Python: --match-lr is match_lr."""
    def named(found: "re.Match[str]") -> str:
        name = found.group(1).replace("-", "_")
        return KEYWORDS.get(name, name)
    return _FIRST.sub(named, _FLAG.sub(named, text))



def _hear(_: object, level: int, message: Optional[bytes]) -> None:
    text = our_words((message or b"").decode("utf-8", "replace"))
    waiting = getattr(_heard, "lines", None)
    if waiting is None:
        _log.log(logging.WARNING if level else logging.INFO, "%s", text)
    else:
        waiting.append((level, text))


_ear = s.LOG_FN(_hear)  # must live as long as the library
lib.consm_set_log(ctypes.cast(_ear, c_void_p), None)


def _outside() -> int:
    """The number of frames up to the first caller outside of this package."""
    here, depth = os.path.dirname(__file__), 1
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        frame, depth = frame.f_back, depth + 1
    return depth


class Outcome:
    """The result of a call: status, message and warnings of the thread that made it."""

    def __init__(self, function: Callable[..., int], arguments: tuple[Any, ...]) -> None:
        before = getattr(_heard, "lines", None)
        self.lines: list[tuple[int, str]] = []
        _heard.lines = self.lines
        try:
            self.status = function(*arguments)
            self.message = our_words(decode(lib.consm_errmsg())) if self.status < 0 else ""
        finally:
            _heard.lines = before

    def settle(self) -> None:
        """Issues the collected warnings and raises the error, if any."""
        for level, text in self.lines:
            if level:
                warnings.warn(text, ConsmWarning, stacklevel=_outside())
            else:
                _log.info("%s", text)
        if self.status < 0:
            raise BY_CODE.get(self.status, ConsmError)(self.message)


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls something that returns a status; warnings come when it is over."""
    Outcome(function, arguments).settle()


# ---- objects -----------------------------------------------------------------------------------

class Handle:
    """A pointer of the library, freed with its Python object. needs is what must live as long. kind is the
    type of pointer where Python reads what it points to."""

    def __init__(self, free: Callable[[Any], None], kind: Any = c_void_p) -> None:
        self.needs: Any = None
        self.pointer = kind()
        self._free = free

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._free(self.pointer)
            self.pointer = type(self.pointer)()


class Out:
    """A handle that a call fills. The call holds it: an interrupted one fills and frees it when it ends."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle


def passed(argument: Any) -> Any:
    """The C value of a Python argument."""
    if isinstance(argument, Out):
        return byref(argument.handle.pointer)
    if isinstance(argument, Handle):
        return argument.pointer
    return argument.ctypes.data if isinstance(argument, np.ndarray) else argument


def dataset() -> Handle:
    return Handle(lib.consm_dataset_free)


def model() -> Handle:
    return Handle(lib.consm_model_free)


def options(method: str, values: dict[str, Any]) -> Handle:
    """Options with everything set that is not None."""
    made = Handle(lib.consm_options_free)
    call(lib.consm_options_new, byref(made.pointer), encode(method, "the method"))
    for name, value in values.items():
        if value is not None:
            call(lib.consm_options_set, made.pointer, encode(name, "a parameter"), text_of(value))
    return made


def text_of(value: Any) -> bytes:
    """A parameter as the command line would have it."""
    if isinstance(value, (bool, np.bool_)):
        return b"1" if value else b"0"
    if isinstance(value, (int, np.integer)):
        return str(int(value)).encode()
    if isinstance(value, (float, np.floating)):
        return repr(float(value)).encode()
    return encode(os.fspath(value) if hasattr(value, "__fspath__") else value, "a parameter")


def encode(text: Any, what: str) -> bytes:
    if not isinstance(text, str):
        raise ConsmValueError(f"{what} is {text!r}: expected text")
    if "\0" in text:
        raise ConsmValueError(f"{what} contains a NUL character: expected text without one")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ConsmValueError(f"{what} {text!r} is not UTF-8 text") from None


def path_of(path: Any, what: str = "the path") -> bytes:
    """A path as bytes in the encoding of the file system."""
    try:
        raw = os.fsencode(path)
    except TypeError:
        raise ConsmValueError(f"{what} is {path!r}: expected a path") from None
    if b"\0" in raw:
        raise ConsmValueError(f"{what} contains a NUL character: expected a path without one")
    return raw


def names(values: list[Optional[bytes]]) -> Any:
    """An array of C strings, NULL for None."""
    return (c_char_p * len(values))(*values)


def decode(text: Optional[bytes]) -> str:
    return (text or b"").decode("utf-8", "replace")


def address(array: Optional[np.ndarray[Any, Any]]) -> Any:
    return None if array is None else array.ctypes.data


_dtype = functools.lru_cache(maxsize=None)(np.dtype)


def copied(pointer: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """A copy of an array that the library owns."""
    kind = _dtype(pointer._type_)
    count = 1
    for side in shape:
        count *= side
    return np.frombuffer(ctypes.string_at(pointer, count * kind.itemsize), kind).reshape(shape).copy() \
        if count else np.empty(shape, kind)


def buffer(room: int = 32) -> Any:
    """Room for a name or number that the library writes."""
    return (ctypes.c_char * room)()
