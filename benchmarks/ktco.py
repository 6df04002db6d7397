"""Degrees and diameters of fault-tolerant overlays in the settings of the kTCO paper: ``python -m benchmarks.ktco``.

Every overlay is judged at its k before its figures count. One table per question, as Markdown.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np

import topicloom as tl
from topicloom.methods.selection import options_for

POPULARITIES = {"exponential": "Expo", "zipf": "Zipf", "uniform": "Unif"}


def interests(seeds: int, **sizes: int) -> Iterator[tuple[str, int, tl.Interest]]:
    """(distribution, seed, interest) of all distributions and seeds."""
    for popularity, name in POPULARITIES.items():
        for seed in range(seeds):
            yield name, seed, tl.generate(popularity=popularity, seed=seed, **sizes)


def degree(interest: tl.Interest, links: np.ndarray, k: int) -> float:
    """Average degree of an overlay, which must be k-topic-connected."""
    verdict = tl.verify(interest, links, k)
    if not verdict.ok:
        raise AssertionError(f"not {k}-topic-connected: {verdict.broken[:3]}")
    return 2 * len(links) / interest.n_nodes


def designed(interest: tl.Interest, method: str, k: int, seed: int, **options: object) -> tl.Overlay:
    """An overlay by a method at the k given, judged."""
    overlay = tl.design(interest, method, seed=seed, **options_for(tl.METHODS[method], k), **options)
    degree(interest, overlay.links, k)
    return overlay


def table(header: list[str], rows: list[list[object]]) -> None:
    """Print a Markdown table."""
    print("| " + " | ".join(header) + " |")
    print("|---" + "|--:" * (len(header) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row) + " |")
    print(flush=True)


def two_connected(nodes: list[int], seeds: int) -> None:
    """GM2 against GM and CyclePT: degrees and diameters by nodes (Fig. 3, 6, 8)."""
    print("## GM2, GM and CyclePT: |T| = 200, s = 30\n")
    rows: list[list[object]] = []
    for n in nodes:
        figures: dict[str, list[list[float]]] = {}
        for name, seed, interest in interests(seeds, nodes=n, topics=200, subscriptions=30):
            one, two = designed(interest, "gm", 1, seed), designed(interest, "gm2", 2, seed)
            cycle = designed(interest, "cycle-pt", 2, seed)
            repeated = tl.repeated_greedy_merge(interest, k=2, seed=seed)
            weak = len(tl.verify(interest, repeated.links, 2).broken)
            a, b = (tl.measure(interest, overlay.links) for overlay in (one, two))
            diameters = [a.max_topic_diameter, b.max_topic_diameter, a.mean_topic_diameter, b.mean_topic_diameter]
            degrees = [2 * overlay.n_links / n for overlay in (one, two, cycle, repeated)]
            figures.setdefault(name, []).append([*degrees, weak, *map(float, diameters)])  # type: ignore[arg-type]
        for name, runs in figures.items():
            gm, gm2, cycle_pt, twice, weak, wide, wide2, mean, mean2 = np.mean(runs, axis=0).tolist()
            ratios = [gm2 / gm, cycle_pt / gm2]
            rows.append([name, n, gm, gm2, ratios[0], cycle_pt, ratios[1], twice, weak, wide, wide2, mean, mean2])
    header = "distribution,nodes,GM,GM2,GM2/GM,CyclePT,CyclePT/GM2,2 × GM,topics it leaves weak"
    table([*header.split(","), "Diam GM", "Diam GM2", "diam GM", "diam GM2"], rows)
    columns = np.array([row[2:] for row in rows], float)
    for label, chosen in [("all", slice(None)), *((n, [r[0] == n for r in rows]) for n in POPULARITIES.values())]:
        c = columns[chosen]
        print(
            f"{label}: GM2/GM {np.mean(c[:, 2]):.3f}, CyclePT/GM2 {np.mean(c[:, 4]):.2f}, "
            f"Diam GM2/GM {np.mean(c[:, 8] / c[:, 7]):.3f}, mean diam GM2/GM {np.mean(c[:, 10] / c[:, 9]):.3f}"
        )
    print()


def harary(nodes: list[int], seeds: int) -> None:
    """HararyPT by k against CyclePT's links (Fig. 3)."""
    print("## HararyPT by k, along ids and along the similarity sequence: |T| = 200, s = 30\n")
    ks = [2, 3, 4, 5, 6, 7, 8, 10, 12]
    rows: list[list[object]] = []
    for n in nodes:
        for sequence in ("arbitrary", "similarity"):
            figures: dict[str, list[list[float]]] = {}
            for name, seed, interest in interests(seeds, nodes=n, topics=200, subscriptions=30):
                run = [2 * designed(interest, "harary-pt", k, seed, sequence=sequence).n_links / n for k in ks]
                cycle = 2 * tl.cycle_per_topic(interest, seed=seed).n_links / n
                figures.setdefault(name, []).append([cycle, *run])
            rows += [[name, n, sequence, *np.mean(runs, axis=0).tolist()] for name, runs in figures.items()]
    table(["distribution", "nodes", "sequence", "CyclePT", *(f"k = {k}" for k in ks)], rows)


