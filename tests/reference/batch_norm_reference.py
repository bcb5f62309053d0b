"""Batch norm after training, by PyTorch's own F.batch_norm, in double precision.

Run `python batch_norm_reference.py` (needs torch, nothing else) to rewrite batch_norm.json beside
this file: a GIN with batch norm trained for ten steps of Adam, then evaluated with the running
statistics that training left behind.
"""
import torch
import torch.nn.functional as F

import models_reference as models
from graph_reference import HIDDEN, LEARNING_RATE, STEPS, WEIGHT_DECAY, Parameters, number, tensor, write

MOMENTUM, EPS = 0.1, 1e-5


class Statistics(dict):
    """The running mean and variance of every batch norm, by number."""

    def __init__(self):
        super().__init__()
        self.training = True

    def __call__(self, p, index, x):
        width = x.shape[1]
        mean, variance = self.setdefault(index, (torch.zeros(width), torch.ones(width)))
        return F.batch_norm(x, mean, variance, p.vector(f"bn{index}.scale", width, center=1.0),
                            p.vector(f"bn{index}.shift", width), self.training, MOMENTUM, EPS)


def entry(layers, seed):
    parameters, statistics = Parameters(seed, 1.0), Statistics()
    models.batch_norm = statistics

    def forward():
        return models.gin(parameters, layers, HIDDEN, "batch")
    forward()                                                 # the first call draws the parameters
    statistics.clear()
    start = {name: tensor(value) for name, value in parameters.items()}
    optimizer = torch.optim.Adam(list(parameters.values()), lr=LEARNING_RATE,
                                 weight_decay=WEIGHT_DECAY)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = models.nll(forward())
        losses.append(number(loss))
        loss.backward()
        optimizer.step()
    statistics.training = False
    outputs = {"evaluated": tensor(forward())}
    for index, (mean, variance) in statistics.items():
        outputs[f"bn{index}.mean"], outputs[f"bn{index}.variance"] = tensor(mean), tensor(variance)
    return {"config": {"layers": layers, "hidden": HIDDEN, "norm": "batch"}, "parameters": start,
            "losses": losses, "outputs": outputs}


if __name__ == "__main__":
    write("batch_norm.json", {"model": "gin", "entries": [entry(layers, 600 + layers)
                                                          for layers in (1, 2, 3)]})
