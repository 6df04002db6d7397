"""Links, pipes, folders, devices and files of others where ours are expected: none is followed or waited for."""

import itertools
import os
import random
import shutil
import stat
from pathlib import Path
from typing import Any

import topicloom as tl
from faults.harness import Tally, case, in_child
from topicloom.churn import read_state
from topicloom.errors import TopicloomError

BESIDE_STATES = ("-lock", "-wal", "-shm", "-journal", "-new", "-new-wal", "-new-shm", "-new-journal")
IN_OVERLAYS = ("run.json", "links", "links/part-00000.parquet", "nodes/part-00000.parquet", "metrics.json")
KINDS = ("link", "dangling link", "link to a device", "pipe", "folder", "socket", *(
    ("device", "theirs") if os.geteuid() == 0 else ()
))  # fmt: skip
_OTHER = 12345  # a user id that is not ours
_PRECIOUS = b"precious" * 100
_PATIENCE = 20.0
GIVEN = tl.ring_per_topic(tl.Interest.from_pairs(list("abcdef"), ["news"] * 6))


def put(kind: str, path: Path, precious: Path) -> None:
    """Put something of a kind at a path, in place of what is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
        (path / "theirs").write_bytes(_PRECIOUS)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        os.mknod(path, 0o600 | stat.S_IFSOCK)
    elif kind == "device":
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # as /dev/zero
    elif kind == "theirs":
        path.write_bytes(_PRECIOUS)
        os.chown(path, _OTHER, _OTHER)
    else:
        to = {"link": precious, "dangling link": precious.with_name("made"), "link to a device": Path("/dev/zero")}
        path.symlink_to(to[kind])


def _picture(folder: Path) -> dict[str, Any]:
    """Everything in a folder: kind, mode, owner, target of a link, bytes of a file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        at = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if stat.S_ISREG(at.st_mode) else b""
        found[path.relative_to(folder).as_posix()] = (at.st_mode, at.st_uid, content)
    return found


def _made(state: Path) -> None:
    tl.Maintainer.open(state, interest=GIVEN.interest, overlay=GIVEN).close()


def _lived(state: Path) -> None:
    with tl.Maintainer.open(state) as m:
        m.leave("a")


def _look_at(tally: Tally, folder: Path, what: str, function: Any, *arguments: Any) -> None:
    """Call a function in a child: an error of ours, and nothing in the folder has changed."""
    before = _picture(folder)
    answer = in_child(function, *arguments, patience=_PATIENCE)
    tally.damaged += 1
    tally.judge(answer, what, accept=TopicloomError)
    if answer.kind == "returned":
        tally.wrong.append(f"{what}: accepted")
    after = _picture(folder)
    changed = sorted(name for name in before if after.get(name) != before[name])
    if changed or set(after) - set(before) - {"state.db-lock"}:
        tally.wrong.append(f"{what}: changed {changed}, made {sorted(set(after) - set(before))}")


@case(short=48, long=192)
def strangers_beside_states(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """Something else beside a state, new or old: it is refused by name, and neither it nor its target is touched."""
    ways = [*itertools.product(KINDS, BESIDE_STATES, ("new", "open", "read"))]
    for number, (kind, ending, way) in enumerate(draw.sample(ways, min(times, len(ways)))):
        place = folder / str(number)
        place.mkdir()
        (place / "precious").write_bytes(_PRECIOUS)
        if way != "new":
            _made(place / "state.db")
        put(kind, place / f"state.db{ending}", place / "precious")
        what = f"strangers_beside_states: {kind} at {ending}, {way}"
        _look_at(tally, place, what, {"new": _made, "open": _lived, "read": read_state}[way], place / "state.db")
        shutil.rmtree(place)


@case(short=16, long=48)
def strangers_in_overlays(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """Something else in an overlay directory: it is not waited for when it is read, nor is the directory replaced."""
    ways = [*itertools.product([kind for kind in KINDS if kind != "theirs"], IN_OVERLAYS)]
    for number, (kind, name) in enumerate(draw.sample(ways, min(times, len(ways)))):
        place = folder / str(number)
        place.mkdir()
        (place / "precious").write_bytes(_PRECIOUS)
        GIVEN.save(place / "overlay")
        put(kind, place / "overlay" / name, place / "precious")
        what = f"strangers_in_overlays: {kind} at {name}"
        if name != "metrics.json":  # which nothing reads
            _look_at(tally, place, f"{what}, read", tl.Overlay.load, place / "overlay")
        if name == "run.json":
            _look_at(tally, place, f"{what}, replaced", _replace, place / "overlay")
        tally.judge(in_child(GIVEN.save, place / "other", patience=_PATIENCE), f"{what}, beside")
        shutil.rmtree(place)


def _replace(path: Path) -> None:
    GIVEN.save(path, overwrite=True)


@case(short=7, long=32)
def strangers_for_destinations(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """Something else at the place of a result, or where an older one is set aside: it is refused, or left alone."""
    ways = [*itertools.product(KINDS, ("overlay", ".overlay.previous"))]
    for number, (kind, name) in enumerate(draw.sample(ways, min(times, len(ways)))):
        place = folder / str(number)
        place.mkdir()
        (place / "precious").write_bytes(_PRECIOUS)
        put(kind, place / name, place / "precious")
        what = f"strangers_for_destinations: {kind} at {name}"
        if name == "overlay":
            _look_at(tally, place, what, _replace, place / "overlay")
            _look_at(tally, place, what, tl.Overlay.load, place / "overlay")
        elif kind != "folder":  # a folder there is an older result that a killed process has set aside
            _look_at(tally, place, what, tl.Overlay.load, place / "overlay")
        if (place / "precious").read_bytes() != _PRECIOUS:
            tally.lost.append(f"{what}: the target of a link was written to")
        shutil.rmtree(place)
