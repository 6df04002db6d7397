"""Seeded instances for the kernel benchmarks: fixed-size interests, topics drawn without replacement."""

import gzip
from pathlib import Path

import numpy as np


def popularity(n_topics, kind, alpha=2.0):
    """Probability of each topic: uniform, Zipf, or exponential with 55 % of the mass on the first tenth."""
    ranks = np.arange(1, n_topics + 1, dtype=np.float64)
    if kind == "uniform":
        weights = np.ones(n_topics)
    elif kind == "zipf":
        weights = ranks**-alpha
    else:
        weights = np.exp(np.log(1 - 0.55) / (0.1 * n_topics) * ranks)
    return weights / weights.sum()


def fixed_size(n_nodes, n_topics, size, kind="uniform", alpha=2.0, seed=0):
    """CSR (indptr int64, topics int32) in which every node wants ``size`` topics."""
    rng = np.random.default_rng(seed)
    with np.errstate(divide="ignore"):
        log_weights = np.log(popularity(n_topics, kind, alpha))
    topics = np.empty((n_nodes, size), np.int32)
    for start in range(0, n_nodes, 4096):
        block = topics[start : start + 4096]
        # The Gumbel trick draws without replacement in proportion to the weights.
        keys = log_weights + rng.gumbel(size=(len(block), n_topics))
        block[:] = np.sort(np.argpartition(-keys, size - 1, axis=1)[:, :size], axis=1)
    return np.arange(n_nodes + 1, dtype=np.int64) * size, topics.ravel()


def from_csv(path: Path):
    """(indptr, topics, n_topics) of a gzipped csv of node, topic."""
    with gzip.open(path, "rt") as lines:
        next(lines)
        pairs = [line.rstrip("\n").split(",") for line in lines]
    _, nodes = np.unique([node for node, _ in pairs], return_inverse=True)
    names, topics = np.unique([topic for _, topic in pairs], return_inverse=True)
    keys = np.unique(nodes.astype(np.int64) * len(names) + topics)
    indptr = np.zeros(nodes.max() + 2, np.int64)
    np.cumsum(np.bincount(keys // len(names)), out=indptr[1:])
    return indptr, (keys % len(names)).astype(np.int32), len(names)
