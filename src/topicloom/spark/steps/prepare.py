"""From rows to an encoded interest: the first boundary at which Spark runs, and where counts become known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import InputNotFoundError
from topicloom.files.read.notes import BLANK_END, WILDCARD, Finding, findings, folded, row_notes
from topicloom.files.read.table import nothing_usable
from topicloom.methods.registry import Size
from topicloom.model.arrays import Int64Array
from topicloom.runs.stages import Stages
from topicloom.spark.session.columns import (
    FILE,
    LINE,
    NODE,
    NODE_ID,
    REASON,
    ROLE,
    SUBSCRIBERS,
    TOPIC,
    TOPIC_ID,
    TOPICS,
)
from topicloom.spark.steps.clean import rejected, with_reasons
from topicloom.spark.steps.encode import counts_by_id, ranked, topics_of_nodes
from topicloom.spark.steps.read import worker_sentences

_ROWS = "rows"


@dataclass(frozen=True)
class Prepared:
    """A cleaned and encoded interest.

    Attributes
    ----------
    interest : DataFrame
        (node, topics, node_id): a row per node, with its topic ids ascending.
    topics : DataFrame
        (topic, topic_id, subscribers).
    rejected : DataFrame
        (file, line, raw, node, topic, reason): input rows that are not used.
    counts : mapping
        rows, rejected, repeated, subscriptions, nodes, topics, topics_of_one (with a single subscriber). Rows is the
        sum of the next three. Where patterns were replaced also expanded: rows beyond their own that they make, which
        the sum contains.
    fingerprint : str
        Depends on the set of subscriptions alone, not on their order or file format.
    roles : DataFrame or None
        (node, topic, role): the subscriptions once more, if the input had roles.
    persisted : tuple of DataFrame
        What Spark keeps of it until `release`.
    """

    interest: DataFrame
    topics: DataFrame
    rejected: DataFrame
    counts: Mapping[str, int]
    fingerprint: str
    roles: DataFrame | None = None
    persisted: tuple[DataFrame, ...] = field(default=(), repr=False)

    @property
    def size(self) -> Size:
        """What a memory estimate depends on."""
        return Size(self.counts["nodes"], self.counts["topics"], self.counts["subscriptions"])

    @property
    def nodes(self) -> DataFrame:
        """(node, node_id)."""
        return self.interest.select(NODE, NODE_ID)

    @property
    def encoded(self) -> DataFrame:
        """(node_id, topic_id)."""
        return self.interest.select(NODE_ID, F.explode(TOPICS).alias(TOPIC_ID))

    @property
    def subscriptions(self) -> DataFrame:
        """(node, topic, role): distinct labels, in no order. The role is null where it is not known."""
        if self.roles is not None:
            return self.roles
        pairs = self.interest.select(NODE, F.explode(TOPICS).alias(TOPIC_ID))
        return pairs.join(self.topics, TOPIC_ID).select(NODE, TOPIC, F.lit(None).cast("string").alias(ROLE))

    def subscribers(self) -> Int64Array:
        """The topics' numbers of subscribers, brought to the driver."""
        return counts_by_id(self.topics.select(TOPIC_ID, SUBSCRIBERS), self.counts["topics"])

    def release(self) -> None:
        """Free what Spark keeps of it."""
        for table in self.persisted:
            table.unpersist()


def prepare(rows: DataFrame, *, stages: Stages | None = None, expanded: int | None = None) -> Prepared:
    """(node, topic[, role][, file, line, raw, reason]) -> the interest, cleaned and encoded.

    ``expanded`` is the number of rows that patterns make beyond their own, if they were replaced.

    Raises
    ------
    InputNotFoundError
        No row can be used; the message says how many there were and why.
    """
    stages = stages or Stages()
    judged = with_reasons(rows)
    with stages("read", "reading subscriptions"), worker_sentences():
        tallied = _tallied(judged).persist()
        counts, fingerprint = _counted(tallied)
        if expanded is not None:
            counts |= {"rows": counts["rows"] - expanded, "expanded": expanded}
    for note in row_notes(counts, _reasons(tallied) if counts["rejected"] else {}):
        stages.note(note)
    unused = rejected(judged)
    if not counts["subscriptions"]:
        raise InputNotFoundError(nothing_usable(counts["rows"], _reasons(tallied)))
    if not counts["rejected"]:
        unused = unused.limit(0)  # the input need not be read again to find that out
    with stages("encode", f"giving ids to the labels of {counts['subscriptions']:,} subscriptions"):
        subscriptions = tallied.where(F.col(REASON).isNull()).select(NODE, TOPIC)
        labels = subscriptions.groupBy(TOPIC).agg(F.count("*").alias(SUBSCRIBERS)).persist()
        topics, n_topics = ranked(labels, TOPIC, TOPIC_ID)
        topics = topics.persist()
        # Spark then knows its size, and moves the topics to the subscriptions where they are few
        topics_of_one = topics.agg(F.count_if(F.col(SUBSCRIBERS) == 1)).collect()[0][0]
        grouped = topics_of_nodes(subscriptions, topics).persist()
        interest, n_nodes = ranked(grouped, NODE, NODE_ID)
        interest = interest.persist()
        interest.count()  # so that the time it takes is not charged to the design
        roles = subscriptions_with_roles(tallied)
        for used in (labels, grouped, tallied):
            used.unpersist()
    counts |= {"nodes": n_nodes, "topics": n_topics, "topics_of_one": topics_of_one}
    kept = (topics, interest) if roles is None else (topics, interest, roles)
    return Prepared(interest, topics, unused, counts, fingerprint, roles, kept)


