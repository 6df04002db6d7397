"""Judging and measuring on Spark: links, from whatever tool, against subscriptions."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame

from topicloom.errors import InvalidOptionError
from topicloom.judge import checked_k
from topicloom.model import Metrics, Verdict
from topicloom.runs.check_rows import measure_rows, verify_rows
from topicloom.runs.request import DISTRIBUTED, SPARK
from topicloom.runs.stages import Stages
from topicloom.spark.rounds.design_in_rounds import SUBSCRIPTIONS_A_TASK
from topicloom.spark.session.columns import require_dataframe
from topicloom.spark.session.workers import check_workers
from topicloom.spark.steps.clean import with_reasons
from topicloom.spark.steps.judging import broken_topics, count_idle, first_labelled, judging
from topicloom.spark.steps.links import encode_links, ends_of, refuse_findings, require_links
from topicloom.spark.steps.mapped_check import keep_links, node_degrees, per_topic_mapped, with_shared_topics
from topicloom.spark.steps.measure import node_metrics, summarize, topic_metrics
from topicloom.spark.steps.one_pass import in_tasks
from topicloom.spark.steps.prepare import Prepared, prepare
from topicloom.spark.steps.shared_files import SharedFolder, interest_files, keep_interest
from topicloom.spark.steps.topic_links import Question, linked_topics, per_topic


def verify_overlay(
    subscriptions: DataFrame,
    links: DataFrame,
    *,
    k: int = 1,
    node_column: str | None = None,
    topic_column: str | None = None,
    engine: str = SPARK,
    stages: Stages | None = None,
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
    node_column, topic_column, engine, stages
        As for `design_overlay`.

    Returns
    -------
    Verdict
        ``ok``, and the first broken topics with the nodes of one of their parts.

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number from 1 up, or a table is no Spark DataFrame.
    InvalidLinksError
        A link names a node that has no subscription, or joins a node with itself.

    See Also
    --------
    measure_overlay : degrees and diameters of the same links.
    topicloom.verify : the same in memory.

    Notes
    -----
    For k = 1, O(subscriptions + Σ over links of the topics of both ends) over all tasks, and a shuffle of both. Topics
    are judged in groups; the largest one has to fit into a Python worker.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.pipeline import verify_overlay
    >>> factory = tl.datasets.example()
    >>> rows = [(node, topic) for node in factory.node_labels.tolist() for topic in factory.topics_of(node)]
    >>> subscriptions = spark.createDataFrame(rows, ["node", "topic"])  # spark is your session
    >>> verdict = verify_overlay(subscriptions, spark.createDataFrame([("crane", "gate")], ["src", "dst"]))
    >>> verdict.ok, verdict.broken_topics
    (False, 6)
    """
    checked_k(k)
    stages = stages or Stages()
    rows = rows_of(subscriptions, engine, node_column=node_column, topic_column=topic_column)
    tables = rows, require_links(links)
    judged = in_tasks(tables, [partial(verify_rows, k=k)], engine=engine, stages=stages, sentence="verifying")
    if judged is not None:
        verdict, findings = judged[0]
        refuse_findings(findings)
        return verdict
    prepared = prepare(tables[0], stages=stages)
    return verify_prepared(prepared, encode_links(ends_of(links), prepared.nodes), k=k, stages=stages)


def verify_prepared(
    prepared: Prepared, links: DataFrame, *, k: int, stages: Stages, work: Path | None = None
) -> Verdict:
    """`verify_overlay` for a prepared interest and links by id. The interest is released.

    ``work`` is a folder that driver and executors share: very many subscriptions are checked from files in it.
    """
    with stages("verify", "verifying"), _checked(prepared, links, work, judging(k)) as (linked, judged, _):
        return verdict_of(prepared, linked, judged, k)


