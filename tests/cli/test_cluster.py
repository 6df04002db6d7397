"""The same command on a real standalone cluster, a master and two workers on loopback."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pyspark
import pytest

import topicloom as tl

HOME = Path(pyspark.__file__).parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """Address of a cluster of our own; its processes are ended by their ids."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "512m",
    }
    port, page, processes = free_port(), free_port(), []

    def start(kind, *arguments):
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1"]
        with (folder / f"{len(processes)}.log").open("wb") as log:
            processes.append(
                subprocess.Popen([*command, *arguments], env=environment, cwd=folder, stdout=log, stderr=log)
            )

    def workers():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=10) as answer:
                return json.load(answer)["aliveworkers"]
        except OSError:
            return 0

    try:
        start("master.Master", "--port", str(port), "--webui-port", str(page))
        for _ in range(2):
            limits = ["--cores", "1", "--memory", "1g", "--webui-port", str(free_port())]
            start("worker.Worker", *limits, f"spark://127.0.0.1:{port}")
        deadline = time.monotonic() + 300
        while workers() < 2:
            said = [(folder / f"{number}.log").read_text()[-1000:] for number in range(3)]
            assert all(one.poll() is None for one in processes) and time.monotonic() < deadline, said
            time.sleep(0.2)
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(timeout=60)


def test_the_same_links_on_a_cluster_that_gets_the_package_by_itself(master, tmp_path):
    interest = tl.generate(nodes=120, topics=15, subscriptions=4, seed=1)
    rows = [f"{interest.node_label(v)},{interest.topic_label(t)}" for v, t in zip(interest.nodes, interest.topics)]
    (tmp_path / "subs.csv").write_text("\n".join(rows))
    settings = {
        "spark.executor.memory": "600m",
        "spark.sql.shuffle.partitions": "2",
        # compiling takes longer than running so small an interest uncompiled
        "spark.executorEnv.NUMBA_DISABLE_JIT": "1",
        "spark.executorEnv.XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    given = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    command = [sys.executable, "-m", "topicloom", "design", "subs.csv", "out", "--master", master, *given]
    done = subprocess.run(
        [*command, "--method", "dc", "--partitions", "5", "--seed", "2"],
        cwd=tmp_path,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expected = tl.design(interest, "dc", partitions=5, seed=2)
    assert tl.Overlay.load(tmp_path / "out").links.tolist() == expected.links.tolist()
    # the workers' Python has topicloom installed; what they loaded is what was sent, or nobody had unpacked it
    assert list(tmp_path.glob("cache/topicloom/*/package/topicloom/methods/conquer.py"))
    assert not list(tmp_path.glob(".*"))  # the work folder is gone
