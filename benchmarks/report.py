"""The results of a run as JSON, as docs/benchmarks.md, and as the table between two markers of the README."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.wrapped import wrapped

START, END = "<!-- bench:start -->", "<!-- bench:end -->"


def circumstances(root: Path) -> dict:
    """When, on what and of which code the run is."""

    def git(*arguments: str) -> str:
        run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
        return run.stdout.strip()

    dirty = git("status", "--porcelain", "--", "src", "benchmarks/*.py")
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": git("rev-parse", "--short", "HEAD") + ("+" if dirty else ""),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def table(results: dict) -> str:
    """The measurements beside what they must reach, as a Markdown table."""
    lines = [
        "| nodes × topics × subscriptions | method | time | beside | ratio | must be | memory | must be | met |",
        "|---|---|--:|--:|--:|---|--:|---|---|",
    ]
    for row in results["rows"]:
        met = {True: "yes", False: "**no**", None: ""}[row["met"]]
        time, beside, ratio, memory = _figures(row)
        cells = [row["title"], f"`{row['method']}`", time, beside, ratio, row.get("must", "")]
        lines.append("| " + " | ".join([*cells, memory, row.get("memory_must", ""), met]) + " |")
    return "\n".join(lines)


def short_table(results: dict) -> str:
    """Greedy Merge's measurements alone, for the README."""
    at = results["circumstances"]
    lines = [
        "| nodes × topics × subscriptions | `gm` | beside | ratio | memory |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in results["rows"]:
        if row["method"] == "gm":
            time, beside, ratio, memory = _figures(row)
            lines.append(f"| {row['title']} | {time} | {beside} | {ratio} | {memory} |")
    lines += [
        "",
        f"CPU seconds on one core, {at['cpu']}, {at['date']}; `literal` is Greedy Merge as its paper prints it, in "
        "numba, with [one line mended](docs/errata.md#gm-1). Written by `make bench`; "
        "[the other methods, growth, how it is measured](docs/benchmarks.md).",
    ]
    return wrapped("\n".join(lines))


def _figures(row: dict) -> tuple[str, str, str, str]:
    """Time, the other time, their ratio, memory."""
    beside = ratio = ""
    if other := row.get("other"):
        where = "" if other["instance"] == row["instance"] else f" on {other['instance']}"
        beside = f"`{other['method']}`{where} {_seconds(other['cpu_seconds'])}"
        faster = other["method"] == "literal" and not where
        ratio = f"{1 / row['ratio']:.1f} × faster" if faster else f"{row['ratio']:.2f} ×"
    return _seconds(row["cpu_seconds"]), beside, ratio, f"{row['peak_mb']:,.0f} MB"


def _seconds(value: float) -> str:
    return f"{value:.3f} s" if value < 1 else f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def document(results: dict) -> str:
    """docs/benchmarks.md."""
    at = results["circumstances"]
    parts = [
        "# Benchmarks",
        "",
        "Written by `make bench`; do not edit. "
        f"{at['date']}, commit {at['commit']}, {at['cpu']}, {at['cores']} cores (load {at['load']} at the start), "
        f"Python {at['python']}.",
        "",
        "Times are CPU seconds of the best repetition (all methods run on one thread, so that on an idle machine it is "
        "the time one waits); all methods on an instance are measured in turns in one run, each in a process of "
        "its own: up to three processes, fewer once 20 s are spent (results.json has the number of repetitions). "
        "Memory is the peak over that of a process that only imports the package and loads the interest. "
        "`literal` is Greedy Merge as the paper's Algorithms 1–3 print it, in numba, with "
        "[one line mended](errata.md#gm-1) (`src/topicloom_papers/printed/literal_gm.py`). "
        "Every overlay in the table was verified.",
        "",
        table(results),
        "",
    ]
    if results.get("growth"):
        parts += [_growth(results["growth"]), ""]
    parts += [_compiling(results["first_call"]), ""]
    parts += [_degrees(results["rows"]), ""]
    return wrapped("\n".join(parts))


def _growth(growth: dict) -> str:
    lines = [
        f"## Growth with the nodes ({growth['topics']} topics, {growth['subscriptions']} each, uniform)",
        "",
        "| nodes | `gm` | per nodes² · topics | literal | per nodes² · topics |",
        "|--:|--:|--:|--:|--:|",
    ]
    for row in growth["rows"]:
        steps = row["nodes"] ** 2 * growth["topics"]
        cells = [f"{row['nodes']:,}"]
        for name in ("gm", "literal"):
            cells += [_seconds(row[name]), f"{row[name] / steps * 1e9:.3f} ns"]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        f"Fitted: time ~ nodes^{growth['gm_exponent']:.2f} (`gm`), nodes^{growth['literal_exponent']:.2f} (literal); "
        "the paper's bound is |V|²|T|.",
    ]
    return "\n".join(lines)


def _compiling(first_call: dict) -> str:
    lines = [
        "## First call in a process",
        "",
        "The kernels are compiled on their first use and cached on disk; later processes read the cache.",
        "",
        "| method | compiling | from the cache |",
        "|---|--:|--:|",
    ]
    for name, seconds in first_call.items():
        lines.append(f"| `{name}` | {_seconds(seconds['compiling'])} | {_seconds(seconds['cached'])} |")
    return "\n".join(lines)


def _degrees(rows: list) -> str:
    lines = [
        "## What was built",
        "",
        "| instance | method | links | average degree | maximum degree |",
        "|---|---|--:|--:|--:|",
    ]
    for row in rows:
        degrees = f"{row['average_degree']:.2f} | {row['max_degree']}"
        lines.append(f"| {row['title']} | `{row['method']}` | {row['links']:,} | {degrees} |")
    return "\n".join(lines)


def stored(root: Path) -> dict:
    """The results of the last full run."""
    results: dict = json.loads((root / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    return results


def write(root: Path, results: dict) -> None:
    """Write results.json, docs/benchmarks.md and the README's table, if the README has the two markers."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    (root / "benchmarks" / "results.json").write_text(text + "\n", encoding="utf-8")
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / "benchmarks.md").write_text(document(results), encoding="utf-8")
    readme = root / "README.md"
    if readme.exists():
        old = readme.read_text(encoding="utf-8")
        readme.write_text(with_table(old, results), encoding="utf-8")


def with_table(text: str, results: dict) -> str:
    """The text with what stands between the markers replaced; unchanged if they are not there, in order."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        return text
    return f"{before}{START}\n{short_table(results)}\n{END}{after}"
