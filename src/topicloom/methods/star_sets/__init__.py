"""Joining sites by their star sets alone: three small files that organisations can exchange (star-merge §V)."""

from topicloom.methods.star_sets.digests import TopicDigest, topic_digest
from topicloom.methods.star_sets.site_links import StarJoin, StarLink, join_stars
from topicloom.methods.star_sets.stars import StarSet, star_set

__all__ = ["StarJoin", "StarLink", "StarSet", "TopicDigest", "join_stars", "star_set", "topic_digest"]
