"""What must stay equal while modules move: links, files, options, keys and public names, by public names alone."""

import contextlib
import hashlib
import importlib
import io
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest

import topicloom as tl
from topicloom.cli import main

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden.json"
INTERESTS: dict[str, dict[str, Any]] = {
    "even": {"nodes": 20, "topics": 8, "subscriptions": 3},
    "few topics": {"nodes": 24, "topics": 4, "subscriptions": 2},
    "many topics": {"nodes": 14, "topics": 40, "subscriptions": 9},
    "skewed": {"nodes": 40, "topics": 30, "subscriptions": 5, "popularity": "zipf", "alpha": 1.5},
    "exponential": {"nodes": 60, "topics": 25, "subscriptions": 4, "popularity": "exponential"},
    "mean sizes": {"nodes": 50, "topics": 20, "subscriptions": 4, "sizes": "mean"},
}
SEEDS = (0, 7)
LARGE_FOR_EXACT = 20  # nodes
ROWS = {
    "plain": "node,topic\na,x\na,y\nb,x\nb,y\nc,x\nc,z\nd,x\nd,z\n,x\na,x\ntoo,many,fields\n",
    "unicode": "node;topic\né;ü/1\nb;ü/1\nb;t\nc;t\nc;ü/1\nd;t\n",
}
KINDS = ("mosquitto", "nats", "rabbitmq", "zenoh")
COMMANDS = (
    "generate", "design", "compare", "verify", "measure", "drill", "refine", "routes", "diff", "plan", "export",
    "rehearse", "audit", "join", "digest", "star-set", "join-stars", "churn", "stream", "status", "study", "methods",
)  # fmt: skip
PUBLIC = ("topicloom", "topicloom.pipeline", "topicloom.stream")
OLD_OVERLAYS = sorted((ROOT / "tests" / "data").glob("*-by-32e5662"))
OLD_STATES = sorted((ROOT / "tests").rglob("state-0.1.db"))
RUN_FACTS = ("format", "method", "options", "seed", "report", "labels", "input_fingerprint", "counts", "verified")


def digest(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, default=str).encode()
    return hashlib.sha256(text).hexdigest()[:16]


def links() -> dict[str, str]:
    """Hashes of the links, order and ids, of every method on every interest."""
    found = {}
    for name, options in INTERESTS.items():
        for seed in SEEDS:
            interest = tl.generate(**options, seed=seed)
            for method in tl.METHODS:
                if method == "exact" and interest.n_nodes > LARGE_FOR_EXACT:
                    continue
                found[f"{method}, {name}, {seed}"] = _links_of(interest, method, seed)
    return found


def _links_of(interest: tl.Interest, method: str, seed: int) -> str:
    options = {"nodes_limit": 5_000} if method == "exact" and "nodes_limit" in tl.METHODS["exact"].options else {}
    try:
        overlay = tl.design(interest, method, seed=seed, **options)
    except tl.TopicloomError as error:
        return f"{type(error).__name__}"
    return digest(overlay.links.tolist())


def later_links() -> dict[str, str]:
    """Hashes of what joins, refinement, routes and churn make of designs."""
    found = {}
    for seed in SEEDS:
        interest = tl.generate(**INTERESTS["skewed"], seed=seed)
        pieces = [interest.restrict(range(0, 20)), interest.restrict(range(20, 40))]
        for method in tl.JOIN_METHODS:
            joined = tl.join([(piece, tl.greedy_merge(piece)) for piece in pieces], method=method, seed=seed)
            found[f"{method}, {seed}"] = digest(joined.links.tolist())
        for k in (1, 2, 3):
            overlay = tl.design(interest, k=k, seed=seed)
            found[f"k={k}, {seed}"] = digest(overlay.links.tolist())
            found[f"refined, k={k}, {seed}"] = digest(tl.refine(overlay, effort=2, seed=seed).links.tolist())
        maintainer = tl.Maintainer(interest, tl.low_oda(interest, seed=seed), seed=seed)
        changes = [maintainer.leave(interest.node_label(node)) for node in (3, 8, 13)]
        changes.append(maintainer.join("new", [interest.topic_label(topic) for topic in range(6)]))
        found[f"churn, {seed}"] = digest([[list(change.added), list(change.removed)] for change in changes])
        found[f"bound, {seed}"] = str(tl.lower_bound(interest, effort=0.1).links)
    return found


def overlay_parts(folder: Path) -> dict[str, str]:
    """Hashes of the parts of an overlay directory, without versions and times."""
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    facts = {name: run[name] for name in RUN_FACTS}
    found = {"metrics.json": digest(json.loads((folder / "metrics.json").read_text(encoding="utf-8")))}
    found["run.json"] = digest(facts)
    for name in ("subscriptions", "links", "nodes", "topics", "rejected"):
        rows, types = table(folder / name)
        found[name] = digest([types, rows if name == "links" else sorted(rows)])
    return found


