"""``audit``: read configurations, follow messages through them, and say what is wrong."""

import csv
import gc
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from topicloom.brokers.auditing.audit_effort import Effort, is_text
from topicloom.brokers.auditing.audit_findings import Finding, Findings
from topicloom.brokers.auditing.traffic import traffic_of
from topicloom.brokers.inventory import Inventory
from topicloom.brokers.kinds import KINDS as BROKERS
from topicloom.brokers.kinds import Reader
from topicloom.errors import InputNotFoundError, InvalidArgumentError, UnreadableInputError
from topicloom.model import Interest

KINDS = (
    "loop", "duplicate", "cut-off", "missing", "unwanted", "both-sides", "client-id-clash", "unknown-peer", "in-vain",
    "qos", "kept-session", "not-followed", "secret",
)  # fmt: skip


def audit(
    paths: str | Path | Sequence[str | Path], interest: Interest | None = None, *, inventory: Inventory | None = None
) -> Findings:
    r"""Read configurations of brokers and say what becomes of messages in them.

    A message is followed through its *states*: the broker where it is, its name there, and the link by which it came.
    A state that is met again is a loop. Otherwise the ways to a broker are the copies that arrive there.

    Parameters
    ----------
    paths : path or sequence of paths
        Configuration files, or folders of them: every ``*.conf`` is a broker named like the file, every subfolder
        with a ``mosquitto.conf`` or ``nats.conf`` a broker named like the folder. In an export of topicloom,
        brokers have the names of its ``brokers.csv``.
    interest : Interest, optional
        Who wants what; without it, a broker is taken to want what some line brings to it.
    inventory : Inventory, optional
        Where brokers listen, for configurations that do not tell.

    Returns
    -------
    Findings
        ``.ok`` when nothing was found. Secrets are reported by their line, never by their value.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        A file is missing, or the broker itself would not start with it; the message has file and line.

    Notes
    -----
    Copies are those of non-retained messages while every link is up. Predictions for Mosquitto are those of version
    2.0. O(rows) time where links carry names both ways without renaming them; elsewhere it grows with publish points
    times links reached. Files of over 10 MB, over 100 MB or 20,000 files in all are refused; after 3 million steps the
    findings say what was not followed.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> line = "connection to-{1}\naddress 127.0.0.1:{2}\ncleansession true\ntopic news both\n"
    >>> for one, other, own, port in (("a", "b", 7001, 7002), ("b", "a", 7002, 7001)):
    ...     text = f"listener {own} 127.0.0.1\n" + line.format(one, other, port)
    ...     _ = (folder / f"{one}.conf").write_text(text)
    >>> for finding in audit(folder).findings:
    ...     print(finding.kind, "|", finding.text)
    loop | 'news' published at 'a' runs in a circle: 'a' → 'b' (a.conf:5) → 'a' (b.conf:5) (and 1 more publish point)
    both-sides | link 'a' – 'b' is configured on both sides (a.conf:2, b.conf:2)

    Files that topicloom wrote for Mosquitto have no such findings. An export for NATS whose addresses are variables
    needs its ``.start`` files beside it, or its inventory: without them, servers that are dialled are unknown.

    >>> import topicloom as tl
    >>> from topicloom.deploy import Broker, write_export
    >>> overlay = tl.design(tl.datasets.example())
    >>> names = overlay.interest.node_labels
    >>> brokers = tl.Inventory.of([Broker(name, "127.0.0.1", 7100 + n) for n, name in enumerate(names)])
    >>> _ = write_export(tl.export(tl.Plan(tl.routes(overlay)), "mosquitto", brokers), folder / "etc")
    >>> audit(folder / "etc", overlay.interest).ok
    True

    See Also
    --------
    topicloom.export : write configurations that have no such findings
    topicloom.rehearse : run them on loopback
    """
    if interest is not None and not isinstance(interest, Interest):
        raise InvalidArgumentError(f"interest is a {type(interest).__name__}; a topicloom.Interest or None is taken")
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    with _collector_paused():
        return _audited(given, interest, inventory)


def _audited(given: Sequence[str | Path], interest: Interest | None, inventory: Inventory | None) -> Findings:
    effort = Effort()
    met = [found for path in given for found in _brokers_in(Path(path), effort)]
    files = dict(_unique((name, path, label) for name, path, label, _ in met))
    exported = all(ours for _, _, _, ours in met)
    mesh = _reader(files, effort).mesh(files, _known(inventory), effort, exported=exported)
    wanted = None if interest is None else _wanted(interest)
    traffic = traffic_of(mesh, set(files), wanted)
    found = [*traffic.findings(), *mesh.oddities(), *_absent(wanted, files)]
    found.sort(key=lambda finding: KINDS.index(finding.kind))
    shown = {name: label for name, (_, label) in files.items()}
    return Findings(tuple(found), shown, mesh.rows(), traffic.points)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the collector of garbage: rows and states live until the end, and a look at all of them costs a quarter."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _reader(files: Mapping[str, tuple[Path, str]], effort: Effort) -> Reader:
    """How all files are read. An error names a file of each kind where there are several kinds."""
    kinds = {name: kind_of(effort.text_of(path)) for name, (path, _) in files.items()}
    first = {kind: files[name][1] for name, kind in reversed(kinds.items())}
    if len(first) > 1:
        one, other, *_ = sorted(first)
        raise UnreadableInputError(
            f"{first[one]} is a configuration of {BROKERS[one].title}, {first[other]} one of {BROKERS[other].title}; "
            "audit them separately"
        )
    return _readers()[next(iter(first), kind_of(""))]


