"""Rows of subscriptions to a judged and measured overlay, all in this process."""

import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.files.write.overlay_directory import tables_of, write_contents
from topicloom.methods.references.beside import usual_ways
from topicloom.methods.registry import design
from topicloom.model import ForbiddenLinks, Metrics, Overlay, Verdict
from topicloom.model.arrays import Int32Array
from topicloom.runs.bars import faults_of
from topicloom.runs.check_rows import judged, measured
from topicloom.runs.encoded_rows import Encoded, encoded_in
from topicloom.runs.memory_limits import check_memory
from topicloom.runs.request import DesignRequest, run_facts
from topicloom.runs.stages import Stages

PARTS = ("subscriptions", "links", "nodes", "topics", "rejected")


@dataclass(frozen=True)
class Designed:
    """An overlay, designed, judged and measured in one process.

    Attributes
    ----------
    files : mapping of str to bytes
        Parquet of the tables of an overlay directory, by their names.
    metrics : Metrics
    verdict : Verdict
    run : mapping
        What ``run.json`` will hold.
    faults : tuple of str
        What is wrong with forbidden links, a sentence each.
    beside : mapping
        What a ring per topic and a full mesh would take; see `usual_ways`.
    """

    files: Mapping[str, bytes]
    metrics: Metrics
    verdict: Verdict
    run: Mapping[str, Any]
    faults: tuple[str, ...] = ()
    beside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def look_at_rows(
    tables: Sequence[pa.Table], stages: Stages, *, request: DesignRequest, available: int, expand: str | None = None
) -> Encoded:
    """Encode rows, say what there is to say of them, and refuse a design that would not fit.

    Raises
    ------
    InputNotFoundError, NotEnoughMemoryError
    """
    (rows,) = tables
    found = encoded_in(stages, rows, expand)
    request = request.at(found.size, stages.note)
    needed = check_memory(found.size, request.method, available, options=request.options)
    stages.note(plan_sentence(found.counts, request, needed))
    return found


def design_rows(
    tables: Sequence[pa.Table], stages: Stages, *, request: DesignRequest, available: int, expand: str | None = None
) -> Designed:
    """(file, line, raw, node, topic, role, reason) -> an overlay, judged and measured, ready to be written.

    Same rows and request: the links, metrics, counts and fingerprint of the distributed pipeline. ``tables`` holds the
    one table of subscriptions; ``expand`` names the rules by which patterns are replaced.

    Raises
    ------
    InputNotFoundError, NotEnoughMemoryError, InvalidLinksError
    """
    started = time.time()
    found = look_at_rows(tables, stages, request=request, available=available, expand=expand)
    request = request.at(found.size, str)
    numbers, barred = _barred(found, request, stages)
    with stages("design", f"designing with {request.method}"):
        forbid = {} if request.bars is None else {"forbid": request.bars.forbidden}
        overlay = design(found.interest, request.method, seed=request.seed, **request.options, **forbid)
    if request.refine is not None:
        from topicloom.methods.refinement import refine  # here and not above, because its kernels take long to load

        with stages("refine", f"refining {overlay.n_links:,} links"):
            overlay = refine(overlay, effort=request.refine, k=request.judged_at, seed=request.seed)
    with stages("verify", f"verifying {overlay.n_links:,} links"):
        verdict = judged(found.interest, overlay.links, request.judged_at)
    with stages("measure", f"measuring {found.interest.n_topics:,} topics"):
        metrics, topic_columns = measured(found.interest, overlay.links, exact=request.exact_diameters)
        beside = usual_ways(found.interest)
    with stages("write", "writing"):
        files = _files(overlay, found, topic_columns)
    faults = []
    if barred is not None:
        broken = ((topic, found.interest.subscribers(str(topic.topic))) for topic in verdict.broken)
        faults = faults_of(overlay.links, barred, overlay.forbidden, len(numbers), broken)
    run = run_facts(
        request,
        report={**overlay.report, **({} if barred is None else {"forbidden_pairs": len(barred)})},
        fingerprint=found.fingerprint,
        counts={**found.counts, "links": overlay.n_links},
        verdict=verdict,
        started=started,
        seconds=stages.seconds,
    )
    return Designed(files, metrics, verdict, run, tuple(faults), beside)


def dry_run_rows(tables: Sequence[pa.Table], stages: Stages, **given: Any) -> None:
    """Look at rows as `design_rows` does, say what would be done, and stop."""
    look_at_rows(tables, stages, **given)


def write_designed(
    designed: Designed, folder: Path, *, forbidden: ForbiddenLinks = ForbiddenLinks(), stages: Stages
) -> None:
    """Write the contents of an overlay directory into an empty folder."""
    write_contents(
        folder,
        {name: designed.files[name] for name in PARTS},  # no name that an answer holds becomes a path
        metrics=designed.metrics.to_dict(),
        run=lambda: {**designed.run, "seconds": stages.seconds},
        forbidden=forbidden,
        during=stages("write", "writing"),
    )


def plan_sentence(counts: Mapping[str, int], request: DesignRequest, needed: int) -> str:
    """What is about to be done, and what it takes."""
    given = "".join(f", {name} = {value}" for name, value in request.options.items())
    return (
        f"{counts['nodes']:,} nodes, {counts['topics']:,} topics, {counts['subscriptions']:,} subscriptions"
        f"; {request.method}{given}, about {needed / 2**20:,.0f} MiB in one Python process"
    )


def _barred(found: Encoded, request: DesignRequest, stages: Stages) -> tuple[dict[str, int], Int32Array | None]:
    """Id of every node by label, and the forbidden pairs. Neither is made where nothing is forbidden."""
    if request.bars is None:
        return {}, None
    numbers = {found.interest.node_label(node): node for node in range(found.interest.n_nodes)}
    barred, note = request.bars.ids(numbers)
    if note is not None:
        stages.note(note)
    return numbers, barred


def _files(overlay: Overlay, found: Encoded, topic_columns: Mapping[str, pa.Array]) -> dict[str, bytes]:
    tables = tables_of(overlay.interest, overlay.links, topic_columns)
    pairs = tables["subscriptions"]
    roles = pa.nulls(len(pairs), pa.string()) if found.roles is None else found.roles
    tables |= {"subscriptions": pairs.append_column("role", roles), "rejected": found.rejected}
    return {name: _parquet(table) for name, table in tables.items()}


def _parquet(table: pa.Table) -> bytes:
    """A Parquet file with checksums, and with the types that Spark's files have."""
    sink = io.BytesIO()
    pq.write_table(table, sink, write_page_checksum=True, store_schema=False)
    return sink.getvalue()
