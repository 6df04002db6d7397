"""Rows of subscriptions to a judged and measured overlay, all in this process."""

import io
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.files.write.overlay_directory import RELAYS, relay_table, tables_of, write_contents
from topicloom.judge import NetworkFault, verify_network
from topicloom.judge.network_reach import reach_sentence
from topicloom.methods.references.beside import usual_ways
from topicloom.methods.registry import design
from topicloom.model import Metrics, Overlay, Verdict
from topicloom.runs.bars import BarredPairs
from topicloom.runs.check_rows import LISTED, judged, measured
from topicloom.runs.encoded_rows import Encoded, encoded_in
from topicloom.runs.memory_limits import check_memory
from topicloom.runs.request import FOR_NETWORKS, DesignRequest, NetworkRequest, run_facts
from topicloom.runs.stages import Stages

PARTS = ("subscriptions", "links", "nodes", "topics", "rejected")
_SHOWN = 20  # faults


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
    found, request = look_at_rows(tables, stages, request, available, expand)
    if request.network is not None:
        return _design_for(request.network, found, stages, request=request, started=started)
    interest = found.interest
    barred = None
    if request.bars is not None:
        barred = request.bars.by_id({interest.node_label(v): v for v in range(interest.n_nodes)}, stages.note)
    with stages("design", f"designing with {request.method}"):
        forbid = {} if request.bars is None else {"forbid": request.forbidden}
        overlay = design(interest, request.method, seed=request.seed, **request.options, **forbid)
    if request.refine is not None:
        from topicloom.methods.refinement import refine  # here and not above, because its kernels take long to load

        with stages("refine", f"refining {overlay.n_links:,} links"):
            overlay = refine(overlay, effort=request.refine, k=request.judged_at, seed=request.seed)
    with stages("verify", f"verifying {overlay.n_links:,} links"):
        verdict = judged(interest, overlay.links, request.judged_at)
    with stages("measure", f"measuring {interest.n_topics:,} topics"):
        metrics, topic_columns = measured(interest, overlay.links, exact=request.exact_diameters)
        beside = usual_ways(interest)
    with stages("write", "writing"):
        files = _files(overlay, found, topic_columns)
    faults = []
    if barred is not None:
        broken = ((topic, interest.subscribers(str(topic.topic))) for topic in verdict.broken)
        faults = barred.faults(overlay.links, broken)
    run = run_facts(
        request,
        report=with_barred(overlay.report, barred),
        fingerprint=found.fingerprint,
        counts={**found.counts, "links": overlay.n_links},
        verdict=verdict,
        started=started,
        seconds=stages.seconds,
    )
    return Designed(files, metrics, verdict, run, tuple(faults), beside)


def _design_for(
    asked: NetworkRequest, found: Encoded, stages: Stages, *, request: DesignRequest, started: float
) -> Designed:
    """`design_rows` for the network that there is. What the judge finds wrong are the faults."""
    from topicloom.methods.network.design_network import design_network  # here: its kernels take long to load

    interest = asked.network.widened(found.interest)
    rules = asked.network.resolve(interest, survive=asked.survive, keep=asked.keep)
    with stages("design", f"designing for a network of {len(asked.network.site_names):,} sites"):
        made = design_network(interest, rules, seed=request.seed)
        overlay = replace(made, method=FOR_NETWORKS, options=asked.options, network=asked.network)
    with stages("verify", f"verifying {overlay.n_links:,} links"):
        judged_here = verify_network(interest, overlay, asked.network, survive=asked.survive)
        verdict = overlay.verify()
    with stages("measure", f"measuring {interest.n_topics:,} topics"):
        metrics, topic_columns = measured(interest, overlay.links, exact=request.exact_diameters)
    with stages("write", "writing"):
        files = _files(overlay, replace(found, interest=interest), topic_columns)
        relays = relay_table(interest, overlay.relays)
        files |= {} if relays is None else {RELAYS: _parquet(relays)}
    run = run_facts(
        request,
        report=overlay.report,
        fingerprint=found.fingerprint,
        counts={**found.counts, "nodes": interest.n_nodes, "links": overlay.n_links},
        verdict=replace(verdict, ok=judged_here.ok, broken=verdict.broken[:LISTED]),
        started=started,
        seconds=stages.seconds,
    )
    wrong = _network_faults(asked, overlay, judged_here.faults)
    return Designed(files, metrics, verdict, run, tuple(islice(wrong, _SHOWN)))


