"""Links of an interest judged and measured in this process, with the answers of the pipeline."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from topicloom.bounds import LowerBound, lower_bound
from topicloom.engine.encoded_rows import encoded
from topicloom.judge import verify
from topicloom.measures import measure_topics
from topicloom.measures.summary import summarize
from topicloom.measures.topic_measures import exact_limit
from topicloom.model import Interest, Metrics, Verdict
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array
from topicloom.reading.link_findings import FittedLinks, LinkFindings, fitted_links
from topicloom.reading.table import as_links, expanded, reading_of
from topicloom.spark.stages import Stages

LISTED = 1000  # broken topics of which a verdict says more than their number


def judged(interest: Interest, links: Int32Array, k: int) -> Verdict:
    """The verdict on links by id; it lists the first thousand broken topics."""
    verdict = verify(interest, links, k)
    return replace(verdict, broken=verdict.broken[:LISTED])


def measured(interest: Interest, links: Int32Array, *, exact: bool = False) -> tuple[Metrics, dict[str, pa.Array]]:
    """Figures of links by id, and those of every topic as columns of ``topics/``."""
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
) -> tuple[Metrics, LinkFindings, LowerBound | None]:
    """Measure links against subscriptions, and prove how few there can be if asked to; called as `verify_rows`.

    The bound comes without its certificate. There is none for links that do not connect every topic.
    """
    interest, fitted = _read(tables, stages, expand)
    with stages("measure", f"measuring {interest.n_topics:,} topics"):
        metrics = measured(interest, fitted.links)[0]
    if not bound or metrics.disconnected_topics:
        return metrics, fitted.findings, None
    with stages("bound", "proving how few links are possible"):
        return metrics, fitted.findings, replace(lower_bound(interest), certificate=np.empty(0, np.int64))


def _read(tables: Sequence[pa.Table], stages: Stages, expand: str | None) -> tuple[Interest, FittedLinks]:
    """The interest, with nodes that occur in links alone, and the links."""
    rows, links = tables
    with stages("encode", f"giving ids to the labels of {len(rows):,} rows"):
        found = encoded(rows if expand is None else expanded(rows, expand))
        labels = found.interest.node_labels
        fitted = fitted_links(as_links(reading_of(links)), label_columns.to_arrow([] if labels is None else labels))
    for note in (*found.notes(), *fitted.findings.sentences):
        stages.note(note)
    return fitted.onto(found.interest), fitted
