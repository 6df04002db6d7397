"""The pipeline as its users call it: design, verify and measure, from DataFrames to results."""

import io
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom.engine.check_rows import measure_rows, verify_rows
from topicloom.engine.design_rows import Designed, design_rows
from topicloom.engine.request import DISTRIBUTED, SPARK, SPREAD, DesignRequest, run_facts
from topicloom.errors import InvalidOptionError
from topicloom.judge import checked_k
from topicloom.methods.selection import chosen
from topicloom.model import Metrics, Verdict
from topicloom.pipeline.clean import with_reasons
from topicloom.pipeline.construct import construct
from topicloom.pipeline.dc.run import divide_and_conquer
from topicloom.pipeline.dc.work import run_folder
from topicloom.pipeline.judging import broken_topics, count_idle, first_labelled, judging
from topicloom.pipeline.links import encode_links, refuse_findings, require_links
from topicloom.pipeline.mapped_check import keep_links, node_degrees, per_topic_mapped, with_shared_topics
from topicloom.pipeline.measure import node_figures, summarize, topic_figures
from topicloom.pipeline.one_pass import TooManyRowsError, Work, few_rows, rows_in_one_task
from topicloom.pipeline.prepare import Prepared, prepare
from topicloom.pipeline.rounds.design_in_rounds import SUBSCRIPTIONS_A_TASK, design_in_rounds
from topicloom.pipeline.shared_files import SharedFolder, interest_files, keep_interest
from topicloom.pipeline.topic_links import Question, linked_topics, per_topic
from topicloom.spark.columns import (
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
    require_dataframe,
)
from topicloom.spark.stages import Stages
from topicloom.spark.workers import check_workers

Answer = TypeVar("Answer")
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

    def __repr__(self) -> str:
        verified = "verified" if self.verdict.ok else f"{self.verdict.broken_topics:,} topics broken"
        return f"DesignResult({self.run['method']}: {self.metrics.links:,} links, {verified})"

    def release(self) -> None:
        """Free what Spark and the work folder keep of it; use the DataFrames before."""
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
    engine: str = SPARK,
    stages: Stages | None = None,
    **options: Any,
) -> DesignResult:
    """Design, verify and measure an overlay for a DataFrame of subscriptions.

    Up to 1,000,000 rows are brought to one task, which does all of it; more are spread over many tasks. The result is
    the same.

    Parameters
    ----------
    subscriptions : DataFrame
        With string (or integer) columns ``node`` and ``topic``; repeats and unusable rows are allowed.
    method, seed, **options
        As for `topicloom.design`; the same links as there.
    k : int, optional
        The topic-connectivity that is wanted: a method that cannot reach it is refused, and the result is judged at it.
    work : Path, optional
        Folder, shared with the executors, in which dc and rounds-gm keep what is finished; the same call goes on from
        there after a crash. Files of this call are removed by `DesignResult.release`.
    exact_diameters : bool
        Whether diameters of very large topics are exact as well.
    engine : str
        ``spark``, or ``distributed``: spread over tasks however few the rows are, as ``dc`` always is.
    stages : Stages, optional
        Hears of progress and keeps the seconds.

    Raises
    ------
    InvalidOptionError, InputNotFoundError, NotEnoughMemoryError
    """
    request = replace(DesignRequest.of(method, options, seed=seed, k=k), exact_diameters=exact_diameters)
    stages = stages or Stages()
    rows = _rows(subscriptions, engine)
    if request.method not in SPREAD:
        task = partial(design_rows, request=request, available=sys.maxsize)
        designed = _in_one_task(engine, [rows], task, stages, f"designing with {request.method}")
        if designed is not None:
            return _brought_back(rows.sparkSession, designed, stages)
    prepared = prepare(rows, stages=stages)
    method = chosen(request.method, prepared.size, stages.note)
    return design_prepared(
        prepared, method=method, seed=seed, k=k, work=work, exact_diameters=exact_diameters, stages=stages, **options
    )


