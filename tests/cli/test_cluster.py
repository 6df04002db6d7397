"""The same command on a real standalone cluster, a master and two workers on loopback."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

import topicloom as tl
from support.scripts import ENDS_LIKE_A_COMMAND
from support.spark_servers import HOME, LOOPBACK, Server, messy_folder, rejected_in_memory, rejected_of
from topicloom.spark.session.java import java_options

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """Address of a cluster of our own."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | LOOPBACK
    environment |= {"SPARK_WORKER_DIR": str(folder / "work"), "SPARK_DAEMON_MEMORY": "512m"}
    environment |= {"SPARK_DAEMON_JAVA_OPTS": java_options(quick=True)}

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


IN_ONE_PROCESS = """
import json, sys
from contextlib import contextmanager, suppress
from pathlib import Path
import numpy as np
import topicloom as tl
from topicloom.cli.app import main
from topicloom.cli import engines
from topicloom.spark.steps.prepare import prepare
from topicloom.spark.rounds import design_in_rounds as rounds
from topicloom.spark.session.java import java_options
from topicloom.spark.session.session import spark_session

def kill_executor():
    import os, psutil, signal
    daemon = psutil.Process(os.getppid())
    os.kill(daemon.ppid(), signal.SIGKILL)

run_tasks = rounds.run_tasks

def in_rounds(spark, work, kill):
    def run_and_kill(spark, count, task):
        def run(number):
            value = task(number)
            if kill and (work / "links-1.parquet").exists():
                with suppress(FileExistsError):
                    (work / "killed").touch(exist_ok=False)
                    kill_executor()
            return value

        return run_tasks(spark, count, run)

    def die_once(batches):
        import os
        if not (work / "died").exists():
            (work / "died").touch()
            os._exit(1)
        yield from batches

    work.mkdir()
    interest = tl.generate(nodes=120, topics=15, subscriptions=4, seed=1)
    rows = [(f"n{v:03}", f"t{t:02}") for v, t in zip(interest.nodes.tolist(), interest.topics.tolist())]
    table = prepare(spark.createDataFrame(rows, "node string, topic string")).interest
    table = table.select("node_id", "topics").mapInArrow(die_once, "node_id int, topics array<int>")
    rounds.run_tasks = run_and_kill
    found = rounds.design_in_rounds(table, seed=2, options={"orders": 2, "block": 10}, n_nodes=interest.n_nodes,
                                    n_topics=interest.n_topics, subscribers=np.diff(interest.topic_indptr), work=work)
    return [[row["src_id"], row["dst_id"]] for row in found.links.orderBy("order").collect()]

def kill(batches):
    kill_executor()
    yield from batches

master, cache = sys.argv[1:]
conf = ["spark.executor.memory=600m", "spark.sql.shuffle.partitions=2", "spark.task.maxFailures=2",
        f"spark.executor.extraJavaOptions={java_options(quick=True)}",
        "spark.executorEnv.NUMBA_DISABLE_JIT=1", f"spark.executorEnv.XDG_CACHE_HOME={cache}"]
found = {}
with spark_session(master="local[1,4]") as spark:
    found["local"] = in_rounds(spark, Path("local").absolute(), kill=False)
try:
    with spark_session(master=master, conf=conf) as spark:
        @contextmanager
        def shared(**_):
            yield spark

        engines.spark_session = shared
        dc = ["--method", "dc", "--partitions", "5", "--seed", "2", "--engine", "distributed"]
        found["codes"] = [main(["design", "subs.csv", "out", "--master", master, *dc]),
                          main(["design", "messy", "clean", "--lenient", "--master", master])]
        found["cluster"] = in_rounds(spark, Path("cluster").absolute(), kill=True)
        spark.range(1).mapInArrow(kill, "id bigint").collect()
except Exception as error:
    found["killed"] = f"{type(error).__name__}: {error}"
Path("found.json").write_text(json.dumps(found))
ended.append(True)
"""


@pytest.fixture(scope="module")
def interest():
    return tl.generate(nodes=120, topics=15, subscriptions=4, seed=1)


@pytest.fixture(scope="module")
def ran(master, interest, tmp_path_factory):
    """The folder in which one driver has done all that is asked of a cluster, and what it has found."""
    folder = tmp_path_factory.mktemp("driver")
    rows = [f"{interest.node_label(v)},{interest.topic_label(t)}" for v, t in zip(interest.nodes, interest.topics)]
    (folder / "subs.csv").write_text("\n".join(["node,topic", *rows]))
    messy_folder(folder)
    (folder / "tmp").mkdir()
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(folder / "tmp")}
    environment["NUMBA_DISABLE_JIT"] = "1"  # compiling takes longer than running so small an interest uncompiled
    command = [sys.executable, "-c", ENDS_LIKE_A_COMMAND + IN_ONE_PROCESS, master, str(folder / "cache")]
    given = {"cwd": folder, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(command, timeout=600, check=False, **given)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return folder, json.loads((folder / "found.json").read_text())


def test_a_cluster_that_gets_the_package_by_itself_gives_the_same_links(ran, interest):
    folder, found = ran
    assert found["codes"] == [0, 0]
    expected = tl.design(interest, "dc", partitions=5, seed=2)
    assert tl.Overlay.load(folder / "out").links.tolist() == expected.links.tolist()
    assert rejected_of(folder / "clean") == rejected_in_memory(tl.read_subscriptions(folder / "messy"))
    # the workers' Python has topicloom installed; what they loaded is what was sent, or nobody had unpacked it
    assert list(folder.glob("cache/topicloom/*/package/topicloom/methods/dc/conquer.py"))
    assert not list(folder.glob(".*"))  # the work folder is gone


@pytest.mark.parametrize("where", ["cluster", "local"])
def test_rounds_give_the_links_of_memory_on_a_cluster_and_on_one_core_though_processes_die(ran, interest, where):
    folder, found = ran
    assert found[where] == tl.rounds_greedy_merge(interest, orders=2, block=10, seed=2).links.tolist()
    assert (folder / where / "died").exists()
    assert (folder / where / "killed").exists() == (where == "cluster")  # an executor, when two rounds are done


def test_a_dead_executor_is_a_sentence(ran):
    assert ran[1]["killed"].startswith("SparkFailedError: Spark lost an executor: ")
    assert "\n" not in ran[1]["killed"]
