"""Durable states: killed writers, damaged files, events that are interrupted, full disks, two writers at once."""

import contextlib
import copy
import functools
import json
import os
import random
import resource
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import topicloom as tl
from faults.harness import PATIENCE, Tally, beside, case, in_child, killed_child, killed_command
from support.churn_checks import check, model_of
from support.stream_events import check_output, put_file, random_events
from topicloom.churn import holds_state, read_state
from topicloom.cli.app import main
from topicloom.errors import HalfAppliedError, StateInUseError, TopicloomError

TOPICS = [f"t{t:02}" for t in range(15)]
Tell = Callable[[bytes], Any]
CHURN = str(Path(tl.churn.__file__).parent)


@functools.cache
def base() -> tl.Overlay:
    """An overlay to begin with. What children will need is compiled here, once, before they are forked."""
    overlay = tl.low_oda(tl.generate(nodes=60, topics=15, subscriptions=5, seed=1))
    m = tl.Maintainer(overlay.interest, overlay)
    for event in events_for(model_of(overlay.interest), random.Random(0), "x", 20):
        m.apply([event])
    check(m, model_of(m.interest))
    return overlay


def events_for(model: dict[str, set[str]], draw: random.Random, name: str, count: int) -> list[dict[str, Any]]:
    """Events that can be applied one after the other; the model is changed with them."""
    made = []
    for number in range(count):
        kind = draw.choice(["join", "join", "leave", "subscribe", "unsubscribe"]) if len(model) > 5 else "join"
        node = draw.choice(sorted(model)) if kind != "join" else f"{name}-{number}"
        wanted = model.get(node, set())
        if kind == "join":
            topics = draw.sample(TOPICS, 4)
            model[node] = set(topics)
        elif kind == "leave" or not wanted or len(wanted) == len(TOPICS):
            kind, topics = "leave", []
            del model[node]
        elif kind == "subscribe":
            topics = [draw.choice(sorted(set(TOPICS) - wanted))]
            model[node] = wanted | set(topics)
        else:
            topics = [draw.choice(sorted(wanted))]
            model[node] = wanted - set(topics)
        made.append({"event": kind, "node": node, "topics": topics})
    return made


def picture(m: tl.Maintainer) -> tuple[Any, ...]:
    """All that decides what a maintainer does next, as far as can be seen from outside."""
    labels = m.interest.node_labels.tolist() if m.interest.node_labels is not None else []
    return (
        model_of(m.interest),
        m.overlay.links.tolist(),
        [(m.backups_of(label), m.primaries_of(label)) for label in labels],
        m.events_applied,
        m.options,
    )


def reopened(path: Path, k: int = 1) -> tuple[Any, ...]:
    with tl.Maintainer.open(path) as m:
        check(m, model_of(m.interest), k)
        return picture(m)


def _write_on(tell: Tell, path: Path, events: list[dict[str, Any]], sync: str) -> None:
    with tl.Maintainer.open(path, sync=sync) as m:
        tell(b"open\n")
        for event in events:
            m.apply([event])
            tell(json.dumps(event["node"]).encode() + b"\n")


