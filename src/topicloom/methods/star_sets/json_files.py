"""Small JSON files that sites exchange: they name their kind and version, and carry a checksum of the rest."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topicloom.errors import InputNotFoundError, InvalidOptionError, OutputExistsError, StarFileError
from topicloom.files.write.atomic import whole_file

VERSION = 1
HASH = re.compile(r"[0-9a-f]{32}")
KEY = re.compile(r"[0-9a-f]{64}")


def checksum(content: Any) -> str:
    """SHA-256 of something that JSON can hold, as text."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write(path: Path, kind: str, content: Mapping[str, Any], *, overwrite: bool) -> None:
    """Write a file of one kind, whole or not at all.

    Raises
    ------
    OutputExistsError
        Something stands there, and ``overwrite`` is not set or it is no file of this kind.
    """
    if os.path.lexists(path):
        if not overwrite:
            raise OutputExistsError(f"{path} exists; choose another place, or replace it with overwrite=True")
        if not path.is_file() or _kind(path) != kind:
            raise OutputExistsError(f"{path} is not replaced: it is no {kind}; choose another place")
    if not path.parent.is_dir():
        raise OutputExistsError(f"cannot write {path}: {path.parent} is no folder")
    whole = {"kind": kind, "version": VERSION, **content}
    with whole_file(path) as file:
        file.write(json.dumps({**whole, "checksum": checksum(whole)}, indent=1).encode() + b"\n")


def read(path: Path, kind: str) -> dict[str, Any]:
    """Read a file of one kind. Returns its content without kind, version and checksum.

    Raises
    ------
    InputNotFoundError, StarFileError
        It is not there; it is of another kind or version, or was changed after it was written.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputNotFoundError(f"{path} does not exist") from None
    except OSError as error:
        raise InputNotFoundError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise StarFileError(f"{path} is no {kind}: it is not JSON") from None
    if not isinstance(content, dict) or content.get("kind") != kind:
        raise StarFileError(f"{path} is no {kind}; topicloom {_maker(kind)} writes one")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise StarFileError(f"{path} is a {kind} of version {str(version)[:40]}; this topicloom reads {VERSION}")
    said = content.pop("checksum", None)
    if said != checksum(content):
        raise StarFileError(f"{path} was changed after it was written; ask for it again")
    return {name: value for name, value in content.items() if name not in ("kind", "version")}


def hashes(content: Mapping[str, Any], name: str, path: Path, pattern: re.Pattern[str] = HASH) -> tuple[str, ...]:
    """A list of different hashes, ascending."""
    values = content.get(name)
    texts = [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
    if values != sorted(set(texts)) or not all(map(pattern.fullmatch, texts)):
        raise StarFileError(f"{path}: {name!r} is not a list of different hashes in ascending order")
    return tuple(texts)


def key(content: Mapping[str, Any], name: str, path: Path) -> str:
    """One hash."""
    value = content.get(name)
    if not isinstance(value, str) or not KEY.fullmatch(value):
        raise StarFileError(f"{path}: {name!r} is no hash")
    return value


def text(content: Mapping[str, Any], name: str, path: Path) -> str:
    """A text that is not blank and is valid Unicode."""
    value = content.get(name)
    if not is_text(value):
        raise StarFileError(f"{path}: {name!r} is not a text")
    return str(value)


def is_text(value: Any) -> bool:
    """Whether a value is a text that is not blank and is valid Unicode."""
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_text(name: str, value: Any) -> str:
    """An option that has to be a text."""
    if not is_text(value):
        raise InvalidOptionError(f"{name} is {value!r}; a text of valid Unicode that is not blank is accepted")
    return str(value)


def _kind(path: Path) -> Any:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content.get("kind") if isinstance(content, dict) else None


def _maker(kind: str) -> str:
    return "digest" if kind == "topic digest" else "star-set"
