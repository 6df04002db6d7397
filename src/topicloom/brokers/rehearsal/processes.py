"""Child processes and a folder that end with us, however we end.

Every child asks the kernel to be killed when its parent dies (``setpriv --pdeathsig``). A janitor, a shell that waits
for the end of a pipe, removes the folder when this process is gone, also after SIGKILL.
"""

import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import SystemRandom
from types import TracebackType
from typing import Self

from topicloom.errors import BrokerUnavailableError

_JANITOR = 'read _; rm -rf -- "$1"'
_PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST_PORT = 10_000
_given: set[int] = set()  # a port that was handed out is free until its broker listens: not to be handed out twice


class Crew:
    """Processes by name, and a private folder. Leaving the ``with`` block ends all and removes the folder."""

    def __init__(self) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        self.setpriv = program("setpriv", "it is part of util-linux")
        self.folder = Path(tempfile.mkdtemp(prefix="topicloom-rehearsal-"))
        self._janitor = subprocess.Popen(
            ["sh", "-c", _JANITOR, "sh", str(self.folder)], stdin=subprocess.PIPE, start_new_session=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()
        if self._janitor.stdin is not None:
            self._janitor.stdin.close()
        self._janitor.wait()

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start a process in the folder. What it prints goes to ``NAME.log`` there."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [self.setpriv, "--pdeathsig", "KILL", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=environment,
                close_fds=False,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """End a process at once, as a crash would."""
        self.processes[name].kill()
        self.processes[name].wait()

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a process."""
        self.processes[name].send_signal(number)

    def last_words(self, name: str) -> str | None:
        """Return the end of what a process printed before it ended, or None while it runs."""
        if self.processes[name].poll() is None:
            return None
        lines = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.processes[name].returncode}"

    def memory(self) -> int:
        """Bytes of memory of all processes, shared pages divided among those that share them."""
        return sum(proportional_memory(process.pid) for process in self.processes.values())


def proportional_memory(pid: int) -> int:
    """Measure the memory of a process in bytes, with shared pages divided. Returns 0 for one that has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


def program(name: str, remedy: str) -> str:
    """Find the path of a program. An error says how to get it."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if found is None:
        raise BrokerUnavailableError(f"the program {name} is not installed; {remedy}")
    return found


def version_of(path: str, question: str, pattern: str) -> str:
    """Ask a program for its version. Raises where its answer does not match the pattern."""
    answer = subprocess.run([path, question], capture_output=True, text=True, timeout=20, check=False).stdout
    found = re.search(pattern, answer)
    if found is None:
        raise BrokerUnavailableError(f"{Path(path).name} {question} names no version")
    return found[1]


def free_ports(number: int) -> list[int]:
    """Ports of 127.0.0.1 that are free now, below those that the system hands out to outgoing connections.

    No port is handed out twice by one process.

    Raises
    ------
    BrokerUnavailableError
        There are not enough.
    """
    try:
        highest = int(_PORT_RANGE.read_text(encoding="ascii").split()[0])
    except OSError:
        highest = 32_768
    candidates = [port for port in range(_LOWEST_PORT, highest) if port not in _given]
    SystemRandom().shuffle(candidates)
    found: list[int] = []
    for port in candidates:
        if len(found) == number:
            break
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
    _given.update(found)
    if len(found) < number:
        raise BrokerUnavailableError(f"{number:,} free ports are needed on 127.0.0.1 and {len(found):,} were found")
    return found
