"""What a file of delimited text looks like, found out from its head: encoding, separator, header, columns."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from topicloom.errors import InvalidOptionError, MissingColumnError
from topicloom.files.read.read_options import SEPARATORS, ReadOptions
from topicloom.files.read.records import Record, records
from topicloom.files.read.rows import shown

HEAD = 1 << 20
_LINES_LOOKED_AT = 200
_SEP_LINE = re.compile(rb'"?sep=(.)"?', re.IGNORECASE)
_LONGEST_NAME = 60  # of a column, in messages
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Constant(NamedTuple):
    """A label that the name of a folder gives to all rows of a file."""

    value: str | None


Pick = int | str | Constant  # a position in a row of text, the name of a column, or the same for all rows


@dataclass(frozen=True)
class Layout:
    """How to read the rows of a file.

    Attributes
    ----------
    first, second, role : Pick
        Where the labels and the role stand.
    names : tuple of str
        The columns of the file; empty if its lines of text have no header.
    encoding, marked : str, bool
        Of a text file, and whether it begins with a byte order mark.
    separator : str
        Between the fields of a row of delimited text; empty in other formats.
    header : bytes
        The text of the header.
    width : int
        Number of fields of a row.
    start, line : int
        Where the data begins in the text as UTF-8 without its mark, and in which line.
    trim : bool
        Whether labels lose the blanks at their ends.
    """

    first: Pick
    second: Pick
    role: Pick | None = None
    names: tuple[str, ...] = ()
    encoding: str = "utf-8"
    marked: bool = False
    separator: str = ""
    header: bytes = b""
    width: int = 0
    start: int = 0
    line: int = 1
    trim: bool = False


def encoding_of(head: bytes, asked: str | None) -> tuple[str, bool]:
    """Return the encoding of a text, and whether it begins with a byte order mark, which comes before what is asked."""
    found = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if found is not None:
        return found, True
    if asked is not None:
        name = codecs.lookup(asked).name
        return "utf-8" if name == "utf-8-sig" else name, False
    start = head[: min(len(head), 64) & ~1]
    if len(start) >= 4:  # every other byte of Latin text is zero in UTF-16
        even, odd = start[::2], start[1::2]
        if not any(odd) and all(even):
            return "utf-16-le", False
        if not any(even) and all(odd):
            return "utf-16-be", False
    return "utf-8", False


def delimited_layout(
    head: bytes, options: ReadOptions, name: str, *, tabs: bool = False, partitions: Mapping[str, str | None]
) -> Layout:
    """The layout of delimited text.

    Parameters
    ----------
    head : bytes
        The first part of the text, as UTF-8 without a byte order mark.
    options : ReadOptions
    name : str
        Of the file, for messages.
    tabs : bool
        Whether its name says that tabs separate its fields.
    partitions : mapping
        Columns that the names of its folders give.

    Raises
    ------
    MissingColumnError
        The first line does not name the columns, or has not two fields if it is data.
    """
    usual = SEPARATORS if options.likely_separator is None else (options.likely_separator, *SEPARATORS)
    candidates: tuple[str, ...] = (options.separator,) if options.separator else usual
    if tabs and not options.separator:
        candidates = ("\t", *(one for one in usual if one != "\t"))
    skipped, line = 0, 1
    for _ in range(options.skip_lines):
        skipped, line = _next_line(head, skipped), line + 1
    said = said_separator(head[skipped:])
    if said and options.separator is None:
        candidates, skipped, line = (said[0],), skipped + said[1], line + 1
    body = head[skipped:]
    if options.skip_lines and not body:
        raise MissingColumnError(f"{name} has nothing behind {options.skip_lines:,} skipped lines")
    tries = [_Try(separator, _records(body, separator, line), options, partitions) for separator in candidates]
    if not any(one.rows for one in tries):
        raise MissingColumnError(f"{name} holds blank lines only")
    best = max(tries, key=lambda one: (one.found, one.regularity))  # the first among equally good ones
    if options.header is False:
        best = max(tries, key=lambda one: one.regularity)
        first, second, role = _positions(best.rows[0], options, partitions, name)
        width = len(best.rows[0].fields)
        return Layout(first, second, role, separator=best.separator, width=width, start=skipped, line=line)
    header = best.header
    names = tuple(shown(field) for field in header.fields)
    rows = sorted((row for one in tries for row in one.rows), key=lambda row: row.line)
    below = names_below(((row.line, row.fields) for row in rows if row.line > header.line), options, names)
    first, second, role = picked(names, options, partitions, name, by_position=True, below=below)
    at = _offset(body, best.separator, header, line)
    return Layout(
        first, second, role, names, separator=best.separator, header=header.raw, width=len(names),
        start=skipped + at[0], line=at[1],
    )  # fmt: skip


def said_separator(text: bytes) -> tuple[str, int] | None:
    """The separator that a first line such as ``sep=;`` says, and the size of that line. Returns None without one."""
    line = text.split(b"\n", 1)[0]
    said = _SEP_LINE.fullmatch(line.rstrip(b"\r"))
    return (said[1].decode(), len(line) + 1) if said and said[1].isascii() else None


def best_separator(text: bytes, known: str, *, tabs: bool = False) -> str:
    """The separator by which a text has the column ``known``, or else the most regular rows."""
    options = ReadOptions(first=known, second=known)
    candidates = sorted(SEPARATORS, key=lambda one: one != "\t") if tabs else SEPARATORS
    tries = [_Try(separator, _records(text, separator, 1), options, {}) for separator in candidates]
    return max(tries, key=lambda one: (one.found, one.regularity)).separator


class _Try:
    """A separator tried on the head of a file."""

    def __init__(
        self, separator: str, rows: list[Record], options: ReadOptions, partitions: Mapping[str, str | None]
    ) -> None:
        self.separator, self.rows = separator, rows
        self.header, self.found = (rows[0] if rows else Record(1, b"", [])), 0
        for row in rows:
            found = _named(row, options, partitions)
            if found == 2 or row is rows[0]:
                self.header, self.found = row, found
            if not row.raw.startswith(b"#"):
                break

    @property
    def regularity(self) -> float:
        """The share of rows with the usual number of fields, zero if that is one."""
        widths = Counter(len(row.fields) for row in self.rows)
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        return count / len(self.rows) + 0.001 * (width == 2) if width > 1 else 0.0


def _named(row: Record, options: ReadOptions, partitions: Mapping[str, str | None]) -> int:
    names = [shown(field) for field in row.fields]
    return sum(bool(matching(wanted, [*names, *partitions])) for wanted in options.names)


def _records(body: bytes, separator: str, line: int) -> list[Record]:
    rows = []
    for row in records(body[:HEAD], separator.encode(), line, last=True):
        if isinstance(row, Record):
            rows.append(row)
        if len(rows) >= _LINES_LOOKED_AT:
            break
    return rows


def _offset(body: bytes, separator: str, header: Record, line: int) -> tuple[int, int]:
    """Where the text behind the header begins, and its line number."""
    at = 0
    while line < header.line:
        line, at = line + 1, _next_line(body, at)
    at += len(header.raw)
    line += len(re.findall(rb"\r\n|\n|\r", header.raw))
    return _next_line(body, at), line + 1


def _next_line(body: bytes, at: int) -> int:
    found = re.compile(rb"\r\n|\n|\r").search(body, at)
    return found.end() if found else len(body)


def names_below(
    rows: Iterable[tuple[int, Sequence[bytes | str | None]]], options: ReadOptions, header: Sequence[str]
) -> tuple[int, list[str]] | None:
    """Find the line in which the names of the columns seem to stand, where the first one seems to have none."""
    if None not in likely_pair(header, options):
        return None
    for line, fields in rows:
        names = ["" if field is None else shown(field) for field in fields]
        if all(matching(wanted, names) for wanted in options.names) or None not in likely_pair(names, options):
            return line, names
    return None


def likely_pair(names: Sequence[str], options: ReadOptions) -> list[str | None]:
    """The two names that people give to such columns, None for one that is not there."""
    chosen: list[str | None] = []
    for likely in options.kind.likely:
        ranks = {name: likely.index(_bare(name)) for name in names if _bare(name) in likely and name not in chosen}
        chosen.append(min(ranks, key=ranks.__getitem__) if ranks else None)
    return chosen


def matching(wanted: str, names: Sequence[str]) -> list[int]:
    """Positions of the columns that are meant by a name: exactly it, or else regardless of case and outer spaces."""
    exact = [position for position, name in enumerate(names) if name == wanted]
    return exact or [position for position, name in enumerate(names) if _folded(name) == _folded(wanted)]


def picked(
    names: Sequence[str],
    options: ReadOptions,
    partitions: Mapping[str, str | None],
    name: str,
    *,
    by_position: bool = False,
    below: tuple[int, list[str]] | None = None,
) -> tuple[Pick, Pick, Pick | None]:
    """Where the wanted columns are, among those of a file and those that the names of its folders give.

    Raises
    ------
    MissingColumnError
        One is missing or there twice; the message lists the columns and proposes the likeliest pair. ``below`` is the
        line in which names of columns seem to stand instead, and these names.
    """
    picks: list[Pick | None] = []
    for wanted in (*options.names, options.role):
        inside = [] if wanted is None else matching(wanted, names)
        outside = [] if wanted is None else matching(wanted, list(partitions))
        if len(inside) + len(outside) > 1:
            raise MissingColumnError(_twice(str(wanted), names, partitions, name, bool(outside)))
        if inside:
            picks.append(inside[0] if by_position else names[inside[0]])
        elif outside:
            picks.append(Constant(list(partitions.values())[outside[0]]))
        else:
            picks.append(None)
    if None in picks[:2] or (options.role is not None and picks[2] is None):
        raise MissingColumnError(_missing(names, options, partitions, name, picks, lines=by_position, below=below))
    return picks[0], picks[1], picks[2]  # type: ignore[return-value]


def _positions(
    row: Record, options: ReadOptions, partitions: Mapping[str, str | None], name: str
) -> tuple[Pick, Pick, Pick | None]:
    """Where the columns are in a file without a header."""
    width = len(row.fields)
    wanted = [options.first, options.second, options.role]
    constants = [matching(word, list(partitions)) for word in options.names]
    free = iter(range(width))
    if sum(not one for one in constants) != width and not all(one and one.isdecimal() for one in wanted[:2]):
        words = options.kind.parameters
        raise MissingColumnError(
            f"the first line of {name} has {width} field{'' if width == 1 else 's'}, not two: {_listed(row.fields)}; "
            f"without a header say which by number, such as {words[0]}='1', {words[1]}='3'"
        )
    picks: list[Pick | None] = []
    for which, word in enumerate(wanted):
        if word is not None and word.isdecimal():
            if not 1 <= int(word) <= width:
                raise InvalidOptionError(f"{name} has no column {word}; its first line has {width} fields")
            picks.append(int(word) - 1)
        elif which < 2 and constants[which]:
            picks.append(Constant(list(partitions.values())[constants[which][0]]))
        elif word is not None:
            raise InvalidOptionError(f"{name} has no header, so columns are numbers from 1 to {width}, not {word!r}")
        else:
            picks.append(next(free) if which < 2 else None)
    return picks[0], picks[1], picks[2]  # type: ignore[return-value]


def _folded(name: str) -> str:
    return name.strip().casefold()


def _listed(names: Sequence[bytes | str]) -> str:
    texts = [shown(name)[:_LONGEST_NAME] for name in names[:20]]
    return ", ".join(map(repr, texts)) + (" …" if len(names) > 20 else "")


def _twice(wanted: str, names: Sequence[str], partitions: Mapping[str, str | None], name: str, outside: bool) -> str:
    if outside:
        return (
            f"the folders of {name} say {'/'.join(f'{key}={value}' for key, value in partitions.items())}, and it has "
            f"a column {wanted!r} of its own; only one of them can be meant"
        )
    return f"the header of {name} names a column twice: {_listed(names)}"


def _missing(
    names: Sequence[str],
    options: ReadOptions,
    partitions: Mapping[str, str | None],
    name: str,
    picks: Sequence[Pick | None],
    *,
    lines: bool,
    below: tuple[int, list[str]] | None,
) -> str:
    wanted = [*options.names, options.role]
    absent = " and ".join(repr(word) for word, pick in zip(wanted, picks) if pick is None and word is not None)
    found = f"its first line has {_listed(names)}" if lines else f"it has {_listed(names) or 'none'}"
    if below is not None:
        line, there = below
        pair = likely_pair(there, options)
        said = [f"skip_lines={line - 1}"]
        if not all(matching(one, there) for one in options.names):
            said += [f"{word}={one!r}" for word, one in zip(options.kind.parameters, pair)]
        return (
            f"{name} has no column {absent}: {found}; column names seem to stand in line {line}: say {', '.join(said)}"
        )
    advice = _advice(names, options, picks)
    data = "if the first line is data, say header=False" if lines else ""
    ends = "; ".join(part for part in (advice, data) if part)
    return f"{name} has no column {absent}: {found}" + (f"; {ends}" if ends else "")


def _advice(names: Sequence[str], options: ReadOptions, picks: Sequence[Pick | None]) -> str:
    """The options that name the likeliest pair of columns."""
    words = options.kind.parameters
    chosen = likely_pair(names, options)
    free = [name for name in names if name not in chosen and name.strip()]
    for which in (0, 1):
        if chosen[which] is None and len(free) == 1:
            chosen[which] = free.pop()
    if chosen == [None, None] and len(names) == 2 and all(name.strip() for name in names):
        chosen = list(names)
    if any(name is None or len(name) > _LONGEST_NAME for name in chosen):
        return f"name the two columns with {words[0]}=… and {words[1]}=…"
    said = [f"{words[which]}={chosen[which]!r}" for which in (0, 1) if picks[which] is None]
    if not said:
        return "name the column of the roles with role_column=…"
    return f"perhaps {', '.join(said)}"


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
