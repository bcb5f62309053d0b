"""The library as a binding without a compiler sees it: structs laid out from tests/data/abi.txt, a
graph from arrays, the table of parameters, training with a callback, prediction, errors.

usage: ctypes_smoke.py LIBCONSM.SO ABI.TXT
"""
import ctypes
import re
import sys

lib = ctypes.CDLL(sys.argv[1])
scalars = {"size_t": ctypes.c_size_t, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
           "int32_t": ctypes.c_int32, "double": ctypes.c_double, "bool": ctypes.c_bool,
           "const_char*": ctypes.c_char_p, "const_char*const*": ctypes.POINTER(ctypes.c_char_p),
           "float*": ctypes.POINTER(ctypes.c_float), "int32_t*": ctypes.POINTER(ctypes.c_int32)}


def field_type(text):
    if text.startswith("enum_"):
        return ctypes.c_int
    if re.fullmatch(r"char\[\d+\]", text):
        return ctypes.c_char * int(text[5:-1])
    return scalars.get(text, ctypes.c_void_p)


def struct(name):
    """A struct of the recorded interface, its layout checked member by member."""
    line = next(l for l in open(sys.argv[2], encoding="utf-8") if l.startswith(f"struct {name} "))
    size, members = line.split(" ", 2)[2].split(":", 1)
    rows = [re.fullmatch(r"(\w+)@(\d+)\+(\d+):(.*)", m).groups() for m in members.split()]
    made = type(name, (ctypes.Structure,), {"_fields_": [(n, field_type(t)) for n, _, _, t in rows]})
    assert ctypes.sizeof(made) == int(size), (name, ctypes.sizeof(made), size)
    for field, place, width, _ in rows:
        found = getattr(made, field)
        assert (found.offset, found.size) == (int(place), int(width)), (name, field)
    return made


Arrays, Parameter, Method = struct("consm_arrays"), struct("consm_parameter"), struct("consm_method")
ModelInfo, Progress, Prediction = struct("consm_model_info"), struct("consm_progress"), struct("consm_prediction")
lib.consm_errmsg.restype = ctypes.c_char_p


def sized(kind):
    made = kind()
    made.size = ctypes.sizeof(kind)
    return made


def check(status):
    if status < 0:
        raise RuntimeError(lib.consm_errmsg().decode())


def listed(get, kind, *before):
    """All rows of one of the library's tables."""
    rows, row = [], sized(kind)
    while get(ctypes.byref(row), *before, ctypes.c_int32(len(rows))) == 0:
        rows.append(row)
        row = sized(kind)
    return rows


# Every method's defaults can be set from its own table, as keyword arguments would be.
methods = [m.name for m in listed(lib.consm_method_get, Method)]
assert b"gcn" in methods and b"consm" in methods, methods
for method in methods:
    options = ctypes.c_void_p()
    check(lib.consm_options_new(ctypes.byref(options), method))
    for p in listed(lib.consm_parameter_get, Parameter, method):
        check(lib.consm_options_set(options, p.name, p.value))
    lib.consm_options_free(options)

# Two groups of ten in a ring of rings; 64-bit integers and doubles, as NumPy has them.
n = 20
ends = ctypes.c_int64 * (2 * n)
arrays = sized(Arrays)
arrays.nodes, arrays.edges, arrays.features, arrays.classes = n, 2 * n, 2, 2
arrays.wide_ends = arrays.wide_features = arrays.wide_labels = True
keep = [ends(*[i for i in range(n)] * 2), ends(*[(i + 2) % n for i in range(n)] + [(i + 4) % n for i in range(n)]),
        (ctypes.c_double * (2 * n))(*[v for i in range(n) for v in (i % 2, 1 - i % 2)]),
        (ctypes.c_int64 * n)(*[i % 2 if i < 12 else -1 for i in range(n)])]
arrays.__setattr__("from", ctypes.cast(keep[0], ctypes.c_void_p))
arrays.to, arrays.feature, arrays.label = (ctypes.cast(k, ctypes.c_void_p) for k in keep[1:])
data, model = ctypes.c_void_p(), ctypes.c_void_p()
check(lib.consm_dataset_from_arrays(ctypes.byref(data), ctypes.byref(arrays)))

# Training reports progress and stops when asked to.
callback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.POINTER(Progress))
epochs, stop = [], [False]


@callback
def hear(_, progress):
    if not progress.contents.refit:
        epochs.append(progress.contents.epoch)
    return stop[0]


options = ctypes.c_void_p()
check(lib.consm_options_new(ctypes.byref(options), b"gcn"))
check(lib.consm_options_set(options, b"epochs", b"25"))
lib.consm_options_on_progress(options, hear, None)
check(lib.consm_train(ctypes.byref(model), data, options))
assert epochs == list(range(1, 26)), epochs
info = sized(ModelInfo)
check(lib.consm_model_info(ctypes.byref(info), model))
assert info.model == b"gcn" and info.trained + info.validated == 12, info.model
guess = ctypes.POINTER(Prediction)()
check(lib.consm_predict(ctypes.byref(guess), model, data, 1))
assert [guess.contents.label[i] for i in range(n)] == [i % 2 for i in range(n)]
assert all(0.5 <= guess.contents.confidence[i] <= 1 for i in range(n))
stop[0], stopped = True, ctypes.c_void_p()
assert lib.consm_train(ctypes.byref(stopped), data, options) == -8 and not stopped

# Errors have a message.
keep[1][3] = 99
other = ctypes.c_void_p()
assert lib.consm_dataset_from_arrays(ctypes.byref(other), ctypes.byref(arrays)) < 0 and not other
assert lib.consm_errmsg() == b"to[3] is 99: expected 0 to 19", lib.consm_errmsg()
assert lib.consm_options_set(options, b"hiden", b"3") < 0 and b"did you mean hidden?" in lib.consm_errmsg()

lib.consm_prediction_free(guess)
lib.consm_model_free(model)
lib.consm_options_free(options)
lib.consm_dataset_free(data)
print("as expected")
