"""Columns of labels as users have them (lists, numpy, pandas, Arrow) to dense ids, without a Python object per row.

Ids follow the UTF-8 byte order of the label's text, so "10" comes before "9" whether it was given as a number
or as a string: the same subscriptions get the same ids however they were read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InvalidInterestError

Labels = npt.NDArray[Any]  # of numpy.dtypes.StringDType, for which numpy has no usable type yet

# Blank: nothing but Unicode white space and separators. The same text is a regular expression for Arrow and for Spark.
BLANK_SIGN = r"[\t-\r\x1C-\x20\x{85}\pZ]"
BLANK = rf"\A{BLANK_SIGN}*\z"
MAX_LABEL_BYTES = 64 * 1024

# A row as every reader yields it. It has a reason if it is not used, and only then its file, line and text.
_NAMES = ("file", "line", "raw", "node", "topic", "role", "reason")
ROWS = pa.schema([(name, pa.int64() if name == "line" else pa.string()) for name in _NAMES])
REJECTED = pa.schema([ROWS.field(name) for name in _NAMES if name != "role"])

# Why a label cannot be used.
IS_NULL, IS_EMPTY, IS_BLANK, IS_LONG = "is null", "is empty", "is blank", f"is over {MAX_LABEL_BYTES // 1024} KiB"

_CHUNK = 1 << 16
_FIRST_BYTES_OF_BLANKS = np.zeros(256, bool)
_FIRST_BYTES_OF_BLANKS[[*range(9, 14), *range(0x1C, 0x21), 0xC2, 0xE1, 0xE2, 0xE3]] = True


def label_of(value: bytes | str | None, what: str, encoding: str = "UTF-8") -> tuple[str | None, str | None]:
    """Return a label and None, or None and the reason why it cannot be used.

    >>> label_of("gate", "node"), label_of(" ", "node")
    (('gate', None), (None, 'node is blank'))
    """
    if value is None:
        return None, f"{what} {IS_NULL}"
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return None, f"{what} is not valid {encoding}"
        size = len(value)
    else:
        text = value
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            return None, f"{what} holds half a surrogate pair"
    if not text:
        return None, f"{what} {IS_EMPTY}"
    if size > MAX_LABEL_BYTES:
        return None, f"{what} {IS_LONG}"
    return (None, f"{what} {IS_BLANK}") if text.isspace() else (text, None)


def all_usable(texts: pa.Array) -> bool:
    """Whether every text of a column can be a label, as `label_of` says of one. No Python object is made per row."""
    if texts.null_count:
        return False
    lengths = pc.min_max(pc.binary_length(texts))
    if len(texts) and (lengths["min"].as_py() == 0 or lengths["max"].as_py() > MAX_LABEL_BYTES):
        return False
    return not _some_blank(texts)


def _some_blank(texts: pa.Array) -> bool:
    """Whether a text is blank; none is empty. The regular expression is asked where the first byte leaves it open."""
    if not len(texts):
        return False
    _, offsets, data = texts.buffers()
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    starts = np.frombuffer(offsets, kind, len(texts) + 1 + texts.offset)[texts.offset : -1]
    doubtful = np.flatnonzero(_FIRST_BYTES_OF_BLANKS[np.frombuffer(data, np.uint8)[starts]])
    if not len(doubtful):
        return False
    return bool(pc.any(pc.match_substring_regex(texts.take(pa.array(doubtful)), BLANK)).as_py())


def encode(column: object, what: str) -> tuple[npt.NDArray[np.int32], Labels]:
    """Dense id of every row, and the label of every id.

    Parameters
    ----------
    column : sequence, numpy array, pandas Series or Arrow array of strings or integers
    what : str
        What the column holds ("node", "topic"), for messages.

    Raises
    ------
    InvalidInterestError
        A label is null, blank or over 64 KiB, is not text or an integer, or is not valid Unicode.
    """
    texts = as_text(column, what)
    dictionary = texts.dictionary_encode()
    order = pc.sort_indices(dictionary.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    ids = rank[dictionary.indices.to_numpy(zero_copy_only=False)] if len(texts) else np.empty(0, np.int32)
    return ids, from_arrow(dictionary.dictionary.take(pa.array(order)))


def from_arrow(texts: pa.Array) -> Labels:
    """Arrow strings as a numpy StringDType array, a chunk at a time."""
    labels = np.empty(len(texts), dtype=np.dtypes.StringDType())
    for start in range(0, len(texts), _CHUNK):
        labels[start : start + _CHUNK] = texts[start : start + _CHUNK].to_pylist()
    labels.setflags(write=False)
    return labels


def to_arrow(labels: npt.ArrayLike) -> pa.Array:
    """Inverse of `from_arrow`."""
    labels = np.asarray(labels, dtype=np.dtypes.StringDType())
    chunks = [
        pa.array(labels[start : start + _CHUNK].tolist(), pa.large_string()) for start in range(0, len(labels), _CHUNK)
    ]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string())


def as_text(column: object, what: str) -> pa.Array:
    """Convert a column of labels to Arrow strings, in the order given. Raises as `encode` does."""
    texts = _as_text(column, what)
    _refuse_unusable(texts, what)
    return texts


def _as_text(column: object, what: str) -> pa.Array:
    try:
        array = _as_arrow(column)
    except UnicodeEncodeError as error:
        raise InvalidInterestError(f"a {what} label is not valid Unicode text: {error}") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, OverflowError) as error:
        raise InvalidInterestError(f"the {what} column cannot be read as labels: {error}") from None
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    kind = array.type
    if pa.types.is_null(kind) and len(array) == 0:
        return array.cast(pa.large_string())
    if pa.types.is_null(kind):
        raise InvalidInterestError(f"{what} of row 0 is null; every subscription needs a label")
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not (text or pa.types.is_integer(kind)):
        raise InvalidInterestError(f"{what} labels are {kind}; strings and integers are accepted")
    return array.cast(pa.large_string())


def _as_arrow(column: Any) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks()
    if isinstance(column, pa.Array):
        return column
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise TypeError(f"a column has one dimension, this array has {column.ndim}")
        if column.dtype.kind in "UT":
            return to_arrow(column)
    elif hasattr(column, "__iter__") and not hasattr(column, "__len__"):
        column = list(column)
    converted = pa.array(column)
    return converted.combine_chunks() if isinstance(converted, pa.ChunkedArray) else converted


def _refuse_unusable(texts: pa.Array, what: str) -> None:
    if all_usable(texts):
        return
    blank = pc.match_substring_regex(texts, BLANK)
    bad = pc.fill_null(pc.or_(blank, pc.greater(pc.binary_length(texts), MAX_LABEL_BYTES)), True)
    row = pc.index(bad, True).as_py()
    text = texts[row].as_py()
    state = IS_BLANK if text == "" else str(label_of(text, what)[1]).removeprefix(f"{what} ")
    raise InvalidInterestError(f"{what} of row {row} {state}; every subscription needs a label")
