#!/usr/bin/env python3
"""Writes the calls of tests/test_api_calls.c: every function of the public headers, once with NULL for each of
its pointers, and once with an out-of-range value for each of its numbers.

New functions of a header are called automatically.

usage: tests/api_calls.py OUT HEADER…
"""
import re
import sys

# What a good call passes, by the parameter's name, else by its type.
by_name = {
    "name_or_path": '"karate"', "model:text": '"gcn"', "method": '"gcn"', "data_dir": "NULL",
    "path": "file", "consm_dataset_save:path": '"/dev/null/graph.npz"',
    "consm_options_set:name": '"epochs"', "value:text": '"2"', "name": '"a"',
    "threads": "1", "device": '"cpu"', "seed": "1", "every": "1", "line": "on_line", "build": "on_build",
    "fn": "NULL", "ctx": "NULL", "allocator": "NULL", "node": "0", "class_index": "0", "index": "0",
    "buffer": "buffer", "counts": "counts", "label": "label", "set_class": "label", "start": "start",
    "c": "2", "n": "2", "f": "2", "sets": "1", "support": "1", "count:number": "1",
    "count": "counts", "consm_ot_monge:assignment": "assignment",
    "values:floats": "floats", "s": "world.matrix", "x": "world.x", "y": "world.x",
    "rows": "2", "cols": "2", "out:number": "2", "heads": "1", "from": "0", "matrix": "world.matrix",
    "factor": "world.column", "scalar": "world.one", "bias": "world.row", "values": "world.edge",
    "p": "world.p", "in": "world.in", "rate": "0.5f", "metrics": "metrics",
    "options:ot": "&ot_options", "result": "&ot_result", "results": "&ot_result",
}
by_type = {
    "struct consm_dataset **": "&made.dataset", "struct consm_model **": "&made.model",
    "struct consm_options **": "&made.options", "struct consm_prediction **": "&made.prediction",
    "struct consm_edge_scores **": "&made.scores",
    "struct consm_explanation **": "&made.explanation",
    "const struct consm_explain_options *": "NULL",
    "const struct consm_dataset *": "good.dataset", "const struct consm_model *": "good.model",
    "struct consm_model *": "made_model()", "struct consm_options *": "made_options()",
    "const struct consm_options *": "good.options",
    "const struct consm_open_options *": "NULL", "const struct consm_arrays *": "&arrays",
    "struct consm_dataset_info *": "&dataset_info", "struct consm_method *": "&method",
    "struct consm_parameter *": "&parameter", "struct consm_candidate *": "&candidate", "struct consm_model_info *": "&model_info",
    "struct consm_ot_options *": "&ot_options",
    "double *": "doubles_out", "const double *": "doubles", "float *": "floats_out",
    "const float *": "floats", "uint8_t *": "bytes", "int32_t *": "assignment",
    "bool": "true", "float": "1", "enum consm_role": "CONSM_TRAIN",
    "enum consm_view": "CONSM_VIEW_GCN", "enum consm_init": "CONSM_INIT_ZERO",
    "enum consm_ot_metric": "CONSM_OT_COSINE", "enum consm_ot_scale": "CONSM_OT_SCALE_SQRT",
    "enum consm_ot_pooling": "CONSM_OT_SUM",
    "struct consm_dataset *": "NULL", "struct consm_prediction *": "NULL",
    "struct consm_edge_scores *": "NULL",
}
# Parameters for which the header allows NULL. Freeing NULL does nothing.
null_means = {
    ("consm_dataset_open", "data_dir"), ("consm_dataset_open_with", "options"),
    ("consm_options_checkpoint", "path"), ("consm_ot_exact", "dual_r"), ("consm_ot_exact", "dual_h"),
    ("consm_ot_exact", "a"), ("consm_ot_exact", "b"), ("consm_ot_sinkhorn", "a"),
    ("consm_ot_sinkhorn", "b"), ("consm_ot_sinkhorn", "options"),
    ("consm_ot_sinkhorn_batch", "options"), ("consm_ot_assign", "options"),
    ("consm_ot_project", "empty"), ("consm_ot_monge", "assignment"), ("consm_ot_monge", "empty"),
    ("consm_ot_class_means", "count"), ("consm_explain", "options"),
    ("consm_predict_on", "device"), ("consm_score_edges_on", "device"), ("consm_suggest_edges", "device"),
    ("consm_clean_choose", "options"), ("consm_dataset_clean", "added"), ("consm_dataset_save", "format"),
}
ends = ("ctx", "fn")
# Sizes of the caller's arrays: the library cannot detect that one is too large.
sizes = {"c", "n", "f", "sets", "support", "count", "rows:input", "cols:input"}
integers = ["-1", "INT32_MIN", "INT32_MAX"]
wide = integers + ["INT64_MIN", "INT64_MAX", "0"]
reals = ["NAN", "INFINITY", "-1.0f"]


