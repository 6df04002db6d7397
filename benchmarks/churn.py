"""Overlays under churn in the setting of the shadows paper, §VI, beside what is published there.

``python benchmarks/churn.py`` prints the tables of docs/algorithms/churn.md: 2,000 nodes × 200 topics, power-law sizes
10–90 (exponent 2), uniform popularity, joins and leaves with probability ½, ρ = 3, λ = 3. Seconds are those of a shared
machine: compare the ratios to rebuilding in the same run. CPU seconds are printed beside them.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path
from statistics import fmean

import numpy as np

import topicloom as tl


def instance(nodes: int, topics: int, extra: int, seed: int = 0) -> tuple[tl.Interest, list[list[str]]]:
    """An interest, and the topics of nodes that may join, drawn alike."""
    if topics == 200:
        drawn = tl.generate(nodes=nodes + extra, topics=topics, sizes="power-law", min_size=10, max_size=90, seed=seed)
    else:
        drawn = tl.generate(nodes=nodes + extra, topics=topics, subscriptions=20, seed=seed)
    joiners = [[drawn.topic_label(t) for t in drawn.topics_of(v)] for v in range(nodes, nodes + extra)]
    return drawn.restrict(np.arange(nodes)), joiners


def churn(m: tl.Maintainer, joiners: list[list[str]], rounds: int, every: int = 0, seed: int = 1) -> dict:
    """Apply random joins and leaves; what they cost, and degrees against a fresh Low-ODA ``every`` rounds."""
    draw = random.Random(seed)
    present = m.interest.node_labels.tolist()
    found: dict = {"join": [], "leave": [], "cpu": {"join": 0.0, "leave": 0.0}, "degrees": [], "rebuild": []}
    for number in range(rounds):
        kind = "join" if draw.random() < 0.5 else "leave"
        cpu = time.process_time()
        if kind == "join":
            present.append(f"j{number}")
            change = m.join(f"j{number}", joiners[number])
        else:
            at = draw.randrange(len(present))
            present[at], present[-1] = present[-1], present[at]
            change = m.leave(present.pop())
        found["cpu"][kind] += time.process_time() - cpu
        found[kind].append(change)
        if every and number % every == every - 1:
            started = time.perf_counter()
            fresh = tl.low_oda(m.interest)
            found["rebuild"].append(time.perf_counter() - started)
            ours, theirs = m.overlay.degree(), fresh.degree()
            found["degrees"].append((ours.max(), ours.mean(), theirs.max(), theirs.mean()))
    return found


def report(name: str, found: dict) -> None:
    """One row per kind of event."""
    rebuild = fmean(found["rebuild"]) if found["rebuild"] else float("nan")
    for kind in ("join", "leave"):
        changes = found[kind]
        seconds, repair = fmean(c.seconds for c in changes), fmean(c.repair_seconds for c in changes)
        links = fmean(len(c.added) + len(c.removed) for c in changes)
        shadow, candidates = fmean(c.shadow_size for c in changes), fmean(c.candidates for c in changes)
        cpu = found["cpu"][kind] / len(changes)
        print(
            f"| {name} {kind} | {1e3 * seconds:.2f} | {1e3 * cpu:.2f} | {1 / seconds:,.0f} | {1e3 * repair:.2f} "
            f"| {rebuild / repair:,.0f} × | {links:.2f} | {shadow:.1f} | {candidates:,.0f} |",
            flush=True,
        )


HEAD = "| | ms | CPU ms | a second | repair ms | rebuild / repair | links changed | shadow set | candidate links |"


def warm() -> None:
    """Compile everything on a small instance."""
    for options in ({}, {"policy": "naive"}, {"backups": "greedy"}):
        interest, joiners = instance(300, 200, 40)
        churn(tl.Maintainer(interest, tl.low_oda(interest), **options), joiners, 40, 20)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--large", action="store_true", help="also 100,000 nodes × 1,000 topics × 20")
    options = parser.parse_args()
    rounds = options.rounds
    warm()
    interest, joiners = instance(2000, 200, rounds)
    base = tl.low_oda(interest)
    print(HEAD + "\n|---" + "|--:" * 8 + "|", flush=True)
    runs = {}
    for name, chosen in {"shadow": {}, "shadow, greedy backups": {"backups": "greedy"}}.items():
        m = tl.Maintainer(interest, base, **chosen)
        backups = [len(m.backups_of(label)) for label in interest.node_labels.tolist()]
        primaries = [len(m.primaries_of(label)) for label in interest.node_labels.tolist()]
        runs[name] = churn(m, joiners, rounds, rounds // 20)
        runs[name]["backups"] = backups, primaries
        report(name, runs[name])
    few = max(rounds // 5, 1)
    runs["naive"] = churn(tl.Maintainer(interest, base, policy="naive"), joiners, few, few // 4)
    report(f"naive ({few} rounds)", runs["naive"])
    with tempfile.TemporaryDirectory() as folder:
        with tl.Maintainer.open(Path(folder) / "state.db", interest=interest, overlay=base) as m:
            runs["durable"] = churn(m, joiners, few, few // 4)
            report(f"shadow, SQLite ({few} rounds)", runs["durable"])
        started = time.perf_counter()
        tl.Maintainer.open(Path(folder) / "state.db").close()
        print(f"\nreopened in {time.perf_counter() - started:.2f} s")
    for name, found in runs.items():
        top, mean, fresh_top, fresh_mean = (fmean(column) for column in zip(*found["degrees"]))
        print(
            f"{name}: degrees over the rounds max {top:.1f} (fresh Low-ODA {fresh_top:.1f}), mean {mean:.2f} "
            f"({fresh_mean:.2f}); last max {found['degrees'][-1][0]}; rebuild {fmean(found['rebuild']):.3f} s"
        )
        if "backups" in found:
            backups, primaries = found["backups"]
            share = fmean(count < 5 for count in primaries)
            print(
                f"    backups {fmean(backups) / interest.n_nodes:.2%} of the nodes; primaries {min(primaries)}–"
                f"{max(primaries)}, {share:.1%} of the nodes under 5"
            )
    if options.large:
        large(runs["shadow"])


def large(small: dict) -> None:
    """100,000 nodes against 2,000."""
    interest, joiners = instance(100_000, 1000, 200)
    started = time.perf_counter()
    base = tl.greedy_merge(interest)
    print(f"\n100,000 × 1,000 × 20: designed in {time.perf_counter() - started:.0f} s", flush=True)
    started = time.perf_counter()
    m = tl.Maintainer(interest, base)
    print(f"backups of all in {time.perf_counter() - started:.0f} s", flush=True)
    found = churn(m, joiners, 200)
    report("100,000 nodes", found)
    for kind in ("join", "leave"):
        ratio = fmean(c.seconds for c in found[kind]) / fmean(c.seconds for c in small[kind])
        print(f"{kind}: {ratio:.1f} × the time at 2,000 nodes")


if __name__ == "__main__":
    main()
