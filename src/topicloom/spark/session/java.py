"""Java for an embedded Spark: which one, options that suit short runs, and an archive of its loaded classes.

Most of a short run is a JVM that loads and compiles Spark. An archive holds the loaded classes, ready to be mapped into
memory. A run that finds none, or one that does not fit, is slower and works. ``make dev`` makes the archive. In an
environment of your own the first short run does, when it ends.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from topicloom.errors import SparkUnavailableError, TopicloomError
from topicloom.files.write.atomic import whole_file
from topicloom.spark.session.scratch import scratch_folder

OLDEST = 17
# The quick compiler and the simple collector: less to start with, and slower in the long run.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# A damaged archive would end Java at once, so it is verified. What Java has to say about it belongs to the log, not
# among the data on stdout.
_WITH_ARCHIVE = "-XX:+VerifySharedSpaces -Xlog:disable -Xlog:all=warning:stderr"
NEW_ARCHIVE = "classes.jsa"
_ADVICE = "install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME"
UNFIT = re.compile(r'[":\\]')  # what a path in an option of Java may not have


def java_options(*, quick: bool, new_archive: Path | None = None) -> str:
    """Options for the JVM of an embedded Spark: those of short runs if asked for, and the archive if there is one.

    Where there is none, a JVM for a short run writes ``new_archive`` when it ends; `keep_archive` takes it from there.
    """
    archive = archive_file()
    options = [QUICK] if quick else []
    if archive is not None:
        options += [_WITH_ARCHIVE, f'"-XX:SharedArchiveFile={archive}"']
    elif quick and new_archive is not None and can_keep_archive():
        options += [_WITH_ARCHIVE, f'"-XX:ArchiveClassesAtExit={new_archive}"']
    return " ".join(options)


def archive_file() -> Path | None:
    """The archive that was made for this Java and this Spark. Returns None where there is none that can be used."""
    place = archive_place()
    if place is None:
        return None
    with suppress(OSError):
        for found in place.parent.glob(f"{place.name}-*.jsa"):
            # of another length than its name says: cut off, which ends Java before it can verify anything
            size = found.name.removeprefix(f"{place.name}-").removesuffix(".jsa")
            if size == str(found.stat().st_size) and os.access(found, os.R_OK):
                return found
    return None


def archive_place() -> Path | None:
    """Folder and first part of the name of the archive: in the virtual environment, or else in the user's cache."""
    java, spark = java_program(), find_spec("pyspark")
    if java is None or spark is None or not spark.submodule_search_locations:
        return None
    try:
        real = Path(java).resolve(strict=True)
        facts = (str(real), real.stat().st_mtime_ns, real.stat().st_size, str(spark.submodule_search_locations[0]))
    except OSError:
        return None
    in_environment = Path(sys.prefix) / "var" / "topicloom"
    in_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "topicloom"
    folder = in_cache if sys.prefix == sys.base_prefix else in_environment
    place = folder / f"java-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}"
    return None if UNFIT.search(str(place)) else place


def java_program() -> str | None:
    """The java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


def check_java() -> None:
    """Refuse to start Spark without a Java that runs it.

    Raises
    ------
    SparkUnavailableError
    """
    java, home = java_program(), os.environ.get("JAVA_HOME")
    if java is None:
        where = f" in JAVA_HOME={home}" if home else ""
        raise SparkUnavailableError(f"Spark needs Java, and none was found{where}: {_ADVICE}")
    version = _version(java)
    if version is not None and version < OLDEST:
        raise SparkUnavailableError(f"Spark needs Java {OLDEST} or newer, and {java} is Java {version}: {_ADVICE}")


@cache
def _version(java: str) -> int | None:
    """Major version of a Java: from the file beside it that says so, or else by asking it, which takes a moment."""
    with suppress(OSError):
        release = (Path(java).resolve().parents[1] / "release").read_text(encoding="utf-8", errors="replace")
        said = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', release)
        if said is not None:
            return int(said[1])
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    said = re.search(r'version "(?:1\.)?(\d+)', answer)
    return None if said is None else int(said[1])


def can_keep_archive() -> bool:
    """Whether there is a place for an archive, and it has none."""
    place = archive_place()
    if place is None or archive_file() is not None:
        return False
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
    return place.parent.is_dir() and os.access(place.parent, os.W_OK)


def keep_archive(written: Path) -> Path | None:
    """Copy an archive to its place. None where nothing was written, or it cannot be kept."""
    place = archive_place()
    if place is None or not written.is_file():
        return None
    try:
        kept = place.with_name(f"{place.name}-{written.stat().st_size}.jsa")
        with written.open("rb") as source, whole_file(kept) as copy:
            shutil.copyfileobj(source, copy)
        for other in set(place.parent.glob("java-*.jsa")) - {kept}:  # of a Java or a Spark that is no longer there
            other.unlink(missing_ok=True)
    except (OSError, TopicloomError):
        return None
    return kept


def make_archive() -> Path | None:
    """Make the archive by a small run of the real thing, unless it is there. None where it cannot be kept."""
    if not can_keep_archive():
        return archive_file()
    with scratch_folder() as folder:
        archive = folder / NEW_ARCHIVE
        command = [
            sys.executable,
            "-c",
            _RUN,
            f"spark.driver.extraJavaOptions={java_options(quick=True, new_archive=archive)}",
        ]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return keep_archive(archive)


# Python ends before the JVM has written, so the JVM is waited for.
_RUN = """
import sys
from pathlib import Path
from topicloom.cli.app import main
Path("subs.csv").write_text("node,topic\\n" + "".join(f"n{i % 7},t{i % 3}\\n" for i in range(20)) + "bad\\n")
given = ["--master", "local[2]", "--conf", sys.argv[1]]
for engine in ("spark", "distributed"):
    main(["design", "subs.csv", engine, "--engine", engine, *given])
from pyspark import SparkContext
java = SparkContext._gateway.proc
java.stdin.close()
java.wait()
"""

if __name__ == "__main__":
    archive = make_archive()
    sys.exit(0 if archive else "no archive of Spark's classes could be made here; runs work without it, only slower")
