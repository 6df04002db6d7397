"""One Spark session for all tests that ask for it; the others start no JVM."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from topicloom.cli import console
from topicloom.spark.session.java import QUICK, java_options
from topicloom.spark.session.session import DAEMON

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A shell that runs the tests in the background has them ignore Ctrl-C, and what they start would ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A quick compiler, a simple collector, an archive of classes and plans made once suit short runs, those of commands
# that tests start among them. (Spark Connect's server and benches run as users do, adaptive plans included.)
QUICK_JAVA = java_options(quick=True)
os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK)
SUBMIT = "--driver-java-options '{}' --conf spark.sql.adaptive.enabled=false pyspark-shell"
os.environ.setdefault("PYSPARK_SUBMIT_ARGS", SUBMIT.format(QUICK_JAVA))
# The session of the tests lives long and makes many classes: room for them, and for what they leave, at the start.
LONG_LIVED = "-XX:MetaspaceSize=256m -XX:ReservedCodeCacheSize=256m -Xms1g -Xmn384m"

# a failing example is printed as a line that runs it again, also where no database of examples is kept
settings.register_profile("topicloom", deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI")))
settings.load_profile("topicloom")

console.EVERY = 3600.0  # lines of progress would make what commands say depend on the machine

DATASETS = Path(os.environ.get("TOPICLOOM_DATASETS") or Path(__file__).parents[2] / "shared" / "datasets")


# Files whose tests share a session of Spark. It takes half a minute to start and get going: two workers have one each.
SESSIONS = (
    ("spark/test_design", "cli/test_commands", "spark/test_routes", "spark/test_mapped_check",
     "spark/test_examples_on_spark",
     "spark/test_stream", "papers/test_runner", "cli/test_killed", "spark/test_workers", "spark/test_compare",
     "cli/test_design_k", "cli/test_study", "cli/test_design_for_network"),
    ("runs/test_engines", "spark/test_read", "spark/test_divide_and_conquer", "spark/test_rounds",
     "cli/test_stream", "spark/test_failures", "cli/test_compare", "cli/test_forbid", "methods/test_star_sets",
     "spark/test_generate", "spark/test_answers", "laws/test_golden"),
)  # fmt: skip
# These come first, and of the others those that take longest, so that all workers end at about the same time.
FIRST = (
    "cli/test_cluster", *(file for session in SESSIONS for file in session), "cli/test_connect", "spark/test_java",
    "cli/test_processes", "brokers/test_rehearsal", "kernels/test_greedy",
)  # fmt: skip


def name_of(path: str | Path) -> str:
    """The folder and the name of a test file, by which the lists above call it."""
    return "/".join(Path(path).with_suffix("").parts[-2:])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    rank = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(name_of(item.path), len(rank)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Let --dist loadfile give all files that share a session to one worker."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    session_of = {name: f"session {number}" for number, names in enumerate(SESSIONS) for name in names}

    class BySession(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return session_of.get(name_of(file), file)

    return BySession(config, log)


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2,4]")
        .appName("topicloom tests")
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.adaptive.enabled", False)  # many tiny jobs: each is planned once
        # Spark keeps the last 100 pieces of code that it generates: one design has more, and many tests design
        .config("spark.sql.codegen.cache.maxEntries", 10_000)
        .config("spark.sql.codegen.useIdInClassName", False)
        .config("spark.python.sql.dataFrameDebugging.enabled", False)  # as in sessions of the commands
        .config("spark.python.daemon.module", DAEMON)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", SUBMIT.format(f"{QUICK_JAVA} {LONG_LIVED}"))
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def shared_session(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that `main` runs take the session of the tests instead of starting, and ending, one of their own."""

    @contextmanager
    def shared(**_: object) -> "Iterator[SparkSession]":
        yield spark

    commands = (f"commands.{name}" for name in ("generate", "routes", "stream", "study"))
    for place in ("engines", *commands):
        monkeypatch.setattr(import_module(f"topicloom.cli.{place}"), "spark_session", shared)


@pytest.fixture
def dataset() -> "Iterator":
    """Path of a real interest by name; skips where it is not there."""

    def find(name: str) -> Path:
        if not (DATASETS / name).exists():
            pytest.skip(f"{name} is not in {DATASETS}; TOPICLOOM_DATASETS names the folder of the real interests")
        return DATASETS / name

    return find
