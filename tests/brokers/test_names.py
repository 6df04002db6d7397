"""Names: slugs, refusals, maps without clashes, and hostile names on every target."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.broker_networks import chain, loopback
from support.hostile_names import hostile_names, round_trip
from topicloom.brokers.nats.nats import subject
from topicloom.brokers.safe_names import injective, slugs
from topicloom.brokers.zenoh.zenoh import key
from topicloom.deploy import TARGETS, export, fits
from topicloom.errors import NameDoesNotFitError


@given(st.sets(st.text(), max_size=30))
def test_slugs_are_short_plain_and_different(names):
    made = slugs(sorted(names))
    assert len(set(made.values())) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) and len(slug) <= 40 for slug in made.values())


def test_slugs_that_would_clash_with_a_hashed_one_differ_too():
    first = slugs(["A", "a"])
    assert len(set(slugs(["A", "a", *first.values()]).values())) == 4


@given(st.sets(st.text(alphabet="ab./*$", min_size=1), max_size=60))
def test_no_two_topics_share_a_nats_subject(topics):
    assert len(injective(topics, subject, target="nats")) == len(topics)


@given(st.sets(st.text(alphabet="ab%/@#?$*", min_size=1), max_size=60))
def test_no_two_topics_share_a_zenoh_key(topics):
    assert len(injective(topics, key, target="zenoh")) == len(topics)


def test_a_map_that_merges_names_is_refused_with_both():
    with pytest.raises(NameDoesNotFitError, match=r"'A' shares 'a' with 'a'"):
        injective(["a", "A"], str.lower, target="test")


def test_all_offenders_are_listed_with_code_points_and_nothing_is_exported():
    network = chain(["x", "y"], "fits")
    wrong = ["a b", "x\ny", "p/+/q"]
    rows = [row._replace(topic=topic) for topic in wrong for row in network.rows]
    bad = type(network)(network.nodes, dict.fromkeys(wrong, network.nodes), tuple(rows))
    with pytest.raises(NameDoesNotFitError) as refused:
        export(bad, "mosquitto", loopback(bad))
    assert set(refused.value.offenders) == set(wrong)
    assert all(point in str(refused.value) for point in ("U+0020 at 2", "U+000A at 2", "U+002B at 3"))


@pytest.mark.parametrize(
    ("topic", "mosquitto", "newer", "nats"),
    [
        ("a/b", True, True, True),
        ("/a//b/", True, True, True),
        ("a b", False, True, False),
        (" a", False, False, False),
        ("a/#", False, False, True),
        ("a/*/b", True, True, False),
        (">", True, True, False),
        ("$SYS/x", False, False, False),
        ("$x", True, True, False),
        ('"a', True, False, True),
        ('""', False, False, True),
        ("é/漢/🙂", True, True, True),
        ("a" * 65_536, False, False, False),
        ("/" * 201, False, False, True),
        ("/" * 200, True, True, True),
        ("", False, False, False),
        ("\ud800", False, False, False),
        ("\uffff", False, False, False),
    ],
)
def test_a_name_fits_where_it_can_be_carried(topic, mosquitto, newer, nats):
    assert (fits(topic, "mosquitto", "2.0"), fits(topic, "mosquitto", "2.1"), fits(topic, "nats")) == (
        mosquitto,
        newer,
        nats,
    )


@pytest.mark.parametrize(
    ("target", "version"),
    [("mosquitto", "2.0"), ("mosquitto", "2.1"), ("nats", "2.10"), ("zenoh", "1.10"), ("rabbitmq", "3.10")],
)
def test_hostile_names_are_refused_or_read_back_unchanged(target, version):
    assert target in TARGETS
    accepted, refused = round_trip(target, version, hostile_names(3_000, seed=1))
    assert accepted > 300 and refused > 300
