import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from topicloom.errors import OutputExistsError
from topicloom.files.write import atomic
from topicloom.files.write.atomic import whole_directory, whole_file


def anything(folder):
    return None


def write(folder, text, **options):
    with whole_directory(folder, ours=anything, **options) as staging:
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
    with pytest.raises(error), whole_directory(tmp_path / "out", overwrite=True, ours=anything) as staging:
        (staging / "file").write_text("new")
        raise error
    assert (tmp_path / "out" / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("exchange", [True, False], ids=["renameat2", "two renames"])
def test_an_existing_directory_is_replaced_only_with_consent(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    write(tmp_path / "out", "old")
    with pytest.raises(OutputExistsError, match="overwrite=True"):
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
        from topicloom.files.write import atomic
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
        with atomic.whole_directory(out, overwrite=True, ours=lambda folder: None) as staging:
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


@pytest.mark.parametrize("exchange", [True, False], ids=["renameat2", "two renames"])
def test_threads_that_write_to_one_place_leave_one_whole_directory(tmp_path, monkeypatch, exchange):
    """C8: every look at it meanwhile finds the files of one writer, and at the end nothing lies beside it."""
    if not exchange:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    errors = []

    def writer(number):
        try:
            for turn in range(15):
                with whole_directory(tmp_path / "out", overwrite=True, ours=anything) as staging:
                    (staging / "one").write_text(f"{number}-{turn}")
                    (staging / "two").write_text(f"{number}-{turn}")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=writer, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert (tmp_path / "out" / "one").read_text() == (tmp_path / "out" / "two").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_of_two_writers_without_consent_the_second_is_refused_and_the_first_result_stays(tmp_path):
    def second():
        write(tmp_path / "out", "second")

    with pytest.raises(OutputExistsError, match="exists"), whole_directory(tmp_path / "out") as staging:
        second()
        (staging / "file").write_text("first")
    assert (tmp_path / "out" / "file").read_text() == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failing_run_leaves_no_folder_that_it_made(tmp_path):
    """Defect 13."""
    (tmp_path / "there").mkdir()
    with pytest.raises(RuntimeError), whole_directory(tmp_path / "there" / "a" / "b" / "out"):
        raise RuntimeError
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


def test_leftovers_of_dead_processes_are_removed_and_those_of_living_ones_stay(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = socket.gethostname()
    names = [f".out.partial-{host}-{dead.pid}-ab12", f".out.partial-{host}-{dead.pid}", f".out.partial-{host}-1-ab12"]
    for name in (*names, f".outer.partial-{host}-{dead.pid}-ab12"):
        (tmp_path / name).mkdir()
    write(tmp_path / "out", "new")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([names[2], f".outer.partial-{host}-{dead.pid}-ab12", "out"])


def test_a_disk_without_room_is_a_sentence_and_the_old_directory_stays(tmp_path):
    """U5: a limit on the size of files stands for the full disk; it fails in the same call."""
    write(tmp_path / "out", "old")
    program = textwrap.dedent(
        f"""
        import resource
        from pathlib import Path
        from topicloom.errors import OutputExistsError
        from topicloom.files.write.atomic import whole_directory, whole_file
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        out = Path({str(tmp_path)!r})
        try:
            with whole_directory(out / "out", overwrite=True, ours=lambda folder: None) as staging:
                (staging / "file").write_bytes(bytes(1000))
        except OutputExistsError as error:
            print(error)
        try:
            with whole_file(out / "file") as file:
                file.write(bytes(1000))
        except OutputExistsError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, before)  # make coverage writes a file when this ends
        """
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    sentences = [f"cannot write {tmp_path / name}: file too large" for name in ("out", "file")]
    assert done.stdout.splitlines() == sentences
    assert (tmp_path / "out" / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_directories_and_files_get_the_mode_that_the_umask_gives(tmp_path, mask):
    """U8, docs/decisions/0007."""
    before = os.umask(mask)
    try:
        write(tmp_path / "out", "new")
        with whole_file(tmp_path / "file") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o777 & ~mask
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_appears_whole_or_not_at_all(tmp_path, durable):
    path = tmp_path / "file"
    with whole_file(path, durable=durable) as file:
        file.write(b"old")
        assert not path.exists()
    with pytest.raises(RuntimeError), whole_file(path, durable=durable) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    with pytest.raises(OutputExistsError, match="cannot write"), whole_file(tmp_path / "none" / "file"):
        pass


def test_names_that_are_not_utf_8_are_written(tmp_path):
    """U7."""
    out = Path(os.fsdecode(os.fsencode(tmp_path) + b"/o\xff"))
    write(out, "new")
    write(out, "newer", overwrite=True)
    assert (out / "file").read_text() == "newer"
