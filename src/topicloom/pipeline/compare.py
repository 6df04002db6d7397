"""Run methods side by side on Spark, a task each, and say what every one of them gives."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import TopicloomError
from topicloom.judge import verify
from topicloom.measures import mean_hops, measure
from topicloom.methods.registry import design, spec_of
from topicloom.methods.selection import MethodChoice
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array
from topicloom.spark.columns import NODE_ID, TOPIC_ID, require_columns
from topicloom.workloads import generate

_TASK = "task"
_FIGURES = {
    "links": "bigint",
    "average_degree": "double",
    "max_degree": "bigint",
    "mean_topic_diameter": "double",
    "max_topic_diameter": "bigint",
    "mean_hops": "double",
    "hops_standard_error": "double",
    "unwanted_relays": "bigint",
    "broken_topics": "bigint",
    "survives_one_failure": "boolean",
    "seconds": "double",
    "refused": "string",
}
_SCHEMA = f"{_TASK} bigint, " + ", ".join(f"{name} {kind}" for name, kind in _FIGURES.items())
_ARROW = {"bigint": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
# What a method is judged by, smaller is better. Average degree says what links say, diameters what hops say, and
# seconds are no property of the overlay: with every column counted, hardly any method would ever be beaten.
_CRITERIA = ("links", "max_degree", "mean_hops", "unwanted_relays", "dies_of_one_failure")


@dataclass(frozen=True)
class HeldLinks:
    """Links that there are already, to be compared with what methods give.

    Attributes
    ----------
    links : (m, 2) int32 array
        By id; ids beyond those of the interest are nodes without subscriptions.
    n_nodes : int
        Number of all nodes.
    text : str
        What the row of a comparison is called.
    """

    links: Int32Array
    n_nodes: int
    text: str = "what you have"


Row = MethodChoice | HeldLinks


@dataclass(frozen=True)
class Compared:
    """What a method gives on an interest, or what links are that there are already.

    Attributes
    ----------
    name : str
        The method with its options, as it was asked for.
    reference : bool
        Kept to compare with, not to recommend.
    mean_topic_diameter, max_topic_diameter, mean_hops : float or None
        None is infinite: some topic is not connected.
    hops_standard_error : float or None
        0.0 where the mean is over all pairs.
    unwanted_relays : int or None
        Nodes that pass on what they do not want, summed over topics (filtering cost of an approximate Steiner tree);
        None is infinite.
    broken_topics : int
        Topics that are not connected.
    survives_one_failure : bool
        Every topic is 2-connected.
    seconds : float
        Of the design alone, one thread, compiled; None of links that were there.
    refused : str or None
        Why the method was not run; the figures are then None.
    pareto_best : bool
        Every topic is connected, and no other such method is as good by links, maximum degree, hops, unwanted relays
        and survival, and better by one.
    """

    name: str
    reference: bool
    links: int | None
    average_degree: float | None
    max_degree: int | None
    mean_topic_diameter: float | None
    max_topic_diameter: int | None
    mean_hops: float | None
    hops_standard_error: float | None
    unwanted_relays: int | None
    broken_topics: int | None
    survives_one_failure: bool | None
    seconds: float | None
    refused: str | None
    pareto_best: bool = False

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary; infinite is null."""
        return asdict(self)


def compare_methods(
    encoded: DataFrame, choices: Sequence[Row], *, seed: int, n_nodes: int, n_topics: int
) -> list[Compared]:
    """(node_id, topic_id) -> the figures of every chosen method, and of links that there are, in the order given.

    Every method gets the interest in a task of its own; tasks run side by side as far as there are cores. A method that
    refuses the interest is reported, and the others go on.
    """
    tasks = dict(zip(_separate_keys(encoded, len(choices)), choices))
    rows = evaluated(encoded, tasks, seed=seed, n_nodes=n_nodes, n_topics=n_topics).collect()
    by_task = {row[_TASK]: row.asDict() for row in rows}
    return with_pareto_best(
        [
            Compared(
                name=choice.text,
                reference=isinstance(choice, MethodChoice) and spec_of(choice.method).reference,
                **{name: by_task[task][name] for name in _FIGURES},
            )
            for task, choice in tasks.items()
        ]
    )


