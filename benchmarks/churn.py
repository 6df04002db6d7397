"""Overlays under churn in the setting of the shadows paper, §VI: ``python -m benchmarks.churn [--quick] [--no-write]``.

2,000 nodes × 200 topics, power-law sizes 10–90 (exponent 2), uniform popularity, joins and leaves with probability ½,
ρ = 3, λ = 3; then 100,000 nodes × 1,000 topics × 20. A full run rewrites benchmarks/churn.json and
docs/benchmarks-churn.md.
"""

import argparse
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean

import numpy as np

import topicloom as tl
from benchmarks import churn_report, report
from benchmarks.runner import ROOT

SAMPLES = 20  # how often in a run a fresh Low-ODA is made
SEEDS = (0, 1, 2)
REPEATS = 3  # identical runs of what is timed
KINDS = ("join", "leave")


class Setting:
    """An interest, nodes that may join, and fresh designs of what the interest becomes, made once for all runs."""

    def __init__(self, nodes: int, topics: int, rounds: int, seed: int) -> None:
        if topics == 200:
            sizes = {"sizes": "power-law", "min_size": 10, "max_size": 90}
        else:
            sizes = {"subscriptions": 20}
        drawn = tl.generate(nodes=nodes + rounds, topics=topics, seed=seed, **sizes)
        self.joiners = [[drawn.topic_label(t) for t in drawn.topics_of(v)] for v in range(nodes, nodes + rounds)]
        self.interest = drawn.restrict(np.arange(nodes))
        self.rounds, self.seed = rounds, seed
        self.fresh: dict[int, tuple[int, float, float]] = {}

    def fresh_design(self, m: tl.Maintainer, number: int) -> None:
        """Low-ODA from scratch for the nodes present after a number of rounds: maximum, average degree, seconds."""
        if number not in self.fresh:
            interest = m.interest
            started = time.perf_counter()
            degree = tl.low_oda(interest).degree()
            self.fresh[number] = int(degree.max()), float(degree.mean()), time.perf_counter() - started

    @property
    def rebuild_seconds(self) -> float:
        """Time of a fresh design: the fastest, since all are of about the same size."""
        return min(seconds for _, _, seconds in self.fresh.values())


def churn(m: tl.Maintainer, setting: Setting, *, samples: int = SAMPLES) -> dict:
    """Random joins and leaves: the changes, CPU seconds, and degrees of all rounds over those of a fresh design."""
    draw = random.Random(setting.seed + 1)
    present = setting.interest.node_labels.tolist()
    found: dict = {kind: [] for kind in KINDS}
    cpu = dict.fromkeys(KINDS, 0.0)
    rounds = setting.rounds
    at = [round(rounds * k / samples) for k in range(samples + 1)] if samples else []
    degree = dict(zip(m.interest.node_labels.tolist(), m.overlay.degree().tolist()))
    top, mean = [], []
    for number in range(rounds):
        if number in at:
            setting.fresh_design(m, number)
        kind = "join" if draw.random() < 0.5 else "leave"
        began = time.process_time()
        if kind == "join":
            present.append(f"j{number}")
            change = m.join(f"j{number}", setting.joiners[number])
        else:
            place = draw.randrange(len(present))
            present[place], present[-1] = present[-1], present[place]
            change = m.leave(present.pop())
        cpu[kind] += time.process_time() - began
        found[kind].append(change)
        if samples:
            _count(degree, change, present)
            top.append(max(degree.values()))
            mean.append(fmean(degree.values()))
    if samples:
        setting.fresh_design(m, rounds)
        all_rounds = np.arange(1, rounds + 1)
        fresh = [np.interp(all_rounds, at, [setting.fresh[number][column] for number in at]) for column in (0, 1)]
        found["over_max"] = float(np.mean(np.array(top) - fresh[0]))
        found["over_average"] = float(np.mean(np.array(mean) - fresh[1]))
        found["last_max"], found["fresh_last_max"] = top[-1], setting.fresh[rounds][0]
    found["cpu"] = cpu
    return found


