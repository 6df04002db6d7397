"""Write a design as an overlay directory, whole or not at all."""

from pathlib import Path

from topicloom.errors import OutputExistsError
from topicloom.model.directory import write_json
from topicloom.model.publish import whole_directory
from topicloom.pipeline.columns import NODE, ORDER, TOPIC
from topicloom.pipeline.overlay import DesignResult
from topicloom.pipeline.stages import Stages


def write_overlay(
    result: DesignResult, destination: Path, *, overwrite: bool = False, stages: Stages | None = None
) -> None:
    """Write the overlay directory that `topicloom.model.directory` describes.

    The destination must be a path that the driver and the executors share.
    """
    stages = stages or Stages()
    with whole_directory(destination, overwrite=overwrite) as staging:
        with stages("write", "writing"):
            tables = {
                "subscriptions": result.subscriptions.sortWithinPartitions(NODE, TOPIC),
                "links": result.links.coalesce(1).sortWithinPartitions(ORDER),
                "nodes": result.nodes.sortWithinPartitions("id"),
                "topics": result.topics.sortWithinPartitions(TOPIC),
                "rejected": result.rejected,
            }
            for name, table in tables.items():
                table.write.parquet(str(staging / name))
                if not (staging / name).is_dir():
                    raise OutputExistsError(
                        f"the executors do not write where this process reads ({destination}): "
                        "choose a folder that both share"
                    )
        write_json(staging / "metrics.json", result.metrics.to_dict())
        write_json(staging / "run.json", {**result.run, "seconds": stages.seconds or result.run["seconds"]})