def spot_checks(seeds: int) -> None:
    """Figures that the paper's appendix D gives as numbers."""
    print("## HararyPT where the paper gives a number: |V| = 800\n")
    rows: list[list[object]] = []
    for topics, published in ((100, 54.22), (1000, 222.84)):
        ours = [
            2 * designed(interest, "harary-pt", 10, seed).n_links / 800
            for name, seed, interest in interests(seeds, nodes=800, topics=topics, subscriptions=30)
            if name == "Unif"
        ]
        rows.append([f"10TCO, |T| = {topics}, s = 30, Unif", published, float(np.mean(ours))])
    many: dict[str, list[tuple[float, float]]] = {}
    for name, seed, interest in interests(seeds, nodes=800, topics=200, subscriptions=100):
        overlays = designed(interest, "harary-pt", 12, seed), designed(interest, "cycle-pt", 2, seed)
        many.setdefault(name, []).append((2 * overlays[0].n_links / 800, 2 * overlays[1].n_links / 800))
    means = {name: np.mean(runs, axis=0) for name, runs in many.items()}
    twelve, cycle = np.mean(list(means.values()), axis=0).tolist()
    rows.append(["12TCO, |T| = 200, s = 100, all", 60.20, twelve])
    rows += [[f"12TCO, |T| = 200, s = 100, {name}", "", float(mean[0])] for name, mean in means.items()]
    rows.append(["CyclePT, |T| = 200, s = 100, all", 177.23, cycle])
    table(["average degree", "paper", "ours"], rows)


def timed(work: Callable[[], tl.Overlay]) -> tuple[tl.Overlay, float]:
    start = time.perf_counter()
    overlay = work()
    return overlay, time.perf_counter() - start


def _of_the_papers(k: int) -> str:
    """The method of the papers that reaches k, as printed."""
    return {1: "gm", 2: "gm2"}.get(k, "harary-pt")


def trimmed(n: int, seeds: int) -> None:
    """What trimming saves, and Stacked Greedy Merge against HararyPT."""
    print(f"## Trimming, and Stacked Greedy Merge: average degree at |V| = {n}, |T| = 200, s = 30\n")
    rows: list[list[object]] = []
    figures: dict[tuple[str, int], list[list[float]]] = {}
    for name, seed, interest in interests(seeds, nodes=n, topics=200, subscriptions=30):
        for k in (1, 2, 3, 4, 6):
            base = designed(interest, _of_the_papers(k), k, seed)
            left = degree(interest, tl.drop_redundant_links(interest, base.links, k), k)
            path = designed(interest, "harary-pt", k, seed)
            stacked, seconds = timed(lambda k=k: tl.stacked_greedy_merge(interest, k=k, seed=seed))  # noqa: B023
            run = [2 * base.n_links / n, left, 2 * path.n_links / n, degree(interest, stacked.links, k), seconds]
            figures.setdefault((name, k), []).append(run)
    for (name, k), runs in figures.items():
        base_degree, left, path_degree, stacked_degree, seconds = np.mean(runs, axis=0).tolist()
        ratio = path_degree / stacked_degree
        rows.append(
            [name, k, _of_the_papers(k), base_degree, left, path_degree, stacked_degree, ratio, f"{seconds:.1f} s"]
        )
    table(["distribution", "k", "method", "as is", "trimmed", "harary-pt", "stacked-gm", "ratio", "time"], rows)


def speed(repeats: int) -> None:
    """GM2's time against GM's, same run."""
    print("## Time: GM2 against GM, best of several\n")
    rows: list[list[object]] = []
    for nodes, topics, subscriptions in ((1000, 200, 30), (10_000, 100, 10)):
        for popularity, name in POPULARITIES.items():
            interest = tl.generate(
                nodes=nodes, topics=topics, subscriptions=subscriptions, popularity=popularity, seed=0
            )
            tl.greedy_merge(interest), tl.gm2(interest)  # compiled and warm
            gm = min(timed(lambda i=interest: tl.greedy_merge(i))[1] for _ in range(repeats))  # type: ignore[misc]
            gm2 = min(timed(lambda i=interest: tl.gm2(i))[1] for _ in range(repeats))  # type: ignore[misc]
            rows.append([f"{nodes:,} × {topics} × {subscriptions} {name}", f"{gm:.3f} s", f"{gm2:.3f} s", gm2 / gm])
    table(["instance", "gm", "gm2", "ratio"], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--nodes", type=int, nargs="*", default=[100, 400, 700, 1000])
    parser.add_argument("--only", choices=["two", "harary", "spots", "trim", "speed"], nargs="*")
    given = parser.parse_args()
    tasks: dict[str, Callable[[], None]] = {
        "speed": lambda: speed(5),
        "two": lambda: two_connected(given.nodes, given.seeds),
        "harary": lambda: harary(given.nodes[-1:], given.seeds),
        "spots": lambda: spot_checks(given.seeds),
        "trim": lambda: trimmed(given.nodes[-1], given.seeds),
    }
    for name, task in tasks.items():
        if not given.only or name in given.only:
            task()


if __name__ == "__main__":
    main()
