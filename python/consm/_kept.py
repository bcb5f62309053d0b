"""Saving, pickling, reporting and displaying a fitted model."""
from __future__ import annotations

import os
from ctypes import byref
from typing import TYPE_CHECKING, Any, Optional, TypeVar

from . import _lib
from ._errors import ConsmValueError, NotFittedError
from ._graph import Graph
from ._intake import MASKS

if TYPE_CHECKING:
    from ._model import GraphClassifier
    from ._types import Path

Self = TypeVar("Self", bound="Kept")


class Kept:
    """The part of an estimator that holds the trained model."""

    method: str
    _trained: _lib.Handle
    _cache: Any  # what _answers.py remembers …
    _open: Any = None  # … and the predictor it keeps open
    _training: Optional[tuple[Graph, _lib.Handle, dict[str, Any]]]  # None: the model came from a file

    def _fitted(self) -> _lib.Handle:
        if not hasattr(self, "_trained"):
            fault: Any = NotFittedError
            try:
                from sklearn.exceptions import NotFittedError as theirs

                class Both(NotFittedError, theirs):  # type: ignore[misc]
                    pass
                Both.__name__ = "NotFittedError"
                fault = Both
            except ImportError:
                pass
            raise fault(f"This {type(self).__name__} instance is not fitted yet: call fit first")
        return self._trained

    def save(self, path: Path) -> None:
        """Writes the model as safetensors, for consm.load_model() and the command.

        Parameters
        ----------
        path : path

        Examples
        --------
        >>> import consm, os, tempfile
        >>> g = consm.load("karate")
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> consm.GCNClassifier(random_state=0, per_class=4).fit(g).save(path)
        >>> consm.load_model(path).predict(g).shape
        (34,)
        """
        _lib.call(_lib.lib.consm_model_save, self._fitted().pointer, _lib.path_of(path))

    @classmethod
    def load(cls, path: Path) -> "GraphClassifier":
        """Loads a model written by save() or `consm train -o`.

        Parameters
        ----------
        path : path

        Returns
        -------
        GraphClassifier
        """
        trained = _lib.model()
        _lib.call(_lib.lib.consm_model_load, byref(trained.pointer), _lib.path_of(path))
        from ._make import wrap
        return wrap(trained)

    def report(self, path: Path, X: Optional[Graph] = None) -> None:
        """Writes an HTML report of the training run; missing folders are created.

        Parameters
        ----------
        path : path
        X : Graph, optional
            The training graph with its labels, for a model from a file or a pickle. Training, validation and test
            nodes come from its masks, or are drawn again by the model's split and seed.

        Examples
        --------
        >>> import consm, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "report.html")
        >>> consm.GCNClassifier(random_state=0, per_class=4).fit(consm.load("karate")).report(path)
        >>> os.path.exists(path)
        True
        """
        trained = self._fitted()
        data, values = self._told_of(X)
        folder = os.path.dirname(os.path.abspath(os.fspath(path)))
        os.makedirs(folder, exist_ok=True)
        options = _lib.options(self.method, values)
        _lib.call(_lib.lib.consm_report_write, _lib.path_of(path), trained.pointer, data.pointer, options.pointer)

    def _told_of(self, X: Optional[Graph]) -> tuple[_lib.Handle, dict[str, Any]]:
        """The data of a report, and the options (seed, split) that assign the roles of its nodes."""
        if X is None and self._training:
            return self._training[1:]
        if X is None:
            raise ConsmValueError("the model was loaded from a file: a report needs the training data, as in "
                                  "report(path, graph)")
        if X.y is None:
            raise ConsmValueError("a report needs the training labels, but the graph has no labels")
        info: dict[str, Any] = self.info_  # type: ignore[attr-defined]
        values = {"seed": info["seed"]}
        if "codes" in X._parts:
            data, made_again = X._dataset(), info["split"] and not info["split"].startswith("own")
            return data, {**values, "split": info["split"]} if made_again else values
        return X._labelled(X.y, {k: getattr(X, k) for k in MASKS})[0], values

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_trained", "_training", "_cache", "_open")}
        if hasattr(self, "_trained"):
            import tempfile
            with tempfile.TemporaryDirectory(prefix="consm-") as folder:
                path = os.path.join(folder, "model.safetensors")
                self.save(path)
                with open(path, "rb") as file:
                    state["_bytes"] = file.read()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        raw = state.pop("_bytes", None)
        self.__dict__.update(state)
        if raw is not None:
            import tempfile
            with tempfile.TemporaryDirectory(prefix="consm-") as folder:
                path = os.path.join(folder, "model.safetensors")
                with open(path, "wb") as file:
                    file.write(raw)
                trained = _lib.model()
                _lib.call(_lib.lib.consm_model_load, byref(trained.pointer), _lib.path_of(path))
            self._trained = trained
            self._training = None
            self._cache = None

    def __deepcopy__(self: Self, memo: Any) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def _repr_html_(self) -> str:
        from . import _html
        return _html.model(self)
