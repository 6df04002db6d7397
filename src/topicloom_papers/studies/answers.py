"""Answers and tables that take more than a formula."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.formulas import Term, answer

_LEARNERS = {"star": "star nodes", "speaker": "speakers that are none", "other": "others"}
_FAULTS: Mapping[str, dict[str, Any]] = {
    "no faults": {"loss": None, "crashes": None},
    "20 % lost, 5 % crash": {"loss": 0.2, "crashes": 0.05},
}


@answer
def highest_k(results: Results, degree: Term, *, smooth: bool = False) -> float:
    """Largest k of HararyPT with a lower degree than CyclePT, means over what fits.

    ``smooth``: an odd k is taken to cost what lies between its even neighbours.
    """
    cycle = results.mean(degree.metric, **{**degree.where, "method": "cycle-pt"})
    degrees = results.by("k", degree.metric, **{**degree.where, "method": "harary-pt"})
    ks, values = np.asarray(degrees.index, float), np.asarray(degrees, float)
    if smooth:
        even = ks % 2 == 0
        every = np.arange(ks.min(), ks.max() + 1)
        ks, values = every, np.interp(every, ks[even], values[even])
    return float(ks[values < cycle].max(initial=0))


@answer
def highest_k_if_smooth(results: Results, degree: Term) -> float:
    """As `highest_k`, with an odd k between its even neighbours."""
    return highest_k(results, degree, smooth=True)


@answer
def inner_links_where_few_are_met(results: Results, met: Term) -> float:
    """Share of inner links at the number of partitions with the least pn-ratio."""
    best = results.lowest_at("partitions", met.metric, **met.where)
    inner, outer = (results.mean(name, **met.where, partitions=best) for name in ("inner_links", "outer_links"))
    return inner / (inner + outer)


@answer
def inner_time_where_few_are_met(results: Results, met: Term) -> float:
    """Share of the inner time at the number of partitions with the least pn-ratio."""
    return _inner_time(results, results.lowest_at("partitions", met.metric, **met.where))


@answer
def inner_time_where_under_a_fifth_are_met(results: Results, met: Term) -> float:
    """Least share of the inner time among the numbers of partitions with a pn-ratio below 20 %."""
    known = results.by("partitions", met.metric, **met.where)
    return _inner_time(results, tuple(known.index[known < 0.2]))


def _inner_time(results: Results, partitions: Any) -> float:
    inner, outer = (
        results.by("partitions", metric, partitions=partitions) for metric in ("inner_seconds", "outer_seconds")
    )
    return float((inner / (inner + outer)).min())


def learnt(results: Results) -> str:
    """The distribution of pn-ratio(v) without a centre, as a Markdown table."""
    percents = {"least": 0, "a quarter": 25, "half": 50, "three quarters": 75, "nine tenths": 90, "most": 100}
    lines = [
        "| pn-ratio(v) that so many nodes do not exceed, 1,000 nodes | " + " | ".join(percents) + " |",
        "|---|" + "--:|" * len(percents),
    ]
    for faults, where in _FAULTS.items():
        for name, label in _LEARNERS.items():
            found = results.by("at", f"learnt_by_{name}", measurement="decentral-learnt", nodes=1000, **where)
            values = " | ".join(f"{found[percent]:.1%}" for percent in percents.values())
            lines.append(f"| {label}, {faults} | {values} |")
    return "\n".join(lines)


TABLES: Mapping[str, Callable[[Results], str]] = {"learnt": learnt}
