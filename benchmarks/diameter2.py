"""The diameter-2 family on the settings of the Low-ODA paper, §6.5, beside what is published there.

``python benchmarks/diameter2.py`` prints the tables of docs/methods/diameter-two.md: links against GM's and
2D-ODA's, other readings of 2D-ODA's formula, and a bound that no overlay of one star per topic can beat.
"""

import argparse
from collections.abc import Iterator
from statistics import fmean

import numpy as np

import topicloom as tl

SETTINGS = {
    "nodes 100–1000, 100 topics, s = 10": [(n, 100, 10) for n in range(100, 1001, 100)],
    "topics 100–500, 100 nodes, s = 20": [(100, t, 20) for t in range(100, 501, 100)],
    "s 10–50, 100 nodes, 100 topics": [(100, 100, s) for s in range(10, 51, 10)],
}
PUBLISHED = ("1.09 / 2.04 / 2.06", "1.07 / 1.96 / 2.00", "1.10 / 1.94 / 2.23")
FAMILY = ("2d-oda", "cd-oda-2", "cd-oda-1", "cd-oda")
# reading of the formula -> (numerator, self counted, when a topic leaves T)
READINGS = {
    "as shipped": ("all topics", False, "star"),
    "u counts as its own neighbour": ("all topics", True, "star"),
    "numerator over t alone": ("own topic", False, "star"),
    "numerator over nodes not linked to u": ("unlinked", False, "star"),
    "topics shared over the star's new links": ("new links", False, "star"),
    "T loses topics of diameter 2": ("all topics", False, "diameter"),
    "T loses topics that are connected": ("all topics", False, "connected"),
}


def instances(points: list[tuple[int, int, int]], runs: int, sizes: str) -> Iterator[list[tl.Interest]]:
    """For each point of a setting, interests with uniform popularity."""
    for nodes, topics, size in points:
        yield [
            tl.generate(nodes=nodes, topics=topics, subscriptions=size, sizes=sizes, popularity="uniform", seed=seed)
            for seed in range(runs)
        ]


def links_of_reading(interest: tl.Interest, reading: str, seed: int = 0) -> int:
    """Links that 2D-ODA adds under another reading of its formula; dense and slow, exact up to floating point."""
    numerator, with_self, leaves = READINGS[reading]
    rng = np.random.default_rng(seed)
    order = rng.permutation(interest.n_nodes)  # ties
    wants = np.zeros((interest.n_nodes, interest.n_topics), np.float32)
    wants[interest.nodes, interest.topics] = 1
    wants = wants[order]
    unlinked = np.ones((len(wants), len(wants)), np.float32) - np.eye(len(wants), dtype=np.float32)
    in_t = wants.sum(axis=0) > 1
    while in_t.any():
        open_wants = wants * in_t
        lacking = unlinked @ wants + with_self
        if numerator == "all topics":
            worth = (open_wants @ (wants.sum(axis=0) - 1 + with_self))[:, None]
        elif numerator == "own topic":
            worth = (wants.sum(axis=0) - 1)[None, :]
        elif numerator == "unlinked":
            worth = (open_wants * lacking).sum(axis=1)[:, None]
        else:
            worth = (unlinked * (open_wants @ open_wants.T)) @ wants
        density = np.where(lacking > 0, worth / np.maximum(lacking, 1), np.inf)
        density[open_wants == 0] = -1
        u, t = np.unravel_index(np.argmax(density), density.shape)
        star = wants[:, t] > 0
        star[u] = False
        unlinked[u, star] = unlinked[star, u] = 0
        in_t[t] = False
        if leaves != "star":
            links = order[np.argwhere(np.triu(1 - unlinked, 1))]
            if leaves == "connected":
                broken = {topic for topic, *_ in tl.verify(interest, links).broken}
                in_t &= np.isin(np.arange(interest.n_topics), list(broken))
            else:
                diameter = tl.measures.measure_topics(interest, links).diameter
                in_t &= (diameter > 2) | (diameter < 0)
    return int(np.triu(1 - unlinked, 1).sum())


