"""One measurement in a process of its own: ``python -m benchmarks.child METHOD INSTANCE.npz REPETITIONS``.

METHOD is ``literal``, the name of a construction method (``low-oda:rho=3``), or ``load``, which only imports and loads;
``store NAME PATH 0`` writes an instance. The last line printed is JSON.
"""

import json
import resource
import sys
import time
from pathlib import Path

from benchmarks.instances import INSTANCES, TINY, load

# No repetition is begun after this many seconds of CPU time.
ENOUGH = 5.0
GREEDY = ("gm", "weighted-gm", "minmax-oda", "low-oda:rho=3")


def builder(method):
    """Function interest -> links."""
    if method == "literal":
        from topicloom_papers.printed.literal_gm import literal_greedy_merge

        return lambda interest: literal_greedy_merge(interest.indptr, interest.topics, interest.n_topics)
    import topicloom as tl

    name, _, rest = method.partition(":")
    options = {key: float(value) for key, value in (item.split("=") for item in rest.split(",") if item)}
    return lambda interest: tl.design(interest, name, seed=0, **options).links


def peak_bytes():
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def load_search(interest, tiny, weighted):
    """Compile, or load, the search that the greedy engine will take: another one than on a tiny interest."""
    import numpy as np

    from topicloom.kernels.greedy.engine import cheapest_search, greedy_links
    from topicloom.kernels.greedy.topic_weights import node_weights, topic_weights

    subscribers = np.diff(interest.topic_indptr)
    worths = node_weights(interest.indptr, interest.topics, topic_weights(subscribers)) if weighted else None
    search = cheapest_search(interest.n_nodes, np.diff(interest.indptr), subscribers, worths)
    for scale in (1, 64) if weighted else (1,):  # a byte for a bound, or two
        weights = scale + np.arange(tiny.n_topics) % 3 if weighted else None
        greedy_links(tiny.indptr, tiny.topics, tiny.n_topics, weights=weights, search=search, seed=0)


def measure(method, path, repetitions):
    """Seconds of the first call on a tiny interest, then of each repetition; peak memory before anything is judged."""
    import numpy as np

    import topicloom as tl

    interest = load(path)
    result = {"method": method, "first_call": 0.0, "wall": [], "cpu": []}
    if method == "load":
        return {**result, "peak": peak_bytes()}
    build = builder(method)
    tiny = tl.generate(TINY.nodes, TINY.topics, TINY.subscriptions)
    began = time.process_time()
    build(tiny)
    result["first_call"] = time.process_time() - began
    if method in GREEDY:
        load_search(interest, tiny, weighted=method == "weighted-gm")
    while len(result["cpu"]) < repetitions and sum(result["cpu"]) < ENOUGH:
        wall, cpu = time.perf_counter(), time.process_time()
        links = build(interest)
        result["cpu"].append(time.process_time() - cpu)
        result["wall"].append(time.perf_counter() - wall)
    result["peak"] = peak_bytes()
    if repetitions:
        if not tl.verify(interest, links).ok:
            raise AssertionError(f"{method} on {path.stem}: the overlay is not topic-connected")
        degree = np.bincount(links.ravel(), minlength=interest.n_nodes)
        result |= {"links": len(links), "average_degree": float(degree.mean()), "max_degree": int(degree.max())}
    return result


def main():
    task, path, repetitions = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if task == "store":
        INSTANCES[path.stem].store(path)
    else:
        print(json.dumps(measure(task, path, int(repetitions))))


if __name__ == "__main__":
    main()
