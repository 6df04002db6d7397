"""``design --forbid``: the overlay keeps off the pairs, and a topic that they cut is named with its groups."""

import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.errors import InvalidLinksError
from topicloom.routing.ownership import undialled_pairs


class Broker:
    def __init__(self, dials: bool, accepts: bool) -> None:
        self.dials, self.accepts = dials, accepts


@pytest.fixture
def subscriptions(tmp_path):
    path = tmp_path / "subscriptions.csv"
    path.write_text("node,topic\n" + "".join(f"{node},{topic}\n" for topic in "xy" for node in "abcd"))
    return str(path)


def test_forbidden_pairs_are_not_linked_and_cut_topics_are_named(shared_session, subscriptions, tmp_path, capsys):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("src,dst\na,b\nzz,b\n")
    assert main(["design", subscriptions, str(tmp_path / "one"), "--forbid", str(pairs)]) == 0
    assert "1 of 2 forbidden pairs" in capsys.readouterr().err
    made = tl.Overlay.load(tmp_path / "one")
    assert made.links.tolist() == tl.greedy_merge(made.interest, forbid=[("a", "b")]).links.tolist()
    assert [0, 1] not in made.links.tolist()
    pairs.write_text("a,c\na,d\nb,c\nb,d\n")
    assert main(["design", subscriptions, str(tmp_path / "two"), "--forbid", str(pairs), "--links-no-header"]) == 1
    assert "topic 'x' cannot be connected: every link between {'a', 'b'} and {'c', 'd'} is forbidden" in (
        capsys.readouterr().err
    )


def test_methods_and_tables_that_cannot_be_used_are_refused_before_anything_is_read(subscriptions, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main(["design", subscriptions, out, "--forbid", "pairs.csv", "--method", "ring-pt"]) == 2
    assert "gm" in capsys.readouterr().err


def test_pairs_of_which_neither_may_dial_come_from_the_inventory():
    numbers = {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
    edge, hub, both, idle = Broker(True, False), Broker(False, True), Broker(True, True), Broker(False, False)
    brokers = {"a": edge, "b": edge, "c": hub, "d": hub, "e": both}
    assert undialled_pairs(numbers, brokers).tolist() == [[0, 1], [2, 3]]
    alone = undialled_pairs(numbers, {**brokers, "e": idle}).tolist()
    assert sorted(map(sorted, alone)) == [[0, 1], [0, 4], [1, 4], [2, 3], [2, 4], [3, 4]]
    with pytest.raises(InvalidLinksError, match="lacks 1 of 5 nodes, such as 'e'"):
        undialled_pairs(numbers, dict.fromkeys("abcd", edge))
