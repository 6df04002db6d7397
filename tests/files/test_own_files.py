"""Files beside a path of the user's are never followed, waited for, or taken from others; URLs are no folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import topicloom as tl
from topicloom.churn import read_state
from topicloom.cli.app import main
from topicloom.errors import InvalidOptionError, OutputExistsError, StateFormatError
from topicloom.files.write.atomic import recover, whole_directory, whole_file
from topicloom.files.write.own_files import open_own

ENDINGS = ("-lock", "-wal", "-shm", "-journal", "-new", "-new-wal", "-new-journal")
OTHER = 12345  # a user id that is not ours


def overlay() -> tl.Overlay:
    return tl.ring_per_topic(tl.Interest.from_pairs(list("abcd"), ["news"] * 4))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def put(kind: str, path: Path, precious: Path) -> None:
    """Put something of a kind where a file of ours would be."""
    if kind == "link":
        path.symlink_to(precious)
    elif kind == "dangling":
        path.symlink_to(precious.with_name("made by us"))
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # as /dev/zero
    else:
        path.write_text("theirs")
        os.chown(path, OTHER, OTHER)


KINDS = [
    pytest.param(
        kind, marks=pytest.mark.skipif(kind in ("device", "theirs") and os.geteuid() != 0, reason="needs root")
    )
    for kind in ("link", "dangling", "pipe", "folder", "device", "theirs")
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_state_is_not_opened_with_something_else_beside_it(kind, ending, tmp_path):
    precious, state = tmp_path / "precious", tmp_path / "state.db"
    precious.write_bytes(b"p" * 500)
    precious.chmod(0o644)
    given = overlay()
    for there in (False, True):
        if there:
            tl.Maintainer.open(state, interest=given.interest, overlay=given).close()
            (tmp_path / ("state.db" + ending)).unlink(missing_ok=True)
        put(kind, tmp_path / ("state.db" + ending), precious)
        before = names(tmp_path)
        ways = [lambda: tl.Maintainer.open(state)] if there else []
        if there:
            ways.append(lambda: read_state(state))
        else:
            ways.append(lambda: tl.Maintainer.open(state, interest=given.interest, overlay=given))
        for way in ways:
            with pytest.raises((OutputExistsError, StateFormatError), match=f"state.db{ending} (is|belongs)"):
                way()
        assert precious.read_bytes() == b"p" * 500 and precious.stat().st_mode & 0o777 == 0o644
        assert names(tmp_path) == before
        if (tmp_path / ("state.db" + ending)).is_dir():
            (tmp_path / ("state.db" + ending)).rmdir()
        else:
            (tmp_path / ("state.db" + ending)).unlink()
    tl.Maintainer.open(state).close()


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_state_is_a_regular_file(kind, tmp_path):
    if kind == "device" and os.geteuid() != 0:
        pytest.skip("needs root")
    put(kind, tmp_path / "state.db", tmp_path)
    given = overlay()
    with pytest.raises(StateFormatError, match="no regular file"):
        tl.Maintainer.open(tmp_path / "state.db", interest=given.interest, overlay=given)
    assert names(tmp_path) == ["state.db"]


def test_a_file_that_is_exchanged_for_a_link_meanwhile_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "precious").write_text("p")
    (tmp_path / "ours").symlink_to(tmp_path / "precious")
    monkeypatch.setattr(Path, "lstat", lambda self: (tmp_path / "precious").stat())
    with pytest.raises(OSError, match="symbolic"):
        open_own(tmp_path / "ours", os.O_RDWR | os.O_CREAT, beside=tmp_path)


def test_a_link_is_not_put_back_as_what_was_set_aside(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / ".out.previous").symlink_to(tmp_path / "theirs")
    recover(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / ".out.previous").unlink()
    (tmp_path / ".out.previous").mkdir()
    recover(tmp_path / "out")
    assert (tmp_path / "out").is_dir()


URLS = ["s3a://bucket/overlay", "dbfs:/overlay", "gs://b/o", "abfss://c@a/o", "hdfs://h/o", "file:///tmp/no-such/o"]


@pytest.mark.parametrize("url", URLS)
def test_a_url_is_no_folder_of_this_machine(url, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = overlay()
    given.save("here")
    assert main(["routes", "here", "plan"]) == 0
    plan = tl.routing.Plan.load("plan")

    def whole() -> None:
        with whole_directory(Path(url)):
            pass

    def one() -> None:
        with whole_file(Path(url)):
            pass

    def opened() -> None:
        tl.Maintainer.open(url, interest=given.interest, overlay=given)

    ways = [whole, one, opened, lambda: given.save(url), lambda: tl.Overlay.load(url), lambda: read_state(url),
            lambda: plan.save(url), lambda: tl.routing.Plan.load(url)]  # fmt: skip
    for way in ways:
        with pytest.raises(InvalidOptionError, match="is the address of a store"):
            way()
    (tmp_path / "subs.csv").write_text("node,topic\na,t\nb,t\n")
    commands = (
        ["design", "subs.csv", url, "--engine", "memory"],
        ["refine", "here", url],
        ["refine", url, "out"],
        ["churn", "here", "subs.csv", url],
        ["routes", "here", url],
        ["routes", url, "out"],
        ["status", url],
        ["plan", "subs.csv", "--from", "here", "--events", url],
        ["generate", url, "--nodes", "5", "--topics", "3", "--subscriptions", "2"],
        ["join", url, "here", "here"],
        ["digest", url, "out", "--salt", "s"],
        ["drill", url],
    )
    for command in commands:
        assert main(command) == 2, command
        assert "is the address of a store" in capsys.readouterr().err, command
    assert names(tmp_path) == ["here", "plan", "subs.csv"]


def test_a_folder_whose_name_ends_in_a_colon_can_still_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    overlay().save("s3a:")
    assert tl.Overlay.load(tmp_path / "s3a:").n_links == 4
    overlay().save(tmp_path / "deep" / "a:" / "b")
    assert tl.Overlay.load(tmp_path / "deep" / "a:" / "b").n_links == 4


def test_plan_writes_its_events_over_older_ones_if_told_to(tmp_path, capsys):
    overlay().save(tmp_path / "o")
    (tmp_path / "today.csv").write_text("node,topic\n" + "".join(f"{node},news\n" for node in "abcde"))
    events = tmp_path / "events.jsonl"
    given = ["plan", str(tmp_path / "today.csv"), "--from", str(tmp_path / "o"), "--events", str(events)]
    assert main(given) == 1
    first = events.read_text()
    events.write_text("older\n")
    assert main(given) == 2 and events.read_text() == "older\n"
    assert "--overwrite" in capsys.readouterr().err
    assert main([*given, "--overwrite"]) == 1 and events.read_text() == first
    events.unlink()
    os.mkfifo(events)
    assert main([*given, "--overwrite"]) == 2
    assert "no regular file" in capsys.readouterr().err and events.is_fifo()


def test_a_result_that_replaces_another_is_on_the_disk_before_the_other_goes(tmp_path):
    """Every file and folder of it is synced, then the names are exchanged, then the old one is removed."""
    overlay().save(tmp_path / "o")
    code = (
        "import os, sys, ctypes, topicloom as tl\n"
        "from pathlib import Path\n"
        "from topicloom.files.write import atomic\n"
        "seen = []\n"
        "sync = os.fsync\n"
        "def fsync(handle):\n"
        "    seen.append(os.readlink(f'/proc/self/fd/{handle}'))\n"
        "    sync(handle)\n"
        "os.fsync = fsync\n"
        "out = Path(sys.argv[1])\n"
        "inode = out.stat().st_ino\n"
        "exchange = atomic._exchange\n"
        "def watched(one, other):\n"
        "    wanted = {str(one)} | {str(path) for path in one.rglob('*')}\n"
        "    print('unsynced', sorted(wanted - set(seen)))\n"
        "    return exchange(one, other)\n"
        "atomic._exchange = watched\n"
        "tl.Overlay.load(out).save(out, overwrite=True)\n"
        "print('replaced', out.stat().st_ino != inode)\n"
    )
    found = subprocess.run([sys.executable, "-c", code, tmp_path / "o"], capture_output=True, text=True, check=True)
    assert found.stdout == "unsynced []\nreplaced True\n"


def test_two_renames_that_belong_together_are_done_under_the_lock_of_their_folder(tmp_path, monkeypatch):
    """Where names cannot be exchanged in one step, a reader that recovers waits until both renames are done."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    from topicloom.files.write import atomic

    monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    overlay().save(tmp_path / "o")
    held = []
    rename = Path.rename

    def watched(self, target):
        if self.parent == tmp_path:
            handle = os.open(tmp_path, os.O_RDONLY)
            try:
                flock(handle, LOCK_EX | LOCK_NB)
                held.append(False)
            except BlockingIOError:
                held.append(True)
            finally:
                os.close(handle)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", watched)
    overlay().save(tmp_path / "o", overwrite=True)
    assert held == [True, True]
    held.clear()
    rename(tmp_path / "o", tmp_path / ".o.previous")
    assert tl.Overlay.load(tmp_path / "o").n_links == 4
    assert held == [True]
