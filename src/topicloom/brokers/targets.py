"""Exports: the configuration files of a plan for one kind of broker, and the folder that holds them."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from topicloom.brokers.inventory import Broker, Inventory
from topicloom.brokers.kinds import KINDS, Target, target_named
from topicloom.brokers.planned_network import Network, Site
from topicloom.brokers.safe_names import refuse_misfits, slugs, unsafe_everywhere
from topicloom.errors import InvalidOptionError, InvalidPlanError
from topicloom.files.write.atomic import whole_directory
from topicloom.routing import Plan
from topicloom.routing.ownership import check_kinds

TARGETS = KINDS


@dataclass(frozen=True)
class Export:
    """Texts by path, and which file belongs to which broker.

    Attributes
    ----------
    target
        Name of the target.
    files
        Path to text, for every broker.
    brokers
        (node, slug, path of its configuration), in the order in which brokers start.
    levels
        Slugs in levels: a broker dials only brokers of earlier levels.
    site
        What the texts were made from.
    notes
        Sentences for the person who puts the files in place: what is missing, what is dangerous.
    """

    target: str
    files: Mapping[str, str]
    brokers: tuple[tuple[str, str, str], ...]
    levels: tuple[tuple[str, ...], ...]
    site: Site
    notes: tuple[str, ...] = ()


def fits(name: str, target: str, version: str | None = None) -> bool:
    """Say whether a topic's name can be written for a target and read back unchanged.

    Parameters
    ----------
    name : str
        The topic.
    target : str
        "mosquitto", "nats", "zenoh" or "rabbitmq".
    version : str, optional
        Of the broker; the oldest that works unless given.

    Returns
    -------
    bool

    Raises
    ------
    InvalidOptionError
        There is no such target.

    See Also
    --------
    topicloom.export : refuses the plan of an interest with other names.

    Notes
    -----
    O(length of the name) time.

    Examples
    --------
    >>> import topicloom as tl
    >>> fits("plant 7/temperature", "mosquitto", "2.0"), fits("plant-7/temperature", "mosquitto", "2.0")
    (False, True)
    >>> all(fits(topic, "nats") for topic in tl.datasets.example().topic_labels)
    True
    """
    kind = target_named(target)
    return unsafe_everywhere(name) is None and kind.misfit(name, version or kind.default_version) is None


def export(
    plan: Network | Plan,
    to: str,
    inventory: Inventory,
    *,
    version: str | None = None,
    gates: bool | None = None,
    prefix: str = "",
) -> Export:
    """Write a plan's network down as the configuration files of a kind of broker.

    Parameters
    ----------
    plan : Plan or Network
        A plan, or its `Network`.
    to : str
        ``"mosquitto"``, ``"nats"``, ``"zenoh"`` or ``"rabbitmq"``.
    inventory : Inventory
        Where each broker listens.
    version : str, optional
        Version of the brokers; without it, the inventory's, else the target's oldest that works.
    gates : bool, optional
        Whether rows can be opened and shut while brokers run; None for where the plan has standby rows.
    prefix : str
        Folder in which the files will lie on the brokers' machines, ending in ``/``; relative to where a broker is
        started when empty.

    Returns
    -------
    Export
        Nothing is written. Equal plans and inventories give equal texts.

    Raises
    ------
    NameDoesNotFitError
        Topics or brokers whose names cannot be written; all of them are in the message.
    InvalidPlanError
        A link whose owner may not dial or whose other end does not accept, or a plan for another inventory.

    See Also
    --------
    topicloom.deploy.write_export : write the folder
    topicloom.rehearse : run it on loopback

    Notes
    -----
    O(rows of the plan), times the number of brokers for files that say what to do when one dies.

    Examples
    --------
    >>> import topicloom as tl
    >>> overlay = tl.design(tl.Interest.from_pairs(["a", "b"], ["news", "news"]), "gm")
    >>> brokers = tl.Inventory.of([Broker("a", "10.0.0.1", 1883), Broker("b", "10.0.0.2", 1883)])
    >>> files = tl.export(tl.Plan(tl.routes(overlay)), "mosquitto", brokers).files
    >>> sorted(files), [line for line in files["b.conf"].splitlines() if line.startswith(("address", "topic"))]
    (['a.conf', 'b.conf'], ['address 10.0.0.1:1883', 'topic news both 1'])
    >>> factory = tl.datasets.example()
    >>> brokers = tl.Inventory.of([Broker(name, "10.0.0.1", 1900 + n) for n, name in enumerate(factory.node_labels)])
    >>> len(tl.export(tl.Plan(tl.routes(tl.design(factory))), "mosquitto", brokers).files)
    6
    """
    target, network = target_named(to), Network.of(plan)
    _check_fingerprint(plan, inventory)
    check_kinds(network.nodes, inventory.brokers, to)
    brokers = {node: _placed(inventory.of_node(node), target, version) for node in network.nodes}
    refuse_misfits(network.nodes, lambda _: None, what="broker", target=to)
    for used in sorted({broker.version or "" for broker in brokers.values()}):
        misfit = partial(target.misfit, version=used)
        refuse_misfits(network.topic_rows, misfit, what="topic", target=f"{to} {used}")
    _check_dialling(network, brokers)
    named = slugs(network.nodes)
    site = Site(network, brokers, named, gates=network.has_standby if gates is None else gates, prefix=prefix)
    levels = network.start_levels() if target.ordered else (network.nodes,)
    ordered = tuple((node, named[node], target.config_path(named[node])) for level in levels for node in level)
    slug_levels = tuple(tuple(named[node] for node in level) for level in levels)
    return Export(to, target.files(site), ordered, slug_levels, site, target.notes(site))


def _check_fingerprint(plan: Network | Plan, inventory: Inventory) -> None:
    made_for = plan.inventory_fingerprint if isinstance(plan, Plan) else None
    if made_for not in (None, inventory.fingerprint):
        raise InvalidPlanError(
            f"the plan was made for another inventory (fingerprint {made_for}, now {inventory.fingerprint}); "
            "run topicloom routes with this one again, its trees stay"
        )


def _placed(broker: Broker, target: Target, version: str | None) -> Broker:
    """The broker with the version that its file is written for."""
    used = version or broker.version or target.default_version
    reason = target.refused_version(used)
    if reason is not None:
        raise InvalidOptionError(reason)
    return Broker(**{**broker.__dict__, "version": used})


def _check_dialling(network: Network, brokers: Mapping[str, Broker]) -> None:
    for owner, acceptor in network.links:
        if not brokers[owner].dials or not brokers[acceptor].accepts:
            side = f"{owner!r} may not dial" if not brokers[owner].dials else f"{acceptor!r} does not accept"
            raise InvalidPlanError(
                f"link {owner!r} – {acceptor!r}: {side} (inventory); make the plan with topicloom routes --inventory"
            )


BROKERS, ORDER, MANIFEST = "brokers.csv", "START_ORDER", "MANIFEST"


def export_files(export: Export) -> dict[str, str]:
    """List all files of an export folder with their text.

    ``brokers.csv`` has node, slug and file; ``START_ORDER`` one line per level, brokers of a line may start together;
    ``MANIFEST`` the SHA-256 of every other file, as ``sha256sum --check MANIFEST`` reads it.

    Parameters
    ----------
    export : Export
        As `topicloom.export` makes it.

    Returns
    -------
    dict of str to str
        Path to text.

    See Also
    --------
    write_export : writes them.

    Notes
    -----
    O(bytes) time and memory.

    Examples
    --------
    >>> import topicloom as tl
    >>> factory = tl.datasets.example()
    >>> brokers = tl.Inventory.of([Broker(name, "10.0.0.1", 1900 + n) for n, name in enumerate(factory.node_labels)])
    >>> made = tl.export(tl.Plan(tl.routes(tl.design(factory))), "mosquitto", brokers)
    >>> sorted(export_files(made))[:4]
    ['MANIFEST', 'START_ORDER', 'brokers.csv', 'crane.conf']
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([("node", "slug", "file"), *sorted(export.brokers)])
    order = "".join(" ".join(level) + "\n" for level in export.levels)
    files = {**export.files, BROKERS: table.getvalue(), ORDER: order}
    hashes = [f"{sha256(files[path].encode()).hexdigest()}  {path}\n" for path in sorted(files)]
    return {**files, MANIFEST: "".join(hashes)}


