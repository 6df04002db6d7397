"""Which rows are subscriptions, and why the others are not."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from topicloom.model.labels import BLANK, MAX_LABEL_BYTES
from topicloom.spark.columns import FILE, NODE, RAW, REASON, TOPIC, require_columns


def with_reasons(rows: DataFrame) -> DataFrame:
    """(node, topic[, file, raw, reason]) -> (file, raw, node, topic, reason): the reason is null for usable rows.

    A row is not usable if a label is null, blank, over 64 KiB or not valid UTF-8. Labels are kept as they are.
    """
    require_columns(rows, NODE, TOPIC)
    for name in (FILE, RAW, REASON):
        if name not in rows.columns:
            rows = rows.withColumn(name, F.lit(None).cast("string"))
    node, topic = F.col(NODE).cast("string"), F.col(TOPIC).cast("string")
    reason = F.coalesce(F.col(REASON), _reason(node, "node"), _reason(topic, "topic"))
    return rows.select(FILE, RAW, node.alias(NODE), topic.alias(TOPIC), reason.alias(REASON))


def accepted(rows: DataFrame) -> DataFrame:
    """Rows of `with_reasons` -> distinct (node, topic)."""
    require_columns(rows, NODE, TOPIC, REASON)
    return rows.where(F.col(REASON).isNull()).select(NODE, TOPIC).distinct()


def rejected(rows: DataFrame) -> DataFrame:
    """Rows of `with_reasons` -> those that cannot be used, as text that any reader can decode."""
    require_columns(rows, FILE, RAW, NODE, TOPIC, REASON)
    texts = [F.make_valid_utf8(F.col(name)).alias(name) for name in (FILE, RAW, NODE, TOPIC)]
    return rows.where(F.col(REASON).isNotNull()).select(*texts, REASON)


def _reason(label: Column, what: str) -> Column:
    return (
        F.when(label.isNull(), f"{what} is null")
        .when(~F.is_valid_utf8(label), f"{what} is not valid UTF-8")
        .when(F.octet_length(label) > MAX_LABEL_BYTES, f"{what} is over {MAX_LABEL_BYTES // 1024} KiB")
        .when(label.rlike(BLANK), f"{what} is blank")
    )
