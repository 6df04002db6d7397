"""Sites that join by star sets alone: the links, what the files reveal, and what is refused."""

import dataclasses
import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow.csv import read_csv

import topicloom as tl
from support.star_merge_replay import is_greedy_merge
from topicloom.cli.app import main
from topicloom.errors import InvalidInterestError, InvalidLinksError, InvalidOptionError, StarFileError

HOSTILE = ["a\x1b[31m", "x\ny", '"}],', "漢\u202e", "../../etc", "a,b;c", "{{7*7}}", " lead", "$(id)", "%00"]


@st.composite
def overlays(draw, least=2, most=4):
    """Topic-connected overlays of sites with shared and private topics, under names that are text."""
    found = []
    for site in range(draw(st.integers(least, most))):
        rows = draw(
            st.lists(st.sets(st.sampled_from(["t0", "t1", "t2", "t3", f"own{site}a", f"own{site}b"]), min_size=1),
                     min_size=1, max_size=6)
        )  # fmt: skip
        pairs = [(f"{site}-{name}{HOSTILE[name % len(HOSTILE)]}", t) for name, row in enumerate(rows) for t in row]
        interest = tl.Interest.from_pairs(*map(list, zip(*pairs, strict=True)))
        found.append(tl.greedy_merge(interest))
    return found


def star_sets(sites, seed=0, salt="salt"):
    digests = [tl.topic_digest(site.interest, salt=salt, site=f"site {n}") for n, site in enumerate(sites)]
    return [tl.star_set(site, others=digests, site=f"site {n}", seed=seed) for n, site in enumerate(sites)]


def joined_whole(sites, seed):
    return tl.join([(site.interest, site) for site in sites], ties="labels", seed=seed)


def named(overlay, links):
    return [tuple(overlay.interest.node_label(v) for v in link) for link in links.tolist()]


def with_links(sites, links):
    """All sites as one overlay, with further links by name."""
    whole = tl.join([(site.interest, site) for site in sites])
    inner = named(whole, whole.links[: whole.report["inner_links"]])
    return tl.Overlay.from_links(whole.interest, [*inner, *links])


@settings(max_examples=60)
@given(overlays(), st.integers(0, 3))
def test_links_are_those_of_a_join_that_sees_everything(sites, seed):
    joined = tl.join_stars(star_sets(sites, seed))
    whole = joined_whole(sites, seed)
    assert [(link.src, link.dst) for link in joined.links] == named(whole, whole.links[whole.report["inner_links"] :])
    assert joined.ok


@settings(max_examples=30)
@given(overlays(), st.integers(0, 3))
def test_the_links_follow_the_rule_of_star_merge(sites, seed):
    """Each star node of a file stands where Algorithm 6 would put it, and each link has the highest contribution."""
    found = star_sets(sites, seed)
    whole = tl.join([(site.interest, site) for site in sites]).interest
    number = {whole.node_label(v): v for v in range(whole.n_nodes)}
    units = [{number[node] for node, _ in one.stars} for one in found]
    links = [tuple(sorted((number[link.src], number[link.dst]))) for link in tl.join_stars(found).links]
    assert is_greedy_merge(whole, units, links)


@settings(max_examples=40)
@given(overlays(least=3), st.integers(0, 3))
def test_a_site_joins_later(sites, seed):
    first = tl.join_stars(star_sets(sites[:-1], seed))
    second = tl.join_stars(star_sets(sites, seed), after=[first])
    both = [(link.src, link.dst) for join in (first, second) for link in join.links]
    assert with_links(sites, both).verify().ok and second.ok
    assert all(f"site {len(sites) - 1}" in (link.src_site, link.dst_site) for link in second.links)
    assert set(second.sites) == {f"site {n}" for n in range(len(sites))}


def test_sites_of_a_real_interest_join_and_one_comes_later(dataset):
    table = read_csv(dataset("mastodon_instances.csv.gz"))
    whole = tl.Interest.from_pairs(table["node"].to_pylist(), table["topic"].to_pylist())
    parts = [[v for v in range(whole.n_nodes) if v % 4 == number] for number in range(4)]
    sites = [tl.greedy_merge(tl.Interest.from_pairs(*named_pairs(whole, part))) for part in parts]
    first, joined = tl.join_stars(star_sets(sites[:3])), joined_whole(sites[:3], 0)
    assert [(link.src, link.dst) for link in first.links] == named(joined, joined.links[joined.report["inner_links"] :])
    second = tl.join_stars(star_sets(sites), after=[first])
    assert with_links(sites, [(link.src, link.dst) for link in (*first.links, *second.links)]).verify().ok
    assert first.report["star_nodes"]["site 0"] < len(parts[0]) and len(second.links) < len(first.links)


