"""Links that may not be: pairs from a table, and pairs of brokers of which neither may dial the other."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topicloom.cli.commands.routes import load_inventory
from topicloom.cli.console import tell
from topicloom.errors import InputNotFoundError, InvalidOptionError
from topicloom.judge.forbidden import forbidden_links, separated_groups
from topicloom.model.arrays import Int32Array
from topicloom.routing.ownership import undialled_pairs

if TYPE_CHECKING:
    from topicloom.pipeline.design import DesignResult

_SHOWN = 5


def forbidden_ids(numbers: Mapping[str, int], pairs: Path | None, inventory: Path | None) -> Int32Array:
    """Forbidden pairs as ids, from a table of labels and from an inventory.

    Pairs that name a node without subscriptions, or one node twice, forbid nothing; they are counted on stderr.

    Raises
    ------
    InputNotFoundError, InvalidOptionError
        The table cannot be read, or has no pair of columns.
    """
    found = [(numbers.get(u, -1), numbers.get(v, -1)) for u, v in ([] if pairs is None else read_pairs(pairs))]
    used = [pair for pair in found if min(pair) >= 0 and pair[0] != pair[1]]
    if len(used) < len(found):
        tell(f"{len(found) - len(used):,} of {len(found):,} forbidden pairs name no two nodes of the subscriptions")
    named = np.array(used, np.int32).reshape(-1, 2)
    if inventory is None:
        return named
    barred = undialled_pairs(numbers, load_inventory(inventory)[0].brokers)
    return np.concatenate((named, barred))


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Pairs of labels from a CSV file with the columns src and dst, or with two columns and no header."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputNotFoundError(f"{path} cannot be read as CSV: {error}") from None
    head = rows[0] if rows else ["src", "dst"]
    columns = [0, 1]
    if "src" in head and "dst" in head:
        columns, rows = [head.index("src"), head.index("dst")], rows[1:]
    for number, row in enumerate(rows, 1):
        if len(row) <= max(columns):
            raise InvalidOptionError(f"{path}: pair {number} has {len(row)} fields; src and dst are needed")
    return [(row[columns[0]], row[columns[1]]) for row in rows]


def forbidden_faults(result: "DesignResult", numbers: Mapping[str, int], barred: Int32Array) -> list[str]:
    """What the judge finds wrong: forbidden links that are used, and topics that forbidden pairs cut, the first few."""
    links = result.links.select("src", "dst").toArrow()
    ends = np.array([[numbers[name] for name in links[end].to_pylist()] for end in ("src", "dst")], np.int32)
    used = forbidden_links(ends.T, barred, len(numbers))
    faults = [f"{len(used):,} forbidden links are used"] if len(used) else []
    for broken in result.verdict.broken[:_SHOWN]:
        rows = result.subscriptions.where(result.subscriptions.topic == broken.topic).select("node").toArrow()
        sentence = separated_sentence(broken.topic, rows["node"].to_pylist(), numbers, barred)
        faults += [] if sentence is None else [sentence]
    return faults


def separated_sentence(topic: str, subscribers: Iterable[str], numbers: Mapping[str, int], forbid: Any) -> str | None:
    """Say which groups of a topic's subscribers cannot meet; None when forbidden pairs are not the reason."""
    label = {numbers[name]: name for name in subscribers}
    groups = separated_groups(list(label), forbid)
    if len(groups) < 2:
        return None
    shown = " and ".join(_group([label[v] for v in group]) for group in groups[:_SHOWN])
    rest = f" and {len(groups) - _SHOWN:,} more groups" if len(groups) > _SHOWN else ""
    return f"topic {topic!r} cannot be connected: every link between {shown}{rest} is forbidden"


def _group(names: Sequence[str]) -> str:
    more = f", … {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return "{" + ", ".join(map(repr, names[:_SHOWN])) + more + "}"
