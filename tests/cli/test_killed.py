"""Processes of a run on Spark die in the middle of the conquest: real ones, by SIGKILL."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom as tl
from topicloom.model.labels import to_arrow

PARTITIONS = 24
OPTIONS = {"nodes": 24_000, "topics": 400, "subscriptions": 20, "popularity": "zipf", "alpha": 0.8, "seed": 1}

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def interest():
    return tl.generate(**OPTIONS)


@pytest.fixture(scope="module")
def expected(interest):
    return tl.design(interest, "dc", partitions=PARTITIONS, seed=3).links.tolist()


@pytest.fixture
def start(interest, tmp_path):
    """Start the command; it and what it has started are ended with the test."""
    nodes, topics = to_arrow(interest.node_labels), to_arrow(interest.topic_labels)
    table = pa.table({"node": nodes.take(pa.array(interest.nodes)), "topic": topics.take(pa.array(interest.topics))})
    pq.write_table(table, tmp_path / "subs.parquet")
    processes = []

    def begin():
        command = [sys.executable, "-m", "topicloom", "design", "subs.parquet", "out", "--method", "dc", "--seed", "3"]
        process = subprocess.Popen(
            [*command, "--partitions", str(PARTITIONS), "--master", "local[2,4]"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()


def finished(folder: Path) -> int:
    return len(list(folder.glob(".out.work/*/*.parquet")))


def wait_for_the_conquest(process, folder):
    deadline = time.monotonic() + 300
    while not finished(folder):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)


def test_a_killed_worker_changes_nothing(start, expected, tmp_path):
    process = start()
    wait_for_the_conquest(process, tmp_path)
    killed = 0
    for one in psutil.Process(process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            if "pyspark.daemon" in one.cmdline() and not one.children():
                one.kill()
                killed += 1
    assert killed and finished(tmp_path) < PARTITIONS
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert tl.Overlay.load(tmp_path / "out").links.tolist() == expected


def test_a_killed_run_leaves_no_output_and_the_next_one_goes_on(start, expected, tmp_path):
    process = start()
    wait_for_the_conquest(process, tmp_path)
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    psutil.wait_procs(family, timeout=60)  # the JVM notices, and ends with its workers
    done = finished(tmp_path)
    assert 0 < done < PARTITIONS and not (tmp_path / "out").exists()
    again = start()
    _, said = again.communicate(timeout=300)
    assert again.returncode == 0, said
    reused = re.search(rf"reused (\d+) of {PARTITIONS} partitions", said)
    assert reused and int(reused[1]) == done, said
    assert tl.Overlay.load(tmp_path / "out").links.tolist() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "subs.parquet"]
