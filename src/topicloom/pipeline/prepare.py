"""From rows to an encoded interest: the first boundary at which Spark runs, and where counts become known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.errors import InputNotFoundError
from topicloom.pipeline.clean import rejected, with_reasons
from topicloom.pipeline.columns import NODE, NODE_ID, REASON, TOPIC, TOPIC_ID
from topicloom.pipeline.encode import dense_ids, with_ids
from topicloom.pipeline.stages import Stages

_REPEATS = "repeats"


@dataclass(frozen=True)
class Prepared:
    """A cleaned and encoded interest.

    Attributes
    ----------
    subscriptions : DataFrame
        (node, topic): distinct labels.
    nodes, topics : DataFrame
        (node, node_id) and (topic, topic_id).
    encoded : DataFrame
        (node_id, topic_id).
    rejected : DataFrame
        (file, raw, node, topic, reason): input rows that are not used.
    counts : mapping
        rows, rejected, repeated, subscriptions, nodes, topics.
    fingerprint : str
        Depends on the set of subscriptions alone, not on their order or file format.
    """

    subscriptions: DataFrame
    nodes: DataFrame
    topics: DataFrame
    encoded: DataFrame
    rejected: DataFrame
    counts: Mapping[str, int]
    fingerprint: str
    _persisted: tuple[DataFrame, ...] = field(default=(), repr=False)

    def release(self) -> None:
        """Free what Spark keeps of it."""
        for table in self._persisted:
            table.unpersist()


def prepare(rows: DataFrame, *, stages: Stages | None = None) -> Prepared:
    """(node, topic[, file, raw, reason]) -> the interest, cleaned and encoded.

    Raises
    ------
    InputNotFoundError
        No row can be used; the message says how many there were and why.
    """
    stages = stages or Stages()
    judged = with_reasons(rows)
    with stages("read", "reading subscriptions"):
        kept = judged.where(F.col(REASON).isNull()).groupBy(NODE, TOPIC).agg(F.count("*").alias(_REPEATS)).persist()
        unused = rejected(judged).persist()
        counts, fingerprint = _counted(kept, unused)
    if not counts["subscriptions"]:
        raise InputNotFoundError(_nothing_usable(unused, counts["rows"]))
    with stages("encode", f"giving ids to the labels of {counts['subscriptions']:,} subscriptions"):
        subscriptions = kept.select(NODE, TOPIC)
        nodes, n_nodes = dense_ids(subscriptions, NODE, NODE_ID)
        topics, n_topics = dense_ids(subscriptions, TOPIC, TOPIC_ID)
        nodes, topics = nodes.persist(), topics.persist()
        encoded = with_ids(subscriptions, nodes, topics).persist()
    counts |= {"nodes": n_nodes, "topics": n_topics}
    persisted = (kept, unused, nodes, topics, encoded)
    return Prepared(subscriptions, nodes, topics, encoded, unused, counts, fingerprint, persisted)


def _counted(kept: DataFrame, unused: DataFrame) -> tuple[dict[str, int], str]:
    """How many rows were used, and a fingerprint: hashes of the subscriptions, folded so that their order is nothing."""
    row = (
        kept.withColumn("hash", F.xxhash64(NODE, TOPIC))
        .agg(
            F.count("*").alias("distinct"),
            F.coalesce(F.sum(_REPEATS), F.lit(0)).alias("all"),
            F.coalesce(F.bit_xor("hash"), F.lit(0)).alias("folded"),
            F.coalesce(F.sum(F.col("hash").cast("decimal(38,0)")), F.lit(0)).alias("summed"),
        )
        .collect()[0]
    )
    bad = unused.count()
    counts = {
        "rows": row["all"] + bad,
        "rejected": bad,
        "repeated": row["all"] - row["distinct"],
        "subscriptions": row["distinct"],
    }
    return counts, f"{row['distinct']}-{row['folded'] % 2**64:016x}-{int(row['summed']) % 2**64:016x}"


def _nothing_usable(unused: DataFrame, rows: int) -> str:
    if not rows:
        return "there are no rows in the subscriptions"
    reasons: list[Any] = unused.groupBy(REASON).count().orderBy(F.desc("count"), REASON).limit(3).collect()
    why = "; ".join(f"{row['count']:,} × {row[REASON]}" for row in reasons)
    return f"none of the {rows:,} rows can be used: {why}"
