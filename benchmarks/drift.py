"""Degrees over 10,000 events with and without rebalancing, in the setting of the shadows paper.

``python -m benchmarks.drift`` prints the tables of docs/methods/churn.md: 2,000 nodes × 200 topics, power-law sizes
10–90 (exponent 2), uniform popularity, joins and leaves with probability ½; each run sees the same events.
"""

import argparse
import random
import sys
import time
from statistics import fmean

import topicloom as tl
from benchmarks.churn import Setting


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
    """Print degrees along the way (maximum, average, and both over the fresh ones), and what an event took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--factors", type=float, nargs="*", default=[1.5, 1.2])
    options = parser.parse_args()
    setting = Setting(options.nodes, 200, options.events, 0)
    base = tl.low_oda(setting.interest)
    drift(tl.Maintainer(setting.interest, base, rebalance=1.0), setting.joiners, 20, 20)  # compiles
    summary, courses = [], []
    for factor in (None, *options.factors):
        m = tl.Maintainer(setting.interest, base, rebalance=factor)
        found = drift(m, setting.joiners, options.events, options.events // 10)
        name = "off" if factor is None else f"{factor:g}"
        courses.append((name, found["degrees"]))
        join, leave = (fmean(found["changed"][kind]) for kind in ("join", "leave"))
        most = max(max(found["changed"][kind]) for kind in ("join", "leave"))
        cpu = " / ".join(f"{1e3 * fmean(found['cpu'][kind]):.2f}" for kind in ("join", "leave"))
        summary.append(f"| {name} | {join:.2f} / {leave:.2f} | {most} | {cpu} |")
        print(f"{name}: {found['degrees'][-1]}", file=sys.stderr)
    print(
        "| events | fresh |"
        + "".join(f" {name} |" for name, _ in courses)
        + "\n|--:"
        + "|--:" * (1 + len(courses))
        + "|"
    )
    for rows in zip(*(degrees for _, degrees in courses)):
        cells = [f"{row[1]}, {row[2]:.2f} ({row[1] / row[3]:.2f}, {row[2] / row[4]:.2f})" for row in rows]
        print(f"| {rows[0][0]:,} | {rows[0][3]}, {rows[0][4]:.2f} | " + " | ".join(cells) + " |")
    print(
        "\n| rebalance | links changed, join / leave | most in an event | CPU ms, join / leave |\n|---"
        + "|--:" * 3
        + "|"
    )
    print("\n".join(summary))


if __name__ == "__main__":
    main()
