"""Files that only Spark can reach, such as those of ``s3a://`` or ``hdfs://``: Spark lists them and brings their bytes.

Whole files come through Spark's ``binaryFile`` source. Large plain text comes as lines, split by Spark, unless a quote
encloses a line end. Names that begin with ``_`` or ``.`` do not occur in Spark's listing.
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom.errors import InputNotFoundError, TopicloomError, UnreadableInputError
from topicloom.files.read.delimited import count_lines, quotes_within_lines
from topicloom.files.read.listing import Found, Listing, classified
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.source_plan import Plan, TableFile, Unit, look_at, read_unit, text_batches
from topicloom.model.labels import ROWS
from topicloom.spark.session.columns import schema_text
from topicloom.spark.steps.answers import from_bytes, to_bytes

LARGE = 128 << 20
_REMOTE = re.compile(r"(?!file:)[a-zA-Z][a-zA-Z0-9+.-]+://")
_LINES_OF_HEAD = 5000


def is_remote_path(path: str) -> bool:
    """Whether a path has a scheme that only Spark can open."""
    return _REMOTE.match(path) is not None


def remote_rows(spark: SparkSession, source: str, options: ReadOptions) -> tuple[Plan, DataFrame]:
    """The plan and the rows of a source that Spark lists and reads."""
    listing = _listed(spark, source, options.format)
    large = [found for found in listing.files if found.size > LARGE and _is_plain_text(found)]
    small = [found for found in listing.files if found not in large]
    files = _looked_at(spark, small, options)
    files |= {found.path: _large_looked_at(spark, found, options) for found in large}
    plan = Plan(tuple(files[found.path] for found in listing.files), listing.skipped, options)
    whole = [files[found.path] for found in small]
    tables: list[DataFrame] = []
    for found in large:
        split = _split_rows(spark, files[found.path], plan)
        if split is None:
            whole.append(files[found.path])
        else:
            tables.append(split)
    if whole:
        tables.append(_whole_rows(spark, whole, plan))
    rows = tables[0]
    for table in tables[1:]:
        rows = rows.unionAll(table)
    return plan, rows


def _is_plain_text(found: Found) -> bool:
    return found.compression is None and found.format in ("csv", "tsv", "json")


def _listed(spark: SparkSession, source: str, format: str | None) -> Listing:
    """The files of a source: a name that exists is no pattern."""
    for path in dict.fromkeys((_escaped(source), source)):
        reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
        try:
            rows = reader.load(path).select("path", "length").collect()
        except Exception as error:  # of PySpark, or of Java by way of py4j
            if isinstance(error, AnalysisException) and error.getCondition() == "PATH_NOT_FOUND":
                continue
            raise InputNotFoundError(f"{source} cannot be listed by Spark: {_short(error)}") from None
        entries = [(row["path"], row["length"], None) for row in rows]
        return classified(entries, source.rstrip("/").rsplit("/", 1)[0], format, source)
    raise InputNotFoundError(f"{source} does not exist")


def _short(error: Exception) -> str:
    """The line of an error that says most: py4j's begins with a colon."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if line.startswith(": ")), lines[0]).removeprefix(": ")[:300]


def _escaped(path: str) -> str:
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def _contents(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return spark.read.format("binaryFile").load([_escaped(path) for path in paths]).select("path", "content")


def _looked_at(spark: SparkSession, files: Sequence[Found], options: ReadOptions) -> dict[str, TableFile]:
    by_path = {found.path: found for found in files}
    if not by_path:
        return {}

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path, content in zip(batch["path"].to_pylist(), batch["content"]):
                try:
                    answer: object = look_at(by_path[path], options, io.BytesIO(content.as_buffer()))
                except TopicloomError as error:
                    answer = error
                yield pa.record_batch({"path": [path], "answer": [to_bytes(answer)]})

    rows = _contents(spark, list(by_path)).mapInArrow(look, "path string, answer binary").collect()
    answers = {row["path"]: from_bytes(row["answer"]) for row in rows}
    for path in by_path:
        if isinstance(answers[path], TopicloomError):
            raise answers[path]
    return answers


def _whole_rows(spark: SparkSession, files: Sequence[TableFile], plan: Plan) -> DataFrame:
    by_path, light = {file.path: file for file in files}, replace(plan, files=(), skipped=())

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path, content in zip(batch["path"].to_pylist(), batch["content"]):
                file = by_path[path]
                unit = Unit(file, line=1 if file.group_rows else file.layout.line)
                yield from read_unit(unit, light, io.BytesIO(content.as_buffer()))

    return _contents(spark, list(by_path)).mapInArrow(parse, schema_text(ROWS))


def _lines(spark: SparkSession, path: str) -> DataFrame:
    """(block, value): the lines of a file as they are, and where Spark's part of the file begins that they are in."""
    text = spark.read.option("lineSep", "\n").text(_escaped(path))
    return text.select(F.col("_metadata.file_block_start").alias("block"), F.col("value").cast("binary").alias("value"))


def _large_looked_at(spark: SparkSession, found: Found, options: ReadOptions) -> TableFile:
    rows = _lines(spark, found.path).where(F.col("block") == 0).limit(_LINES_OF_HEAD).collect()
    head = b"\n".join(bytes(row["value"]) for row in rows) + b"\n"
    file = look_at(found, options, io.BytesIO(head))
    if file.layout.encoding != "utf-8":
        raise UnreadableInputError(f"{found.name} is too large to be read as {file.layout.encoding}; write it as UTF-8")
    return file


def _split_rows(spark: SparkSession, file: TableFile, plan: Plan) -> DataFrame | None:
    """Rows of a large text, read in Spark's parts. Returns None if a quote encloses a line end."""
    light = replace(plan, files=(), skipped=())

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for block, texts in groupby(_joined(batches), key=lambda one: one[0]):
            lines, whole = 0, True
            for _, text in texts:
                lines += count_lines(text)
                whole = whole and (file.format == "json" or quotes_within_lines(text, file.layout.separator))
            yield pa.record_batch({"block": [block], "lines": [lines], "whole": [whole]})

    counted = _lines(spark, file.path).mapInArrow(count, "block long, lines long, whole boolean").collect()
    if not all(row["whole"] for row in counted):
        return None
    before, line = {}, 1
    for row in sorted(counted, key=lambda row: row["block"]):
        before[row["block"]] = line
        line += row["lines"]

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for block, texts in groupby(_joined(batches), key=lambda one: one[0]):
            blocks = (text for _, text in texts)
            if block:
                yield from text_batches(file, light, blocks, before[block])
            else:
                yield from text_batches(file, light, _without(blocks, file.layout.start), file.layout.line)

    return _lines(spark, file.path).mapInArrow(parse, schema_text(ROWS))


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Text of whole lines, with their ends, by the part of the file that they are in."""
    for batch in batches:
        blocks = batch["block"].to_pylist()
        at = 0
        for block, same in groupby(blocks):
            size = len(list(same))
            values = batch["value"].slice(at, size).cast(pa.large_binary())
            lists = pa.LargeListArray.from_arrays(pa.array([0, size], pa.int64()), values)
            yield block, pc.binary_join(lists, pa.scalar(b"\n", pa.large_binary()))[0].as_py() + b"\n"
            at += size


def _without(blocks: Iterator[bytes], start: int) -> Iterator[bytes]:
    """The text behind its first bytes. Spark leaves out a byte order mark itself."""
    rest = b""
    for block in blocks:
        rest += block
        if len(rest) >= start:
            return chain((rest[start:],), blocks)
    return iter((rest[start:],))
