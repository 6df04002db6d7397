"""What workers answer is read as values, never as code."""

import ast
import io
import os
import pickle
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom
import topicloom as tl
from support.small_interests import label_rows
from topicloom.errors import InvalidOptionError, SparkFailedError
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.rows import ROWS, usable_batch
from topicloom.methods.selection import MethodChoice
from topicloom.pipeline import design_overlay
from topicloom.runs.check_rows import measure_rows, verify_rows
from topicloom.runs.comparison import compare_rows
from topicloom.runs.design_rows import design_rows
from topicloom.runs.request import DesignRequest
from topicloom.runs.stages import Stages
from topicloom.spark.steps import answers, one_pass, read
from topicloom.spark.steps.answers import from_bytes, to_bytes

PACKAGE = Path(topicloom.__file__).parent


@pytest.fixture(scope="module")
def rows():
    nodes, topics = zip(*label_rows(tl.generate(nodes=30, topics=8, subscriptions=3, seed=1)))
    return pa.Table.from_batches([usable_batch(pa.array(nodes), pa.array(topics))], ROWS)


@pytest.fixture(scope="module")
def links(rows):
    made = design_rows([rows], Stages(), request=DesignRequest.of("gm", {}), available=sys.maxsize)
    table = pq.ParquetFile(io.BytesIO(made.files["links"])).read()
    # one link less and one that is none: a broken topic, and a finding
    src, dst = ([*table[name].to_pylist()[1:], "n01"] for name in ("src", "dst"))
    return pa.Table.from_batches([usable_batch(pa.array(src), pa.array(dst))], ROWS)


def test_answers_of_every_command_come_back_as_they_were(rows, links, tmp_path):
    stages = Stages()
    design = partial(design_rows, available=sys.maxsize)
    compare = partial(compare_rows, seed=0, choices=[MethodChoice.parse("gm")], held=True)
    made = [
        design([rows], stages, request=DesignRequest.of("low-oda", {"rho": np.float64(2)}, seed=3)),
        design([rows], stages, request=DesignRequest.of(None, {}, k=2)),
        verify_rows([rows, links], stages, k=2),
        measure_rows([rows, links], stages),
        compare([rows, links], stages),
        None,
        InvalidOptionError("k is 0"),
    ]
    assert not made[2][0].ok and made[2][1].loops
    for one in made:
        again = from_bytes(to_bytes((one, ["a note"], {"read": 0.5})))[0]
        assert type(again) is type(one) and repr(again) == repr(one)
    bounded, _ = from_bytes(to_bytes(measure_rows([rows, _all_links(rows)], stages, bound=True)))[0]
    assert bounded.links and bounded.disconnected_topics == 0


def _all_links(rows):
    names = sorted(set(rows["node"].to_pylist()))
    pairs = [(one, other) for one in names for other in names if one < other]
    return pa.Table.from_batches([usable_batch(*(pa.array(column) for column in zip(*pairs)))], ROWS)


def test_plans_of_files_come_back_with_names_that_are_no_text(tmp_path):
    name = os.fsdecode(b"\xffsubs.csv")
    (tmp_path / name).write_bytes(b"node;topic\na;x\n")
    (tmp_path / "other.parquet").write_bytes(b"")
    pq.write_table(pa.table({"node": ["a"], "topic": ["y"]}), tmp_path / "other.parquet")
    (tmp_path / "notes.md").write_text("no table")
    found = read.plan_and_cut(str(tmp_path), ReadOptions(), 1 << 20)
    assert from_bytes(to_bytes(found)) == found and found[0].skipped and len(found[1]) == 2


class _Hostile:
    """Unpickling it would write a file."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return exec, (f"open({self.path!r}, 'w').close()",)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x80\x05",
        b"[" * 100_000,
        b"{}",
        b'{"Popen": {"args": ["true"]}}',
        b'{"Verdict": {"ok": true}}',
        b'{"Skipped": {"path": 7, "reason": "x"}}',
        b'{"Skipped": {"path": "a", "reason": "x", "more": 1}}',
        b'{"BrokenTopic": {"topic": "x", "components": "2", "witness": {"tuple": []}}}',
        b'{"BrokenTopic": {"topic": "x", "components": true, "witness": {"tuple": []}}}',
        b'{"mapping": [[[], 1]]}',
        b'{"array": ["|O", [1], "AAAAAAAAAAA="]}',
        b'{"array": ["<i8", [9], "AAAAAAAAAAA="]}',
    ],
)
def test_what_no_worker_of_ours_answers_is_refused_in_a_sentence(payload):
    with pytest.raises(SparkFailedError, match="a worker of Spark answered what topicloom does not"):
        from_bytes(payload)


def test_errors_become_errors_of_topicloom_whatever_name_they_have():
    assert type(from_bytes(b'{"error": ["SystemExit", "stop"]}')) is tl.errors.TopicloomError
    assert type(from_bytes(b'{"error": ["TooManyRowsError", "many"]}')) is one_pass.TooManyRowsError
    with pytest.raises(tl.errors.TopicloomError, match="bye"), read.worker_sentences():
        raise read.PySparkException("topicloom.errors.annotations: bye")


def test_an_answer_that_is_a_pickle_runs_nothing_in_the_process_that_asked(spark, tmp_path, monkeypatch):
    payload = pickle.dumps((_Hostile(tmp_path / "written"), [], {"read": 0.0}))
    monkeypatch.setattr(one_pass, "to_bytes", lambda _: payload)  # travels to the worker with the function
    table = spark.createDataFrame([("a", "x"), ("b", "x")], "node string, topic string")
    with pytest.raises(SparkFailedError, match="answered what topicloom does not"):
        design_overlay(table, "gm")
    assert not (tmp_path / "written").exists()
    pickle.loads(payload)  # so it would have
    assert (tmp_path / "written").exists()


def test_nothing_in_the_package_unpickles():
    pickles = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            used = {part for name in names for part in name.split(".")} & pickles
            assert not used, f"{path} imports {used}"
            assert not (isinstance(node, ast.keyword) and node.arg == "allow_pickle"), f"{path} allows pickles"


def test_every_type_of_an_answer_is_known_by_one_name():
    for name, kind in answers._types().items():
        assert kind.__name__ == name and kind.__module__.startswith("topicloom.")
