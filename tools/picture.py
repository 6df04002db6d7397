"""``make picture``: the README's picture, six brokers before and after."""

import sys
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes

import topicloom as tl

_INK, _LINK, _LOUD, _NODE = "#22303c", "#8a99a8", "#c8553d", "#f4efe6"
_TOPIC = "temperature"


def main(target: Path) -> None:
    """Draw a full mesh of the example's brokers beside its topic-connected overlay."""
    mpl.use("Agg")
    mpl.rcParams |= {"svg.hashsalt": "topicloom", "svg.fonttype": "none", "font.family": "sans-serif"}
    interest = tl.datasets.example()
    overlay = tl.design(interest)
    if not overlay.verify().ok:
        raise SystemExit("the overlay of the example does not verify")
    mesh = list(combinations(range(interest.n_nodes), 2))
    wanted = set(interest.topic_nodes[slice(*interest.topic_indptr[_topic_id(interest) :][:2])].tolist())
    figure, (before, after) = pyplot.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
    _draw(before, interest, mesh, wanted, f"Everyone linked to everyone: {len(mesh)} links")
    _draw(after, interest, overlay.links.tolist(), wanted, f"topicloom: {overlay.n_links} links, same guarantee")
    figure.supxlabel(
        f"Red: the brokers that want “{_TOPIC}”, and the links over which it travels. It passes through nobody else.",
        fontsize=10,
        color=_INK,
    )
    figure.savefig(target, metadata={"Date": None})


def _topic_id(interest: tl.Interest) -> int:
    return int(np.flatnonzero(interest.topic_labels == _TOPIC)[0])


def _draw(axes: Axes, interest: tl.Interest, links: list, wanted: set[int], title: str) -> None:
    angle = np.linspace(0, 2 * np.pi, interest.n_nodes, endpoint=False) + np.pi / 2
    x, y = np.cos(angle), np.sin(angle)
    for u, v in links:
        inside = {u, v} <= wanted
        axes.plot(x[[u, v]], y[[u, v]], color=_LOUD if inside else _LINK, lw=2.6 if inside else 1.4, zorder=1)
    for node, name in enumerate(interest.node_labels.tolist()):
        edge = _LOUD if node in wanted else _INK
        axes.scatter(x[node], y[node], s=1500, color=_NODE, edgecolors=edge, linewidths=1.6, zorder=2)
        axes.text(x[node], y[node], name, ha="center", va="center", fontsize=10, color=_INK, zorder=3)
    axes.set_title(title, fontsize=12, color=_INK)
    axes.set_xlim(-1.35, 1.35)
    axes.set_ylim(-1.3, 1.3)
    axes.set_aspect("equal")
    axes.axis("off")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
