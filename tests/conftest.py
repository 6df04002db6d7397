"""One Spark session for all tests that ask for it; the others start no JVM."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from topicloom.cli import console
from topicloom.spark.java import QUICK, java_options
from topicloom.spark.session import DAEMON

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A quick compiler, a simple collector, an archive of classes and plans made once suit short runs, those of commands
# that tests start among them. (Spark Connect's server and benches run as users do, adaptive plans included.)
QUICK_JAVA = java_options(quick=True)
os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK)
os.environ.setdefault(
    "PYSPARK_SUBMIT_ARGS",
    f"--driver-java-options '{QUICK_JAVA}' --conf spark.sql.adaptive.enabled=false pyspark-shell",
)

# a failing example is printed as a line that runs it again, also where no database of examples is kept
settings.register_profile("topicloom", deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI")))
settings.load_profile("topicloom")

console.EVERY = 3600.0  # lines of progress would make what commands say depend on the machine

DATASETS = Path(os.environ.get("TOPICLOOM_DATASETS") or Path(__file__).parents[2] / "shared" / "datasets")


# Files that take longest. Two workers that begin with them end at about the same time.
LONGEST = ("test_cluster", "test_connect", "test_killed", "test_read", "test_design", "test_engines", "test_stream",
           "test_divide_and_conquer", "test_commands", "test_processes", "test_greedy")  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    on_spark = set()
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        if item.get_closest_marker("spark"):
            on_spark.add(item.path)
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (rank.get(item.path.stem, len(rank)), item.path not in on_spark))


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2,4]")
        .appName("topicloom tests")
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.adaptive.enabled", False)  # many tiny jobs: each is planned once
        .config("spark.driver.extraJavaOptions", QUICK_JAVA)
        .config("spark.python.daemon.module", DAEMON)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def shared_session(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that `main` runs take the session of the tests instead of starting, and ending, one of their own."""

    @contextmanager
    def shared(**_: object) -> "Iterator[SparkSession]":
        yield spark

    commands = (f"commands.{name}" for name in ("design", "generate", "routes", "stream", "study"))
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
