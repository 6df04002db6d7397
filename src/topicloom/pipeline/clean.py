"""Which rows are subscriptions, why the others are not, and which topics a pattern stands for."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType

from topicloom.errors import MissingColumnError
from topicloom.model.labels import BLANK, MAX_LABEL_BYTES
from topicloom.pipeline.read import worker_sentences
from topicloom.reading.patterns import Patterns
from topicloom.reading.table import expansions
from topicloom.spark.columns import FILE, LINE, NODE, RAW, REASON, ROLE, TOPIC, require_columns

_OF_READERS = {FILE, LINE, RAW, NODE, TOPIC, REASON}
_LABELS = ("string", "binary", "byte", "short", "integer", "long", "varchar", "char", "void")


def with_reasons(rows: DataFrame) -> DataFrame:
    """(node, topic[, role]) -> (file, line, raw, node, topic[, role], reason): the reason is null for usable rows.

    A row is not usable if a label is null, empty, blank, over 64 KiB or not valid UTF-8. Labels are kept as they are.
    An array of topics is a row for each of them. Rows that `read_subscriptions` made have their reasons already.

    Raises
    ------
    MissingColumnError
        A column is missing, or holds neither text nor whole numbers.
    """
    require_columns(rows, NODE, TOPIC)
    role = [ROLE] if ROLE in rows.columns else []
    if set(rows.columns) >= _OF_READERS:
        return rows.select(FILE, LINE, RAW, NODE, TOPIC, *role, REASON)
    _check_types(rows)
    if isinstance(rows.schema[TOPIC].dataType, ArrayType):
        rows = rows.withColumn(TOPIC, F.explode_outer(TOPIC))
    for name, kind in ((FILE, "string"), (LINE, "bigint"), (RAW, "string"), (REASON, "string")):
        if name not in rows.columns:
            rows = rows.withColumn(name, F.lit(None).cast(kind))
    node, topic = F.col(NODE).cast("string"), F.col(TOPIC).cast("string")
    reasons = [F.col(REASON), _reason(node, NODE), _reason(topic, TOPIC), *([_wrong_role()] if role else [])]
    known = [F.nullif(F.lower(F.trim(ROLE)), F.lit("")).alias(ROLE)] if role else []
    return rows.select(
        FILE, LINE, RAW, node.alias(NODE), topic.alias(TOPIC), *known, F.coalesce(*reasons).alias(REASON)
    )


def accepted(rows: DataFrame) -> DataFrame:
    """Rows of `with_reasons` -> distinct (node, topic)."""
    require_columns(rows, NODE, TOPIC, REASON)
    return rows.where(F.col(REASON).isNull()).select(NODE, TOPIC).distinct()


def rejected(rows: DataFrame) -> DataFrame:
    """Rows of `with_reasons` -> those that cannot be used, as text that any reader can decode."""
    require_columns(rows, FILE, LINE, RAW, NODE, TOPIC, REASON)
    file, raw, node, topic = (F.make_valid_utf8(F.col(name)).alias(name) for name in (FILE, RAW, NODE, TOPIC))
    return rows.where(F.col(REASON).isNotNull()).select(file, LINE, raw, node, topic, REASON)


def _check_types(rows: DataFrame) -> None:
    for name in (NODE, TOPIC):
        kind: DataType = rows.schema[name].dataType
        if name == TOPIC and isinstance(kind, ArrayType):
            kind = kind.elementType
        if kind.typeName() not in _LABELS:
            raise MissingColumnError(
                f"column {name!r} holds {kind.simpleString()}; labels are text or whole numbers, "
                "topics also arrays of them"
            )


def _reason(label: Column, what: str) -> Column:
    return (
        F.when(label.isNull(), f"{what} is null")
        .when(~F.is_valid_utf8(label), f"{what} is not valid UTF-8")
        .when(F.octet_length(label) == 0, f"{what} is empty")
        .when(F.octet_length(label) > MAX_LABEL_BYTES, f"{what} is over {MAX_LABEL_BYTES // 1024} KiB")
        .when(label.rlike(BLANK), f"{what} is blank")
    )


def _wrong_role() -> Column:
    said = F.lower(F.trim(ROLE))
    known = said.isNull() | said.isin("publish", "subscribe", "both", "")
    return F.when(~known, F.concat(F.lit("role is '"), F.col(ROLE), F.lit("', not publish, subscribe or both")))


_MATCHES, _WHY = "_matches", "_why"


def expanded(rows: DataFrame, broker: str) -> tuple[DataFrame, int]:
    """Rows of subscriptions -> the same with patterns replaced by the known topics that they match, and how many more.

    A row of a pattern becomes a row for each topic. A pattern that is not valid, or matches none, is rejected. The
    distinct topics are brought to the driver, which runs an action.

    Parameters
    ----------
    rows : DataFrame
        With columns ``node`` and ``topic``.
    broker : str
        Whose rules: "mqtt" or "nats".
    """
    Patterns(broker, ())
    judged = with_reasons(rows)
    with worker_sentences():
        usable = judged.where(F.col(REASON).isNull()).groupBy(TOPIC).count().toArrow()
    times = dict(zip(*(column.to_pylist() for column in usable.columns)))
    topics = sorted(times)
    found = [(pattern, *made) for pattern, made in expansions(Patterns(broker, topics), topics)]
    if not found:
        return judged, 0
    schema = f"{TOPIC} string, {_MATCHES} array<string>, {_WHY} string"
    mapping = judged.sparkSession.createDataFrame(found, schema)
    joined = judged.join(F.broadcast(mapping), TOPIC, "left")
    is_pattern = F.col(REASON).isNull() & F.col(_MATCHES).isNotNull()
    topic = F.explode(F.when(is_pattern & (F.size(_MATCHES) > 0), F.col(_MATCHES)).otherwise(F.array(TOPIC)))
    exploded = joined.withColumn("_topic", topic)
    reason = F.coalesce(F.col(REASON), F.when(is_pattern, F.col(_WHY)))
    raw = F.when(is_pattern & F.col(_WHY).isNotNull(), F.col(TOPIC)).otherwise(F.col(RAW))
    replaced = exploded.withColumns({RAW: raw, REASON: reason}).withColumn(TOPIC, F.col("_topic"))
    more = sum(times[pattern] * (len(matches) - 1) for pattern, matches, _ in found if matches)
    return replaced.select(*judged.columns), more
