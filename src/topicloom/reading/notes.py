"""What was found out about the files of a source, in one line each."""

from collections.abc import Mapping, Sequence
from typing import Any

from topicloom.reading.layout import Constant, Pick
from topicloom.reading.listing import Skipped
from topicloom.reading.source_plan import Plan, TableFile

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
    used = counts["rows"] - counts["repeated"] - counts["rejected"]
    total = (
        f"{counts['rows']:,} rows = {used:,} used + {counts['repeated']:,} repeated + {counts['rejected']:,} rejected"
    )
    if not counts["rejected"]:
        return (total,)
    why = "; ".join(f"{count:,} × {reason}" for reason, count in list(reasons.items())[:_SHOWN])
    notes = [total, f"rejected: {why}"]
    if any("not valid UTF-8" in reason for reason in reasons):
        notes.append("if the text is in another encoding, name it, such as encoding='latin-1'")
    return tuple(notes)


def example_notes(examples: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Rejected rows, a line each."""
    return tuple(f"  {one['file']}, line {one['line']}: {_cut(one['raw'])!r}: {one['reason']}" for one in examples)


def _cut(text: str | None) -> str:
    return "" if text is None else text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _who(files: Sequence[TableFile]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files):,} files, such as {files[0].name}"


def _described(file: TableFile, plan: Plan) -> str:
    layout = file.layout
    parts = [{"json": "JSON lines", "parquet": "Parquet", "xlsx": "first sheet of a workbook"}.get(file.format, "text")]
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
