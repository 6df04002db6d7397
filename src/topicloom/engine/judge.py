"""Links of an interest judged and measured in this process, with the answers of the pipeline."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.engine.encode import encoded
from topicloom.errors import InvalidLinksError
from topicloom.judge import verify
from topicloom.measures import measure_topics
from topicloom.measures.summary import summarize
from topicloom.measures.topics import EXACT_UP_TO
from topicloom.model import Interest, Metrics, Verdict
from topicloom.model import labels as label_columns
from topicloom.model.arrays import Int32Array, normalized_links
from topicloom.reading.notes import row_notes
from topicloom.reading.table import expanded
from topicloom.spark.stages import Stages

LISTED = 1000  # broken topics of which a verdict says more than their number


def judged(interest: Interest, links: Int32Array, k: int) -> Verdict:
    """The verdict on links by id; it lists the first thousand broken topics."""
    verdict = verify(interest, links, k)
    return replace(verdict, broken=verdict.broken[:LISTED])


def measured(interest: Interest, links: Int32Array) -> tuple[Metrics, dict[str, pa.Array]]:
    """Figures of links by id, and those of every topic as columns of ``topics/``."""
    per_topic = measure_topics(interest, links, exact_up_to=EXACT_UP_TO)
    return summarize(interest, links, per_topic), per_topic.columns()


def verify_rows(
    tables: Sequence[pa.Table], stages: Stages, *, k: int, source: str, expand: str | None = None
) -> Verdict:
    """Judge links against subscriptions: ``tables`` holds the rows of both, and ``source`` names the links.

    Raises
    ------
    InputNotFoundError, InvalidLinksError
    """
    interest, links = _read(tables, stages, source, expand)
    with stages("verify", "verifying"):
        return judged(interest, links, k)


def measure_rows(tables: Sequence[pa.Table], stages: Stages, *, source: str, expand: str | None = None) -> Metrics:
    """Measure links against subscriptions; called as `verify_rows`."""
    interest, links = _read(tables, stages, source, expand)
    with stages("measure", f"measuring {interest.n_topics:,} topics"):
        return measured(interest, links)[0]


def _read(tables: Sequence[pa.Table], stages: Stages, source: str, expand: str | None) -> tuple[Interest, Int32Array]:
    rows, links = tables
    check_link_rows(links, source)
    with stages("encode", f"giving ids to the labels of {len(rows):,} rows"):
        found = encoded(rows if expand is None else expanded(rows, expand))
        for note in row_notes(found.counts, found.reasons):
            stages.note(note)
        return found.interest, link_rows(links, found.interest)


def check_link_rows(rows: pa.Table, source: str) -> None:
    """Refuse rows of which some are not links.

    Raises
    ------
    InvalidLinksError
        A row is not a link: wrong number of fields, or a label that is null, blank or not valid text.
    """
    bad = rows.filter(pc.is_valid(rows["reason"]))
    if len(bad):
        first = bad.sort_by([("file", "ascending"), ("line", "ascending")]).slice(0, 1).to_pylist()[0]
        raise InvalidLinksError(
            f"{len(bad):,} rows of {source} are not links; "
            f"the first, line {first['line']:,} of {first['file']}: {first['reason']}"
        )


def link_rows(rows: pa.Table, interest: Interest) -> Int32Array:
    """Rows of links -> distinct (src, dst) ids with src < dst; the ends are called node and topic in rows.

    Raises
    ------
    InvalidLinksError
        A link names a node that has no subscription, or joins a node with itself.
    """
    names = label_columns.to_arrow(interest.node_labels if interest.node_labels is not None else [])
    texts = [pa.chunked_array(rows[end]).cast(pa.large_string()).combine_chunks() for end in ("node", "topic")]
    ids = [pc.index_in(column, names) for column in texts]
    _refuse_unknown(texts, ids)
    ends = [column.to_numpy(zero_copy_only=False).astype(np.int64) for column in ids]
    loops = texts[0].filter(pa.array(ends[0] == ends[1])).to_pylist()
    if loops:
        raise InvalidLinksError(f"a link joins node {min(loops, key=str.encode)!r} with itself")
    return normalized_links(np.column_stack(ends), interest.n_nodes)


def _refuse_unknown(texts: list[pa.Array], ids: list[pa.Array]) -> None:
    unknown = [pc.if_else(pc.is_null(found), text, pa.scalar(None, text.type)) for text, found in zip(texts, ids)]
    strangers = pc.unique(pc.coalesce(*unknown)).drop_null().to_pylist()
    if strangers:
        example = min(strangers, key=str.encode)
        raise InvalidLinksError(
            f"links name {len(strangers):,} nodes that are not in the subscriptions, such as {example!r}"
        )