def table(folder: Path) -> tuple[list[str], dict[str, str]]:
    """Rows of a table as text, and the types of its columns."""
    read = pq.read_table(folder)
    rows = [json.dumps(_without_folders(row), sort_keys=True, default=str) for row in read.to_pylist()]
    return rows, {field.name: str(field.type) for field in read.schema}


def _without_folders(row: dict[str, Any]) -> dict[str, Any]:
    return {name: Path(value).name if name == "file" and value else value for name, value in row.items()}


def plan_parts(folder: Path) -> dict[str, str]:
    """Hashes of the parts of a plan folder, without versions and times."""
    header = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    found = {"plan.json": digest({k: v for k, v in header.items() if k not in ("version", "written", "started")})}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            rows, types = table(path)
            found[path.name] = digest([types, rows])
    return found


def export_files(folder: Path) -> dict[str, str]:
    """Hashes of the files of an export, without the version that wrote them and their generation."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "MANIFEST":
            text = re.sub(r"topicloom \d+\.\d+\S*", "topicloom", path.read_text(encoding="utf-8"))
            text = re.sub(r"generation[ =:\"]+\w+", "generation", text)
            found[path.relative_to(folder).as_posix()] = digest(text.encode())
    return found


def inputs(folder: Path) -> dict[str, Path]:
    """Write the three inputs of the designs. Returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    drawn = tl.generate(nodes=30, topics=12, subscriptions=4, seed=3)
    pairs = zip(drawn.nodes.tolist(), drawn.topics.tolist())
    rows = "node,topic\n" + "".join(f"n{node:03},t{topic:02}\n" for node, topic in pairs)
    for name, text in {**ROWS, "drawn": rows}.items():
        paths[name] = folder / f"{name}.csv"
        paths[name].write_text(text, encoding="utf-8")
    return paths


def designed(folder: Path, engine: str) -> dict[str, dict[str, str]]:
    """Parts of the overlay directories that an engine makes of the three inputs, by several methods."""
    found = {}
    for name, path in inputs(folder).items():
        for method in ("gm", "low-oda", "dc"):
            out = folder / f"{name}-{method}-{engine}"
            _, code = run("design", path, out, "--method", method, "--seed", "5", "--engine", engine)
            found[f"{name}, {method}"] = {"code": str(code), **(overlay_parts(out) if out.exists() else {})}
    return found


