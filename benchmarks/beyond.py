"""Measure how far refinement, bounds and proofs get beyond greedy: ``python -m benchmarks.beyond [ROW …] [--again]``.

Every row is stored in benchmarks/beyond.json when it is finished, and the tables and the plot of
docs/methods/beyond-greedy.md and of the README are written from that. A run measures the rows that are missing or were
measured with other source code: repeat the command to resume an interrupted run.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks import beyond_report
from benchmarks.instances import DATASETS, EXPONENTIAL_10K, INSTANCES, SEED, TWITTER, UNIFORM_10K, Instance
from benchmarks.report import circumstances
from benchmarks.runner import ROOT

SEEDS = 5
MOST_TIME, MOST_LINKS, MOST_MEAN = 2.5, 1.005, 1.002
MOST_OVER_BOUND, MOST_OVER_PAIRS, MOST_SECONDS = 1.10, 1.07, 180


@dataclass(frozen=True)
class Row:
    """An interest, what is measured on it, and what the links must be, as multiples of gm's.

    ``must`` has efforts of refinements and what they must reach; ``efforts`` are measured with them. ``best`` is the
    effort of the last refinement, for the best overlay beside the bound. ``exact`` is tried; ``proof`` says that it has
    to succeed.
    """

    instance: Instance
    must: dict[float, float] = field(default_factory=dict)
    efforts: tuple[float, ...] = (1, 3, 10)
    seeds: int = 1
    best: float = 100
    bound: bool = True
    weighted: float | None = MOST_LINKS
    degree: int | None = None
    exact: bool = False
    proof: bool = False


def _real(name: str, nodes: int, topics: int) -> Instance:
    suffix = ".csv" if name == "ros2_autoware" else ".csv.gz"
    return Instance(name, nodes, topics, dataset=DATASETS / f"{name}{suffix}")


def _flat(popularity: str, degree: int) -> Row:
    """A row whose maximum degree is lowered."""
    instance = Instance(f"2k-{popularity}-degree", 2_000, 200, 20, popularity)
    return Row(instance, {}, (), degree=degree, bound=False)


ROWS = (
    Row(INSTANCES["1k-zipf"], {10: 0.83, 100: 0.80}, (1, 3, 10, 30, 100), SEEDS, 1_000, weighted=0.83),
    Row(INSTANCES["1k-exponential"], {10: 0.81, 100: 0.77}, (1, 3, 10, 30, 100), SEEDS, 1_000, weighted=0.81),
    Row(INSTANCES["1k-uniform"], {10: 0.995, 100: 0.96}, (1, 3, 10, 30, 100), SEEDS, 1_000, weighted=1.002),
    Row(UNIFORM_10K, {30: 0.975}, (1, 3, 10, 30)),
    Row(EXPONENTIAL_10K, {30: 0.845}, (1, 3, 10, 30)),
    Row(INSTANCES["2k-uniform"]), Row(INSTANCES["2k-zipf"]), Row(INSTANCES["2k-exponential"]),
    Row(_real("ros2_autoware", 94, 303), {}, (1, 3, 10), exact=True, proof=True),
    Row(_real("mastodon_instances", 176, 1_263), {10: 0.97}, (1, 3, 10, 30, 100), SEEDS, 1_000, exact=True),
    Row(_real("mastodon_accounts", 1_263, 1_263), {10: 0.925}, (1, 3, 10, 30, 100), SEEDS, 1_000),
    Row(_real("github_follow", 12_459, 12_925), {10: 0.965}, best=30),
    Row(_real("msweb_areas", 32_711, 285), {10: 0.97}, best=30),
    Row(TWITTER, {1: 0.99999}, (1,), best=0, bound=False),
    Row(INSTANCES["100k-zipf"], {}, (), best=0, bound=False, weighted=0.88),
    Row(INSTANCES["20k-uniform"], {}, (), best=0, bound=False),
    _flat("uniform", 9), _flat("zipf", 7), _flat("exponential", 7),
    Row(Instance("50-uniform", 50, 20, 5), {}, (), exact=True, proof=True),
    Row(Instance("50-exponential", 50, 20, 5, "exponential"), {}, (), exact=True, proof=True),
    Row(Instance("100-zipf", 100, 30, 6, "zipf"), {}, (), exact=True, proof=True),
    Row(Instance("100-uniform", 100, 30, 6), {}, (), exact=True),
    Row(Instance("200-exponential", 200, 50, 8, "exponential"), {}, (), exact=True),
    Row(Instance("200-uniform", 200, 50, 8), {}, (), exact=True),
)  # fmt: skip


def interest_of(instance: Instance) -> Any:
    """The interest of an instance."""
    import pyarrow.csv

    import topicloom as tl

    if instance.dataset is None:
        sizes = instance.nodes, instance.topics, instance.subscriptions
        return tl.generate(*sizes, instance.popularity, alpha=instance.alpha, seed=SEED)
    text = pyarrow.csv.ConvertOptions(column_types={"node": "string", "topic": "string"})
    table = pyarrow.csv.read_csv(instance.dataset, convert_options=text)
    return tl.Interest.from_pairs(table["node"].to_pylist(), table["topic"].to_pylist())


def timed(function: Callable[[], Any], repetitions: int = 1) -> tuple[Any, float]:
    """(result, CPU seconds of the fastest repetition)."""
    fastest = float("inf")
    for _ in range(repetitions):
        began = time.process_time()
        result = function()
        fastest = min(fastest, time.process_time() - began)
    return result, fastest


def measure(row: Row) -> dict:
    """All values of a row; every overlay is judged."""
    import topicloom as tl

    interest = interest_of(row.instance)
    small = interest.n_nodes <= 2_000
    repetitions = 9 if small else 3 if interest.n_nodes <= 40_000 else 1
    gm, unit = timed(lambda: tl.greedy_merge(interest), repetitions)
    weighted, seconds = timed(lambda: tl.weighted_greedy_merge(interest), repetitions)
    facts: dict = {
        "title": row.instance.title, "gm": _shape(gm), "gm_seconds": unit, "checks": [],
        "weighted": {"links": weighted.n_links, "time": seconds / unit}, "refined": {}, "curve": [],
    }  # fmt: skip
    _weighted(row, facts, interest, gm, weighted, small)
    start = min(gm, weighted, key=_links)
    best = start
    for effort in row.efforts:
        best = min(best, _refined(row, facts, start, effort), key=_links)
    if row.best:
        last = tl.refine(start, effort=row.best)
        facts["curve"] = last.report["refinement"]["curve"]
        best = min(best, last, key=_links)
    facts["best"] = {**_shape(best), "effort": row.best}
    if row.bound:
        _bounded(row, facts, interest, best)
    if row.degree:
        _flattened(row, facts, interest)
    if row.exact:
        _proved(row, facts, interest)
    return facts


def _weighted(row: Row, facts: dict, interest: Any, gm: Any, weighted: Any, small: bool) -> None:
    import topicloom as tl

    _judged(gm, weighted)
    if row.weighted is None:
        return
    _check(facts, "weighted: links / gm's", weighted.n_links / gm.n_links, row.weighted)
    _check(facts, "weighted: time / gm's", facts["weighted"]["time"], MOST_TIME)
    if small:
        pairs = [(tl.weighted_greedy_merge(interest, seed=s), tl.greedy_merge(interest, seed=s)) for s in range(SEEDS)]
        mean = sum(one.n_links / other.n_links for one, other in pairs) / SEEDS
        _check(facts, "weighted: links / gm's, mean of five seeds", mean, MOST_MEAN)


def _refined(row: Row, facts: dict, start: Any, effort: float) -> Any:
    """The best of all seeds. The mean of links is stored, and the time of the fastest, as for gm."""
    import topicloom as tl

    runs = [timed(lambda seed=seed: tl.refine(start, effort=effort, seed=seed)) for seed in range(row.seeds)]
    _judged(*(overlay for overlay, _ in runs))
    mean = sum(overlay.n_links for overlay, _ in runs) / len(runs) / facts["gm"]["links"]
    times = min(seconds for _, seconds in runs) / facts["gm_seconds"]
    facts["refined"][f"{effort:g}"] = {"ratio": mean, "time": times}
    if effort in row.must:
        _check(facts, f"refined, effort {effort:g}: links / gm's", mean, row.must[effort])
        _check(facts, f"refined, effort {effort:g}: time / gm's", times, effort)
    return min((overlay for overlay, _ in runs), key=_links)


def _bounded(row: Row, facts: dict, interest: Any, best: Any) -> None:
    import topicloom as tl

    bound, seconds = timed(lambda: tl.lower_bound(interest))
    if not bound.check(interest):
        raise AssertionError(f"{row.instance.name}: the certificate does not hold")
    facts["bound"] = {"links": bound.links, "kind": bound.kind, "seconds": seconds}
    if interest.n_nodes <= 10_000:
        skewed = bound.kind == "pair prices" and row.instance.popularity != "uniform"
        _check(facts, "best / bound", best.n_links / bound.links, MOST_OVER_PAIRS if skewed else MOST_OVER_BOUND)
        _check(facts, "bound: CPU seconds", seconds, MOST_SECONDS)


def _flattened(row: Row, facts: dict, interest: Any) -> None:
    import topicloom as tl

    start = tl.minmax_oda(interest)
    flat, seconds = timed(lambda: tl.refine(start, effort=100, objective="degree"))
    _judged(flat)
    facts["flat"] = {**_shape(flat), "start": _shape(start), "time": seconds / facts["gm_seconds"]}
    _check(facts, "maximum degree", facts["flat"]["degree"], row.degree)
    _check(facts, "its links / gm's", flat.n_links / facts["gm"]["links"], 1)


def _proved(row: Row, facts: dict, interest: Any) -> None:
    import topicloom as tl

    overlay, seconds = timed(lambda: tl.exact(interest))
    _judged(overlay)
    facts["exact"] = {"links": overlay.n_links, "seconds": seconds, **overlay.report["exact"]}
    if row.proof:
        _check(facts, "links above the proved bound", overlay.n_links - facts["exact"]["bound"], 0)


def _check(facts: dict, what: str, value: float, most: float | None) -> None:
    assert most is not None
    facts["checks"].append({"what": what, "value": value, "most": most, "met": bool(round(value, 4) <= most)})


def _links(overlay: Any) -> int:
    return int(overlay.n_links)


def _judged(*overlays: Any) -> None:
    for overlay in overlays:
        if not overlay.verify().ok:
            raise AssertionError(f"{overlay} is not topic-connected")


def _shape(overlay: Any) -> dict:
    metrics = overlay.measure()
    diameter = metrics.mean_topic_diameter
    return {"links": overlay.n_links, "degree": metrics.max_degree, "diameter": round(diameter, 1)}


def compile_all() -> None:
    """Compile what is timed."""
    from topicloom.spark.session.warm import warm, warm_refinement, warm_searches

    warm("minmax-oda")
    warm_searches()
    warm_refinement()


def source() -> str:
    """Names the source code that is measured: the tree of its last commit."""
    command = ["git", "rev-parse", "--short", "HEAD:src/topicloom"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def main(argv: list[str] | None = None) -> int:
    """Measure the chosen rows that are not stored yet; 1 if a stored one falls short."""
    names = [row.instance.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beyond", description=__doc__, allow_abbrev=False)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"some of {', '.join(names)} (default: all)")
    parser.add_argument("--again", action="store_true", help="measure also what is stored for this source code")
    parser.add_argument("--render", action="store_true", help="measure nothing; write tables and plot from the store")
    options = parser.parse_args(argv)
    if unknown := set(options.rows) - set(names):
        parser.error(f"there is no row {', '.join(sorted(unknown))}; the rows are {', '.join(names)}")
    stored, code = beyond_report.stored(ROOT), source()
    chosen = [row for row in ROWS if row.instance.name in (options.rows or names) and row.instance.present]
    if not options.render:
        compile_all()
        for row in chosen:
            name = row.instance.name
            if options.again or stored.get(name, {}).get("source") != code:
                began = time.process_time()
                facts = {**measure(row), "source": code, "at": circumstances(ROOT)}
                stored[name] = {**facts, "seconds": round(time.process_time() - began, 1)}
                print(f"{name}: {stored[name]['seconds']} s", file=sys.stderr, flush=True)
                beyond_report.store(ROOT, {name: stored[name] for name in names if name in stored})
    beyond_report.write(ROOT, stored)
    short = [f"{name}: {check['what']}" for name in stored for check in stored[name]["checks"] if not check["met"]]
    print("falls short: " + "; ".join(short) if short else "all met", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
