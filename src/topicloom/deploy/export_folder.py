"""The folder of an export: written whole or not at all, with hashes, the order of starting and a table of brokers."""

import csv
import io
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from topicloom.deploy.targets import Export
from topicloom.storage.atomic import whole_directory

BROKERS, ORDER, MANIFEST = "brokers.csv", "START_ORDER", "MANIFEST"


def export_files(export: Export) -> dict[str, str]:
    """All files of an export folder: path to text.

    ``brokers.csv`` has node, slug and file; ``START_ORDER`` one line per level, brokers of a line may start together;
    ``MANIFEST`` the SHA-256 of every other file, as ``sha256sum --check MANIFEST`` reads it.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([("node", "slug", "file"), *sorted(export.brokers)])
    order = "".join(" ".join(level) + "\n" for level in export.levels)
    files = {**export.files, BROKERS: table.getvalue(), ORDER: order}
    hashes = [f"{sha256(files[path].encode()).hexdigest()}  {path}\n" for path in sorted(files)]
    return {**files, MANIFEST: "".join(hashes)}


def write_export(
    export: Export, destination: Path, *, overwrite: bool = False, inputs: Iterable[str | Path] = ()
) -> int:
    """Write the folder of an export, whole or not at all. Returns the number of files.

    Only an older export is replaced, and none that holds a file which its MANIFEST does not list or an input.

    Raises
    ------
    OutputExistsError
        The folder exists and ``overwrite`` is false, or it cannot be written.
    """
    files = export_files(export)
    with whole_directory(destination, overwrite=overwrite, inputs=inputs, ours=not_our_export) as staging:
        write_files(files, staging)
    return len(files)


def not_our_export(folder: Path) -> str | None:
    """Say why a folder is not an export that may be replaced; None if it is, or if it is empty."""
    held = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    if not held:
        return None
    try:
        lines = (folder / MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return f"it has no {MANIFEST} that topicloom wrote"
    strange = sorted(set(held) - {line.partition("  ")[2] for line in lines} - {MANIFEST})
    return f"it also holds {strange[0]!a}, which topicloom did not write" if strange else None


def write_files(files: dict[str, str], folder: Path) -> None:
    """Write texts below a folder, byte for byte."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
