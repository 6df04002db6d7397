"""Rows as the readers yield them to an interest, with counts of all rows and the reasons of those left out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from topicloom.errors import InputNotFoundError
from topicloom.files.read.link_findings import FittedLinks, fitted_links
from topicloom.files.read.notes import example_notes, findings, row_notes
from topicloom.files.read.table import as_links, distinct, expanded, nothing_usable, reading_of, sorted_out
from topicloom.methods.registry import Size
from topicloom.model import labels as label_columns
from topicloom.model.interest import Interest
from topicloom.runs.stages import Stages

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
        rows, rejected, repeated, subscriptions, nodes, topics, topics_of_one (with a single subscriber). Rows is the
        sum of the next three. Where patterns were replaced also expanded: rows beyond their own that they make, which
        the sum contains.
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


def encoded_in(stages: Stages, rows: pa.Table, expand: str | None) -> Encoded:
    """`encoded` as a stage of a run, with patterns replaced if asked for. Notes what there is to say of the rows."""
    with stages("encode", f"giving ids to the labels of {len(rows):,} rows"):
        found = encoded(rows if expand is None else expanded(rows, expand))
        if expand is not None:
            more = found.counts["rows"] - len(rows)
            found = replace(found, counts={**found.counts, "rows": len(rows), "expanded": more})
    for note in found.notes():
        stages.note(note)
    return found


def links_in(stages: Stages, rows: pa.Table, interest: Interest) -> FittedLinks:
    """Rows of links by id of an interest, as a stage of a run. Notes what is odd about them."""
    with stages("encode", f"giving ids to the ends of {len(rows):,} links"):
        labels = interest.node_labels
        fitted = fitted_links(as_links(reading_of(rows)), label_columns.to_arrow([] if labels is None else labels))
    for sentence in fitted.findings.sentences:
        stages.note(sentence)
    return fitted


def encoded(rows: pa.Table) -> Encoded:
    """(file, line, raw, node, topic, role, reason) -> the interest. A null reason means usable.

    Raises
    ------
    InputNotFoundError
        No row can be used; the message says how many there were and why.
    """
    used, rejected, reasons = sorted_out(rows)
    if not len(used):
        raise InputNotFoundError(nothing_usable(len(rows), reasons))
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
        "topics_of_one": int(np.count_nonzero(np.diff(interest.topic_indptr) == 1)),
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


_SEED = 42  # of Spark's xxhash64


def fingerprint(interest: Interest) -> str:
    """Fold the hashes of all subscriptions, regardless of their order, as `topicloom.pipeline` does on Spark.

    A subscription's hash is Spark's ``xxhash64(node, topic)``: that of the topic's text, seeded by that of the node's.

    >>> fingerprint(Interest.from_pairs(["a", "b"], ["x", "x"])).split("-")[0]
    '2'
    """
    nodes = [_hash(interest.node_label(node).encode(), _SEED) for node in range(interest.n_nodes)]
    topics = [interest.topic_label(topic).encode() for topic in range(interest.n_topics)]
    pairs = zip(interest.nodes.tolist(), interest.topics.tolist())
    hashes = np.fromiter((_hash(topics[t], nodes[v]) for v, t in pairs), np.uint64, interest.n_subscriptions)
    return folded(hashes)


def folded(hashes: npt.NDArray[np.uint64]) -> str:
    """Number, exclusive or and sum of hashes."""
    summed = (int((hashes >> np.uint64(32)).sum()) << 32) + int((hashes & np.uint64(0xFFFFFFFF)).sum())
    return f"{len(hashes)}-{int(np.bitwise_xor.reduce(hashes)):016x}-{summed % 2**64:016x}"


_hash = xxhash.xxh64_intdigest
