"""The figures by which overlays are compared: the same names, order and spelling in every table."""

from collections.abc import Mapping
from typing import Any

from topicloom.cli.console import format_number

# key of `Metrics` and of a comparison's results -> name on screen
COLUMNS = {
    "links": "links",
    "average_degree": "avg degree",
    "max_degree": "max degree",
    "mean_topic_diameter": "mean diameter",
    "max_topic_diameter": "max diameter",
    "mean_hops": "hops",
    "unwanted_relays": "unwanted relays",
    "broken_topics": "topics broken",
    "survives_one_failure": "survives 1 failure",
}


def cells(figures: Mapping[str, Any]) -> list[str]:
    """Figures as text, in the order of `COLUMNS`: None is infinite, and ``~`` marks an estimate."""
    about = "~" if figures.get("hops_standard_error") or figures.get("sampled_hops") else ""
    at_least = "≥ " if figures.get("sampled_diameters") else ""
    marks = {"mean_hops": about, "mean_topic_diameter": at_least, "max_topic_diameter": at_least}
    return [marks.get(name, "") + _cell(figures[name]) for name in COLUMNS]


def _cell(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else format_number(value)
