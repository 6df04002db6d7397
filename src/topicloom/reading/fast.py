"""Delimited text by Arrow's parser, where it is certain to agree with the exact rules of `records`."""

import codecs
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

_QUOTE, _LF, _CR = 34, 10, 13


def count_lines(text: bytes) -> int:
    """Number of line ends."""
    ends = int(np.count_nonzero(np.frombuffer(text, np.uint8) == _LF))
    return ends if b"\r" not in text else ends + text.count(b"\r") - text.count(b"\r\n")


def quotes_within_lines(text: bytes, separator: str) -> bool:
    """Whether every quote of the text opens, closes or doubles as it should, and none encloses a line end.

    The text begins with a row. Quotes then alternate: one that opens follows a separator, a line end or a quote; one
    that closes comes before a separator, a line end or a quote. So the ends of lines are the ends of rows.
    """
    if b'"' not in text:
        return True
    data = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    edges = np.zeros(256, bool)
    edges[[_QUOTE, _LF, _CR, ord(separator)]] = True
    before, after = opening[opening > 0] - 1, closing[closing < len(data) - 1] + 1
    return bool(edges[data[before]].all() and edges[data[after]].all()) and not _enclosed(data, opening, closing)


def _enclosed(data: npt.NDArray[np.uint8], opening: npt.NDArray[np.int64], closing: npt.NDArray[np.int64]) -> bool:
    ends = np.flatnonzero((data == _LF) | (data == _CR))
    return bool((np.searchsorted(ends, opening) != np.searchsorted(ends, closing)).any())


def columns(text: bytes, separator: str, width: int, wanted: Sequence[int]) -> list[pa.Array] | None:
    """The wanted fields of all rows, as binary; None unless every row has the right number of fields.

    The quotes of the text must be within lines. Arrow would take a first U+FEFF for a byte order mark.
    """
    if text.startswith(codecs.BOM_UTF8):
        return None
    names = [str(position) for position in range(width)]
    try:
        table = csv.read_csv(
            pa.py_buffer(text),
            read_options=csv.ReadOptions(use_threads=False, column_names=names, block_size=len(text) + 1),
            parse_options=csv.ParseOptions(
                delimiter=separator, quote_char='"' if b'"' in text else False, double_quote=True
            ),
            convert_options=csv.ConvertOptions(
                include_columns=[names[position] for position in wanted],
                column_types=dict.fromkeys(names, pa.binary()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
                null_values=[],
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.combine_chunks() for column in table.columns]