def named_pairs(interest, nodes):
    rows = [(interest.node_label(v), interest.topic_label(t)) for v in nodes for t in interest.topics_of(v).tolist()]
    return map(list, zip(*rows, strict=True))


@settings(max_examples=40)
@given(overlays(least=3), st.data())
def test_sites_that_are_joined_need_not_have_been_told_of_each_other_again(sites, data):
    """Each joined site takes the newcomer's digest, and those of others or not."""
    first = tl.join_stars(star_sets(sites[:-1]))
    digests = [tl.topic_digest(site.interest, salt="salt", site=f"site {n}") for n, site in enumerate(sites)]
    again = [
        tl.star_set(site, others=[*(digests[:-1] if data.draw(st.booleans()) else []), digests[-1]], site=f"site {n}")
        for n, site in enumerate(sites[:-1])
    ]
    second = tl.join_stars([*again, star_sets(sites)[-1]], after=[first])
    both = [(link.src, link.dst) for join in (first, second) for link in join.links]
    assert with_links(sites, both).verify().ok and second.ok


@settings(max_examples=40)
@given(overlays(), st.integers(2, 6))
def test_star_nodes_beyond_the_merge_limit_are_merged_in_groups(sites, limit):
    joined = tl.join_stars(star_sets(sites), merge_limit=limit)
    assert joined.ok and with_links(sites, [(link.src, link.dst) for link in joined.links]).verify().ok


@settings(max_examples=40)
@given(overlays(), st.integers(0, 3))
def test_a_star_set_reveals_no_topic_that_the_others_do_not_have(sites, seed):
    digests = [tl.topic_digest(site.interest, salt="salt", site=f"site {n}") for n, site in enumerate(sites)]
    for number, one in enumerate(star_sets(sites, seed)):
        elsewhere = set().union(*(set(d.topics) for at, d in enumerate(digests) if at != number))
        private = set(digests[number].topics) - elsewhere
        assert one.topics == set(digests[number].topics) & elsewhere
        text = json.dumps(dataclasses.asdict(one))
        assert not any(topic in text for topic in private)
        assert not set(re.findall("[0-9a-f]{32,}", text)) - one.topics - {one.key, one.topics_key, *one.others}
        assert "own" not in text and "t0" not in text


def test_files_hold_no_name_of_a_topic_and_no_node_but_stars(tmp_path, capsys):
    """The only node that wants the shared topic is named; the private topics leave no trace, also not as hashes."""
    sites = {
        "here": tl.Interest.from_pairs(["ann", "bob", "bob", "cy"], ["shared", "shared", "private-x", "private-y"]),
        "there": tl.Interest.from_pairs(["dan", "eve"], ["shared", "elsewhere"]),
    }
    for name, interest in sites.items():
        tl.greedy_merge(interest).save(tmp_path / name)
        assert main(["digest", str(tmp_path / name), str(tmp_path / f"{name}.digest"), "--salt", "agreed"]) == 0
    digest = (tmp_path / "here.digest").read_text()
    assert not any(word in digest for word in ("ann", "bob", "shared", "private"))
    arguments = [str(tmp_path / "here"), str(tmp_path / "here.stars"), "--others", str(tmp_path / "there.digest")]
    assert main(["star-set", *arguments]) == 0
    stars = (tmp_path / "here.stars").read_text()
    assert not any(word in stars for word in ("cy", "shared", "private", "agreed"))
    digests = [tl.TopicDigest.load(tmp_path / f"{name}.digest") for name in sites]
    assert not any(topic in stars for topic in set(digests[0].topics) - set(digests[1].topics))
    assert "1 of 3 nodes stand for the 1 topics that 1 other site has too" in capsys.readouterr().out


