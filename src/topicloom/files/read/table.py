"""Tables read into memory, without Spark, by the same rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputNotFoundError, UnreadableInputError
from topicloom.files.read.notes import Finding, findings, notes_of
from topicloom.files.read.patterns import Patterns
from topicloom.files.read.read_options import SUBSCRIPTIONS, LinkWords, ReadOptions, SubscriptionWords
from topicloom.files.read.source_plan import Plan, plan_source, read_unit, whole_units
from topicloom.model.interest import Interest
from topicloom.model.labels import REJECTED, ROWS


@dataclass(frozen=True)
class Reading:
    """What a table holds.

    Attributes
    ----------
    table : pyarrow.Table
        Distinct rows that can be used: (node, topic, role), or (src, dst) of links, in the order of first occurrence.
    rejected : pyarrow.Table
        (file, line, raw, node, topic, reason): rows that are not used, in the order of the files.
    counts : mapping
        rows, used, repeated and rejected; rows is the sum of the other three. Where patterns were replaced, also
        expanded: the rows that they make beyond their own, which the sum contains.
    reasons : mapping
        Number of rejected rows by reason, the most frequent first.
    notes : tuple of str
        What was found out about the files, a sentence each.
    findings : tuple of Finding
        Labels that deserve a look.
    """

    table: pa.Table
    rejected: pa.Table
    counts: Mapping[str, int]
    reasons: Mapping[str, int]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]

    def interest(self) -> Interest:
        """The subscriptions as an `Interest`, with the roles if there are any.

        Raises
        ------
        InputNotFoundError
            No row can be used; the message says how many there are and why.
        """
        if not len(self.table):
            raise InputNotFoundError(nothing_usable(self.counts["rows"], self.reasons))
        return Interest.from_pairs(self.table["node"], self.table["topic"], self.table["role"])


def read_subscriptions(
    source: str | PathLike[str], *, expand: str | None = None, **words: Unpack[SubscriptionWords]
) -> Reading:
    r"""Read a table of subscriptions into memory.

    A row is a node and a topic. Every row is used, counted as a repeat, or listed as rejected with file, line, text
    and reason. Labels are byte for byte what the file holds.

    Parameters
    ----------
    source : str or path
        A file, a folder with all below it, or a pattern: delimited text, JSON lines (each also as .gz, .bz2, .zst or
        .xz), Parquet, or .xlsx with the extra ``excel``.
    node_column, topic_column : str, optional
        Names of the two columns; "node" and "topic" unless given. Numbers from 1 if there is no header.
    role_column : str, optional
        Column that says publish, subscribe or both, or P, S, PS, pub, sub, publisher, subscriber, in any case.
    format : str, optional
        One of csv, tsv, json, parquet, xlsx; by the file names unless given.
    separator, encoding : str, optional
        Found out from the head of each file unless given.
    header : bool, optional
        False: the first line is data.
    topics_separator : str, optional
        Between the topics of one field, such as ``|``.
    skip_lines : int, optional
        Lines before the one that names the columns, in text and workbooks.
    trim : bool, optional
        Take blanks off both ends of every label.
    sheet : str, optional
        Which sheet of a workbook; the first one unless given.
    expand : str, optional
        "mqtt" or "nats": replace patterns by the known topics that they match.

    Returns
    -------
    Reading

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError

    Notes
    -----
    O(rows) time and memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "subs.csv"
    ...     _ = path.write_text("Broker;Filter\na;news\nb;news\nb;news\nc\n")
    ...     reading = read_subscriptions(path, node_column="Broker", topic_column="Filter")
    >>> dict(reading.counts)
    {'rows': 4, 'used': 2, 'repeated': 1, 'rejected': 1}
    >>> reading.rejected.select(["line", "raw", "reason"]).to_pylist()
    [{'line': 5, 'raw': 'c', 'reason': '1 field, 2 are expected'}]

    See Also
    --------
    topicloom.pipeline.read_subscriptions : the same rules on Spark.
    """
    return read_table(plan_source(fspath(source), ReadOptions.of_subscriptions(**words)), expand=expand)


def read_links(source: str | PathLike[str], **words: Unpack[LinkWords]) -> Reading:
    r"""Read a table of links, with columns ``src`` and ``dst``, into memory.

    A table without rows has no links.

    Parameters
    ----------
    source : path
        A file, a folder or a pattern, as `read_subscriptions` takes it.
    **words
        As for `read_subscriptions`, with ``src_column`` and ``dst_column`` for the names of the two columns.

    Returns
    -------
    Reading
        Its ``table`` has the columns ``src`` and ``dst``, each link once.

    See Also
    --------
    read_subscriptions : the table of who wants what.
    topicloom.Overlay.from_links : links over an interest.

    Notes
    -----
    O(rows) time and memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import topicloom as tl
    >>> factory = tl.datasets.example()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "links.csv"
    ...     _ = path.write_text("from,to\ncrane,gate\ngate,office\ncrane,gate\n")
    ...     reading = tl.read_links(path, src_column="from", dst_column="to")
    >>> reading.table.to_pylist()
    [{'src': 'crane', 'dst': 'gate'}, {'src': 'gate', 'dst': 'office'}]
    >>> tl.Overlay.from_links(factory, reading.table).verify().broken_topics
    5
    """
    return as_links(read_table(plan_source(fspath(source), ReadOptions.of_links(**words))))


def as_links(reading: Reading) -> Reading:
    """Name the columns of a table of links for what they hold."""
    return replace(reading, table=reading.table.select(["node", "topic"]).rename_columns(["src", "dst"]))


def row_batches(plan: Plan) -> Iterator[pa.RecordBatch]:
    """Every row of what was planned, in the order of files and lines."""
    for unit in whole_units(plan.files):
        with plan.opened(unit.file) as raw:
            yield from read_unit(unit, plan, raw)


def read_table(plan: Plan, *, expand: str | None = None) -> Reading:
    """Read everything that was planned."""
    rows = pa.Table.from_batches(row_batches(plan), ROWS)
    if not len(rows) and plan.options.kind is SUBSCRIPTIONS:
        raise InputNotFoundError(f"there are no rows in {plan.files[0].name}")
    given = len(rows)
    if expand is not None:
        rows = expanded(rows, expand)
    found = reading_of(rows, notes_of(plan))
    if expand is not None:
        found = replace(found, counts={**found.counts, "rows": given, "expanded": len(rows) - given})
    if plan.options.kind is not SUBSCRIPTIONS:
        return found
    return replace(found, findings=findings(*(pc.unique(found.table[name]) for name in ("node", "topic"))))


def every_row(source: str, options: ReadOptions) -> Reading:
    """Read a table of which every row counts.

    Raises
    ------
    UnreadableInputError
        A row cannot be used; the message says which, and why.
    """
    found = read_table(plan_source(source, options))
    for row in found.rejected.slice(0, 1).to_pylist():
        raise UnreadableInputError(f"{row['file']}, line {row['line']}: {row['reason']}; every row must be usable here")
    return found


def reading_of(rows: pa.Table, notes: tuple[str, ...] = ()) -> Reading:
    """What rows hold: those that can be used, each once, and those that cannot."""
    used, rejected, reasons = sorted_out(rows)
    table = distinct(used)
    counts = {
        "rows": len(rows),
        "used": len(table),
        "repeated": len(used) - len(table),
        "rejected": len(rejected),
    }
    return Reading(table, rejected, counts, reasons, notes, ())


def sorted_out(rows: pa.Table) -> tuple[pa.Table, pa.Table, dict[str, int]]:
    """Split rows into those that can be used, (node, topic, role), and others. Returns also their number by reason."""
    unused = pc.is_valid(rows["reason"])
    rejected = rows.filter(unused).select(REJECTED.names)
    tallied = pc.value_counts(rejected["reason"]).to_pylist()
    reasons = {one["values"]: one["counts"] for one in sorted(tallied, key=lambda one: (-one["counts"], one["values"]))}
    return rows.filter(pc.invert(unused)).select(["node", "topic", "role"]), rejected, reasons


def nothing_usable(rows: int, reasons: Mapping[str, int]) -> str:
    """Say why no row of a table of subscriptions can be used."""
    if not rows:
        return "there are no rows in the subscriptions"
    why = "; ".join(f"{count:,} × {reason}" for reason, count in list(reasons.items())[:3])
    return f"none of the {rows:,} rows can be used: {why}"


def distinct(used: pa.Table) -> pa.Table:
    """Drop repeats of pairs of labels. Two roles of a pair become ``both``."""
    grouped = used.group_by(["node", "topic"], use_threads=False).aggregate([("role", "min"), ("role", "max")])
    low, high = grouped["role_min"], grouped["role_max"]
    role = pc.if_else(pc.fill_null(pc.equal(low, high), True), low, "both")
    return pa.table({"node": grouped["node"], "topic": grouped["topic"], "role": role.cast(pa.string())})


def expanded(rows: pa.Table, broker: str) -> pa.Table:
    """Rows with patterns replaced by the known topics that they match. A pattern that matches none is rejected."""
    usable = rows.filter(pc.is_null(rows["reason"]))
    topics = pc.unique(usable["topic"]).to_pylist()
    mapping = dict(expansions(Patterns(broker, topics), topics))
    if not mapping:
        return rows
    made: list[dict[str, Any]] = []
    is_pattern = pc.and_(pc.is_null(rows["reason"]), pc.is_in(rows["topic"], pa.array(list(mapping), pa.string())))
    for row in rows.filter(is_pattern).to_pylist():
        matches, reason = mapping[row["topic"]]
        made += [{**row, "topic": topic} for topic in matches] or [{**row, "raw": row["topic"], "reason": reason}]
    return pa.concat_tables([rows.filter(pc.invert(is_pattern)), pa.Table.from_pylist(made, ROWS)])


def expansions(patterns: Patterns, topics: list[str]) -> "list[tuple[str, tuple[list[str], str | None]]]":
    """For each pattern, the topics that it matches, or the reason why there are none."""
    found = []
    for topic in topics:
        if patterns.is_pattern(topic):
            problem = patterns.problem(topic)
            matches = [] if problem else patterns.matches(topic)
            found.append((topic, (matches, problem or (None if matches else f"{topic!r} matches no known topic"))))
    return found
