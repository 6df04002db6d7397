"""The setting of the shadows paper, §VI."""

from typing import Any

from topicloom.study.studies import Scale
from topicloom.workloads.options import SIZE_EXPONENT

EXPONENT = SIZE_EXPONENT
SETTING = (
    "2,000 nodes, 200 topics, power-law sizes from 10 to 90, uniform; ρ = 3, λ = 3. The paper names no exponent of "
    f"the power law: {EXPONENT:g} here, a mean of 24 topics per node."
)


def churn_workload(scale: Scale, **more: Any) -> dict[str, Any]:
    """2,000 nodes × 200 topics, power-law sizes 10–90."""
    nodes = scale.pick(quick=200, paper=2000)
    return {"nodes": nodes, "topics": 200, "sizes": "power-law", "min_size": 10, "max_size": 90, **more}


def rounds(scale: Scale, *, every: int = 20, **more: Any) -> dict[str, Any]:
    """1,000 rounds, looked at every so many."""
    return {"rounds": scale.pick(quick=40, paper=1000), "every": scale.pick(quick=20, paper=every), **more}
