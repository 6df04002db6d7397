"""What is said of a table: how its files were read, what became of its rows, and labels that deserve a look."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.files.read.layout import Constant, Pick
from topicloom.files.read.listing import Skipped
from topicloom.files.read.named_rows import NAME_IT
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.source_plan import Plan, TableFile
from topicloom.model.labels import BLANK_SIGN

MOST_REJECTED = 0.05  # of the rows, before an answer is doubted
UNREAD = "too much is unread"
_SHOWN = 5
_LONGEST = 80
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}


def notes_of(plan: Plan) -> tuple[str, ...]:
    """One sentence for each kind of file that is read, and one for those that are skipped."""
    alike: dict[str, list[TableFile]] = {}
    for file in plan.files:
        alike.setdefault(_described(file, plan), []).append(file)
    notes = [f"{_who(files)}: {text}" for text, files in alike.items()]
    return (*notes, *([_skipped(plan.skipped)] if plan.skipped else []))


def row_notes(counts: Mapping[str, int], reasons: Mapping[str, int]) -> tuple[str, ...]:
    """What became of all rows, in one sentence, and why some were rejected."""
    more = counts.get("expanded", 0)
    used = counts["rows"] + more - counts["repeated"] - counts["rejected"]
    given = f"{counts['rows']:,} rows" + (f" and {more:,} more of their patterns" if more else "")
    total = f"{given} = {used:,} used + {counts['repeated']:,} repeated + {counts['rejected']:,} rejected"
    if not counts["rejected"]:
        return (total,)
    why = "; ".join(f"{count:,} × {reason}" for reason, count in list(reasons.items())[:_SHOWN])
    notes = [total, f"rejected: {why}"]
    if any("not valid UTF-8" in reason for reason in reasons):
        notes.append(NAME_IT)
    if (unread := mostly_unread(counts["rows"] + more, counts["rejected"])) is not None:
        notes.append(unread)
    return tuple(notes)


def mostly_unread(rows: int, rejected: int) -> str | None:
    """Say that the share of rejected rows is too large for an answer to rest on the others. Returns None if it is not.

    >>> mostly_unread(40, 2), mostly_unread(413, 351)
    (None, 'too much is unread: 351 of 413 rows are rejected, and the answer is about the others alone')
    """
    if rejected <= MOST_REJECTED * rows:
        return None
    return f"{UNREAD}: {rejected:,} of {rows:,} rows are rejected, and the answer is about the others alone"


def example_notes(examples: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Rejected rows, a line each."""
    return tuple(f"  {one['file']}, line {one['line']}: {_cut(one['raw'])!r}: {one['reason']}" for one in examples)


def _cut(text: str | None) -> str:
    return "" if text is None else text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _who(files: Sequence[TableFile]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files):,} files, such as {files[0].name}"


def _described(file: TableFile, plan: Plan) -> str:
    layout = file.layout
    parts = [{"json": "JSON lines", "parquet": "Parquet", "xlsx": _sheet(plan.options)}.get(file.format, "text")]
    if file.format in ("csv", "tsv"):
        parts.append(f"separator {_SEPARATORS.get(layout.separator) or repr(layout.separator)}")
    if file.format not in ("parquet", "xlsx"):
        parts.append(layout.encoding.upper() + (" with a byte order mark" if layout.marked else ""))
    if file.compression:
        parts.append(file.compression)
    if file.format in ("csv", "tsv", "xlsx"):
        parts.append("header" if layout.names else "no header")
    picks = zip((*plan.words, "role"), (layout.first, layout.second, layout.role))
    columns = ", ".join(f"{word} {_where(pick, layout.names)}" for word, pick in picks if pick is not None)
    return f"{', '.join(parts)}; {columns}{file.note}"


def _sheet(options: ReadOptions) -> str:
    return "first sheet of a workbook" if options.sheet is None else f"sheet {options.sheet!r} of a workbook"


def _where(pick: Pick, names: Sequence[str]) -> str:
    if isinstance(pick, Constant):
        return "from the names of folders"
    if isinstance(pick, str):
        return f"from {pick!r}"
    return f"from {names[pick]!r}" if names else f"from column {pick + 1}"


def _skipped(skipped: Sequence[Skipped]) -> str:
    shown = "; ".join(f"{one.path.rsplit('/', 1)[-1]} {one.reason}" for one in skipped[:_SHOWN])
    shown = shown.encode("utf-8", "backslashreplace").decode()
    more = f"; and {len(skipped) - _SHOWN:,} more" if len(skipped) > _SHOWN else ""
    return f"{len(skipped):,} skipped: {shown}{more}"


