"""Names of the columns that steps exchange, and the check at their door."""

from os import PathLike

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

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

_DDL = {
    pa.string(): "string",
    pa.large_string(): "string",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
}


def from_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Make a DataFrame of an Arrow table of text and numbers, also of one without rows.

    Spark Connect does not take the types of an empty table from Arrow, so they are always named.
    """
    return spark.createDataFrame(table, schema_text(table.schema))


def schema_text(schema: pa.Schema) -> str:
    """The columns of an Arrow schema as Spark reads them."""
    return ", ".join(f"`{field.name}` {type_text(field.type)}" for field in schema)


def type_text(kind: pa.DataType) -> str:
    """A type of Arrow as Spark calls it."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"array<{type_text(kind.value_type)}>"
    return _DDL[kind]


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


def find_column(table: DataFrame, name: str) -> str:
    """Find a column by name, in any case where the session of the table ignores case. Returns its name in the table.

    Raises
    ------
    MissingColumnError
        There is none, or there are several that the session cannot tell apart.
    """
    exact = table.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true"
    found = [one for one in table.columns if one == name or (not exact and one.lower() == name.lower())]
    if not found:
        require_columns(table, name)
    if len(found) > 1:
        raise MissingColumnError(
            f"the columns {', '.join(map(repr, found))} cannot be told apart; one column {name!r} is accepted"
        )
    return found[0]


_MARK = "topicloom"  # the key in the metadata of a column


def mark(rows: DataFrame) -> DataFrame:
    """Mark the columns of rows that a reader of topicloom made, so that nobody's columns are taken for them.

    The marks are metadata of the columns. Filters and joins keep them, what replaces a column has none.
    """
    return rows.select(*(F.col(name).alias(name, metadata={_MARK: name}) for name in rows.columns))


def is_marked(field: StructField) -> bool:
    """Whether `mark` has marked a column, and nobody has renamed it."""
    return bool(field.metadata) and field.metadata.get(_MARK) == field.name


def quoted(name: str) -> Column:
    """The column of that very name, whatever characters it has."""
    return F.col("`" + name.replace("`", "``") + "`")


def require_columns(table: DataFrame, *names: str) -> None:
    """Refuse a table that lacks one of the named columns."""
    for name in names:
        if name not in table.columns:
            raise MissingColumnError(f"missing column {name!r}; the table has {', '.join(table.columns) or 'none'}")


def spread(table: DataFrame, key: str, groups: int) -> DataFrame:
    """Move the rows of a table by a key with about ``groups`` values, to tasks that have a few of them each.

    Spark would put small groups into as few tasks as there are cores, however long the work on each takes; a number of
    tasks that is asked for is kept. Keys are hashed, so there are more tasks than keys while keys are few.
    """
    usual = int(table.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    return table.repartition(max(1, min(4 * groups, max(4 * usual, groups // 8))), key)
