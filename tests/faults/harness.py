"""What tests of faults share: cases that are run some number of times, children that may die, and what is counted.

A case is a function ``case(folder, times, draw, tally)``: it causes that many faults in a folder of its own, with the
random numbers of ``draw``, and counts them in ``tally``. What must never happen it reports there as well, in words;
it does not raise. Cases register themselves with `case`; `run` runs them.
"""

import faulthandler
import os
import pickle
import posix
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

Run = Callable[[Path, int, random.Random, "Tally"], None]
MEMORY = Path("/dev/shm")  # a kill of a process does not tell a disk from memory, and memory is quicker
PATIENCE = 60.0  # seconds after which a child counts as hanging


@dataclass
class Tally:
    """Faults caused so far, and in words what must never happen: anything in the four lists fails the run."""

    kills: int = 0
    spark: int = 0  # of the kills, those of commands on Spark
    damaged: int = 0
    interrupts: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    signals: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        kinds = ("lost", "wrong", "signals", "hangs")
        return [f"{kind}: {words}" for kind in kinds for words in getattr(self, kind)]

    def line(self) -> str:
        """The last line of a run."""
        faults = f"kills={self.kills} (spark {self.spark}) damaged={self.damaged} interrupts={self.interrupts}"
        bad = (f"{kind}={len(getattr(self, kind))}" for kind in ("lost", "wrong", "signals", "hangs"))
        return f"{faults} {' '.join(bad)}"

    def judge(self, outcome: "Outcome", what: str, *, accept: type[BaseException] | None = None) -> Any:
        """What a child returned; a signal, a hang or an exception other than ``accept`` is counted. None for those."""
        if outcome.kind == "returned":
            return outcome.value
        if outcome.kind == "raised":
            if accept is None or not isinstance(outcome.value, accept):
                self.wrong.append(f"{what}: {outcome.words}")
        else:
            (self.signals if outcome.kind == "signal" else self.hangs).append(f"{what}: {outcome.words}")
        return None


class Outcome(NamedTuple):
    """How a child ended: "returned" (value), "raised" (the exception), "signal" or "hang"; and that in words."""

    kind: str
    value: Any
    words: str = ""


class Case(NamedTuple):
    """A case, how often it runs in the short form (in ``make test``) and how often in the long one."""

    name: str
    run: Run
    short: int
    long: int


CASES: list[Case] = []


def case(*, short: int, long: int) -> Callable[[Run], Run]:
    """Register a case; ``short=0`` leaves it out of the short form."""

    def register(run: Run) -> Run:
        CASES.append(Case(run.__name__, run, short, long))
        return run

    return register


def in_child(function: Callable[..., Any], *args: Any, patience: float = PATIENCE) -> Outcome:
    """Call a function in a forked child: whatever it does to its process, this one goes on."""
    return beside(function, *args, patience=patience)()


def beside(function: Callable[..., Any], *args: Any, patience: float = PATIENCE) -> Callable[[], Outcome]:
    """Call a function in a forked child meanwhile. Returns what waits for its outcome."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        _serve(write, function, args)
    os.close(write)

    def wait() -> Outcome:
        content, late = _read_all(read, patience)
        os.close(read)
        if late:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if late:
            return Outcome("hang", None, f"no answer in {patience:.0f} s")
        if os.WIFSIGNALED(status):
            return Outcome("signal", None, signal.Signals(os.WTERMSIG(status)).name)
        return Outcome(*pickle.loads(content))

    return wait


def _serve(write: int, function: Callable[..., Any], args: tuple[Any, ...]) -> NoReturn:
    faulthandler.disable()  # pytest's would print the stack of a child that is meant to die
    try:
        try:
            answer = ("returned", function(*args), "")
        except BaseException as error:
            words = "".join(traceback.format_exception(error)[-3:])
            answer = ("raised", error, words)
        try:
            content = pickle.dumps(answer)
        except Exception:
            content = pickle.dumps((answer[0], None, answer[2]))
        with os.fdopen(write, "wb") as pipe:
            pipe.write(content)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.getrlimit(resource.RLIMIT_FSIZE)[1],) * 2)
        os._exit(0)  # under `make coverage` this writes what was covered, which takes room


def _read_all(descriptor: int, patience: float) -> tuple[bytes, bool]:
    deadline = time.monotonic() + patience
    parts = []
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return b"", True
        part = os.read(descriptor, 1 << 16)
        if not part:
            return b"".join(parts), False
        parts.append(part)


def killed_child(function: Callable[..., Any], *args: Any, after: float, wait_for: bytes = b"") -> bytes:
    """Fork a child that calls ``function(tell, *args)``, and kill it; all that it told (``tell(bytes)``) before.

    It is killed ``after`` seconds from when it has told ``wait_for``, or from its start; or it has ended by then.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            function(lambda words: os.write(write, words), *args)
        except BaseException:
            traceback.print_exc(file=sys.stderr)
        finally:
            posix._exit(0)  # under `make coverage` os._exit writes what was covered, and would be killed at that
    os.close(write)
    told = b""
    while wait_for not in told:
        part = os.read(read, 1 << 16)
        if not part:
            break
        told += part
    deadline = time.monotonic() + after
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([read], [], [], left)
        if ready:
            part = os.read(read, 1 << 16)
            if not part:
                break
            told += part
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while part := os.read(read, 1 << 16):
        told += part
    os.close(read)
    return told


def killed_command(arguments: list[str], *, after: float) -> int:
    """Start ``topicloom`` with these arguments; after some seconds kill it with all that it started.

    Returns its exit code, negative if it was killed.
    """
    command = [sys.executable, "-m", "topicloom", *arguments]
    child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with suppress(subprocess.TimeoutExpired):
        child.wait(after)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    return child.wait()


def run(one: Case, times: int, tally: Tally, folder: Path, seed: int = 0) -> None:
    """Run a case; an exception in it is a failure of the case, and the next one may go on."""
    folder.mkdir()
    try:
        one.run(folder, times, random.Random(f"{one.name} {seed}"), tally)
    except Exception as error:
        tally.wrong.append(f"{one.name} ended with {''.join(traceback.format_exception(error))}")


def main(argv: list[str]) -> int:
    """Run the long form of all cases, or of those named; 1 if anything happened that must never happen."""
    unknown = set(argv) - {one.name for one in CASES}
    if unknown:
        print(f"there is no case {', '.join(sorted(unknown))}; there are {', '.join(one.name for one in CASES)}")
        return 2
    tally = Tally()
    place = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="topicloom-faults-", dir=place) as folder:
        for one in CASES:
            if argv and one.name not in argv:
                continue
            started = time.monotonic()
            run(one, one.long, tally, Path(folder) / one.name)
            print(f"{one.name}: {one.long} times in {time.monotonic() - started:.0f} s; {tally.line()}", flush=True)
    for words in tally.failures:
        print(words)
    print(tally.line())
    return 1 if tally.failures else 0