def _count(degree: dict[str, int], change: tl.Change, present: list[str]) -> None:
    """Keep degrees by the links that changes name: to ask the maintainer for all links would take longer than churn."""
    for links, step in ((change.removed, -1), (change.added, 1)):
        for link in links:
            for end in link:
                degree[end] = degree.get(end, 0) + step
    if len(degree) > len(present):  # who left has lost all links
        here = set(present)
        for label in [label for label in degree if label not in here]:
            assert degree.pop(label) == 0
    elif len(degree) < len(present):
        degree[present[-1]] = 0


def costs(name: str, repeats: list[dict], rebuild: float | None) -> list[dict]:
    """One row for joins and one for leaves: each event at its fastest of several identical runs, and the plain mean."""
    rows = []
    for kind in KINDS:
        changes = repeats[0][kind]
        together = list(zip(*(found[kind] for found in repeats)))
        repair = fmean(min(c.repair_seconds for c in same) for same in together)
        rows.append(
            {
                "name": name,
                "kind": kind,
                "events": len(changes),
                "repeats": len(repeats),
                "ms": 1e3 * fmean(min(c.seconds for c in same) for same in together),
                "mean_ms": 1e3 * fmean(c.seconds for same in together for c in same),
                "cpu_ms": 1e3 * min(found["cpu"][kind] for found in repeats) / len(changes),
                "repair_ms": 1e3 * repair,
                "rebuild_ratio": rebuild / repair if rebuild else None,
                "links": fmean(len(c.added) + len(c.removed) for c in changes),
                "shadow": fmean(c.shadow_size for c in changes),
                "candidates": fmean(c.candidates for c in changes),
            }
        )
    return rows


def degrees(name: str, founds: list[dict]) -> dict:
    """Degrees over those of a fresh design, seed by seed."""
    keys = ("over_max", "over_average", "last_max", "fresh_last_max")
    return {
        "name": name,
        "seeds": [{key: found[key] for key in keys} for found in founds],
        **{key: fmean(found[key] for found in founds) for key in keys},
        **{kind: fmean(len(c.added) + len(c.removed) for found in founds for c in found[kind]) for kind in KINDS},
    }


def backup_sets(name: str, m: tl.Maintainer, setting: Setting) -> dict:
    """Sizes of the backup sets, and how evenly primaries lie, before any churn."""
    labels = setting.interest.node_labels.tolist()
    primaries = [len(m.primaries_of(label)) for label in labels]
    return {
        "name": name,
        "share": fmean(len(m.backups_of(label)) for label in labels) / len(labels),
        "fewest": min(primaries),
        "most": max(primaries),
        "under_5": fmean(count < 5 for count in primaries),
    }


