"""An endpoint over a trained model and its graph: labels, explanations, trust, updates.

    pip install fastapi "uvicorn[standard]"
    CONSM_MODEL=out/model.safetensors CONSM_GRAPH=./mygraph uvicorn app:app --app-dir examples/serve

uvicorn listens on 127.0.0.1 by default. With CONSM_TOKEN=secret every POST needs the header "Authorization: Bearer
secret". /docs shows the schema, /metrics counts requests for Prometheus. POST /reload reads the files again and
uses them once they are ready.
"""
import hmac
import os
import threading
import time
from typing import Annotated, List, Optional, Tuple

import consm
from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

MOST_NODES, MOST_BYTES = 1000, 1 << 20
FEW, SOON = 4, 0.005  # up to FEW nodes are answered without another thread if the last answer took under SOON seconds
Id = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e30, le=1e30)]


class Service:
    """Model and graph; a reload makes a new one."""

    def __init__(self) -> None:
        self.model = consm.load_model(os.environ["CONSM_MODEL"])
        self.graph = consm.GrowingGraph(consm.load(os.environ["CONSM_GRAPH"], model=self.model))
        self.writing = threading.Lock()
        self.model.predict(self.graph, nodes=self.graph.ids_of([0]))  # prepares the graph before the first request
        self.quick = False


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Nodes(Strict):
    nodes: List[Id] = Field(min_length=1, max_length=MOST_NODES)


class Node(Strict):
    node: Id


class NewNode(Strict):
    id: Id
    features: List[Number] = Field(min_length=1, max_length=100_000)


class Update(Strict):
    nodes: List[NewNode] = Field(default=[], max_length=MOST_NODES)
    add_edges: List[Tuple[Id, Id]] = Field(default=[], max_length=10 * MOST_NODES)
    remove_edges: List[Tuple[Id, Id]] = Field(default=[], max_length=10 * MOST_NODES)


class Fault(BaseModel):
    detail: str


class Label(BaseModel):
    id: str
    label: str
    probabilities: dict[str, float]


async def allowed(authorization: Optional[str] = Header(None)) -> None:
    token = os.environ.get("CONSM_TOKEN")
    if token and not hmac.compare_digest((authorization or "").encode(), f"Bearer {token}".encode()):
        raise HTTPException(401, "the token is missing or wrong")


app = FastAPI(title="consm", version=consm.__version__)
guarded = {"dependencies": [Depends(allowed)],
           "responses": {400: {"model": Fault, "description": "the body is not JSON"},
                         401: {"model": Fault, "description": "the token is missing or wrong"},
                         404: {"model": Fault, "description": "no such node"},
                         409: {"model": Fault, "description": "the request does not fit the graph or the model"},
                         413: {"model": Fault, "description": "the request is too large"}}}
service = Service()
counted: dict[tuple[str, int], int] = {}
spent: dict[str, float] = {}
counting = threading.Lock()


@app.exception_handler(consm.ConsmError)
def refuse(_: Request, fault: consm.ConsmError) -> JSONResponse:
    return JSONResponse({"detail": str(fault)}, 404 if isinstance(fault, consm.ConsmKeyError) else 409)


class Watch:
    """Counts requests and refuses bodies that are too large, whether they state their length or not."""

    def __init__(self, inner) -> None:
        self.inner = inner

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            return await self.inner(scope, receive, send)
        begin, code, got = time.perf_counter(), 500, 0

        async def told(message):
            nonlocal code
            code = message.get("status", code)
            await send(message)

        async def heard():
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > MOST_BYTES:
                raise HTTPException(413, f"the request has more than {MOST_BYTES} bytes")
            return message

        try:
            await self.inner(scope, heard, told)
        finally:
            path = getattr(scope.get("route"), "path", "other")
            with counting:
                counted[path, code] = counted.get((path, code), 0) + 1
                spent[path] = spent.get(path, 0.0) + time.perf_counter() - begin


app.add_middleware(Watch)


def labels(nodes: List[str]) -> Response:
    live, begin = service, time.perf_counter()
    chances = live.model.predict_proba(live.graph, nodes=nodes)
    live.quick = time.perf_counter() - begin < SOON
    names = [str(name) for name in live.model.classes_]
    return JSONResponse([{"id": node, "label": names[row.argmax()], "probabilities": dict(zip(names, row.tolist()))}
                         for node, row in zip(nodes, chances)])


@app.post("/predict", response_model=List[Label], **guarded)
async def predict(asked: Nodes) -> Response:
    if service.quick and len(asked.nodes) <= FEW:
        return labels(asked.nodes)
    return await run_in_threadpool(labels, asked.nodes)


@app.post("/explain", **guarded)
def explain(asked: Node) -> dict:
    found = service.model.explain(asked.node, service.graph)
    return {"id": asked.node, "label": str(found.label), "probability": found.probability,
            "neighbours": [[str(node), effect] for node, effect in found.neighbours],
            "features": [[name, effect] for name, effect in found.features]}


@app.post("/edges", **guarded)
def edges(asked: Node) -> List[dict]:
    frame = service.model.edge_trust(service.graph, nodes=[asked.node])
    return [{"source": str(a), "target": str(b), "trust": float(trust)}
            for a, b, trust in zip(frame["source"], frame["target"], frame["trust"])]


@app.post("/update", **guarded)
def update(change: Update) -> dict:
    live = service
    fresh = {node.id for node in change.nodes}
    if change.remove_edges and (change.nodes or change.add_edges):  # what could fail half way is refused first
        raise HTTPException(409, "remove_edges cannot be combined with other changes")
    if any(a == b for a, b in change.add_edges):
        raise HTTPException(409, "an edge joins a node to itself")
    with live.writing:
        live.graph.places([end for edge in change.add_edges for end in edge if end not in fresh])
        if change.nodes:
            live.graph.add_nodes([node.features for node in change.nodes], [node.id for node in change.nodes])
        live.graph.add_edges(change.add_edges)
        live.graph.remove_edges(change.remove_edges)
        live.quick = False  # a model that reads the whole graph computes it anew
    return {"nodes": live.graph.n_nodes}


@app.post("/reload", **guarded)
def reload() -> dict:
    global service
    service = Service()  # requests go on with the old one meanwhile
    return {"nodes": service.graph.n_nodes}


@app.get("/health")
def health() -> dict:
    return {"status": "ok", "model": service.model.method, "nodes": service.graph.n_nodes}


@app.get("/metrics", response_class=PlainTextResponse)
def metrics() -> str:
    with counting:
        lines = [f'consm_requests_total{{path="{path}",code="{code}"}} {n}' for (path, code), n in counted.items()]
        lines += [f'consm_request_seconds_sum{{path="{path}"}} {seconds:.6f}' for path, seconds in spent.items()]
    return "\n".join(["# TYPE consm_requests_total counter", *lines, f"consm_nodes {service.graph.n_nodes}", ""])
