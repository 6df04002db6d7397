"""Designing on Spark, as users call it: from a DataFrame of subscriptions to a judged and measured overlay."""

import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom.methods.references.beside import usual_ways
from topicloom.methods.registry import spec_of
from topicloom.model import Interest, Metrics, Verdict
from topicloom.runs.bars import BarredPairs
from topicloom.runs.design_rows import PARTS, Designed, announce, design_rows, with_barred
from topicloom.runs.memory_limits import check_memory
from topicloom.runs.request import SPARK, DesignRequest, run_facts
from topicloom.runs.stages import Stages
from topicloom.spark.dc.run import divide_and_conquer
from topicloom.spark.dc.work import run_folder
from topicloom.spark.rounds.design_in_rounds import SUBSCRIPTIONS_A_TASK, design_in_rounds
from topicloom.spark.session.columns import (
    DST,
    DST_ID,
    NODE,
    NODE_ID,
    ORDER,
    SHARED_TOPICS,
    SRC,
    SRC_ID,
    SUBSCRIBERS,
    TOPIC,
    TOPIC_ID,
    from_arrow,
)
from topicloom.spark.session.kept_tables import release_with
from topicloom.spark.steps.check import answered, node_table, rows_of, verdict_of
from topicloom.spark.steps.construct import construct
from topicloom.spark.steps.judging import judging
from topicloom.spark.steps.measure import summarize, topic_metrics
from topicloom.spark.steps.one_pass import in_tasks
from topicloom.spark.steps.prepare import Prepared, prepare
from topicloom.spark.steps.shared_files import interest_files

_COUNTED_HERE = 2_000_000  # subscriptions
_TOPIC_COLUMNS = (SUBSCRIBERS, "links", "components", "diameter", "diameter_sampled")


