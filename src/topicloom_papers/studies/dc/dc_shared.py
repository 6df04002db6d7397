"""What the studies of divide and conquer (star-merge) share: panels that several figures have."""

from collections.abc import Sequence
from typing import Any

from topicloom_papers.cells.studies import Line, Panel
from topicloom_papers.studies.shared import by_popularity, lines_over_gm, over_popularities

DEGREE = "average_degree"


def candidates(x: str, x_label: str, setting: str = "", *, log_x: bool = False, **where: Any) -> Panel:
    """The pn-ratio of DC by popularity."""
    lines = by_popularity("pn_ratio", method="dc", measurement="design", **where)
    return Panel(f"potential neighbours{setting}", x, x_label, "pn-ratio(V)", lines, log_x=log_x, log_y=True)


def times(x: str, x_label: str, setting: str = "", *, log_x: bool = False) -> Panel:
    """DC's time over GM's."""
    lines = lines_over_gm("DC", measurement="time-design")
    return Panel(f"Unif: time over GM's{setting}", x, x_label, "ratio of CPU times", lines, log_x=log_x, log_y=True)


def phases(x: str, x_label: str, setting: str, *, log_x: bool = False) -> list[Panel]:
    """Times of the two phases, and their links for each popularity."""
    timed = {"measurement": "time-phases"}
    lines = [
        Line("T_in: partitions", "inner_seconds", timed),
        Line("T_out: star merge", "outer_seconds", timed),
    ]
    return [
        Panel("Unif: time of the two phases", x, x_label, "CPU seconds", lines, log_x=log_x, log_y=True),
        *over_popularities(x, x_label, "links", setting, _links_of_phases, log_x=log_x),
    ]


def _links_of_phases(popularity: str) -> Sequence[Line]:
    where = {"method": "dc", "popularity": popularity}
    return [Line("inner", "inner_links", where), Line("outer", "outer_links", where)]
