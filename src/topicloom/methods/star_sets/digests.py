"""Which topics sites share: each sends salted hashes of its topics, and compares those of others with its own."""

import hmac
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from topicloom.errors import InvalidInterestError
from topicloom.methods.star_sets import json_files
from topicloom.model import Interest
from topicloom.model.interest import checked_interest

KIND = "topic digest"


@dataclass(frozen=True)
class TopicDigest:
    """Salted hashes of the topics of a site.

    Attributes
    ----------
    site : str
        What the site calls itself.
    salt : str
        The text that all sites of one join have agreed on; it is in the file.
    members : str
        One hash of all node names, by which a site recognises its own digest.
    topics : tuple of str
        A hash for each topic that a node of the site wants, in the order of the hashes.
    """

    site: str
    salt: str
    members: str
    topics: tuple[str, ...]

    @cached_property
    def key(self) -> str:
        """Hash of everything but the site's name: star sets say with it for which digests they were made."""
        return json_files.checksum([self.salt, self.members, self.topics])

    @cached_property
    def topics_key(self) -> str:
        """Hash of the salt and the topics."""
        return json_files.checksum([self.salt, self.topics])

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the digest as one small file."""
        content = {"site": self.site, "salt": self.salt, "members": self.members, "topics": list(self.topics)}
        json_files.write(Path(path), KIND, content, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read and check a digest.

        Raises
        ------
        InputNotFoundError, StarFileError
        """
        path = Path(path)
        content = json_files.read(path, KIND)
        return cls(
            json_files.text(content, "site", path),
            json_files.text(content, "salt", path),
            json_files.key(content, "members", path),
            json_files.hashes(content, "topics", path),
        )


def topic_digest(interest: Interest, *, salt: str, site: str) -> TopicDigest:
    """Hash the topics of a site, so that sites learn which topics they share.

    Anybody who has a digest can test whether a guessed topic is in it, and sees how many topics there are. It holds no
    name of a node or topic.

    Parameters
    ----------
    interest : Interest
        With labels.
    salt : str
        The same text at all sites of one join, and another one for each join.
    site : str
        What the site calls itself; shown to the others.

    Returns
    -------
    TopicDigest

    Raises
    ------
    InvalidInterestError
        The interest has no labels.
    InvalidOptionError
        The salt or the site is blank.

    See Also
    --------
    star_set, join_stars

    Notes
    -----
    O(nodes + topics). A hash has 128 bits of HMAC-SHA-256 with the salt as key.

    Examples
    --------
    >>> import topicloom as tl
    >>> here = tl.Interest.from_pairs(["a", "b"], ["news", "sport"])
    >>> there = tl.Interest.from_pairs(["c"], ["news"])
    >>> ours, theirs = (tl.topic_digest(site, salt="2026-11", site=name) for site, name in [(here, "x"), (there, "y")])
    >>> len(ours.topics), len(set(ours.topics) & set(theirs.topics))
    (2, 1)
    >>> factory = tl.datasets.example()
    >>> len(tl.topic_digest(factory, salt="2026-11", site="factory").topics)
    7
    """
    checked_interest(interest, "topic_digest")
    salt, site = json_files.checked_text("salt", salt), json_files.checked_text("site", site)
    wanted = np.flatnonzero(np.diff(interest.topic_indptr))
    hashed = topic_hashes(interest, salt)
    members = hmac.new(salt.encode(), digestmod="sha256")
    for label in _labels(interest):
        members.update(b"%d " % len(label.encode()) + label.encode())
    return TopicDigest(site, salt, members.hexdigest(), tuple(sorted(hashed[topic] for topic in wanted)))


def topic_hashes(interest: Interest, salt: str) -> list[str]:
    """The hash of each topic, in the order of their ids."""
    _labels(interest)
    key = salt.encode()
    return [
        hmac.digest(key, b"topic " + interest.topic_label(topic).encode(), "sha256").hex()[:32]
        for topic in range(interest.n_topics)
    ]


def _labels(interest: Interest) -> list[str]:
    if interest.node_labels is None or interest.topic_labels is None:
        raise InvalidInterestError("sites know nodes and topics by their labels, and this interest has none")
    return list(interest.node_labels.tolist())
