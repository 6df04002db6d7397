"""Entries of a YAML, JSON or CSV file as texts, each with the line on which it stands.

Numbers stay as they are written, so that the version 2.10 does not become 2.1.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from topicloom.errors import InputNotFoundError, InvalidInventoryError, UnreadableInputError
from topicloom.extras import needing
from topicloom.files.read.byte_streams import in_utf8
from topicloom.files.read.layout import encoding_of
from topicloom.files.read.named_rows import NAME_IT, is_delimited, named_rows
from topicloom.files.read.read_options import ReadOptions

LABEL = "node"  # the one key whose value is a label, which is kept as it is written
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Entry:
    """One entry: key to text, or to a group of texts, with the lines of its keys."""

    file: str
    line: int
    values: dict[str, str | dict[str, str]]
    lines: dict[str, int] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Value of a key, or the empty text."""
        value = self.values.get(name, "")
        return value if isinstance(value, str) else ""

    def error(self, sentence: str, name: str = "") -> InvalidInventoryError:
        """Make the error that says where this entry is wrong."""
        return InvalidInventoryError(f"{self.file} line {self.lines.get(name, self.line)}: {sentence}")


def read_entries(
    path: Path, *, separator: str | None = None, encoding: str | None = None, trim: bool = False
) -> list[Entry]:
    """Read the entries of a file by its ending: .yaml, .yml, .json, or one of delimited text such as .csv."""
    if is_delimited(path.name):
        entries = [
            Entry(path.name, line, fields)
            for line, fields in _cells(path, separator=separator, encoding=encoding, trim=trim)
        ]
        return _some(path, entries)
    readers = {".yaml": _yaml, ".yml": _yaml, ".json": _json}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InvalidInventoryError(f"{path.name}: an inventory ends in .yaml, .yml, .json, .csv, .tsv or .txt")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputNotFoundError(f"cannot read the inventory {path}: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise InvalidInventoryError(f"{path.name}: an inventory has at most 64 MiB")
    found, _ = encoding_of(data, ReadOptions(encoding=encoding).checked().encoding)
    data = b"".join(in_utf8(iter((data,)), found, path.name))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInventoryError(f"{path.name} line {line}: not {found.upper()}; {NAME_IT}") from None
    entries = list(reader(path.name, text))
    if trim:
        entries = [replace(entry, values=_trimmed(entry.values)) for entry in entries]
    return _some(path, entries)


def _some(path: Path, entries: list[Entry]) -> list[Entry]:
    if not entries:
        raise InvalidInventoryError(f"{path.name} names no broker; node, host and port are needed")
    return entries


def _trimmed(values: dict[str, str | dict[str, str]]) -> dict[str, str | dict[str, str]]:
    name = values.get(LABEL, "")
    return {**values, LABEL: name.strip()} if isinstance(name, str) and name else values


def _cells(path: Path, **words: Any) -> Iterator[tuple[int, dict[str, str | dict[str, str]]]]:
    try:
        names, rows = named_rows(path, known=LABEL, most=_MOST_BYTES, **words)
        if len(set(names)) < len(names):
            raise InvalidInventoryError(f"{path.name} line 1: a column is named twice")
        for line, cells in rows:
            if len(cells) != len(names):
                raise InvalidInventoryError(f"{path.name} line {line}: {len(cells)} cells under {len(names)} columns")
            # an unknown column is an error, also where it is empty
            yield line, {name: cell if name == LABEL else cell.strip() for name, cell in zip(names, cells)}
    except UnreadableInputError as error:
        raise InvalidInventoryError(str(error)) from None


def _json(file: str, text: str) -> Iterator[Entry]:
    try:
        loaded = json.loads(text, object_pairs_hook=lambda pairs: pairs, parse_float=str, parse_int=str)
    except json.JSONDecodeError as error:
        raise InvalidInventoryError(f"{file} line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise InvalidInventoryError(f"{file}: not a list of brokers") from None
    starts = [text.count("\n", 0, found.start()) + 1 for found in re.finditer(r'(?<!\\)"node"\s*:', text)]
    brokers = loaded
    if isinstance(loaded, list) and len(loaded) == 1 and isinstance(loaded[0], tuple) and loaded[0][0] == "brokers":
        brokers = loaded[0][1]
    if not isinstance(brokers, list) or not all(isinstance(one, list) for one in brokers):
        raise InvalidInventoryError(f"{file}: not a list of brokers, each with node, host and port")
    for position, pairs in enumerate(brokers):
        line = starts[position] if position < len(starts) else 1
        yield Entry(file, line, _texts(file, line, pairs), _key_lines(text, line))


def _key_lines(text: str, line: int) -> dict[str, int]:
    """Lines of the keys that follow the line of a node, up to the next node."""
    found: dict[str, int] = {}
    for number, content in enumerate(text.split("\n")[line - 1 :], line):
        names = re.findall(r'(?<!\\)"([a-z_]+)"\s*:', content)
        if number > line and "node" in names:
            break
        for name in names:
            found.setdefault(name, number)
    return found


def _texts(file: str, line: int, pairs: list[Any]) -> dict[str, str | dict[str, str]]:
    values: dict[str, str | dict[str, str]] = {}
    for pair in pairs:
        if not isinstance(pair, tuple):
            raise InvalidInventoryError(f"{file} line {line}: not a broker with node, host and port")
        key, value = pair
        if key in values:
            raise InvalidInventoryError(f"{file} line {line}: key {key!a} stands twice")
        if isinstance(value, list) and value and all(isinstance(one, tuple) for one in value):
            values[key] = {name: _scalar(file, line, name, inner) for name, inner in value}
        else:
            values[key] = _scalar(file, line, key, value)
    return values


def _scalar(file: str, line: int, key: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == []:
        return ""
    if isinstance(value, str):
        return value
    raise InvalidInventoryError(f"{file} line {line}: {key!a} is not a single value")


def _yaml(file: str, text: str) -> Iterator[Entry]:
    with needing("deploy", "reading an inventory in YAML"):
        import yaml
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)  # the message itself may quote a secret
        raise InvalidInventoryError(f"{file} line {mark.line + 1 if mark else 1}: not YAML") from None
    if isinstance(root, yaml.MappingNode) and [key.value for key, _ in root.value] == ["brokers"]:
        root = root.value[0][1]
    if not isinstance(root, yaml.SequenceNode) or not all(isinstance(one, yaml.MappingNode) for one in root.value):
        raise InvalidInventoryError(f"{file}: not a list of brokers, each with node, host and port")
    for mapping in root.value:
        line = mapping.start_mark.line + 1
        pairs = [(key.value, _plain_value(value)) for key, value in mapping.value]
        lines = {str(key.value): key.start_mark.line + 1 for key, _ in mapping.value}
        yield Entry(file, line, _texts(file, line, pairs), lines)


def _plain_value(node: Any) -> object:
    """A YAML value as text, a group as pairs. Anything deeper is not a single value."""
    if isinstance(node.value, str):
        return "" if node.value in ("~", "null") and not node.style else node.value
    if all(isinstance(pair, tuple) for pair in node.value):
        return [(key.value, value.value if isinstance(value.value, str) else object()) for key, value in node.value]
    return object()
