"""Overlay directories: killed writers, a reader meanwhile, damaged files, a full disk."""

import random
import resource
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import topicloom as tl
from faults.harness import Tally, case, in_child, killed_child, killed_command
from topicloom.cli.app import main
from topicloom.errors import OutputExistsError, OverlayFormatError

FIRST = tl.ring_per_topic(tl.generate(nodes=40, topics=10, subscriptions=4, seed=1))
SECOND = tl.Overlay(FIRST.interest, FIRST.links[::2], "half")
Tell = Callable[[bytes], Any]
_READ = ("links", "nodes", "run.json", "subscriptions", "topics")


def _one_of_them(tally: Tally, path: Path, what: str) -> None:
    loaded = tally.judge(in_child(tl.Overlay.load, path), what)
    if loaded is not None and loaded not in (FIRST, SECOND):
        tally.wrong.append(f"{what}: neither the old overlay nor the new one")


def _save_on(tell: Tell, path: Path) -> None:
    tell(b"begun\n")
    while True:
        SECOND.save(path, overwrite=True)
        FIRST.save(path, overwrite=True)


@case(short=4, long=150)
def kill_saves(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """SIGKILL of `Overlay.save` over an overlay: the old or the new one is whole, and leftovers go with the next."""
    path = folder / "overlay"
    FIRST.save(path)
    for number in range(times):
        killed_child(_save_on, path, after=draw.random() * 0.2, wait_for=b"begun\n")
        tally.kills += 1
        _one_of_them(tally, path, f"kill {number} of save")
    FIRST.save(path, overwrite=True)
    if [left.name for left in folder.iterdir()] != ["overlay"]:
        tally.wrong.append(f"leftovers after kills: {sorted(left.name for left in folder.iterdir())}")


def _join_on(tell: Tell, parts: list[Path], path: Path) -> None:
    tell(b"begun\n")
    while True:
        main(["join", str(path), *map(str, parts), "--overwrite", "--json"])


@case(short=2, long=30)
def kill_joins(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """SIGKILL of ``topicloom join --overwrite``."""
    parts, path = [folder / "a", folder / "b"], folder / "both"
    for number, part in enumerate(parts):
        names = [f"{number}-{node}" for node in range(20)]
        tl.ring_per_topic(tl.Interest.from_pairs(names, [f"t{node % 3}" for node in range(20)])).save(part)
    main(["join", str(path), *map(str, parts), "--json"])
    expected = tl.Overlay.load(path)
    for number in range(times):
        killed_child(_join_on, parts, path, after=draw.random(), wait_for=b"begun\n")
        tally.kills += 1
        loaded = tally.judge(in_child(tl.Overlay.load, path), f"kill {number} of join")
        if loaded is not None and loaded != expected:
            tally.wrong.append(f"kill {number} of join left another overlay")


@case(short=0, long=20)
def kill_designs(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """SIGKILL of ``topicloom design --overwrite`` on Spark, with everything that it started."""
    path, table = folder / "overlay", folder / "subs.csv"
    FIRST.save(path)
    table.write_text("node,topic\n" + "".join(f"n{n},t{n % 7}\nn{n},t{n % 5}\n" for n in range(60)))
    arguments = ["design", str(table), str(path), "--method", "ring-pt", "--overwrite", "--master", "local[1]"]
    before = [FIRST]
    for number in range(times):
        killed_command(arguments, after=1 + draw.random() * 40)
        tally.kills += 1
        tally.spark += 1
        loaded = tally.judge(in_child(tl.Overlay.load, path), f"kill {number} of design")
        if loaded is not None and loaded not in before:
            if loaded.interest.n_nodes != 60 or not loaded.verify().ok:
                tally.wrong.append(f"kill {number} of design left {loaded}")
            before.append(loaded)


def _damage(path: Path, draw: random.Random) -> str:
    """Damage one file that is read, or take it away."""
    files = sorted(file for part in _READ for file in [path / part, *(path / part).glob("*")] if file.is_file())
    file = draw.choice(files)
    content = bytearray(file.read_bytes())
    way = draw.choice(["flip", "flip", "truncate", "remove", "slice", "add"])
    at = draw.randrange(len(content))
    if way == "flip":
        content[at] ^= 1 << draw.randrange(8)
    elif way == "truncate":
        del content[at:]
    elif way == "slice":
        del content[at : at + draw.randrange(1, 50)]
    elif way == "add":
        content[at:at] = draw.randbytes(draw.randrange(1, 50))
    file.unlink() if way == "remove" else file.write_bytes(content)
    return f"{way} {file.relative_to(path)} at {at}"


@case(short=15, long=500)
def damage_overlays(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """A damaged directory is refused in a sentence, or what it says is unharmed; also one of the first format."""
    FIRST.save(folder / "new")
    old = Path(__file__).parents[1] / "data" / "designed-by-32e5662"
    sources = [(folder / "new", FIRST), (old, tl.Overlay.load(old))]
    for number in range(times):
        source, expected = sources[0 if draw.random() < 0.8 else 1]
        path = shutil.copytree(source, folder / "damaged")
        what = _damage(path, draw)
        tally.damaged += 1
        said = in_child(tl.Overlay.load, path)
        loaded = tally.judge(said, f"{number}: {what}", accept=OverlayFormatError)
        if loaded is not None and loaded != expected:
            tally.wrong.append(f"{number}: {source.name}: {what} was accepted as {loaded}")
        shutil.rmtree(path)


@case(short=10, long=300)
def read_while_saved(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """Threads that save to one place and a reader: every load is one of the overlays that were saved."""
    path, done, errors = folder / "overlay", threading.Event(), []
    FIRST.save(path)

    def write(overlay: tl.Overlay) -> None:
        try:
            while not done.is_set():
                overlay.save(path, overwrite=True)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(overlay,)) for overlay in (FIRST, SECOND, FIRST)]
    for thread in threads:
        thread.start()
    try:
        for number in range(times):
            loaded = tl.Overlay.load(path)
            tally.interrupts += 1
            if loaded not in (FIRST, SECOND):
                tally.wrong.append(f"load {number} mixed two overlays: {loaded}")
            time.sleep(draw.random() * 0.002)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    tally.wrong.extend(f"a writer ended with {error!r}" for error in errors)


def _save_with_little_room(path: Path, room: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    SECOND.save(path, overwrite=True)


@case(short=3, long=60)
def fill_the_disk(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """No room for a file (a limit on its size stands for the disk): a sentence, and the old overlay stays."""
    path = folder / "overlay"
    FIRST.save(path)
    for number in range(times):
        said = in_child(_save_with_little_room, path, draw.randrange(1, 1500))
        tally.interrupts += 1
        tally.judge(said, f"{number}: no room", accept=OutputExistsError)
        _one_of_them(tally, path, f"{number}: after no room")
        if [left.name for left in folder.iterdir()] != ["overlay"]:
            tally.wrong.append(f"{number}: no room left {sorted(left.name for left in folder.iterdir())}")
