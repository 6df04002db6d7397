"""What Python workers do beside their work."""

import gc
import sys
import venv
from weakref import WeakSet

import pytest

from topicloom.errors import SparkUnavailableError
from topicloom.spark.session import workers
from topicloom.spark.session.session import DAEMON, daemon_module


@pytest.fixture
def unsettled(monkeypatch):
    monkeypatch.setattr(workers, "_settled", False)
    yield
    gc.unfreeze()


def test_a_settled_worker_does_not_search_what_it_has_loaded_for_garbage(unsettled):
    before = gc.get_freeze_count()
    workers.settle()
    assert gc.get_freeze_count() > before + 1_000
    assert len(gc.get_objects()) < 1_000


def test_a_worker_settles_once_and_still_collects_what_comes_later(unsettled):
    class Ring:
        pass

    workers.settle()
    frozen = gc.get_freeze_count()
    kept = Ring()
    kept.itself = kept
    workers.settle()
    assert gc.get_freeze_count() <= frozen
    del kept
    assert gc.collect() >= 1


def test_workers_without_what_they_need_are_found_before_the_first_job(spark, tmp_path, monkeypatch):
    venv.create(tmp_path / "bare", symlinks=True)
    bare = str(tmp_path / "bare" / "bin" / "python")
    (packages,) = (tmp_path / "bare").glob("lib/python*/site-packages")
    folder = packages / "topicloom" / "spark" / "session"  # of Spark's daemon, by the name that the session has for it
    folder.mkdir(parents=True)
    (folder / "daemon.py").write_text("from pyspark.daemon import manager\nmanager()\n")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", bare)  # what PYSPARK_PYTHON sets when a session starts
    monkeypatch.setenv("PYSPARK_PYTHON", bare)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(workers, "_looked_at", WeakSet())
    with pytest.raises(SparkUnavailableError, match=f"{bare}, has no pyarrow.*set PYSPARK_PYTHON.*{sys.executable}"):
        workers.check_workers(spark)


def test_workers_that_have_it_all_are_asked_once(spark, monkeypatch):
    monkeypatch.setattr(workers, "_looked_at", WeakSet())
    monkeypatch.setattr(workers, "_is_this_python", lambda _: False)
    workers.check_workers(spark)
    monkeypatch.setattr(workers, "_refuse_missing", None)
    workers.check_workers(spark)


def test_workers_have_what_they_import_when_they_start(spark):
    def loaded(batches):
        import sys

        import pyarrow as pa

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"name": [name for name in expected if name in sys.modules]})

    expected = ["numba", "pyspark.worker", "topicloom.judge.verify"]
    found = spark.range(1).coalesce(1).mapInArrow(loaded, "name string").collect()
    assert [row["name"] for row in found] == expected


def test_only_workers_of_this_python_come_from_our_daemon(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert daemon_module("local[2]", {}) == DAEMON
    assert daemon_module("spark://host:7077", {}) == "pyspark.daemon"
    assert daemon_module("local[2]", {"spark.pyspark.python": "/another/python"}) == "pyspark.daemon"
    monkeypatch.setenv("PYSPARK_PYTHON", "/another/python")
    assert daemon_module("local[2]", {}) == "pyspark.daemon"
