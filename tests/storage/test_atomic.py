import os
import signal
import subprocess
import sys
import textwrap

import pytest

from topicloom.errors import OutputExistsError
from topicloom.storage import atomic
from topicloom.storage.atomic import whole_directory


def write(folder, text, **options):
    with whole_directory(folder, **options) as staging:
        (staging / "file").write_text(text)


def test_a_directory_appears_when_the_block_ends(tmp_path):
    with whole_directory(tmp_path / "a" / "out") as staging:
        (staging / "file").write_text("new")
        assert not (tmp_path / "a" / "out").exists()
    assert (tmp_path / "a" / "out" / "file").read_text() == "new"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["out"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path, error):
    write(tmp_path / "out", "old")
    with pytest.raises(error), whole_directory(tmp_path / "out", overwrite=True) as staging:
        (staging / "file").write_text("new")
        raise error
    assert (tmp_path / "out" / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("exchange", [True, False], ids=["renameat2", "two renames"])
def test_an_existing_directory_is_replaced_only_with_consent(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    write(tmp_path / "out", "old")
    with pytest.raises(OutputExistsError, match="--overwrite"):
        write(tmp_path / "out", "new")
    write(tmp_path / "out", "new", overwrite=True)
    assert (tmp_path / "out" / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_or_a_link_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(OutputExistsError, match="not a directory"):
            write(tmp_path / name, "new", overwrite=True)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputExistsError, match="permission"):
        write(tmp_path / "out", "new")


@pytest.mark.parametrize("exchange", ["atomic._exchange", "lambda one, other: False"], ids=["renameat2", "two renames"])
@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_killed_writer_leaves_the_old_or_the_new_one_whole(tmp_path, exchange, moment):
    """SIGKILL while writing, between the two renames, or after them; the next writer cleans up."""
    write(tmp_path / "out", "old")
    program = textwrap.dedent(
        f"""
        import os, signal
        from pathlib import Path
        from topicloom.storage import atomic
        moment, rename, calls = "{moment}", Path.rename, []
        atomic._exchange = {exchange}
        def die(*_):
            os.kill(os.getpid(), signal.SIGKILL)
        def renamed(self, target):
            calls.append(target)
            result = rename(self, target)
            if moment == "between" and len(calls) == 1:
                die()
            return result
        Path.rename = renamed
        out = Path({str(tmp_path / "out")!r})
        def remove(path, **_):
            if (out / "file").exists() and (out / "file").read_text() == "new":
                die()
        if moment == "after":
            atomic.shutil.rmtree = remove
        with atomic.whole_directory(out, overwrite=True) as staging:
            (staging / "file").write_text("new")
            if moment == "before":
                die()
        """
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    two_renames = exchange.startswith("lambda")
    assert done.returncode == (0 if moment == "between" and not two_renames else -signal.SIGKILL)
    atomic.recover(tmp_path / "out")
    expected = "old" if moment == "before" or (moment == "between" and two_renames) else "new"
    assert (tmp_path / "out" / "file").read_text() == expected
    write(tmp_path / "out", "newest", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