@case(short=8, long=300)
def kill_writers(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """SIGKILL at a random moment: all that was acknowledged is there, and one event more at most."""
    path, overlay = folder / "state.db", base()
    tl.Maintainer.open(path, interest=overlay.interest, overlay=overlay).close()
    twin = tl.Maintainer(overlay.interest, overlay)  # sees the same events, and is never killed
    for number in range(times):
        events = events_for(model_of(twin.interest), draw, f"x{number}", 200)
        sync = draw.choice(["full", "normal"])
        told = killed_child(_write_on, path, events, sync, after=draw.random() * 0.06, wait_for=b"open\n")
        tally.kills += 1
        done = max(told.count(b"\n") - 1, 0)
        before = twin.events_applied
        for event in events[:done]:
            twin.apply([event])
        after = tally.judge(in_child(reopened, path), f"kill_writers {number}: reopening")
        if after is None:
            return
        if after[3] == before + done + 1:  # committed, and killed before it was acknowledged
            twin.apply([events[done]])
        if after != picture(twin):
            tally.lost.append(f"kill_writers {number}: {after[3] - before} events of {done} acknowledged ones")
            return


def _create(tell: Tell, path: Path, overlay: tl.Overlay) -> None:
    tell(b"begin\n")
    tl.Maintainer.open(path, interest=overlay.interest, overlay=overlay)
    tell(b"done\n")


@case(short=6, long=120)
def kill_creators(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """SIGKILL while a state is built: there is none, or a whole one, and the same call gets there in the end."""
    overlay = base()
    twin = picture(tl.Maintainer(overlay.interest, overlay))
    path = folder / "state.db"
    for number in range(times):
        told = killed_child(_create, path, overlay, after=draw.random() * 0.03, wait_for=b"begin\n")
        tally.kills += 1
        there = tally.judge(in_child(holds_state, path), f"kill_creators {number}: looking")
        if b"done" in told and not there:
            tally.lost.append(f"kill_creators {number}: acknowledged, and not there")
        if not there and draw.random() < 0.7:
            continue  # the next one finds what this one left
        found = tally.judge(in_child(_created_or_reopened, path, overlay), f"kill_creators {number}: opening")
        if found is not None and found != twin:
            tally.wrong.append(f"kill_creators {number}: another state")
        for left in folder.iterdir():
            left.unlink()


def _created_or_reopened(path: Path, overlay: tl.Overlay) -> tuple[Any, ...]:
    if not holds_state(path):
        tl.Maintainer.open(path, interest=overlay.interest, overlay=overlay).close()
    return reopened(path)


EVENTS: dict[str, list[dict[str, Any]]] = {
    "join": [{"event": "join", "node": "x", "topics": ["t01", "t02", "t03", "new"]}],
    "leave": [{"event": "leave", "node": "n05"}],
    "subscribe": [{"event": "subscribe", "node": "n07", "topics": ["new", "newer"]}],
    "unsubscribe": [{"event": "unsubscribe", "node": "n09", "topics": None}],
    "batch": [
        {"event": "leave", "node": "n01"},
        {"event": "leave", "node": "n02"},
        {"event": "join", "node": "y", "topics": ["t05", "t06"]},
    ],
}
SETTINGS: list[dict[str, Any]] = [
    {}, {"release": 2, "backups": "greedy"}, {"policy": "naive"}, {"policy": "rebuild"}, {"k": 2}, {"k": 3},
    {"rebalance": 1.0},
]  # fmt: skip


@case(short=36, long=1200)
def interrupt_events(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """An exception at some line of an event: it is on disk whole or not at all, and nothing follows half of it."""
    rounds = [(kind, options) for kind in EVENTS for options in SETTINGS]
    for number, (kind, options) in enumerate(rounds):
        share = times // len(rounds) + (number < times % len(rounds))
        if share:
            prepared = _prepared(kind, options)
            answer = in_child(_interrupt, folder / f"{number}", prepared, share, draw.random(), patience=300)
            problems = tally.judge(answer, f"interrupt_events {kind} {options}")
            tally.interrupts += share
            tally.wrong += [f"interrupt_events {kind} {options}: {words}" for words in problems or ()]


def _prepared(kind: str, options: dict[str, Any]) -> tuple[tl.Maintainer, list[dict[str, Any]], tuple[Any, ...], int]:
    """A maintainer, events for it, what it is after them, and how many lines they run through."""
    overlay = tl.harary_per_topic(base().interest, k=options.get("k", 1))
    wanted = sorted(model_of(overlay.interest)["n09"])[:2]
    events = [event if event.get("topics", ()) is not None else {**event, "topics": wanted} for event in EVENTS[kind]]
    memory = tl.Maintainer(overlay.interest, overlay, **options)
    whole = copy.deepcopy(memory)
    lines = Interruption(None).during(whole.apply, events)
    return memory, events, picture(whole), lines


def _interrupt(folder: Path, prepared: Any, times: int, seed: float) -> list[str]:
    memory, events, after, lines = prepared
    folder.mkdir()
    first, options = folder / "first.db", memory.options
    with tl.Maintainer.open(first, interest=memory.interest, overlay=memory.overlay, **options) as m:
        before = picture(m)
    draw = random.Random(seed)
    problems = []
    for number in range(times):
        stop = draw.choice([KeyboardInterrupt, MemoryError])
        if number % 2:
            found = _after_in_memory(copy.deepcopy(memory), events, Interruption(draw.randrange(lines), stop))
        else:
            path = folder / "state.db"
            shutil.copy(first, path)
            # Durable events have more lines than those in memory; some of these numbers are never reached.
            found = _after_durable(path, events, Interruption(draw.randrange(lines + 60), stop))
            for left in folder.glob("state.db*"):
                left.unlink()
        if found not in (before, after, None):
            problems.append(f"line {number} left something else")
    return problems


def _after_durable(path: Path, events: list[dict[str, Any]], interruption: "Interruption") -> tuple[Any, ...]:
    m = tl.Maintainer.open(path)
    with contextlib.suppress(KeyboardInterrupt, MemoryError):
        interruption.during(m.apply, events)
    with contextlib.suppress(HalfAppliedError, StateInUseError):
        picture(m)
        return picture(m)  # it works on: then nothing happened, or all of it
    with contextlib.suppress(HalfAppliedError, StateInUseError):
        m.join("later", ["t01"])
        raise AssertionError("it goes on with half an event")
    m.close()
    return reopened(path, m.options["k"])


def _after_in_memory(m: tl.Maintainer, events: list[dict[str, Any]], interruption: "Interruption") -> Any:
    with contextlib.suppress(KeyboardInterrupt, MemoryError):
        interruption.during(m.apply, events)
    with contextlib.suppress(HalfAppliedError):
        return picture(m)
    with contextlib.suppress(HalfAppliedError):
        m.join("later", ["t01"])
        raise AssertionError("it goes on with half an event")
    return None


class Interruption:
    """Raises at line number ``at`` of those of ``topicloom.churn`` that a call runs through."""

    def __init__(self, at: int | None, error: type[BaseException] = KeyboardInterrupt) -> None:
        self._at, self._error, self._lines = at, error, 0

    def during(self, function: Callable[..., Any], *args: Any) -> int:
        """Call; how many lines it ran through."""
        sys.settrace(self._enter)
        try:
            function(*args)
        finally:
            sys.settrace(None)
        return self._lines

    def _enter(self, frame: Any, event: str, argument: Any) -> Any:
        return self._line if CHURN in frame.f_code.co_filename else None

    def _line(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self._lines += 1
            if self._lines - 1 == self._at:
                sys.settrace(None)
                raise self._error
        return self._line


_open_for_ever: list[tl.Maintainer] = []


def _lived(path: Path, seed: float, closed: bool) -> tuple[Any, ...]:
    """Make a state with a history; unless closed it has a log that nobody merged, as a killed process leaves it."""
    draw, overlay = random.Random(seed), base()
    m = tl.Maintainer.open(path, interest=overlay.interest, overlay=overlay, coverage=2)
    journal = m.journal
    journal.prepare()
    for number, event in enumerate(events_for(model_of(overlay.interest), draw, "x", 30)):
        told = {"batch": number, "query": "q", "fingerprint": "f", "keys": [f'"{number}"'], "rejected": []}
        m.apply([event], also=functools.partial(journal.record, **told))
        if number < 25:
            journal.handed_out(number)
        if closed and number == 20:
            journal = None
            m.close()
            m = tl.Maintainer.open(path)
            journal = m.journal
    seen = (*picture(m), *_told(journal))
    if closed:
        m.close()
    else:
        _open_for_ever.append(m)
    return seen


def _told(journal: Any) -> tuple[Any, ...]:
    return sorted(journal.seen(f'"{number}"' for number in range(40))), journal.to_hand_out(), journal.last_batch


def _looked_at(path: Path) -> tuple[Any, ...]:
    """What a damaged state says of itself, by every way to open it; it must also be able to go on."""
    kept = read_state(path)
    with tl.Maintainer.open(path) as m:
        m.journal.prepare()
        found = (*picture(m), *_told(m.journal))
        assert (model_of(kept.interest), kept.overlay.links.tolist(), kept.facts["events"]) == (*found[:2], found[3])
        m.join("later", ["t01", "t02"])
        check(m, model_of(m.interest))
    with tl.Maintainer.open(path) as m:
        assert m.events_applied == found[3] + 1
    return found


def _flip(content: bytearray, draw: random.Random) -> None:
    for _ in range(draw.choice([1, 1, 2, 8, 32])):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)


def _cut(content: bytearray, draw: random.Random) -> None:
    del content[draw.randrange(len(content)) :]


def _zero(content: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(content))
    content[at : at + draw.choice([16, 512, 4096])] = bytes(len(content[at : at + draw.choice([16, 512, 4096])]))


def _swap_pages(content: bytearray, draw: random.Random) -> None:
    pages = len(content) // 4096
    one, other = draw.randrange(max(pages, 1)) * 4096, draw.randrange(max(pages, 1)) * 4096
    content[one : one + 4096], content[other : other + 4096] = (
        content[other : other + 4096],
        content[one : one + 4096],
    )


def _append(content: bytearray, draw: random.Random) -> None:
    content += draw.randbytes(draw.choice([1, 100, 4096]))


BYTES = (_flip, _flip, _flip, _cut, _zero, _swap_pages, _append)
BLOBS = ("00ca9a3b", "ffffffff", "0000000000000000", "01", "", "05000000")
NUMBERS = (-1, 0, 1, 7, 10**8, 2**31, 2**31 - 1, -(2**63))
ROWS = (
    "DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} ORDER BY random() LIMIT {few})",
    "DELETE FROM link WHERE number % {few} = 0",
    "DELETE FROM meta WHERE key = '{fact}'",
    "DELETE FROM seen WHERE id = '\"{few}\"'",
    "DELETE FROM outbox",
    "UPDATE outbox SET changes = '{{}}'",
    "UPDATE meta SET value = {number} WHERE key = '{fact}'",
    "UPDATE meta SET value = 'text' WHERE key = '{fact}'",
    "UPDATE link SET number = number + {number} WHERE number = {few}",
    "UPDATE OR REPLACE link SET u = {number} WHERE number % 7 = {few}",
    "UPDATE node SET topics = x'{blob}' WHERE slot = {few}",
    "UPDATE node SET backups = x'{blob}' WHERE slot = {few}",
    "UPDATE node SET label = {number} WHERE slot = {few}",
    "UPDATE node SET label = (SELECT label FROM node WHERE slot = 9) WHERE slot = {few}",
    "UPDATE OR REPLACE node SET slot = {number} WHERE slot = {few}",
    "UPDATE OR REPLACE topic SET slot = {number} WHERE slot = {few}",
    "UPDATE topic SET label = 'x' WHERE slot < {few}",
    "DROP TABLE {table}",
)
FACTS = ("events", "builds", "next_link", "coverage", "k", "seed", "policy", "sum", "check", "commits", "format", "rho",
         "batch", "journal_sum", "release", "since")  # fmt: skip


def _change_rows(path: Path, draw: random.Random) -> str:
    words = {
        "table": draw.choice(["node", "topic"]), "few": draw.randrange(1, 12), "number": draw.choice(NUMBERS),
        "fact": draw.choice(FACTS), "blob": draw.choice(BLOBS),
    }  # fmt: skip
    statement = draw.choice(ROWS).format(**words)
    with contextlib.closing(sqlite3.connect(path)) as database, contextlib.suppress(sqlite3.Error):
        database.execute(statement)
        database.commit()
    return statement


def _damage(folder: Path, draw: random.Random) -> str:
    """Damage one file of a state; what was done, in words."""
    if draw.random() < 0.3:
        return _change_rows(folder / "state.db", draw)
    files = [path for path in sorted(folder.iterdir()) if path.stat().st_size]
    weights = [4 if path.name == "state.db" else 3 if path.name.endswith("-wal") else 1 for path in files]
    (path,) = draw.choices(files, weights)
    content = bytearray(path.read_bytes())
    way = draw.choice(BYTES)
    way(content, draw)
    path.write_bytes(content)
    return f"{way.__name__} in {path.name}"


@case(short=30, long=700)
def damage_states(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """A damaged file of a state: the state is what it was, or an error of ours says that it cannot be read."""
    states = {}
    for closed in (True, False):
        (folder / str(closed)).mkdir()
        answer = in_child(_lived, folder / str(closed) / "state.db", draw.random(), closed)
        states[closed] = tally.judge(answer, "damage_states: making one")
    unharmed = tally.judge(in_child(_looked_at_copy, folder / "False", folder / "copy"), "damage_states: unharmed")
    if unharmed != states[False]:
        tally.wrong.append("damage_states: a copy of all its files is another state")
    for number in range(times):
        closed = draw.random() < 0.5
        shutil.copytree(folder / str(closed), folder / "copy")
        what = _damage(folder / "copy", draw)
        tally.damaged += 1
        answer = in_child(_looked_at, folder / "copy" / "state.db", patience=30)
        found = tally.judge(answer, f"damage_states {number} ({what})", accept=TopicloomError)
        if answer.kind == "returned" and found != states[closed]:
            tally.wrong.append(f"damage_states {number} ({what}): accepted, and another state")
        shutil.rmtree(folder / "copy")


def _looked_at_copy(folder: Path, to: Path) -> tuple[Any, ...]:
    shutil.copytree(folder, to)
    try:
        return _looked_at(to / "state.db")
    finally:
        shutil.rmtree(to)


def _write_until_full(tell: Tell, path: Path, events: list[dict[str, Any]], most: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        with tl.Maintainer.open(path) as m:  # opening, too, may find no room
            for event in events:
                m.apply([event])
                tell(b"+\n")
    except TopicloomError as error:
        tell(f"said {error}\n".encode())


@case(short=2, long=40)
def fill_disks(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """Files that cannot grow: an error of ours, and what was acknowledged before is there."""
    path, overlay = folder / "state.db", base()
    for number in range(times):
        m = tl.Maintainer.open(path, interest=overlay.interest, overlay=overlay)
        m.close()
        events = events_for(model_of(overlay.interest), draw, f"x{number}", 400)
        told = killed_child(
            _write_until_full, path, events, path.stat().st_size + draw.randrange(500_000), after=PATIENCE
        )
        tally.interrupts += 1
        done = told.count(b"+\n")
        if b"said cannot write" not in told and done < len(events):
            tally.wrong.append(f"fill_disks {number}: no sentence, {told[-300:]!r}")
        twin = tl.Maintainer(overlay.interest, overlay)
        for event in events[:done]:
            twin.apply([event])
        if tally.judge(in_child(reopened, path), f"fill_disks {number}: reopening") != picture(twin):
            tally.lost.append(f"fill_disks {number}: not what was acknowledged")
        for left in folder.iterdir():
            left.unlink()


def _compete(tell: Tell, path: Path, name: str) -> None:
    for turn in range(10_000):
        with contextlib.suppress(StateInUseError), tl.Maintainer.open(path) as m:
            for number in range(3):
                node = f"{name}-{turn}-{number}"
                m.join(node, TOPICS[:2])
                tell(f"{node}\n".encode())


def _competitor(path: Path, name: str, seconds: float) -> bytes:
    return killed_child(_compete, path, name, after=seconds)


def _watch(path: Path, until: float) -> int:
    last = looks = 0
    while time.monotonic() < until:
        events = read_state(path).facts["events"]  # judged
        assert events >= last
        last, looks = events, looks + 1
    return looks


@case(short=1, long=25)
def compete(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """Two writers, by two names, and a reader at once, and one writer killed: every acknowledged event is there."""
    path, overlay = folder / "state.db", base()
    tl.Maintainer.open(path, interest=overlay.interest, overlay=overlay).close()
    (folder / "other.db").symlink_to(path)
    known: set[str] = set()
    for number in range(times):
        seconds = 0.3 + draw.random() * 0.5
        reader = beside(_watch, path, time.monotonic() + seconds)
        second = beside(_competitor, folder / "other.db", f"b{number}", seconds)
        told = killed_child(_compete, path, f"a{number}", after=seconds)
        told += tally.judge(second(), f"compete {number}: the second writer") or b""
        known |= set(told.decode().split())
        tally.kills += 2
        tally.judge(reader(), f"compete {number}: reading")
        after = tally.judge(in_child(reopened, path), f"compete {number}: reopening")
        if after is None:
            return
        if known - set(after[0]) or after[3] - len(known) > 2 * (number + 1):
            tally.lost.append(f"compete {number}: {sorted(known - set(after[0]))[:5]} of {len(known)}")


def _churn_command(tell: Tell, arguments: list[str]) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    tell(b"begin\n")
    tell(f"exit {main(arguments)}\n".encode())


@case(short=4, long=60)
def kill_churn_commands(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """``topicloom churn --overwrite``, killed: OUT is the old overlay or the new one."""
    base().save(folder / "overlay")
    overlay = tl.Overlay.load(folder / "overlay")
    expected = []
    for name in ("old", "new"):
        events = events_for(model_of(overlay.interest), draw, name, 20)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        m = tl.Maintainer(overlay.interest, overlay)
        for event in events:
            m.apply([event])
        expected.append((model_of(m.interest), m.overlay.links.tolist()))
    now = None
    for number in range(times):
        name = ("old", "new")[number % 2]
        arguments = ["churn", *(str(folder / part) for part in ("overlay", f"{name}.jsonl", "out")), "--overwrite"]
        told = killed_child(_churn_command, arguments, after=draw.random() * 0.4, wait_for=b"begin\n")
        tally.kills += 1
        found = tally.judge(in_child(_loaded, folder / "out"), f"kill_churn_commands {number}")
        if found not in (expected[number % 2], now) or (b"exit 0" in told and found != expected[number % 2]):
            tally.wrong.append(f"kill_churn_commands {number}: neither the old nor the new overlay; {told!r}")
        now = found


def _loaded(path: Path) -> Any:
    if not path.exists():
        return None
    overlay = tl.Overlay.load(path)
    return model_of(overlay.interest), overlay.links.tolist()


@case(short=0, long=12)
def kill_streams(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """``topicloom stream``, killed with its Spark again and again in one OUT: every event counts once."""
    overlay = base()
    overlay.save(folder / "overlay")
    files = random_events(overlay, 2 * times, 3)
    for number, events in enumerate(files):
        put_file(folder / "events", number, events)
    places = [str(folder / name) for name in ("overlay", "events", "out")]
    command = ["stream", *places, "--master", "local[1]", "--files-per-batch", "1"]
    told = 0
    for number in range(times):
        killed_command(command, after=5 + draw.random() * 40)
        tally.kills += 1
        tally.spark += 1
        told = _look_at_stream(folder / "out", told, f"kill_streams {number}", tally)
    code = killed_command([*command, "--once"], after=10 * PATIENCE)
    if code:
        tally.wrong.append(f"kill_streams: the last run ended with {code}")
    check_output(folder / "out", overlay, files)


def _look_at_stream(out: Path, told: int, what: str, tally: Tally) -> int:
    """Judge what a killed stream left. Returns the events in the files that it has handed out."""
    files = sorted((out / "changes").glob("batch-*.jsonl"))
    now = sum(len(json.loads(file.read_text())["events"]) for file in files)
    if now < told:
        tally.lost.append(f"{what}: files told of {told} events, now of {now}")
    if tally.judge(in_child(holds_state, out / "state.db"), what):
        kept = tally.judge(in_child(read_state, out / "state.db"), what)
        if kept is not None and kept.facts["events"] < now:
            tally.lost.append(f"{what}: files tell of {now} events, the state has {kept.facts['events']}")
    elif files:
        tally.lost.append(f"{what}: there are files of batches, and no state")
    return now
