"""Compile the kernels ahead, as ``make dev`` does: those that users run, and those that only tests and studies do.

    python tools/compile_kernels.py [backwards]

Two processes share the work when one of them goes backwards: what one has compiled, the other finds in the cache.
Tests that came first would compile for minutes instead, several workers the same kernel.
"""

import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory

import numpy as np

import topicloom as tl
from topicloom.kernels.greedy.engine import greedy_links
from topicloom.measures import measure_topics, topic_hops
from topicloom.methods.bounds.price_bound import price_bound
from topicloom.methods.network import design_network
from topicloom.methods.network.open_network import open_network
from topicloom.page.node_places import FORCE_LIMIT, layout
from topicloom.routing.topic_trees import least_trees
from topicloom.spark.session.warm import warm_all, warm_refinement
from topicloom_papers.cells.cells import Cell
from topicloom_papers.measurements import MEASUREMENTS

SMALL = {"nodes": 60, "topics": 12, "subscriptions": 4}


def greedy_counts() -> None:
    """Compile the dense search with its wider counts, and with topics that are rare enough to be counted apart."""
    usual = tl.generate(nodes=100, topics=10, subscriptions=3)
    wide = tl.generate(nodes=12, topics=600, subscriptions=400)
    skewed = tl.generate(nodes=300, topics=400, subscriptions=6, popularity="zipf", alpha=1.5)
    for weight in (300, 30_000):
        weights = np.full(usual.n_topics, weight)
        weights[0] = 1
        greedy_links(usual.indptr, usual.topics, usual.n_topics, weights=weights, search="dense", seed=0)
    for interest, most in ((wide, None), (skewed, None), (skewed, 3), (skewed, 300)):
        weights = None if most is None else 1 + np.arange(interest.n_topics) % most
        greedy_links(interest.indptr, interest.topics, interest.n_topics, weights=weights, search="dense", seed=0)


def greedy_blocks() -> None:
    """Compile each search for two-connected topics, from links that stand already."""
    interest = tl.generate(nodes=100, topics=10, subscriptions=3)
    for search in ("dense", "sparse", "listed"):
        greedy_links(
            interest.indptr,
            interest.topics,
            interest.n_topics,
            blocks=True,
            search=search,
            start_links=np.array([(0, 1)]),
            barred_links=np.array([(0, 2)]),
            seed=0,
        )


def many_rounds() -> None:
    """Compile rounds that spare degrees."""
    tl.design(tl.generate(nodes=100, topics=10, subscriptions=3), "rounds-gm", rho=2)


def upkeep() -> None:
    """Compile repairs at k = 2, releasing, rebalancing, and both ways to build backups."""
    interest = tl.generate(nodes=60, topics=12, subscriptions=4)
    overlay = tl.design(interest, "cycle-pt")
    for given in ({"release": 5}, {"k": 2, "rebalance": 1.0}, {"rebalance": 1.0, "backups": "greedy"}):
        with TemporaryDirectory() as folder:
            m = tl.Maintainer.open(f"{folder}/state.db", interest=interest, overlay=overlay, **given)
            for number in range(12):
                m.leave(str(m.interest.node_label(number)))
            m.join("new", [str(interest.topic_label(t)) for t in range(5)])
            m.close()


def routing() -> None:
    """Compile forests, what standby rows open, and what overlays are measured by beside the links."""
    overlay = tl.design(tl.generate(nodes=60, topics=12, subscriptions=4), k=3)
    found = tl.routes(overlay, standby=1)
    found.failover(0)
    _ = found.diameters
    tl.routes(overlay, forests=True, keep=tl.routes(overlay, forests=True))
    tl.soc(overlay.interest, overlay.links, degree="average", cost="diameter", d=50, C=50)


def networks() -> None:
    """Compile designs for networks with relays, caps, failure units and links that stand, and their bound."""
    interest = tl.generate(nodes=18, topics=6, subscriptions=3)
    site = np.arange(18) % 3
    given = {"site": site, "price": 1 + 9 * (1 - np.eye(3)), "relay": np.arange(18) == 0, "row_price": np.full(18, 0.5)}
    rules = open_network(18, 6, **given, survive=site.astype(np.int32))
    overlay = design_network(interest, rules, effort=0.1)
    price_bound(interest, rules, effort=0.1).check(interest, rules)
    capped = open_network(18, 6, **given, cap=np.full(18, 4), standing=overlay.links[:3], keep=0.3)
    design_network(interest, capped, effort=0.1)


def pages() -> None:
    """Compile what places nodes in a picture, few and very many."""
    star = np.column_stack([np.zeros(FORCE_LIMIT, int), np.arange(1, FORCE_LIMIT + 1)])
    layout(len(star) + 1, star)
    layout(60, tl.design(tl.generate(**SMALL)).links, radius=np.ones(60), group=np.arange(60) % 3)


def tasks_of_spark() -> None:
    """Compile what tasks of Spark run on arrays that they may write to, as those of a process may not."""
    interest = tl.generate(nodes=60, topics=12, subscriptions=4)
    links = np.array(tl.design(interest).links)
    least_trees(interest, links, np.ones(interest.n_nodes), np.arange(interest.n_topics))
    topic_hops(interest, links, measure_topics(interest, links), n_subscriptions=interest.n_subscriptions)
    for k in (1, 2):
        tl.verify(interest, links, k)


def studies() -> None:
    """Compile the algorithms as the papers print them."""
    churn = {"rounds": 4, "every": 2, "coverage": 2}
    cells = [
        Cell("steps", "literal", SMALL),
        Cell("diameters", "printed-low-oda", SMALL, {"rho": 3.0}),
        Cell("diameters", "printed-gm2", SMALL),
        Cell("printed-churn", "shadow", SMALL, {**churn, "backups": "greedy"}),
        Cell("printed-churn", "shadow", SMALL, {**churn, "backups": "primal-dual"}),
    ]
    for cell in cells:
        list(MEASUREMENTS[cell.measurement].function(cell))


STEPS: tuple[Callable[[], object], ...] = (
    greedy_counts,
    greedy_blocks,
    many_rounds,
    upkeep,
    routing,
    networks,
    pages,
    tasks_of_spark,
    studies,
    warm_refinement,
)


def main(*, backwards: bool) -> None:
    """Compile all kernels."""
    if not backwards:
        warm_all()
    for step in reversed(STEPS) if backwards else STEPS:
        step()
    if backwards:
        warm_all(backwards=True)


if __name__ == "__main__":
    main(backwards="backwards" in sys.argv)
