"""Links that may not be: pairs from a table, and pairs of brokers of which neither may dial the other."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from topicloom.cli.commands.routes import load_inventory
from topicloom.cli.option_groups import LinkOptions, TextOptions
from topicloom.engine.bars import Bars, faults_of
from topicloom.reading.read_options import ReadOptions
from topicloom.reading.table import every_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topicloom.model.arrays import Int32Array
    from topicloom.pipeline.design import DesignResult


def bars_of(pairs: Path | None, inventory: Path | None, links: LinkOptions, text: TextOptions) -> Bars | None:
    """What a table of pairs and an inventory forbid. Returns None without either.

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError
        A table cannot be read, or a row of the pairs cannot be used.
    """
    if pairs is None and inventory is None:
        return None
    named = () if pairs is None else tuple(read_pairs(pairs, links.wanted_as(text)))
    return Bars(named, None if inventory is None else load_inventory(inventory, text)[0].brokers)


def read_pairs(path: Path, wanted: ReadOptions) -> list[tuple[str, str]]:
    """Pairs of labels from a table of links. Every row of it counts: one that cannot be used is an error."""
    table = every_row(str(path), wanted).table
    return list(zip(*(table[name].to_pylist() for name in table.column_names[:2])))


def forbidden_faults(result: "DesignResult", numbers: "Mapping[str, int]", barred: "Int32Array") -> list[str]:
    """`faults_of` a design on Spark. The subscribers of a broken topic are fetched."""
    links = result.links.select("src", "dst").toArrow()
    ends = np.array([[numbers[name] for name in links[end].to_pylist()] for end in ("src", "dst")], np.int32)
    table = result.subscriptions
    broken = (
        (topic, table.where(table.topic == topic.topic).select("node").toArrow()["node"].to_pylist())
        for topic in result.verdict.broken
    )
    return faults_of(ends.T, barred, numbers, broken)
