"""The command in processes of its own: real Spark start, real signals."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

import topicloom as tl

COMMAND = [sys.executable, "-m", "topicloom"]
HEARD = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # tests in the background may ignore Ctrl-C


@pytest.fixture
def old_output(tmp_path):
    tl.design(tl.Interest.from_pairs(["a", "b"], ["x", "x"]), "ring-pt").save(tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def subscriptions(tmp_path):
    interest = tl.generate(nodes=300, topics=40, subscriptions=6, seed=1)
    lines = [f"{interest.node_label(v)},{interest.topic_label(t)}" for v, t in zip(interest.nodes, interest.topics)]
    (tmp_path / "subs.csv").write_text("node,topic\n" + "\n".join(lines) + "\n")
    return tmp_path / "subs.csv"


@pytest.mark.spark
def test_a_whole_run_says_little_and_writes_all(subscriptions, old_output):
    arguments = ["design", str(subscriptions), str(old_output), "--overwrite", "--master", "local[1]"]
    arguments += ["--conf", "spark.sql.adaptive.enabled=true"]  # as users run it; conftest.py turns it off
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "40 of 40" in done.stdout
    # how the file was read, its rows, what is about to be done, that it is done, and that it needs no Spark
    said = [line for line in done.stderr.splitlines() if not line.startswith("… ")]
    assert len(said) == 5 and said[1] == "1,800 rows = 1,800 used + 0 repeated + 0 rejected", done.stderr
    overlay = tl.Overlay.load(old_output)
    expected = tl.design(tl.generate(nodes=300, topics=40, subscriptions=6, seed=1), "gm")
    assert overlay.links.tolist() == expected.links.tolist()


def test_closed_streams_are_no_failure(tmp_path):
    """What is printed goes nowhere; files that the command opens must not take the place of stdout or stderr."""
    script = """
        "$0" -m topicloom methods >&- || exit 1
        "$0" -m topicloom generate subs --nodes 20 --topics 4 --subscriptions 2 <&- >&- 2>&- || exit 1
        "$0" -m topicloom design subs 2>&-; [ $? = 2 ]
    """
    done = subprocess.run(["sh", "-c", script, sys.executable], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["subs"]


FAILING_WORKER = """
from topicloom.spark.session.session import spark_session

def fail(batches):
    raise ArithmeticError("as a worker said")
    yield

with spark_session(master="local[1]") as spark:
    spark.range(1).mapInArrow(fail, "id bigint").count()
"""


@pytest.mark.spark
def test_what_a_worker_said_outlives_spark():
    """PySpark's errors ask Spark's process for their words, and that has ended when they are printed."""
    command = [sys.executable, "-c", FAILING_WORKER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.stderr.rstrip().endswith(
        "SparkFailedError: a Python worker of Spark failed: ArithmeticError: as a worker said"
    )
    assert "AssertionError" not in done.stderr


@pytest.mark.spark
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL], ids=lambda way: way.name)
def test_a_run_that_is_stopped_while_java_starts_leaves_no_process(subscriptions, tmp_path, way):
    command = [*COMMAND, "design", str(subscriptions), str(tmp_path / "new")]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=HEARD,  # noqa: PLW1509
    ) as process:
        while not (family := psutil.Process(process.pid).children(recursive=True)):
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(way)
        _, said = process.communicate(timeout=120)
    assert psutil.wait_procs(family, timeout=120)[1] == []
    assert process.returncode == (130 if way == signal.SIGINT else -signal.SIGKILL) and "Traceback" not in said
    assert not (tmp_path / "new").exists()


INTERRUPTED_IN_EXEC = """
from topicloom.cli import app

app.app_for = lambda arguments: exec("raise KeyboardInterrupt")
app.entry()
"""


def test_ctrl_c_while_a_module_defines_a_dataclass_is_130_too(tmp_path):
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_IN_EXEC)
    command = [sys.executable, "-m", "interrupted", "methods"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "topicloom: interrupted; nothing half-written is left\n")


TAKEN_APART = """
import atexit, sys
from topicloom.cli import app

class Part:
    def __del__(self):
        sys.stderr.write("taken apart\\n")

def command(arguments):
    sys.part = Part()
    atexit.register(print, "tidied up")
    return lambda *_, **__: print("said", end=", ") or 1

app.app_for = command
app.entry()
"""


def test_the_process_ends_before_cpython_takes_itself_apart(tmp_path):
    """Threads of Arrow or PySpark that live on then abort: a stream that had finished its work ended with -6."""
    (tmp_path / "apart.py").write_text(TAKEN_APART)
    command = [sys.executable, "-m", "apart", "methods"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "said, tidied up\n", "")


def test_output_that_does_not_fit_on_the_disk_is_no_success():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "methods"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr


# The command, held where all is written and nothing has been moved into its place.
HELD = """
import signal
from topicloom.__main__ import entry
from topicloom.files.write import atomic

def held(*_, **__):
    print("written", flush=True)
    while True:
        signal.pause()

atomic._move_into_place = held
entry()
"""


@pytest.mark.spark
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL], ids=lambda way: way.name)
def test_a_run_that_is_stopped_before_its_last_step_leaves_the_old_output(subscriptions, old_output, way):
    command = [sys.executable, "-c", HELD, "design", str(subscriptions), str(old_output), "--overwrite"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=HEARD,  # noqa: PLW1509
    ) as process:
        assert "written\n" in iter(process.stdout.readline, "")
        assert list(old_output.parent.glob(".out.partial-*/run.json"))
        process.send_signal(way)
        _, said = process.communicate(timeout=120)
    if way == signal.SIGKILL:
        with suppress(ProcessLookupError):  # Java ends by itself, now or later
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == (130 if way == signal.SIGINT else -signal.SIGKILL)
    assert tl.Overlay.load(old_output).method == "ring-pt"
    if way == signal.SIGINT:
        assert "interrupted" in said and "Traceback" not in said
        assert sorted(path.name for path in old_output.parent.iterdir()) == ["out", "subs.csv"]
