"""Large interests: ``python -m benchmarks.large [--quick] [--folder F] [small|faster|laws|growth|million|real …]``.

Every part runs the command line in processes of its own and stores what it measured in benchmarks/large.json; then
docs/benchmarks-large.md is written from all stored parts. A part can be run again alone. ten_million takes an hour and
22 GB: it runs only when it is named.

With ``--folder`` a bench that was interrupted goes on: tables and runs that it finds there are not made again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks import large_report, report
from benchmarks.processes import ROOT, Outcome, run

STORE = ROOT / "benchmarks" / "large.json"
PAGE = ROOT / "docs" / "benchmarks-large.md"
SEED = 1
BEFORE = "32e5662"


@dataclass(frozen=True)
class Size:
    """A generated interest, and how many nodes a partition shall have."""

    nodes: int
    topics: int
    subscriptions: int
    partition: int
    popularity: str = "zipf"

    @property
    def title(self) -> str:
        """How tables name it."""
        law = "Zipf 0.8" if self.popularity == "zipf" else self.popularity
        return f"{self.nodes:,} × {self.topics:,} × {self.subscriptions} {law}"

    @property
    def partitions(self) -> int:
        """Their number."""
        return max(2, self.nodes // self.partition)

    def options(self) -> dict:
        """Those of `tl.generate`."""
        sizes = {"nodes": self.nodes, "topics": self.topics, "subscriptions": self.subscriptions}
        skew = {"alpha": 0.8} if self.popularity == "zipf" else {}
        return {**sizes, "popularity": self.popularity, **skew, "seed": SEED}


@dataclass(frozen=True)
class Sizes:
    """The interests of the parts, and the sample on which gm is run beside the largest."""

    faster: Size
    million: Size
    tenth: Size
    sample: Size
    ten_million: Size


FULL = Sizes(
    faster=Size(100_000, 1_000, 20, 5_000),
    million=Size(1_000_000, 2_000, 20, 4_000),
    tenth=Size(100_000, 2_000, 20, 4_000),
    sample=Size(20_000, 2_000, 20, 4_000),
    ten_million=Size(10_000_000, 5_000, 20, 4_000),
)
QUICK = Sizes(
    faster=Size(4_000, 100, 10, 500),
    million=Size(10_000, 200, 10, 500),
    tenth=Size(1_000, 200, 10, 500),
    sample=Size(1_000, 200, 10, 500),
    ten_million=Size(20_000, 400, 10, 500),
)


class Bench:
    """Runs commands in a scratch folder."""

    def __init__(self, sizes: Sizes, folder: Path, say: Callable[[str], None]) -> None:
        self.sizes = sizes
        self.folder = folder
        self.say = say

    def small(self) -> dict:
        """Rounds beside gm where gm takes seconds, in memory."""
        size = self.sizes.sample
        options = [json.dumps(size.options()), str(size.partitions)]
        return {"size": size.title, **self.once(f"sample-{size.nodes}", lambda: child("sample", *options))}

    def faster(self) -> dict:
        """Dc and rounds beside gm on the same interest."""
        size = self.sizes.faster
        made = {method: self.designed(size, method) for method in ("rounds-gm", "dc", "gm")}
        return {"size": size.title, "partitions": size.partitions, **made}

    def laws(self) -> dict:
        """Rounds beside gm where topics are equally popular, and where popularity falls exponentially."""
        found = {}
        for law in ("uniform", "exponential"):
            size = replace(self.sizes.faster, popularity=law)
            found[law] = {"size": size.title, **{name: self.designed(size, name) for name in ("gm", "rounds-gm")}}
        return found

    def million(self) -> dict:
        """The largest interest: generated, designed, verified, written; beside Spark's own reading and writing."""
        size = self.sizes.million
        made = self.generated(size)
        self.say(f"{size.title}: read, encode, write back")
        encoded = self.once(
            f"encoded-{size.nodes}", lambda: child("encode", str(self.table(size)), str(self.fresh("encoded")))
        )
        return {
            "size": size.title,
            "nodes": size.nodes,
            "partitions": size.partitions,
            "generate_seconds": made["seconds"],
            "generate_peak_pss": made["peak_pss"],
            "baseline_seconds": encoded["seconds"],
            "dc": self.designed(size, "dc"),
            "rounds-gm": self.designed(size, "rounds-gm"),
        }

    def before(self) -> dict:
        """Dc on the largest interest by the code of an earlier commit, whose verifying and measuring is beside ours."""
        self.generated(self.sizes.million)
        code = self.folder / f"code-{BEFORE}"
        if not code.exists():
            code.mkdir()
            packed = subprocess.run(["git", "archive", BEFORE, "src"], cwd=ROOT, capture_output=True, check=True)
            subprocess.run(["tar", "x"], cwd=code, input=packed.stdout, check=True)
        return {"commit": BEFORE, "dc": self.designed(self.sizes.million, "dc", "before", code / "src")}

    def growth(self) -> dict:
        """A tenth of the nodes in partitions of the same size."""
        size = self.sizes.tenth
        return {
            "size": size.title,
            "nodes": size.nodes,
            "partitions": size.partitions,
            "dc": self.designed(size, "dc"),
        }

    def real(self) -> dict:
        """Rounds beside gm on the real interests, in memory; nothing without TOPICLOOM_DATASETS."""
        names = sorted(path.name for path in Path(os.environ.get("TOPICLOOM_DATASETS", "")).glob("*.csv*"))
        self.say("real interests: gm and rounds-gm in memory")
        return {"interests": {name.split(".")[0]: self.once(name, partial(child, "real", name)) for name in names}}

    def ten_million(self) -> dict:
        """Ten million nodes, by rounds."""
        size = self.sizes.ten_million
        return {
            "size": size.title,
            "nodes": size.nodes,
            "generate_seconds": self.generated(size)["seconds"],
            "rounds-gm": self.designed(size, "rounds-gm"),
        }

    def once(self, name: str, measure: Callable[[], dict]) -> dict:
        """What was measured under a name, now or by an earlier bench in this folder."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            found = measure()
            path.write_text(json.dumps(found), encoding="utf-8")
        stored: dict = json.loads(path.read_text(encoding="utf-8"))
        return stored

    def generated(self, size: Size) -> dict:
        """Draw the table of subscriptions; how long that took, and the memory."""
        given = [word for name, value in size.options().items() for word in (f"--{name}", str(value))]

        def measure() -> dict:
            self.say(f"{size.title}: generating")
            made = run("topicloom", ["generate", str(self.fresh(self.table(size).name)), *given])
            return {"seconds": made.seconds, "peak_pss": made.peak_pss}

        return self.once(f"{self.table(size).name}-made", measure)

    def designed(self, size: Size, method: str, again: int | str = 0, source: Path | None = None) -> dict:
        """Design, verify, measure and write; what the run said of itself, and the peak memory of its processes."""
        self.generated(size)
        return self.once(f"{self.table(size).name}-{method}-{again}", partial(self._designed_now, size, method, source))

    def _designed_now(self, size: Size, method: str, source: Path | None) -> dict:
        self.say(f"{size.title}: {method}")
        out = self.fresh(method)
        given = ["--method", method, "--seed", str(SEED), "--json"]
        given += ["--partitions", str(size.partitions)] if method == "dc" else []
        done = run("topicloom", ["design", str(self.table(size)), str(out), *given], source)
        facts = last_line(done)
        shutil.rmtree(out)
        if not facts["run"]["verified"]["ok"]:
            raise RuntimeError(f"{method} on {size.title} is not topic-connected")
        seconds = facts["run"]["seconds"]
        parts = {name: value for name, value in seconds.items() if name != "compile"}
        metrics = facts["metrics"]
        self.say(f"{method}: design {seconds['design']:.1f} s, degree {metrics['average_degree']:.2f}; {parts}")
        return {
            "wall_seconds": done.seconds,
            "seconds": parts,
            "stage_seconds": sum(value for name, value in parts.items() if "/" not in name),
            "peak_pss": done.peak_pss,
            "peak_rss": done.peak_rss,
            "average_degree": metrics["average_degree"],
            "max_degree": metrics["max_degree"],
            "links": metrics["links"],
            "mean_topic_diameter": metrics["mean_topic_diameter"],
            "sampled_diameters": metrics["sampled_diameters"],
            "report": facts["run"]["report"],
        }

    def table(self, size: Size) -> Path:
        """Where the subscriptions of a size are."""
        return self.folder / f"subscriptions-{size.nodes}-{size.topics}-{size.popularity}"

    def fresh(self, name: str) -> Path:
        """A path at which nothing is."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        return path


