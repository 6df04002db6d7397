"""What Spark, its JVM or a Python worker reported, as one sentence.

PySpark's exceptions fetch their text from the JVM lazily, so the sentence is made while the JVM still runs.
"""

import re
import subprocess
from contextlib import suppress

from topicloom.errors import SparkFailedError, TopicloomError, UnreadableInputError

_CAUSE = re.compile(r"^(?:: |Caused by: )(?:[\w.$]*\.)?([\w$]+)(?:: (.*))?$", re.MULTILINE)
_FILE = re.compile(r"Encountered error while reading file (?:file:/*(?=/))?(\S.*?)\.\s")
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
_CONDITION = re.compile(r"^\[[A-Z0-9_.]+\] ")
_STATE = re.compile(r"\s*SQLSTATE: \w+;?\s*$")
_LOST = re.compile(r"ExecutorLostFailure \((.*?)\)\s*(?:Reason: )?(.*)")
_OUT_OF_HEAP = re.compile(r"java\.lang\.OutOfMemoryError(?:: (.*))?|\bSparkOutOfMemoryError\b")
# A JVM that ends stops its SparkContext on the way: calls fail in one of these ways, depending on how far it has got.
_ENDING = re.compile(
    r"Py4JNetworkError|SparkContext was shut down|stopped SparkContext|SparkContext\.\w+\(\)\" is null"
)
_SECONDS_TO_END = 10
_CANNOT_READ = "cannot read "
_HEAP_GONE = 52  # the exit code of a JVM that Spark ended because its memory ran out
_MORE_MEMORY = (
    "give it more with --conf spark.driver.memory=8g (on a cluster: spark.executor.memory), or fewer tasks at once "
    "with --master 'local[1,4]'"
)


def is_sparks(error: BaseException) -> bool:
    """Whether an exception comes from Spark: from PySpark, from the bridge to the JVM, or from a connection to it."""
    from pyspark.errors import PySparkException

    module = type(error).__module__.partition(".")[0]
    return isinstance(error, PySparkException | ConnectionError) or module in ("py4j", "grpc")


def spark_failure(error: BaseException, java: "subprocess.Popen[bytes] | None" = None) -> TopicloomError:
    """Copy what Spark reported into an exception of ours, which needs no JVM to be printed.

    It is an `UnreadableInputError` where a file is to blame, else a `SparkFailedError`.

    Parameters
    ----------
    error : BaseException
        An exception for which `is_sparks` is true.
    java : Popen, optional
        The process of an embedded Spark; if it has ended, that is the failure.
    """
    text = _text(error)
    ended = _exit_code(java, error, text)
    if ended is not None:
        return SparkFailedError(_java_ended(ended))
    sentence = sentence_of(type(error).__name__, text)
    return UnreadableInputError(sentence) if sentence.startswith(_CANNOT_READ) else SparkFailedError(sentence)


def sentence_of(kind: str, text: str) -> str:
    r"""Say in one sentence what a report of Spark means: the file if one is named, and the last cause that has words.

    Parameters
    ----------
    kind : str
        Name of the exception's class.
    text : str
        Its message with the Java stack trace, as PySpark, Py4J or Spark Connect give it.

    Examples
    --------
    >>> sentence_of("Py4JJavaError", "calling o1\n: java.lang.OutOfMemoryError: Java heap space").partition(";")[0]
    "Spark's Java process ran out of memory (Java heap space)"
    """
    heap = _OUT_OF_HEAP.search(text)
    if heap:
        return f"Spark's Java process ran out of memory ({heap[1] or 'no more to reserve'}); {_MORE_MEMORY}"
    file = _FILE.search(text)
    if file:
        return f"{_CANNOT_READ}{file[1]}: {_last_cause(text)}"
    if "Python worker exited unexpectedly" in text:
        return "a Python worker of Spark ended before its work was done: killed, crashed or out of memory"
    lost = _LOST.search(text)
    if lost:
        return f"Spark lost an executor: {_short(lost[2] or lost[1])}"
    if "Traceback (most recent call last)" in text:
        return f"a Python worker of Spark failed: {_raised(text)}"
    return f"Spark failed ({kind}): {_last_cause(text)}"


def _exit_code(java: "subprocess.Popen[bytes] | None", error: BaseException, text: str) -> int | None:
    """Return the exit code of the JVM, None while it runs. A JVM that cancels its jobs is about to end."""
    if java is None:
        return None
    if isinstance(error, ConnectionError) or _ENDING.search(f"{type(error).__name__} {text}"):
        with suppress(subprocess.TimeoutExpired):
            return java.wait(_SECONDS_TO_END)
    return java.poll()


def _java_ended(code: int) -> str:
    if code == _HEAP_GONE:
        return f"Spark's Java process ended because its memory ran out; {_MORE_MEMORY}"
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return f"Spark's Java process ended {how} in the middle of the work"


def _text(error: BaseException) -> str:
    """Join the message and, where PySpark keeps it apart, the Java stack trace."""
    try:
        trace = error.getStackTrace() if hasattr(error, "getStackTrace") else None
        return f"{error}\n{trace or ''}"
    except Exception as lost:  # the JVM was asked and is gone
        return f"it ended before it said why ({type(lost).__name__})"


def _last_cause(text: str) -> str:
    """Find the message of the innermost Java exception that has one, or else the first line."""
    causes = [(name, message.strip()) for name, message in _CAUSE.findall(text) if message.strip()]
    if not causes:
        return _short(next((line for line in text.splitlines() if line.strip()), "no message"))
    name, message = causes[-1]
    return f"{_short(message)} ({name.rpartition('$')[2]})"


def _raised(text: str) -> str:
    """Find the line that ends a Python traceback, for an error of topicloom its sentence alone."""
    after = text.rpartition("Traceback (most recent call last)")[2].split("\n\tat ")[0].split("SQLSTATE")[0]
    lines = [line for line in after.splitlines() if _RAISED.match(line)]
    if not lines:
        return "no message"
    name, _, message = lines[-1].partition(": ")
    ours = name.startswith(("topicloom.", "topicloom_papers."))
    return _short(message if ours else f"{name.rpartition('.')[2]}: {message}".rstrip(": "))


def _short(message: str) -> str:
    return _STATE.sub("", _CONDITION.sub("", message.strip()))[:300]