def prototypes(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M)
    for result, name, params in re.findall(r"CONSM_API\s+([\w\s*]+?)\s*\b(consm_\w+)\s*\(([^;]*)\);", text):
        yield re.sub(r"\s+", " ", result), name, params
    for name, params in re.findall(r"CONSM_OP\(\s*(\w+),\s*([^;]*)\);", text):
        yield "consm_node", f"consm_{name}", "struct consm_program *p, " + params


def split(params):
    for one in re.sub(r"\s+", " ", params).split(","):
        one = one.strip()
        if one == "void":
            continue
        match = re.fullmatch(r"(.*?[ *])(\w+)(\[\d+\])?", one)
        kind, name, array = match.group(1).strip(), match.group(2), match.group(3)
        if array:
            kind += " *"
        yield re.sub(r" ?\*", " *", kind).replace("* *", "**"), name


def good(function, kind, name):
    keys = [f"{function}:{name}"]
    if kind == "const char *":
        keys.append(f"{name}:text")
    if kind == "const struct consm_ot_options *":
        keys.append("options:ot")
    if kind == "const float *":
        keys.append(f"{name}:floats")
    if "*" not in kind:
        keys.append(f"{name}:number")
    if "*" in kind and "char" not in kind and kind in by_type and name not in ("metrics",):
        return by_type[kind]
    for key in keys + [name]:
        if key in by_name:
            return by_name[key]
    if kind in by_type:
        return by_type[kind]
    if kind.startswith("const struct") and kind.endswith("**"):
        return f"({kind})&lent"
    if "*" in kind or kind.endswith("_fn"):
        return "NULL"  # unknown here: the call is made with NULL and otherwise valid arguments
    return f"({kind})0"


def bad_numbers(function, kind, name):
    if kind == "float":
        return reals
    if kind == "bool" or kind.startswith("uint64"):
        return []
    few = name in sizes and function.startswith("consm_ot") or function == "consm_input"
    if kind == "int64_t" or kind == "size_t":
        return ["-1", "INT64_MIN", "0"] if few else wide
    return ["-1", "INT32_MIN"] if few else integers


def main(out, headers):
    plain, recorded = [], []
    for header in headers:
        for result, name, params in prototypes(open(header).read()):
            if name in ("consm_set_allocator", "consm_set_log"):
                continue
            params = list(split(params))
            calls = plain
            if any(kind.endswith("consm_program *") or "consm_inputs" in kind or "consm_matrix" in kind
                   for kind, _ in params):
                calls = recorded
            values = [good(name, kind, each) for kind, each in params]
            for i, (kind, each) in enumerate(params):
                pointer = "*" in kind or kind.endswith("_fn")
                if pointer:
                    allowed = (name, each) in null_means or each in ends or name.endswith("_free")
                    allowed = allowed or (name, each) == ("consm_model_build", "build")
                    bad = [("NULL", not allowed)]
                else:
                    bad = [(f"({kind})({v})", False) for v in bad_numbers(name, kind, each)]
                for value, must_fail in bad:
                    call = ", ".join(values[:i] + [value] + values[i + 1:])
                    label = f"{name}({each} = {value})"
                    calls.append((result, f"{name}({call})", label, must_fail))
    with open(out, "w") as f:
        f.write("/* Made by tests/api_calls.py from the public headers. */\n")
        f.write("static void call_plain(int number)\n{\n    switch (number) {\n")
        for i, (result, call, label, must_fail) in enumerate(plain):
            check = {"consm_status": f"check_status({call}, {int(must_fail)})",
                     "const char *": f"check_text({call})"}.get(result, f"(void){call}")
            f.write(f'    case {i}: now = "{label}"; {check}; break;\n')
        f.write("    }\n}\n\nstatic void call_recorded(int number)\n{\n    switch (number) {\n")
        for i, (result, call, label, must_fail) in enumerate(recorded):
            check = f"world.poisoned = {call} == CONSM_POISON" if result == "consm_node" else f"(void){call}"
            f.write(f'    case {i}: now = "{label}"; {check}; break;\n')
        f.write("    }\n}\n\n")
        f.write(f"enum {{ PLAIN_CALLS = {len(plain)}, RECORDED_CALLS = {len(recorded)} }};\n")


main(sys.argv[1], sys.argv[2:])
