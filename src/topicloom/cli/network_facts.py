"""What commands say of an overlay on its network."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from topicloom.cli.console import format_number, print_table, tell, visible
from topicloom.cli.given import given_interest
from topicloom.cli.option_groups import TableOptions
from topicloom.errors import InvalidOptionError
from topicloom.files.write.overlay_directory import read_network
from topicloom.files.write.run_file import RUN_FILE
from topicloom.judge import NetworkVerdict, verify_network
from topicloom.measures.network_costs import NetworkCosts, measure_network
from topicloom.model import Overlay
from topicloom.model.given_links import link_ids
from topicloom.runs.request import DISTRIBUTED

_SHOWN = 12


def network_overlay(subscriptions: str, links: str, table: TableOptions, engine: str) -> Overlay | None:
    """The overlay that two arguments name if its directory has a network. Returns None if there is none.

    Raises
    ------
    InvalidOptionError
        The work was asked to be spread.
    """
    folder = Path(links)
    if "://" in links or not (folder / RUN_FILE).is_file() or read_network(folder) is None:
        return None
    if engine == DISTRIBUTED:
        raise InvalidOptionError("an overlay with a network is not judged by many tasks; --engine memory judges it")
    given = Overlay.load(folder)
    if given.network is None or Path(subscriptions) == folder:
        return given
    interest = given.network.widened(given_interest(subscriptions, table, tell))
    carried = [(given.interest.node_label(v), given.interest.topic_label(t)) for v, t in given.relays.tolist()]
    topics = {interest.topic_label(t): t for t in range(interest.n_topics)}
    relays = [(interest.node_id(node), topics[topic]) for node, topic in carried if topic in topics]
    carried_ids = np.array(relays, np.int32).reshape(-1, 2)
    return replace(given, interest=interest, links=link_ids(interest, given), relays=carried_ids)


def judge_network(overlay: Overlay) -> NetworkVerdict | None:
    """Judge an overlay against its network, with the failure units that it was designed for. None without a network."""
    if overlay.network is None:
        return None
    survive = overlay.options.get("survive")
    return verify_network(overlay.interest, overlay, overlay.network, survive=survive)


def network_json(overlay: Overlay) -> dict[str, Any]:
    """What ``--json`` says of an overlay on its network, under one key. It is empty without a network."""
    if overlay.network is None:
        return {}
    facts = measure_network(overlay).to_dict()
    if overlay.network.rates():
        links, nodes = _loads(overlay)
        facts |= {"loads": [load._asdict() for load in links], "node_loads": [load._asdict() for load in nodes]}
    return {"network": facts}


def print_network(overlay: Overlay) -> None:
    """Print what an overlay costs on its network, by pair of sites, and who relays. Nothing without a network."""
    if overlay.network is None:
        return
    costs = measure_network(overlay)
    print_table(("on the network", ""), _summary(costs))
    sites = [
        (f"{cost.src} – {cost.dst}" if cost.src != cost.dst else f"inside {cost.src}", cost) for cost in costs.by_sites
    ]
    if len(sites) > 1:
        _print_rows(("sites", "links", "price"), [(name, f"{c.links:,}", format_number(c.price)) for name, c in sites])
    if costs.relays:
        rows = [(relay.node, f"{relay.topics:,}", format_number(relay.price)) for relay in costs.relays]
        _print_rows(("relay", "topics carried", "price"), rows)
    if overlay.network.rates():
        links, nodes = _loads(overlay)
        over = [(f"{load.src} – {load.dst}", f"{load.topics:,}", format_number(load.rate)) for load in links]
        _print_rows(("busiest links", "topics", "messages/s"), over)
        _print_rows(
            ("busiest nodes", "rows", "messages/s"), [(n.node, f"{n.rows:,}", format_number(n.rate)) for n in nodes]
        )


def _summary(costs: NetworkCosts) -> list[tuple[str, str]]:
    rows = [
        ("price", format_number(costs.price)),
        ("price of links", format_number(costs.price_of_links)),
        ("price of relays", format_number(costs.price_of_relays)),
        ("links between sites", f"{costs.wan_links:,}"),
        ("price of these", format_number(costs.wan_price)),
        ("topics carried by relays", f"{sum(relay.topics for relay in costs.relays):,}"),
        ("nodes at their limit of links", _some(costs.at_limit)),
    ]
    if costs.kept is not None:
        changes = f"{costs.kept:,}, {costs.added:,}, {costs.removed:,}"
        rows.append(("standing links kept, added, removed", changes))
    return rows


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(map(visible, names[:3]))
    return f"{len(names):,}" + (f" ({shown}{', …' if len(names) > 3 else ''})" if names else "")


def _print_rows(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    print_table(header, rows[:_SHOWN])
    if len(rows) > _SHOWN:
        print(f"… and {len(rows) - _SHOWN:,} more")


def _loads(overlay: Overlay) -> Any:
    from topicloom.errors import NotTopicConnectedError
    from topicloom.routing import routes
    from topicloom.routing.loads import loads

    rates = {} if overlay.network is None else overlay.network.rates()
    try:
        return loads(routes(overlay, rates=rates), rates)
    except NotTopicConnectedError:
        return [], []
