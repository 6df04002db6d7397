"""The setting of the shadows paper, §VI."""

from typing import Any

from topicloom_papers.cells.inputs import FROM_LEAST
from topicloom_papers.cells.studies import Scale

# Conditions for cells: the paper's nodes, half of them, and the other reading of the sizes, `topicloom.generate`'s own
# power law. (Numbers of nodes at paper and at quick scale.)
SIZES: dict[str, Any] = {"case": FROM_LEAST, "nodes": (2000, 200)}
HALF: dict[str, Any] = {"case": FROM_LEAST, "nodes": (1000, 100)}
PLAIN: dict[str, Any] = {"case": None, "nodes": (2000, 200)}
_LAW = (
    "power-law sizes from 10 to 90, uniform; ρ = 3, λ = 3. The paper names neither the exponent nor the origin of its "
    "power law. Here 9 + x topics have probability ~ x⁻² (a mean of 12 per node), the reading that accounts for most "
    "of its numbers; s topics with probability ~ s⁻² (a mean of 24), which was ours before, stands under other "
    "readings as “sizes ~ s⁻²”."
)
SETTING = f"2,000 nodes, 200 topics, {_LAW}"
HALF_SETTING = (
    f"1,000 nodes, 200 topics, {_LAW} §VI says 2,000 nodes, but what it says of this figure contradicts that "
    "([S-5](errata.md#s-5)), and fits 1,000. The numbers of 2,000 stand under other readings."
)
# The paper names no number of runs, and speaks of one sequence of rounds.
ONE_RUN = 1


def churn_workload(scale: Scale, *, half: bool = False) -> dict[str, Any]:
    """2,000 nodes (or half of them) × 200 topics, sizes 9 + x with probability ~ x⁻²."""
    paper, quick = (HALF if half else SIZES)["nodes"]
    nodes = scale.pick(quick=quick, paper=paper)
    return {"nodes": nodes, "topics": 200, "least": 10, "most": 90, "exponent": 2.0, "case": FROM_LEAST}


def plain_workload(scale: Scale) -> dict[str, Any]:
    """2,000 nodes, s topics with probability ~ s⁻²."""
    paper, quick = PLAIN["nodes"]
    nodes = scale.pick(quick=quick, paper=paper)
    return {"nodes": nodes, "topics": 200, "sizes": "power-law", "min_size": 10, "max_size": 90}


def rounds(scale: Scale, *, every: int = 20, **more: Any) -> dict[str, Any]:
    """Options of 1,000 rounds, looked at after every ``every``."""
    return {"rounds": scale.pick(quick=40, paper=1000), "every": scale.pick(quick=20, paper=every), **more}
