"""Labels to dense ids in UTF-8 byte order, without gathering them in one place.

Sorted labels are cut into ranges at labels that a hash picks. The hash of a label is the same wherever it is
computed, so the cuts, the ranges and the ids do not depend on partitions, cores or retries.
"""

from collections.abc import Sequence

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from topicloom.model.arrays import Int64Array
from topicloom.spark.session.columns import NODE, TOPIC, TOPIC_ID, TOPICS, require_columns

RANGES = 64
_SAMPLE = 64 * RANGES


def topics_of_nodes(subscriptions: DataFrame, topics: DataFrame) -> DataFrame:
    """Distinct (node, topic), and (topic, topic_id) -> (node, topics): a row per node, its topic ids ascending."""
    require_columns(subscriptions, NODE, TOPIC)
    require_columns(topics, TOPIC, TOPIC_ID)
    ids = F.sort_array(F.collect_list(TOPIC_ID)).alias(TOPICS)
    return subscriptions.join(topics, TOPIC).groupBy(NODE).agg(ids)


def counts_by_id(counted: DataFrame, size: int) -> Int64Array:
    """Rows (id, count) -> an array of counts in the driver, 0 where there is no row."""
    ids, found = counted.toArrow().columns
    counts = np.zeros(size, np.int64)
    counts[ids.to_numpy()] = found.to_numpy()
    return counts


def ranked(distinct: DataFrame, label: str, identifier: str) -> tuple[DataFrame, int]:
    """Give distinct labels the ids 0, 1, … (int) in UTF-8 byte order. Returns the table and their number.

    Runs two small actions (a sample of at most 4,096 labels, and the sizes of 64 ranges), so that three passes over
    the table are made: persist it if it takes long to compute.
    """
    require_columns(distinct, label)
    ranged = distinct.withColumn("range", _range_of(F.col(label), _cuts(distinct.select(label), label)))
    sizes = {row["range"]: row["count"] for row in ranged.groupBy("range").count().collect()}
    offsets = [sum(count for earlier, count in sizes.items() if earlier < number) for number in range(RANGES)]
    rank = F.row_number().over(Window.partitionBy("range").orderBy(label)) - 1
    offset = F.element_at(F.array(*map(F.lit, offsets)), F.col("range") + 1)
    return ranged.select(*distinct.columns, (rank + offset).cast("int").alias(identifier)), sum(sizes.values())


def _cuts(distinct: DataFrame, label: str) -> Sequence[str]:
    """At most RANGES - 1 labels that cut the sorted labels into ranges of about equal size.

    Few labels are one range, above the empty label. A range that Spark could tell to be the same for all would have it
    warn, for every query, that a window has no partitions.
    """
    sample = distinct.orderBy(F.xxhash64(label), label).limit(_SAMPLE).collect()
    if len(sample) < _SAMPLE:
        return ("",)
    ordered = sorted((row[label] for row in sample), key=str.encode)
    return ordered[_SAMPLE // RANGES :: _SAMPLE // RANGES]


def _range_of(label: Column, cuts: Sequence[str]) -> Column:
    """Number of cuts at or below a label: a sum of comparisons, so that labels never become SQL text."""
    number = F.lit(0)
    for cut in cuts:
        number = number + (label >= F.lit(cut)).cast("int")
    return number
