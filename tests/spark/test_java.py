"""The archive of Spark's classes: used where it fits, and never a reason to fail."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.scripts import ENDS_LIKE_A_COMMAND
from topicloom.spark.session import java


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where the archive belongs, with nothing there."""
    monkeypatch.setattr(java, "archive_place", lambda: tmp_path / "java-of tests")
    return tmp_path / "java-of tests"


def put(place: Path, content: bytes, length: int) -> Path:
    archive = place.with_name(f"{place.name}-{length}.jsa")
    archive.write_bytes(content)
    return archive


def test_without_an_archive_only_the_options_of_short_runs_are_given(place):
    assert java.java_options(quick=True) == java.QUICK
    assert java.java_options(quick=False) == ""


def test_an_archive_is_used_by_every_run(place):
    archive = put(place, b"four", 4)
    for quick in (True, False):
        assert f'"-XX:SharedArchiveFile={archive}"' in java.java_options(quick=quick)


def test_an_archive_of_another_length_than_its_name_says_is_ignored(place):
    put(place, b"cut sho", 8)
    assert java.archive_file() is None


def test_a_folder_in_place_of_the_archive_is_ignored(place):
    place.with_name(f"{place.name}-0.jsa").mkdir()
    assert java.archive_file() is None


@pytest.mark.skipif(java.java_program() is None, reason="there is no Java")
def test_java_starts_with_an_archive_that_is_none_and_keeps_quiet_about_it(place):
    put(place, b"four", 4)
    command = [java.java_program(), *shlex.split(java.java_options(quick=True)), "-Xshare:auto", "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "version" in done.stderr


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(java, "archive_place", lambda: tmp_path / "file" / "java-x")
    assert java.make_archive() is None and java.archive_file() is None


def test_another_java_has_another_archive(tmp_path, monkeypatch):
    places = set()
    for version in ("17", "21"):
        program = tmp_path / version / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / version))
        places.add(java.archive_place())
    assert len(places) == 2 and None not in places
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert java.archive_place() is None


_TWO_RUNS = """
import sys
from pathlib import Path
from topicloom.cli.app import main
from topicloom.spark.session import java
folder = Path(sys.argv[1])
java.archive_place = lambda: folder / "kept" / "java-of tests"
for number in (1, 2):
    assert main(["design", str(folder / "subs.csv"), str(folder / str(number))]) == 0
    print(*(f"{path.name} {path.stat().st_mtime_ns}" for path in (folder / "kept").iterdir()), sep=",")
ended.append(True)
"""


@pytest.mark.skipif(java.java_program() is None, reason="there is no Java")
def test_the_first_short_run_of_an_environment_keeps_an_archive_for_the_second(tmp_path):
    (tmp_path / "subs.csv").write_text("node,topic\na,x\nb,x\n")
    command = [sys.executable, "-c", ENDS_LIKE_A_COMMAND + _TWO_RUNS, str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    first, second = (line for line in done.stdout.splitlines() if line.startswith("java-"))
    assert first == second and "," not in first
    name, size = first.split(".jsa")[0].rsplit("-", 1)
    assert (tmp_path / "kept" / f"{name}-{size}.jsa").stat().st_size == int(size) > 2**20
    assert json.loads((tmp_path / "2" / "run.json").read_text())["counts"]["links"] == 1


def test_a_place_that_java_would_misread_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(java.sys, "prefix", str(tmp_path / "one:two"))
    assert java.archive_place() is None