def subscriptions_with_roles(tallied: DataFrame) -> DataFrame | None:
    """(node, topic, role) of usable rows, kept by Spark. Returns None if the rows had no roles."""
    if ROLE not in tallied.columns:
        return None
    roles = tallied.where(F.col(REASON).isNull()).select(NODE, TOPIC, ROLE).persist()
    roles.count()
    return roles


def _tallied(judged: DataFrame) -> DataFrame:
    """Rows of `with_reasons` -> (node, topic, reason, rows[, role]): distinct subscriptions, a row for each reason."""
    usable = F.col(REASON).isNull()
    labels = [F.when(usable, F.col(name)).alias(name) for name in (NODE, TOPIC)]
    role = [ROLE] if ROLE in judged.columns else []
    # by node alone, so that lists of topics can be made of it without moving the rows again
    together = judged.select(*labels, *role, REASON).repartition(NODE)
    low, high = F.min(ROLE), F.max(ROLE)
    told = [F.when(low == high, low).when(low.isNotNull(), F.lit("both")).alias(ROLE)] if role else []
    return together.groupBy(NODE, TOPIC, REASON).agg(F.count("*").alias(_ROWS), *told)


def _counted(tallied: DataFrame) -> tuple[dict[str, int], str]:
    """How many rows there were, and a fingerprint: hashes of the subscriptions, folded regardless of order."""
    usable = F.col(REASON).isNull()
    hashed = F.when(usable, F.xxhash64(NODE, TOPIC))
    row = tallied.agg(
        F.count_if(usable).alias("distinct"),
        F.coalesce(F.sum(_ROWS), F.lit(0)).alias("rows"),
        F.coalesce(F.sum(F.when(~usable, F.col(_ROWS))), F.lit(0)).alias("rejected"),
        F.coalesce(F.bit_xor(hashed), F.lit(0)).alias("folded"),
        # halves, because a sum of whole hashes would overflow
        F.coalesce(F.sum(F.shiftrightunsigned(hashed, 32)), F.lit(0)).alias("high"),
        F.coalesce(F.sum(hashed.bitwiseAND(F.lit(0xFFFFFFFF))), F.lit(0)).alias("low"),
    ).collect()[0]
    counts = {
        "rows": row["rows"],
        "rejected": row["rejected"],
        "repeated": row["rows"] - row["rejected"] - row["distinct"],
        "subscriptions": row["distinct"],
    }
    summed = (row["high"] << 32) + row["low"]
    return counts, f"{row['distinct']}-{row['folded'] % 2**64:016x}-{summed % 2**64:016x}"


def _reasons(tallied: DataFrame) -> dict[str, int]:
    """Number of rejected rows by reason, the most frequent first."""
    found = tallied.where(F.col(REASON).isNotNull()).groupBy(REASON).agg(F.sum(_ROWS).alias(_ROWS))
    return {row[REASON]: row[_ROWS] for row in found.orderBy(F.desc(_ROWS), REASON).limit(20).collect()}


_SHOWN = 3
_BROUGHT_HERE = 200_000


def first_rejected(prepared: Prepared) -> list[dict[str, Any]]:
    """The first few rejected rows by file and line."""
    if not prepared.counts["rejected"]:
        return []
    return [row.asDict() for row in prepared.rejected.orderBy(FILE, LINE).limit(_SHOWN).collect()]


def label_findings(prepared: Prepared) -> tuple[Finding, ...]:
    """Look-alikes and patterns among the labels. Few labels are brought here, many are compared on Spark."""
    nodes, topics = prepared.interest.select(NODE), prepared.topics.select(TOPIC)
    if prepared.counts["nodes"] + prepared.counts["topics"] <= _BROUGHT_HERE:
        return findings(*(_labels(table) for table in (nodes, topics)))
    sides = ((nodes, NODE), (topics, TOPIC))
    found = [_look_alikes(*side) for side in sides]
    found += [_matching(*side, "blanks", BLANK_END) for side in sides]
    found.append(_matching(topics, TOPIC, "wildcards", WILDCARD))
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


def _matching(labels: DataFrame, what: str, kind: str, pattern: str) -> Finding | None:
    found = labels.where(F.col(what).rlike(pattern))
    rows = found.orderBy(what).limit(_SHOWN).collect()
    return Finding(kind, what, found.count(), tuple((row[what],) for row in rows)) if rows else None
