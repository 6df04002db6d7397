"""Read mosquitto.conf with the grammar of Mosquitto's own conf.c.

A comment starts at the first column only, words are split at single spaces, tabs belong to words, and a bridge ends
with its file. ``include_dir`` reads ``*.conf`` sorted by name, ignoring case.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from topicloom.auditing.audit_findings import Place
from topicloom.errors import InputNotFoundError, UnreadableInputError

_MOST_BYTES, _DEEPEST = 50_000_000, 8


class Setting(NamedTuple):
    """One line: its first word, the other words, all that stands after the first word, and where."""

    word: str
    values: tuple[str, ...]
    rest: str
    place: Place


def text_of(path: Path) -> str:
    """Text of a file.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        It is not there, cannot be read, is too large, or is not UTF-8.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableInputError(f"{path} has over {_MOST_BYTES:,} bytes, too many for a configuration")
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise UnreadableInputError(
            f"{path} is not UTF-8 (byte {error.start + 1:,}), so it is no configuration"
        ) from None
    except FileNotFoundError:
        raise InputNotFoundError(f"{path} is not there") from None
    except (OSError, ValueError) as error:
        raise UnreadableInputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def settings_of(path: Path, shown: str, depth: int = 0) -> Iterator[Setting | None]:
    """Read the settings of a file and of what it includes. None marks the end of a file, which ends a bridge.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        A file or an included folder cannot be read, or folders include each other.
    """
    if depth > _DEEPEST:
        raise UnreadableInputError(f"{shown}: include_dir is nested more than {_DEEPEST} deep")
    text = text_of(path)
    if "\0" in text:
        raise UnreadableInputError(f"{shown} holds a NUL byte, so it is no configuration")
    for number, line in enumerate(text.split("\n"), 1):
        words = line.rstrip("\r\n")
        if words.startswith("#") or not words.strip(" "):
            continue
        word, _, rest = words.lstrip(" ").partition(" ")
        place = Place(shown, number)
        if word == "include_dir":
            yield from _included(path, rest.strip(" "), place, depth)
        else:
            yield Setting(word, tuple(one for one in rest.split(" ") if one), rest.lstrip(" "), place)
    yield None


def _included(path: Path, folder: str, place: Place, depth: int) -> Iterator[Setting | None]:
    found = included_folder(path, folder)
    if found is None:
        raise InputNotFoundError(f"{place}: include_dir {folder!a} is not there, nor beside the file")
    files = sorted((one for one in found.iterdir() if one.suffix == ".conf"), key=lambda one: one.name.lower())
    for one in files:
        yield from settings_of(one, f"{found.name}/{one.name}", depth + 1)


def included_folder(path: Path, folder: str) -> Path | None:
    """The folder that a file includes: beside the file first, because configurations are audited away from home."""
    if not folder:
        return None
    candidates = (path.parent / folder.lstrip("/"), path.parent / Path(folder).name, Path(folder))
    return next((one for one in candidates if one.is_dir()), None)
