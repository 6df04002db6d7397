"""Where finished cells are kept: a journal of Parquet files, folded into one file when a run begins and ends."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from topicloom.errors import OutputExistsError
from topicloom.files.write.atomic import remove_leftovers, whole_file
from topicloom_papers.cells.cells import Cell

SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("fingerprint", pa.string()),
        ("cell", pa.string()),
        ("metric", pa.string()),
        ("at", pa.float64()),
        ("value", pa.float64()),
        ("seconds", pa.float64()),
    ]
)


class CellStore:
    """Values of the cells finished so far, under the output folder of a study run.

    A wave of cells becomes a file of the journal in one rename, so that a run that is killed loses the wave under way
    and nothing else.
    """

    def __init__(self, out: Path) -> None:
        self._journal = out / "cells"
        self.path = out / "results" / "results.parquet"
        try:
            self._journal.mkdir(parents=True, exist_ok=True)
            self.path.parent.mkdir(exist_ok=True)
            for folder in (out, self._journal, self.path.parent):
                remove_leftovers(folder)
        except OSError as error:
            raise OutputExistsError(f"cannot write {out}: {error.strerror}") from None

    def load(self) -> pa.Table:
        """Load all values, those of a cell together. Of a cell that is stored twice the later ones count."""
        files = [self.path, *sorted(self._journal.glob("*.parquet"))]
        tables = [parquet.read_table(path, schema=SCHEMA) for path in files if path.exists()]
        last = {key: number for number, table in enumerate(tables) for key in table["key"].unique().to_pylist()}
        kept = [
            table.filter(pa.array([last[key] == number for key in table["key"].to_pylist()], pa.bool_()))
            for number, table in enumerate(tables)
        ]
        return pa.concat_tables(kept) if kept else SCHEMA.empty_table()

    def add(self, table: pa.Table) -> None:
        """Add the values of a wave."""
        number = 1 + max((int(path.stem) for path in self._journal.glob("*.parquet")), default=0)
        write_whole(table.cast(SCHEMA), self._journal / f"{number:06d}.parquet")

    def fold(self) -> None:
        """Put everything into one file, sorted, and empty the journal."""
        files = list(self._journal.glob("*.parquet"))
        if files:
            table = self.load().sort_by([("cell", "ascending"), ("metric", "ascending"), ("at", "ascending")])
            write_whole(table, self.path)
            for path in files:
                path.unlink()

    def prune(self, known: Collection[str]) -> int:
        """Forget cells that no study asks for any more, whatever their seed. Returns how many.

        ``known`` are `Cell.kind`s. A study that changed leaves cells behind that nothing would ever read again.
        """
        self.fold()
        table = self.load()
        kinds = {text: Cell.parse(text).kind in known for text in table["cell"].unique().to_pylist()}
        kept = table.filter(pa.array([kinds[text] for text in table["cell"].to_pylist()], pa.bool_()))
        if len(kept) < len(table):
            write_whole(kept, self.path)
        return sum(not is_known for is_known in kinds.values())

    def missing(self, cells: Iterable[Cell], fingerprint: Callable[[Cell], str]) -> list[Cell]:
        """Cells that are not there yet, or were measured by other code."""
        table = self.load()
        done = set(zip(table["key"].to_pylist(), table["fingerprint"].to_pylist()))
        return [cell for cell in cells if (cell.key, fingerprint(cell)) not in done]


def write_whole(table: pa.Table, path: Path) -> None:
    """Write a Parquet file that appears whole or not at all."""
    with whole_file(path) as file:
        parquet.write_table(table, file, compression="zstd")
