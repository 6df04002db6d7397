"""Which rows are subscriptions, why the others are not, and which topics a pattern stands for."""

from collections.abc import Mapping, Set

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType

from topicloom.errors import MissingColumnError
from topicloom.files.read.patterns import Patterns
from topicloom.files.read.table import expansions
from topicloom.model.labels import BLANK, IS_BLANK, IS_EMPTY, IS_LONG, IS_NULL, MAX_LABEL_BYTES, REJECTED, ROWS
from topicloom.spark.session.columns import (
    FILE,
    LINE,
    NODE,
    RAW,
    REASON,
    ROLE,
    TOPIC,
    find_column,
    is_marked,
    mark,
    quoted,
    require_columns,
    type_text,
)
from topicloom.spark.steps.read import worker_sentences

_KEPT = {name: type_text(ROWS.field(name).type) for name in (FILE, LINE, RAW, REASON)}
_LABELS = ("string", "binary", "byte", "short", "integer", "long", "varchar", "char", "void")


def with_reasons(
    rows: DataFrame,
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    role_column: str | None = None,
) -> DataFrame:
    """(node, topic[, role]) -> (file, line, raw, node, topic[, role], reason): the reason is null for usable rows.

    A row is not usable if a label is null, empty, blank, over 64 KiB or not valid UTF-8. Labels are kept as they are.
    An array of topics is a row for each of them. Rows that a reader of topicloom made, or this function, have their
    reasons and roles already, by which their columns are marked. Other columns of these names belong to the user, and
    are not looked at: roles are those of ``role_column``.

    Raises
    ------
    MissingColumnError
        A column is missing, or holds neither text nor whole numbers.
    """
    fields = {field.name: field for field in rows.schema.fields}
    ours = {name for name, field in fields.items() if is_marked(field)}
    wanted = {NODE: node_column or NODE, TOPIC: topic_column or TOPIC}
    if role_column or ROLE in ours:
        wanted[ROLE] = role_column or ROLE
    names = {column: find_column(rows, name) for column, name in wanted.items()}
    kinds = {column: fields[name].dataType for column, name in names.items()}
    _check_types(kinds, names)
    chosen = {column: quoted(name) for column, name in names.items()}
    if isinstance(kinds[TOPIC], ArrayType):
        chosen[TOPIC] = F.explode_outer(chosen[TOPIC])
    for name, kind in _KEPT.items():
        chosen[name] = quoted(name) if name in ours else F.lit(None).cast(kind)
    judged = {column for column, name in names.items() if column == name and {name, REASON} <= ours}
    found = rows.select(*(value.alias(name) for name, value in chosen.items()))
    return mark(_judged(found, set(names) - judged))


def _judged(rows: DataFrame, columns: Set[str]) -> DataFrame:
    """Rows with the reasons that they have or that some of their columns give, in the order of `ROWS`."""
    texts = {name: F.col(name).cast("string") for name in rows.columns if name in (NODE, TOPIC, ROLE)}
    reasons = [F.col(REASON), *(_reason(texts[name], name) for name in (NODE, TOPIC) if name in columns)]
    if ROLE in columns:
        reasons.append(_wrong_role(texts[ROLE]))
        texts[ROLE] = F.nullif(F.lower(F.trim(texts[ROLE])), F.lit(""))
    told = {**{name: F.col(name) for name in _KEPT}, **texts, REASON: F.coalesce(*reasons)}
    return rows.select(*(told[name].alias(name) for name in ROWS.names if name in told))


def accepted(rows: DataFrame) -> DataFrame:
    """Rows of `with_reasons` -> distinct (node, topic)."""
    require_columns(rows, NODE, TOPIC, REASON)
    return rows.where(F.col(REASON).isNull()).select(NODE, TOPIC).distinct()


def rejected(rows: DataFrame) -> DataFrame:
    """Rows of `with_reasons` -> those that cannot be used, as text that any reader can decode."""
    require_columns(rows, *REJECTED.names)
    texts = {name: F.make_valid_utf8(F.col(name)).alias(name) for name in (FILE, RAW, NODE, TOPIC)}
    return rows.where(F.col(REASON).isNotNull()).select(*(texts.get(name, name) for name in REJECTED.names))


def _check_types(labels: Mapping[str, DataType], names: Mapping[str, str]) -> None:
    for column, kind in labels.items():
        plain = kind.elementType if column == TOPIC and isinstance(kind, ArrayType) else kind
        if plain.typeName() not in _LABELS:
            raise MissingColumnError(
                f"column {names[column]!r} holds {plain.simpleString()}; labels are text or whole numbers, "
                "topics also arrays of them"
            )


def _reason(label: Column, what: str) -> Column:
    return (
        F.when(label.isNull(), f"{what} {IS_NULL}")
        .when(~F.is_valid_utf8(label), f"{what} is not valid UTF-8")
        .when(F.octet_length(label) == 0, f"{what} {IS_EMPTY}")
        .when(F.octet_length(label) > MAX_LABEL_BYTES, f"{what} {IS_LONG}")
        .when(label.rlike(BLANK), f"{what} {IS_BLANK}")
    )


def _wrong_role(role: Column) -> Column:
    said = F.lower(F.trim(role))
    known = said.isNull() | said.isin("publish", "subscribe", "both", "")
    return F.when(~known, F.concat(F.lit("role is '"), role, F.lit("', not publish, subscribe or both")))


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
    return mark(replaced.select(*judged.columns)), more
