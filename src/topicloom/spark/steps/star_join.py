"""Joining very many sites by their star sets on Spark: groups of sites are merged on the executors."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from topicloom.methods.dc.conquer import Piece
from topicloom.methods.dc.divide_and_conquer import MERGE_LIMIT
from topicloom.methods.star_sets.site_links import StarJoin, collect_sites, join_sites
from topicloom.methods.star_sets.stars import StarSet
from topicloom.runs.stages import Stages
from topicloom.spark.dc.pieces import as_table, counts_of
from topicloom.spark.dc.run import Level, merged_levels, ordered_links
from topicloom.spark.session.columns import DST_ID, ORDER, SRC_ID, from_arrow

_NO_LINKS = np.empty((0, 2), np.int32)


def join_stars(
    spark: SparkSession,
    star_sets: Sequence[StarSet],
    *,
    after: Sequence[StarJoin] = (),
    merge_limit: int = MERGE_LIMIT,
) -> StarJoin:
    """Compute the links between sites from their star sets, as `topicloom.join_stars` does. The links are the same.

    It pays where there are more star nodes than one merge should have: groups of sites are merged in parallel, a level
    of groups after the other.

    Parameters
    ----------
    spark : SparkSession
    star_sets : sequence of StarSet
        One for each site, as for `topicloom.join_stars`.
    after : sequence of StarJoin
        Earlier joins of some of these sites.
    merge_limit : int
        Star nodes that one merge may have.

    Returns
    -------
    StarJoin

    Raises
    ------
    StarFileError
        The star sets do not fit together.

    See Also
    --------
    topicloom.join_stars : the same in one process.
    topicloom.star_set : the star set of a site.

    Notes
    -----
    The cost is that of a Greedy Merge over the star nodes, spread over tasks. The driver holds all star sets.

    References
    ----------
    [star-merge] §V, Algorithms 4 and 5; docs/papers.md. The levels are ours.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.pipeline import join_stars
    >>> factory = tl.datasets.example()
    >>> sites = {"east": tl.design(factory.restrict([0, 1, 2])), "west": tl.design(factory.restrict([3, 4, 5]))}
    >>> digests = [tl.topic_digest(made.interest, salt="2026", site=site) for site, made in sites.items()]
    >>> stars = [tl.star_set(made, others=digests, site=site) for site, made in sites.items()]
    >>> [(link.src, link.dst) for link in join_stars(spark, stars).links]  # spark is your session
    [('lathe', 'press'), ('crane', 'office'), ('gate', 'office')]
    """
    given = collect_sites(star_sets, after)
    tables = [as_table(Piece(_NO_LINKS, stars, 0), number, len(stars.unit)) for number, stars in enumerate(given.stars)]
    counts = {number: counts_of(table) for number, table in enumerate(tables)}
    first = Level.of(from_arrow(spark, pa.concat_tables(tables)).persist(), counts, len(tables))
    levels = [first, *merged_levels(first, merge_limit, given.settings, Stages())]
    rows = ordered_links(levels, _NO_LINKS).orderBy(ORDER).select(SRC_ID, DST_ID).toArrow()
    links = np.column_stack([rows[SRC_ID].to_numpy(), rows[DST_ID].to_numpy()]).astype(np.int32)
    for level in levels:
        level.pieces.unpersist()
    return join_sites(given, star_sets, after, links, len(levels) - 1)
