"""Links of an interest judged and measured in this process, with the answers of the pipeline."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from topicloom.files.read.link_findings import FittedLinks, LinkFindings
from topicloom.judge import verify
from topicloom.measures import measure_topics
from topicloom.measures.summary import summarize
from topicloom.measures.topic_measures import exact_limit
from topicloom.methods.bounds import LowerBound, lower_bound
from topicloom.model import Interest, Metrics, Verdict
from topicloom.model.arrays import Int32Array
from topicloom.runs.encoded_rows import encoded_in, links_in
from topicloom.runs.stages import Stages

LISTED = 1000  # broken topics of which a verdict says more than their number


def judged(interest: Interest, links: Int32Array, k: int) -> Verdict:
    """The verdict on links by id. It lists the first thousand broken topics."""
    verdict = verify(interest, links, k)
    return replace(verdict, broken=verdict.broken[:LISTED])


def measured(interest: Interest, links: Int32Array, *, exact: bool = False) -> tuple[Metrics, dict[str, pa.Array]]:
    """Measure links by id, and those of every topic as columns of ``topics/``."""
    per_topic = measure_topics(interest, links, exact_up_to=exact_limit(interest.n_subscriptions, exact))
    return summarize(interest, links, per_topic), per_topic.columns()


def verify_rows(
    tables: Sequence[pa.Table], stages: Stages, *, k: int, expand: str | None = None
) -> tuple[Verdict, LinkFindings]:
    """Judge links against subscriptions, and say what is odd about the links: ``tables`` holds the rows of both.

    Raises
    ------
    InputNotFoundError
    """
    interest, fitted = _read(tables, stages, expand)
    with stages("verify", "verifying"):
        return judged(interest, fitted.links, k), fitted.findings


def measure_rows(
    tables: Sequence[pa.Table], stages: Stages, *, expand: str | None = None, bound: bool = False
) -> tuple[tuple[Metrics, LowerBound | None], LinkFindings]:
    """Measure links against subscriptions, and prove how few there can be if asked to. Called as `verify_rows`.

    The bound comes without its certificate. There is none for links that do not connect every topic.
    """
    interest, fitted = _read(tables, stages, expand)
    with stages("measure", f"measuring {interest.n_topics:,} topics"):
        metrics = measured(interest, fitted.links)[0]
    if not bound or metrics.disconnected_topics:
        return (metrics, None), fitted.findings
    with stages("bound", "proving how few links are possible"):
        return (metrics, replace(lower_bound(interest), certificate=np.empty(0, np.int64))), fitted.findings


def _read(tables: Sequence[pa.Table], stages: Stages, expand: str | None) -> tuple[Interest, FittedLinks]:
    """The interest, with nodes that occur in links alone, and the links."""
    rows, links = tables
    found = encoded_in(stages, rows, expand)
    fitted = links_in(stages, links, found.interest)
    return fitted.onto(found.interest), fitted