def test_the_three_commands(tmp_path, capsys):
    names = ["a", "b", "c"]
    for number, name in enumerate(names):
        interest = tl.generate(nodes=30, topics=12, subscriptions=4, seed=number)
        pairs = [(f"{name}{HOSTILE[v % len(HOSTILE)]}{v}", f"t{t}") for v in range(30) for t in interest.topics_of(v)]
        tl.greedy_merge(tl.Interest.from_pairs(*map(list, zip(*pairs, strict=True)))).save(tmp_path / name)
        assert main(["digest", str(tmp_path / name), str(tmp_path / f"{name}.digest"), "--salt", "s"]) == 0
    digests = [str(tmp_path / f"{name}.digest") for name in names]
    for name in names:
        assert main(["star-set", str(tmp_path / name), str(tmp_path / f"{name}.stars"), "--others", *digests]) == 0
    stars = [str(tmp_path / f"{name}.stars") for name in names]
    capsys.readouterr()
    assert main(["join-stars", str(tmp_path / "two"), *stars[:2]]) == 0
    assert "star sets were made for 1 more of the sites, which can join later with --after" in capsys.readouterr().err
    assert main(["join-stars", str(tmp_path / "all"), *stars, "--after", str(tmp_path / "two"), "--json"]) == 0
    captured = capsys.readouterr()
    facts = json.loads(captured.out)
    assert "more of the sites" not in captured.err
    found = [pq.read_table(tmp_path / folder / "links").to_pylist() for folder in ("two", "all")]
    links = [(row["src"], row["dst"]) for rows in found for row in rows]
    sites = [tl.Overlay.load(tmp_path / name) for name in names]
    assert with_links(sites, links).verify().ok and facts["ok"]
    own = pq.read_table(tmp_path / "all" / facts["folders"]["c"]).to_pylist()
    assert len(own) == facts["site_links"]["c"] == len(found[1])
    assert {row["node"] for row in own} <= set(sites[2].interest.node_labels.tolist())
    again = [*stars, "--after", str(tmp_path / "two")]
    assert main(["join-stars", str(tmp_path / "all"), *again]) == 2
    capsys.readouterr()
    assert main(["join-stars", str(tmp_path / "all"), *again, "--overwrite"]) == 0
    assert "verified, provided that the links of the earlier joins still stand; wrote" in capsys.readouterr().err
    assert main(["star-set", str(tmp_path / "a"), stars[0], "--others", *digests]) == 2
    assert main(["star-set", str(tmp_path / "a"), stars[0], "--others", *digests, "--overwrite"]) == 0
    assert main(["star-set", str(tmp_path / "a"), digests[1], "--others", *digests, "--overwrite"]) == 2


def two_sites():
    here = tl.greedy_merge(tl.Interest.from_pairs(["a", "b", "b"], ["x", "x", "y"]))
    there = tl.greedy_merge(tl.Interest.from_pairs(["c", "d"], ["x", "y"]))
    return here, there


def test_star_sets_that_do_not_fit_together_are_refused():
    here, there = two_sites()
    first, second = star_sets([here, there])
    changed = tl.greedy_merge(tl.Interest.from_pairs(["c", "d", "d"], ["x", "y", "z"]))
    same_node = tl.greedy_merge(tl.Interest.from_pairs(["b"], ["x"]))
    three = star_sets([here, there, changed])
    done = tl.join_stars([first, second])
    withheld = dataclasses.replace(second, stars=second.stars[1:])
    for given_sets, reason, after in [
        ([first], "two sites or more", []),
        ([first, dataclasses.replace(second, site=first.site)], "two star sets are of a site", []),
        ([first, dataclasses.replace(second, seed=1)], "seeds 0 and 1", []),
        ([first, star_sets([here, changed])[1]], "was not made with the digest", []),
        (star_sets([here, same_node]), "only overlays without common nodes", []),
        ([three[0], three[2]], "is missing", [done]),
        (star_sets([here, changed]), "has other topics", [done]),
        ([first, withheld], r"'site 0' stands for topics .* \(1 of them\): a star set is incomplete", []),
    ]:
        with pytest.raises(StarFileError, match=reason):
            tl.join_stars(given_sets, after=after)


def test_what_cannot_be_hashed_or_covered_is_refused():
    here, there = two_sites()
    digest = tl.topic_digest(there.interest, salt="s", site="there")
    with pytest.raises(InvalidOptionError, match="different salts"):
        tl.star_set(here, others=[digest, dataclasses.replace(digest, salt="t")], site="here")
    with pytest.raises(InvalidOptionError, match="no digest of another site"):
        tl.star_set(there, others=[digest], site="there")
    with pytest.raises(InvalidLinksError, match="not topic-connected"):
        tl.star_set(tl.Overlay.from_links(here.interest, []), others=[digest], site="here")
    with pytest.raises(InvalidInterestError, match="labels"):
        tl.topic_digest(tl.Interest.from_csr([0, 1], [0], 1), salt="s", site="x")
    for salt in ("", " ", "\ud800"):
        with pytest.raises(InvalidOptionError, match="salt"):
            tl.topic_digest(here.interest, salt=salt, site="x")
    with pytest.raises(InvalidOptionError, match="ties"):
        tl.join([(here.interest, here), (there.interest, there)], ties="names")