def run(*arguments: object) -> tuple[str, int]:
    """Run a command in this process. Returns what it printed, and its exit code."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = main([str(argument) for argument in arguments])
    return printed.getvalue(), code


def keys_of(value: object, at: str = "") -> Iterator[str]:
    """Yield the paths of all keys of a JSON value; elements of lists count as one."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{at}.{name}".lstrip(".")
            yield from keys_of(inner, f"{at}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, f"{at}[]")


EVENTS = (
    '{"id": "1", "at": 1, "kind": "join", "node": "new", "topics": ["t00", "t01"]}\n'
    '{"id": "2", "at": 2, "kind": "leave", "node": "n003"}\n'
    '{"id": "3", "at": 3, "kind": "leave", "node": "nobody"}\n'
)


def files_and_keys(folder: Path) -> dict[str, Any]:
    """Parts of plans and exports, and the keys that commands print with ``--json`` (rehearse needs brokers)."""
    subs, here = inputs(folder)["drawn"], folder
    hosts = [f"n{node:03},127.0.0.1,{20000 + node},{21000 + node}" for node in range(30)]
    (here / "brokers.csv").write_text("\n".join(["node,host,port,leaf_port", *hosts]), encoding="utf-8")
    secured = [f"{host},env:LOOM_GOLDEN" for host in hosts]  # RabbitMQ's brokers need a credential
    (here / "rabbitmq.csv").write_text("\n".join(["node,host,port,leaf_port,credential", *secured]), encoding="utf-8")
    (here / "there.csv").write_text(subs.read_text(encoding="utf-8").replace("\nn", "\nm"), encoding="utf-8")
    (here / "events.jsonl").write_text(EVENTS, encoding="utf-8")
    memory = ("--engine", "memory")
    printed: dict[str, tuple[str, int]] = {}
    printed["design"] = run("design", subs, here / "overlay", *memory, "--k", "2", "--json")
    printed["compare"] = run("compare", subs, here / "compared", "--methods", "gm,ring-pt", *memory, "--json")
    printed["verify"] = run("verify", subs, here / "overlay", *memory, "--json")
    printed["verify, broken"] = run("verify", subs, here / "overlay", *memory, "--k", "3", "--json")
    printed["measure"] = run("measure", subs, here / "overlay", *memory, "--json")
    printed["drill"] = run("drill", here / "overlay", "--fail", "n003", "--json")
    printed["refine"] = run("refine", here / "overlay", here / "refined", "--effort", "1", "--json")
    printed["routes"] = run("routes", here / "overlay", here / "plan", "--standby", "1", "--json")
    run("routes", here / "refined", here / "plan2")
    printed["diff"] = run("diff", here / "overlay", here / "refined", "--json")
    printed["plan"] = run("plan", here / "overlay", "--from", here / "refined", "--json")
    run("design", here / "there.csv", here / "there", *memory)
    printed["join"] = run("join", here / "joined", here / "overlay", here / "there", "--json")
    for site, other in (("overlay", "there"), ("there", "overlay")):
        printed["digest"] = run("digest", here / other, here / f"{other}.digest", "--salt", "golden", "--json")
        given = ("star-set", here / site, here / f"{site}.stars", "--others", here / f"{other}.digest", "--json")
        printed["star-set"] = run(*given)
    stars = (here / "overlay.stars", here / "there.stars")
    printed["join-stars"] = run("join-stars", here / "both", *stars, "--json")
    printed["churn"] = run("churn", here / "overlay", here / "events.jsonl", here / "churned", "--json")
    printed["status"] = run("status", here / "churned", "--json")
    printed["methods"] = run("methods", "--json")
    exports = {}
    for kind in KINDS:
        inventory = ("--inventory", here / ("rabbitmq.csv" if kind == "rabbitmq" else "brokers.csv"))
        run("routes", here / "overlay", here / f"plan-{kind}", "--for", kind, *inventory)
        _, code = run("export", here / f"plan-{kind}", here / kind, "--to", kind, *inventory)
        exports[kind] = {"code": str(code), **(export_files(here / kind) if (here / kind).exists() else {})}
    printed["audit"] = run("audit", here / "mosquitto", "--json")
    return {
        "plans": {name: plan_parts(here / name) for name in ("plan", "plan2")},
        "exports": exports,
        "json": {name: _json_keys(text, code) for name, (text, code) in printed.items()},
    }


def _json_keys(text: str, code: int) -> dict[str, Any]:
    values = [json.loads(text)] if text.startswith(("{\n", "[\n")) else [json.loads(line) for line in text.splitlines()]
    return {"code": code, "keys": sorted({key for value in values for key in keys_of(value)})}


def options() -> dict[str, list[str]]:
    """The options of every command, read off its help page."""
    return {
        name: re.findall(r"^\W*(?:-\w, )?(--[\w-]+(?: / --[\w-]+)?)", _help(name), re.MULTILINE) for name in COMMANDS
    }


def _help(command: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        return run(command, "--help")[0]


def public_names() -> dict[str, list[str]]:
    return {name: sorted(importlib.import_module(name).__all__) for name in PUBLIC}


def old_files(folder: Path) -> dict[str, str]:
    """Links of overlay directories and of a state file that older versions wrote."""
    found = {path.name: digest(tl.Overlay.load(path).links.tolist()) for path in OLD_OVERLAYS}
    for path in OLD_STATES:
        (folder / path.name).write_bytes(path.read_bytes())
        with contextlib.closing(tl.Maintainer.open(folder / path.name)) as maintainer:
            found[path.name] = digest(maintainer.overlay.links.tolist())
    return found


def results_page(folder: Path) -> str:
    """The page of results, written again from the stored cells. Figures are not drawn: the committed ones count."""
    committed = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    found = re.search(r"^(Measured by topicloom .*) `topicloom study` writes this page\.$", committed, re.MULTILINE)
    assert found, "the page does not say how it was measured"
    page, studies = _laboratory("results_page"), _laboratory("studies").Scale("paper")
    every = _laboratory("lookup").Results.of(pq.read_table(ROOT / "docs" / "results" / "results.parquet"))
    catalogue = page_studies()
    results = {study.name: every.among(study.grid(studies)) for study in catalogue}
    drawing = page.plots.draw
    page.plots.draw = lambda study, *_: (ROOT / "docs" / "results" / f"{study.name}.svg").exists()
    (folder / "results").mkdir(parents=True)
    try:
        page.write_report(catalogue, results, folder, header=found[1])
    finally:
        page.plots.draw = drawing
    return (folder / "results.md").read_text(encoding="utf-8")


def page_studies() -> list[Any]:
    return list(_laboratory("papers", "studies").STUDIES.values())


def _laboratory(*names: str) -> ModuleType:
    """The module of the laboratory of one of these names that has what is asked for, wherever it stands."""
    for top in ("topicloom_papers", "topicloom"):
        with contextlib.suppress(ImportError):
            package = importlib.import_module(top)
            for found in pkgutil.walk_packages(package.__path__, f"{top}."):
                if found.name.rpartition(".")[2] in names and (top != "topicloom" or ".study." in found.name):
                    module = importlib.import_module(found.name)
                    if len(names) == 1 and (names[0] != "studies" or hasattr(module, "Scale")):
                        return module
                    if hasattr(module, "STUDIES"):
                        return module
    raise LookupError(f"the laboratory has no module {names}")


def collected(folder: Path) -> dict[str, Any]:
    """Everything of the golden file."""
    return {
        "links": links(),
        "later links": later_links(),
        "overlays": designed(folder / "designed", "memory"),
        **files_and_keys(folder / "files"),
        "options": options(),
        "public names": public_names(),
        "old files": old_files(folder),
    }
