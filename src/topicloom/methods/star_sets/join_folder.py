"""The result of a join by star sets as a folder: all links between sites, and those of each site.

::

    links/            src, dst, src_site, dst_site, shared_topics, order
    sites/NUMBER-…/   node, peer, peer_site, shared_topics, order    the links of one site's nodes
    run.json          format, star_join: the sites with the folder of each, counts, files
"""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.errors import StarFileError
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.overlay_directory import read_run, write_parquet
from topicloom.files.write.run_file import run_header, write_run
from topicloom.methods.star_sets.site_links import StarJoin, StarLink

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def save(join: StarJoin, destination: Path, *, inputs: list[Path], overwrite: bool = False) -> dict[str, str]:
    """Write the folder, whole or not at all. Returns the folder of each site that has star nodes in the join."""
    folders = {
        site: f"sites/{number:04}-{_UNSAFE.sub('_', site)[:40]}" for number, site in enumerate(sorted(join.sites))
    }
    with whole_directory(destination, overwrite=overwrite, inputs=inputs) as staging:
        _write(_all_links(join), staging / "links")
        for site, folder in folders.items():
            _write(_links_of(join, site), staging / folder)
        facts = {"sites": dict(join.sites), "folders": folders, "ok": join.ok, "report": dict(join.report)}
        write_run(staging, {**run_header(), "method": "join-stars", "star_join": facts})
    return folders


def load_sites(source: Path) -> StarJoin:
    """Which sites an earlier join has joined. Its links are not read.

    Raises
    ------
    InputNotFoundError, OverlayFormatError, StarFileError
    """
    facts: Any = read_run(source).get("star_join")
    sites = facts.get("sites") if isinstance(facts, dict) else None
    if not isinstance(sites, dict) or not all(isinstance(key, str) for key in sites.values()):
        raise StarFileError(f"{source} was not written by topicloom join-stars")
    return StarJoin(sites, (), ok=bool(facts.get("ok")))


def _write(table: pa.Table, folder: Path) -> None:
    folder.mkdir(parents=True)
    write_parquet(table, folder / "part-00000.parquet")


def _all_links(join: StarJoin) -> pa.Table:
    schema = pa.schema(
        [(name, pa.int64() if name == "shared_topics" else pa.large_string()) for name in StarLink._fields]
    )
    table = pa.Table.from_pylist([link._asdict() for link in join.links], schema)
    return table.append_column("order", pa.array(range(len(table)), pa.int64()))


def _links_of(join: StarJoin, site: str) -> pa.Table:
    rows = [
        {"node": node, "peer": peer, "peer_site": peer_site, "shared_topics": link.shared_topics, "order": order}
        for order, link in enumerate(join.links)
        for node, peer, own, peer_site in (
            (link.src, link.dst, link.src_site, link.dst_site),
            (link.dst, link.src, link.dst_site, link.src_site),
        )
        if own == site
    ]
    texts = [(name, pa.large_string()) for name in ("node", "peer", "peer_site")]
    return pa.Table.from_pylist(rows, pa.schema([*texts, ("shared_topics", pa.int64()), ("order", pa.int64())]))
