"""Tables as users have them (CSV, JSON lines, Parquet; a file, a folder or a glob) to rows of two labels.

No row is lost on the way: what cannot be used keeps its text and gets a reason.
"""

import csv
import io
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, NamedTuple

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from topicloom.errors import InputNotFoundError, InvalidOptionError, MissingColumnError
from topicloom.pipeline.clean import with_reasons
from topicloom.spark.columns import FILE, NODE, RAW, REASON, TOPIC, quoted

FORMATS = ("csv", "tsv", "json", "parquet")
_SUFFIXES = {
    "csv": "csv",
    "tsv": "tsv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "parquet": "parquet",
}
_COMPRESSED = ("gz", "bz2", "zst", "snappy", "lz4", "deflate")
_CORRUPT = "_topicloom_corrupt_record"
_FILE_PATH = "_metadata.file_path"


class Names(NamedTuple):
    """Two columns to read, and whether the user named them (then a table without them is refused)."""

    first: str
    second: str
    given: bool = False


def read_subscriptions(
    spark: SparkSession,
    source: str | PathLike[str],
    *,
    node_column: str | None = None,
    topic_column: str | None = None,
    format: str | None = None,
    header: bool | None = None,
) -> DataFrame:
    """Read every row of a table of subscriptions, as (file, raw, node, topic, reason).

    The reason is null where the row can be used. `design_overlay` keeps the other rows with their reasons, and counts
    repeated ones; `topicloom.pipeline.clean.accepted` gives the distinct subscriptions alone.

    Parameters
    ----------
    spark : SparkSession
    source : str or path
        A file, a folder or a glob of CSV (``.gz`` included), JSON lines or Parquet; of an overlay directory name its
        ``subscriptions/``.
    node_column, topic_column : str, optional
        Names of the two columns; "node" and "topic" unless given. A CSV file without a header needs two columns.
    format : str, optional
        One of csv, tsv, json, parquet; by the file names unless given.
    header : bool, optional
        Whether CSV files start with a header; found out from the first line unless given.
    """
    names = Names(node_column or NODE, topic_column or TOPIC, bool(node_column or topic_column))
    rows = read_pairs(spark, fspath(source), names, format=format, header=header)
    return with_reasons(rows.withColumnsRenamed({"first": NODE, "second": TOPIC}))


def read_pairs(
    spark: SparkSession, source: str, names: Names, *, format: str | None = None, header: bool | None = None
) -> DataFrame:
    """Two columns of any table as strings: (file, raw, first, second, reason)."""
    paths = _files(spark, source)
    kind = format or _format_of(paths, source)
    if kind not in FORMATS:
        raise InvalidOptionError(f"there is no format {kind!r}; the formats are {', '.join(FORMATS)}")
    if kind == "parquet":
        return _parquet(spark, source, names)
    if kind == "json":
        return _json_lines(spark, source, names)
    return _csv(spark, source, names, "\t" if kind == "tsv" else ",", header, paths)


def _files(spark: SparkSession, source: str) -> list[str]:
    """Paths of the files behind a source; an error when there are none, or only empty ones."""
    try:
        listing = spark.read.format("binaryFile").load(source).select("path", "length").limit(10_000).collect()
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            raise InputNotFoundError(f"{source} does not exist") from None
        raise
    if not any(row["length"] for row in listing):
        raise InputNotFoundError(f"{source} is empty")
    return sorted(row["path"] for row in listing if row["length"])


def _format_of(paths: Sequence[str], source: str) -> str:
    kinds = set()
    for path in paths:
        suffixes = path.rsplit("/", 1)[-1].lower().split(".")[1:]
        while suffixes and suffixes[-1] in _COMPRESSED:
            suffixes.pop()
        kinds.add(_SUFFIXES.get(suffixes[-1]) if suffixes else None)
    known = kinds - {None}
    if len(known) == 1:
        return str(known.pop())
    found = "files of several formats" if known else "no file whose name ends in .csv, .tsv, .json, .jsonl or .parquet"
    raise InputNotFoundError(f"{source} holds {found}; say which it is with --format {'|'.join(FORMATS)}")


def _rows(table: DataFrame, raw: Column, first: Column, second: Column, reason: Column) -> DataFrame:
    return table.select(
        F.col(_FILE_PATH).alias(FILE),
        raw.alias(RAW),
        first.alias("first"),
        second.alias("second"),
        reason.alias(REASON),
    )


def _parquet(spark: SparkSession, source: str, names: Names) -> DataFrame:
    table = spark.read.parquet(source)
    for name in names[:2]:
        if name not in table.columns:
            raise _missing(name, table.columns, source)
        kind = table.schema[name].dataType.typeName()
        if kind not in ("string", "binary", "byte", "short", "integer", "long", "varchar", "char"):
            raise MissingColumnError(f"column {name!r} of {source} holds {kind}; labels are text or whole numbers")
    first, second = (quoted(name).cast("string") for name in names[:2])
    return _rows(table, F.lit(None).cast("string"), first, second, F.lit(None).cast("string"))


