"""What small runs cost beside a bare Spark script: ``python -m benchmarks.start_up [--runs 5] [--quick] [--no-write]``.

Every row is a ratio of two measurements of the same minutes, taken in turns; the median of the runs counts. CPU seconds
are those of a command and all its descendants. A full run rewrites benchmarks/start_up.json and
docs/benchmarks-start-up.md.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from benchmarks import report
from benchmarks.runner import ROOT
from benchmarks.wrapped import wrapped
from topicloom.spark.session.java import QUICK, java_options

DATASETS = Path(os.environ.get("TOPICLOOM_DATASETS") or ROOT.parent / "shared" / "datasets")
PAGE, STORED = ROOT / "docs" / "benchmarks-start-up.md", ROOT / "benchmarks" / "start_up.json"
_SUBREAPER, _SECONDS_BETWEEN_LOOKS = 36, 0.05
_KERNEL = """
import time, topicloom as tl
interest = tl.read_subscriptions({source!r}).interest()
tl.design(tl.generate(nodes=100, topics=10, subscriptions=3))
tl.design(interest.restrict(range(3000)))
began = time.process_time()
tl.design(interest)
print(time.process_time() - began)
"""
_COLD = "import topicloom as tl; tl.design(tl.Interest.from_pairs(list('aabbcc'), list('xyxyxy')), 'gm')"
_IMPORT = "import numpy, time; t = time.perf_counter(); import topicloom; print(time.perf_counter() - t)"


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a command and all its descendants, seconds until it ended, and what it printed."""

    cpu: float
    wall: float
    printed: str


def measured(command: list[str], **environment: str) -> Cost:
    """Run a command and add up the CPU time of every process that descends from it; an error if it fails.

    Processes are looked at twenty times a second, since some are never waited for. What a process does between the
    last look and its end is missing.
    """
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    seen: dict[int, float] = {}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        given = {**os.environ, "PYTHONPATH": paths, **environment}
        process = subprocess.Popen(command, stdout=out, stderr=err, env=given)
        wall = 0.0
        while (family := psutil.Process().children(recursive=True)) and not (wall and _all_dead(family)):
            for one in family:
                try:
                    times = one.cpu_times()
                except psutil.Error:
                    continue
                seen[one.pid] = max(seen.get(one.pid, 0.0), times.user + times.system)
            if not wall and process.poll() is not None:
                wall = time.perf_counter() - began
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        _reap()
        wall = wall or time.perf_counter() - began
        out.seek(0)
        err.seek(0)
        if process.wait():
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{err.read().decode()}")
        return Cost(sum(seen.values()), wall, out.read().decode())


def _all_dead(family: list[psutil.Process]) -> bool:
    return all(not one.is_running() or one.status() == psutil.STATUS_ZOMBIE for one in family)


