"""Start Java before it is asked for: a command looks at its files and loads its code meanwhile.

PySpark starts the JVM of an embedded Spark in the first call that needs it. This module starts the same program with
the same arguments earlier, and hands it to PySpark later. A JVM that nobody takes is ended, and one whose Python was
killed ends by itself, because the pipe to it breaks.
"""

import os
import shlex
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from topicloom.spark.session.scratch import scratch_folder

_SECONDS_TO_END = 15
_waiting: "list[EarlyJava]" = []


@dataclass(frozen=True)
class EarlyJava:
    """A JVM that waits to be taken.

    Attributes
    ----------
    process : Popen
    scratch : Path
        Temporary folder of the run, which has the JVM's output in ``spark.log``.
    folder : ExitStack
        Removes the temporary folder when it is closed.
    """

    process: "subprocess.Popen[bytes]"
    scratch: Path
    folder: ExitStack

    @property
    def address(self) -> Path:
        """File in which the JVM will say where it listens."""
        return self.scratch / "address"


def start_early(settings: Callable[[Path], Mapping[str, str]]) -> None:
    """Start the JVM of an embedded Spark, as PySpark would, with settings for its temporary folder.

    Ctrl-C waits until the process is known. Between its start and that moment nobody could end it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        _start(settings)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(settings: Callable[[Path], Mapping[str, str]]) -> None:
    found = find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        return
    home = os.environ.get("SPARK_HOME") or str(found.submodule_search_locations[0])
    folder = ExitStack()
    scratch = folder.enter_context(scratch_folder())
    command = [f"{home}/bin/spark-submit", *(f"--conf={key}={value}" for key, value in settings(scratch).items())]
    command += shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    environment = os.environ | {
        "SPARK_HOME": home,
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(scratch / "address"),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
    }
    try:
        with (scratch / "spark.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stderr=log,
                env=environment,
                preexec_fn=_ignore_interrupts,  # noqa: PLW1509 - no thread has been started yet
            )
    except OSError:  # PySpark will say what is wrong
        folder.close()
        return
    _waiting.append(EarlyJava(process, scratch, folder))


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def take_early() -> EarlyJava | None:
    """The JVM that was started early, once."""
    return _waiting.pop() if _waiting else None


def end_early() -> None:
    """End a JVM that nobody took. It has nothing to lose, and would only stop to write an archive."""
    early = take_early()
    if early is not None:
        early.process.kill()
        early.process.wait()
        early.folder.close()


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """End a process, and wait until it is gone."""
    process.terminate()
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def attached(early: EarlyJava | None) -> Iterator[None]:
    """Let a session that is made inside the block use a JVM that was started early."""
    if early is None or not _listens(early):
        yield
        return
    with early.address.open("rb") as file:
        port, length = struct.unpack("!ii", file.read(8))
        given = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": file.read(length).decode()}
    os.environ.update(given)
    try:
        yield
        _own(early.process)
    finally:
        for name in given:
            os.environ.pop(name, None)


def _listens(early: EarlyJava) -> bool:
    """Wait until the JVM listens. Returns whether it does. PySpark starts another in the place of one that ended."""
    while not early.address.is_file():
        if early.process.poll() is not None:
            return False
        time.sleep(0.02)
    return True


def _own(process: "subprocess.Popen[bytes]") -> None:
    """Let PySpark know the process of its gateway, as if it had started it."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    with suppress(AttributeError):
        gateway.proc = process
