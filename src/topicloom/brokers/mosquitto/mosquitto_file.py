"""Read mosquitto.conf with the grammar of Mosquitto's own conf.c.

A comment starts at the first column only, words are split at single spaces, tabs belong to words, and a bridge ends
with its file. ``include_dir`` reads ``*.conf`` sorted by name, ignoring case, and counts in the main file only.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from topicloom.brokers.auditing.audit_effort import Effort, lines_of
from topicloom.brokers.auditing.audit_findings import Place
from topicloom.errors import InputNotFoundError, UnreadableInputError


class Setting(NamedTuple):
    """One line: its first word, the other words, all that stands after the first word, and where."""

    word: str
    values: tuple[str, ...]
    rest: str
    place: Place


def settings_of(path: Path, shown: str, effort: Effort) -> Iterator[Setting]:
    """Read the settings of one file, without those that it includes.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        The file cannot be read, or holds what is no text outside of its comments.
    """
    text = effort.text_of(path)
    if "\0" in text:
        raise UnreadableInputError(f"{shown} holds a NUL byte, so it is no configuration")
    for number, line in enumerate(lines_of(text), 1):
        words = line.rstrip("\r\n").lstrip(" ")
        if not words or line.startswith("#"):
            continue
        word, _, rest = words.partition(" ")
        values = rest.split(" ")
        if "" in values:
            values = [value for value in values if value]
        yield Setting(word, tuple(values), rest.lstrip(" "), Place(shown, number))


def included_files(path: Path, setting: Setting) -> Iterator[tuple[Path, str]]:
    """Files of an ``include_dir``, with what they are called in messages.

    Raises
    ------
    InputNotFoundError
        The folder is not there.
    """
    given = setting.rest.strip(" ")
    found = included_folder(path, given)
    if found is None:
        raise InputNotFoundError(f"{setting.place}: include_dir {given!r} is not there, nor beside the file")
    inside = (one for one in found.iterdir() if one.name.endswith(".conf") and len(one.name) > 5)
    home = f"{setting.place.file.rpartition('/')[0]}/" if "/" in setting.place.file else ""
    for one in sorted(inside, key=lambda one: (one.name.upper(), one.name)):
        yield one, f"{home}{found.name}/{one.name}"


def included_folder(path: Path, folder: str) -> Path | None:
    """The folder that a file includes: beside the file first, because configurations are audited away from home."""
    if not folder:
        return None
    candidates = (path.parent / folder.lstrip("/"), path.parent / Path(folder).name, Path(folder))
    return next((one for one in candidates if one.is_dir()), None)