def _brokers_in(path: Path, effort: Effort) -> Iterator[tuple[str, Path, str, bool]]:
    """(name, file, label, whether topicloom exported it) of every broker that a path stands for."""
    if not path.is_dir():
        parent = path.absolute().parent.name
        yield (
            (parent, path, f"{parent}/{path.name}", False)
            if path.name in _mains()
            else (path.name.removesuffix(".conf"), path, path.name, False)
        )
        return
    names = _table_of(path, effort)
    found = [(names.get(one.name, one.name.removesuffix(".conf")), one, one.name, bool(names)) for one in _confs(path)]
    if len(found) == 1 and found[0][1].name in _mains():
        home = path.absolute().name
        found = [(home, found[0][1], f"{home}/{found[0][2]}", bool(names))]
    for folder in sorted(one for one in path.iterdir() if one.is_dir()):
        found += [
            (folder.name, folder / main, f"{folder.name}/{main}", False)
            for main in _mains()
            if (folder / main).exists()
        ]
    if not found:
        *some, last = _mains()
        raise InputNotFoundError(f"{path} holds no *.conf file, nor a folder with a {', '.join(some)} or {last}")
    yield from found


def _confs(path: Path) -> list[Path]:
    try:
        return sorted(one for one in path.iterdir() if one.suffix == ".conf" and not one.is_dir())
    except OSError as error:
        raise UnreadableInputError(f"{path} cannot be read: {error.strerror}") from None


def _table_of(path: Path, effort: Effort) -> dict[str, str]:
    """File to broker, where the folder is an export of topicloom."""
    table = path / "brokers.csv"
    if not table.exists():
        return {}
    text = effort.text_of(table)
    if not is_text(text):
        raise UnreadableInputError(f"{table} is not UTF-8")
    rows = csv.DictReader(io.StringIO(text, newline=""))
    try:
        return {row["file"]: row["node"] for row in rows if row.get("file") and row.get("node")}
    except csv.Error as error:
        raise UnreadableInputError(f"{table}, line {rows.line_num + 1:,}: {error}") from None


def _unique(found: Iterable[tuple[str, Path, str]]) -> Iterator[tuple[str, tuple[Path, str]]]:
    seen: dict[str, Path] = {}
    for name, path, label in found:
        if name in seen:
            raise UnreadableInputError(f"{path} and {seen[name]} would both be broker {name!r}; rename one")
        seen[name] = path
        yield name, (path, label)


def _known(inventory: Inventory | None) -> dict[tuple[str, int], str]:
    if inventory is None:
        return {}
    ports = [
        (one, port) for one in inventory.brokers.values() for port in (one.port, one.leaf_port) if port is not None
    ]
    return {(one.host, port): one.node for one, port in ports}


def _wanted(interest: Interest) -> dict[str, set[str]]:
    nodes = [interest.node_label(node) for node in range(interest.n_nodes)]
    return {
        interest.topic_label(topic): {nodes[node] for node in interest.subscribers(topic)}
        for topic in range(interest.n_topics)
    }


def _absent(wanted: Mapping[str, set[str]] | None, files: Mapping[str, object]) -> Iterator[Finding]:
    absent = sorted(set().union(*(wanted or {}).values()) - set(files))
    if absent:
        more = f" (and {len(absent) - 1:,} more)" if len(absent) > 1 else ""
        yield Finding("missing", f"broker {absent[0]!r} subscribes and has no configuration here{more}")


def _readers() -> dict[str, Reader]:
    return {name: kind.reader for name, kind in BROKERS.items() if kind.reader is not None}


def _mains() -> list[str]:
    """Names that the configuration of a broker has when its folder is named like the broker."""
    return [main for reader in _readers().values() for main in reader.mains]


def kind_of(text: str) -> str:
    """Return the kind of broker that a configuration is most like. Of several, the first by name.

    Examples
    --------
    >>> kind_of("listener 1883"), kind_of("leafnodes { port: 7422 }")
    ('mosquitto', 'nats')
    """
    readers = _readers()
    return max(readers, key=lambda name: readers[name].likeness(text))