def write_export(
    export: Export, destination: Path, *, overwrite: bool = False, inputs: Iterable[str | Path] = ()
) -> int:
    """Write the folder of an export, whole or not at all.

    Only an older export is replaced, and none that holds a file which its MANIFEST does not list or an input.

    Parameters
    ----------
    export : Export
        As `topicloom.export` makes it.
    destination : Path
    overwrite : bool
        Whether an older export may be replaced.
    inputs : paths
        Files that must not be replaced: those from which the plan was made.

    Returns
    -------
    int
        The number of files.

    Raises
    ------
    OutputExistsError
        The folder exists and ``overwrite`` is false, or it cannot be written.

    See Also
    --------
    export_files : the same in memory.

    Notes
    -----
    O(bytes) time.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import topicloom as tl
    >>> factory = tl.datasets.example()
    >>> brokers = tl.Inventory.of([Broker(name, "10.0.0.1", 1900 + n) for n, name in enumerate(factory.node_labels)])
    >>> made = tl.export(tl.Plan(tl.routes(tl.design(factory))), "mosquitto", brokers)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_export(made, pathlib.Path(folder, "etc"))
    9
    """
    files = export_files(export)
    with whole_directory(destination, overwrite=overwrite, inputs=inputs, ours=not_our_export) as staging:
        write_files(files, staging)
    return len(files)


def not_our_export(folder: Path) -> str | None:
    """Say why a folder is not an export that may be replaced. Returns None if it is, or if it is empty."""
    held = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    if not held:
        return None
    try:
        lines = (folder / MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return f"it has no {MANIFEST} that topicloom wrote"
    strange = sorted(set(held) - {line.partition("  ")[2] for line in lines} - {MANIFEST})
    return f"it also holds {strange[0]!r}, which topicloom did not write" if strange else None


def write_files(files: dict[str, str], folder: Path) -> None:
    """Write texts below a folder, byte for byte."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
