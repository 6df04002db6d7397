"""What Spark reports when things go wrong, as sentences: real reports of a real Spark."""

import gzip
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.sql import functions as F

from topicloom.errors import SparkFailedError, UnreadableInputError
from topicloom.spark.session.failures import is_sparks, sentence_of, spark_failure

ROWS = b"node,topic\n" + b"".join(b"n%d,t%d\n" % (i, i % 77) for i in range(20_000))


def failure(action):
    """The error that the command would raise for what an action raises."""
    with pytest.raises(Exception) as caught:
        action()
    assert is_sparks(caught.value), caught.value
    return spark_failure(caught.value)


def corrupt_parquet(path):
    pq.write_table(pa.table({"node": ["a"] * 1000, "topic": [str(i) for i in range(1000)]}), path)
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(byte ^ 0x5A for byte in content[40:400])
    path.write_bytes(content)


def test_a_truncated_gz_is_named_with_the_cause(spark, tmp_path):
    whole = gzip.compress(ROWS)
    (tmp_path / "subs.csv.gz").write_bytes(whole[: len(whole) // 2])
    found = failure(lambda: spark.read.csv(str(tmp_path)).agg(F.max("_c0")).collect())
    assert isinstance(found, UnreadableInputError)
    assert str(found) == f"cannot read {tmp_path}/subs.csv.gz: Unexpected end of input stream (EOFException)"


def test_what_is_no_gz_is_named_with_the_cause(spark, tmp_path):
    (tmp_path / "a b.csv.gz").write_bytes(ROWS)
    found = failure(lambda: spark.read.csv(str(tmp_path)).agg(F.max("_c0")).collect())
    assert str(found).startswith("cannot read ") and str(found).endswith("b.csv.gz: not a gzip file (IOException)")


def test_a_corrupt_parquet_file_is_named(spark, tmp_path):
    corrupt_parquet(tmp_path / "subs.parquet")
    found = failure(lambda: spark.read.parquet(str(tmp_path)).agg(F.max("node"), F.max("topic")).collect())
    assert str(found).startswith(f"cannot read {tmp_path}/subs.parquet: ")
    (tmp_path / "subs.parquet").write_bytes(b"this is no Parquet at all")
    found = failure(lambda: spark.read.parquet(str(tmp_path / "subs.parquet")))
    assert str(found).startswith(f"cannot read {tmp_path}/subs.parquet: ") and "is not a Parquet file" in str(found)


def _runs_out_of_memory(batches):
    raise MemoryError
    yield


def _dies(batches):
    os._exit(9)
    yield


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (_runs_out_of_memory, "a Python worker of Spark failed: MemoryError"),
        (_dies, "a Python worker of Spark ended before its work was done: killed, crashed or out of memory"),
    ],
)
def test_what_ends_a_worker_is_said(spark, work, sentence):
    def travelling(batches):  # by value: the workers cannot import this file
        return work(batches)

    found = failure(lambda: spark.range(1).mapInArrow(travelling, "id bigint").collect())
    assert isinstance(found, SparkFailedError) and str(found) == sentence


def test_what_spark_refuses_is_one_line(spark):
    found = str(failure(lambda: spark.range(1).select("nothing")))
    assert found.startswith("Spark failed (AnalysisException): A column") and "\n" not in found
    assert "SQLSTATE" not in found


def test_an_error_of_our_own_is_no_failure_of_spark():
    assert not is_sparks(SparkFailedError("x")) and not is_sparks(KeyboardInterrupt()) and not is_sparks(KeyError("x"))


def test_a_sentence_of_ours_from_a_worker_is_said_as_it_is():
    traceback = 'Traceback (most recent call last):\n  File "x.py", line 3, in f\n    raise X\n'
    text = f"[PYTHON_EXCEPTION] An exception was thrown:\n{traceback}topicloom.errors.InvalidInterestError: no node 7\n"
    assert sentence_of("PythonException", text) == "a Python worker of Spark failed: no node 7"


def test_a_lost_executor_is_said_with_the_reason():
    text = "Job aborted: Lost task 0.3: ExecutorLostFailure (executor 0 exited) Reason: Command exited with code 137\n"
    assert sentence_of("Py4JJavaError", text) == "Spark lost an executor: Command exited with code 137"


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Error while sending or receiving"),
        Py4JError(
            'Cannot invoke "x" because the return value of "org.apache.spark.SparkContext.dagScheduler()" is null'
        ),
    ],
)
def test_a_process_that_is_about_to_end_is_waited_for(error):
    dying = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1); raise SystemExit(52)"])
    found = spark_failure(error, dying)
    assert str(found).startswith("Spark's Java process ended because its memory ran out")


ENDS = """
import os, signal, sys
from topicloom.cli.app import main
from topicloom.spark.session import session

def out_of_memory(spark):
    spark.range(1).selectExpr("length(repeat('x', 1500000000 + CAST(id AS int)))").collect()

def java_killed(spark):
    process = session._java()
    process.kill()
    process.wait()
    spark.range(3).count()

for work in (out_of_memory, java_killed):
    try:
        with session.spark_session(master="local[1]", conf=["spark.driver.memory=480m"]) as spark:
            work(spark)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
print(main(["verify", "subs.csv.gz", "subs.csv.gz", "--master", "local[1]"]), flush=True)
os.environ["JAVA_HOME"] = os.devnull
print(main(["verify", "subs.csv.gz", "subs.csv.gz", "--master", "local[1]"]))
ended.append(True)
"""


@pytest.mark.spark
def test_the_ends_of_a_process_are_sentences_and_leave_nothing(tmp_path):
    """Memory of the JVM gone, the JVM killed, a damaged input, no Java: one process after the other in one command."""
    from support.scripts import ENDS_LIKE_A_COMMAND  # not above: workers of other tests could not import it

    (tmp_path / "subs.csv.gz").write_bytes(gzip.compress(ROWS)[:5000])
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", ENDS_LIKE_A_COMMAND + ENDS],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp"), "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr
    heap, killed, *codes = done.stdout.splitlines()
    assert heap.startswith("SparkFailedError: Spark's Java process ") and "spark.driver.memory" in heap
    assert killed == "SparkFailedError: Spark's Java process ended by signal 9 in the middle of the work"
    assert codes == ["2", "2"]
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith("… ") and "Spark's log is in" not in line]
    assert len(said) == 2, done.stderr
    assert said[0].endswith("subs.csv.gz ends in the middle of its gzip data: it is truncated")
    assert "none was found in JAVA_HOME=/dev/null" in said[1]
    kept = sorted(path.name for path in (tmp_path / "tmp").iterdir() if "hsperfdata" not in path.name)
    assert len(kept) == 2 and all(name.startswith("topicloom-spark-") for name in kept), kept
