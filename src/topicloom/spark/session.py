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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topicloom.errors import InvalidOptionError, SparkUnavailableError
from topicloom.spark.memory import available_memory
from topicloom.spark.ship import package_zip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Tasks are retried, as a cluster does: plain local[*] fails the run when one worker is killed.
DEFAULT_MASTER = "local[*,4]"
_CONNECT_PORT = 15002
_OLDEST_JAVA = 17
_SECONDS_TO_END = 15


class SparkFailedError(RuntimeError):
    """A job of Spark failed, and not for a reason that topicloom foresaw."""


@contextmanager
def spark_session(
    *, master: str | None = None, remote: str | None = None, conf: Sequence[str] = (), verbose: bool = False
) -> "Iterator[SparkSession]":
    """A session that ends with the block; Spark's own output goes to a file that is removed unless something fails."""
    settings = dict(_parsed(conf))
    if master and remote:
        raise InvalidOptionError("--master and --remote exclude each other")
    if remote:
        _check_server(remote)
    else:
        _check_java()
    with _spark_output(verbose), tempfile.TemporaryDirectory(prefix="topicloom-") as scratch:
        spark = _connect(remote, settings) if remote else _start(master or DEFAULT_MASTER, settings)
        if threading.current_thread() is threading.main_thread():
            # PySpark's own handler talks to the JVM in the middle of another call; ending the session ends its jobs
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            if not is_embedded(master, remote):
                spark.addArtifacts(str(package_zip(Path(scratch))), pyfile=True)
            yield spark
        except BaseException as error:
            failure = _outliving(error)
            if verbose and failure is not None:
                traceback.print_exc()  # while Spark can still be asked what it was
            spark.stop()
            _end_java()
            if failure is not None:
                raise failure from None
            raise
        spark.stop()


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


def _outliving(error: BaseException) -> SparkFailedError | None:
    """What Spark reported, in words of our own: its errors ask its process for theirs, and that will be gone."""
    from pyspark.errors import PySparkException

    if not isinstance(error, PySparkException):
        return None
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
    said = lines[-1 if type(error).__name__ == "PythonException" else 0]  # the end of a worker's traceback tells
    return SparkFailedError(f"{type(error).__name__}: {said[:300]}")


def _end_java() -> None:
    """Wait until an embedded Spark's process is gone: tasks that were stopped may write for a moment after the session.

    What an interrupted run leaves is removed afterwards, and must not come back.
    """
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    process.terminate()
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _start(master: str, settings: dict[str, str]) -> "SparkSession":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise the workers run whatever python3 is on the PATH
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    defaults = {
        "spark.app.name": "topicloom",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        # lists of topics are made in hash tables; Spark's own limit of 128 nodes would have all subscriptions sorted
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "200000",
    }
    if master.startswith("local"):
        defaults |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": f"{_heap_mib()}m",
            "spark.sql.shuffle.partitions": str(max(8, 2 * (os.cpu_count() or 1))),
        }
    builder = SparkSession.builder.master(master)
    for key, value in (defaults | settings).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, RuntimeError) as error:
        raise SparkUnavailableError(
            f"Spark did not start with master {master!r}: {str(error).splitlines()[0]}"
        ) from error


def _heap_mib() -> int:
    """Memory for the embedded Spark: a quarter of what is at hand, from 2 to 8 GiB; Python workers need the rest."""
    return max(2048, min(8192, available_memory() // 4 // 2**20))


def _connect(remote: str, settings: dict[str, str]) -> "SparkSession":
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


def _check_server(remote: str) -> None:
    """Fail at once, not after ten minutes of retries, when nobody listens."""
    address = urlsplit(remote)
    if address.scheme != "sc" or not address.hostname:
        raise InvalidOptionError(f"--remote {remote!r} is not of the form sc://host:port")
    try:
        socket.create_connection((address.hostname, address.port or _CONNECT_PORT), timeout=10).close()
    except OSError as error:
        raise SparkUnavailableError(f"no Spark Connect server answers at {remote}: {error.strerror or error}") from None


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    advice = "install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME"
    if java is None:
        raise SparkUnavailableError(
            f"Spark needs Java, and none was found{f' in JAVA_HOME={home}' if home else ''}: {advice}"
        )
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', answer)
    if version and int(version.group(1)) < _OLDEST_JAVA:
        raise SparkUnavailableError(
            f"Spark needs Java {_OLDEST_JAVA} or newer, and {java} is Java {version.group(1)}: {advice}"
        )


@contextmanager
def _spark_output(verbose: bool) -> Iterator[None]:
    """Send what the JVM and the workers write to stderr to a file; kept, and named, if the block fails."""
    if verbose:
        yield
        return
    logging.disable(logging.CRITICAL)  # py4j reports an interrupt with a traceback
    handle, name = tempfile.mkstemp(prefix="topicloom-spark-", suffix=".log")
    log = Path(name)
    ours = os.dup(2)
    sys.stderr.flush()
    terminal, sys.stderr = (
        sys.stderr,
        os.fdopen(os.dup(ours), "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace"),
    )
    os.dup2(handle, 2)
    os.close(handle)
    try:
        yield
    except BaseException as error:
        expected = isinstance(error, ValueError | KeyboardInterrupt)  # our own errors explain themselves
        if expected or not log.stat().st_size:
            log.unlink(missing_ok=True)
        else:
            print(f"topicloom: Spark's log is in {log}", file=sys.stderr)
        raise
    else:
        log.unlink(missing_ok=True)
    finally:
        logging.disable(logging.NOTSET)
        sys.stderr.flush()
        os.dup2(ours, 2)
        os.close(ours)
        sys.stderr.close()
        sys.stderr = terminal
