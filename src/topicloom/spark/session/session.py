"""Spark sessions for the command line: embedded by default, on a cluster or a Connect server if asked."""

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topicloom.errors import InvalidOptionError, SparkFailedError, SparkUnavailableError
from topicloom.extras import needing
from topicloom.runs.memory import available_memory
from topicloom.spark.session.early import EarlyJava, attached, end_process, start_early, take_early
from topicloom.spark.session.failures import is_sparks, spark_failure
from topicloom.spark.session.java import (
    NEW_ARCHIVE,
    QUICK,
    UNFIT,
    can_keep_archive,
    check_java,
    java_options,
    java_program,
    keep_archive,
)
from topicloom.spark.session.scratch import scratch_folder
from topicloom.spark.session.ship import package_zip
from topicloom.spark.session.workers import run_this_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Tasks are retried, as a cluster does: plain local[*] fails the run when one worker is killed.
DEFAULT_MASTER = "local[*,4]"
DAEMON = "topicloom.spark.session.daemon"
_CONNECT_PORT = 15002
_MASTER_PORT = 7077
_SECONDS_TO_ANSWER = 10


@contextmanager
def spark_session(
    *,
    master: str | None = None,
    remote: str | None = None,
    conf: Sequence[str] = (),
    verbose: bool = False,
    small: bool = False,
) -> "Iterator[SparkSession]":
    """Start a session that ends with the block. Spark's own output goes to a file that is kept only if Spark fails.

    An embedded Spark for a small input gets a JVM that is made for short runs, and plans that are made once.

    Raises
    ------
    SparkUnavailableError
        There is no Java, or nobody answers at the address.
    SparkFailedError
        Spark, its JVM or a Python worker failed inside the block; the message says where and why.
    UnreadableInputError
        Spark could not read a file; the message names it.
    """
    settings = dict(_parsed(conf))
    _check_address(master, remote)
    early = take_early()
    with scratch_folder() if early is None else _folder_of(early) as scratch, _spark_output(scratch, verbose):
        spark = None
        try:
            with attached(early):
                spark = (
                    _connect(remote, settings) if remote else _start(master or DEFAULT_MASTER, settings, scratch, small)
                )
            if threading.current_thread() is threading.main_thread():
                # PySpark's own handler talks to the JVM in the middle of another call; ending the session ends its jobs
                signal.signal(signal.SIGINT, signal.default_int_handler)
            if not is_embedded(master, remote):
                spark.addArtifacts(str(package_zip(scratch)), pyfile=True)
            yield spark
        except BaseException as error:
            failure = spark_failure(error, _java()) if is_sparks(error) else None
            if verbose and failure is not None:
                with suppress(Exception):  # it may ask the JVM, and that may be what has ended
                    traceback.print_exc()
            _end(spark)
            if failure is not None:
                raise failure from None
            raise
        spark.stop()
        if small and is_embedded(master, remote):
            _keep_archive(scratch)


def is_embedded(master: str | None, remote: str | None) -> bool:
    """Whether Spark runs inside this process' machine, as by default, and not on a cluster or a server."""
    return remote is None and (master or DEFAULT_MASTER).startswith("local")


def cores_of(master: str | None, remote: str | None) -> int:
    """Tasks that run at the same time, as far as the address says: 1 on a cluster or a server.

    >>> cores_of("local[3,4]", None), cores_of("local", None), cores_of(None, "sc://host")
    (3, 1, 1)
    """
    if not is_embedded(master, remote):
        return 1
    named = re.match(r"local\[(\*|\d+)", master or DEFAULT_MASTER)
    if named is None:
        return 1
    return (os.cpu_count() or 1) if named[1] == "*" else int(named[1])


def _java() -> "subprocess.Popen[bytes] | None":
    """The process of an embedded Spark, if this one has started it."""
    from pyspark import SparkContext

    return getattr(SparkContext._gateway, "proc", None)


def _end(spark: "SparkSession | None") -> None:
    """End a session after a failure, and wait until an embedded Spark's process is gone.

    Tasks that were stopped may write for a moment after the session. What an interrupted run leaves is removed
    afterwards, and must not come back.
    """
    from pyspark import SparkContext

    process = _java()
    with suppress(Exception):  # the JVM, or the server, may be what has ended
        if spark is not None:
            spark.stop()
    if process is None:
        return
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    end_process(process)


def _keep_archive(scratch: Path) -> None:
    """Let the JVM of a first short run write its classes, and keep them for later runs."""
    from pyspark import SparkContext

    process = _java()
    if process is None or process.stdin is None or not can_keep_archive():
        return
    SparkContext._gateway = SparkContext._jvm = None
    process.stdin.close()
    process.wait()
    keep_archive(scratch / NEW_ARCHIVE)


@contextmanager
def _folder_of(early: EarlyJava) -> Iterator[Path]:
    """The temporary folder of a JVM that was started early. A JVM that no session took is ended with it."""
    with early.folder:
        try:
            yield early.scratch
        finally:
            if _java() is not early.process and early.process.poll() is None:
                end_process(early.process)


