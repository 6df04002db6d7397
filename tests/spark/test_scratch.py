import os
import subprocess
import sys
import tempfile

import pytest

from topicloom.spark.session.scratch import scratch_folder

HOLDS = """
import sys
from topicloom.spark.session.scratch import scratch_folder
with scratch_folder() as place:
    (place / "left.txt").write_text("x")
    print(place, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_the_next_run_sweeps_what_a_killed_one_left_and_nothing_else(temporary):
    (temporary / "topicloom-run-foreign").mkdir()  # no lock inside: not made by us
    (temporary / "topicloom-spark-kept.log").write_text("what a user was told of")
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdin=-1, stdout=-1, text=True) as process:
        left = process.stdout.readline().strip()
        with scratch_folder() as mine:
            assert (temporary / left).is_dir() and mine.is_dir()  # its owner lives
        assert (temporary / left).is_dir() and not mine.exists()
        process.kill()
    with scratch_folder() as mine:
        assert names(temporary) == {"topicloom-run-foreign", "topicloom-spark-kept.log", mine.name}
    assert names(temporary) == {"topicloom-run-foreign", "topicloom-spark-kept.log"}


def test_a_link_of_that_name_is_not_followed(temporary, tmp_path_factory):
    precious = tmp_path_factory.mktemp("precious")
    (precious / "in-use").touch()
    (temporary / "topicloom-run-link").symlink_to(precious)
    with scratch_folder():
        assert (precious / "in-use").exists()


def test_a_folder_is_removed_when_the_block_fails(temporary):
    with pytest.raises(KeyError), scratch_folder():
        raise KeyError
    assert not names(temporary)
    assert os.access(temporary, os.W_OK)
