"""Write a design as an overlay directory, whole or not at all."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame

from topicloom.errors import OutputExistsError
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.overlay_directory import write_contents
from topicloom.files.write.parts import Part
from topicloom.model import ForbiddenLinks
from topicloom.runs.stages import Stages
from topicloom.spark.session.columns import ORDER, TOPIC
from topicloom.spark.steps.design import DesignResult

_LINKS_A_FILE = 1_000_000


def write_overlay(
    result: DesignResult, destination: str | Path, *, overwrite: bool = False, stages: Stages | None = None
) -> None:
    """Write the overlay directory that docs/architecture.md describes. It appears whole or not at all.

    Parameters
    ----------
    result : DesignResult
    destination : str or Path
        A folder that the driver and the executors share.
    overwrite : bool
        Whether an overlay that is there may be replaced.
    stages : Stages, optional
        Hears of progress and keeps the seconds.

    Returns
    -------
    None

    Raises
    ------
    OutputExistsError
        Something is there and may not be replaced, or the executors write elsewhere.

    See Also
    --------
    design_overlay : makes the result.
    topicloom.Overlay.load : reads the folder without Spark.

    Notes
    -----
    The cost is that of writing the five tables, and of a sort of the links.

    Examples
    --------
    >>> import topicloom as tl
    >>> from topicloom.pipeline import design_overlay, write_overlay
    >>> factory = tl.datasets.example()
    >>> rows = [(node, topic) for node in factory.node_labels.tolist() for topic in factory.topics_of(node)]
    >>> subscriptions = spark.createDataFrame(rows, ["node", "topic"])  # spark is your session
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_overlay(design_overlay(subscriptions, "gm"), folder + "/overlay")
    ...     tl.Overlay.load(folder + "/overlay")
    Overlay(6 nodes, 7 topics, 7 links, method gm)
    """
    with whole_directory(Path(destination), overwrite=overwrite) as staging:
        write_tables(result, staging, stages=stages)


def write_tables(
    result: DesignResult,
    folder: Path,
    *,
    forbidden: ForbiddenLinks = ForbiddenLinks(),
    stages: Stages | None = None,
) -> None:
    """Write the contents of an overlay directory into an empty folder."""
    stages = stages or Stages()
    tables = {
        "subscriptions": result.subscriptions,
        "links": _in_order(result.links, result.metrics.links),
        "nodes": result.nodes.sortWithinPartitions("id"),
        "topics": result.topics.sortWithinPartitions(TOPIC),
        "rejected": result.rejected,
    }
    write_contents(
        folder,
        parts_of(tables),
        metrics=result.metrics.to_dict(),
        run=lambda: {**result.run, "seconds": {**result.run["seconds"], **stages.seconds}},
        forbidden=forbidden,
        during=stages("write", "writing"),
    )


def parts_of(tables: Mapping[str, DataFrame]) -> dict[str, Part]:
    """DataFrames as parts of a folder, which the executors write."""
    return {name: partial(write_parquet, table) for name, table in tables.items()}


def write_parquet(table: DataFrame, folder: Path) -> None:
    """Write a table as Parquet files, and nothing but Parquet files, into a folder.

    Hadoop's checksums and its mark of success are removed, so that tools which read every file of a folder can.

    Raises
    ------
    OutputExistsError
        The executors write elsewhere.
    """
    table.write.mode("overwrite").parquet(str(folder))
    if not (folder / "_SUCCESS").is_file():
        raise OutputExistsError(
            f"the executors do not write where this process reads ({folder.parent}): choose a folder that both share"
        )
    for leftover in (*folder.glob(".*.crc"), folder / "_SUCCESS"):
        leftover.unlink(missing_ok=True)


def _in_order(links: DataFrame, count: int) -> DataFrame:
    """The links sorted as they were added, in one file or, if they are very many, in several that follow each other."""
    files = -(-count // _LINKS_A_FILE)
    ranged = links.coalesce(1) if files <= 1 else links.repartitionByRange(files, ORDER)
    return ranged.sortWithinPartitions(ORDER)