def child(task: str, *arguments: str) -> dict:
    """What a task of `benchmarks.large_child` printed."""
    return last_line(run("benchmarks.large_child", [task, *arguments]))


def last_line(outcome: Outcome) -> dict:
    """The JSON that a command printed last."""
    found: dict = json.loads(outcome.stdout.splitlines()[-1])
    return found


def main(argv: list[str] | None = None) -> int:
    """Run the chosen parts and write the tables; 1 if something falls short of what it must reach."""
    parts = ("small", "faster", "laws", "growth", "million", "before", "real", "ten_million")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"some of {', '.join(parts)} (default: all but the last)"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that the bench works; writes nothing")
    parser.add_argument(
        "--folder", type=Path, help="where to work, with 3 GB of room, and to go on (default: a new one)"
    )
    parser.add_argument("--render", action="store_true", help="measure nothing; only rewrite the page from large.json")
    options = parser.parse_args(argv)
    chosen = options.parts or list(parts[:-1])
    if unknown := set(chosen) - set(parts):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; the parts are {', '.join(parts)}")

    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", file=sys.stderr, flush=True)

    results = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() and not options.quick else {}
    if not options.render:
        with tempfile.TemporaryDirectory(prefix="topicloom-large-") as scratch:
            folder = options.folder or Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            bench = Bench(QUICK if options.quick else FULL, folder, say)
            for part in chosen:
                results[part] = {**getattr(bench, part)(), "circumstances": report.circumstances(ROOT)}
                if not options.quick:
                    STORE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = large_report.page(results)
    print(page)
    if not options.quick:
        PAGE.write_text(page, encoding="utf-8")
        say(f"wrote {STORE.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    short = [line.what for line in large_report.demands(results) if not line.met]
    if short:
        say(f"falls short: {'; '.join(short)}")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
