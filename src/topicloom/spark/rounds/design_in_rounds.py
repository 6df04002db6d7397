"""Greedy Merge in rounds on Spark: the same links as in memory, whatever the number of cores or retried tasks."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from topicloom.kernels.rounds.standing import standing
from topicloom.methods.rounds.round_steps import (
    Round,
    RoundOptions,
    first_floor,
    merge_round,
    order_candidates,
    pending,
    put_together,
    round_floor,
    round_order,
    round_weights,
    splits,
    stretch_links,
    stretches,
)
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.runs.stages import Stages
from topicloom.spark.dc.run import Divided
from topicloom.spark.dc.work import open_folder
from topicloom.spark.rounds.round_folder import RoundFolder
from topicloom.spark.session.columns import DST_ID, ORDER, SRC_ID
from topicloom.spark.steps.shared_files import keep_interest, run_tasks

# Fewer are designed in one task, in memory: a round there takes less than the jobs of a round here.
SUBSCRIPTIONS_A_TASK = 4_000_000

_Tasks = Sequence[tuple[int, tuple[int, int] | None]]  # order and stretch; None is an order that its task makes

_LINKS = f"{SRC_ID} int, {DST_ID} int, `{ORDER}` bigint"


def design_in_rounds(
    interest: DataFrame,
    *,
    seed: int,
    options: Mapping[str, Any],
    n_nodes: int,
    n_topics: int,
    subscribers: Int64Array,
    work: Path,
    stages: Stages | None = None,
) -> Divided:
    """(node_id, topics) -> links by `rounds-gm`, the same as in memory, with any number of cores or retried tasks.

    Three jobs for each round: the orders, a task each; the candidates of stretches of them; and greedy over all
    candidates in one task, which holds 20 bytes for each subscription. Orders of a single stretch are made with their
    candidates. Above 2^28 subscriptions stretches add links by themselves, and the one task, which then holds 12 bytes,
    puts them together. The driver holds a few numbers for each round.

    Rounds that are found in the folder ``work``, which driver and executors must share, are not done again: it must
    belong to this interest, these options and this seed.
    """
    stages, plan, folder = stages or Stages(), RoundOptions(**options).at(n_nodes), RoundFolder(work)
    spark = interest.sparkSession
    open_folder(work)
    with stages("design/files", f"writing {n_nodes:,} nodes where all tasks see them"):
        keep_interest(interest, folder.interest, n_nodes)
        if folder.facts("start") is None:
            weight = round_weights(subscribers, plan.weighted)
            run_tasks(spark, 1, partial(_keep_start, folder, plan, weight, seed))
    start = folder.facts("start") or {}
    split = splits(int(subscribers.sum()))
    plan = plan.split() if split else plan
    rounds = folder.finished()
    if rounds:
        stages.note(f"reused {len(rounds):,} rounds that an earlier run had finished")
    while (rounds[-1].merges_left if rounds else start["merges_left"]) > 0:
        rounds.append(_played(spark, folder, plan, seed, split, n_nodes, rounds, start["first"], stages))
    links = _links(spark, folder, rounds)
    report = {"rounds": [one._asdict() for one in rounds]}
    return Divided(links, sum(one.links for one in rounds), report, ())


def _keep_start(folder: RoundFolder, plan: RoundOptions, weight: Int32Array, seed: int, _: int) -> int:
    """Write the state before any link, and the first floor."""
    s = standing(folder.interest.read("indptr"), folder.interest.read("topics"), weight)
    folder.keep("weight", s.weight)
    folder.keep("subscribers", s.subscribers)
    folder.keep_standing(0, s, np.zeros(len(s.indptr) - 1, np.int32))
    left = pending(s)
    folder.keep_facts("start", {"first": first_floor(s, plan, seed) if left else 0.0, "merges_left": left})
    return left


def _played(
    spark: SparkSession,
    folder: RoundFolder,
    plan: RoundOptions,
    seed: int,
    split: bool,
    n_nodes: int,
    rounds: list[Round],
    first: float,
    stages: Stages,
) -> Round:
    """Play the next round, and leave its files."""
    number = len(rounds)
    floor = round_floor(first, number, plan)
    stuck = bool(rounds) and rounds[-1].links == 0
    before = sum(one.links for one in rounds)
    left = f", {rounds[-1].merges_left:,} merges left" if rounds else ""
    title = f"round {number + 1}, contributions from {floor:,}: {before:,} links{left}"
    tasks: _Tasks = [(which, None) for which in range(plan.orders or 0)]
    if split or len(stretches(n_nodes, plan)) > 1:
        with stages("design/orders", title):
            lengths = run_tasks(spark, len(tasks), partial(_keep_order, folder, plan, seed, number))
        tasks = [(which, stretch) for which, length in enumerate(lengths) for stretch in stretches(length, plan)]
    with stages("design/candidates", f"{title}; candidates"):
        finder = partial(_keep_links if split else _keep_candidates, folder, plan, seed, number, floor, tasks)
        run_tasks(spark, len(tasks), finder)
    with stages("design/merge", f"{title}; merging"):
        run_tasks(spark, 1, partial(_merge, folder, plan, seed, split, number, floor, stuck, before, len(tasks)))
    folder.forget("order-*", "found-*", *(f"{name}-{number}.npy" for name in ("label", "open", "degree")))
    return Round(**(folder.facts(f"round-{number}") or {}))


def _keep_order(folder: RoundFolder, plan: RoundOptions, seed: int, number: int, which: int) -> int:
    order = round_order(folder.standing(number), plan, seed, number, which)
    folder.keep(f"order-{which}", order)
    return len(order)


def _keep_candidates(
    folder: RoundFolder, plan: RoundOptions, seed: int, number: int, floor: int, tasks: _Tasks, task: int
) -> int:
    which, stretch = tasks[task]
    s = folder.standing(number)
    if stretch is None:
        order = round_order(s, plan, seed, number, which)
    else:
        order = np.array(folder.read(f"order-{which}")[slice(*stretch)])
    found = np.unique(order_candidates(s, order, plan, floor))
    folder.keep(f"found-{number}-{task}", found)
    return len(found)


def _keep_links(
    folder: RoundFolder, plan: RoundOptions, seed: int, number: int, floor: int, tasks: _Tasks, task: int
) -> int:
    which, stretch = tasks[task]
    assert stretch is not None
    order = folder.read(f"order-{which}")
    degree = folder.read(f"degree-{number}")
    found = stretch_links(folder.standing(number), order, stretch, plan, degree, seed, number, floor)
    folder.keep(f"found-{number}-{task}", found)
    return len(found)


def _merge(
    folder: RoundFolder,
    plan: RoundOptions,
    seed: int,
    split: bool,
    number: int,
    floor: int,
    stuck: bool,
    before: int,
    tasks: int,
    _: int,
) -> int:
    s = folder.standing(number)
    degree = folder.read(f"degree-{number}", writable=True)
    found = [folder.read(f"found-{number}-{task}") for task in range(tasks)]
    if split:
        links, after, made = put_together(s, found, degree, number, floor, stuck)
    else:
        links, after, made = merge_round(s, found, plan, degree, seed, number, floor, stuck)
    folder.keep_links(number, links, before)
    folder.keep_standing(number + 1, after, degree)
    folder.keep_facts(f"round-{number}", made._asdict())
    return len(links)


def _links(spark: SparkSession, folder: RoundFolder, rounds: list[Round]) -> DataFrame:
    paths = [folder.links(number).as_uri() for number, one in enumerate(rounds) if one.links]
    if not paths:
        return spark.createDataFrame([], _LINKS)
    return spark.read.schema(_LINKS).parquet(*paths)
