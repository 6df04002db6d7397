"""The pipeline as its users call it: design, verify and measure, from DataFrames to results."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyspark
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import NotEnoughMemoryError
from topicloom.methods.choose import options_for, promised
from topicloom.methods.registry import Size, check_options, registered, spec_of
from topicloom.model import Metrics
from topicloom.model.checks import checked_seed
from topicloom.model.directory import run_header
from topicloom.pipeline.columns import (
    DST,
    DST_ID,
    NODE,
    NODE_ID,
    ORDER,
    SHARED_TOPICS,
    SRC,
    SRC_ID,
    TOPIC,
    TOPIC_ID,
)
from topicloom.pipeline.construct import construct
from topicloom.pipeline.divide_and_conquer import divide_and_conquer
from topicloom.pipeline.links import encode_links
from topicloom.pipeline.measure import node_figures, summarize, topic_figures
from topicloom.pipeline.prepare import Prepared, prepare
from topicloom.pipeline.stages import Stages
from topicloom.pipeline.topic_links import topic_links, with_shared_topics
from topicloom.pipeline.verify import OverlayVerdict, broken_topics, count_idle, first_labelled


@dataclass(frozen=True)
class DesignResult:
    """An overlay designed, judged and measured on Spark.

    Attributes
    ----------
    links : DataFrame
        (src, dst, shared_topics, order)
    nodes : DataFrame
        (id, topic_count, degree)
    topics : DataFrame
        (topic, subscribers, links, components, diameter)
    subscriptions, rejected : DataFrame
        What it was designed for, and the input rows that were not used.
    metrics : Metrics
    verdict : OverlayVerdict
    run : mapping
        What ``run.json`` will hold.
    """

    links: DataFrame
    nodes: DataFrame
    topics: DataFrame
    subscriptions: DataFrame
    rejected: DataFrame
    metrics: Metrics
    verdict: OverlayVerdict
    run: Mapping[str, Any]
    _persisted: tuple[DataFrame, ...] = field(default=(), repr=False)

    def release(self) -> None:
        """Free what Spark keeps of it; the DataFrames are computed anew if used again."""
        for table in self._persisted:
            table.unpersist()


def design_overlay(
    subscriptions: DataFrame,
    *,
    method: str = "gm",
    seed: int = 0,
    k: int | None = None,
    stages: Stages | None = None,
    **options: Any,
) -> DesignResult:
    """Design, verify and measure an overlay for a DataFrame of subscriptions.

    Parameters
    ----------
    subscriptions : DataFrame
        With string (or integer) columns ``node`` and ``topic``; repeats and unusable rows are allowed.
    method, seed, **options
        As for `topicloom.design`; the same links as there.
    k : int, optional
        The topic-connectivity that is wanted: a method that cannot reach it is refused, and the result is judged at it.
    stages : Stages, optional
        Hears of progress and keeps the seconds.

    Raises
    ------
    InvalidOptionError, InputNotFoundError, NotEnoughMemoryError
    """
    spec = spec_of(method)
    check_options(spec, options)
    options_for(spec, k)
    checked_seed(seed)
    stages = stages or Stages()
    prepared = prepare(subscriptions, stages=stages)
    return design_prepared(prepared, method=method, seed=seed, k=k, stages=stages, **options)


def design_prepared(
    prepared: Prepared,
    *,
    method: str = "gm",
    seed: int = 0,
    k: int | None = None,
    stages: Stages | None = None,
    **options: Any,
) -> DesignResult:
    """`design_overlay` for an interest that is prepared already."""
    spec = spec_of(method)
    options |= options_for(spec, k)
    stages = stages or Stages()
    counts = prepared.counts
    started = time.time()
    with stages("design", f"designing with {method}"):
        links, report = _constructed(prepared, method, checked_seed(seed), options, stages)
        n_links = links.count()
    with stages("verify", f"verifying {n_links:,} links"):
        served = topic_links(prepared.encoded, links).persist()
        verdict = _judge(prepared, links, served, promised(spec, k))
    with stages("measure", f"measuring {counts['topics']:,} topics"):
        links = with_shared_topics(links, served)
        topics = topic_figures(prepared.encoded, served, n_subscriptions=counts["subscriptions"]).persist()
        nodes = node_figures(prepared.encoded, links).persist()
        metrics = summarize(nodes, topics, links)
    run = {
        **run_header(),
        "method": method,
        "options": options,
        "seed": seed,
        "report": report,
        "labels": True,
        "input_fingerprint": prepared.fingerprint,
        "counts": {**counts, "links": n_links},
        "verified": {"k": verdict.k, "ok": verdict.ok, "broken_topics": verdict.broken_topics},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": stages.seconds,
    }
    run["versions"] |= {"pyspark": pyspark.__version__}
    return DesignResult(
        links=_labelled_links(links, prepared.nodes),
        nodes=nodes.join(prepared.nodes, NODE_ID).select(F.col(NODE).alias("id"), "topic_count", "degree"),
        topics=topics.join(prepared.topics, TOPIC_ID).select(TOPIC, "subscribers", "links", "components", "diameter"),
        subscriptions=prepared.subscriptions,
        rejected=prepared.rejected,
        metrics=metrics,
        verdict=verdict,
        run=run,
        _persisted=(links, served, topics, nodes, *prepared._persisted),
    )


def _constructed(
    prepared: Prepared, method: str, seed: int, options: Mapping[str, Any], stages: Stages
) -> tuple[DataFrame, dict[str, Any]]:
    """The links, kept by Spark, and what the method reports."""
    common: dict[str, Any] = {
        "seed": seed,
        "options": options,
        "n_nodes": prepared.counts["nodes"],
        "n_topics": prepared.counts["topics"],
    }
    if method != "dc":
        return construct(prepared.encoded, method=method, **common).persist(), {}
    divided = divide_and_conquer(prepared.encoded, stages=stages, **common)
    links = divided.links.persist()
    links.count()
    for table in divided.persisted:
        table.unpersist()
    return links, divided.report


def verify_overlay(
    subscriptions: DataFrame, links: DataFrame, *, k: int = 1, stages: Stages | None = None
) -> OverlayVerdict:
    """Judge links, from whatever tool, against subscriptions: whether every topic is k-connected.

    Parameters
    ----------
    subscriptions : DataFrame
        With columns ``node`` and ``topic``.
    links : DataFrame
        With columns ``src`` and ``dst``: node labels.
    k : int
        1: every topic in one piece; k: also while fewer than k of its nodes are down.
    """
    stages = stages or Stages()
    prepared = prepare(subscriptions, stages=stages)
    with stages("verify", "verifying"), _persisted_links(prepared, links) as (encoded, served):
        return _judge(prepared, encoded, served, k)


def measure_overlay(subscriptions: DataFrame, links: DataFrame, *, stages: Stages | None = None) -> Metrics:
    """Figures of links, from whatever tool: degrees, exact topic diameters, sharing; called as `verify_overlay`."""
    stages = stages or Stages()
    prepared = prepare(subscriptions, stages=stages)
    sentence = f"measuring {prepared.counts['topics']:,} topics"
    with stages("measure", sentence), _persisted_links(prepared, links) as (encoded, served):
        topics = topic_figures(prepared.encoded, served, n_subscriptions=prepared.counts["subscriptions"])
        return summarize(node_figures(prepared.encoded, encoded), topics, with_shared_topics(encoded, served))


@contextmanager
def _persisted_links(prepared: Prepared, links: DataFrame) -> Iterator[tuple[DataFrame, DataFrame]]:
    """Links by id and their `topic_links`, kept by Spark for the length of the block; then all is released."""
    encoded = encode_links(links, prepared.nodes).persist()
    served = topic_links(prepared.encoded, encoded).persist()
    try:
        yield encoded, served
    finally:
        served.unpersist()
        encoded.unpersist()
        prepared.release()


def check_memory(prepared: Prepared, method: str, available: int) -> int:
    """Bytes that a method is expected to take on this interest; an error when that is more than there is."""
    size = Size(prepared.counts["nodes"], prepared.counts["topics"], prepared.counts["subscriptions"])
    needed = interest_bytes(size) + spec_of(method).memory(size)
    if needed > available:
        fitting = [
            name
            for name, spec in registered().items()
            if name != method and not spec.reference and interest_bytes(size) + spec.memory(size) <= available
        ]
        advice = f"; these methods would fit: {', '.join(fitting)}" if fitting else "; no method fits on this machine"
        raise NotEnoughMemoryError(
            f"{method} needs about {needed / 2**30:.1f} GiB for this interest, "
            f"and {available / 2**30:.1f} GiB are at hand{advice}"
        )
    return needed


def interest_bytes(size: Size) -> int:
    """What holding the interest in one Python worker takes: as it arrives, and as CSR in both orientations."""
    return 48 * size.subscriptions + 16 * (size.nodes + size.topics)


def _judge(prepared: Prepared, links: DataFrame, served: DataFrame, k: int) -> OverlayVerdict:
    broken = broken_topics(prepared.encoded, served, k=k, n_subscriptions=prepared.counts["subscriptions"]).persist()
    count = broken.count()
    verdict = OverlayVerdict(
        ok=count == 0,
        k=k,
        topics=prepared.counts["topics"],
        broken_topics=count,
        broken=first_labelled(broken, prepared.nodes, prepared.topics) if count else (),
        idle_links=count_idle(links, served),
    )
    broken.unpersist()
    return verdict


def _labelled_links(links: DataFrame, nodes: DataFrame) -> DataFrame:
    of_src = nodes.select(F.col(NODE).alias(SRC), F.col(NODE_ID).alias(SRC_ID))
    of_dst = nodes.select(F.col(NODE).alias(DST), F.col(NODE_ID).alias(DST_ID))
    return links.join(of_src, SRC_ID).join(of_dst, DST_ID).select(SRC, DST, SHARED_TOPICS, ORDER)
