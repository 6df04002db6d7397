"""The same command through a real Spark Connect server, on loopback."""

import os
import subprocess
import sys

import pytest

import topicloom as tl
from support.spark_servers import HOME, LOOPBACK, Server, messy_folder, rejected_in_memory, rejected_of

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Address of a Spark Connect server of our own, and its users' cache."""
    folder = tmp_path_factory.mktemp("connect")
    environment = os.environ | LOOPBACK
    environment |= {"SPARK_NO_DAEMONIZE": "1", "SPARK_LOG_DIR": str(folder)}
    # compiling takes longer than running so small an interest uncompiled
    environment |= {"NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(folder / "cache")}
    command = [str(HOME / "sbin" / "start-connect-server.sh"), "--master", "local[2]"]
    settings = {"spark.connect.grpc.binding.port": 0, "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 2}
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    with Server(command, folder / "server.log", **environment) as running:
        port = running.wait_for(r"Spark Connect server started at: \S+:(\d+)")
        yield f"sc://127.0.0.1:{port}", folder / "cache"


def test_the_same_links_through_spark_connect(server, tmp_path):
    server, cache = server
    interest = tl.generate(nodes=60, topics=12, subscriptions=3, seed=1)
    rows = [f"{interest.node_label(v)},{interest.topic_label(t)}" for v, t in zip(interest.nodes, interest.topics)]
    (tmp_path / "subs.csv").write_text("\n".join(["node,topic", *rows]))
    command = [sys.executable, "-m", "topicloom"]
    given = [str(tmp_path / "subs.csv"), str(tmp_path / "out"), "--remote", server]
    relative = [*command, "design", "subs.csv", "out", *given[2:], "--seed", "2"]  # not in the server's folder
    done = subprocess.run(relative, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert tl.Overlay.load(tmp_path / "out").links.tolist() == tl.design(interest, "gm", seed=2).links.tolist()
    done = subprocess.run([*command, "verify", *given], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "holds: all 12 topics are topic-connected\n"), done.stderr
    lost = [*command, "verify", "nowhere.csv", "out", *given[2:]]
    done = subprocess.run(lost, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{tmp_path}/nowhere.csv does not exist: the Spark Connect server at {server} looks for it on" in done.stderr
    given = [given[0], str(tmp_path / "dc"), *given[2:], "--seed", "2", "--method", "dc", "--partitions", "4"]
    done = subprocess.run([*command, "design", *given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = tl.design(interest, "dc", partitions=4, seed=2)
    assert tl.Overlay.load(tmp_path / "dc").links.tolist() == expected.links.tolist()
    # the same rows, reasons and order of problems as in memory
    messy = messy_folder(tmp_path)
    given = [str(messy), str(tmp_path / "clean"), "--remote", server]
    done = subprocess.run([*command, "design", *given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reading = tl.read_subscriptions(messy)
    assert rejected_of(tmp_path / "clean") == rejected_in_memory(reading)
    assert reading.counts == {"rows": 12, "used": 5, "repeated": 1, "rejected": 6}
    assert "12 rows = 5 used + 1 repeated + 6 rejected" in done.stderr and "1 skipped: x.csv.bak" in done.stderr
    given = [str(tmp_path / "none.csv"), str(tmp_path / "clean2"), "--remote", server]
    done = subprocess.run([*command, "design", *given], capture_output=True, text=True, check=False)
    assert (done.returncode, "none.csv does not exist" in done.stderr) == (2, True), done.stderr
    assert not list(tmp_path.glob(".*"))
    # the server's Python has topicloom installed; what it loaded is what was sent, or nobody had unpacked it
    assert list(cache.glob("topicloom/*/package/topicloom/methods/dc/conquer.py"))


STREAMS_REMOTELY = """
import sys
from pyspark.sql import SparkSession
from topicloom.errors import InvalidOptionError
from topicloom.stream import maintain

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
events = spark.readStream.format("rate").load().selectExpr("'leave' AS event", "'n' AS node")
try:
    maintain(events, out=sys.argv[2])
except InvalidOptionError as error:
    print(error)
"""


def test_a_stream_through_spark_connect_is_refused_with_the_reason(server, tmp_path):
    command = [sys.executable, "-c", STREAMS_REMOTELY, server[0], str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "runs foreachBatch on its own side" in done.stdout, done.stderr
    assert not (tmp_path / "out").exists()
