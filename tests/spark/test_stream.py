"""Real streams on a real session: exactly once across restarts, crashes and repeated events."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom as tl
from support.churn_checks import model_of
from support.stream_events import BAD, base, check_output, put_file, random_events
from topicloom.churn import read_state
from topicloom.errors import (
    InputNotFoundError,
    InvalidOptionError,
    MissingColumnError,
    StateFormatError,
    StateInUseError,
)

DIES_BEFORE_THE_FILES = """
import os, signal, sys
import topicloom as tl
from topicloom.spark.session.session import spark_session
from topicloom.spark.stream import batches
from topicloom.stream import maintain, read_events

write = batches.write_files
def dies(out, entry):
    if entry.batch == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    write(out, entry)
batches.write_files = dies
folder = sys.argv[1]
with spark_session(master="local[1]", verbose=True) as spark:
    events = read_events(spark, folder + "/events", files_per_batch=1)
    overlay = tl.Overlay.load(folder + "/overlay")
    plan = tl.Plan(tl.routes(overlay, standby=1))
    maintain(events, out=folder + "/out", overlay=overlay, plan=plan, once=True).awaitTermination()
"""


def run(spark, tmp_path, files_per_batch=1, **options):
    """Take in what is there; the reports of the batches."""
    from topicloom.stream import maintain, read_events

    heard = []
    events = read_events(spark, tmp_path / "events", files_per_batch=files_per_batch)
    query = maintain(events, out=tmp_path / "out", once=True, listener=heard.append, **options)
    query.awaitTermination()
    return heard


def test_a_stream_is_taken_in_batch_by_batch_and_goes_on(spark, tmp_path):
    overlay = base(tmp_path)
    files = random_events(overlay, 5, 8)
    for number in range(3):
        put_file(tmp_path / "events", number, files[number], BAD if number == 1 else [])
    heard = run(spark, tmp_path, overlay=overlay)
    assert [(report.batch, report.events, report.rejected) for report in heard] == [(0, 8, 0), (1, 8, 7), (2, 8, 0)]
    (file,) = (tmp_path / "out" / "rejected").glob("*.parquet")
    rejected = pq.read_table(file).to_pylist()
    assert len(rejected) == 7 and {row["batch"] for row in rejected} == {1}
    assert all(row["file"].endswith("001.jsonl") for row in rejected)
    for reason in ("not JSON", "a mapping", "unknown kind", "no node 'nobody'", "blank", "nested too deeply"):
        assert any(reason in row["reason"] for row in rejected)
    lines = (tmp_path / "out" / "rejected" / "batch-000000000001.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rejected
    put_file(tmp_path / "events", 3, files[1] + files[3])  # the events of file 1 come again
    put_file(tmp_path / "events", 4, files[4])
    heard = run(spark, tmp_path)
    assert [(report.batch, report.events, report.repeated) for report in heard] == [(3, 8, 8), (4, 8, 0)]
    check_output(tmp_path / "out", overlay, files)
    assert run(spark, tmp_path) == []


def test_killed_between_the_commit_and_the_files(spark, tmp_path):
    overlay = base(tmp_path)
    files = random_events(overlay, 3, 6)
    for number, events in enumerate(files):
        put_file(tmp_path / "events", number, events)
    command = [sys.executable, "-c", DIES_BEFORE_THE_FILES, str(tmp_path)]
    died = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    assert died.wait(timeout=300) == -signal.SIGKILL
    with suppress(ProcessLookupError):  # its JVM, which notices by itself, now or a moment later
        os.killpg(died.pid, signal.SIGKILL)
    assert sorted(path.stem for path in (tmp_path / "out" / "changes").glob("*.jsonl")) == ["batch-000000000000"]
    assert read_state(tmp_path / "out" / "state.db").facts["batch"] == 1  # committed, and not told
    heard = run(spark, tmp_path)
    assert [report.batch for report in heard] == [2] and sum(heard[0].rows) > 0
    check_output(tmp_path / "out", overlay, files, tl.Plan(tl.routes(overlay, standby=1)))


def test_lines_keep_their_order_across_the_blocks_of_files(spark, tmp_path):
    overlay = base(tmp_path)
    events = [
        event
        for number in range(400)
        for event in ({"event": "join", "node": "x", "topics": [f"t{number % 15:02}"]}, {"event": "leave", "node": "x"})
    ]
    put_file(tmp_path / "events", 1, events)
    put_file(tmp_path / "events", 0, [{"event": "join", "node": "y", "topics": ["t01"]}])
    put_file(tmp_path / "events", 2, [{"event": "leave", "node": "y"}])
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", 4096)
    try:
        (report,) = run(spark, tmp_path, files_per_batch=10, overlay=overlay)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)
    assert (report.events, report.rejected) == (802, 0)


def test_tables_and_messages_of_other_sources(spark, tmp_path):
    from pyspark.sql import functions as F

    from topicloom.stream import maintain, read_events

    overlay = base(tmp_path)
    (tmp_path / "events").mkdir()
    times = pa.array([2_000_000, 1_000_000, 3_000_000], pa.timestamp("us", "UTC"))
    columns = {
        "event": ["leave", "join", "join"], "node": ["x", "x", "y"],
        "topics": pa.array([None, ["t01"], ["t02"]], pa.list_(pa.string())), "at": times, "id": [7, 8, 9],
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "events" / "a.parquet")
    (report,) = run(spark, tmp_path, overlay=overlay)
    assert (report.events, report.rejected) == (3, 0)
    (tmp_path / "my lines").mkdir()
    lines = [b'{"n": 3, "event": "leave", "node": "k"}', b'{"n": 2, "event": "leave", "node": "\xff"}',
             b'{"n": 1, "event": "join", "node": "k", "topics": ["t01"]}']  # fmt: skip
    (tmp_path / "my lines" / "a.json").write_bytes(b"\n".join(lines))
    kafka = read_events(spark, tmp_path / "my lines").select(
        F.lit(None).cast("binary").alias("key"), F.col("value").cast("binary"), F.lit("churn").alias("topic"),
        F.lit(0).alias("partition"), F.get_json_object("value", "$.n").cast("long").alias("offset"),
    )  # fmt: skip
    heard = []
    maintain(kafka, out=tmp_path / "from kafka", overlay=overlay, once=True, listener=heard.append).awaitTermination()
    assert [(report.events, report.rejected) for report in heard] == [(2, 1)]
    assert (tmp_path / "from kafka" / "checkpoint" / "commits").is_dir()
    assert model_of(read_state(tmp_path / "from kafka" / "state.db").interest) == model_of(overlay.interest)


def test_what_cannot_be_streamed_is_refused(spark, tmp_path):
    from topicloom.stream import maintain, read_events

    overlay = base(tmp_path)
    put_file(tmp_path / "events", 0, random_events(overlay, 1, 3)[0])
    table = spark.createDataFrame([("leave", "n01")], "event string, node string")
    with pytest.raises(InvalidOptionError, match="not a streaming"):
        maintain(table, out=tmp_path / "out", overlay=overlay)
    events = read_events(spark, tmp_path / "events")
    with pytest.raises(MissingColumnError, match="missing column 'event'"):
        maintain(events.select("_file"), out=tmp_path / "out", overlay=overlay)
    with pytest.raises(InputNotFoundError, match="give an overlay"):
        maintain(events, out=tmp_path / "out")
    with pytest.raises(InvalidOptionError, match="trigger is '5 parsecs'"):
        maintain(events, out=tmp_path / "parsecs", overlay=overlay, trigger="5 parsecs")
    with pytest.raises(InputNotFoundError, match="not a directory"):
        read_events(spark, tmp_path / "nowhere")
    with pytest.raises(InvalidOptionError, match="format is 'xml'"):
        read_events(spark, tmp_path / "events", format="xml")
    query = maintain(events, out=tmp_path / "out", overlay=overlay)
    with pytest.raises(StateInUseError):
        maintain(events, out=tmp_path / "out")
    query.processAllAvailable()
    query.stop()
    with pytest.raises(InvalidOptionError, match="seed is 5"):
        maintain(events, out=tmp_path / "out", seed=5)
    shutil.move(tmp_path / "out" / "checkpoint", tmp_path / "checkpoint")
    with pytest.raises(StateFormatError, match="applied twice"):
        maintain(events, out=tmp_path / "out")
    (tmp_path / "other").mkdir()
    shutil.move(tmp_path / "checkpoint", tmp_path / "other" / "checkpoint")
    with pytest.raises(StateFormatError, match="would be lost"):
        maintain(events, out=tmp_path / "other", overlay=overlay)


def test_a_batch_that_comes_again_with_other_events_stops_the_stream(spark, tmp_path):
    overlay = base(tmp_path)
    put_file(tmp_path / "events", 0, random_events(overlay, 1, 3)[0])
    run(spark, tmp_path, overlay=overlay)
    checkpoint = tmp_path / "out" / "checkpoint"
    for lost in ("offsets", "commits", "sources"):  # as if the disk had lost what was written last
        shutil.rmtree(checkpoint / lost)
    put_file(tmp_path / "events", 0, [{"event": "leave", "node": "n09"}])
    with pytest.raises(StateFormatError, match="batch 0 comes again"):
        run(spark, tmp_path)
    with tl.Maintainer.open(tmp_path / "out" / "state.db") as m:
        assert "n09" in m.interest.node_labels.tolist()
