"""Links as people have them, fitted to the nodes of an interest. What does not fit is found, not refused."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.files.read.notes import example_notes, folded, mostly_unread
from topicloom.files.read.table import Reading
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, frozen
from topicloom.model.interest import Interest

_SHOWN = 3


@dataclass(frozen=True)
class LinkFindings:
    """What became of the rows of a table of links, and what deserves a look.

    Attributes
    ----------
    rows, links, repeated, rejected : int
        Rows are links, repeats of one (also the other way round), links of a node with itself, or rejected.
    loops : tuple of str
        Nodes that are linked with themselves.
    unknown : tuple of str
        Nodes without subscriptions that have at most one link.
    transit : tuple of str
        Nodes without subscriptions that have several links: all that they can do is to pass on what they do not want.
    look_alikes : tuple of pairs of str
        A node without subscriptions, and one of the subscriptions whose name is the same but for case, white space or
        Unicode form.
    examples : tuple of str
        The first rejected rows, a line each.
    """

    rows: int
    links: int
    repeated: int
    rejected: int
    loops: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    transit: tuple[str, ...] = ()
    look_alikes: tuple[tuple[str, str], ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words. There are none if every row is a link between two nodes of the subscriptions."""
        told = [
            f"links: {self.rows:,} rows = {self.links:,} links + {self.repeated:,} repeated + {len(self.loops):,} of a "
            f"node with itself + {self.rejected:,} rejected"
        ]
        told += self.examples
        if (unread := mostly_unread(self.rows, self.rejected)) is not None:
            told.append(unread)
        if self.loops:
            told.append(f"finding: {_counted(self.loops)} linked with itself; such links are left out")
        if self.unknown:
            told.append(f"finding: {_counted(self.unknown)} in the links, but not in the subscriptions")
        if self.transit:
            told.append(
                f"finding: {_counted(self.transit)} a transit node: several links and no subscription, so that it can "
                "only pass on what it does not want"
            )
        for stranger, known in self.look_alikes[:_SHOWN]:
            told.append(f"finding: {stranger!r} of the links is perhaps {known!r} of the subscriptions")
        return tuple(told) if len(told) > 1 else ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary, every name in full."""
        return asdict(self)


class FittedLinks(NamedTuple):
    """Links by id. Ids from the number of nodes up are those of ``strangers``, in their order."""

    links: Int32Array
    strangers: tuple[str, ...]
    findings: LinkFindings

    def onto(self, interest: Interest) -> Interest:
        """The interest with the strangers as further nodes, which want nothing."""
        if not self.strangers:
            return interest
        indptr = np.concatenate((interest.indptr, np.full(len(self.strangers), interest.indptr[-1])))
        known = [] if interest.node_labels is None else interest.node_labels.tolist()
        labels = label_columns.from_arrow(pa.array([*known, *self.strangers], pa.large_string()))
        return Interest(
            frozen(indptr), interest.topics, interest.n_topics, labels, interest.topic_labels, interest.roles
        )


def fitted_links(reading: Reading, names: pa.Array) -> FittedLinks:
    """Fit a table of links to nodes: ``names`` holds the label of node 0, 1, ….

    A row that is not a link, a link of a node with itself and a repeat are left out and counted. Nodes that have no
    subscription keep their links, and get ids of their own.
    """
    names = names.cast(pa.large_string())
    columns = [reading.table[end].cast(pa.large_string()).combine_chunks() for end in ("src", "dst")]
    texts = pa.concat_arrays([part for column in columns for part in _chunks(column)])
    every = pc.unique(texts)
    strangers = every.filter(pc.is_null(pc.index_in(every, names)))
    strangers = strangers.take(pc.sort_indices(strangers))
    ends = pc.index_in(texts, pa.concat_arrays([names, strangers])).to_numpy(zero_copy_only=False).reshape(2, -1).T
    looped = ends[:, 0] == ends[:, 1]
    low, high = ends[~looped].min(axis=1, initial=2**31 - 1), ends[~looped].max(axis=1, initial=-1)
    _, first = np.unique(low.astype(np.int64) << 32 | high.astype(np.int64), return_index=True)
    links = np.column_stack((low, high))[np.sort(first)].astype(np.int32).reshape(-1, 2)
    degree = np.bincount(links.ravel(), minlength=len(names) + len(strangers))[len(names) :]
    found = LinkFindings(
        rows=reading.counts["rows"],
        links=len(links),
        repeated=reading.counts["repeated"] + len(low) - len(links),
        rejected=reading.counts["rejected"],
        loops=tuple(columns[0].filter(pa.array(looped)).to_pylist()),
        unknown=tuple(strangers.filter(pa.array(degree < 2)).to_pylist()),
        transit=tuple(strangers.filter(pa.array(degree >= 2)).to_pylist()),
        look_alikes=_look_alikes(strangers, names),
        examples=example_notes(reading.rejected.slice(0, _SHOWN).to_pylist()),
    )
    return FittedLinks(frozen(links), tuple(strangers.to_pylist()), found)


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _look_alikes(strangers: pa.Array, names: pa.Array) -> tuple[tuple[str, str], ...]:
    if not len(strangers):
        return ()
    at = pc.index_in(folded(strangers), folded(names))
    known = names.take(at).to_pylist()
    return tuple((stranger, name) for stranger, name in zip(strangers.to_pylist(), known) if name is not None)


def _counted(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"{shown} is" if len(names) == 1 else f"{len(names):,} nodes, such as {shown}, are each"