def evaluated(encoded: DataFrame, tasks: Mapping[int, Row], *, seed: int, n_nodes: int, n_topics: int) -> DataFrame:
    """(node_id, topic_id) -> (task, figures of the method of that task)."""
    require_columns(encoded, NODE_ID, TOPIC_ID)
    copies = encoded.select(
        F.explode(F.array(*(F.lit(task).cast("bigint") for task in tasks))).alias(_TASK), NODE_ID, TOPIC_ID
    )
    # a number of partitions that is asked for is kept: Spark would put small groups together, one after the other
    apart = copies.repartition(len(tasks), _TASK)
    return apart.groupBy(_TASK).applyInArrow(_evaluator(dict(tasks), seed, n_nodes, n_topics), _SCHEMA)


def _separate_keys(table: DataFrame, count: int) -> list[int]:
    """That many numbers which Spark hashes to different partitions, so that each is a task of its own."""
    numbers = table.sparkSession.range(64 * count * count)
    place = F.pmod(F.hash("id"), F.lit(count)).alias("place")
    return [row["id"] for row in numbers.groupBy(place).agg(F.min("id").alias("id")).orderBy("place").collect()]


def _evaluator(choices: dict[int, Row], seed: int, n_nodes: int, n_topics: int) -> Callable[[pa.Table], pa.Table]:
    def run(table: pa.Table) -> pa.Table:
        task = table[_TASK][0].as_py()
        chosen, ids = choices[task], (table[NODE_ID].to_numpy(), table[TOPIC_ID].to_numpy())
        if isinstance(chosen, HeldLinks):
            wider = Interest.from_ids(*ids, n_nodes=chosen.n_nodes, n_topics=n_topics)
            figures = figures_of(Overlay(wider, chosen.links))
        else:
            figures = evaluate(Interest.from_ids(*ids, n_nodes=n_nodes, n_topics=n_topics), chosen, seed)
        columns = {name: pa.array([figures.get(name)], _ARROW[kind]) for name, kind in _FIGURES.items()}
        return pa.table({_TASK: pa.array([task], pa.int64()), **columns})

    return run


def evaluate(interest: Interest, choice: MethodChoice, seed: int) -> dict[str, Any]:
    """Figures of one method, or why it refused."""
    try:
        design(generate(nodes=40, topics=8, subscriptions=2), choice.method, **choice.options)  # compiles, untimed
        start = time.perf_counter()
        overlay = design(interest, choice.method, seed=seed, **choice.options)
        seconds = time.perf_counter() - start
    except TopicloomError as error:
        return {"refused": str(error)}
    return {**figures_of(overlay), "seconds": seconds}


def figures_of(overlay: Overlay) -> dict[str, Any]:
    """All figures of an overlay but the time it took."""
    interest, links = overlay.interest, overlay.links
    metrics = measure(interest, links)
    figures = {name: getattr(metrics, name) for name in _FIGURES if hasattr(metrics, name)}
    error = mean_hops(interest, links).standard_error if metrics.sampled_hops else 0.0
    return {
        **figures,
        "hops_standard_error": None if metrics.mean_hops is None else error,
        "broken_topics": len(verify(interest, links).broken),
    }


def with_pareto_best(compared: Sequence[Compared]) -> list[Compared]:
    """The same, with those marked that no other one beats. A method that leaves topics broken takes no part."""
    marks = {one.name: _marks(one) for one in compared if one.refused is None and not one.broken_topics}
    best = {
        name
        for name, mine in marks.items()
        if not any(theirs != mine and all(t <= m for t, m in zip(theirs, mine)) for theirs in marks.values())
    }
    return [Compared(**{**asdict(one), "pareto_best": one.name in best}) for one in compared]


def _marks(one: Compared) -> tuple[float, ...]:
    values = {**asdict(one), "dies_of_one_failure": not one.survives_one_failure}
    return tuple(float("inf") if values[name] is None else float(values[name]) for name in _CRITERIA)


def results_table(compared: Sequence[Compared]) -> pa.Table:
    """The results as an Arrow table, a row a method."""
    texts = {"name": pa.string(), "reference": pa.bool_(), "pareto_best": pa.bool_()}
    kinds = {**texts, **{name: _ARROW[kind] for name, kind in _FIGURES.items()}}
    rows = [one.to_dict() for one in compared]
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})