def test_damaged_and_foreign_files_are_one_sentence_and_exit_code_2(tmp_path, capsys):
    here, there = two_sites()
    first, second = star_sets([here, there])
    first.save(tmp_path / "a.stars")
    second.save(tmp_path / "b.stars")
    good = json.loads((tmp_path / "a.stars").read_text())
    wrong = {
        "no JSON": "{",
        "deep": "[" * 100_000,
        "list": "[]",
        "kind": json.dumps({**good, "kind": "topic digest"}),
        "version": json.dumps({**good, "version": 2}),
        "version text": json.dumps({**good, "version": "\x1b" * 100}),
        "node": json.dumps({**good, "stars": [{"node": "other", "topics": []}]}),
        "no checksum": json.dumps({name: value for name, value in good.items() if name != "checksum"}),
    }
    for name, text in wrong.items():
        (tmp_path / "bad").write_text(text)
        assert main(["join-stars", str(tmp_path / "out"), str(tmp_path / "bad"), str(tmp_path / "b.stars")]) == 2, name
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1 and "\x1b" not in captured.err and not captured.out
    assert main(["join-stars", str(tmp_path / "out"), str(tmp_path / "none"), str(tmp_path / "b.stars")]) == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", True), ("seed", -1), ("key", "x"), ("others", ["b" * 64, "a" * 64]), ("site", " "), ("stars", {}),
        ("stars", [{"node": "x", "topics": ["0" * 31]}]), ("stars", [{"node": "x", "topics": []}]),
        ("stars", [{"node": "x", "topics": ["0" * 32]}] * 2), ("stars", [1]),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_refused_also_with_a_right_checksum(tmp_path, name, value):
    from topicloom.methods.star_sets import json_files

    one = star_sets(two_sites())[0]
    one.save(tmp_path / "good")
    assert tl.StarSet.load(tmp_path / "good") == one
    content = json_files.read(tmp_path / "good", "star set")
    json_files.write(tmp_path / "bad", "star set", {**content, name: value}, overwrite=False)
    with pytest.raises(StarFileError, match="bad"):
        tl.StarSet.load(tmp_path / "bad")


def test_sites_without_shared_topics_need_no_link():
    sites = [tl.greedy_merge(tl.Interest.from_pairs([name], [name])) for name in "ab"]
    joined = tl.join_stars(star_sets(sites))
    assert joined.links == () and joined.ok and joined.report["shared_topics"] == 0


def test_spark_gives_the_links_of_the_process(spark):
    from topicloom.pipeline import join_stars

    draw = np.random.default_rng(3)
    sites = []
    for site in range(12):
        pairs = [(f"{site}-{v}", f"t{t}") for v in range(8) for t in draw.choice(20, 4, replace=False)]
        sites.append(tl.greedy_merge(tl.Interest.from_pairs(*map(list, zip(*pairs, strict=True)))))
    found = star_sets(sites)
    for limit in (15, 20_000):
        assert join_stars(spark, found, merge_limit=limit).links == tl.join_stars(found, merge_limit=limit).links


def same_wishes(count):
    """Sites of two nodes each, all of which want the same two topics."""
    return [
        tl.design(tl.Interest.from_pairs([f"{n}a", f"{n}a", f"{n}b", f"{n}b"], ["t", "u"] * 2)) for n in range(count)
    ]


def test_separate_earlier_joins_are_units_of_their_own_until_one_joins_them():
    sites = same_wishes(5)
    pair = {two: tl.join_stars(star_sets_of(sites, two)) for two in ((0, 1), (2, 3), (1, 2))}
    everyone = star_sets(sites[:4])
    joined = tl.join_stars(everyone, after=[pair[0, 1], pair[2, 3]])
    units = [frozenset(link[2:4]) for link in joined.links]
    assert joined.ok and len(units) == 1, "one link carries both topics from one pair of sites to the other"
    assert len(units[0] & {"site 0", "site 1"}) == 1 and len(units[0] & {"site 2", "site 3"}) == 1
    everyone = star_sets(sites)
    for order in ([(0, 1), (2, 3), (1, 2)], [(2, 3), (1, 2), (0, 1)], [(1, 2), (0, 1), (2, 3)]):
        last = tl.join_stars(everyone, after=[pair[one] for one in order])
        assert last.ok and [("site 4" in link[2:4]) for link in last.links] == [True]


def star_sets_of(sites, numbers):
    """Star sets of some sites, under their own names, made with the digests of each other."""
    digests = [tl.topic_digest(sites[n].interest, salt="salt", site=f"site {n}") for n in numbers]
    return [tl.star_set(sites[n], others=digests, site=f"site {n}") for n in numbers]
