"""The endpoint with a real server and client: python examples/serve/test_app.py"""
import concurrent.futures
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time

import consm
import httpx
import numpy as np

here, folder = os.path.dirname(os.path.abspath(__file__)), tempfile.mkdtemp()
rng = np.random.default_rng(0)
ids = [f"n{i}" for i in range(79)] + ["0"]  # schemathesis asks for "0"
x = rng.normal(size=(80, 5))
ends = np.array([[i, (i * 7 + 1 + j) % 80] for i in range(80) for j in range(2) if i != (i * 7 + 1 + j) % 80]).T
graph = consm.Graph.from_arrays(ends, x, [i % 2 for i in range(80)], node_ids=ids)
model = consm.GCNClassifier(random_state=0, epochs=10).fit(graph)
model.save(os.path.join(folder, "model.safetensors"))
graph.save(os.path.join(folder, "graph"))

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT, TOKEN = free.getsockname()[1], "secret"
server = subprocess.Popen(
    [sys.executable, "-m", "uvicorn", "app:app", "--app-dir", here, "--port", str(PORT), "--log-level", "warning"],
    env=dict(os.environ, CONSM_MODEL=os.path.join(folder, "model.safetensors"),
             CONSM_GRAPH=os.path.join(folder, "graph"), CONSM_TOKEN=TOKEN))
client = httpx.Client(base_url=f"http://127.0.0.1:{PORT}", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)


def post(path, body, code=200, **more):
    answer = client.post(path, json=body, **more)
    assert answer.status_code == code, (path, body, answer.status_code, answer.text)
    return answer.json()


try:
    for _ in range(300):
        try:
            client.get("/health").raise_for_status()
            break
        except httpx.TransportError:
            assert server.poll() is None, "the server did not start"
            time.sleep(0.1)
    assert client.get("/health").json()["nodes"] == 80

    again = consm.load_model(os.path.join(folder, "model.safetensors"))
    whole = again.predict_proba(consm.load(os.path.join(folder, "graph"), model=again))
    said = post("/predict", {"nodes": ["n7", "n3"]})
    assert [list(row["probabilities"].values()) for row in said] == whole[[7, 3]].tolist()
    assert post("/predict", {"nodes": ids[:9]}) == [row for node in ids[:9] for row in post("/predict", {"nodes": [node]})]

    # What is wrong is said, and changes nothing.
    post("/predict", {"nodes": ["nobody"]}, 404)
    post("/predict", {"nodes": []}, 422)
    post("/predict", {"nodes": ["n1"] * 1001}, 422)
    post("/predict", {"nodes": ["n1"], "more": 1}, 422)
    post("/predict", {"nodes": ["n1"]}, 401, headers={"Authorization": "Bearer wrong"})
    post("/predict", {"nodes": ["x" * 199] * 9000}, 413)
    pieces = client.post("/predict", content=(b" " * 65536 for _ in range(20)))  # states no length
    assert pieces.status_code == 413 and "more than" in pieces.json()["detail"]
    post("/update", {"nodes": [{"id": "new", "features": [1, 2]}]}, 409)
    post("/update", {"nodes": [{"id": "n1", "features": [1, 2, 3, 4, 5]}]}, 409)
    post("/update", {"nodes": [{"id": "new", "features": [1, 2, 3, 4, 5]}], "add_edges": [["new", "nobody"]]}, 404)
    post("/update", {"add_edges": [["n1", "n1"]]}, 409)
    post("/update", {"remove_edges": [["n1", "n1"]]}, 409)
    post("/update", {"remove_edges": [["n1", "n8"]], "add_edges": [["n1", "n2"]]}, 409)
    assert client.get("/health").json()["nodes"] == 80
    assert post("/predict", {"nodes": ["n7", "n3"]}) == said

    # A new account, scored at once.
    post("/update", {"nodes": [{"id": "new", "features": [1, 2, 3, 4, 5]}], "add_edges": [["new", "n1"], ["new", "n2"]]})
    assert post("/predict", {"nodes": ["new"]})[0]["id"] == "new"
    assert len(post("/edges", {"node": "new"})) == 2
    assert {row[0] for row in post("/explain", {"node": "new"})["neighbours"]} == {"n1", "n2"}
    post("/update", {"remove_edges": [["n1", "new"]]})
    assert len(post("/edges", {"node": "new"})) == 1
    post("/edges", {"node": "nobody"}, 404)

    # Many at once while the model is reloaded.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(post, "/predict", {"nodes": [f"n{i % 80}"]}) for i in range(60)]
        post("/reload", {})
        assert all(row.result()[0]["label"] for row in asked)
    assert client.get("/health").json()["nodes"] == 80
    assert 'consm_requests_total{path="/predict",code="404"} 1' in client.get("/metrics").text
    assert "/predict" in client.get("/openapi.json").json()["paths"]

    # Requests made from the schema, valid and not: no 5xx, no answer that the schema does not know.
    if importlib.util.find_spec("schemathesis"):
        with open(os.path.join(folder, "schemathesis.toml"), "w") as settings:  # 413 refuses, too
            settings.write("[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 404, 409, 413, 422]\n")
        subprocess.run([os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run",
                        f"http://127.0.0.1:{PORT}/openapi.json", "-H", f"Authorization: Bearer {TOKEN}",
                        "--max-examples", "15", "--seed", "1"], check=True, cwd=folder)
    else:
        print("SKIPPED: schemathesis is not installed")
    print("the endpoint answers")
finally:
    server.terminate()
    server.wait()
