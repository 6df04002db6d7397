"""``topicloom stream`` in processes of its own: real Spark, real signals, killed at random moments."""

import os
import random
import signal
import subprocess
import sys
import time

import topicloom as tl
from support.churn_checks import model_of
from support.stream_events import base, check_output, put_file, random_events
from topicloom.churn import holds_state
from topicloom.cli.app import main

COMMAND = [sys.executable, "-m", "topicloom"]
# A run starts Spark: few in CI.
RUNS = int(os.environ.get("TOPICLOOM_STREAM_KILL_RUNS", "2"))


def start(tmp_path, *more):
    arguments = ["stream", *(str(tmp_path / name) for name in ("overlay", "events", "out")), "--master", "local[1]"]
    return subprocess.Popen(
        [*COMMAND, *arguments, *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(process, what):
    deadline = time.monotonic() + 300
    while not what():
        assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
        time.sleep(0.02)


def once(tmp_path, *more):
    """Take in what there is, on the session of the tests."""
    return main(["stream", *(str(tmp_path / name) for name in ("overlay", "events", "out")), "--once", *more])


def test_ctrl_c_stops_after_the_batch_and_it_goes_on_as_churn_would(shared_session, tmp_path, capsys):
    overlay = base(tmp_path)
    files = random_events(overlay, 3, 10)
    put_file(tmp_path / "events", 0, files[0])
    changes = tmp_path / "out" / "changes"
    process = start(tmp_path, "--trigger", "100 milliseconds", "--rebalance", "1.0")
    wait_for(process, (changes / "batch-000000000000.jsonl").exists)
    put_file(tmp_path / "events", 1, files[1])
    wait_for(process, (changes / "batch-000000000001.jsonl").exists)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "batch 1: 10 events" in said and "verified" in said and "Traceback" not in said
    put_file(tmp_path / "events", 2, files[2])
    assert once(tmp_path) == 0
    said = capsys.readouterr().err
    assert "resuming" in said and "batch 2: 10 events" in said
    check_output(tmp_path / "out", overlay, files, rebalance=1.0)
    given = [str(tmp_path / name) for name in ("overlay", "events", "churned")]
    assert main(["churn", *given, "--batch", "10", "--rebalance", "1.0"]) == 0
    after = tl.Overlay.load(tmp_path / "out" / "overlay")
    assert after.links.tolist() == tl.Overlay.load(tmp_path / "churned").links.tolist()
    capsys.readouterr()


def kill_while_backups_are_built(out):
    """Leave in OUT what a stream leaves that is killed before its state is whole."""
    out.mkdir()
    code = "import sys, topicloom as tl; interest = tl.generate(nodes=20_000, topics=200, subscriptions=10); "
    code += "tl.Maintainer.open(sys.argv[1], interest=interest, overlay=tl.ring_per_topic(interest))"
    builder = subprocess.Popen([sys.executable, "-c", code, str(out / "state.db")], stderr=subprocess.PIPE, text=True)
    wait_for(builder, lambda: any(out.iterdir()))
    builder.kill()
    builder.communicate()
    assert any(out.iterdir()) and not holds_state(out / "state.db")


def test_killed_at_random_moments_every_event_counts_once(shared_session, tmp_path):
    overlay = base(tmp_path)
    kill_while_backups_are_built(tmp_path / "out")
    files = random_events(overlay, 4 * (RUNS + 1), 5)
    draw = random.Random(3)
    for run in range(RUNS):
        for number in range(4 * run, 4 * run + 4):
            put_file(tmp_path / "events", number, files[number])
        process = start(tmp_path, "--files-per-batch", "1")
        wait_for(process, lambda: holds_state(tmp_path / "out" / "state.db"))
        if draw.random() < 0.8:  # else while Spark starts
            wait_for(process, (tmp_path / "out" / "changes" / f"batch-{4 * run + draw.randrange(3):012}.jsonl").exists)
        time.sleep(draw.random() * 0.3)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    for number in range(4 * RUNS, 4 * RUNS + 4):
        put_file(tmp_path / "events", number, files[number])
    assert once(tmp_path, "--files-per-batch", "1") == 0
    check_output(tmp_path / "out", overlay, files)
    after = tl.Overlay.load(tmp_path / "out" / "overlay")
    assert tl.verify(after.interest, after.links).ok
    assert model_of(after.interest) != model_of(overlay.interest)


def test_bad_usage_says_so_before_spark_starts(tmp_path, capsys):
    base(tmp_path)
    (tmp_path / "events").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    overlay, events, out = (str(tmp_path / name) for name in ("overlay", "events", "out"))
    for wrong, reason in (
        ([overlay, str(tmp_path / "none"), out], "is not a directory"),
        ([str(tmp_path / "none"), events, out], "does not exist"),
        ([overlay, events, str(tmp_path / "full")], "holds no stream"),
        ([overlay, events, str(tmp_path / "full" / "letter.txt")], "not a directory"),
        ([overlay, events, out, "--once", "--trigger", "1 second"], "exclude each other"),
    ):
        assert main(["stream", *wrong]) == 2
        said = capsys.readouterr().err
        assert reason in said and "Traceback" not in said
    assert not (tmp_path / "out").exists()
