"""The files of a run in rounds: what the links so far connect, and what finished rounds found.

A round is finished when its counts are there: they are written last.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.files.write.atomic import whole_file
from topicloom.kernels.rounds.standing import Standing
from topicloom.methods.rounds.round_steps import Round
from topicloom.model.arrays import Int32Array
from topicloom.spark.session.columns import DST_ID, ORDER, SRC_ID
from topicloom.spark.steps.shared_files import SharedFolder, interest_files


class RoundFolder(SharedFolder):
    """The folder of a run."""

    @property
    def interest(self) -> SharedFolder:
        """Where the interest is."""
        return interest_files(self.path)

    def keep_standing(self, rounds: int, s: Standing, degree: Int32Array) -> None:
        """Write what has changed of a `Standing` after a number of rounds, and the degrees of the nodes."""
        self.keep(f"label-{rounds}", s.label)
        self.keep(f"open-{rounds}", np.stack([s.largest, s.outside]))
        self.keep(f"degree-{rounds}", degree)

    def standing(self, rounds: int) -> Standing:
        """The `Standing` after a number of rounds."""
        largest, outside = self.read(f"open-{rounds}", writable=True)
        return Standing(
            self.interest.read("indptr"),
            self.interest.read("topics"),
            self.read(f"label-{rounds}", writable=True),
            self.read("weight", writable=True),
            largest,
            outside,
            self.read("subscribers", writable=True),
        )

    def finished(self) -> list[Round]:
        """The rounds that are done."""
        rounds: list[Round] = []
        while (facts := self.facts(f"round-{len(rounds)}")) is not None:
            rounds.append(Round(**facts))
        return rounds

    def keep_links(self, number: int, links: Int32Array, before: int) -> None:
        """Write the links of a round. ``before`` is how many earlier rounds have."""
        order = np.arange(before, before + len(links), dtype=np.int64)
        with whole_file(self.links(number)) as file:
            pq.write_table(pa.table({SRC_ID: links[:, 0], DST_ID: links[:, 1], ORDER: order}), file)

    def links(self, number: int) -> Path:
        """Where the links of a round are."""
        return self.path / f"links-{number}.parquet"
