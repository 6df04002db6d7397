"""What deserves a look about the rows of an input: those that were rejected, and labels that look alike."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.pipeline.prepare import Prepared
from topicloom.reading.findings import WILDCARD, Finding, findings, folded
from topicloom.spark.columns import FILE, LINE, NODE, TOPIC

_SHOWN = 3
_BROUGHT_HERE = 200_000


def first_rejected(prepared: Prepared) -> list[dict[str, Any]]:
    """The first few rejected rows by file and line."""
    if not prepared.counts["rejected"]:
        return []
    return [row.asDict() for row in prepared.rejected.orderBy(FILE, LINE).limit(_SHOWN).collect()]


def label_findings(prepared: Prepared) -> tuple[Finding, ...]:
    """Look-alikes and patterns among the labels; few labels are brought here, many are compared on Spark."""
    nodes, topics = prepared.interest.select(NODE), prepared.topics.select(TOPIC)
    if prepared.counts["nodes"] + prepared.counts["topics"] <= _BROUGHT_HERE:
        return findings(*(_labels(table) for table in (nodes, topics)))
    found = [_look_alikes(nodes, NODE), _look_alikes(topics, TOPIC), _wildcards(topics)]
    return tuple(one for one in found if one is not None)


def _labels(table: DataFrame) -> pa.Array:
    column = table.toArrow().column(0).combine_chunks().cast(pa.string())
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _look_alikes(labels: DataFrame, what: str) -> Finding | None:
    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            label = batch.column(0).cast(pa.string())
            yield pa.record_batch([label, folded(label)], names=["label", "folded"])

    groups = labels.mapInArrow(fold, "label string, folded string").groupBy("folded")
    alike = groups.agg(F.array_sort(F.collect_list("label")).alias("labels")).where(F.size("labels") > 1)
    rows = alike.orderBy("labels").limit(_SHOWN).collect()
    if not rows:
        return None
    return Finding("look-alikes", what, alike.count(), tuple(tuple(row["labels"][:_SHOWN]) for row in rows))


def _wildcards(topics: DataFrame) -> Finding | None:
    found = topics.where(F.col(TOPIC).rlike(WILDCARD))
    rows = found.orderBy(TOPIC).limit(_SHOWN).collect()
    return Finding("wildcards", TOPIC, found.count(), tuple((row[TOPIC],) for row in rows)) if rows else None
