"""The pipeline as its users call it: design, verify and measure, from DataFrames to results."""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspark
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import NotEnoughMemoryError
from topicloom.judge import checked_k
from topicloom.methods.dc.divide_and_conquer import worker_size
from topicloom.methods.registry import MethodSpec, Size, check_bars, check_options, registered, spec_of
from topicloom.methods.selection import method_for, options_for, promised
from topicloom.model import Metrics, Verdict
from topicloom.model.checks import checked_seed
from topicloom.pipeline.construct import construct
from topicloom.pipeline.dc.run import divide_and_conquer
from topicloom.pipeline.dc.work import run_folder
from topicloom.pipeline.links import encode_links
from topicloom.pipeline.measure import TOPIC_FIGURES, node_figures, summarize
from topicloom.pipeline.prepare import Prepared, prepare
from topicloom.pipeline.topic_links import Question, linked_topics, per_topic
from topicloom.pipeline.verify import broken_topics, count_idle, first_labelled, judging
from topicloom.spark.columns import (
    DST,
    ORDER,
    SHARED_TOPICS,
    SRC,
    SUBSCRIBERS,
    TOPIC,
    TOPIC_ID,
    TOPICS,
    require_dataframe,
)
from topicloom.spark.stages import Stages
from topicloom.spark.workers import check_workers
from topicloom.storage.run_file import json_options, run_header

_TOPIC_COLUMNS = (SUBSCRIBERS, "links", "components", "diameter", "diameter_sampled")


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

    def release(self) -> None:
        """Free what Spark and the work folder keep of it; use the DataFrames before."""
        for table in self._persisted:
            table.unpersist()
        if self.work is not None:
            shutil.rmtree(self.work, ignore_errors=True)