def measure_overlay(
    subscriptions: DataFrame,
    links: DataFrame,
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    engine: str = SPARK,
    stages: Stages | None = None,
) -> Metrics:
    """Measure links, from whatever tool: degrees, topic diameters, and how many topics a link serves.

    Parameters
    ----------
    subscriptions : DataFrame
        With columns ``node`` and ``topic``.
    links : DataFrame
        With columns ``src`` and ``dst``: node labels. They need not connect every topic.
    node_column, topic_column, engine, stages
        As for `design_overlay`.

    Returns
    -------
    Metrics
        Diameters are exact, except of topics with over 20,000 subscribers. ``sampled_diameters`` counts the others.

    Raises
    ------
    InvalidOptionError
        A table is no Spark DataFrame.
    InvalidLinksError
        A link names a node that has no subscription, or joins a node with itself.

    See Also
    --------
    verify_overlay : whether every topic is connected.
    topicloom.measure : the same in memory, where diameters are exact for all topics.

    Notes
    -----
    Cost as for `verify_overlay`, and a few searches of each topic for its diameter and its hops.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.pipeline import design_overlay, measure_overlay
    >>> factory = tl.datasets.example()
    >>> rows = [(node, topic) for node in factory.node_labels.tolist() for topic in factory.topics_of(node)]
    >>> subscriptions = spark.createDataFrame(rows, ["node", "topic"])  # spark is your session
    >>> links = design_overlay(subscriptions, "ring-pt").links
    >>> metrics = measure_overlay(subscriptions, links)
    >>> metrics.links, metrics.max_degree, metrics.max_topic_diameter
    (12, 5, 2)
    """
    stages = stages or Stages()
    rows = rows_of(subscriptions, engine, node_column=node_column, topic_column=topic_column)
    tables = rows, require_links(links)
    measured = in_tasks(tables, [measure_rows], engine=engine, stages=stages, sentence="measuring")
    if measured is not None:
        (metrics, _), findings = measured[0]
        refuse_findings(findings)
        return metrics
    prepared = prepare(tables[0], stages=stages)
    return measure_prepared(prepared, encode_links(ends_of(links), prepared.nodes), stages=stages)


def measure_prepared(prepared: Prepared, links: DataFrame, *, stages: Stages, work: Path | None = None) -> Metrics:
    """`measure_overlay` for a prepared interest and links by id, as `verify_prepared`. The interest is released."""
    question = topic_metrics(prepared.counts["subscriptions"])
    sentence = f"measuring {prepared.counts['topics']:,} topics"
    with stages("measure", sentence), _checked(prepared, links, work, question) as (linked, topics, files):
        return summarize(prepared.interest, node_table(prepared, links, files), topics, linked)


def rows_of(subscriptions: DataFrame, engine: str = SPARK, **names: str | None) -> DataFrame:
    """Rows of a table that a caller gave, each usable or with a reason, after a look at the workers of its session.

    ``names`` are those of the columns, as for `with_reasons`.
    """
    require_dataframe(subscriptions, "subscriptions", "node and topic")
    if engine not in (SPARK, DISTRIBUTED):
        raise InvalidOptionError(f"there is no engine {engine!r} for a DataFrame; {SPARK} and {DISTRIBUTED} are")
    rows = with_reasons(subscriptions, **names)
    check_workers(subscriptions.sparkSession)
    return rows


@contextmanager
def _checked(
    prepared: Prepared, links: DataFrame, work: Path | None, question: Question
) -> Iterator[tuple[DataFrame, DataFrame, SharedFolder | None]]:
    """Yield links with the topics that they serve, answers, and the files. They are released after the block."""
    many = prepared.counts["subscriptions"] > SUBSCRIPTIONS_A_TASK
    files = interest_files(work) if work and many else None
    linked, answers = (table.persist() for table in answered(prepared, links.persist(), files, question))
    try:
        yield linked, answers, files
    finally:
        for table in (links, linked, answers):
            table.unpersist()
        prepared.release()


def answered(
    prepared: Prepared, links: DataFrame, files: SharedFolder | None, *questions: Question
) -> tuple[DataFrame, DataFrame]:
    """Links with the number of topics that each serves, and answers to questions about every topic."""
    if files is None:
        linked = linked_topics(prepared.interest, links)
        size = prepared.counts["subscriptions"]
        return linked, per_topic(prepared.interest, linked, questions, n_subscriptions=size)
    keep_interest(prepared.interest, files, prepared.counts["nodes"])
    keep_links(links, files)
    asked = per_topic_mapped(prepared.interest, files, questions, prepared.subscribers())
    return with_shared_topics(links, files), asked


def node_table(prepared: Prepared, links: DataFrame, files: SharedFolder | None) -> DataFrame:
    """Every node with its number of topics and its degree."""
    return node_metrics(prepared.interest, links) if files is None else node_degrees(prepared.interest, files)


def verdict_of(prepared: Prepared, linked: DataFrame, judged: DataFrame, k: int) -> Verdict:
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