def design_prepared(
    prepared: Prepared,
    *,
    method: str,
    seed: int = 0,
    k: int | None = None,
    work: Path | None = None,
    forbid: npt.ArrayLike | None = None,
    exact_diameters: bool = False,
    stages: Stages | None = None,
    **options: Any,
) -> DesignResult:
    """`design_overlay` for an interest that is prepared already; ``forbid`` are pairs of node ids, never linked."""
    request = DesignRequest.of(method, options, seed=seed, k=k, barred=forbid is not None)
    barring = {} if forbid is None else {"forbid": np.asarray(forbid, np.int32)}
    stages = stages or Stages()
    counts = prepared.counts
    started = time.time()
    with stages("design", f"designing with {method}"):
        kept_apart = {"method": method, **request.options}
        many = counts["subscriptions"] > SUBSCRIPTIONS_A_TASK
        keeps = request.spec.parallel or many
        folder = run_folder(work, prepared.fingerprint, kept_apart, seed) if work and keeps else None
        links, n_links, report, kept = _constructed(
            prepared, method, request.seed, {**request.options, **barring}, folder, stages
        )
    with stages("verify", f"verifying {n_links:,} links and measuring {counts['topics']:,} topics"):
        questions = judging(request.judged_at), topic_figures(counts["subscriptions"], exact_diameters)
        files = interest_files(folder) if folder and many else None
        linked, topics = (table.persist() for table in _answered(prepared, links, files, *questions))
        verdict = _verdict(prepared, linked, topics, request.judged_at)
    with stages("measure", f"measuring {counts['nodes']:,} nodes"):
        nodes = _nodes(prepared, links, files).persist()
        metrics = summarize(prepared.interest, nodes, topics, linked)
        for table in kept:
            table.unpersist()
    run = run_facts(
        request,
        report={**report, **({"forbidden_pairs": len(barring["forbid"])} if barring else {})},
        fingerprint=prepared.fingerprint,
        counts={**counts, "links": n_links},
        verdict=verdict,
        started=started,
        seconds=stages.seconds,
    )
    run["versions"] |= {"pyspark": pyspark.__version__}
    return DesignResult(
        links=_labelled(linked, prepared.nodes).select(SRC, DST, SHARED_TOPICS, ORDER),
        nodes=nodes,
        topics=topics.join(prepared.topics.drop(SUBSCRIBERS), TOPIC_ID).select(TOPIC, *_TOPIC_COLUMNS),
        subscriptions=prepared.subscriptions,
        rejected=prepared.rejected,
        metrics=metrics,
        verdict=verdict,
        run=run,
        work=folder,
        _persisted=(linked, topics, nodes, *prepared._persisted),
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
    if method == "rounds-gm" and work is not None and prepared.counts["subscriptions"] > SUBSCRIPTIONS_A_TASK:
        in_rounds = design_in_rounds(
            prepared.interest, subscribers=prepared.subscribers(), work=work, stages=stages, **common
        )
        links = in_rounds.links.persist()
        return links, in_rounds.n_links, in_rounds.report, (links,)
    if method != "dc":
        links = construct(prepared.encoded, method=method, **common).persist()
        return links, links.count(), {}, (links,)
    divided = divide_and_conquer(
        prepared.interest, subscribers=prepared.subscribers(), work=work, stages=stages, **common
    )
    links = divided.links.persist()
    return links, divided.n_links, divided.report, (links, *divided.persisted)


def verify_overlay(
    subscriptions: DataFrame, links: DataFrame, *, k: int = 1, engine: str = SPARK, stages: Stages | None = None
) -> Verdict:
    """Judge links, from whatever tool, against subscriptions: whether every topic is k-connected.

    Parameters
    ----------
    subscriptions : DataFrame
        With columns ``node`` and ``topic``.
    links : DataFrame
        With columns ``src`` and ``dst``: node labels.
    k : int
        1: every topic in one piece; k: also while fewer than k of its nodes are down.
    engine, stages
        As for `design_overlay`.

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number from 1 up, or a table is no Spark DataFrame.
    InvalidLinksError
        A link names a node that has no subscription, or joins a node with itself.
    """
    checked_k(k)
    stages = stages or Stages()
    tables = _rows(subscriptions, engine), require_links(links)
    judged = _in_one_task(engine, tables, partial(verify_rows, k=k), stages, "verifying")
    if judged is not None:
        refuse_findings(judged[1])
        return judged[0]
    prepared = prepare(tables[0], stages=stages)
    return verify_prepared(prepared, encode_links(links, prepared.nodes), k=k, stages=stages)


def verify_prepared(
    prepared: Prepared, links: DataFrame, *, k: int, stages: Stages, work: Path | None = None
) -> Verdict:
    """`verify_overlay` for a prepared interest and links by id; the interest is released.

    ``work`` is a folder that driver and executors share: very many subscriptions are checked from files in it.
    """
    with stages("verify", "verifying"), _checked(prepared, links, work, judging(k)) as (linked, judged, _):
        return _verdict(prepared, linked, judged, k)


def measure_overlay(
    subscriptions: DataFrame, links: DataFrame, *, engine: str = SPARK, stages: Stages | None = None
) -> Metrics:
    """Figures of links, from whatever tool: degrees, topic diameters, sharing; called as `verify_overlay`.

    Diameters are exact, except of topics with over 20,000 subscribers: see ``Metrics.sampled_diameters``.
    """
    stages = stages or Stages()
    tables = _rows(subscriptions, engine), require_links(links)
    measured = _in_one_task(engine, tables, measure_rows, stages, "measuring")
    if measured is not None:
        refuse_findings(measured[1])
        return measured[0]
    prepared = prepare(tables[0], stages=stages)
    return measure_prepared(prepared, encode_links(links, prepared.nodes), stages=stages)


def measure_prepared(prepared: Prepared, links: DataFrame, *, stages: Stages, work: Path | None = None) -> Metrics:
    """`measure_overlay` for a prepared interest and links by id, as `verify_prepared`; the interest is released."""
    question = topic_figures(prepared.counts["subscriptions"])
    sentence = f"measuring {prepared.counts['topics']:,} topics"
    with stages("measure", sentence), _checked(prepared, links, work, question) as (linked, topics, files):
        return summarize(prepared.interest, _nodes(prepared, links, files), topics, linked)


def _rows(subscriptions: DataFrame, engine: str) -> DataFrame:
    """Rows of a table that a caller gave, each usable or with a reason, after a look at the workers of its session."""
    require_dataframe(subscriptions, "subscriptions", "node and topic")
    if engine not in (SPARK, DISTRIBUTED):
        raise InvalidOptionError(f"there is no engine {engine!r} for a DataFrame; {SPARK} and {DISTRIBUTED} are")
    rows = with_reasons(subscriptions)
    check_workers(subscriptions.sparkSession)
    return rows


def _in_one_task(
    engine: str, tables: Sequence[DataFrame], work: "Work[Answer]", stages: Stages, sentence: str
) -> "Answer | None":
    """Answer of one task, or None where the rows are too many for one."""
    with suppress(TooManyRowsError):
        if engine == SPARK and few_rows(*tables):
            return rows_in_one_task(tables, work, stages=stages, sentence=sentence)
    return None


def _brought_back(spark: SparkSession, designed: Designed, stages: Stages) -> DesignResult:
    """The tables of a design by one task as DataFrames."""
    tables: dict[str, Any] = {
        name: spark.createDataFrame(pq.ParquetFile(io.BytesIO(content)).read())
        for name, content in designed.files.items()
    }
    run = {**designed.run, "seconds": dict(stages.seconds)}
    run["versions"] = {**run["versions"], "pyspark": pyspark.__version__}
    return DesignResult(**tables, metrics=designed.metrics, verdict=designed.verdict, run=run)


@contextmanager
def _checked(
    prepared: Prepared, links: DataFrame, work: Path | None, question: Question
) -> Iterator[tuple[DataFrame, DataFrame, SharedFolder | None]]:
    """Links with the topics that they serve, answers, and the files; kept for the block, then all is released."""
    many = prepared.counts["subscriptions"] > SUBSCRIPTIONS_A_TASK
    files = interest_files(work) if work and many else None
    linked, answers = (table.persist() for table in _answered(prepared, links.persist(), files, question))
    try:
        yield linked, answers, files
    finally:
        for table in (links, linked, answers):
            table.unpersist()
        prepared.release()


def _answered(
    prepared: Prepared, links: DataFrame, files: SharedFolder | None, *questions: Question
) -> tuple[DataFrame, DataFrame]:
    """Links with the number of topics that each serves, and answers to questions about every topic."""
    if files is None:
        linked = linked_topics(prepared.interest, links)
        return linked, _asked(prepared, linked, *questions)
    keep_interest(prepared.interest, files, prepared.counts["nodes"])
    keep_links(links, files)
    asked = per_topic_mapped(prepared.interest, files, questions, prepared.subscribers())
    return with_shared_topics(links, files), asked


def _nodes(prepared: Prepared, links: DataFrame, files: SharedFolder | None) -> DataFrame:
    return node_figures(prepared.interest, links) if files is None else node_degrees(prepared.interest, files)


def _labelled(linked: DataFrame, nodes: DataFrame) -> DataFrame:
    """The links with the labels of their ends, if they have none yet."""
    if SRC in linked.columns:
        return linked
    of_src = nodes.select(F.col(NODE_ID).alias(SRC_ID), F.col(NODE).alias(SRC))
    of_dst = nodes.select(F.col(NODE_ID).alias(DST_ID), F.col(NODE).alias(DST))
    return linked.join(of_src, SRC_ID).join(of_dst, DST_ID)


def _asked(prepared: Prepared, linked: DataFrame, *questions: Question) -> DataFrame:
    return per_topic(prepared.interest, linked, questions, n_subscriptions=prepared.counts["subscriptions"])


def _verdict(prepared: Prepared, linked: DataFrame, judged: DataFrame, k: int) -> Verdict:
    """The verdict from answers to `judging`."""
    broken = broken_topics(judged)
    count = broken.count()
    return Verdict(
        ok=count == 0,
        k=k,
        topics=prepared.counts["topics"],
        broken_topics=count,
        broken=first_labelled(broken, prepared.nodes, prepared.topics) if count else (),
        idle_links=count_idle(linked),
    )
