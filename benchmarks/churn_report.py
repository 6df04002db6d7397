"""The results of the bench of churn as JSON and as docs/benchmarks-churn.md, beside goals and published figures."""

import json
from pathlib import Path

from benchmarks.wrapped import wrapped


def run_of(results: dict, name: str, kind: str) -> dict:
    """The row of a run."""
    runs = results["runs"] + results.get("large", {}).get("runs", [])
    found: dict = next(row for row in runs if row["name"] == name and row["kind"] == kind)
    return found


def degrees_of(results: dict, name: str) -> dict:
    """The degrees of a run."""
    found: dict = next(row for row in results["degrees"] if row["name"] == name)
    return found


def targets(results: dict) -> list[dict]:
    """What must be reached, what was measured, and whether that is enough."""
    join, leave = (run_of(results, "shadow", kind) for kind in ("join", "leave"))
    full, normal = (run_of(results, f'shadow, SQLite, sync="{sync}"', "join") for sync in ("full", "normal"))
    over = degrees_of(results, "shadow")
    rows = [
        ("shadow joins a second", 1e3 / join["ms"], ">=", 1000, ",.0f"),
        ("shadow leaves a second", 1e3 / leave["ms"], ">=", 200, ",.0f"),
        ('durable joins a second, `sync="full"` (default)', 1e3 / full["ms"], ">=", 500, ",.0f"),
        ('durable joins a second, `sync="normal"`', 1e3 / normal["ms"], ">=", 500, ",.0f"),
        ("rebuilding / shadow join (Steps I and II)", join["rebuild_ratio"], ">=", 100, ",.0f"),
        ("rebuilding / shadow leave (Steps I and II)", leave["rebuild_ratio"], ">=", 20, ",.0f"),
        ("maximum degree over a fresh Low-ODA's, mean of all rounds", over["over_max"], "<=", 6, ".2f"),
        ("average degree over a fresh Low-ODA's, mean of all rounds", over["over_average"], "<=", 0.8, ".3f"),
        ("links changed per join", over["join"], "<=", 6, ".2f"),
        ("links changed per leave", over["leave"], "<=", 14, ".2f"),
    ]
    if "large" in results:
        for kind in ("join", "leave"):
            ratio = run_of(results, "shadow, 100,000 nodes", kind)["ms"] / run_of(results, "shadow", kind)["ms"]
            rows.append((f"{kind} at 100,000 nodes / at 2,000", ratio, "<=", 20, ".1f"))
    return [
        {
            "what": what,
            "value": format(value, shown),
            "must": f"{'at least' if sign == '>=' else 'at most'} {goal:,}",
            "met": value >= goal if sign == ">=" else value <= goal,
        }
        for what, value, sign, goal, shown in rows
    ]


def document(results: dict) -> str:
    """docs/benchmarks-churn.md."""
    at = results["circumstances"]
    seeds = len(results["degrees"][0]["seeds"])
    parts = [
        "# Benchmarks of churn",
        "",
        f"Written by `make bench` (`python -m benchmarks.churn`); do not edit. {at['date']}, commit {at['commit']}, "
        f"{at['cpu']}, {at['cores']} cores (load {at['load']} at the start), Python {at['python']}.",
        "",
        "The setting of the shadows paper: 2,000 nodes × 200 topics, power-law sizes 10–90 (exponent 2; the paper "
        f"names none), uniform popularity, {results['rounds']:,} rounds, joins and leaves with probability ½, ρ = 3, "
        "λ = 3. Times are of seed 0, by the clock: each event at its fastest of "
        f"{results['runs'][0]['repeats']} identical runs, since the machine is shared, averaged over the events; "
        "beside them the mean of all runs, and CPU seconds of the best run. The 100,000 nodes were run once. Degrees "
        f"are means of {seeds} seeds; ours are taken after every round, a fresh Low-ODA's at every twentieth of the "
        "run and interpolated between.",
        "",
        "## Goals",
        "",
        "| | measured | must be | met |",
        "|---|--:|---|---|",
    ]
    for target in targets(results):
        met = "yes" if target["met"] else "**no**"
        parts.append(f"| {target['what']} | {target['value']} | {target['must']} | {met} |")
    parts += ["", *_costs(results), "", *_degrees(results), "", *_published(results), ""]
    return wrapped("\n".join(parts))


