"""Entries of a YAML, JSON or CSV file as texts, each with the line on which it stands.

Numbers stay as they are written, so that the version 2.10 does not become 2.1.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topicloom.errors import InputNotFoundError, InvalidInventoryError
from topicloom.extras import needing

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


def read_entries(path: Path) -> list[Entry]:
    """Read the entries of a file by its ending: .yaml, .yml, .json or .csv."""
    readers = {".yaml": _yaml, ".yml": _yaml, ".json": _json, ".csv": _csv}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InvalidInventoryError(f"{path.name}: an inventory ends in .yaml, .yml, .json or .csv")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputNotFoundError(f"cannot read the inventory {path}: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise InvalidInventoryError(f"{path.name}: an inventory has at most 64 MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidInventoryError(f"{path.name} line {line}: not UTF-8") from None
    entries = list(reader(path.name, text))
    if not entries:
        raise InvalidInventoryError(f"{path.name} names no broker; node, host and port are needed")
    return entries


def _csv(file: str, text: str) -> Iterator[Entry]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if len(set(header)) < len(header):
            raise InvalidInventoryError(f"{file} line 1: a column is named twice")
        start = reader.line_num + 1
        for cells in reader:
            if cells:
                if len(cells) != len(header):
                    raise InvalidInventoryError(f"{file} line {start}: {len(cells)} cells under {len(header)} columns")
                values: dict[str, str | dict[str, str]] = {k: v.strip() for k, v in zip(header, cells) if v.strip()}
                unknown = dict.fromkeys(header, "")  # an unknown column is an error, also where it is empty
                yield Entry(file, start, {**unknown, **values})
            start = reader.line_num + 1
    except csv.Error:
        raise InvalidInventoryError(f"{file} line {reader.line_num}: not CSV") from None


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
