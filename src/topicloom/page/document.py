"""Templates, styles and scripts put together into one file. Nothing of an overlay is ever markup."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from topicloom.methods.references.beside import usual_ways
from topicloom.page import packed_numbers, small_plots
from topicloom.page.shown_names import markup, shown
from topicloom.page.shown_overlay import Picture
from topicloom.version import __version__

# In the order in which they stand in the page: each uses only earlier ones.
MODULES = ("bytes", "names", "dom", "model", "scene", "picture", "panel", "tables", "search", "address", "main")
_STILL_LINKS = 2_000  # a still picture for viewers without scripts is drawn up to here
_WORST_SHOWN = 40
_COMPARED = {"ring-pt": "ring per topic", "full-mesh": "full mesh"}


def document(picture: Picture) -> str:
    """Return the page as one HTML file. It needs no network, and its own policy forbids it."""
    style, script = _static("page.css"), joined_scripts()
    interest, run = picture.overlay.interest, picture.overlay
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    counts = f"{interest.n_nodes:,} brokers · {interest.n_topics:,} topics · {interest.n_subscriptions:,} subscriptions"
    return Template(_text("templates/page.html")).substitute(
        policy=escape(policy, quote=True),
        version=escape(__version__),
        title=escape(shown(picture.title)),
        style=style,
        subtitle=f"{counts} · links by {markup(run.method)}",
        verdicts=_verdicts(picture),
        cards=_cards(picture),
        still=_still(picture),
        described=escape(f"Network picture: {interest.n_nodes:,} brokers, {run.n_links:,} links."),
        changes=_CHANGES if picture.before is not None else "",
        comparison=_comparison(picture) + _costs(picture),
        nodes=f"{interest.n_nodes:,}",
        topics=f"{interest.n_topics:,}",
        links=f"{run.n_links:,}",
        data=packed_numbers.embedded(data_of(picture)),
        script=script,
    )


def data_of(picture: Picture) -> dict[str, Any]:
    """Return what the scripts of the page read: names, arrays as text, and a few facts."""
    interest = picture.overlay.interest
    tree, groups = picture.tree, picture.groups
    deepest = np.lexsort((np.arange(interest.n_topics), -picture.diameters))[:5]
    return {
        "format": 1,
        "nodes": picture.node_names,
        "topics": picture.topic_names,
        "links": packed_numbers.pairs(picture.links),
        "wants": packed_numbers.lists(interest.indptr, interest.topics),
        "place": packed_numbers.coordinates(picture.places),
        "tree": None if tree is None else packed_numbers.bits(tree),
        "weak": packed_numbers.numbers([number for weak in picture.weak for number in weak]),
        "group": packed_numbers.numbers(groups.of) if groups.names else None,
        "groups": list(groups.names),
        "before": None if picture.before is None else packed_numbers.pairs(_sorted(picture.before)),
        "facts": {
            "diameter": picture.diameters.tolist(),
            "sampled": np.flatnonzero(picture.sampled).tolist(),
            "deep": [[int(topic), int(picture.diameters[topic])] for topic in deepest],
            "groupWord": groups.word,
        },
    }


@cache
def joined_scripts() -> str:
    """Return all modules as one: imports go, and so does the word export. Names are unique, which a test asserts."""
    parts = []
    for name in MODULES:
        text = re.sub(r"^import .*?;\n", "", _static(f"js/{name}.js"), flags=re.MULTILINE | re.DOTALL)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def _static(name: str) -> str:
    return _text(f"static/{name}")


def _text(name: str) -> str:
    return files("topicloom.page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _sorted(links: Any) -> Any:
    return links[np.lexsort((links[:, 1], links[:, 0]))]


_CHANGES = '<button type="button" id="changes" class="tool" aria-pressed="false">Changes</button>'
_ICONS = {
    "good": '<path d="M10 1.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zm-1.3 12.2L4.9 9.9l1.5-1.5 2.3 2.3 5-5 1.5 1.5z" '
    'fill="currentColor"/>',
    "warn": '<path d="M10 2 1 17.5h18zM9 8h2v5H9zm0 6.2h2v2H9z" fill="currentColor" fill-rule="evenodd"/>',
    "bad": '<path d="M10 1.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zm4 11-1.5 1.5L10 11.5 7.5 14 6 12.5 8.5 10 6 7.5 '
    '7.5 6 10 8.5 12.5 6 14 7.5 11.5 10z" fill="currentColor"/>',
}


def _verdict(kind: str, head: str, more: str) -> str:
    icon = f'<svg viewBox="0 0 20 20" width="22" height="22" aria-hidden="true">{_ICONS[kind]}</svg>'
    return f'<div class="verdict {kind}">{icon}<div><b>{head}</b><span>{more}</span></div></div>'


def _verdicts(picture: Picture) -> str:
    """Say in two sentences whether the overlay is right, and what is fragile."""
    verdict, metrics, weak = picture.verdict, picture.metrics, picture.weak
    whole = verdict.topics - verdict.broken_topics
    if verdict.ok:
        first = _verdict(
            "good",
            "Every message reaches all its subscribers and passes through no other broker.",
            f"{whole:,} of {verdict.topics:,} topics are connected, checked by the judge.",
        )
    else:
        apart = f"{verdict.broken_topics:,} {'topic is' if verdict.broken_topics == 1 else 'topics are'}"
        first = _verdict(
            "bad", f"{apart} not connected.", "Some subscribers hear each other only through other brokers, or not."
        )
    if metrics.survives_one_failure:
        return first + _verdict("good", "Any one broker may fail.", "Every topic stays connected without it.")
    if not weak:
        return first
    node, cut, _ = weak[0]
    points = "broker is a single point" if len(weak) == 1 else "brokers are single points"
    return first + _verdict(
        "warn",
        f"{len(weak):,} {points} of failure.",
        f"The worst, {markup(picture.node_names[node])}, alone cuts {cut:,} {'topic' if cut == 1 else 'topics'}. "
        "<code>topicloom design … --k 2</code> survives any one.",
    )


def _card(title: str, value: str, unit: str, meaning: str, plot: str) -> str:
    figure = f'<div><h2>{title}</h2><p class="value">{value}<small>{unit}</small></p></div>'
    return f'<div class="card">{figure}<div class="plot">{plot}</div><p class="meaning">{meaning}</p></div>'


def _cards(picture: Picture) -> str:
    metrics, interest = picture.metrics, picture.overlay.interest
    rows = [("this plan", metrics.links)]
    if picture.before is not None:
        rows.append(("before", len(picture.before)))
    rows += [(_COMPARED[name], way["links"]) for name, way in usual_ways(interest).items()]
    reached = Counter(d for d in picture.diameters.tolist() if d > 0)
    at_least = "≥ " if picture.sampled.any() else ""
    hops = "∞" if metrics.mean_hops is None else f"{metrics.mean_hops:.1f}"
    hops_most = "∞" if metrics.max_topic_diameter is None else f"{at_least}{metrics.max_topic_diameter}"
    survive = f"of {interest.n_nodes:,} brokers" if picture.weak else "any one may fail"
    hops_plot = small_plots.histogram(reached, "topic", "hop", "hops") if reached else ""
    degrees = small_plots.histogram(metrics.degree_histogram, "broker", "link", "links") if interest.n_nodes else ""
    return "\n".join(
        [
            _card("Links", f"{metrics.links:,}", "", "Connections to set up and keep.", small_plots.beside(rows)),
            _card(
                "Links per broker",
                f"{metrics.average_degree:.1f}",
                f"at most {metrics.max_degree:,}",
                "How many connections a broker holds.",
                degrees,
            ),
            _card("Hops", hops, f"at most {hops_most}", "Links a message takes between two subscribers.", hops_plot),
            _card(
                "Single points of failure",
                f"{len(picture.weak):,}",
                survive,
                "Brokers whose failure alone cuts a topic.",
                small_plots.worst([cut for _, cut, _ in picture.weak[:_WORST_SHOWN]]),
            ),
        ]
    )


_COLUMNS = {
    "links": ("Links", "{:,}"),
    "average_degree": ("Links per broker", "{:.2f}"),
    "max_degree": ("at most", "{:,}"),
    "mean_hops": ("Hops", "{:.2f}"),
    "max_topic_diameter": ("at most", "{:,}"),
    "unwanted_relays": ("Unwanted relays", "{:,}"),
    "broken_topics": ("Topics broken", "{:,}"),
}


def _comparison(picture: Picture) -> str:
    """Write the table of what else one could have, where a comparison is given."""
    if not picture.compared:
        return ""
    head = "".join(f"<th scope=col class=number>{title}</th>" for title, _ in _COLUMNS.values())
    body = "".join(_row(one, picture) for one in picture.compared)
    return (
        '<section id="comparison"><h2>What else you could have</h2><div class="scroll"><table>'
        "<caption>Methods on the same subscriptions</caption>"
        f"<thead><tr><th scope=col>Method</th>{head}<th scope=col>Survives one failure</th></tr></thead>"
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _costs(picture: Picture) -> str:
    """Write what the overlay costs by pair of sites, who relays, and who has all links that it may have."""
    costs = picture.costs
    if costs is None:
        return ""
    sites = [
        (f"{c.src} – {c.dst}" if c.src != c.dst else f"inside {c.src}", f"{c.links:,}", f"{c.price:,.2f}")
        for c in costs.by_sites[:_WORST_SHOWN]
    ]
    relays = [(relay.node, f"{relay.topics:,}", f"{relay.price:,.2f}") for relay in costs.relays[:_WORST_SHOWN]]
    limits = (
        f" Brokers at their limit of links: {', '.join(map(markup, costs.at_limit[:_WORST_SHOWN]))}."
        if costs.at_limit
        else ""
    )
    return (
        f'<section id="costs"><h2>What it costs</h2><p>Price {costs.price:,.2f}: links {costs.price_of_links:,.2f}, '
        f"relays {costs.price_of_relays:,.2f}. {costs.wan_links:,} links between sites cost {costs.wan_price:,.2f}."
        f"{limits}</p>{_costs_table('Sites', 'Links', sites)}"
        f"{_costs_table('Relay', 'Topics carried', relays) if relays else ''}</section>"
    )


def _costs_table(what: str, count: str, rows: Iterable[tuple[str, str, str]]) -> str:
    body = "".join(
        f"<tr><th scope=row>{markup(name)}</th><td class=number>{number}</td><td class=number>{price}</td></tr>"
        for name, number, price in rows
    )
    head = f"<th scope=col>{what}</th><th scope=col class=number>{count}</th><th scope=col class=number>Price</th>"
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _row(one: Mapping[str, Any], picture: Picture) -> str:
    mine = one["name"] == picture.overlay.method and one["links"] == picture.metrics.links
    cells = "".join(
        f"<td class='{_kind(key, one.get(key))}'>{_cell(one.get(key), form)}</td>"
        for key, (_, form) in _COLUMNS.items()
    )
    name = f"{markup(str(one['name']))}{' (this plan)' if mine else ''}{' (reference)' if one.get('reference') else ''}"
    survives = "yes" if one.get("survives_one_failure") else "no"
    return f"<tr{' class=mine' if mine else ''}><th scope=row>{name}</th>{cells}<td>{survives}</td></tr>"


def _kind(key: str, value: float | None) -> str:
    return "number bad" if key == "broken_topics" and value else "number"


def _cell(value: float | None, form: str) -> str:
    return "∞" if value is None else form.format(value)


def _still(picture: Picture) -> str:
    """Draw the picture for viewers without scripts, where it is small enough: the same places, hubs larger."""
    links, places = picture.links, picture.places
    if len(links) > _STILL_LINKS or not len(places):
        return ""
    low, span = places.min(0), max(float(np.ptp(places, axis=0).max()), 1e-9)
    at = np.round((places - low) / span * 1000).astype(int).tolist()
    lines = "".join(f"M{at[a][0]} {at[a][1]}L{at[b][0]} {at[b][1]}" for a, b in links.tolist())
    dots = "".join(_dot(*one) for one in zip(at, picture.overlay.degree().tolist(), picture.node_names))
    wide, tall = (max(values) for values in zip(*at))
    return (
        f'<noscript><svg class="still" viewBox="-30 -30 {wide + 60} {tall + 60}" role="img" '
        f'aria-label="Network picture"><path d="{lines}"/>{dots}</svg></noscript>'
    )


def _dot(at: Iterable[int], degree: int, name: str) -> str:
    x, y = at
    return f'<circle cx="{x}" cy="{y}" r="{3 + 1.5 * degree**0.5:.1f}"><title>{escape(shown(name))}</title></circle>'
