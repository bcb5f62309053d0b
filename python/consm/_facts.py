"""The facts about a trained model: its parameters, metrics, learning curve and candidates."""
from __future__ import annotations

import warnings
from ctypes import byref
from typing import Any, Optional

import numpy as np

from . import _history, _lib, _parameters, _rare, _structs
from ._arrays import Array
from ._errors import ConsmWarning
from ._graph import Graph
from ._trust import Trust

ROLES = {"train": 1, "validation": 2, "test": 3}
_FIGURES = ("accuracy", "macro_f1", "balanced_accuracy", "roc_auc", "nll", "ece", "average_precision")


class Facts(Trust):
    """The facts about a fitted estimator."""

    classes_: Array
    threshold_: Optional[float]
    threshold_class_: Any
    backbone_: str
    history_: dict[str, Array]
    refit_: bool
    tournament_: dict[str, Array]
    candidates_: list[dict[str, Any]]

    def _facts(self) -> None:
        """The facts about the trained model."""
        info = _structs.ModelInfo()
        _lib.call(_lib.lib.consm_model_info, byref(info), self._trained.pointer)
        self.n_features_in_ = int(info.features)
        self.n_iter_ = int(info.epochs)
        self.best_iter_ = int(info.best_epoch)
        self.temperature_ = float(info.temperature)
        self.info_: dict[str, Any] = {name: _lib.decode(v) if isinstance(v, bytes) else v for name, v in
                                      ((f[0], getattr(info, f[0])) for f in info._fields_[1:])}
        self.metrics_ = {role: figures for role, number in ROLES.items()
                         if (figures := self._metrics(number)) is not None}
        self.params_ = {}
        for name, p in _parameters.parameters(self.info_["model"]).items():
            buffer = _lib.buffer()
            text = _lib.lib.consm_model_parameter(self._trained.pointer, p.name.encode(), buffer)
            if text is not None:
                self.params_[name] = _parameters.value_of(_lib.decode(text))
        self.refit_ = int(info.refit_labels) > 0
        self.candidates_ = self._candidates()
        self.history_, self.tournament_ = _history.of(self._trained.pointer)
        of = int(info.threshold_class)
        self.threshold_ = float(info.threshold) if of >= 0 else None
        self.threshold_class_ = self.classes_[of] if of >= 0 else None
        if self.info_["backbone"]:
            self.backbone_ = str(self.info_["backbone"])
        elif hasattr(self, "backbone_"):
            del self.backbone_

    def _say_what_is_ignored(self, graph: Graph) -> None:
        if graph.edge_weight is not None and not self.info_["uses_weights"]:
            chosen = f"{self.method}, whose backbone is {self.backbone_}," if hasattr(self, "backbone_") else self.method
            warnings.warn(f"{graph.name}: {chosen} does not use the edge weights", ConsmWarning,
                          stacklevel=_lib._outside())

    def _candidates(self) -> list[dict[str, Any]]:
        """ConSM's candidate backbones, the chosen one first."""
        found: list[dict[str, Any]] = []
        row = _structs.Candidate()
        while _lib.lib.consm_model_candidate(byref(row), self._trained.pointer, len(found)) == 0:
            found.append({name: _lib.decode(v) if isinstance(v, bytes) else v for name, v in
                          ((f[0], getattr(row, f[0])) for f in row._fields_[1:])})
        return found

    def _say_what_is_uncertain(self) -> None:
        said = _rare.uncertainty(self.classes_, self.info_, self.metrics_)
        if said:
            warnings.warn(said, ConsmWarning, stacklevel=_lib._outside())

    def _metrics(self, role: int) -> Optional[dict[str, Any]]:
        """The metrics of one role, or None if it has no nodes."""
        found = _lib.lib.consm_model_metrics(self._trained.pointer, role)
        if not found or found.contents.nodes == 0:
            return None
        figures: dict[str, Any] = {"nodes": int(found.contents.nodes)}
        figures.update({name: float(getattr(found.contents, name)) for name in _FIGURES})
        count = int(found.contents.classes)
        confusion = np.zeros((count, count), np.int64)
        _lib.lib.consm_metrics_confusion(confusion.ctypes.data, found)
        figures["confusion"] = confusion
        figures["classes"] = {}
        for k in range(count):
            of = _lib.lib.consm_metrics_class(found, k).contents
            figures["classes"][self.classes_[k] if k < len(self.classes_) else k] = {
                f[0]: getattr(of, f[0]) for f in of._fields_}
        return figures
