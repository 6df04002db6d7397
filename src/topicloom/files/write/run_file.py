"""``run.json``: how a result was made, and what its folder holds.

Beside the facts of the run it has ``files`` (the SHA-256 of every file of the folder), ``contents`` (the entries of the
folder) and ``checksum`` (that of ``run.json`` itself), by which damage is noticed and an output of topicloom is known.
``id`` is drawn for every folder that is written, so that a reader notices when another folder takes its place.
"""

import hashlib
import json
import math
import os
import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from topicloom.errors import OverlayFormatError, UnreadableInputError
from topicloom.files.write.own_files import read_regular
from topicloom.version import __version__

FORMAT = 1
RUN_FILE = "run.json"
_KINDS: dict[str, tuple[type, str]] = {
    "method": (str, "text"),
    "options": (dict, "an object"),
    "report": (dict, "an object"),
    "verified": (dict, "an object"),
    "counts": (dict, "an object"),
    "files": (dict, "an object"),
    "labels": (bool, "true or false"),
    "seed": (int, "a whole number"),
}


_INFINITY = "Infinity"  # JSON has no such number


def json_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Turn options of a method into what JSON can hold: numbers of Python, and infinity as text."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
    return {name: _INFINITY if value == math.inf else value for name, value in plain.items()}


def run_header() -> dict[str, Any]:
    """Return what every ``run.json`` starts with."""
    versions = {
        "topicloom": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }
    return {"format": FORMAT, "versions": versions}


def write_run(folder: Path, run: Mapping[str, Any]) -> None:
    """Write ``run.json`` into a folder that is complete but for it."""
    names = sorted(name for name in os.listdir(folder) if name != RUN_FILE)  # noqa: PTH208
    content = {**run, "id": secrets.token_hex(8), "contents": names, "files": _digests(folder)}
    write_json(folder / RUN_FILE, {**content, "checksum": _checksum(content)})


def update_run(folder: Path, **facts: Any) -> None:
    """Write ``run.json`` again after files were added to a folder or replaced in it."""
    run = json.loads((folder / RUN_FILE).read_bytes())
    run.pop("checksum", None)
    write_run(folder, {**run, **facts})


@dataclass(frozen=True)
class Version:
    """The result that a folder held at one moment.

    Results are never changed in place, and one that was replaced does not come back: a file that is opened before
    `check` passes belongs to this version.
    """

    folder: str
    digest: str

    @classmethod
    def of(cls, folder: str) -> Self | None:
        """Return the version of the result that a folder holds now, None if topicloom wrote none there."""
        try:
            content = read_regular(Path(folder, RUN_FILE))
            ours = "topicloom" in json.loads(content)["versions"]
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None
        return cls(folder, hashlib.sha256(content).hexdigest()) if ours else None

    def check(self) -> None:
        """Refuse to go on when the folder holds another result by now.

        Raises
        ------
        UnreadableInputError
        """
        if Version.of(self.folder) != self:
            name = os.fsencode(self.folder).decode("utf-8", "backslashreplace")
            raise UnreadableInputError(f"{name} was replaced while it was read; run it again to read what is there now")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with an indent, as strict parsers accept it (no NaN)."""
    path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def parse_run(content: bytes, source: Path) -> dict[str, Any]:
    """Parse a ``run.json``. Returns its facts.

    Raises
    ------
    OverlayFormatError
        It is no JSON, was changed after it was written, is of another format, or has a value that cannot be.
    """
    try:
        run = json.loads(content)
    except (ValueError, RecursionError):
        raise OverlayFormatError(f"{source} is not an overlay directory: its run.json is no JSON") from None
    if not isinstance(run, dict) or "format" not in run:
        raise OverlayFormatError(f"{source} is not an overlay directory: its run.json names no format")
    version = run["format"]
    if type(version) is not int or version != FORMAT:
        raise OverlayFormatError(f"{source} has overlay format {_shown(version)}; this version reads format {FORMAT}")
    checksum = run.pop("checksum", None)
    if checksum is not None and checksum != _checksum(run):
        raise OverlayFormatError(f"{source}: run.json was changed after it was written; write the overlay again")
    if isinstance(run.get("options"), dict):
        run["options"] = {name: math.inf if value == _INFINITY else value for name, value in run["options"].items()}
    _check_kinds(run, source)
    return run


def _check_kinds(run: Mapping[str, Any], source: Path) -> None:
    for name, (kind, accepted) in _KINDS.items():
        if name in run and type(run[name]) is not kind:
            raise OverlayFormatError(f"{source}: {name!r} in run.json is {_shown(run[name])}; {accepted} is accepted")
    options, verified = run.get("options", {}), run.get("verified", {})
    for name, value, kinds in (
        ("k", options.get("k", 1), (int,)),
        ("k", verified.get("k", 1), (int,)),
        ("rho", options.get("rho", 1.0), (int, float)),
    ):
        if type(value) not in kinds or not value >= 1:
            raise OverlayFormatError(f"{source}: {name!r} in run.json is {_shown(value)}; a number from 1 is accepted")
    if not 0 <= run.get("seed", 0) < 2**63:
        raise OverlayFormatError(f"{source}: 'seed' in run.json is {run['seed']}; a number from 0 is accepted")
    for name in ("counts", "files"):
        kind = int if name == "counts" else str
        if any(type(value) is not kind for value in run.get(name, {}).values()):
            raise OverlayFormatError(f"{source}: {name!r} in run.json has a value that is not {kind.__name__}")


def _checksum(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(json.loads(json.dumps(content)), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    """Hash the files of a folder by path with SHA-256, without hidden files and marks of Spark."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name[0] not in "._" and path != folder / RUN_FILE:
            with path.open("rb") as file:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
