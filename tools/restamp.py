"""Give stored results the fingerprints of today's code, where a sample measured again gives the same values.

    python tools/restamp.py docs/results/results.parquet [--seconds 20]

A change that renames or splits what a measurement runs makes stored values void, though it changes none. This measures
a sample of the void cells of each measurement and method again: one of each kind, the cheapest first, until that many
seconds have passed (at least one cell). Where all values of the sample come out as stored, every void cell of that
measurement and method gets the new fingerprint; else none does. That is evidence and no proof: where the seconds run
out, kinds are not sampled at all, and of a kind that is, one cell stands for the rest. The output says how many cells
were measured again; ``make study`` on an empty folder measures all.
Times never come out the same: cells that hold them keep their fingerprint, and the next ``make study`` measures them.
Cells on real interests are compared where ``TOPICLOOM_DATASETS`` names them.
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from topicloom_papers.cells.cell_store import SCHEMA, write_whole
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import available
from topicloom_papers.measurements import MEASUREMENTS

Stored = dict[str, dict[tuple[str, float | None], float]]


def stored_values(table: pa.Table) -> tuple[Stored, dict[str, float]]:
    """Return the values of each cell by metric and place, and the seconds that each cell took."""
    values: Stored = defaultdict(dict)
    seconds: dict[str, float] = {}
    for row in table.select(["cell", "metric", "at", "value", "seconds"]).to_pylist():
        values[row["cell"]][row["metric"], row["at"]] = row["value"]
        seconds[row["cell"]] = row["seconds"]
    return values, seconds


def cheapest_of_each_kind(cells: list[str], seconds: dict[str, float]) -> list[Cell]:
    """Return one cell of each kind, the cheapest first."""
    kinds: dict[str, str] = {}
    for text in sorted(cells, key=lambda text: (seconds[text], text)):
        kinds.setdefault(Cell.parse(text).kind, text)
    return [Cell.parse(text) for text in kinds.values()]


def same_again(cells: list[Cell], stored: Stored, allowed: float) -> tuple[int, str]:
    """Measure cells again. Returns how many came out as stored, and the first that did not."""
    began, same = time.monotonic(), 0
    for cell in cells:
        if same and time.monotonic() - began > allowed:
            break
        values = MEASUREMENTS[cell.measurement].function(cell)
        if {(value.metric, value.at): float(value.value) for value in values} != stored[cell.text]:
            return same, cell.text
        same += 1
    return same, ""


def restamp(path: Path, allowed: float) -> None:
    """Restamp a file of results in place, and say what was compared."""
    table = parquet.read_table(path, schema=SCHEMA)
    stored, seconds = stored_values(table)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for text in stored:
        cell = Cell.parse(text)
        groups[cell.measurement, cell.method].append(text)
    stamps = dict(zip(table["cell"].to_pylist(), table["fingerprint"].to_pylist()))
    for (measurement, method), cells in sorted(groups.items()):
        kind = MEASUREMENTS[measurement]
        current = {text: kind.fingerprint(Cell.parse(text)) for text in cells}
        void = [text for text in cells if stamps[text] != current[text]]
        said = f"{measurement} {method}: {len(cells)} cells"
        if not void:
            print(f"{said}, all of today's code")
        elif kind.alone:
            print(f"{said}, times: left as they are")
        else:
            same, other = same_again([c for c in cheapest_of_each_kind(void, seconds) if available(c)], stored, allowed)
            if other or not same:
                print(f"{said}, {len(void)} void, left as they are: {f'{other} differs' if other else 'none compared'}")
            else:
                stamps |= {text: current[text] for text in void}
                print(f"{said}, {len(void)} restamped, {same} measured again", flush=True)
    column = pa.array([stamps[text] for text in table["cell"].to_pylist()], pa.string())
    write_whole(table.set_column(table.schema.get_field_index("fingerprint"), "fingerprint", column), path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    restamp(given.results, given.seconds)