WILDCARD = r"(^|[/.])[#+>*]([/.]|$)"
BLANK_END = rf"\A{BLANK_SIGN}|{BLANK_SIGN}\z"
_EXAMPLES = 3
_BETWEEN = {",": ",", ";": ";", "|": "|", "\n": "\\n"}  # what separates topics in one field, and how that is said
_FEWEST_LISTS = 3


class Finding(NamedTuple):
    """Something about labels that deserves a look.

    Attributes
    ----------
    kind : str
        "look-alikes", "wildcards", "blanks" at the ends of labels, or "several" topics that may stand in one field.
    what : str
        "node" or "topic".
    number : int
        Number of labels, or of groups of look-alikes.
    examples : tuple of tuples of str
        The first few: labels that look alike together, others alone.
    """

    kind: str
    what: str
    number: int
    examples: tuple[tuple[str, ...], ...]

    @property
    def sentence(self) -> str:
        """The finding in words."""
        shown = "; ".join(" and ".join(map(repr, labels)) for labels in self.examples)
        if self.kind == "wildcards":
            return (
                f"warning: {self.number:,} topics look like patterns, such as {shown}; each is taken as one exact name "
                "unless expand='mqtt' or expand='nats' is given"
            )
        if self.kind == "blanks":
            many = f"{self.what} begins or ends" if self.number == 1 else f"{self.what}s begin or end"
            return (
                f"warning: {self.number:,} {many} with a blank, such as {shown}; blanks are part of "
                "a label unless trim=True is given"
            )
        if self.kind == "several":
            sign = max(_BETWEEN, key=self.examples[0][0].count)
            return (
                f"warning: {self.number:,} topics look like several in one field, such as {shown}; each is taken as "
                f"one topic unless topics_separator='{_BETWEEN[sign]}' is given"
            )
        return (
            f"warning: {self.number:,} times {self.what}s differ only by case, white space or Unicode form, "
            f"such as {shown}; they are kept apart"
        )


def folded(labels: pa.Array) -> pa.Array:
    """Labels without what people overlook: case, white space and Unicode normal form."""
    texts = pc.utf8_lower(pc.utf8_normalize(labels.cast(pa.string()), form="NFKC"))
    return pc.replace_substring_regex(texts, r"[\s\pZ\x{200B}\x{FEFF}]+", "")


def look_alikes(labels: pa.Array, what: str) -> Finding | None:
    """Find distinct labels that are the same after `folded`."""
    keys = folded(labels).dictionary_encode()
    counts = pc.value_counts(keys.indices)
    several = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if not len(several):
        return None
    groups = pa.table({"key": keys.indices, "label": labels}).filter(pc.is_in(keys.indices, several))
    grouped = groups.group_by("key", use_threads=False).aggregate([("label", "list")])
    examples = sorted(tuple(sorted(group)) for group in grouped["label_list"].to_pylist())
    return Finding("look-alikes", what, len(several), tuple(group[:_EXAMPLES] for group in examples[:_EXAMPLES]))


def wildcards(topics: pa.Array) -> Finding | None:
    """Find topics that are patterns of MQTT, NATS or AMQP."""
    found = topics.filter(pc.match_substring_regex(topics, WILDCARD))
    if not len(found):
        return None
    examples = sorted(found.to_pylist())[:_EXAMPLES]
    return Finding("wildcards", "topic", len(found), tuple((label,) for label in examples))


def blank_ends(labels: pa.Array, what: str) -> Finding | None:
    """Find labels that begin or end with a blank."""
    found = labels.filter(pc.match_substring_regex(labels, BLANK_END))
    if not len(found):
        return None
    return Finding("blanks", what, len(found), tuple((label,) for label in sorted(found.to_pylist())[:_EXAMPLES]))


def several_topics(topics: pa.Array) -> Finding | None:
    """Find topics that seem to be lists: half of all topics are, and what they list recurs."""
    for sign in _BETWEEN:
        found = topics.filter(pc.match_substring(topics, sign))
        if len(found) >= max(_FEWEST_LISTS, len(topics) / 2):
            parts = pc.utf8_trim_whitespace(pc.list_flatten(pc.split_pattern(found, sign)))
            if pc.count_distinct(parts).as_py() < len(parts):
                examples = sorted(found.to_pylist(), key=lambda label: (-label.count(sign), label))[:_EXAMPLES]
                return Finding("several", "topic", len(found), tuple((_cut(label),) for label in examples))
    return None


def findings(nodes: pa.Array, topics: pa.Array) -> tuple[Finding, ...]:
    """All findings about distinct labels of nodes and topics."""
    found: Sequence[Finding | None] = (
        *(look_alikes(labels, what) for labels, what in ((nodes, "node"), (topics, "topic"))),
        *(blank_ends(labels, what) for labels, what in ((nodes, "node"), (topics, "topic"))),
        wildcards(topics),
        several_topics(topics),
    )
    return tuple(one for one in found if one is not None)
