"""Names of the columns that steps exchange, and the check at their door."""

from os import PathLike

from pyspark.sql import DataFrame

from topicloom.errors import InvalidOptionError, MissingColumnError

NODE, TOPIC = "node", "topic"
NODE_ID, TOPIC_ID = "node_id", "topic_id"
SUBSCRIBERS = "subscribers"
TOPICS = "topics"  # an array of topic ids, ascending
SRC, DST = "src", "dst"
SRC_ID, DST_ID = "src_id", "dst_id"
ORDER = "order"
SHARED_TOPICS = "shared_topics"
FILE, LINE, RAW, ROLE, REASON = "file", "line", "raw", "role", "reason"


def require_dataframe(table: object, name: str, columns: str) -> None:
    """Refuse anything but a Spark DataFrame, and say how to make one of what was given."""
    if isinstance(table, DataFrame):
        return
    kind = f"{type(table).__module__}.{type(table).__qualname__}".removeprefix("builtins.")
    if kind.startswith(("pandas.", "pyarrow.")):
        advice = "spark.createDataFrame makes one of it"
    elif isinstance(table, str | PathLike):
        advice = "topicloom.pipeline.read_subscriptions reads one from a file"
    else:
        advice = "topicloom.design takes a topicloom.Interest"
    raise InvalidOptionError(
        f"{name} is of type {kind}; a Spark DataFrame with the columns {columns} is accepted, and {advice}"
    )


def require_columns(table: DataFrame, *names: str) -> None:
    """Refuse a table that lacks one of the named columns."""
    for name in names:
        if name not in table.columns:
            raise MissingColumnError(f"missing column {name!r}; the table has {', '.join(table.columns) or 'none'}")


def spread(table: DataFrame, key: str, groups: int) -> DataFrame:
    """Move the rows of a table by a key with ``values`` different values, to tasks that have a few of them each.

    Spark would put small groups into as few tasks as there are cores, however long the work on each takes; a number of
    tasks that is asked for is kept. Keys are hashed, so there are more tasks than keys while keys are few.
    """
    usual = int(table.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    return table.repartition(max(1, min(4 * groups, max(4 * usual, groups // 8))), key)
