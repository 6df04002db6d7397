"""Read a table of subscriptions without Spark."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from topicloom.errors import InputNotFoundError, MissingColumnError
from topicloom.model import Interest, Overlay

_COLUMNS = ["node", "topic"]


def read_today(source: Path) -> Interest:
    """Interest from CSV, TSV (also compressed) or Parquet with columns node and topic, or from an overlay directory.

    Raises
    ------
    InputNotFoundError, MissingColumnError, InvalidInterestError
        The file cannot be read, lacks a column, or holds a blank label.
    """
    if (source / "run.json").is_file():
        return Overlay.load(source).interest
    try:
        table = pq.read_table(source) if _is_parquet(source) else _text_table(source)
    except (OSError, pa.ArrowException) as error:
        raise InputNotFoundError(f"{source} cannot be read: {error}") from None
    missing = [name for name in _COLUMNS if name not in table.column_names]
    if missing:
        raise MissingColumnError(f"{source} has no column {missing[0]!r}; it has {', '.join(table.column_names)}")
    return Interest.from_pairs(table["node"], table["topic"])


def _is_parquet(source: Path) -> bool:
    return source.is_dir() or source.suffix == ".parquet"


def _text_table(source: Path) -> pa.Table:
    tabs = ".tsv" in source.suffixes
    return pacsv.read_csv(
        source,
        parse_options=pacsv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(_COLUMNS, pa.string()), strings_can_be_null=False
        ),
    )
