"""Divide and conquer (DC): Greedy Merge in partitions of the nodes, then star merges over the partitions."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from topicloom.errors import InvalidOptionError
from topicloom.kernels.greedy.engine import GREEDY_MERGE
from topicloom.methods.dc.conquer import (
    INNER_METHODS,
    Core,
    Piece,
    Settings,
    build_core,
    conquer,
    group_units,
    merge_group,
    pn_ratios,
    together,
)
from topicloom.methods.dc.partitioning import (
    checked_division,
    checked_partitions,
    choose_core,
    choose_count,
    core_size,
    divide,
    largest_nodes,
    pool_size,
    trial_counts,
)
from topicloom.methods.dc.star_merge import Part, subscribers_in
from topicloom.methods.greedy.grown import greedy_memory
from topicloom.methods.registry import AT_ONCE, Size, method
from topicloom.methods.rounds.rounds_gm import rounds_memory
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.checks import checked_above_zero, checked_rho, checked_seed, checked_whole

MERGE_LIMIT = 20_000
REFINED_NODE, REFINED_SUBSCRIPTION = 600, 400  # bytes that `refine` takes, at most


class DivisionPlan(NamedTuple):
    """The options of `dc`, checked. ``partitions`` may still be "auto"."""

    partitions: int | str
    division: str
    aim: str
    core: int | None
    rho: float
    merge_limit: int
    weighted: bool = False
    k: int = 1
    rounds: bool = False
    effort: float = 0

    @classmethod
    def of(
        cls,
        *,
        partitions: Any = 10,
        division: Any = "random",
        inner: Any = "gm",
        rho: Any = None,
        core: Any = None,
        aim: Any = "time",
        merge_limit: Any = MERGE_LIMIT,
        inner_effort: Any = 0,
    ) -> "DivisionPlan":
        """Check the options, or say which is wrong and what is accepted."""
        if core is not None:
            checked_whole("core", core, 0)
        if isinstance(inner_effort, bool) or inner_effort != 0:
            checked_above_zero("inner_effort", inner_effort)
            if core or (core is None and division == "similar"):
                raise InvalidOptionError("partitions that see a core are not refined: inner_effort needs core=0")
        return cls(
            checked_partitions(partitions, aim),
            checked_division(division),
            aim,
            core,
            _engine_rho(inner, rho),
            checked_whole("merge_limit", merge_limit, 2),
            inner == "weighted-gm",
            2 if inner == "gm2" else 1,
            inner == "rounds-gm",
            float(inner_effort),
        )

    def settings(self, n_topics: int, seed: int) -> Settings:
        """What the pieces of a run have in common."""
        return Settings(n_topics, self.rho, seed, self.weighted, self.k, rounds=self.rounds, effort=self.effort)


def _engine_rho(inner: Any, rho: Any) -> float:
    if inner not in INNER_METHODS:
        raise InvalidOptionError(f"dc cannot conquer with {inner!r}; it can with {', '.join(INNER_METHODS)}")
    if inner in ("gm", "gm2") and rho is not None:
        raise InvalidOptionError(f"rho is an option of inner=low-oda, weighted-gm and rounds-gm, and inner is {inner}")
    if inner != "low-oda" and rho is None:
        return GREEDY_MERGE
    return checked_rho(rho, without=3.0)  # low_oda's own


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    """Bytes of what one Python worker has at a time. See `worker_size`."""
    part = worker_size(size, **options)
    conquered = greedy_memory(part)  # merges are by the engine whatever conquers
    if options["inner"] == "rounds-gm":
        conquered = max(conquered, rounds_memory(part, {}))
    if options["inner"] == "gm2":
        conquered += 64 * part.subscriptions
    refined = REFINED_NODE * part.nodes + REFINED_SUBSCRIPTION * part.subscriptions
    return max(conquered, refined if options["inner_effort"] else 0)


def worker_size(size: Size, **options: Any) -> Size:
    """The most that one Python worker has of an interest in which nodes want about equally many topics.

    That is a partition with the core, or as many star nodes as one merge may have; with partitions="auto" the largest
    partition that is tried.
    """
    plan = DivisionPlan.of(**options)
    trials = trial_counts(size.nodes) or [1]
    count = min(trials[0] if plan.partitions == "auto" else int(plan.partitions), max(size.nodes, 1))
    if needs_no_division(count, size.nodes):
        return size
    partition = -(-size.nodes // count)
    core = core_size(plan.core, plan.division, size.nodes, count)
    nodes = min(max(partition + core, min(plan.merge_limit, size.nodes)), size.nodes)
    return Size(nodes, size.topics, -(-size.subscriptions * nodes // max(size.nodes, 1)))


@method(
    "dc",
    problem="few links for very many nodes, fast and in parallel (Min-TCO by divide and conquer)",
    guarantee="topic-connected; O(partitions · log subscriptions) times the fewest links possible if no partition "
    "needs more links than all nodes together, else unbounded; in practice 1.05 to 2.7 times gm's with "
    "division=random, 1.01 to 1.35 with division=similar",
    cost="a gm on each partition, and one on the star nodes; on Spark no process holds more than that",
    paper="Chen, Jacobsen, Vitenberg: Divide and Conquer Algorithms for Publish/Subscribe Overlay Design, ICDCS 2010",
    memory=_memory,
    check=lambda options: DivisionPlan.of(**options),
    promises=lambda options: DivisionPlan.of(**options).k,
    parallel=True,
    share=worker_size,
)
def divide_and_conquer(
    interest: Interest,
    *,
    partitions: int | str = 10,
    division: str = "random",
    inner: str = "gm",
    rho: float | None = None,
    core: int | None = None,
    aim: str = "time",
    merge_limit: int = MERGE_LIMIT,
    inner_effort: float = 0,
    seed: int = 0,
) -> Overlay:
    """Overlay with few links, fast: nodes are divided, each partition is conquered, star nodes are merged (DC).

    Topic-connected. The number of links is O(p · log Σ|T(v)|) times the fewest possible, if no partition and no merge
    needs more links than the whole interest (eqs. 4 and 5 of the paper); interests that break this condition have no
    such bound. One partition, or as many as there are nodes, give the very links of the inner method.

    Parameters
    ----------
    interest : Interest
    partitions : int or "auto"
        Number of partitions p, at most as many as there are nodes. "auto" tries several with the
        division and core that will be used, computing star sets only, and takes the best by ``aim``.
    division : "random" or "similar"
        Random as in the paper, or like interests together and a core, for fewer links. See ``core``.
    inner : "gm", "low-oda", "weighted-gm", "rounds-gm" or "gm2"
        How partitions are conquered. With "gm2" the overlay is 2-topic-connected: two star nodes stand for each topic,
        and merges follow GM2's rule.
    rho : float, optional
        That of the inner method: 3 for "low-oda" unless given. With a rho, merges follow Low-ODA's rule, too, and star
        sets have two nodes for each topic and spare those with many links.
    core : int, optional
        Number of nodes that every partition sees beside its own: unless given 0 with ``random``, as in the paper, and
        the size of a partition with ``similar``. They are chosen by covering all topics again and again. A core saves
        most of the excess over Greedy Merge where some nodes have many topics.
    aim : "time", "parallel-time" or "candidates"
        What "auto" makes small: the work of all tasks, the time when they run side by side, or the nodes that a node
        considers as neighbours. That is 1/p + (k̃/k)², 1/p² + (k̃/k)² or k + (p - 1) k̃, for partitions of k nodes with
        k̃ stars.
    merge_limit : int
        Most star nodes that one merge may have. If there are more, neighbouring partitions are merged in groups, each
        group is represented by a star set of its own, and so on.
    inner_effort : float
        What `refine` spends on the links of each partition before its star nodes are chosen, 0 for none. Partitions
        are refined side by side, on Spark on the executors. It needs ``core=0``.
    seed : int

    Returns
    -------
    Overlay
        Links of the core, of the partitions in turn, then of the merges. ``report`` has the partitions, star sets,
        inner and outer links, the tree of merges and ``pn_ratio``, the highest share of the nodes that a node had to
        consider as neighbours; ``pn_ratios`` has the number of nodes, the mean and the maximum of these shares for
        star nodes, the others, and the core.

    See Also
    --------
    rounds_greedy_merge : as a rule fewer links, in rounds.
    simulate_dc : the same among nodes that exchange messages.

    Notes
    -----
    O(|V|²|T| / p) time for the partitions at worst, and a Greedy Merge over the star nodes; memory of the largest of
    these. ``topicloom design`` runs the same on Spark and gives the same links.

    References
    ----------
    [star-merge] Algorithm 7, §VII; docs/papers.md.
    The merge in groups, the division by likeness, the core and ``inner="gm2"`` are ours.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=400, topics=50, subscriptions=10, seed=1)
    >>> overlay = tl.divide_and_conquer(interest, partitions=4)
    >>> overlay.report["inner_links"] + overlay.report["outer_links"] == overlay.n_links
    True
    >>> tl.verify(interest, overlay.links).ok
    True
    >>> factory = tl.datasets.example()
    >>> overlay = tl.divide_and_conquer(factory, partitions=2)
    >>> overlay.n_links, overlay.verify().ok
    (8, True)
    """
    plan = DivisionPlan.of(
        partitions=partitions,
        division=division,
        inner=inner,
        rho=rho,
        core=core,
        aim=aim,
        merge_limit=merge_limit,
        inner_effort=inner_effort,
    )
    checked_seed(seed)
    if plan.partitions == "auto":
        settings = plan.settings(interest.n_topics, seed)
        count = choose_count(interest, aim, settings, division=plan.division, core=plan.core)
    else:
        count = int(plan.partitions)
    links, report = _designed(interest, plan, count, seed)
    options: dict[str, Any] = {
        "partitions": partitions,
        "division": division,
        "inner": inner,
        "core": core,
        "merge_limit": merge_limit,
    }
    options |= {"rho": plan.rho} if plan.rho else {}
    options |= {"inner_effort": plan.effort} if plan.effort else {}
    options |= {"aim": aim} if partitions == "auto" else {}
    return Overlay(interest, links, "dc", options, seed, report)


def needs_no_division(count: int, n_nodes: int) -> bool:
    """Whether this number of partitions amounts to the inner method on all nodes: one holds all, or each holds one."""
    return count == 1 or count >= n_nodes


def _designed(interest: Interest, plan: DivisionPlan, count: int, seed: int) -> tuple[Int32Array, dict[str, Any]]:
    settings = plan.settings(interest.n_topics, seed)
    n_nodes = interest.n_nodes
    if needs_no_division(count, n_nodes):
        links = build_core(Part.of(interest, np.arange(n_nodes)), settings).links
        return links, undivided_report(count, n_nodes, len(links))
    size = core_size(plan.core, plan.division, n_nodes, count)
    pool = Part.of(interest, largest_nodes(interest, pool_size(size)))
    subscribers = np.diff(interest.topic_indptr)
    core = build_core(choose_core(pool, subscribers, count, size, seed=seed), settings)
    partition = divide(interest, count, plan.division, seed=seed)
    partition[core.part.nodes] = -1

    by_partition = np.argsort(partition, kind="stable")[len(core.part.nodes) :]
    sizes = np.bincount(partition[by_partition], minlength=count)
    left = core.left_over(subscribers, plan.k)

    def conquered(number: int, nodes: Int64Array) -> Piece:
        return conquer(Part.of(interest, nodes), number, core, left, settings)

    with ThreadPoolExecutor(AT_ONCE) as threads:  # kernels do not hold the lock of Python
        pieces = list(threads.map(conquered, range(count), np.split(by_partition, np.cumsum(sizes)[:-1])))
    levels = list(merge_levels(pieces, plan.merge_limit, settings))
    report = divided_report(
        n_nodes=n_nodes,
        partition_sizes=sizes,
        core=core,
        conquered=summed(pieces),
        levels=[summed(level) for level in levels],
        merge_limit=plan.merge_limit,
    )
    return np.concatenate([core.links, *(piece.links for level in [pieces, *levels] for piece in level)]), report


def merge_levels(pieces: list[Piece], limit: int, settings: Settings) -> Iterator[list[Piece]]:
    """The levels of the merge, each a list of groups, until one is left."""
    while len(pieces) > 1 and any(len(piece.stars.unit) for piece in pieces):
        groups = group_units(np.array([len(piece.stars.unit) for piece in pieces]), limit)
        subscribers = subscribers_in(together([piece.stars for piece in pieces]).part, settings.n_topics)
        members = np.split(np.arange(len(pieces)), np.flatnonzero(np.diff(groups)) + 1)
        pieces = [
            merge_group(together([pieces[unit].stars for unit in units]), group, subscribers, settings)
            for group, units in enumerate(members)
        ]
        yield pieces


class LevelCounts(NamedTuple):
    """Sums over the pieces of a level."""

    star_sets: Int64Array
    links: int
    candidates: int


def summed(pieces: Sequence[Piece]) -> LevelCounts:
    """Counts of a level."""
    return LevelCounts(
        np.array([len(piece.stars.unit) for piece in pieces]),
        sum(len(piece.links) for piece in pieces),
        max(piece.candidates for piece in pieces),
    )


def undivided_report(count: int, n_nodes: int, n_links: int) -> dict[str, Any]:
    """The report of a design that needed no division."""
    everyone = n_nodes if count > 1 else 0
    ratio = max(n_nodes - 1, 0) / max(n_nodes, 1)
    classes = {"star" if everyone else "other": {"nodes": n_nodes, "mean": ratio, "max": ratio}}
    return {
        "partitions": min(count, max(n_nodes, 1)),
        "core_nodes": 0,
        "star_nodes": everyone,
        "inner_links": n_links if count == 1 else 0,
        "outer_links": 0 if count == 1 else n_links,
        "merge_tree": [],
        "pn_ratio": ratio,
        "pn_ratios": classes if n_nodes else {},
    }


def divided_report(
    *,
    n_nodes: int,
    partition_sizes: Int64Array,
    core: Core,
    conquered: LevelCounts,
    levels: Sequence[LevelCounts],
    merge_limit: int,
) -> dict[str, Any]:
    """What `Overlay.report` says of a design, and ``run.json`` of one on Spark."""
    represented = [conquered, *levels]
    n_core = len(core.part.nodes)
    candidates = n_nodes - 1 if n_core else max(level.candidates for level in represented)
    return {
        "partitions": len(partition_sizes),
        "partition_nodes": spread(partition_sizes),
        "core_nodes": n_core,
        "core_links": len(core.links),
        "star_nodes": int(conquered.star_sets.sum()),
        "star_set": spread(conquered.star_sets),
        "inner_links": len(core.links) + conquered.links,
        "outer_links": sum(level.links for level in levels),
        "merge_tree": [
            {
                "units": len(before.star_sets),
                "groups": len(level.star_sets),
                "star_nodes": int(before.star_sets.sum()),
                "links": level.links,
            }
            for before, level in pairwise(represented)
        ],
        "pn_ratio": candidates / n_nodes,
        "pn_ratios": pn_ratios(
            n_nodes,
            partition_sizes,
            [level.star_sets for level in represented[: len(levels)]],
            limit=merge_limit,
            most=max((level.candidates for level in levels), default=0),  # not all come to the last level
            n_core=n_core,
        ),
    }


def spread(sizes: Int64Array) -> dict[str, float]:
    """Smallest, mean and largest."""
    return {"min": int(sizes.min()), "mean": round(float(sizes.mean()), 3), "max": int(sizes.max())}
