"""The folder of an export: written whole or not at all, with hashes, the order of starting and a table of brokers."""

import csv
import io
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


def write_export(export: Export, destination: Path, *, overwrite: bool = False) -> int:
    """Write the folder of an export, whole or not at all. Returns the number of files.

    Raises
    ------
    OutputExistsError
        The folder exists and ``overwrite`` is false, or it cannot be written.
    """
    files = export_files(export)
    with whole_directory(destination, overwrite=overwrite) as staging:
        write_files(files, staging)
    return len(files)


def write_files(files: dict[str, str], folder: Path) -> None:
    """Write texts below a folder, byte for byte."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
