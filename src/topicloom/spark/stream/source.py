"""Stream the files of events that appear in a folder, with the order of their lines."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from topicloom.errors import InputNotFoundError, InvalidOptionError, MissingColumnError
from topicloom.files.write.destination import check_local
from topicloom.model.checks import checked_whole
from topicloom.spark.stream.arrivals import BLOCK, COLUMNS, FILE, NEEDED, VALUE

JSON, PARQUET = FORMATS = ("json", "parquet")
_SUFFIXES = {JSON: ("json", "jsonl", "ndjson"), PARQUET: ("parquet",)}
# Spark forgets, and then overlooks, files that are older than this against the newest: an event must not be lost so.
_MAX_AGE = "36500d"
_SCHEMA = StructType(
    [
        StructField("event", StringType()),
        StructField("node", StringType()),
        StructField("topics", ArrayType(StringType())),
        StructField("at", StringType()),
        StructField("id", StringType()),
    ]
)


def read_events(
    spark: SparkSession, folder: str | Path, *, format: str | None = None, files_per_batch: int = 100
) -> DataFrame:
    """Stream the events of files that are in a folder, or will be, for `maintain`.

    Parameters
    ----------
    spark : SparkSession
    folder : str or Path
        A file is read once, whole: write it elsewhere, or under a name that starts with a dot, and move it in.
    format : {"json", "parquet"}, optional
        JSON lines (.json, .jsonl, .ndjson) or Parquet; by the files that are there unless given, JSON without any.
    files_per_batch : int
        Most files of a batch; the oldest come first.

    Returns
    -------
    DataFrame
        A streaming one, with what `maintain` reads.

    Raises
    ------
    InputNotFoundError, InvalidOptionError, MissingColumnError

    See Also
    --------
    maintain : applies the events.

    Notes
    -----
    Within a batch, events without ``at`` and ``id`` keep the order of file names and of the lines (or rows) in a file.
    The cost is that of reading every file once.

    Examples
    --------
    >>> import tempfile
    >>> from topicloom.stream import read_events
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     events = read_events(spark, folder)  # spark is your session
    >>> events.isStreaming
    True
    """
    check_local(folder)
    folder = Path(folder).absolute()
    files_per_batch = checked_whole("files_per_batch", files_per_batch, 1)
    if not folder.is_dir():
        raise InputNotFoundError(f"{folder} is not a directory; events are read from the files that appear in one")
    kind = format or _format_in(folder)
    if kind not in FORMATS:
        raise InvalidOptionError(f"format is {kind!r}; {', '.join(FORMATS)} are accepted")
    pattern = "*.{" + ",".join(_SUFFIXES[kind]) + "}"
    options = {"pathGlobFilter": pattern, "maxFilesPerTrigger": str(files_per_batch), "maxFileAge": _MAX_AGE}
    reader = spark.readStream.options(**options)
    if kind == JSON:
        rows = reader.format("text").load(local_path(folder))
        known = [VALUE]
    else:
        schema = _schema_in(spark, folder, pattern)
        rows = reader.schema(schema).parquet(local_path(folder))
        known = [name for name in COLUMNS if name in schema.names]
    return rows.select(
        *known,
        F.col("_metadata.file_path").alias(FILE),
        F.col("_metadata.file_block_start").alias(BLOCK),
    )


def local_path(path: Path) -> str:
    """Name a path on this machine for Spark, whatever its default file system is. Spark does not decode URIs."""
    return f"file://{path}"


def _format_in(folder: Path) -> str:
    suffixes = {path.suffix.removeprefix(".") for path in folder.iterdir() if path.name[0] not in "._"}
    found = [kind for kind in FORMATS if suffixes & set(_SUFFIXES[kind])]
    if len(found) > 1:
        raise InvalidOptionError(f"{folder} holds JSON lines and Parquet; say which to read with the option format")
    return found[0] if found else JSON


def _schema_in(spark: SparkSession, folder: Path, pattern: str) -> StructType:
    """Return the schema of the Parquet files that are there, or ours where there is none yet."""
    if not any(path.suffix == ".parquet" and path.name[0] not in "._" for path in folder.iterdir()):
        return _SCHEMA
    schema = spark.read.option("pathGlobFilter", pattern).parquet(local_path(folder)).schema
    for name in NEEDED:
        if name not in schema.names:
            raise MissingColumnError(f"{folder} has no column {name!r}; it has {', '.join(schema.names)}")
    return schema
