"""What ``benchmarks.large`` runs beside the command line: ``python -m benchmarks.large_child TASK …``; prints JSON."""

import json
import os
import sys
import time
from pathlib import Path

import topicloom as tl
from topicloom.pipeline.prepare import prepare
from topicloom.pipeline.read import read_subscriptions
from topicloom.spark.session import spark_session


def encode(source: str, out: str) -> dict:
    """Spark alone: read the table, give ids to its labels, write it back with ids. Seconds without Spark's start."""
    with spark_session() as spark:
        began = time.perf_counter()
        prepared = prepare(read_subscriptions(spark, source))
        for name, table in (("pairs", prepared.encoded), ("nodes", prepared.nodes), ("topics", prepared.topics)):
            table.write.parquet(str(Path(out) / name))
        return {"seconds": time.perf_counter() - began}


def sample(options: str, partitions: str) -> dict:
    """Average degrees of gm and dc on a small interest, in memory."""
    interest = tl.generate(**json.loads(options))
    degrees = {}
    for method, extra in (("gm", {}), ("dc", {"partitions": int(partitions)})):
        overlay = tl.design(interest, method, seed=1, **extra)
        if not tl.verify(interest, overlay.links).ok:
            raise RuntimeError(f"{method} gave an overlay that is not topic-connected")
        degrees[method] = 2 * overlay.n_links / interest.n_nodes
    return degrees


def real() -> dict:
    """Links, CPU seconds and maximum degree of gm and rounds-gm on every real interest."""
    found = {}
    for path in sorted(Path(os.environ.get("TOPICLOOM_DATASETS", "")).glob("*.csv*")):
        interest = tl.read_subscriptions(path)
        made = {}
        for method in ("gm", "rounds-gm"):
            tl.design(tl.generate(nodes=100, topics=10, subscriptions=3), method)  # compiles
            began = time.process_time()
            overlay = tl.design(interest, method, seed=1)
            seconds = time.process_time() - began
            if not overlay.verify().ok:
                raise RuntimeError(f"{method} gave an overlay of {path.name} that is not topic-connected")
            made[method] = {"links": overlay.n_links, "cpu_seconds": seconds, "max_degree": int(overlay.degree().max())}
        found[path.name.split(".")[0]] = made
    return found


if __name__ == "__main__":
    task = {"encode": encode, "sample": sample, "real": real}[sys.argv[1]]
    print(json.dumps(task(*sys.argv[2:])))
