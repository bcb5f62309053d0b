"""A backend of networkx for its node-classification functions.

    networkx.algorithms.node_classification.harmonic_function(G, backend="consm")

labels every node with a model of this library instead of harmonic functions. Because the result differs, networkx
uses this backend only if it is requested by name.
"""
from __future__ import annotations

from typing import Any

from ._graph import Graph
from ._model import GraphClassifier


class _Converted:
    """A networkx graph as a Graph of this package."""
    __networkx_backend__ = "consm"

    def __init__(self, original: Any) -> None:
        self.original = original

    def is_directed(self) -> bool:
        return bool(self.original.is_directed())

    def is_multigraph(self) -> bool:
        return bool(self.original.is_multigraph())


class _Backend:
    @staticmethod
    def convert_from_nx(graph: Any, *arguments: Any, **more: Any) -> _Converted:
        return _Converted(graph)

    @staticmethod
    def convert_to_nx(result: Any, *arguments: Any, **more: Any) -> Any:
        return result.original if isinstance(result, _Converted) else result

    @staticmethod
    def can_run(name: str, arguments: Any, more: Any) -> bool:
        return name in ("harmonic_function", "local_and_global_consistency")

    @staticmethod
    def should_run(name: str, arguments: Any, more: Any) -> Any:
        return "consm uses another method, so its labels differ: request it by name (backend=consm)"

    @staticmethod
    def harmonic_function(G: Any, max_iter: int = 30, label_name: str = "label", *, method: str = "consm",
                          random_state: int = 0, **parameters: Any) -> list[Any]:
        """A label for each node, in their order. max_iter is ignored; parameters are those of
        GraphClassifier."""
        return _classify(G, label_name, method, random_state, parameters)

    @staticmethod
    def local_and_global_consistency(G: Any, alpha: float = 0.99, max_iter: int = 30, label_name: str = "label", *,
                                     method: str = "consm", random_state: int = 0, **parameters: Any) -> list[Any]:
        """As harmonic_function; alpha is ignored, too."""
        return _classify(G, label_name, method, random_state, parameters)


def _classify(G: Any, label_name: str, method: str, random_state: int, parameters: dict[str, Any]) -> list[Any]:
    import networkx as nx
    original = G.original if isinstance(G, _Converted) else G
    if not any(label_name in data for _, data in original.nodes(data=True)):
        raise nx.NetworkXError("No node on the input graph is labeled by '" + label_name + "'.")
    graph = Graph.from_networkx(original, label=label_name)
    model = GraphClassifier(method, random_state=random_state, **parameters).fit(graph, graph.y)
    labels = list(model.predict(graph).tolist())
    for place, node in enumerate(original.nodes):  # what is known stays as it is
        labels[place] = original.nodes[node].get(label_name, labels[place])
    return labels


backend = _Backend()


def info() -> dict[str, Any]:
    """The description of this backend for networkx."""
    return {
        "backend_name": "consm",
        "project": "consm",
        "package": "consm",
        "short_summary": "Node classification by graph neural networks that know which edges to trust.",
        "functions": {
            "harmonic_function": {"additional_docs": "Labels come from a consm model (method, random_state, …)."},
            "local_and_global_consistency": {"additional_docs": "Labels come from a consm model."},
        },
    }


get_info = info
