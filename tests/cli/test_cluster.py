"""The same command on a real standalone cluster, a master and two workers on loopback."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

import topicloom as tl
from support.spark_servers import HOME, LOOPBACK, Server, messy_folder, rejected_in_memory, rejected_of

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """Address of a cluster of our own."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | LOOPBACK
    environment |= {"SPARK_WORKER_DIR": str(folder / "work"), "SPARK_DAEMON_MEMORY": "512m"}

    def start(name, kind, *arguments):
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1"]
        return Server([*command, "--webui-port", "0", *arguments], folder / f"{name}.log", **environment)

    with ExitStack() as running:
        leader = running.enter_context(start("master", "master.Master", "--port", "0"))
        address = leader.wait_for(r"Starting Spark master at (spark://\S+)")
        for number in (1, 2):
            limits = ["--cores", "1", "--memory", "1g"]
            running.enter_context(start(f"worker{number}", "worker.Worker", *limits, address))
        leader.wait_for("Registering worker", times=2)
        yield address


KILLS_ITS_EXECUTOR = """
import sys
from topicloom.spark.session import spark_session

def kill(batches):
    import os, psutil, signal
    daemon = psutil.Process(os.getppid())
    os.kill(daemon.ppid(), signal.SIGKILL)
    yield from batches

conf = ["spark.executor.memory=600m", "spark.task.maxFailures=1", "spark.sql.shuffle.partitions=2"]
try:
    with spark_session(master=sys.argv[1], conf=conf) as spark:
        spark.range(1).mapInArrow(kill, "id bigint").collect()
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


def test_a_dead_executor_is_a_sentence(master, tmp_path):
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", KILLS_ITS_EXECUTOR, master]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout.startswith("SparkFailedError: Spark lost an executor: "), done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1 and "Traceback" not in done.stderr


def test_the_same_links_on_a_cluster_that_gets_the_package_by_itself(master, tmp_path):
    interest = tl.generate(nodes=120, topics=15, subscriptions=4, seed=1)
    rows = [f"{interest.node_label(v)},{interest.topic_label(t)}" for v, t in zip(interest.nodes, interest.topics)]
    (tmp_path / "subs.csv").write_text("\n".join(["node,topic", *rows]))
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
    messy = messy_folder(tmp_path)
    given = ["design", "messy", "clean", "--master", master, *given]
    done = subprocess.run(
        [sys.executable, "-m", "topicloom", *given],
        cwd=tmp_path,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert rejected_of(tmp_path / "clean") == rejected_in_memory(tl.read_subscriptions(messy))
    # the workers' Python has topicloom installed; what they loaded is what was sent, or nobody had unpacked it
    assert list(tmp_path.glob("cache/topicloom/*/package/topicloom/methods/dc/conquer.py"))
    assert not list(tmp_path.glob(".*"))  # the work folder is gone


IN_ROUNDS = """
import json, sys
from pathlib import Path
import numpy as np
import topicloom as tl
from topicloom.pipeline.prepare import prepare
from topicloom.pipeline.rounds.design_in_rounds import design_in_rounds
from topicloom.spark.session import spark_session

master, work = sys.argv[1], Path(sys.argv[2])
conf = ["spark.executor.memory=600m", "spark.sql.shuffle.partitions=2", "spark.executorEnv.NUMBA_DISABLE_JIT=1"]

def die_once(batches):
    import os
    if not (work / "died").exists():
        (work / "died").touch()
        os._exit(1)
    yield from batches

work.mkdir()
with spark_session(master=master, conf=conf) as spark:
    interest = tl.generate(nodes=120, topics=15, subscriptions=4, seed=1)
    rows = [(f"n{v:03}", f"t{t:02}") for v, t in zip(interest.nodes.tolist(), interest.topics.tolist())]
    table = prepare(spark.createDataFrame(rows, "node string, topic string")).interest
    table = table.select("node_id", "topics").mapInArrow(die_once, "node_id int, topics array<int>")
    found = design_in_rounds(table, seed=2, options={"orders": 2, "block": 10}, n_nodes=interest.n_nodes,
                             n_topics=interest.n_topics, subscribers=np.diff(interest.topic_indptr), work=work)
    print(json.dumps([[row["src_id"], row["dst_id"]] for row in found.links.orderBy("order").collect()]))
"""


@pytest.mark.parametrize("where", ["cluster", "local[1,4]"])
def test_rounds_give_the_links_of_memory_on_a_cluster_and_on_one_core_though_a_worker_dies(master, tmp_path, where):
    expected = tl.rounds_greedy_merge(
        tl.generate(nodes=120, topics=15, subscriptions=4, seed=1), orders=2, block=10, seed=2
    )
    command = [sys.executable, "-c", IN_ROUNDS, master if where == "cluster" else where, str(tmp_path / "work")]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected.links.tolist()
    assert (tmp_path / "work" / "died").exists()
