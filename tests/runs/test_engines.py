"""The memory engine, one task of Spark and the distributed pipeline give the same, whatever the files hold."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from files import fuzz
from topicloom import Interest, Overlay, read_subscriptions
from topicloom.cli.app import main
from topicloom.files.read import source_plan
from topicloom.files.read.listing import list_source
from topicloom.kernels.notice import COMPILING
from topicloom.runs import carriers, sources
from topicloom.runs.encoded_rows import fingerprint, folded
from topicloom.spark import tasks
from topicloom.spark.steps import one_pass

ENGINES = ("memory", "spark", "distributed")
ROWS = "node,topic\na,x\na,y\nb,x\nb,y\nc,x\nc,z\nd,x\nd,z\n,x\na,x\ntoo,many,fields\n"
# the first of the nodes has the last of the topics: an order by topic is another than that by node
ROLES = "node,topic,role\na,y,publish\na,y,subscribe\nb,x,\nb,x,Both\nb,y,subscribe\nc,x,\nc,y,publish\nd,y,no\n"


@pytest.fixture
def run(shared_session, capsys):
    """Run a command with an engine: exit code, what it printed, and what it said but for the line on engines."""

    def run(engine: str, *arguments: Any) -> tuple[int, str, list[str]]:
        code = main([str(argument) for argument in (*arguments, "--engine", engine)])
        found = capsys.readouterr()
        return code, found.out, [line for line in found.err.splitlines() if line not in (tasks.HINT, COMPILING)]

    return run


def options_of(written: fuzz.Written) -> list[str]:
    flags = []
    for name, value in written.options.items():
        flag = "--" + name.replace("_", "-")
        flags += [flag if value else "--no-header"] if name == "header" else [flag, value]
    return flags


def contents(folder: Path) -> dict[str, Any]:
    """What an overlay directory holds, without versions and times; rows of tables in order, where they have one."""
    found: dict[str, Any] = {"metrics": json.loads((folder / "metrics.json").read_text())}
    run = json.loads((folder / "run.json").read_text())
    told = ("format", "method", "options", "seed", "report", "labels", "input_fingerprint", "counts", "verified")
    found |= {name: run[name] for name in told}
    for name in ("subscriptions", "links", "nodes", "topics", "rejected"):
        table = pq.read_table(folder / name)
        found[f"{name} types"] = {field.name: str(field.type) for field in table.schema}
        rows = [tuple(row.items()) for row in table.to_pylist()]
        found[name] = rows if name == "links" else sorted(rows, key=repr)
    found["forbidden"] = Overlay.load(folder).forbidden
    return found


@pytest.mark.parametrize("seed", range(6))
def test_hostile_files_give_the_same_directory_from_every_engine(run, tmp_path, seed):
    written = fuzz.write(random.Random(seed), tmp_path)
    answers = [
        run(engine, "design", written.source, tmp_path / engine, *options_of(written), "--seed", seed)[0]
        for engine in ENGINES
    ]
    assert len(set(answers)) == 1
    if answers[0] in (0, 1):  # 1: much was rejected
        one, other, third = (contents(tmp_path / engine) for engine in ENGINES)
        assert one == other
        assert one == third


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (ROWS, ["--method", "low-oda", "--rho", "2"]),
        (ROWS, ["--k", "2"]),
        (ROLES, ["--role-column", "role"]),
        ("node,topic\na,s/1\nb,s/2\nc,s/#\nd,+/1\ne,t/#\nf,s/+/\n", ["--expand", "mqtt"]),
    ],
    ids=["rho", "k", "roles", "patterns"],
)  # fmt: skip
def test_every_option_means_the_same_to_every_engine(run, tmp_path, content, options):
    (tmp_path / "subs.csv").write_text(content)
    said = {}
    for engine in ENGINES:
        out = tmp_path / engine
        code, _, lines = run(engine, "design", tmp_path / "subs.csv", out, *options, "--lenient")
        assert code == 0, lines
        said[engine] = [line for line in lines if str(out) not in line]
    one, other, third = (contents(tmp_path / engine) for engine in ENGINES)
    assert one == other
    assert one == third
    assert said["memory"] == said["spark"] == said["distributed"]


@pytest.mark.parametrize("seed", range(5))
def test_every_subscription_keeps_its_own_role(tmp_path, seed):
    """Whatever the order of the rows, and in whatever order nodes and topics stand."""
    draw = random.Random(seed)
    pairs = sorted({(f"n{draw.randrange(12)}", f"t{draw.randrange(12)}") for _ in range(70)})
    given = {pair: draw.choice(["publish", "subscribe", "both", None]) for pair in pairs}
    lines = [f"{node},{topic},{role or ''}" for (node, topic), role in given.items()]
    draw.shuffle(lines)
    (tmp_path / "subs.csv").write_text("\n".join(["node,topic,role", *lines]))
    out = tmp_path / "out"
    assert main(["design", str(tmp_path / "subs.csv"), str(out), "--role-column", "role", "--engine", "memory"]) == 0
    rows = pq.read_table(out / "subscriptions").to_pylist()
    assert {(row["node"], row["topic"]): row["role"] for row in rows} == given
    loaded = Overlay.load(out).interest
    names = (None, "publish", "subscribe", "both")
    kept = zip(loaded.nodes, loaded.topics, loaded.roles)
    assert {(loaded.node_label(v), loaded.topic_label(t)): names[role] for v, t, role in kept} == given
    read = read_subscriptions(tmp_path / "subs.csv", role_column="role").interest()
    assert read.roles.tolist() == loaded.roles.tolist()


def test_forbidden_pairs_bar_the_same_links_from_every_engine(run, tmp_path):
    (tmp_path / "subs.csv").write_text("node,topic\n" + "".join(f"{v},{t}\n" for t in "xy" for v in "abcd"))
    (tmp_path / "pairs.csv").write_text("src,dst\na,c\na,d\nb,c\nb,d\nzz,b\n")
    (tmp_path / "brokers.csv").write_text(
        "node,host,port,dials,accepts\n" + "".join(f"{v},{v},1,{(v != 'b' and 'yes') or 'no'},yes\n" for v in "abcd")
    )
    given = ["--forbid", tmp_path / "pairs.csv", "--inventory", tmp_path / "brokers.csv"]
    answers = {engine: run(engine, "design", tmp_path / "subs.csv", tmp_path / engine, *given) for engine in ENGINES}
    for engine in ENGINES:
        code, _, said = answers[engine]
        assert code == 1 and "1 of 5 forbidden pairs name no two nodes of the subscriptions" in said
        assert any("topic 'x' cannot be connected" in line for line in said)
        assert contents(tmp_path / engine) == contents(tmp_path / "memory")
    kept = contents(tmp_path / "spark")["forbidden"]
    assert ("b", "zz") in kept.pairs and len(kept.pairs) == 5 and kept.no_dial == {"b"} and not kept.no_accept


@pytest.mark.parametrize(
    "links", ["a,b\nc,d\nb,a\n", "a,b\nb,c\nc,d\n", "a,b\nb,nobody\nzz,c\n", "c,c\na,a\n", "a,b\nb\n"]
)
def test_links_get_the_same_verdict_and_figures_from_every_engine(run, tmp_path, links):
    (tmp_path / "subs.csv").write_text(ROWS)
    (tmp_path / "links.csv").write_text("src,dst\n" + links)
    for command in ("verify", "measure"):
        given = [command, tmp_path / "subs.csv", tmp_path / "links.csv", "--json"]
        one, other, third = (run(engine, *given) for engine in ENGINES)
        assert one == other
        assert one == third


def test_a_small_design_is_one_execution_of_spark_sql(spark, run, tmp_path):
    (tmp_path / "subs.csv").write_text(ROWS)
    store = spark._jsparkSession.sharedState().statusStore()
    spark.range(1).count()
    before = store.executionsList().last().executionId()  # Spark keeps 1,000 of them: their number stops there
    assert run("spark", "design", tmp_path / "subs.csv", tmp_path / "out", "--lenient")[0] == 0
    assert 0 < store.executionsList().last().executionId() - before <= 3


def test_rows_that_are_too_many_for_one_task_are_spread(run, tmp_path, monkeypatch):
    (tmp_path / "subs.csv").write_text(ROWS)
    assert run("memory", "design", tmp_path / "subs.csv", tmp_path / "memory", "--lenient")[0] == 0
    monkeypatch.setattr(one_pass, "_MOST", 10)
    assert run("spark", "design", tmp_path / "subs.csv", tmp_path / "spark", "--lenient")[0] == 0
    assert contents(tmp_path / "spark") == contents(tmp_path / "memory")


def test_what_does_not_fit_is_refused_with_the_figure(run, tmp_path, monkeypatch):
    (tmp_path / "subs.csv").write_text(ROWS)
    monkeypatch.setattr(carriers, "available_memory", lambda: 10)
    code, _, said = run("memory", "design", tmp_path / "subs.csv", tmp_path / "out")
    assert code == 2 and "takes about 0.0 GiB in one process" in said[-1] and "Spark reads them in parts" in said[-1]
    monkeypatch.setattr(carriers, "available_memory", iter([10**9, 10]).__next__)  # for the rows, then for the design
    monkeypatch.setattr(tasks, "available_memory", lambda: 10)
    for engine in ENGINES:
        code, _, said = run(engine, "design", tmp_path / "subs.csv", tmp_path / "out")
        assert code == 2 and "gm needs about" in said[-1] and "no method fits" in said[-1]
    assert not (tmp_path / "out").exists()


def test_a_dry_run_says_the_same_and_writes_nothing(run, tmp_path):
    (tmp_path / "subs.csv").write_text(ROWS)
    one, other, third = (
        run(engine, "design", tmp_path / "subs.csv", tmp_path / "o", "--dry-run") for engine in ENGINES
    )
    assert one == other
    assert one == third
    # too much is rejected, which is the last word
    assert one[0] == 1 and "4 nodes, 3 topics, 8 subscriptions" in one[2][-2] and "--lenient" in one[2][-1]
    assert [path.name for path in tmp_path.iterdir()] == ["subs.csv"]


def test_settings_of_spark_are_refused_where_none_starts(tmp_path, capsys, monkeypatch):
    given = ["design", "subs.csv", str(tmp_path / "out")]
    assert main([*given, "--engine", "memory", "--master", "local[1]"]) == 2
    assert "starts no Spark" in capsys.readouterr().err
    monkeypatch.setenv("TOPICLOOM_ENGINE", "steam")
    assert main(given) == 2
    assert "no engine 'steam'; the engines are spark, distributed, memory" in capsys.readouterr().err


def test_the_fingerprint_is_that_of_sparks_own_hashes(spark):
    rng = random.Random(0)
    pairs = sorted({(fuzz.label(rng, fuzz.HOSTILE), fuzz.label(rng, fuzz.HOSTILE)) for _ in range(300)})
    table = spark.createDataFrame(pairs, "node string, topic string").coalesce(1)
    hashes = [row[0] for row in table.select(F.xxhash64("node", "topic")).collect()]
    assert fingerprint(Interest.from_pairs(*zip(*pairs))) == folded(np.array(hashes, np.int64).view(np.uint64))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_is_listed_once(run, tmp_path, monkeypatch, engine):
    (tmp_path / "subs.csv").write_text(ROWS)
    listed = []

    def listen(source, format):
        listed.append(source)
        return list_source(source, format)

    for module in (source_plan, sources):
        monkeypatch.setattr(module, "list_source", listen)
    assert run(engine, "design", tmp_path / "subs.csv", tmp_path / "out", "--lenient")[0] == 0
    assert listed == [str(tmp_path / "subs.csv")]
