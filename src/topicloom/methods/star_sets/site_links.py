"""Links between sites, from their star sets alone (star-merge, Algorithms 4 and 5)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from topicloom.errors import StarFileError
from topicloom.judge import verify
from topicloom.methods.dc.conquer import Piece, Settings, Stars
from topicloom.methods.dc.divide_and_conquer import MERGE_LIMIT, merge_levels
from topicloom.methods.dc.star_merge import Part, label_places
from topicloom.methods.star_sets.stars import StarSet
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array
from topicloom.model.checks import checked_whole


class StarLink(NamedTuple):
    """A link between star nodes of two sites. ``src`` is the lower of the two names."""

    src: str
    dst: str
    src_site: str
    dst_site: str
    shared_topics: int


@dataclass(frozen=True)
class StarJoin:
    """Links that join sites, in the order added.

    Attributes
    ----------
    sites : mapping from str to str
        The ``topics_key`` of every site that is joined by now, by its name.
    links : tuple of StarLink
        What was added now; links of earlier joins stay.
    ok : bool
        The judge's word: with these links, every shared topic is connected, provided that each site's overlay and the
        earlier joins are topic-connected.
    report : mapping
    """

    sites: Mapping[str, str]
    links: tuple[StarLink, ...]
    ok: bool
    report: Mapping[str, Any] = field(default_factory=dict)

    def links_of(self, site: str) -> list[StarLink]:
        """Links that start or end at a node of a site."""
        return [link for link in self.links if site in (link.src_site, link.dst_site)]


class Gathered(NamedTuple):
    """Star nodes of all sites as numbers: nodes in the order of the tie rule, units of sites that are joined."""

    labels: list[str]
    sites: list[str]
    interest: Interest
    stars: list[Stars]
    settings: Settings


def join_stars(
    star_sets: Iterable[StarSet], *, after: Sequence[StarJoin] = (), merge_limit: int = MERGE_LIMIT
) -> StarJoin:
    """Compute the links between sites from their star sets alone (Star Merge).

    Parameters
    ----------
    star_sets : iterable of StarSet
        One for each site. Each must have been made with the digests of all others that it is not joined with.
    after : sequence of StarJoin
        Earlier joins of some of these sites. Sites that are joined count as one overlay.
    merge_limit : int
        Star nodes that one merge may have; more are merged in groups, as by `divide_and_conquer`.

    Returns
    -------
    StarJoin
        Without ``after`` and within the merge limit, the links of ``join(…, ties="labels")`` on the whole overlays.

    Raises
    ------
    StarFileError
        The star sets do not fit together: a site or node occurs twice, other digests or seeds were used, a site of an
        earlier join is missing or has changed its topics, or one stands for a shared topic alone.

    See Also
    --------
    topic_digest, star_set, join

    Notes
    -----
    The cost is that of a Greedy Merge over the star nodes.

    References
    ----------
    [star-merge] §V, Algorithms 4 and 5; docs/papers.md. Joining later is ours.

    Examples
    --------
    >>> import topicloom as tl
    >>> here = tl.greedy_merge(tl.Interest.from_pairs(["a", "b", "b"], ["x", "x", "secret"]))
    >>> there = tl.greedy_merge(tl.Interest.from_pairs(["c", "d"], ["x", "y"]))
    >>> digests = [tl.topic_digest(o.interest, salt="2026", site=s) for o, s in [(here, "h"), (there, "t")]]
    >>> stars = [tl.star_set(o, others=digests, site=s) for o, s in [(here, "h"), (there, "t")]]
    >>> [(link.src_site, link.dst_site, link.shared_topics) for link in tl.join_stars(stars).links]
    [('h', 't', 1)]
    >>> factory = tl.datasets.example()
    >>> here, there = (tl.design(factory.restrict(part)) for part in (range(3), range(3, 6)))
    >>> digests = [tl.topic_digest(o.interest, salt="2026", site=s) for o, s in [(here, "h"), (there, "t")]]
    >>> stars = [tl.star_set(o, others=digests, site=s) for o, s in [(here, "h"), (there, "t")]]
    >>> [(link.src, link.dst) for link in tl.join_stars(stars).links]
    [('lathe', 'press'), ('crane', 'office'), ('gate', 'office')]
    """
    star_sets = list(star_sets)
    given = collect_sites(star_sets, after)
    pieces = [Piece(np.empty((0, 2), np.int32), stars, 0) for stars in given.stars]
    levels = list(merge_levels(pieces, checked_whole("merge_limit", merge_limit, 2), given.settings))
    links = [piece.links for level in levels for piece in level]
    return join_sites(given, star_sets, after, np.concatenate([np.empty((0, 2), np.int32), *links]), len(levels))


def collect_sites(star_sets: Sequence[StarSet], after: Sequence[StarJoin]) -> Gathered:
    """Check that star sets fit together, and number what they hold."""
    groups = _check_fit(star_sets, after)
    rows = [(node, number, topics) for number, one in enumerate(star_sets) for node, topics in one.stars]
    _check_names(rows, star_sets)
    seed = star_sets[0].seed
    place = label_places([node for node, _, _ in rows], seed)
    rows = [rows[at] for at in np.argsort(place)]
    topic_names = sorted({topic for _, _, topics in rows for topic in topics})
    number_of = {topic: number for number, topic in enumerate(topic_names)}
    indptr = np.cumsum([0, *(len(topics) for _, _, topics in rows)])
    wanted = np.array([number_of[topic] for _, _, topics in rows for topic in topics], np.int64)
    interest = Interest.from_csr(indptr, wanted, len(topic_names))
    unit = np.array([groups[site] for _, site, _ in rows], np.int32)
    stars = []
    for number in range(max(groups) + 1):
        nodes = np.flatnonzero(unit == number)
        part = Part.of(interest, nodes)
        none = np.zeros(len(nodes), np.int64)
        stars.append(Stars(part, np.full(len(nodes), number, np.int32), none, none))
    sites = [star_sets[site].site for _, site, _ in rows]
    settings = Settings(len(topic_names), seed=seed, numbered=True)
    return Gathered([node for node, _, _ in rows], sites, interest, stars, settings)


def join_sites(
    given: Gathered, star_sets: Sequence[StarSet], after: Sequence[StarJoin], links: Int32Array, levels: int
) -> StarJoin:
    """The result of a join, judged."""
    named = []
    for pair in links.tolist():
        src, dst = sorted(pair, key=given.labels.__getitem__)
        shared = len(np.intersect1d(given.interest.topics_of(src), given.interest.topics_of(dst)))
        named.append(StarLink(given.labels[src], given.labels[dst], given.sites[src], given.sites[dst], shared))
    sites = {site: key for join in after for site, key in join.sites.items()}
    sites |= {one.site: one.topics_key for one in star_sets}
    report = {
        "star_nodes": {one.site: len(one.stars) for one in star_sets},
        "shared_topics": given.interest.n_topics,
        "links": len(named),
        "merge_levels": levels,
    }
    return StarJoin(sites, tuple(named), _connected(given, links), report)


def _connected(given: Gathered, links: Int32Array) -> bool:
    """Let the judge look at the star nodes, those of a unit that want a topic being connected in a chain."""
    unit = np.empty(given.interest.n_nodes, np.int32)
    for stars in given.stars:
        unit[stars.part.nodes] = stars.unit
    nodes = given.interest.topic_nodes
    topic = np.repeat(np.arange(given.interest.n_topics), np.diff(given.interest.topic_indptr))
    order = np.lexsort((nodes, unit[nodes], topic))
    nodes, topic = nodes[order], topic[order]
    chained = (topic[1:] == topic[:-1]) & (unit[nodes][1:] == unit[nodes][:-1])
    inner = np.column_stack((nodes[:-1], nodes[1:]))[chained]
    return verify(given.interest, np.concatenate((inner, links))).ok


def _check_fit(star_sets: Sequence[StarSet], after: Sequence[StarJoin]) -> list[int]:
    """Number of the unit of each site: sites that are joined already are one unit."""
    if len(star_sets) < 2:
        raise StarFileError(f"{len(star_sets)} star set is given; those of two sites or more are needed")
    number_of: dict[str, int] = {}
    for number, one in enumerate(star_sets):
        if number_of.setdefault(one.site, number) != number:
            raise StarFileError(f"two star sets are of a site {one.site!a}; each site gives one, under its own name")
    seeds = sorted({one.seed for one in star_sets})
    if len(seeds) > 1:
        raise StarFileError(f"star sets were made with the seeds {seeds[0]} and {seeds[1]}; make them with one")
    groups = list(range(len(star_sets)))
    for join in after:
        _check_earlier(join, star_sets, number_of)
        members = [number_of[site] for site in join.sites]
        into = {groups[member] for member in members}
        groups = [min(into) if group in into else group for group in groups]
    dense = {group: number for number, group in enumerate(sorted(set(groups)))}
    groups = [dense[group] for group in groups]
    for number, one in enumerate(star_sets):
        known = set(one.others)
        for other_number, other in enumerate(star_sets):
            if groups[number] != groups[other_number] and other.key not in known:
                raise StarFileError(
                    f"the star set of {one.site!a} was not made with the digest of {other.site!a} as it is now; "
                    "exchange digests again, and make the star sets from them"
                )
    _check_complete(star_sets)
    return groups


def _check_complete(star_sets: Sequence[StarSet]) -> None:
    """Refuse a topic that one site alone stands for, if all sites that it was told of are here and were told of it."""
    sites_of = Counter(topic for one in star_sets for topic in one.topics)
    for one in star_sets:
        alone = sum(sites_of[topic] == 1 for topic in one.topics)
        if alone and set(one.others) <= {other.key for other in star_sets if one.key in other.others}:
            raise StarFileError(
                f"{one.site!a} stands for topics that no other star set has, though the digests of other sites do "
                f"({alone:,} of them): a star set is incomplete"
            )


def _check_earlier(join: StarJoin, star_sets: Sequence[StarSet], number_of: Mapping[str, int]) -> None:
    for site, key in join.sites.items():
        if site not in number_of:
            raise StarFileError(f"site {site!a} was joined earlier, and its star set is missing")
        if star_sets[number_of[site]].topics_key != key:
            raise StarFileError(
                f"site {site!a} has other topics, or another salt, than when it was joined; join all sites from the "
                "beginning"
            )


def _check_names(rows: Sequence[tuple[str, int, tuple[str, ...]]], star_sets: Sequence[StarSet]) -> None:
    home: dict[str, int] = {}
    for node, number, _ in rows:
        if home.setdefault(node, number) != number:
            one, other = star_sets[home[node]].site, star_sets[number].site
            raise StarFileError(
                f"node {node!a} is a star node of {one!a} and of {other!a}; only overlays without common nodes can be "
                "joined"
            )
