"""Of how many others each node learns the interests when an overlay is built without a centre."""

from collections.abc import Iterator

import numpy as np

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import interest_of
from topicloom_papers.measurements.measurement import NotVerifiedError, Value, measures
from topicloom_papers.simulation import Faults, simulate_dc

PERCENTS = range(0, 101, 5)


@measures("decentral-learnt")
def decentral_learnt(cell: Cell) -> Iterator[Value]:
    """The distribution of pn-ratio(v), for star nodes, speakers that are none, and others: by percents of the nodes."""
    options = dict(cell.options)
    partitions = options.pop("partitions")
    run = simulate_dc(interest_of(cell), partitions=partitions, faults=Faults(**options), seed=cell.seed)
    if not run.verdict.ok:
        raise NotVerifiedError(f"cell {cell.text}: {next(iter(run.reasons.items()))}")
    for name, ratios in run.pn_ratios().items():
        if len(ratios):
            for percent, ratio in zip(PERCENTS, np.percentile(ratios, PERCENTS)):
                yield Value(f"learnt_by_{name}", float(ratio), float(percent))
