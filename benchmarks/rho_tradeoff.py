"""What rho buys: average against maximum degree of Low-ODA, on the workload of its paper's §5.

``python -m benchmarks.rho_tradeoff`` writes the plot docs/methods/rho-tradeoff.svg and prints the table that
docs/methods/degree.md holds between its markers, where it is replaced too.
"""

from math import inf
from pathlib import Path

import numpy as np

import topicloom as tl

ROOT = Path(__file__).parents[1]
PLOT = ROOT / "docs" / "algorithms" / "rho-tradeoff.svg"
PAGE = ROOT / "docs" / "algorithms" / "degree.md"
START, END = "<!-- rho:start -->", "<!-- rho:end -->"

NODES = (100, 200, 500, 1000)
RHOS = (1, 1.5, 2, 3, 4, 5, 6, 7, 8, inf)
SEEDS = range(30)
# Okabe and Ito's colours, told apart by the colour-blind; markers differ as well, for print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
MARKERS = ("o", "s", "^", "D")


def degrees(nodes, method, **options):
    """(average, maximum) degree: means over the seeds, every overlay verified."""
    rows = []
    for seed in SEEDS:
        interest = tl.generate(nodes, 100, 10, "zipf", alpha=0.5, seed=seed)
        overlay = tl.design(interest, method, seed=seed, **options)
        if not tl.verify(interest, overlay.links).ok:
            raise AssertionError(f"{method} at {nodes} nodes, seed {seed}: not topic-connected")
        rows.append((overlay.degree().mean(), overlay.degree().max()))
    return np.mean(rows, axis=0)


def measured():
    """{label: {nodes: (average, maximum)}}, from gm over the values of rho to minmax-oda."""
    table = {"`gm`": {nodes: degrees(nodes, "gm") for nodes in NODES}}
    for rho in RHOS:
        label = "`low-oda`, rho = " + ("∞ (`minmax-oda`)" if rho == inf else f"{rho:g}")
        table[label] = {nodes: degrees(nodes, "low-oda", rho=rho) for nodes in NODES}
    return table


def as_markdown(table):
    """Average / maximum degree, a column per number of nodes."""
    lines = ["| | " + " | ".join(f"{nodes:,} nodes" for nodes in NODES) + " |", "|---|" + "--:|" * len(NODES)]
    for label, row in table.items():
        cells = (f"{average:.2f} / {maximum:.1f}" for average, maximum in row.values())
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(table):
    """The curves as an SVG that is the same for the same numbers."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "topicloom", "font.size": 11, "svg.fonttype": "path"}
    figure, axes = plt.subplots(figsize=(7, 4.8), layout="constrained")
    for nodes, colour, marker in zip(NODES, COLOURS, MARKERS):
        points = [row[nodes] for label, row in table.items() if label != "`gm`"]
        averages, maxima = zip(*points)
        axes.plot(averages, maxima, color=colour, marker=marker, markersize=5, linewidth=1.5, label=f"{nodes:,} nodes")
        for rho, side in ((1, (7, 0)), (1.5, (-7, -9)), (inf, (7, 3))):
            text = "∞" if rho == inf else f"{rho:g}"
            at = "left" if side[0] > 0 else "right"
            axes.annotate(text, points[RHOS.index(rho)], textcoords="offset points", xytext=side, fontsize=9, ha=at)
        x, y = table["`gm`"][nodes]
        axes.plot(x, y, color=colour, marker=marker, markersize=9, markerfacecolor="none", linestyle="none")
    axes.plot([], [], color="black", marker="o", markersize=9, markerfacecolor="none", linestyle="none", label="gm")
    axes.set_xlabel("average degree")
    axes.set_ylabel("maximum degree")
    axes.grid(alpha=0.3)
    axes.set_title("low-oda, rho = 1, 1.5, 2, 3, …, 8, ∞ (100 topics, 10 per node, Zipf 0.5)", fontsize=11)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, columnspacing=1.2, handletextpad=0.4)
    figure.savefig(PLOT, metadata={"Date": None})


def main():
    """Measure, draw, and put the table into the page."""
    table = measured()
    text = as_markdown(table)
    print(text)
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    draw(table)
    if PAGE.exists():
        before, start, rest = PAGE.read_text(encoding="utf-8").partition(START)
        _, end, after = rest.partition(END)
        if start and end:
            PAGE.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
