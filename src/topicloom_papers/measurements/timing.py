"""Times that go into ratios: taken alone, in turns, warm, with every denominator in the same cell.

CPU seconds of one thread, median over the turns (repairs: seconds by the clock, mean over the rounds). The
denominators are measured in the same process and the same minute.
"""

import time
from collections.abc import Callable, Iterator
from statistics import fmean, median

import numpy as np

from topicloom.churn import Maintainer
from topicloom.datasets import generate
from topicloom.methods.dc.conquer import Settings, build_core, conquer
from topicloom.methods.dc.divide_and_conquer import MERGE_LIMIT, divide_and_conquer, merge_levels
from topicloom.methods.dc.join import join
from topicloom.methods.dc.partitioning import divide
from topicloom.methods.dc.star_merge import Part
from topicloom.methods.greedy.greedy_merge import greedy_merge
from topicloom.methods.greedy.low_oda import low_oda
from topicloom.methods.registry import design
from topicloom.model import Change, Interest
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import Churn, interest_of
from topicloom_papers.measurements.churn_curves import tens
from topicloom_papers.measurements.construction import sub_overlays
from topicloom_papers.measurements.measurement import Value, measures, require_connected
from topicloom_papers.printed.literal_gm import literal_greedy_merge

# Turns are taken until there are this many, or this many seconds have gone by and there are two.
_TURNS, _ENOUGH = 5, 4.0
Work = Callable[[], object]


@measures("time-design", alone=True)
def time_design(cell: Cell) -> Iterator[Value]:
    """Seconds of a construction method, of our Greedy Merge and of the literal one, on the same interest."""
    interest = interest_of(cell)
    overlay = design(interest, cell.method, seed=cell.seed, **cell.options)
    require_connected(cell, interest, overlay.links)
    small = generate(nodes=300, topics=interest.n_topics, subscriptions=min(10, interest.n_topics))
    design(small, cell.method, **cell.options)
    times = _beside_greedy_merge(
        interest, {"method": lambda: design(interest, cell.method, seed=cell.seed, **cell.options)}
    )
    yield from _ratios(times["method"], times)


@measures("time-join", alone=True)
def time_join(cell: Cell) -> Iterator[Value]:
    """Seconds of joining overlays of 100 nodes, of our Greedy Merge on all their nodes and of the literal one.

    The check that the parts are topic-connected is the judge's, and no part of the algorithm: its time is taken off.
    """
    interest = interest_of(cell)
    parts = sub_overlays(interest, cell.seed)
    overlay = join(parts, method=cell.method, seed=cell.seed)
    require_connected(cell, overlay.interest, overlay.links)

    def checks() -> None:
        for part, inner in parts:
            require_connected(cell, part, inner.links)

    times = _beside_greedy_merge(
        interest, {"join": lambda: join(parts, method=cell.method, seed=cell.seed), "checks": checks}
    )
    yield from _ratios(max(times["join"] - times["checks"], 0.0), times)


@measures("time-churn", alone=True)
def time_churn(cell: Cell) -> Iterator[Value]:
    """Seconds of a join and of a leave, of Low-ODA from scratch (ours) and of the literal Greedy Merge.

    Steps I and II of the paper, which are what a repair is; ``_with_backups`` is with Step III.
    """
    churn = Churn.of(cell)
    interest = churn.interest()
    base = low_oda(interest, seed=cell.seed)
    maintainer = Maintainer(interest, base, policy=cell.method, seed=cell.seed)
    changes: dict[bool, list[Change]] = {True: [], False: []}
    for turn in churn.rounds:
        changes[turn.joins].append(churn.apply(maintainer, turn))
    now = maintainer.interest
    require_connected(cell, now, maintainer.overlay.links)
    seconds = _in_turns({"rebuild": lambda: low_oda(now, seed=cell.seed), "literal": lambda: _literal(now)})
    yield Value("rebuild_seconds", seconds["rebuild"])
    yield Value("literal_seconds", seconds["literal"])
    for joins, name in ((True, "join"), (False, "leave")):
        rounds = changes[joins][3:]  # the first ones load compiled code
        mean = fmean(change.repair_seconds for change in rounds)
        yield Value(f"{name}_seconds", mean)
        yield Value(f"{name}_of_rebuild", mean / seconds["rebuild"])
        yield Value(f"{name}_of_literal", mean / seconds["literal"])
        yield Value(f"{name}_with_backups_of_rebuild", fmean(c.seconds for c in rounds) / seconds["rebuild"])
        longest = max(change.repair_seconds for change in rounds)
        yield Value(f"longest_{name}_of_rebuild", longest / seconds["rebuild"])
        for size in sorted({tens(change.shadow_size) for change in rounds}):
            alike = [change.repair_seconds for change in rounds if tens(change.shadow_size) == size]
            yield Value(f"{name}_of_rebuild_by_shadow", fmean(alike) / seconds["rebuild"], size)


def _literal(interest: Interest) -> object:
    return literal_greedy_merge(interest.indptr, interest.topics, interest.n_topics)


def _beside_greedy_merge(interest: Interest, works: dict[str, Work]) -> dict[str, float]:
    """Seconds of some pieces of work, and of both denominators."""
    return _in_turns({**works, "gm": lambda: greedy_merge(interest), "literal": lambda: _literal(interest)})


def _ratios(seconds: float, times: dict[str, float]) -> Iterator[Value]:
    yield Value("seconds", seconds)
    yield Value("gm_seconds", times["gm"])
    yield Value("literal_seconds", times["literal"])
    yield Value("time_of_gm", seconds / times["gm"])
    yield Value("time_of_literal", seconds / times["literal"])


def _in_turns(works: dict[str, Work]) -> dict[str, float]:
    """Median CPU seconds of each piece of work."""
    tiny = generate(nodes=30, topics=5, subscriptions=2)
    _literal(tiny), greedy_merge(tiny), low_oda(tiny)  # compiled code is loaded before the clock starts
    taken: dict[str, list[float]] = {name: [] for name in works}
    began = time.process_time()
    for turn in range(_TURNS):
        if turn >= 2 and time.process_time() - began > _ENOUGH:
            break
        for name, work in works.items():
            start = time.process_time()
            work()
            taken[name].append(time.process_time() - start)
    return {name: median(seconds) for name, seconds in taken.items()}


@measures("time-phases", alone=True)
def phases(cell: Cell) -> Iterator[Value]:
    """CPU seconds of T_in (partitions, with their star sets) and T_out (the star merge), after one run to warm up.

    Star sets are counted as inner: that is where they are computed, and their time is small beside the rest.
    """
    interest, count = interest_of(cell), int(cell.options["partitions"])
    overlay = divide_and_conquer(interest, partitions=count, seed=cell.seed)
    require_connected(cell, interest, overlay.links)
    settings = Settings(interest.n_topics, seed=cell.seed)
    subscribers = np.diff(interest.topic_indptr)
    nobody = build_core(Part.of(interest, np.empty(0, np.int64)), settings)
    start = time.process_time()
    partition = divide(interest, count, "random", seed=cell.seed)
    pieces = [
        conquer(Part.of(interest, np.flatnonzero(partition == number)), number, nobody, subscribers, settings)
        for number in range(count)
    ]
    between = time.process_time()
    levels = list(merge_levels(pieces, MERGE_LIMIT, settings))
    end = time.process_time()
    links = sum(len(piece.links) for level in [pieces, *levels] for piece in level)
    if links != overlay.n_links:
        raise AssertionError(f"the phases have {links} links, the whole has {overlay.n_links}")
    yield Value("inner_seconds", between - start)
    yield Value("outer_seconds", end - between)