def _network_faults(asked: NetworkRequest, overlay: Overlay, faults: Sequence[NetworkFault]) -> Iterator[str]:
    """What an overlay does against its network in words, and why topics cannot be connected.

    Topics that are in pieces are named by the verdict already.
    """
    interest, network = overlay.interest, asked.network
    names = [interest.node_label(v) for v in range(interest.n_nodes)]
    for fault in faults:
        if fault.kind != "broken-topic":
            yield fault.sentence
        if fault.kind in ("broken-topic", "broken-without"):
            topic, unit = str(fault.names[0]), None if fault.kind == "broken-topic" else str(fault.names[1])
            down = [] if unit is None else [name for name in names if network.unit_of(name, str(asked.survive)) == unit]
            members = [names[v] for v in interest.subscribers(interest.topic_id(fault.names[0])).tolist()]
            if (why := reach_sentence(network, topic, members, down, unit)) is not None:
                yield why


def dry_run_rows(
    tables: Sequence[pa.Table], stages: Stages, *, request: DesignRequest, available: int, expand: str | None = None
) -> None:
    """Look at rows as `design_rows` does, say what would be done, and stop."""
    look_at_rows(tables, stages, request, available, expand)


def look_at_rows(
    tables: Sequence[pa.Table], stages: Stages, request: DesignRequest, available: int, expand: str | None
) -> tuple[Encoded, DesignRequest]:
    """Encode rows, say what there is to say of them, and refuse a design that would not fit.

    Returns the interest, and the request for one of its size.

    Raises
    ------
    InputNotFoundError, NotEnoughMemoryError
    """
    (rows,) = tables
    found = encoded_in(stages, rows, expand)
    request = request.at(found.size, stages.note)
    announce(
        request, found.counts, check_memory(found.size, request.method, available, options=request.options), stages
    )
    return found, request


def announce(request: DesignRequest, counts: Mapping[str, int], needed: int, stages: Stages) -> None:
    """Say what is about to be done, and the bytes that it takes."""
    asked = request if request.network is None else request.network
    given = "".join(f", {name} = {value}" for name, value in asked.options.items())
    method = request.method if request.network is None else f"for a {request.network.network!r}"
    stages.note(
        f"{counts['nodes']:,} nodes, {counts['topics']:,} topics, {counts['subscriptions']:,} subscriptions"
        f"; {method}{given}, about {needed / 2**20:,.0f} MiB in one Python process"
    )


def with_barred(report: Mapping[str, Any], barred: BarredPairs | None) -> dict[str, Any]:
    """A method's report, with the number of forbidden pairs where any were asked for."""
    return {**report, **({} if barred is None else {"forbidden_pairs": len(barred.ids)})}


def write_designed(
    designed: Designed,
    folder: Path,
    *,
    request: DesignRequest,
    stages: Stages,
) -> None:
    """Write the contents of an overlay directory into an empty folder."""
    # no name that an answer holds becomes a path
    written = (*PARTS, RELAYS) if RELAYS in designed.files else PARTS
    write_contents(
        folder,
        {name: designed.files[name] for name in written},
        metrics=designed.metrics.to_dict(),
        run=lambda: {**designed.run, "seconds": stages.seconds},
        forbidden=request.forbidden,
        network=None if request.network is None else request.network.network,
        during=stages("write", "writing"),
    )


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
