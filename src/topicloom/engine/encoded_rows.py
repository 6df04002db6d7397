"""Rows as the readers yield them to an interest, with counts of all rows and the reasons of those left out."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.engine.fingerprint import fingerprint
from topicloom.errors import InputNotFoundError
from topicloom.methods.registry import Size
from topicloom.model import labels as label_columns
from topicloom.model.interest import Interest
from topicloom.reading.findings import findings
from topicloom.reading.notes import example_notes, row_notes
from topicloom.reading.table import REJECTED_COLUMNS, distinct

_SHOWN = 3


@dataclass(frozen=True)
class Encoded:
    """An interest and what its rows held beside it.

    Attributes
    ----------
    interest : Interest
    roles : pyarrow.Array or None
        Role of each subscription, in the order of the interest; None if no row has one.
    rejected : pyarrow.Table
        (file, line, raw, node, topic, reason): rows that are not used.
    counts : mapping
        rows, rejected, repeated, subscriptions, nodes, topics. Rows is the sum of the next three.
    reasons : mapping
        Number of rejected rows by reason, the most frequent first.
    """

    interest: Interest
    roles: pa.Array | None
    rejected: pa.Table
    counts: Mapping[str, int]
    reasons: Mapping[str, int]

    @property
    def size(self) -> Size:
        """What a memory estimate depends on."""
        return Size(self.interest.n_nodes, self.interest.n_topics, self.interest.n_subscriptions)

    @property
    def fingerprint(self) -> str:
        """That of the interest."""
        return fingerprint(self.interest)

    def notes(self) -> list[str]:
        """What is said of the rows: how many there are, the first of those rejected, labels that deserve a look."""
        placed = [("file", "ascending", "at_start"), ("line", "ascending", "at_start")]
        first = self.rejected.take(pc.sort_indices(self.rejected, sort_keys=placed)[:_SHOWN]).to_pylist()
        names = (self.interest.node_labels, self.interest.topic_labels)
        found = findings(*(label_columns.to_arrow(labels).cast(pa.string()) for labels in names if labels is not None))
        return [*row_notes(self.counts, self.reasons), *example_notes(first), *(one.sentence for one in found)]


def encoded(rows: pa.Table) -> Encoded:
    """(file, line, raw, node, topic, role, reason) -> the interest; a null reason means usable.

    Raises
    ------
    InputNotFoundError
        No row can be used; the message says how many there were and why.
    """
    unused = pc.is_valid(rows["reason"])
    rejected = rows.filter(unused).select(list(REJECTED_COLUMNS))
    used = rows.filter(pc.invert(unused)).select(["node", "topic", "role"])
    tallied = pc.value_counts(rejected["reason"]).to_pylist()
    ordered = sorted(tallied, key=lambda one: (-one["counts"], one["values"].encode()))
    reasons = {one["values"]: one["counts"] for one in ordered}
    if not len(used):
        raise InputNotFoundError(_nothing_usable(len(rows), reasons))
    told = used["role"].null_count < len(used)
    table = distinct(used) if told else used
    interest = Interest.from_pairs(table["node"], table["topic"])
    counts = {
        "rows": len(rows),
        "rejected": len(rejected),
        "repeated": len(used) - interest.n_subscriptions,
        "subscriptions": interest.n_subscriptions,
        "nodes": interest.n_nodes,
        "topics": interest.n_topics,
    }
    return Encoded(interest, _roles(table, interest) if told else None, rejected, counts, reasons)


def _roles(table: pa.Table, interest: Interest) -> pa.Array:
    """Roles of distinct pairs in the order of the interest."""
    sides = (("topic", interest.topic_labels), ("node", interest.node_labels))
    names = [
        pc.index_in(table[name].cast(pa.large_string()), label_columns.to_arrow(labels)).to_numpy()
        for name, labels in sides
        if labels is not None
    ]
    return table["role"].combine_chunks().take(pa.array(np.lexsort(names)))


def _nothing_usable(rows: int, reasons: Mapping[str, int]) -> str:
    if not rows:
        return "there are no rows in the subscriptions"
    why = "; ".join(f"{count:,} × {reason}" for reason, count in list(reasons.items())[:3])
    return f"none of the {rows:,} rows can be used: {why}"
