"""The same commands through a real Spark Connect server, on loopback."""

import json
import os
import subprocess
import sys

import pytest

import topicloom as tl
from support.scripts import ENDS_LIKE_A_COMMAND
from support.spark_servers import HOME, LOOPBACK, Server, messy_folder, rejected_in_memory, rejected_of
from topicloom.spark.session.java import java_options

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
    command += ["--driver-java-options", java_options(quick=True)]
    settings = {"spark.connect.grpc.binding.port": 0, "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 2}
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    with Server(command, folder / "server.log", **environment) as running:
        port = running.wait_for(r"Spark Connect server started at: \S+:(\d+)")
        yield f"sc://127.0.0.1:{port}", folder / "cache"


IN_ONE_PROCESS = """
import json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pyspark.sql import SparkSession
from topicloom.cli.app import main
from topicloom.errors import InvalidOptionError
from topicloom.stream import maintain

def run(*arguments):
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()) as said:
        code = main([*arguments, "--remote", server])
    return code, printed.getvalue(), said.getvalue()

server = sys.argv[1]
here = os.getcwd() + "/"
found = {
    "design": run("design", "messy", "out", "--seed", "2", "--lenient"),  # relative names: not in the server's folder
    "lost": run("verify", "nowhere.csv", "out"),
    "dc": run("design", here + "subs.csv", here + "dc", "--seed", "2", "--method", "dc", "--partitions", "4",
              "--engine", "distributed"),
    "verify": run("verify", here + "subs.csv", here + "dc"),
    "none": run("design", here + "none.csv", here + "clean2"),
}
spark = SparkSession.builder.remote(server).getOrCreate()
events = spark.readStream.format("rate").load().selectExpr("'leave' AS event", "'n' AS node")
try:
    maintain(events, out=here + "streamed")
except InvalidOptionError as error:
    found["stream"] = 2, "", str(error)
from topicloom.pipeline import design_overlay, measure_overlay, route_overlay, verify_overlay, write_overlay
rows = spark.createDataFrame([("a", "x"), ("b", "x"), ("c", "x"), ("", "y")], "node string, topic string")
designed = design_overlay(rows)
found["frame"] = 0, f"{designed} {verify_overlay(rows, designed.links).ok} {designed.rejected.count()}", ""
clean = rows.where("node <> ''")
told = []
for engine in ("spark", "distributed"):
    designed = design_overlay(clean, "gm", engine=engine)
    write_overlay(designed, here + "clean-" + engine)
    metrics = measure_overlay(clean, designed.links, engine=engine)
    verdict = verify_overlay(clean, designed.links, engine=engine)
    none = verify_overlay(clean, designed.links.limit(0), engine=engine)
    trees = sorted(map(tuple, route_overlay(clean, designed.links).select("topic", "src", "dst").collect()))
    told.append([designed.rejected.count(), metrics.links, verdict.ok, none.broken_topics, trees])
found["clean"] = 0, told, ""
alone = design_overlay(spark.createDataFrame([("a", "x")], "node string, topic string"))
found["alone"] = 0, [alone.links.count(), alone.metrics.links], ""
print(json.dumps(found))
ended.append(True)
"""


def test_every_command_through_spark_connect_and_a_stream_refused_with_the_reason(server, tmp_path):
    server, cache = server
    interest = tl.generate(nodes=60, topics=12, subscriptions=3, seed=1)
    rows = [f"{interest.node_label(v)},{interest.topic_label(t)}" for v, t in zip(interest.nodes, interest.topics)]
    (tmp_path / "subs.csv").write_text("\n".join(["node,topic", *rows]))
    messy = messy_folder(tmp_path)
    command = [sys.executable, "-c", ENDS_LIKE_A_COMMAND + IN_ONE_PROCESS, server]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {name: tuple(outcome) for name, outcome in json.loads(done.stdout).items()}
    assert {name: code for name, (code, _, _) in found.items()} == {
        "design": 0, "lost": 2, "dc": 0, "verify": 0, "none": 2, "stream": 2, "frame": 0,
        "clean": 0, "alone": 0,
    }, found  # fmt: skip
    assert found["frame"][1] == "DesignResult(gm: 2 links, verified) True 1"
    # no row of these is rejected, so that tables without rows come back
    trees = [["x", "a", "c"], ["x", "b", "c"]]
    assert found["clean"][1] == [[0, 2, True, 1, trees]] * 2 and found["alone"][1] == [0, 0]
    for engine in ("spark", "distributed"):
        assert tl.Overlay.load(tmp_path / f"clean-{engine}").n_links == 2
    assert found["verify"][1] == "holds: all 12 topics are topic-connected\n"
    lost = f"{tmp_path}/nowhere.csv does not exist: the Spark Connect server at {server} looks for it on"
    assert lost in found["lost"][2]
    expected = tl.design(interest, "dc", partitions=4, seed=2)
    assert tl.Overlay.load(tmp_path / "dc").links.tolist() == expected.links.tolist()
    # the same rows, reasons and order of problems as in memory
    reading = tl.read_subscriptions(messy)
    assert rejected_of(tmp_path / "out") == rejected_in_memory(reading)
    assert tl.Overlay.load(tmp_path / "out").links.tolist() == tl.design(reading.interest(), seed=2).links.tolist()
    assert reading.counts == {"rows": 12, "used": 5, "repeated": 1, "rejected": 6}
    said = done.stderr  # a session sends what is said in it to the file, not to sys.stderr
    assert "12 rows = 5 used + 1 repeated + 6 rejected" in said and "1 skipped: x.csv.bak" in said
    assert "none.csv does not exist" in found["none"][2]
    assert "runs foreachBatch on its own side" in found["stream"][2] and not (tmp_path / "streamed").exists()
    assert not list(tmp_path.glob(".*"))
    # the server's Python has topicloom installed; what it loaded is what was sent, or nobody had unpacked it
    assert list(cache.glob("topicloom/*/package/topicloom/methods/dc/conquer.py"))
