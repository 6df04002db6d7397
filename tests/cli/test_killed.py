"""Processes of a run on Spark die in the middle of the conquest: real ones, by SIGKILL."""

import contextlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.model.labels import to_arrow
from topicloom.spark.session.session import DAEMON

PARTITIONS = 40
OPTIONS = {"nodes": 6_000, "topics": 200, "subscriptions": 20, "popularity": "zipf", "alpha": 0.8, "seed": 1}


@pytest.fixture
def interest():
    return tl.generate(**OPTIONS)


@pytest.fixture
def expected(interest):
    return tl.design(interest, "dc", partitions=PARTITIONS, seed=3).links.tolist()


@pytest.fixture
def command(interest, tmp_path):
    """Arguments of a design of the interest, to OUT."""
    nodes, topics = to_arrow(interest.node_labels), to_arrow(interest.topic_labels)
    table = pa.table({"node": nodes.take(pa.array(interest.nodes)), "topic": topics.take(pa.array(interest.topics))})
    pq.write_table(table, tmp_path / "subs.parquet")
    given = ["design", str(tmp_path / "subs.parquet"), str(tmp_path / "out"), "--method", "dc", "--seed", "3"]
    return [*given, "--partitions", str(PARTITIONS), "--engine", "distributed"]


def finished(folder: Path) -> int:
    return len(list(folder.glob(".out.work/*/*.parquet")))


def wait_for_the_conquest(folder, running, after=0):
    deadline = time.monotonic() + 300
    while finished(folder) <= after:
        assert running() and time.monotonic() < deadline
        time.sleep(0.005)


def kill_workers() -> int:
    killed = 0
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            if DAEMON in one.cmdline() and not one.children():
                one.kill()
                killed += 1
    return killed


def test_a_killed_run_leaves_no_output_and_the_next_one_goes_on_though_its_workers_are_killed(
    shared_session, command, expected, tmp_path, tmp_path_factory, capsys
):
    temporary = tmp_path_factory.mktemp("temporary")
    # as a user's shell: the tests' options of Java would come before those of the command
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
    started = [sys.executable, "-m", "topicloom", *command, "--master", "local[2,4]"]
    process = subprocess.Popen(started, env=environment | {"TMPDIR": str(temporary)})
    try:
        wait_for_the_conquest(tmp_path, lambda: process.poll() is None)
        # what Spark would leave in a folder of its own is where the next run sweeps
        assert list(temporary.glob("topicloom-run-*/artifacts-*"))
        family = psutil.Process(process.pid).children(recursive=True)
    finally:
        process.kill()
        process.wait()
    assert psutil.wait_procs(family, timeout=60)[1] == []  # the JVM notices, and ends with its workers
    done = finished(tmp_path)
    assert 0 < done < PARTITIONS and not (tmp_path / "out").exists()
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(main, command)
        wait_for_the_conquest(tmp_path, lambda: not run.done(), after=done)
        assert kill_workers() and finished(tmp_path) < PARTITIONS
        assert run.result() == 0, capsys.readouterr().err
    reused = re.search(rf"reused (\d+) of {PARTITIONS} partitions", capsys.readouterr().err)
    assert reused and int(reused[1]) == done
    assert tl.Overlay.load(tmp_path / "out").links.tolist() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "subs.parquet"]
