"""The small graph of the reference values, and the pieces every generator here shares.

24 nodes: node 0 is a hub with 12 neighbours, nodes 22 and 23 are isolated, node 21 has no feature
at all; edges carry weights. Every input number is a multiple of 1/256, so that the C library, which
computes in single precision, starts from exactly the same values as this double precision code.
"""
import json
import os

import torch

torch.set_default_dtype(torch.float64)
HERE = os.path.dirname(os.path.abspath(__file__))
NODES, FEATURES, CLASSES, HIDDEN = 24, 11, 3, 8
LEARNING_RATE, WEIGHT_DECAY, STEPS = 0.01, 5e-4, 10


def grid(values):
    """The nearest multiples of 1/256, never zero."""
    rounded = torch.round(values * 256) / 256
    return torch.where(rounded == 0, torch.full_like(rounded, 1 / 256), rounded)


class Graph:
    """Undirected edges u < v with weights; both directions, sorted by (row, column), in row/col."""

    def __init__(self):
        random = torch.Generator().manual_seed(7)
        edges = {(0, v) for v in range(1, 13)}
        while len(edges) < 44:
            u, v = sorted(torch.randint(1, 22, (2,), generator=random).tolist())
            if u != v:
                edges.add((u, v))
        self.edges = sorted(edges)
        self.weights = grid(0.5 + 1.5 * torch.rand(len(self.edges), generator=random))
        both = sorted([(u, v, k) for k, (u, v) in enumerate(self.edges)]
                      + [(v, u, k) for k, (u, v) in enumerate(self.edges)])
        self.row = torch.tensor([u for u, _, _ in both])
        self.col = torch.tensor([v for _, v, _ in both])
        self.undirected = torch.tensor([k for _, _, k in both])  # directed entry -> edge number
        self.directed_weights = self.weights[self.undirected]

        keep = torch.rand(NODES, FEATURES, generator=random) < 0.35
        keep[21] = False
        keep[22, 3] = keep[23, 5] = True
        self.features = torch.where(keep, grid(torch.rand(NODES, FEATURES, generator=random) + 0.25),
                                    torch.zeros(NODES, FEATURES))
        self.labels = torch.randint(0, CLASSES, (NODES,), generator=random)
        self.train = torch.tensor([0, 2, 3, 5, 8, 13, 17, 20, 22])
        assert set(self.labels[self.train].tolist()) == set(range(CLASSES))

    def dense(self, values=None):
        """The n x n matrix with these values on the directed entries (default: the weights)."""
        values = self.directed_weights if values is None else values
        return torch.zeros(NODES, NODES).index_put((self.row, self.col), values)


def gcn_norm(adjacency, loops=True):
    """D^-1/2 (A + I) D^-1/2, D the row sums; rows without any entry stay zero."""
    adjacency = adjacency + torch.eye(NODES) if loops else adjacency
    degree = adjacency.sum(1)
    scale = torch.where(degree > 0, degree.clamp(min=1e-30).rsqrt(), torch.zeros_like(degree))
    return scale[:, None] * adjacency * scale[None, :]


class Parameters(dict):
    """Named tensors; the first request for a name draws it."""

    def __init__(self, seed, scale):
        super().__init__()
        self.random, self.scale = torch.Generator().manual_seed(seed), scale

    def get_or_draw(self, name, shape, center, spread):
        if name not in self:
            noise = torch.randn(shape, generator=self.random)
            self[name] = grid(center + spread * noise).requires_grad_()
        assert tuple(self[name].shape) == tuple(shape), name
        return self[name]

    def matrix(self, name, rows, columns):
        return self.get_or_draw(name, (rows, columns), 0, self.scale * (2 / (rows + columns)) ** 0.5)

    def vector(self, name, *shape, center=0.0):
        return self.get_or_draw(name, shape, center, 0.2)

    def linear(self, number, x, width, bias=True):
        """x W + b with W (in, out); the linear maps of a model are numbered in order of use."""
        y = x @ self.matrix(f"w{number}", x.shape[1], width)
        return y + self.vector(f"b{number}", width) if bias else y


def number(value):
    return float(f"{value.item() if torch.is_tensor(value) else value:.9g}")


def tensor(value):
    value = value.detach()
    integer = not value.is_floating_point()
    flat = value.flatten().tolist()
    return {"shape": list(value.shape), "values": flat if integer else [number(v) for v in flat]}


def measure(config, forward, seed, inputs=None, scale=1.0):
    """One entry of a dump. forward(parameters) gives (logits, loss, {name: further output})."""
    parameters = Parameters(seed, scale)
    forward(parameters)                                       # the first call draws the parameters
    start = {name: tensor(value) for name, value in parameters.items()}
    logits, loss, outputs = forward(parameters)
    gradients = torch.autograd.grad(loss, list(parameters.values()), retain_graph=True)
    entry = {"config": config, "inputs": {k: tensor(v) for k, v in (inputs or {}).items()},
             "parameters": start, "logits": tensor(logits), "loss": number(loss),
             "outputs": {k: tensor(v) for k, v in outputs.items()},
             "gradients": {n: tensor(g) for n, g in zip(parameters, gradients)}}
    optimizer = torch.optim.Adam(list(parameters.values()), lr=LEARNING_RATE,
                                 weight_decay=WEIGHT_DECAY)
    losses = []
    for _ in range(STEPS):                                    # losses[k]: after k + 1 updates
        optimizer.zero_grad()
        forward(parameters)[1].backward()
        optimizer.step()
        losses.append(number(forward(parameters)[1]))
    entry["losses"] = losses
    return entry


def write(name, content):
    """Compact JSON with one parameter, output or list a line, so that a diff can be read."""
    def lines(value, indent):
        pad = " " * indent
        if isinstance(value, dict) and value and any(isinstance(v, (dict, list)) for v in value.values()) \
                and "values" not in value:
            body = ",\n".join(f"{pad} {json.dumps(k)}: {lines(v, indent + 1)}" for k, v in value.items())
            return "{\n" + body + "\n" + pad + "}"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n" + ",\n".join(pad + " " + lines(v, indent + 1) for v in value) + "\n" + pad + "]"
        return json.dumps(value, separators=(",", ":"))
    with open(os.path.join(HERE, name), "w", encoding="ascii") as file:
        file.write(lines(content, 0) + "\n")