def _start(master: str, settings: dict[str, str], scratch: Path, small: bool) -> "SparkSession":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise the workers run whatever python3 is on the PATH
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    with needing("spark", "designing on Spark"):
        from pyspark.sql import SparkSession

    defaults = {
        "spark.app.name": "topicloom",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        # else PySpark tells Java at every call from which line it comes, in four messages more
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.python.daemon.module": daemon_module(master, settings),
        # lists of topics are made in hash tables; Spark's own limit of 128 nodes would have all subscriptions sorted
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "200000",
    }
    if master.startswith("local"):
        cores = cores_of(master, None)
        defaults |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            **_from_the_start(scratch, small=small),
            "spark.local.dir": str(scratch),  # so that the next run sweeps what a killed JVM leaves
            "spark.sql.shuffle.partitions": str(cores if small else max(8, 2 * cores)),
            # cut finely, and put together again to some 64 MB each: a hundred million rows in 8 parts would not fit
            "spark.sql.adaptive.coalescePartitions.initialPartitionNum": "128",
        }
        if small:
            defaults["spark.sql.adaptive.enabled"] = "false"
    builder = SparkSession.builder.master(master)
    for key, value in (defaults | settings).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        if not is_sparks(error) and not isinstance(error, RuntimeError):
            raise
        why = str(spark_failure(error, _java())) if is_sparks(error) else str(error).splitlines()[0]
        raise SparkUnavailableError(f"Spark did not start with master {master!r}: {why}") from None


def daemon_module(master: str, settings: Mapping[str, str]) -> str:
    """The module that forks Python workers: ours where they run this very Python, and Spark's own elsewhere."""
    return DAEMON if run_this_python(master, settings.get("spark.pyspark.python")) else "pyspark.daemon"


def start_java_early() -> None:
    """Start the JVM of an embedded Spark for a small input, which the next session will use."""
    if java_program() is not None:
        start_early(partial(_from_the_start, small=True))


def _from_the_start(scratch: Path, *, small: bool) -> dict[str, str]:
    """Settings that a JVM has to have when it starts."""
    options = java_options(quick=small, new_archive=scratch / NEW_ARCHIVE)
    if not UNFIT.search(str(scratch)):  # so that the next run sweeps what a killed JVM leaves there
        options = f'{options} "-Djava.io.tmpdir={scratch}"'.lstrip()
    if small:
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK)  # of the JVM that puts the command together
    return {"spark.driver.memory": f"{_heap_mib()}m", "spark.driver.extraJavaOptions": options}


def _heap_mib() -> int:
    """Memory for the embedded Spark: a quarter of what is at hand, from 2 to 8 GiB. Python workers need the rest."""
    return max(2048, min(8192, available_memory() // 4 // 2**20))


def _connect(remote: str, settings: dict[str, str]) -> "SparkSession":
    with needing("spark", "designing on Spark"):
        from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(remote)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _parsed(conf: Sequence[str]) -> Iterator[tuple[str, str]]:
    for setting in conf:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InvalidOptionError(f"--conf {setting!r} is not of the form key=value")
        yield key, value


def _check_address(master: str | None, remote: str | None) -> None:
    """Fail at once, not after minutes of retries, where Spark cannot start or nobody listens."""
    if master and remote:
        raise InvalidOptionError("--master and --remote exclude each other")
    if remote:
        address = urlsplit(remote)
        if address.scheme != "sc" or not address.hostname:
            raise InvalidOptionError(f"--remote {remote!r} is not of the form sc://host:port")
        _ask("Spark Connect server", remote, [address.netloc], _CONNECT_PORT)
        return
    if master and master.startswith("spark://"):
        _ask("Spark master", master, master.removeprefix("spark://").split(","), _MASTER_PORT)
    check_java()


def _ask(what: str, given: str, places: Sequence[str], usual_port: int) -> None:
    """Connect to one of the places ``host[:port]``, or say why none answers."""
    why = ""
    for place in places:
        try:
            address = urlsplit(f"//{place}")
            wanted = (address.hostname or "", address.port or usual_port)
            socket.create_connection(wanted, timeout=_SECONDS_TO_ANSWER).close()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
        else:
            return
    raise SparkUnavailableError(f"no {what} answers at {given}: {why}")


@contextmanager
def _spark_output(scratch: Path, verbose: bool) -> Iterator[None]:
    """Send what the JVM and the workers write to stderr to a file. It is kept, and named, if Spark fails."""
    if verbose:
        yield
        return
    logging.disable(logging.CRITICAL)  # py4j reports an interrupt with a traceback
    log = scratch / "spark.log"
    ours = os.dup(2)
    sys.stderr.flush()
    terminal, sys.stderr = (
        sys.stderr,
        os.fdopen(os.dup(ours), "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace"),
    )
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    except BaseException as error:
        explained = isinstance(error, ValueError | KeyboardInterrupt) and not isinstance(error, SparkFailedError)
        if not explained and log.stat().st_size:
            print(f"topicloom: Spark's log is in {_kept(log)}", file=sys.stderr)
        raise
    finally:
        logging.disable(logging.NOTSET)
        sys.stderr.flush()
        os.dup2(ours, 2)
        os.close(ours)
        sys.stderr.close()
        sys.stderr = terminal


def _kept(log: Path) -> Path:
    """Copy a log out of the folder that goes with the run."""
    handle, name = tempfile.mkstemp(prefix="topicloom-spark-", suffix=".log")
    os.close(handle)
    return Path(shutil.copyfile(log, name))
