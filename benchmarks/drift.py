"""Degrees over 10,000 events with and without rebalancing, in the setting of the shadows paper.

``python benchmarks/drift.py`` prints the table of docs/algorithms/churn.md: 2,000 nodes × 200 topics, power-law sizes
10–90 (exponent 2), uniform popularity, joins and leaves with probability ½; each run sees the same events.
"""

import argparse
import random
import time
from statistics import fmean

import topicloom as tl
from benchmarks.churn import instance


def drift(m: tl.Maintainer, joiners: list[list[str]], events: int, every: int) -> dict:
    """Apply random joins and leaves; degrees against a fresh Low-ODA ``every`` events, and what an event took."""
    draw = random.Random(1)
    present = m.interest.node_labels.tolist()
    found: dict = {"degrees": [], "changed": {"join": [], "leave": []}, "cpu": {"join": [], "leave": []}}
    for number in range(1, events + 1):
        cpu = time.process_time()
        if draw.random() < 0.5:
            kind = "join"
            present.append(f"j{number}")
            change = m.join(f"j{number}", joiners[number - 1])
        else:
            kind = "leave"
            at = draw.randrange(len(present))
            present[at], present[-1] = present[-1], present[at]
            change = m.leave(present.pop())
        found["cpu"][kind].append(time.process_time() - cpu)
        found["changed"][kind].append(len(change.added) + len(change.removed))
        if number % every == 0:
            assert tl.verify(m.interest, m.overlay.links, m.options["k"]).ok
            ours, fresh = m.overlay.degree(), tl.low_oda(m.interest).degree()
            found["degrees"].append((number, ours.max(), ours.mean(), fresh.max(), fresh.mean()))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--factors", type=float, nargs="*", default=[2.0, 1.5, 1.2, 1.1])
    options = parser.parse_args()
    interest, joiners = instance(options.nodes, 200, options.events)
    base = tl.low_oda(interest)
    drift(tl.Maintainer(interest, base, rebalance=1.0), joiners, 20, 20)  # compiles
    print(
        "| rebalance | maximum degree | average degree | links changed, join / leave | most in an event "
        "| CPU ms, join / leave |\n|---" + "|--:" * 5 + "|"
    )
    fresh = None
    for factor in (None, *options.factors):
        found = drift(tl.Maintainer(interest, base, rebalance=factor), joiners, options.events, options.events // 10)
        _, top, mean, *fresh = found["degrees"][-1]
        overall_top, overall_mean = (fmean(row[x] for row in found["degrees"]) for x in (1, 2))
        join, leave = (fmean(found["changed"][kind]) for kind in ("join", "leave"))
        most = max(max(found["changed"][kind]) for kind in ("join", "leave"))
        cpu = " / ".join(f"{1e3 * fmean(found['cpu'][kind]):.2f}" for kind in ("join", "leave"))
        print(
            f"| {factor or 'off'} | {top} ({overall_top:.1f}) | {mean:.2f} ({overall_mean:.2f}) "
            f"| {join:.2f} / {leave:.2f} | {most} | {cpu} |",
            flush=True,
        )
    print(f"| fresh Low-ODA at the end | {fresh[0]} | {fresh[1]:.2f} | | | |")


if __name__ == "__main__":
    main()
