"""Tables and plot of the bench beyond greedy, from benchmarks/beyond.json."""

import json
from collections.abc import Callable
from pathlib import Path

from benchmarks.wrapped import wrapped

PAGE_MARKS = "<!-- beyond:start -->", "<!-- beyond:end -->"
EFFORTS = ("1", "3", "10", "30", "100")
SHOWN = ("1k-zipf", "1k-exponential", "1k-uniform", "mastodon_accounts", "github_follow", "ros2_autoware")
PLOTTED = ("1k-zipf", "1k-exponential", "1k-uniform", "10k-exponential", "mastodon_accounts", "github_follow")


def stored(root: Path) -> dict:
    """The rows that were measured, by name."""
    path = root / "benchmarks" / "beyond.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def store(root: Path, rows: dict) -> None:
    """Keep the rows, whole."""
    path = root / "benchmarks" / "beyond.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def write(root: Path, rows: dict) -> None:
    """Write the plot, and the tables into the page and the README."""
    plot(rows, root / "docs" / "methods" / "beyond-greedy.svg")
    for path, text in ((root / "docs" / "methods" / "beyond-greedy.md", page(rows)), (root / "README.md", short(rows))):
        path.write_text(between_marks(path.read_text(encoding="utf-8"), text), encoding="utf-8")


def between_marks(document: str, text: str) -> str:
    """A document with the text between its two marks."""
    start, end = PAGE_MARKS
    head, _, rest = document.partition(start)
    return f"{head}{start}\n{text}\n{end}{rest.partition(end)[2]}"


def page(rows: dict) -> str:
    """What the page shows: all interests, degrees, proofs, and what must be reached."""
    dates = sorted({f"{row['at']['date']}, load {row['at']['load']}" for row in rows.values()})
    cpus = sorted({row["at"]["cpu"] for row in rows.values()})
    parts = [
        f"Written by `make bench` (`python -m benchmarks.beyond`): {' and '.join(cpus)}; {'; '.join(dates)}. "
        "CPU time, one thread, gm's in the same process.",
        _interests(rows),
        "![Links against effort](beyond-greedy.svg)",
        _degrees(rows),
        _proofs(rows),
        _targets(rows),
    ]
    return wrapped("\n\n".join(part for part in parts if part))


def short(rows: dict) -> str:
    """The README's table."""
    lines = ["| links | `gm` | `weighted-gm` | refined | no overlay has fewer than | |", "|---|--:|--:|--:|--:|---|"]
    for row in (rows[name] for name in SHOWN if name in rows):
        gap = 100 * (row["best"]["links"] / row["bound"]["links"] - 1)
        said = "optimal, proved" if gap == 0 else f"at most {gap:.1f} % above the fewest possible"
        lines.append(
            f"| {row['title']} | {row['gm']['links']:,} | {row['weighted']['links']:,} | {row['best']['links']:,} | "
            f"{row['bound']['links']:,} | {said} |"
        )
    return "\n".join(lines)


def _interests(rows: dict) -> str:
    lines = [
        "| interest | gm: links, degree, diameter | weighted | " + " | ".join(f"effort {e}" for e in EFFORTS)
        + " | best: links, degree, diameter | bound | at most above |",
        "|---|--:|--:|" + "--:|" * len(EFFORTS) + "--:|--:|--:|",
    ]  # fmt: skip
    for row in rows.values():
        cells = (row["refined"].get(effort) for effort in EFFORTS)
        refined = [f"{cell['ratio']:.3f} ({cell['time']:.1f} ×)" if cell else "" for cell in cells]
        bound, best = row.get("bound"), _shape(row["best"]) if row["best"]["effort"] else ""
        proved = f"{bound['links']:,} ({bound['kind']}, {bound['seconds']:.0f} s)" if bound else ""
        above = f"{100 * (row['best']['links'] / bound['links'] - 1):.1f} %" if bound else ""
        weighted = f"{row['weighted']['links'] / row['gm']['links']:.3f} ({row['weighted']['time']:.1f} ×)"
        cells_shown = [row["title"], _shape(row["gm"]), weighted, *refined, best, proved, above]
        if not row.get("flat"):
            lines.append("| " + " | ".join(cells_shown) + " |")
    return "\n".join(lines)


def _shape(shape: dict) -> str:
    return f"{shape['links']:,}, {shape['degree']:,}, {shape['diameter']}"


def _degrees(rows: dict) -> str:
    head = "| lowest maximum degree: links, degree, diameter | gm | minmax-oda | refined from that |\n|---|--:|--:|--:|"
    return _table(rows, "flat", head, lambda row, flat: [
        _shape(row["gm"]), _shape(flat["start"]), f"{_shape(flat)} ({flat['time']:.0f} ×)",
    ])  # fmt: skip


def _proofs(rows: dict) -> str:
    return _table(rows, "exact", "| `exact` | gm | links | | CPU |\n|---|--:|--:|---|--:|", lambda row, exact: [
        f"{row['gm']['links']:,}", f"{exact['links']:,}", exact["sentence"], f"{exact['seconds']:.1f} s",
    ])  # fmt: skip


def _table(rows: dict, part: str, head: str, cells: Callable[[dict, dict], list[str]]) -> str:
    """A line for each row that has the part, below the head; nothing if none has."""
    lines = [" | ".join([f"| {row['title']}", *cells(row, row[part])]) + " |" for row in rows.values() if row.get(part)]
    return "\n".join([head, *lines]) if lines else ""


def _targets(rows: dict) -> str:
    lines = ["| must be reached | measured | at most | |", "|---|--:|--:|---|"]
    for row in rows.values():
        for check in row["checks"]:
            met = "yes" if check["met"] else "**no**"
            lines.append(f"| {row['title']}: {check['what']} | {check['value']:.4g} | {check['most']:g} | {met} |")
    return "\n".join(lines)


def plot(rows: dict, path: Path) -> None:
    """Links as multiples of gm's against effort."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    with mpl.rc_context({"svg.hashsalt": "topicloom"}):
        figure, axes = pyplot.subplots(figsize=(8, 4.5))
        for name in PLOTTED:
            if rows.get(name, {}).get("curve"):
                effort, links, _ = zip(*rows[name]["curve"])
                ratios = [value / rows[name]["gm"]["links"] for value in links]
                axes.plot([max(value, 0.1) for value in effort], ratios, label=rows[name]["title"].replace("`", ""))
        axes.set_xscale("log")
        axes.set(xlabel="effort (1: about gm's time)", ylabel="links / gm's")
        if axes.lines:
            axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
