"""A kind of broker is a folder: nothing outside it names the kind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import topicloom as tl
from topicloom.brokers.auditing.audit import kind_of
from topicloom.brokers.inventory import Broker
from topicloom.brokers.kinds import GATE, KINDS, RELOAD, RESTART, ChangedRow

PACKAGE = Path(tl.__file__).parent

PIGEON = '''
"""Pigeons: a file of lines per broker."""

from topicloom.brokers.kinds import RELOAD, Kind


class Pigeon:
    default_version = "1.0"
    ordered = True
    needs_forests = True
    holds_both = True

    def refused_version(self, version):
        return None if version == "1.0" else f"Pigeon {version} has not hatched"

    def misfit(self, topic, version):
        return "no pigeon carries it" if topic == "stone" else None

    def config_path(self, slug):
        return f"{slug}.pigeon"

    def files(self, site):
        return {f"{site.slugs[node]}.pigeon": self._lines(site, node) for node in site.network.nodes}

    def _lines(self, site, node):
        rows = [row for row in site.network.rows if row.owner == node]
        return "".join(f"{site.slugs[row.acceptor]} {row.topic}\\n" for row in rows)

    def notes(self, site):
        return ("feed them",)

    def takes(self, row):
        return RELOAD


KIND = Kind("pigeon", "Pigeon", Pigeon())
'''
SCRIPT = """
import sys
import topicloom.brokers
topicloom.brokers.__path__.append(sys.argv[1])
from topicloom.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def with_pigeons(tmp_path):
    """Run a command of topicloom in a process that has one more folder among its brokers."""
    (tmp_path / "brokers" / "pigeon").mkdir(parents=True)
    (tmp_path / "brokers" / "pigeon" / "__init__.py").write_text(PIGEON)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "brokers")]
    return lambda *words: subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=False)


def test_a_fifth_kind_is_one_folder(with_pigeons, tmp_path):
    interest = tl.Interest.from_pairs([*"abcab"], [*"xxxyy"])
    for name, links in (("one", [(0, 1), (1, 2)]), ("two", [(0, 1), (0, 2)])):
        tl.Overlay(interest, links).save(tmp_path / name)
    brokers = tmp_path / "brokers.csv"
    brokers.write_text("node,host,port,kind\na,h,1,pigeon\nb,h,2,pigeon\nc,h,3,pigeon\n")
    asked = ("--inventory", brokers)
    assert "mosquitto, nats, pigeon," in " ".join(with_pigeons("routes", "--help").stdout.replace("│", " ").split())
    for name in ("one", "two"):
        made = with_pigeons("routes", tmp_path / name, tmp_path / f"{name}-plan", "--for", "pigeon", *asked, "--json")
        assert made.returncode == 0, made.stderr
        assert json.loads(made.stdout)["forests"] == 1
    written = with_pigeons("export", tmp_path / "one-plan", tmp_path / "etc", "--to", "pigeon", *asked)
    assert written.returncode == 0, written.stderr
    assert "feed them" in written.stderr
    assert {path.name: path.read_text() for path in (tmp_path / "etc").glob("*.pigeon")} == {
        "a.pigeon": "b x\nb y\n", "b.pigeon": "", "c.pigeon": "b x\n",
    }  # fmt: skip
    assert (tmp_path / "etc" / "START_ORDER").read_text() == "b\na c\n"
    steps = json.loads(with_pigeons("diff", tmp_path / "one-plan", tmp_path / "two-plan", *asked, "--json").stdout)
    assert {broker["how"] for broker in steps["touched"]} == {RELOAD} and steps["make_first"] is True
    refused = with_pigeons("rehearse", tmp_path / "one-plan", "--to", "pigeon")
    assert refused.returncode == 2 and "there is no rehearsal on 'pigeon'" in refused.stderr
    refused = with_pigeons(
        "export", tmp_path / "one-plan", tmp_path / "etc2", "--to", "pigeon", "--version", "2.0", *asked
    )
    assert refused.returncode == 2 and "Pigeon 2.0 has not hatched" in refused.stderr


def test_no_kind_is_named_outside_its_folder():
    """In code: docstrings and examples of commands may name one."""
    import ast

    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[:2] in {("brokers", name) for name in KINDS}:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        named = texts & (set(KINDS) - {"mosquitto", "nats"})
        assert not named, path


@pytest.mark.parametrize(
    ("kind", "row", "how"),
    [
        ("mosquitto", ChangedRow((2, 0), dials=True, ready=False, same_link=True), RESTART),
        ("mosquitto", ChangedRow((2, 1), dials=True, ready=False, same_link=True), RELOAD),
        ("mosquitto", ChangedRow((2, 0), dials=True, ready=True, same_link=True), None),
        ("mosquitto", ChangedRow((2, 0), dials=False, ready=True, same_link=False), GATE),
        ("nats", ChangedRow((2, 13), dials=True, ready=False, same_link=False), RESTART),
        ("nats", ChangedRow((2, 14), dials=True, ready=False, same_link=False), RELOAD),
        ("rabbitmq", ChangedRow((0,), dials=True, ready=False, same_link=False), RELOAD),
        ("zenoh", ChangedRow((0,), dials=True, ready=False, same_link=False), RESTART),
        ("zenoh", ChangedRow((0,), dials=False, ready=False, same_link=False), None),
    ],
)
def test_each_kind_says_how_it_takes_a_changed_row(kind, row, how):
    assert KINDS[kind].target.takes(row) == how


def test_every_kind_that_is_read_knows_what_it_writes():
    network = tl.Plan(tl.routes(tl.design(tl.datasets.example())))
    brokers = [Broker(name, "h", 1 + n, 100 + n) for n, name in enumerate(network.interest.node_labels)]
    for name, kind in KINDS.items():
        if kind.reader is not None:
            made = tl.export(network, name, tl.Inventory.of(brokers))
            assert {kind_of(made.files[path]) for _, _, path in made.brokers} == {name}
