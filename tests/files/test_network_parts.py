"""An overlay directory keeps the network of its overlay, and who relays what."""

import json
import pickle

import pyarrow.parquet as pq
import pytest

import topicloom as tl
from topicloom.errors import InvalidLinksError, InvalidOptionError, OverlayFormatError
from topicloom.model import Network, Overlay

PATHS = [("a", "hub"), ("b", "hub"), ("c", "hub"), ("b", "c")]


@pytest.fixture
def overlay():
    network = Network.from_tables(
        {
            "node": ["a", "b", "c", "hub"],
            "site": ["n", "n", "s", "s"],
            "relay": [None] * 3 + ["yes"],
            "rack": list("1212"),
        },
        site_pairs={"from": ["n"], "to": ["s"], "price": [12.5]},
        pairs=[{"src": "a", "dst": "c", "forbidden": True}, {"src": "a", "dst": "hub", "standing": True}],
        topics=[{"topic": "x", "rate": 2.5, "allowed_sites": "n;s"}],
    )
    interest = network.widened(tl.Interest.from_pairs(list("abcbc"), list("xxxyy")))
    relays = [(interest.node_id("hub"), interest.topic_id("x"))]
    links = Overlay.from_links(interest, PATHS).links
    return Overlay(interest, links, "network", relays=relays, network=network)


def test_it_comes_back_as_it_was(overlay, tmp_path):
    overlay.save(tmp_path / "o")
    back = Overlay.load(tmp_path / "o")
    assert back == overlay
    assert back.network == overlay.network
    assert back.relays.tolist() == overlay.relays.tolist() == [[3, 0]]
    assert back.forbidden.forbids("a", "c")
    assert pq.read_table(tmp_path / "o" / "relays").to_pylist() == [{"node": "hub", "topic": "x"}]
    assert sorted(path.name for path in (tmp_path / "o" / "network").iterdir()) == [
        "nodes", "pairs", "site_pairs", "topics", "units",
    ]  # fmt: skip
    files = json.loads((tmp_path / "o" / "run.json").read_text())["files"]
    assert {"relays/part-00000.parquet", "network/nodes/part-00000.parquet"} <= files.keys()


def test_a_copy_for_another_process_keeps_network_and_relays(overlay):
    copy = pickle.loads(pickle.dumps(overlay))
    assert (copy, copy.network, copy.relays.tolist()) == (overlay, overlay.network, [[3, 0]])


def test_without_a_network_the_directory_has_no_such_parts(tmp_path):
    tl.design(tl.datasets.example()).save(tmp_path / "o")
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert not names & {"network", "relays"}
    back = Overlay.load(tmp_path / "o")
    assert back.network is None
    assert len(back.relays) == 0


@pytest.mark.parametrize("part", ["relays", "network/nodes", "network/site_pairs"])
def test_damage_and_loss_of_its_parts_are_noticed(overlay, tmp_path, part):
    overlay.save(tmp_path / "o")
    path = tmp_path / "o" / part / "part-00000.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:-20] + bytes(20))
    with pytest.raises(OverlayFormatError):
        Overlay.load(tmp_path / "o")
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(OverlayFormatError):
        Overlay.load(tmp_path / "o")


def test_verify_goes_through_its_relays(overlay):
    assert overlay.verify().ok
    alone = Overlay(overlay.interest, overlay.links, network=overlay.network)
    assert [broken.topic for broken in alone.verify().broken] == ["x"]
    with pytest.raises(InvalidOptionError, match="k is 2; where nodes relay topics, 1 is accepted"):
        overlay.verify(k=2)


def test_routes_lead_through_relays_and_leave_out_those_that_no_tree_needs(overlay):
    made = tl.routes(overlay)
    assert made.verify().ok
    rows = {(row["topic"], row["src"], row["dst"]) for row in made.table().to_pylist()}
    assert {("x", "a", "hub"), ("y", "b", "c")} <= rows
    more = Overlay(overlay.interest, overlay.links, relays=[*overlay.relays.tolist(), (3, 1)])
    assert tl.routes(more).interest.subscribers("y") == ["b", "c"]
    assert tl.routes(more).interest.subscribers("x") == ["a", "b", "c", "hub"]


def test_what_knows_no_network_refuses_to_change_the_links(overlay):
    for change in (tl.refine, lambda o: tl.Maintainer(o.interest, o)):
        with pytest.raises(InvalidOptionError, match="does not keep to the network of the overlay"):
            change(overlay)
    with pytest.raises(InvalidOptionError, match="refine knows nothing of relays"):
        tl.refine(Overlay(overlay.interest, overlay.links, relays=overlay.relays))


def test_a_network_of_forbidden_links_alone_is_kept_to_by_refine():
    network = Network.from_tables({"node": list("abcd")}, pairs=[{"src": "a", "dst": "b", "forbidden": True}])
    interest = tl.Interest.from_pairs(list("abcabd"), list("tttuuu"))
    links = tl.greedy_merge(interest, forbid=network.forbidden_links()).links
    better = tl.refine(Overlay(interest, links, network=network))
    assert better.network is network
    assert better.verify().ok
    with pytest.raises(InvalidLinksError, match="1 links are forbidden, such as 'a' – 'b'"):
        Overlay(interest, [(0, 1)], network=network)


def test_relays_that_cannot_be_are_refused(overlay):
    for relays in ([(9, 0)], [(0, 9)], [(-1, 0)], [1, 2, 3]):
        with pytest.raises(InvalidLinksError, match="relays"):
            Overlay(overlay.interest, overlay.links, relays=relays)
