"""The star set of a site, as others may see it: few nodes, and hashes of the shared topics that each wants."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from topicloom.errors import InvalidLinksError, InvalidOptionError, StarFileError
from topicloom.judge import verify
from topicloom.methods.dc import star_merge
from topicloom.methods.star_sets import json_files
from topicloom.methods.star_sets.digests import TopicDigest, topic_digest, topic_hashes
from topicloom.model import Overlay
from topicloom.model.checks import checked_seed

KIND = "star set"
Star = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class StarSet:
    """Star nodes of a site with hashes of the topics that they want and other sites have too.

    Attributes
    ----------
    site : str
    seed : int
        Decides between equally good stars and links, with the labels.
    key, topics_key : str
        Those of the site's own digest.
    others : tuple of str
        Keys of the digests for which the star set was made.
    stars : tuple of (str, tuple of str)
        A node's name, and the hashes of its shared topics.
    """

    site: str
    seed: int
    key: str
    topics_key: str
    others: tuple[str, ...]
    stars: tuple[Star, ...]

    @property
    def topics(self) -> set[str]:
        """Hashes of the topics that the star nodes stand for."""
        return {topic for _, topics in self.stars for topic in topics}

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the star set as one small file."""
        content = {
            "site": self.site,
            "seed": self.seed,
            "key": self.key,
            "topics_key": self.topics_key,
            "others": list(self.others),
            "stars": [{"node": node, "topics": list(topics)} for node, topics in self.stars],
        }
        json_files.write(Path(path), KIND, content, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read and check a star set.

        Raises
        ------
        InputNotFoundError, StarFileError
        """
        path = Path(path)
        content = json_files.read(path, KIND)
        seed = content.get("seed")
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise StarFileError(f"{path}: 'seed' is no whole number from 0")
        return cls(
            json_files.text(content, "site", path),
            seed,
            json_files.key(content, "key", path),
            json_files.key(content, "topics_key", path),
            json_files.hashes(content, "others", path, json_files.KEY),
            _stars(content.get("stars"), path),
        )


def star_set(overlay: Overlay, *, others: Iterable[TopicDigest], site: str, seed: int = 0) -> StarSet:
    """Choose few nodes that stand for all topics of a site which other sites have too (star-merge, Algorithm 6).

    It names no other node and no topic. A topic that none of the other digests has does not occur in it, also not as a
    hash.

    Parameters
    ----------
    overlay : Overlay
        Topic-connected, with labels.
    others : iterable of TopicDigest
        Those of the other sites; the site's own is left out if it is among them.
    site : str
    seed : int
        The same at all sites of one join.

    Returns
    -------
    StarSet
        At most 1 + ln(shared topics) times as many nodes as the fewest possible.

    Raises
    ------
    InvalidOptionError
        No digest of another site is given, or two have different salts.
    InvalidLinksError
        The overlay is not topic-connected.

    See Also
    --------
    topic_digest, join_stars

    Notes
    -----
    O(subscriptions · log nodes) in practice.

    References
    ----------
    [star-merge] §V, Algorithm 6; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> here = tl.greedy_merge(tl.Interest.from_pairs(["a", "b", "b"], ["x", "x", "secret"]))
    >>> there = tl.topic_digest(tl.Interest.from_pairs(["c"], ["x"]), salt="2026-11", site="there")
    >>> stars = tl.star_set(here, others=[there], site="here")
    >>> len(stars.stars), len(stars.topics)
    (1, 1)
    >>> factory = tl.datasets.example()
    >>> there = tl.topic_digest(factory, salt="2026-11", site="other")
    >>> stars = tl.star_set(tl.design(factory.restrict(range(3))), others=[there], site="here")
    >>> len(stars.stars), len(stars.topics)
    (3, 6)
    """
    checked_seed(seed)
    site = json_files.checked_text("site", site)
    digests = list(others)
    salts = sorted({digest.salt for digest in digests})
    if len(salts) > 1:
        raise InvalidOptionError(f"the digests have different salts ({salts[0]!a} and {salts[1]!a}); agree on one")
    interest = overlay.interest
    own = topic_digest(interest, salt=salts[0] if salts else "none", site=site)
    digests = [digest for digest in digests if digest.key != own.key]
    if not digests:
        raise InvalidOptionError("no digest of another site is given; one or more are needed")
    _check_connected(overlay)
    hashed = np.array(topic_hashes(interest, own.salt), dtype=object)
    elsewhere = {topic for digest in digests for topic in digest.topics}
    shared = np.array([topic in elsewhere for topic in hashed], np.bool_)
    part = star_merge.Part(np.arange(interest.n_nodes, dtype=np.int32), interest.indptr, interest.topics)
    labels = [interest.node_label(node) for node in range(interest.n_nodes)]
    places = star_merge.label_places(labels, seed)
    chosen = star_merge.star_set(part, shared, seed=seed, places=places)
    stars = [
        (labels[node], tuple(sorted(hashed[topics[shared[topics]]])))
        for node in chosen.tolist()
        for topics in [interest.topics_of(int(node))]
    ]
    keys = tuple(sorted({digest.key for digest in digests}))
    return StarSet(site, seed, own.key, own.topics_key, keys, tuple(sorted(stars)))


def _check_connected(overlay: Overlay) -> None:
    overlay.refuse_change("a join by star sets")
    overlay.forbidden.refuse("a join by star sets")
    verdict = verify(overlay.interest, overlay.links)
    if not verdict.ok:
        raise InvalidLinksError(
            f"the overlay is not topic-connected: {len(verdict.broken):,} of its topics are broken, such as "
            f"{verdict.broken[0].topic!r}; only topic-connected overlays can be joined"
        )


def _stars(found: Any, path: Path) -> tuple[Star, ...]:
    """The star nodes of a file, checked."""
    if not isinstance(found, list) or not all(isinstance(star, dict) for star in found):
        raise StarFileError(f"{path}: 'stars' is no list of objects")
    stars = tuple((json_files.text(star, "node", path), json_files.hashes(star, "topics", path)) for star in found)
    names = [node for node, _ in stars]
    if names != sorted(set(names)):
        raise StarFileError(f"{path}: the star nodes are not different and in ascending order")
    if not all(topics for _, topics in stars):
        raise StarFileError(f"{path}: a star node stands for no topic")
    return stars
