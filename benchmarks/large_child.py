"""What ``benchmarks.large`` runs beside the command line: ``python -m benchmarks.large_child TASK …``; prints JSON."""

import json
import os
import sys
import time
from pathlib import Path

import topicloom as tl
from topicloom.spark.session.session import spark_session
from topicloom.spark.steps.prepare import prepare
from topicloom.spark.steps.read import read_subscriptions


def encode(source: str, out: str) -> dict:
    """Spark alone: read the table, give ids to its labels, write it back with ids. Seconds without Spark's start."""
    with spark_session() as spark:
        began = time.perf_counter()
        prepared = prepare(read_subscriptions(spark, source))
        for name, table in (("pairs", prepared.encoded), ("nodes", prepared.nodes), ("topics", prepared.topics)):
            table.write.parquet(str(Path(out) / name))
        return {"seconds": time.perf_counter() - began}


def sample(options: str, partitions: str) -> dict:
    """Gm, dc and rounds-gm on a small interest."""
    interest = tl.generate(**json.loads(options))
    return {name: _made(interest, name, partitions) for name in ("gm", "dc", "rounds-gm")}


def real(name: str) -> dict:
    """Gm and rounds-gm on a real interest."""
    interest = tl.read_subscriptions(Path(os.environ["TOPICLOOM_DATASETS"]) / name).interest()
    return {method: _made(interest, method) for method in ("gm", "rounds-gm")}


def _made(interest: tl.Interest, method: str, partitions: str = "") -> dict:
    """Links, CPU seconds and degrees of a method in memory; its overlay must be topic-connected."""
    options = {"partitions": int(partitions)} if method == "dc" else {}
    tl.design(tl.generate(nodes=100, topics=10, subscriptions=3), method)  # compiles
    began = time.process_time()
    overlay = tl.design(interest, method, seed=1, **options)
    seconds = time.process_time() - began
    if not overlay.verify().ok:
        raise RuntimeError(f"{method} gave an overlay that is not topic-connected")
    degree = overlay.degree()
    return {"links": overlay.n_links, "cpu_seconds": seconds, "max_degree": int(degree.max()), "degree": degree.mean()}


if __name__ == "__main__":
    task = {"encode": encode, "sample": sample, "real": real}[sys.argv[1]]
    print(json.dumps(task(*sys.argv[2:])))
