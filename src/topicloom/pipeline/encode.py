"""Labels to dense ids in UTF-8 byte order, without gathering them in one place.

Sorted labels are cut into ranges at labels that a hash picks. The hash of a label is the same wherever it is
computed, so the cuts, the ranges and the ids do not depend on partitions, cores or retries.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from topicloom.pipeline.columns import NODE, NODE_ID, TOPIC, TOPIC_ID, require_columns

RANGES = 64
_SAMPLE = 64 * RANGES


def with_ids(subscriptions: DataFrame, nodes: DataFrame, topics: DataFrame) -> DataFrame:
    """(node, topic) -> (node_id, topic_id), by the tables of `dense_ids`."""
    require_columns(subscriptions, NODE, TOPIC)
    return subscriptions.join(nodes, NODE).join(topics, TOPIC).select(NODE_ID, TOPIC_ID)


def dense_ids(labelled: DataFrame, label: str, identifier: str) -> tuple[DataFrame, int]:
    """Distinct values of a label column -> (label, identifier), ids 0, 1, … (int) in UTF-8 byte order; and how many.

    Runs two small actions (a sample of at most 4,096 labels, and the sizes of 64 ranges).
    """
    require_columns(labelled, label)
    distinct = labelled.select(label).distinct()
    ranged = distinct.withColumn("range", _range_of(F.col(label), _cuts(distinct, label)))
    sizes = {row["range"]: row["count"] for row in ranged.groupBy("range").count().collect()}
    offsets = [sum(count for earlier, count in sizes.items() if earlier < number) for number in range(RANGES)]
    rank = F.row_number().over(Window.partitionBy("range").orderBy(label)) - 1
    offset = F.element_at(F.array(*map(F.lit, offsets)), F.col("range") + 1)
    return ranged.select(label, (rank + offset).cast("int").alias(identifier)), sum(sizes.values())


def _cuts(distinct: DataFrame, label: str) -> Sequence[str]:
    """At most RANGES - 1 labels that cut the sorted labels into ranges of about equal size."""
    sample = distinct.orderBy(F.xxhash64(label), label).limit(_SAMPLE).collect()
    if len(sample) < _SAMPLE:
        return ()
    ordered = sorted((row[label] for row in sample), key=str.encode)
    return ordered[_SAMPLE // RANGES :: _SAMPLE // RANGES]


def _range_of(label: Column, cuts: Sequence[str]) -> Column:
    """Number of cuts at or below a label: a sum of comparisons, so that labels never become SQL text."""
    number = F.lit(0)
    for cut in cuts:
        number = number + (label >= F.lit(cut)).cast("int")
    return number