@dataclass(frozen=True, repr=False)
class DesignResult:
    """An overlay designed, judged and measured on Spark.

    Attributes
    ----------
    links : DataFrame
        (src, dst, shared_topics, order)
    nodes : DataFrame
        (id, topic_count, degree)
    topics : DataFrame
        (topic, subscribers, links, components, diameter, diameter_sampled)
    subscriptions, rejected : DataFrame
        What it was designed for, and the input rows that were not used.
    metrics : Metrics
    verdict : Verdict
    run : mapping
        What ``run.json`` will hold.
    work : Path or None
        Where dc keeps finished partitions.
    """

    links: DataFrame
    nodes: DataFrame
    topics: DataFrame
    subscriptions: DataFrame
    rejected: DataFrame
    metrics: Metrics
    verdict: Verdict
    run: Mapping[str, Any]
    work: Path | None = None
    _persisted: tuple[DataFrame, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        tables = [self.links, self.nodes, self.topics, self.subscriptions, self.rejected]
        release_with([self, *tables], self._persisted)

    def __repr__(self) -> str:
        verified = "verified" if self.verdict.ok else f"{self.verdict.broken_topics:,} topics broken"
        return f"DesignResult({self.run['method']}: {self.metrics.links:,} links, {verified})"

    def release(self) -> None:
        """Free what Spark and the work folder keep of it. Use the DataFrames before.

        Without this call, Spark's part is freed when the result and its DataFrames are collected, and the work folder
        stays: DataFrames that were made of them may read it.
        """
        for table in self._persisted:
            table.unpersist()
        if self.work is not None:
            shutil.rmtree(self.work, ignore_errors=True)


def design_overlay(
    subscriptions: DataFrame,
    method: str | None = None,
    *,
    seed: int = 0,
    k: int | None = None,
    work: Path | None = None,
    exact_diameters: bool = False,
    node_column: str | None = None,
    topic_column: str | None = None,
    role_column: str | None = None,
    engine: str = SPARK,
    stages: Stages | None = None,
    **options: Any,
) -> DesignResult:
    """Design, verify and measure an overlay for a DataFrame of subscriptions.

    An overlay is a set of links between nodes. It is topic-connected where the subscribers of every topic are connected
    by links among themselves. Up to 1,000,000 rows are brought to one task, which does all of it; more are spread over
    many tasks. The result is the same.

    Parameters
    ----------
    subscriptions : DataFrame
        With string (or integer) columns ``node`` and ``topic``, or rows of `read_subscriptions`; repeats and unusable
        rows are allowed. Other columns are not looked at, whatever their names are.
    method : str, optional
        As for `topicloom.design`; the same links as there.
    seed : int
        Decides between equally good links.
    k : int, optional
        The topic-connectivity that is wanted: a method that cannot reach it is refused, and the result is judged at it.
    work : Path, optional
        Folder, shared with the executors, in which dc and rounds-gm keep what is finished; the same call goes on from
        there after a crash. Files of this call are removed by `DesignResult.release`. With it, dc is spread over
        tasks however few the rows are.
    exact_diameters : bool
        Whether diameters of very large topics are exact as well.
    node_column, topic_column : str, optional
        Names of the columns, if they are others.
    role_column : str, optional
        Name of a column with ``publish``, ``subscribe``, ``both`` or null, which the result keeps. Rows with something
        else there are not used.
    engine : str
        ``spark``, or ``distributed``: spread over tasks however few the rows are.
    stages : Stages, optional
        Hears of progress and keeps the seconds.
    **options
        Options of the method, as for `topicloom.design`.

    Returns
    -------
    DesignResult
        Links, nodes and topics as DataFrames, with the verdict and the metrics. A broken overlay is returned, too:
        look at ``verdict.ok``. Tables that Spark keeps for it are freed when it and its DataFrames are collected, or
        by `DesignResult.release`. A DataFrame made of them is computed again after that.

    Raises
    ------
    InvalidOptionError, InputNotFoundError, NotEnoughMemoryError

    See Also
    --------
    write_overlay : the result as a folder, for the commands and for other tools.
    topicloom.design : the same in memory.

    Notes
    -----
    The cost is that of the method and of a sort of the rows. Most methods run in one task and need its memory.
    ``dc`` and ``rounds-gm`` are spread over many. The driver holds no rows.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.pipeline import design_overlay
    >>> factory = tl.datasets.example()
    >>> rows = [(node, topic) for node in factory.node_labels.tolist() for topic in factory.topics_of(node)]
    >>> subscriptions = spark.createDataFrame(rows, ["node", "topic"])  # spark is your session
    >>> result = design_overlay(subscriptions, "gm")
    >>> result
    DesignResult(gm: 7 links, verified)
    >>> result.verdict.ok, result.metrics.max_degree, result.links.columns
    (True, 3, ['src', 'dst', 'shared_topics', 'order'])
    """
    request = replace(DesignRequest.of(method, options, seed=seed, k=k), exact_diameters=exact_diameters)
    stages = stages or Stages()
    names = {"node_column": node_column, "topic_column": topic_column, "role_column": role_column}
    rows = rows_of(subscriptions, engine, **names)
    task = partial(design_rows, request=request, available=sys.maxsize)
    sentence = f"designing with {request.method}"
    designed = in_tasks([rows], [task], engine=request.spread_by(engine, work), stages=stages, sentence=sentence)
    if designed is not None:
        return _brought_back(rows.sparkSession, designed[0], stages)
    prepared = prepare(rows, stages=stages)
    request = request.at(prepared.size, stages.note)
    announce_prepared(request, prepared, stages, sys.maxsize)
    return design_prepared(prepared, request, work=work, stages=stages)


def announce_prepared(
    request: DesignRequest, prepared: Prepared, stages: Stages, available: int, *, workers: int | None = None
) -> None:
    """Say what tasks are about to do. ``workers`` is the number of those that are busy at the same time.

    Raises
    ------
    NotEnoughMemoryError
        It would not fit.
    """
    mapped = request.spec.in_rounds and prepared.size.subscriptions > SUBSCRIPTIONS_A_TASK
    options = request.options
    needed = check_memory(prepared.size, request.method, available, workers=workers, options=options, mapped=mapped)
    announce(request, prepared.counts, needed, stages)


def design_prepared(
    prepared: Prepared,
    request: DesignRequest,
    *,
    work: Path | None = None,
    barred: BarredPairs | None = None,
    stages: Stages,
) -> DesignResult:
    """`design_overlay` for an interest that is prepared already. ``barred`` pairs are never linked."""
    barring = {} if barred is None else {"forbid": barred.ids}
    counts = prepared.counts
    started = time.time()
    with stages("design", f"designing with {request.method}"):
        kept_apart = {"method": request.method, **request.options}
        many = counts["subscriptions"] > SUBSCRIPTIONS_A_TASK
        keeps = request.spec.parallel or many
        folder = run_folder(work, prepared.fingerprint, kept_apart, request.seed) if work and keeps else None
        links, n_links, report, kept = _constructed(
            prepared, request.method, request.seed, {**request.options, **barring}, folder, stages
        )
    with stages("verify", f"verifying {n_links:,} links and measuring {counts['topics']:,} topics"):
        questions = judging(request.judged_at), topic_metrics(counts["subscriptions"], request.exact_diameters)
        files = interest_files(folder) if folder and many else None
        linked, topics = (table.persist() for table in answered(prepared, links, files, *questions))
        verdict = verdict_of(prepared, linked, topics, request.judged_at)
    with stages("measure", f"measuring {counts['nodes']:,} nodes"):
        nodes = node_table(prepared, links, files).persist()
        metrics = summarize(prepared.interest, nodes, topics, linked)
        for table in kept:
            table.unpersist()
    run = run_facts(
        request,
        report=with_barred(report, barred),
        fingerprint=prepared.fingerprint,
        counts={**counts, "links": n_links},
        verdict=verdict,
        started=started,
        seconds=stages.seconds,
    )
    run["versions"] |= {"pyspark": pyspark.__version__}
    return DesignResult(
        links=_labelled(linked, prepared.nodes).select(SRC, DST, SHARED_TOPICS, ORDER),
        nodes=nodes.select("*"),
        topics=topics.join(prepared.topics.drop(SUBSCRIBERS), TOPIC_ID).select(TOPIC, *_TOPIC_COLUMNS),
        subscriptions=prepared.subscriptions.select("*"),
        rejected=prepared.rejected.select("*"),
        metrics=metrics,
        verdict=verdict,
        run=run,
        work=folder,
        _persisted=(linked, topics, nodes, *prepared.persisted),
    )


def _constructed(
    prepared: Prepared, method: str, seed: int, options: Mapping[str, Any], work: Path | None, stages: Stages
) -> tuple[DataFrame, int, dict[str, Any], tuple[DataFrame, ...]]:
    """The links, their number, what the method reports, and what Spark keeps for them."""
    common: dict[str, Any] = {
        "seed": seed,
        "options": options,
        "n_nodes": prepared.counts["nodes"],
        "n_topics": prepared.counts["topics"],
    }
    spec = spec_of(method)
    if spec.in_rounds and work is not None and prepared.counts["subscriptions"] > SUBSCRIPTIONS_A_TASK:
        in_rounds = design_in_rounds(
            prepared.interest, subscribers=prepared.subscribers(), work=work, stages=stages, **common
        )
        links = in_rounds.links.persist()
        return links, in_rounds.n_links, in_rounds.report, (links,)
    if not spec.divides:
        links = construct(prepared.encoded, method=method, **common).persist()
        return links, links.count(), {}, (links,)
    divided = divide_and_conquer(
        prepared.interest, subscribers=prepared.subscribers(), work=work, stages=stages, **common
    )
    links = divided.links.persist()
    return links, divided.n_links, divided.report, (links, *divided.persisted)


def barred_pairs(request: DesignRequest, prepared: Prepared, stages: Stages) -> BarredPairs | None:
    """Forbidden pairs by id. Collects the labels of all nodes, and nothing where no pair is given."""
    if request.bars is None:
        return None
    table = prepared.nodes.select(NODE, NODE_ID).toArrow()
    return request.bars.by_id(dict(zip(table[NODE].to_pylist(), table[NODE_ID].to_pylist())), stages.note)


def faults_of(result: DesignResult, barred: BarredPairs | None) -> list[str]:
    """What is wrong with forbidden links. Collects the links, and the subscribers of the first broken topics."""
    if barred is None:
        return []
    links = result.links.select(SRC, DST).toArrow()
    ends = np.array([[barred.numbers[name] for name in links[end].to_pylist()] for end in (SRC, DST)], np.int32)
    table = result.subscriptions
    broken = (
        (topic, table.where(table.topic == topic.topic).select(NODE).toArrow()[NODE].to_pylist())
        for topic in result.verdict.broken
    )
    return barred.faults(ends.T, broken)


def baselines(prepared: Prepared) -> dict[str, dict[str, Any]]:
    """What the usual ways would take, of an interest that the driver can hold; see `usual_ways`."""
    if prepared.counts["subscriptions"] > _COUNTED_HERE:
        return {}
    ids = [column.to_numpy() for column in prepared.encoded.toArrow().columns]
    return usual_ways(Interest.from_ids(*ids, n_nodes=prepared.counts["nodes"], n_topics=prepared.counts["topics"]))


def _brought_back(spark: SparkSession, designed: Designed, stages: Stages) -> DesignResult:
    """The tables of a design by one task as DataFrames."""
    tables: dict[str, Any] = {
        # by this thread alone: threads of Arrow that hold something of Python's when it ends could abort it
        name: from_arrow(
            spark, pq.ParquetFile(pa.BufferReader(designed.files[name]), pre_buffer=False).read(use_threads=False)
        )
        for name in PARTS
    }
    run = {**designed.run, "seconds": dict(stages.seconds)}
    run["versions"] = {**run["versions"], "pyspark": pyspark.__version__}
    return DesignResult(**tables, metrics=designed.metrics, verdict=designed.verdict, run=run)


def _labelled(linked: DataFrame, nodes: DataFrame) -> DataFrame:
    """The links with the labels of their ends, if they have none yet."""
    if SRC in linked.columns:
        return linked
    of_src = nodes.select(F.col(NODE_ID).alias(SRC_ID), F.col(NODE).alias(SRC))
    of_dst = nodes.select(F.col(NODE_ID).alias(DST_ID), F.col(NODE).alias(DST))
    return linked.join(of_src, SRC_ID).join(of_dst, DST_ID)