def _json_lines(spark: SparkSession, source: str, names: Names) -> DataFrame:
    lines = spark.read.text(source).where(F.trim("value") != "")
    parsed = lines.withColumn("fields", F.when(F.is_valid_utf8("value"), F.from_json("value", "map<string,string>")))
    sample = parsed.where(F.col("fields").isNotNull()).limit(1000).select(F.explode(F.map_keys("fields")).alias("key"))
    keys = sorted(row["key"] for row in sample.distinct().collect())
    if keys:
        for name in names[:2]:
            if name not in keys:
                raise _missing(name, keys, source)
    reason = F.when(~F.is_valid_utf8("value"), "text is not valid UTF-8").when(
        F.col("fields").isNull(), "line is not a JSON object"
    )
    first, second = (F.col("fields")[F.lit(name)] for name in names[:2])
    return _rows(parsed, F.col("value"), first, second, reason)


def _csv(
    spark: SparkSession, source: str, names: Names, separator: str, header: bool | None, paths: Sequence[str]
) -> DataFrame:
    """CSV read byte for byte.

    Spark replaces undecodable bytes silently when it reads UTF-8. Read as ISO-8859-1 every byte is one character, and
    the original bytes can be had back and checked.
    """
    lines = spark.read.text(source)
    first_lines = lines.limit(1).collect()
    if not first_lines:
        raise InputNotFoundError(f"{source} is empty")
    fields = next(csv.reader(io.StringIO(first_lines[0]["value"]), delimiter=separator), [])
    columns = _csv_columns(fields, names, header, source)
    byte_names = [name.encode().decode("latin-1") for name in columns.names]
    options: dict[str, Any] = {
        "sep": separator,
        "quote": '"',
        "escape": '"',
        "encoding": "ISO-8859-1",
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": _CORRUPT,
        "header": columns.header,
        "enforceSchema": not columns.header,
        "multiLine": _may_span_lines(lines, paths),
    }
    schema = StructType([StructField(name, StringType()) for name in [*byte_names, _CORRUPT]])
    table = spark.read.options(**options).schema(schema).csv(source)
    corrupt = _utf8(quoted(_CORRUPT))
    reason = F.when(corrupt.isNotNull(), F.lit(f"wrong number of fields, {len(byte_names)} are expected"))
    first, second = (_utf8(quoted(byte_names[position])) for position in columns.positions)
    return _rows(table, corrupt, first, second, reason)


def _may_span_lines(lines: DataFrame, paths: Sequence[str]) -> bool:
    """Whether to look for quoted line breaks. That makes files unsplittable, which compressed ones are anyway."""
    if all(path.endswith(tuple(f".{suffix}" for suffix in _COMPRESSED)) for path in paths):
        return True
    return bool(lines.where(F.contains("value", F.lit('"'))).limit(1).collect())


class _CsvColumns(NamedTuple):
    names: list[str]
    positions: tuple[int, int]
    header: bool


def _csv_columns(fields: list[str], names: Names, header: bool | None, source: str) -> _CsvColumns:
    """Which columns of a CSV hold the labels, judged by its first line."""
    folded = [field if names.given else field.lower() for field in fields]
    found = [folded.index(name) if name in folded else None for name in names[:2]]
    if header is None:
        header = names.given or any(position is not None for position in found)
    if not header:
        if len(fields) != 2:
            raise MissingColumnError(
                f"{source} has no header with columns {names.first!r} and {names.second!r}, and its first line has "
                f"{len(fields)} field{'' if len(fields) == 1 else 's'}, not two: {', '.join(map(repr, fields[:20]))}"
            )
        return _CsvColumns([names.first, names.second], (0, 1), header=False)
    for name, position in zip(names[:2], found):
        if position is None:
            raise _missing(name, fields, source)
    if len(set(fields)) < len(fields):
        raise MissingColumnError(f"the header of {source} names a column twice: {', '.join(map(repr, fields[:20]))}")
    return _CsvColumns(fields, (int(found[0] or 0), int(found[1] or 0)), header=True)


def _missing(name: str, columns: Sequence[str], source: str) -> MissingColumnError:
    listed = ", ".join(map(repr, columns[:20])) + (" …" if len(columns) > 20 else "")
    return MissingColumnError(f"{source} has no column {name!r}; its columns: {listed}")


def _utf8(column: Column) -> Column:
    """Text that was read as ISO-8859-1, as the bytes that it was made of."""
    return F.encode(column, "ISO-8859-1").cast("string")