def design_overlay(
    subscriptions: DataFrame,
    *,
    method: str | None = None,
    seed: int = 0,
    k: int | None = None,
    work: Path | None = None,
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
    work : Path, optional
        Folder, shared with the executors, in which dc keeps finished partitions; the same call goes on from there after
        a crash. Files of this call are removed by `DesignResult.release`.
    stages : Stages, optional
        Hears of progress and keeps the seconds.

    Raises
    ------
    InvalidOptionError, InputNotFoundError, NotEnoughMemoryError
    """
    method = method or method_for(1 if k is None else k)
    spec = spec_of(method)
    check_options(spec, options)
    options_for(spec, k, options)
    checked_seed(seed)
    stages = stages or Stages()
    prepared = _prepared(subscriptions, stages)
    return design_prepared(prepared, method=method, seed=seed, k=k, work=work, stages=stages, **options)


def design_prepared(
    prepared: Prepared,
    *,
    method: str,
    seed: int = 0,
    k: int | None = None,
    work: Path | None = None,
    forbid: npt.ArrayLike | None = None,
    stages: Stages | None = None,
    **options: Any,
) -> DesignResult:
    """`design_overlay` for an interest that is prepared already; ``forbid`` are pairs of node ids, never linked."""
    spec = spec_of(method)
    barring = {} if forbid is None else {"forbid": np.asarray(forbid, np.int32)}
    if barring:
        check_bars(spec)
    options |= options_for(spec, k, options)
    stages = stages or Stages()
    counts = prepared.counts
    started = time.time()
    with stages("design", f"designing with {method}"):
        folder = run_folder(work, prepared.fingerprint, options, seed) if work and method == "dc" else None
        links, n_links, report, kept = _constructed(
            prepared, method, checked_seed(seed), {**options, **barring}, folder, stages
        )
    with stages("verify", f"verifying {n_links:,} links and measuring {counts['topics']:,} topics"):
        linked = linked_topics(prepared.interest, links).persist()
        topics = _asked(prepared, linked, judging(promised(spec, k, options)), TOPIC_FIGURES).persist()
        verdict = _verdict(prepared, linked, topics, promised(spec, k, options))
    with stages("measure", f"measuring {counts['nodes']:,} nodes"):
        nodes = node_figures(prepared.interest, links).persist()
        metrics = summarize(nodes, topics, linked)
        for table in kept:
            table.unpersist()
    run = {
        **run_header(),
        "method": method,
        "options": json_options(options),
        "seed": checked_seed(seed),
        "report": {**report, **({"forbidden_pairs": len(barring["forbid"])} if barring else {})},
        "labels": True,
        "input_fingerprint": prepared.fingerprint,
        "counts": {**counts, "links": n_links},
        "verified": {"k": verdict.k, "ok": verdict.ok, "broken_topics": verdict.broken_topics},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": stages.seconds,
    }
    run["versions"] |= {"pyspark": pyspark.__version__}
    return DesignResult(
        links=linked.select(SRC, DST, F.size(TOPICS).cast("bigint").alias(SHARED_TOPICS), ORDER),
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
    if method != "dc":
        links = construct(prepared.encoded, method=method, **common).persist()
        return links, links.count(), {}, (links,)
    divided = divide_and_conquer(
        prepared.interest, subscribers=prepared.subscribers(), work=work, stages=stages, **common
    )
    links = divided.links.persist()
    return links, divided.n_links, divided.report, (links, *divided.persisted)


def verify_overlay(subscriptions: DataFrame, links: DataFrame, *, k: int = 1, stages: Stages | None = None) -> Verdict:
    """Judge links, from whatever tool, against subscriptions: whether every topic is k-connected.

    Parameters
    ----------
    subscriptions : DataFrame
        With columns ``node`` and ``topic``.
    links : DataFrame
        With columns ``src`` and ``dst``: node labels.
    k : int
        1: every topic in one piece; k: also while fewer than k of its nodes are down.

    Raises
    ------
    InvalidOptionError
        ``k`` is not a whole number from 1 up, or a table is no Spark DataFrame.
    """
    checked_k(k)
    require_dataframe(links, "links", "src and dst")
    stages = stages or Stages()
    prepared = _prepared(subscriptions, stages)
    with stages("verify", "verifying"), _persisted_links(prepared, links) as linked:
        judged = _asked(prepared, linked, judging(k)).persist()
        verdict = _verdict(prepared, linked, judged, k)
        judged.unpersist()
    return verdict


def measure_overlay(subscriptions: DataFrame, links: DataFrame, *, stages: Stages | None = None) -> Metrics:
    """Figures of links, from whatever tool: degrees, topic diameters, sharing; called as `verify_overlay`.

    Diameters are exact, except of topics with over 20,000 subscribers: see ``Metrics.sampled_diameters``.
    """
    require_dataframe(links, "links", "src and dst")
    stages = stages or Stages()
    prepared = _prepared(subscriptions, stages)
    sentence = f"measuring {prepared.counts['topics']:,} topics"
    with stages("measure", sentence), _persisted_links(prepared, links) as linked:
        return summarize(node_figures(prepared.interest, linked), _asked(prepared, linked, TOPIC_FIGURES), linked)


def _prepared(subscriptions: DataFrame, stages: Stages) -> Prepared:
    """Check a table that a caller gave, and the workers of its session, then prepare it."""
    require_dataframe(subscriptions, "subscriptions", "node and topic")
    check_workers(subscriptions.sparkSession)
    return prepare(subscriptions, stages=stages)


@contextmanager
def _persisted_links(prepared: Prepared, links: DataFrame) -> Iterator[DataFrame]:
    """`linked_topics` of links that came as labels, kept by Spark for the length of the block; then all is released."""
    linked = linked_topics(prepared.interest, encode_links(links, prepared.nodes)).persist()
    try:
        yield linked
    finally:
        linked.unpersist()
        prepared.release()


def _asked(prepared: Prepared, linked: DataFrame, *questions: Question) -> DataFrame:
    return per_topic(prepared.interest, linked, questions, n_subscriptions=prepared.counts["subscriptions"])


def check_memory(
    prepared: Prepared, method: str, available: int, *, workers: int = 1, options: Mapping[str, Any] | None = None
) -> int:
    """Bytes that a method is expected to take in one Python worker; an error when that is more than there is.

    With ``dc`` so many workers are busy at the same time.
    """
    size = Size(prepared.counts["nodes"], prepared.counts["topics"], prepared.counts["subscriptions"])
    if method == "dc":
        part = worker_size(size, **(options or {}))
        needed, busy = interest_bytes(part) + spec_of(method).bytes_needed(size, options), workers
    else:
        needed, busy = interest_bytes(size) + spec_of(method).bytes_needed(size, options), 1
    if busy * needed > available:
        fitting = [
            name
            for name, spec in registered().items()
            if name != method
            and not spec.reference
            and interest_bytes(size) + spec.bytes_needed(size, _shared(spec, options)) <= available
        ]
        advice = f"; these methods would fit: {', '.join(fitting)}" if fitting else "; no method fits on this machine"
        if method == "dc":
            advice = "; more partitions, a smaller core or a lower merge_limit take less"
        raise NotEnoughMemoryError(
            f"{method} needs about {busy * needed / 2**30:.1f} GiB for this interest, "
            f"and {available / 2**30:.1f} GiB are at hand{advice}"
        )
    return needed


def _shared(spec: MethodSpec, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Those of the given options that a method has as well, such as k."""
    return {name: value for name, value in (options or {}).items() if name in spec.options}


def interest_bytes(size: Size) -> int:
    """What holding the interest in one Python worker takes: as it arrives, and as CSR in both orientations."""
    return 48 * size.subscriptions + 16 * (size.nodes + size.topics)


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