def star_bound(interest: tl.Interest) -> float:
    """Links that an overlay with a star for every topic has at least; for nodes with few topics.

    A centre u of the topics S has a link to each of their other subscribers, so it pays |∪ V^t| - 1 links for |S|
    topics; a link has two ends, so it is paid at most twice. Half the number of topics times the least price per
    topic, over all nodes and all subsets of their topics, is therefore a lower bound.
    """
    wanted = np.diff(interest.topic_indptr) > 1
    masks = [0] * interest.n_topics
    for node, topic in zip(interest.nodes.tolist(), interest.topics.tolist()):
        masks[topic] |= 1 << node
    least = float("inf")
    for u in range(interest.n_nodes):
        unions = [0]
        for t in interest.topics_of(u).tolist():
            if wanted[t]:
                unions += [union | masks[t] for union in unions]
        for number, union in enumerate(unions[1:], 1):
            least = min(least, (union.bit_count() - 1) / number.bit_count())
    return least * int(wanted.sum()) / 2


def table_of_methods(runs: int, sizes: str) -> None:
    """The shipped methods."""
    columns = ("2D/GM min–max", "CD-II/2D", "CD-I/2D", "CD/2D", "CD/CD-I", "published 2D/GM, CD-II/2D, CD/2D")
    print(f"\n| setting ({sizes} sizes, {runs} runs a point) | " + " | ".join(columns) + " |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for (name, points), published in zip(SETTINGS.items(), PUBLISHED):
        ratios = []
        for interests in instances(points, runs, sizes):
            links = {m: fmean(tl.design(i, m).n_links for i in interests) for m in ("gm", *FAMILY)}
            ratios.append([links["2d-oda"] / links["gm"], *(links[m] / links["2d-oda"] for m in FAMILY[1:])])
        to_gm = [row[0] for row in ratios]
        two, one, plain = (fmean(row[column] for row in ratios) for column in (1, 2, 3))
        figures = f"{min(to_gm):.2f}–{max(to_gm):.2f} | {two:.2f} | {one:.2f} | {plain:.2f} | {plain / one:.2f}"
        print(f"| {name} | {figures} | {published} |", flush=True)


def table_of_readings(runs: int, sizes: str) -> None:
    """2D-ODA's links against GM's, and CD-ODA-II's against them, at both ends of each setting."""
    print(f"\n| reading of 2D-ODA ({sizes} sizes, {runs} runs a point) | " + " | ".join(SETTINGS) + " |")
    print("|---" * (1 + len(SETTINGS)) + "|")
    for reading in READINGS:
        cells = []
        for points in SETTINGS.values():
            to_gm, of_cd = [], []
            for interests in instances([points[0], points[-1]], runs, sizes):
                links = fmean(links_of_reading(i, reading) for i in interests)
                to_gm.append(links / fmean(tl.greedy_merge(i).n_links for i in interests))
                of_cd.append(fmean(tl.cd_oda_2(i).n_links for i in interests) / links)
            cells.append(f"{to_gm[0]:.2f} → {to_gm[1]:.2f}; CD-II {of_cd[0]:.2f} → {of_cd[1]:.2f}")
        print(f"| {reading} | " + " | ".join(cells) + " |", flush=True)


def table_of_bounds(runs: int) -> None:
    """What a star per topic must cost, against GM."""
    print("\n| nodes (100 topics, s = 10) | GM links | 2D-ODA / GM | no star-per-topic overlay below |")
    print("|--:|--:|--:|--:|")
    for nodes in (100, 200, 500, 1000):
        (interests,) = instances([(nodes, 100, 10)], runs, "fixed")
        gm = [tl.greedy_merge(i).n_links for i in interests]
        ours = fmean(tl.two_diameter_oda(i).n_links for i in interests)
        bound = fmean(star_bound(i) / links for i, links in zip(interests, gm))
        print(f"| {nodes} | {fmean(gm):.0f} | {ours / fmean(gm):.2f} | {bound:.2f} × GM |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="interests per point")
    runs = parser.parse_args().runs
    for sizes in ("fixed", "mean"):
        table_of_methods(runs, sizes)
    table_of_bounds(min(runs, 3))
    for sizes in ("fixed", "mean"):
        table_of_readings(min(runs, 2), sizes)


if __name__ == "__main__":
    main()