def _reap() -> None:
    """Wait for the dead: a JVM is a zombie while its threads still end, and would count for the next command, too."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


class Bench:
    """Commands to measure, and what was measured."""

    def __init__(self, folder: Path, runs: int, say: Callable[[str], None]) -> None:
        self.folder, self.runs, self.say = folder, runs, say
        self.number = 0

    def out(self) -> str:
        """A place that nothing has been written to."""
        self.number += 1
        return str(self.folder / f"out-{self.number}")

    def bare(self, source: Path, *settings: str, **environment: str) -> Cost:
        """A bare run of Spark on a file."""
        command = [sys.executable, str(ROOT / "benchmarks" / "bare_spark.py"), str(source), self.out(), *settings]
        return measured(command, **environment)

    def tuned_bare(self, source: Path) -> Cost:
        """The same with the Java options and the archive of `topicloom design`."""
        options = f"spark.driver.extraJavaOptions={java_options(quick=True)}"
        return self.bare(source, options, "spark.ui.enabled=false", SPARK_LAUNCHER_OPTS=QUICK)

    def design(self, source: Path, *arguments: str) -> Cost:
        """``topicloom design``."""
        return measured([sys.executable, "-m", "topicloom", "design", str(source), self.out(), *arguments])

    def in_turns(self, *whats: Callable[[], Cost]) -> list[Cost]:
        """Median costs of several measurements, each made once in every round."""
        found: list[list[Cost]] = [[] for _ in whats]
        for number in range(self.runs):
            for costs, what in zip(found, whats):
                costs.append(what())
            self.say(f"round {number + 1}: " + ", ".join(f"{c[-1].cpu:.1f} CPU s, {c[-1].wall:.1f} s" for c in found))
        return [Cost(median(c.cpu for c in costs), median(c.wall for c in costs), "") for costs in found]


def row(what: str, value: float, limit: float, *, unit: str = "×", detail: str = "") -> dict:
    """A row of the table."""
    return {
        "what": what,
        "value": round(value, 3),
        "limit": limit,
        "unit": unit,
        "detail": detail,
        "met": value <= limit,
    }


def small_rows(bench: Bench) -> list[dict]:
    """Designs on Spark and in memory beside bare runs on the same file."""
    ros = DATASETS / "ros2_autoware.csv"
    bare, tuned, design, memory = bench.in_turns(
        lambda: bench.bare(ros),
        lambda: bench.tuned_bare(ros),
        lambda: bench.design(ros),
        lambda: bench.design(ros, "--engine", "memory"),
    )
    cold = bench.in_turns(lambda: _cold(bench))[0]
    at = f"{design.cpu:.1f} / {bare.cpu:.1f} CPU s"
    return [
        row("CPU of `design ros2_autoware.csv` / stock bare Spark", design.cpu / bare.cpu, 0.5, detail=at),
        row("the same / bare Spark with the same Java options and archive", design.cpu / tuned.cpu, 1.4),
        row("wall of the same / stock bare Spark", design.wall / bare.wall, 0.8),
        row("CPU of `--engine memory` / stock bare Spark", memory.cpu / bare.cpu, 0.1,
            detail=f"{memory.cpu:.1f} CPU s"),
        row("CPU of the first `tl.design(…, \"gm\")`, cold caches / stock bare Spark", cold.cpu / bare.cpu, 0.4,
            detail=f"{cold.cpu:.1f} CPU s"),
    ]  # fmt: skip


def _cold(bench: Bench) -> Cost:
    return measured([sys.executable, "-c", _COLD], NUMBA_CACHE_DIR=bench.out())


def other_rows(bench: Bench) -> list[dict]:
    """Other small files, the number of queries, a large design beside its kernel, and the import."""
    generated = bench.folder / "generated.csv"
    code = (
        "import topicloom as tl; i = tl.generate(nodes=2000, topics=200, subscriptions=20, seed=1); "
        f"rows = [f'{{i.node_label(v)}},{{i.topic_label(t)}}' for v, t in zip(i.nodes, i.topics)]; "
        f"open({str(generated)!r}, 'w').write('node,topic\\n' + '\\n'.join(rows) + '\\n')"
    )
    measured([sys.executable, "-c", code])
    rows = []
    for source in (DATASETS / "mastodon_instances.csv.gz", generated):
        design, bare = bench.in_turns(lambda s=source: bench.design(s), lambda s=source: bench.bare(s))
        name = "2,000 × 200 × 20" if source == generated else source.name
        rows.append(row(f"CPU of `design` of {name} / stock bare Spark on that file", design.cpu / bare.cpu, 0.7))
    rows.append(row("Spark SQL executions of `design ros2_autoware.csv`", _executions(bench), 3, unit=""))
    follow = DATASETS / "twitter_follow.csv.gz"
    whole = bench.design(follow).cpu
    kernel = float(measured([sys.executable, "-c", _KERNEL.format(source=str(follow))]).printed)
    at = f"{whole:.0f} / {kernel:.0f} CPU s, one run"
    rows.append(row("CPU of `design twitter_follow.csv.gz` / its `gm` alone", whole / kernel, 2.5, detail=at))
    beyond = median(float(measured([sys.executable, "-c", _IMPORT]).printed) for _ in range(bench.runs))
    return [*rows, row("`import topicloom` beyond numpy", beyond, 0.1, unit="s")]


def _executions(bench: Bench) -> int:
    """Queries of a design, from Spark's own log of events."""
    log = bench.folder / "events"
    log.mkdir()
    settings = ["spark.eventLog.enabled=true", f"spark.eventLog.dir={log}", "spark.eventLog.compress=false"]
    settings += ["spark.eventLog.rolling.enabled=false"]
    bench.design(DATASETS / "ros2_autoware.csv", *(word for one in settings for word in ("--conf", one)))
    files = [path for path in log.rglob("*") if path.is_file() and not path.name.endswith(".crc")]
    return sum(path.read_text(encoding="utf-8").count("SparkListenerSQLExecutionStart") for path in files)


def document(results: dict) -> str:
    """The table as a page."""
    at = results["circumstances"]
    lines = [
        "# What small runs cost\n",
        f"`python -m benchmarks.start_up` on {at['date']}, commit {at['commit']}: {at['cpu']}, {at['cores']} cores, "
        f"load {at['load']} at the start, medians of {results['runs']} runs in turns. *Stock bare Spark* is "
        "`benchmarks/bare_spark.py`: start, read that file, distinct, write Parquet, stop.\n",
        "| what | measured | must be | met | |",
        "|---|--:|--:|---|---|",
    ]
    for one in results["rows"]:
        met = "yes" if one["met"] else "**no**"
        value, limit = (f"{number:g} {one['unit']}".strip() for number in (one["value"], one["limit"]))
        lines.append(f"| {one['what']} | {value} | ≤ {limit} | {met} | {one['detail']} |")
    return wrapped("\n".join(lines) + "\n")


def main(argv: list[str] | None = None) -> int:
    """Measure, print the table; 1 if a row falls short."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start_up", description=__doc__, allow_abbrev=False)
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median counts")
    parser.add_argument("--quick", action="store_true", help="one run, and only the rows of ros2_autoware.csv")
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args(argv)
    if not (DATASETS / "ros2_autoware.csv").exists():
        print(f"skipped: the real interests are not in {DATASETS}; set TOPICLOOM_DATASETS", file=sys.stderr)
        return 0
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # so that orphans stay descendants
    results = {"circumstances": report.circumstances(ROOT), "runs": 1 if options.quick else options.runs}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), results["runs"], lambda text: print(text, file=sys.stderr, flush=True))
        results["rows"] = small_rows(bench) + ([] if options.quick else other_rows(bench))
    print(document(results))
    if not (options.quick or options.no_write):
        STORED.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        PAGE.write_text(document(results), encoding="utf-8")
    return 0 if all(one["met"] for one in results["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