def durable(setting: Setting, base: tl.Overlay, sync: str) -> tuple[dict, float]:
    """A run with SQLite, and the seconds that reopening takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        with tl.Maintainer.open(path, interest=setting.interest, overlay=base, sync=sync) as m:
            found = churn(m, setting, samples=0)
        started = time.perf_counter()
        tl.Maintainer.open(path).close()
        return found, time.perf_counter() - started


def bare_commit(sync: str, times: int = 300) -> float:
    """Seconds of an SQLite commit of one small row on this disk: what no durable event can beat."""
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(f"PRAGMA synchronous = {sync}")
        database.execute("CREATE TABLE t (x)")
        started = time.perf_counter()
        for number in range(times):
            database.execute("INSERT INTO t VALUES (?)", (number,))
        seconds = (time.perf_counter() - started) / times
        database.close()
        return seconds


def small(rounds: int, seeds: tuple[int, ...], say) -> dict:
    """The paper's setting."""
    settings = [Setting(2000, 200, rounds, seed) for seed in seeds]
    bases = [tl.low_oda(setting.interest) for setting in settings]
    say(f"{len(seeds)} base overlays")
    one, base = settings[0], bases[0]
    results: dict = {"rounds": rounds, "runs": [], "degrees": [], "backups": [], "commit_ms": {}, "reopen_s": {}}
    for name, options in {
        "shadow": {},
        "shadow, greedy backups": {"backups": "greedy"},
        "shadow, λ = 1": {"coverage": 1},
        "shadow, λ = 2": {"coverage": 2},
        "shadow, λ = 4": {"coverage": 4},
        "naive": {"policy": "naive"},
    }.items():
        founds = []
        for setting, overlay in zip(settings, bases):
            m = tl.Maintainer(setting.interest, overlay, **options)
            if setting is one and "policy" not in options and "coverage" not in options:
                results["backups"].append(backup_sets(name, m, setting))
            founds.append(churn(m, setting))
            if name == "naive":
                break
        results["degrees"].append(degrees(name, founds))
        say(
            f"{name}: {results['degrees'][-1]['over_max']:.2f}, {results['degrees'][-1]['over_average']:.3f} over fresh"
        )
    rebuild = min(setting.rebuild_seconds for setting in settings)
    results["rebuild_ms"] = 1e3 * rebuild
    # Timed apart from the degrees: nothing else happens between the events.
    for name, options in {
        "shadow": {},
        "shadow, greedy backups": {"backups": "greedy"},
        "naive": {"policy": "naive"},
    }.items():
        repeats = [churn(tl.Maintainer(one.interest, base, **options), one, samples=0) for _ in range(REPEATS)]
        results["runs"] += costs(name, repeats, rebuild)
        say(name)
    for sync in ("normal", "full"):
        runs = [durable(one, base, sync) for _ in range(REPEATS)]
        results["reopen_s"][sync] = min(seconds for _, seconds in runs)
        results["runs"] += costs(f'shadow, SQLite, sync="{sync}"', [found for found, _ in runs], rebuild)
        results["commit_ms"][sync] = 1e3 * bare_commit(sync)
        say(f"SQLite, {sync}")
    return results


def large(rounds: int, say) -> dict:
    """100,000 nodes × 1,000 topics × 20."""
    setting = Setting(100_000, 1000, rounds, 0)
    started = time.perf_counter()
    base = tl.greedy_merge(setting.interest)
    designed = time.perf_counter() - started
    say(f"100,000 nodes: designed in {designed:.0f} s")
    started = time.perf_counter()
    m = tl.Maintainer(setting.interest, base)
    filled = time.perf_counter() - started
    say(f"100,000 nodes: backups of all in {filled:.0f} s")
    rows = costs("shadow, 100,000 nodes", [churn(m, setting, samples=0)], None)
    verdict = tl.verify(m.interest, m.overlay.links)
    return {"rounds": rounds, "designed_s": designed, "filled_s": filled, "runs": rows, "verified": verdict.ok}


def warm() -> None:
    """Compile everything on a small instance."""
    setting = Setting(300, 200, 40, 0)
    base = tl.low_oda(setting.interest)
    for options in ({}, {"policy": "naive"}, {"backups": "greedy"}):
        churn(tl.Maintainer(setting.interest, base, **options), setting, samples=1)


def main(argv: list[str] | None = None) -> int:
    """Run, print, and write after a full run; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.churn", description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="100 rounds of one seed without the large instance")
    parser.add_argument("--large", action="store_true", help="only the large instance, beside a short run of the small")
    parser.add_argument("--no-write", action="store_true", help="print only, also after a full run")
    parser.add_argument(
        "--render", action="store_true", help="measure nothing; only rewrite the document from churn.json"
    )
    options = parser.parse_args(argv)
    if options.render:
        churn_report.write(ROOT, churn_report.stored(ROOT))
        return 0
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", file=sys.stderr, flush=True)

    short = options.quick or options.large
    results = {"circumstances": report.circumstances(ROOT)}
    warm()
    results |= small(100 if short else 1000, SEEDS[:1] if short else SEEDS, say)
    write = not short and not options.no_write
    if write:  # the large instance takes as long again
        churn_report.write(ROOT, results)
    if not options.quick:
        results["large"] = large(200, say)
    print(churn_report.document(results))
    if write:
        churn_report.write(ROOT, results)
        say("wrote benchmarks/churn.json and docs/benchmarks-churn.md")
    missed = [target["what"] for target in churn_report.targets(results) if not target["met"]]
    if missed:
        say(f"falls short: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