def _costs(results: dict) -> list[str]:
    commit, reopen = results["commit_ms"], results["reopen_s"]
    lines = [
        "## What an event costs",
        "",
        f"Rebuilding with Low-ODA takes {results['rebuild_ms']:.0f} ms (the fastest of all). "
        "A repair is Steps I and II; the rest of a leave is Step III, the backups of others. "
        "Candidate links are those that the rule chooses from. `naive` looks for candidates only among the "
        "subscribers of topics that really were cut (the paper: all pairs of nodes), and keeps no backups.",
        "",
        "| | ms | mean ms | CPU ms | a second | repair ms | rebuild / repair | links changed | shadow set "
        "| candidate links |",
        "|---" + "|--:" * 9 + "|",
    ]
    for row in results["runs"] + results.get("large", {}).get("runs", []):
        ratio = f"{row['rebuild_ratio']:,.0f} ×" if row["rebuild_ratio"] else ""
        lines.append(
            f"| {row['name']}: {row['kind']} | {row['ms']:.2f} | {row['mean_ms']:.2f} | {row['cpu_ms']:.2f} "
            f"| {1e3 / row['ms']:,.0f} | {row['repair_ms']:.2f} | {ratio} | {row['links']:.2f} | {row['shadow']:.1f} "
            f"| {row['candidates']:,.0f} |"
        )
    lines += [
        "",
        f"An SQLite commit of one small row takes {commit['normal']:.2f} ms here with `synchronous=NORMAL` and "
        f'{commit["full"]:.2f} ms with `FULL`. `sync="normal"` loses nothing to `kill -9`; `sync="full"` loses nothing '
        f"to a power cut either. A state is reopened in {reopen['normal']:.2f} s.",
    ]
    if "large" in results:
        large = results["large"]
        lines.append(
            f"The 100,000 nodes want 20 of 1,000 topics each ({large['rounds']} rounds; base by `gm` in "
            f"{large['designed_s']:.0f} s, the backups of all nodes in {large['filled_s']:.0f} s); the overlay after "
            f"the rounds was {'verified' if large['verified'] else '**not topic-connected**'}."
        )
    return lines


def _degrees(results: dict) -> list[str]:
    lines = [
        "## Degrees",
        "",
        "Over those of a fresh Low-ODA, mean of all rounds (range over the seeds); maximum degree after the last "
        "round; links changed. `naive` is of one seed.",
        "",
        "| | maximum | average | last maximum | fresh | links per join | per leave |",
        "|---" + "|--:" * 6 + "|",
    ]
    for row in results["degrees"]:
        cells = [row["name"]]
        for key, shown in (("over_max", ".2f"), ("over_average", ".3f")):
            values = [seed[key] for seed in row["seeds"]]
            spread = f" ({min(values):{shown}}–{max(values):{shown}})" if len(values) > 1 else ""
            cells.append(f"{row[key]:{shown}}{spread}")
        cells += [f"{row['last_max']:.1f}", f"{row['fresh_last_max']:.1f}", f"{row['join']:.2f}", f"{row['leave']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _published(results: dict) -> list[str]:
    dual, greedy = results["backups"]
    over, over_greedy = degrees_of(results, "shadow"), degrees_of(results, "shadow, greedy backups")
    join, leave = (run_of(results, "shadow", kind) for kind in ("join", "leave"))
    last = [
        degrees_of(results, name)["last_max"] for name in ("shadow, λ = 1", "shadow, λ = 2", "shadow", "shadow, λ = 4")
    ]
    rows = [
        ("backups, of the nodes: primal-dual", f"{dual['share']:.2%}", "2.8 %"),
        ("backups, of the nodes: greedy", f"{greedy['share']:.2%}", "1.1 %"),
        ("primaries, primal-dual", f"{dual['fewest']}–{dual['most']}", "21–59"),
        (
            "primaries, greedy",
            f"{greedy['fewest']}–{greedy['most']}, {greedy['under_5']:.1%} under 5",
            "42.9 % under 5",
        ),
        ("last maximum degree, primal-dual", f"{over['last_max']:.1f}", "22–24"),
        ("last maximum degree, greedy", f"{over_greedy['last_max']:.1f}", "84"),
        ("last maximum degree, λ = 1, 2, 3, 4", ", ".join(f"{value:.1f}" for value in last), "31, 25, 24, 24"),
        ("maximum / average over Low-ODA", f"{over['over_max']:.2f} / {over['over_average']:.3f}", "≤ 5.5 / ≤ 0.798"),
        ("links changed, join / leave", f"{over['join']:.2f} / {over['leave']:.2f}", "4.83 / 12.24"),
        ("join: ms, of rebuilding", _share(join), "2.69, 0.014 %"),
        ("leave (repair): ms, of rebuilding", _share(leave), "333, 1.78 %"),
        ("shadow set of a leave, of the nodes", f"{leave['shadow'] / 2000:.2%}", "1.59 %"),
    ]
    lines = ["## Beside the paper", "", "| | ours | published |", "|---|--:|--:|"]
    return lines + [f"| {what} | {ours} | {theirs} |" for what, ours, theirs in rows]


def _share(row: dict) -> str:
    return f"{row['repair_ms']:.2f}, {1 / row['rebuild_ratio']:.2%}"


def stored(root: Path) -> dict:
    """The results of the last full run."""
    results: dict = json.loads((root / "benchmarks" / "churn.json").read_text(encoding="utf-8"))
    return results


def write(root: Path, results: dict) -> None:
    """Write churn.json and docs/benchmarks-churn.md."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    (root / "benchmarks" / "churn.json").write_text(text + "\n", encoding="utf-8")
    (root / "docs" / "benchmarks-churn.md").write_text(document(results), encoding="utf-8")
