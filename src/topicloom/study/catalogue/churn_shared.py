"""The setting of the shadows paper, §VI."""

from typing import Any

from topicloom.study.interests import FROM_LEAST
from topicloom.study.studies import Scale

# Which of the two readings of the sizes a cell has; the second is `topicloom.generate`'s own power law.
SIZES: dict[str, Any] = {"case": FROM_LEAST}
PLAIN: dict[str, Any] = {"case": None}
SETTING = (
    "2,000 nodes, 200 topics, power-law sizes from 10 to 90, uniform; ρ = 3, λ = 3. The paper names neither the "
    "exponent nor the origin of its power law. Here 9 + x topics have probability ~ x⁻² (a mean of 12 per node), the "
    "reading that accounts for most of its numbers; s topics with probability ~ s⁻² (a mean of 24), which was ours "
    "before, stands under other readings as “sizes ~ s⁻²”."
)


def churn_workload(scale: Scale) -> dict[str, Any]:
    """2,000 nodes × 200 topics, sizes 9 + x with probability ~ x⁻²."""
    nodes = scale.pick(quick=200, paper=2000)
    return {"nodes": nodes, "topics": 200, "least": 10, "most": 90, "exponent": 2.0, **SIZES}


def plain_workload(scale: Scale) -> dict[str, Any]:
    """The same with s topics with probability ~ s⁻²."""
    nodes = scale.pick(quick=200, paper=2000)
    return {"nodes": nodes, "topics": 200, "sizes": "power-law", "min_size": 10, "max_size": 90}


def rounds(scale: Scale, *, every: int = 20, **more: Any) -> dict[str, Any]:
    """1,000 rounds, looked at every so many."""
    return {"rounds": scale.pick(quick=40, paper=1000), "every": scale.pick(quick=20, paper=every), **more}
