"""Links of today: what fits is used, what does not is found and named."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.files.read import read_links
from topicloom.files.read.link_findings import fitted_links
from topicloom.files.read.rows import ROWS
from topicloom.files.read.table import as_links, reading_of

NAMES = list("abcd")


def rows_of(pairs):
    found = [{"node": u, "topic": v, "reason": "src is empty" if u == "" else None} for u, v in pairs]
    return pa.Table.from_pylist(found, ROWS)


def fitted(pairs):
    return fitted_links(as_links(reading_of(rows_of(pairs))), pa.array(NAMES))


ends = st.sampled_from(["", *NAMES, "x", "y", "z", "A"])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(ends, ends.filter(bool))))
def test_every_row_is_a_link_a_repeat_a_loop_or_rejected(pairs):
    found = fitted(pairs).findings
    assert found.rows == found.links + found.repeated + len(found.loops) + found.rejected == len(pairs)
    usable = [pair for pair in pairs if pair[0]]
    distinct = {frozenset(pair) for pair in usable if pair[0] != pair[1]}
    assert found.links == len(distinct) and found.rejected == len(pairs) - len(usable)
    strangers = {end for pair in usable for end in pair} - set(NAMES)
    assert strangers == {*found.unknown, *found.transit}
    assert set(found.transit) == {one for one in strangers if sum(one in pair for pair in distinct) > 1}
    assert bool(found.sentences) == bool(found.repeated < 0 or found.rejected or found.loops or strangers)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(ends.filter(bool), ends.filter(bool))))
def test_links_keep_their_names(pairs):
    links, strangers, _ = fitted(pairs)
    labels = [*NAMES, *strangers]
    named = [frozenset((labels[u], labels[v])) for u, v in links.tolist()]
    assert len(set(named)) == len(named)
    assert set(named) == {frozenset(pair) for pair in pairs if pair[0] != pair[1]}


def test_strangers_become_nodes_that_want_nothing():
    interest = tl.Interest.from_pairs(NAMES, ["news"] * 4, ["publish", None, None, "both"])
    given = fitted([("a", "hub"), ("hub", "b"), ("c", "d"), ("c", "hub")])
    wider = given.onto(interest)
    assert wider.n_nodes == 5 and wider.n_subscriptions == 4 and wider.topics_of("hub") == []
    assert wider.roles.tolist() == [1, 0, 0, 3]
    metrics = tl.measure(wider, given.links)
    assert (metrics.links, metrics.disconnected_topics, metrics.unwanted_relays) == (4, 1, 1)
    assert fitted([("a", "b")]).onto(interest) is interest


def test_a_name_that_differs_only_by_case_is_pointed_out(tmp_path):
    (tmp_path / "today.csv").write_text("src;dst\nA;b\n;b\n")
    found = fitted_links(read_links(tmp_path / "today.csv"), pa.array(NAMES)).findings
    assert "finding: 'A' of the links is perhaps 'a' of the subscriptions" in found.sentences
    assert any("today.csv, line 3: ';b': src is empty" in sentence for sentence in found.sentences)


def test_a_table_of_links_without_rows_has_no_links(tmp_path):
    (tmp_path / "none.csv").write_text("src,dst\n")
    assert fitted_links(read_links(tmp_path / "none.csv"), pa.array(NAMES)).links.shape == (0, 2)
