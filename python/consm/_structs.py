"""The public structs of include/consm.h and consm_ot.h; python/tests compares them with the recorded ABI."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64
from ctypes import c_size_t, c_uint8, c_uint64, c_void_p


BORROW_FEATURES = 1  # of enum consm_borrow


class Sized(ctypes.Structure):
    """A struct that begins with its size, which is set when it is made."""

    def __init__(self, *values: object, **named: object) -> None:
        super().__init__(*values, **named)
        self.size = ctypes.sizeof(type(self))


class OpenOptions(Sized):
    _fields_ = [("size", c_size_t), ("data_dir", c_char_p), ("format", c_char_p),
                ("labels", c_char_p), ("features", c_char_p), ("id_column", c_char_p),
                ("label_column", c_char_p), ("weight_column", c_char_p), ("ignore", c_char_p),
                ("in_parts", c_bool), ("source_column", c_char_p), ("target_column", c_char_p),
                ("duplicates", c_char_p), ("unknown_nodes", c_char_p), ("model", c_void_p),
                ("keep_attributes", c_bool)]


class Column(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("number", POINTER(c_double)),
                ("text", POINTER(c_char_p)), ("category", c_bool), ("days", c_bool)]


class Arrays(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("nodes", c_int64), ("edges", c_int64),
                ("features", c_int64), ("classes", c_int32), ("directed", c_bool),
                ("wide_ends", c_bool), ("wide_weights", c_bool), ("wide_features", c_bool),
                ("wide_columns", c_bool), ("wide_labels", c_bool),
                ("from", c_void_p), ("to", c_void_p), ("weight", c_void_p), ("feature", c_void_p),
                ("feature_start", c_void_p), ("feature_column", c_void_p), ("label", c_void_p),
                ("role", POINTER(c_uint8)), ("node_id", POINTER(c_char_p)),
                ("class_name", POINTER(c_char_p)), ("feature_name", POINTER(c_char_p)),
                ("wide_starts", c_bool), ("borrow", c_int64), ("columns", c_int64),
                ("column", POINTER(POINTER(Column))), ("known", c_bool),
                ("reading", POINTER(OpenOptions))]


class Labels(Sized):
    _fields_ = [("size", c_size_t), ("classes", c_int32), ("wide", c_bool), ("label", c_void_p),
                ("class_name", POINTER(c_char_p)), ("role", POINTER(c_uint8)), ("class_kind", c_int32)]


class DatasetInfo(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("nodes", c_int64), ("edges", c_int64),
                ("features", c_int64), ("classes", c_int32), ("labelled", c_int64),
                ("directed", c_bool), ("weighted", c_bool), ("sha256", c_char_p), ("known", c_bool)]


class KnownSet(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("about", c_char_p),
                ("citation", c_char_p), ("licence", c_char_p), ("files", c_int32)]


class KnownFile(Sized):
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("base", c_char_p), ("url", c_char_p),
                ("sha256", c_char_p)]


class Method(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("paper", c_char_p),
                ("weighs", c_bool)]


class Parameter(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("help", c_char_p), ("kind", c_int),
                ("min", c_double), ("max", c_double), ("choices", POINTER(c_char_p)),
                ("own", c_bool), ("value", c_char * 32)]


class Progress(Sized):
    _fields_ = [("size", c_size_t), ("seed", c_uint64), ("epoch", c_int64), ("epochs", c_int64),
                ("loss", c_double), ("val_acc", c_double), ("best_val", c_double),
                ("member", c_int64), ("members", c_int64), ("share", c_double),
                ("candidate", c_int64), ("update", c_int64), ("backbone", c_char_p), ("refit", c_bool)]


class Epoch(Sized):
    _fields_ = [("size", c_size_t), ("member", c_int64), ("candidate", c_int64), ("number", c_int64),
                ("loss", c_double), ("val_score", c_double), ("backbone", c_char_p), ("chosen", c_bool)]


class ModelInfo(Sized):
    _fields_ = [("size", c_size_t), ("model", c_char_p), ("dataset", c_char_p),
                ("split", c_char_p), ("version", c_char_p), ("data_sha256", c_char_p),
                ("seed", c_uint64), ("classes", c_int32), ("features", c_int64),
                ("structural", c_bool), ("parameters", c_int64), ("epochs", c_int64),
                ("best_epoch", c_int64), ("trained", c_int64), ("validated", c_int64),
                ("tested", c_int64), ("held_out", c_int64), ("temperature", c_double),
                ("ece_before", c_double), ("seconds", c_double), ("train_ms", c_double),
                ("eval_ms", c_double), ("coverage", c_double), ("calibrated", c_int64),
                ("promised", c_bool), ("smoothing", c_double), ("covered", c_double),
                ("set_size", c_double), ("ensemble", c_int64), ("members", c_int64),
                ("rule", c_char_p), ("metric", c_char_p), ("val_score", c_double),
                ("positive", c_int32), ("threshold_class", c_int32), ("threshold", c_double),
                ("threshold_precision", c_double), ("threshold_recall", c_double),
                ("threshold_reached", c_bool), ("doubt", c_double), ("class_kind", c_int32),
                ("backbone", c_char_p), ("uses_weights", c_bool), ("refit_labels", c_int64),
                ("refit_updates", c_int64), ("fold_labels", c_int64), ("fold_score", c_double),
                ("fold_error", c_double), ("drop_share", c_double)]


class Candidate(Sized):
    _fields_ = [("size", c_size_t), ("backbone", c_char_p), ("settings", c_char_p), ("updates", c_int64),
                ("val_score", c_double), ("fold_score", c_double), ("chosen", c_bool)]


class ClassMetrics(ctypes.Structure):
    _fields_ = [("support", c_int64), ("predicted", c_int64), ("precision", c_double),
                ("recall", c_double), ("f1", c_double), ("roc_auc", c_double),
                ("average_precision", c_double)]


class Metrics(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("nodes", c_int64), ("classes", c_int32),
                ("accuracy", c_double), ("macro_f1", c_double), ("balanced_accuracy", c_double),
                ("roc_auc", c_double), ("nll", c_double), ("ece", c_double),
                ("average_precision", c_double), ("foreign", c_int64)]


class Prediction(ctypes.Structure):
    _fields_ = [("nodes", c_int64), ("classes", c_int32), ("label", POINTER(c_int32)),
                ("confidence", POINTER(c_float)), ("probability", POINTER(c_float)),
                ("in_set", POINTER(c_uint8)), ("seen", POINTER(c_uint8)),
                ("log_odds", POINTER(c_float))]


class Embedding(ctypes.Structure):
    _fields_ = [("nodes", c_int64), ("width", c_int64), ("value", POINTER(c_float))]


class CurvePoint(ctypes.Structure):
    _fields_ = [("threshold", c_double), ("precision", c_double), ("recall", c_double),
                ("false_positive_rate", c_double)]


class EdgeScores(ctypes.Structure):
    _fields_ = [("edges", c_int64), ("from", POINTER(c_int32)), ("to", POINTER(c_int32)),
                ("score", POINTER(c_float)), ("kept", POINTER(c_uint8)), ("zeta", c_double),
                ("low", POINTER(c_float)), ("high", POINTER(c_float)), ("threshold", c_double), ("witnesses", c_int32),
                ("witness_name", POINTER(c_char_p)), ("witness", POINTER(c_float)),
                ("witness_weight", POINTER(c_double))]


class CleanOptions(Sized):
    _fields_ = [("size", c_size_t), ("share", c_double), ("threshold", c_double)]


class ExplainOptions(Sized):
    _fields_ = [("size", c_size_t), ("limit", c_int64), ("of_label", c_bool), ("label", c_int32),
                ("threads", c_int), ("progress", c_void_p), ("progress_ctx", c_void_p)]


class ExplanationStruct(ctypes.Structure):
    _fields_ = [("node", c_int64), ("label", c_int32), ("probability", c_float),
                ("edges", c_int64), ("neighbours", c_int64), ("features", c_int64),
                ("edge_from", POINTER(c_int32)), ("edge_to", POINTER(c_int32)),
                ("edge_effect", POINTER(c_float)), ("neighbour", POINTER(c_int32)),
                ("neighbour_effect", POINTER(c_float)), ("feature", POINTER(c_int32)),
                ("feature_effect", POINTER(c_float)), ("edges_in_reach", c_int64),
                ("neighbours_in_reach", c_int64), ("features_in_reach", c_int64),
                ("log_odds", c_double), ("edge_log_odds", POINTER(c_float)),
                ("neighbour_log_odds", POINTER(c_float)), ("feature_log_odds", POINTER(c_float)),
                ("edge_weight", POINTER(c_float)), ("edge_trust", POINTER(c_float)),
                ("neighbour_label", POINTER(c_int32)), ("neighbour_said", POINTER(c_int32)),
                ("neighbour_probability", POINTER(c_float)), ("neighbour_weight", POINTER(c_float)),
                ("neighbour_trust", POINTER(c_float)), ("feature_value", POINTER(c_float)),
                ("feature_low", POINTER(c_float)), ("feature_high", POINTER(c_float)),
                ("feature_mean", POINTER(c_float))]


class OtOptions(Sized):
    _fields_ = [("size", c_size_t), ("method", c_int), ("metric", c_int), ("epsilon", c_double),
                ("relative", c_bool), ("tolerance", c_double), ("max_iterations", c_int)]


class OtResult(ctypes.Structure):
    _fields_ = [("cost", c_double), ("marginal_error", c_double), ("iterations", c_int64),
                ("converged", c_bool)]


PROGRESS_FN = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
LOG_FN = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)

# Which struct of the headers each of them is.
NAMES: dict[str, type[ctypes.Structure]] = {
    "consm_open_options": OpenOptions, "consm_column": Column, "consm_arrays": Arrays, "consm_labels": Labels,
    "consm_dataset_info": DatasetInfo, "consm_known_set": KnownSet, "consm_known_file": KnownFile,
    "consm_method": Method, "consm_parameter": Parameter, "consm_progress": Progress,
    "consm_model_info": ModelInfo, "consm_class_metrics": ClassMetrics, "consm_metrics": Metrics,
    "consm_embedding": Embedding, "consm_curve_point": CurvePoint, "consm_prediction": Prediction, "consm_edge_scores": EdgeScores,
    "consm_clean_options": CleanOptions,
    "consm_explain_options": ExplainOptions, "consm_explanation": ExplanationStruct,
    "consm_ot_options": OtOptions, "consm_ot_result": OtResult,
}
