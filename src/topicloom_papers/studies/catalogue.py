"""Studies out of tables: a TOML file for each paper, with cells, panels, and what the paper says."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from topicloom_papers.cells.cells import Cell, distinct
from topicloom_papers.cells.inputs import DATASETS
from topicloom_papers.cells.studies import Line, Panel, Published, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.answers import TABLES
from topicloom_papers.studies.formulas import POPULARITIES, Formula, alternatives, options_of

PAPERS = ("gm", "low-oda", "ktco", "dc", "churn", "real")
Table = Mapping[str, Any]


def studies() -> Iterator[Study]:
    """Every study, in the order of the papers; within a paper that of its table."""
    for paper in PAPERS:
        text = resources.files(__package__).joinpath(f"{paper}.toml").read_text(encoding="utf-8")
        table = tomllib.loads(text)
        names = table.pop("names", {})
        yield from (_study(name, one, names) for name, one in table.items())


def _study(name: str, table: Table, names: Mapping[str, str]) -> Study:
    return Study(
        name=name,
        **{key: table[key] for key in ("title", "source", "setting", "found", "remark") if key in table},
        grid=_grid(table["cells"]),
        panels=[panel for one in table.get("panels", ()) for panel in _panels(one, names)],
        published=[_published(row, names) for row in table.get("published", ())],
        table=_tables(table["tables"], names) if "tables" in table else None,
    )


def _grid(table: Table) -> Callable[[Scale], list[Cell]]:
    def grid(scale: Scale) -> list[Cell]:
        return distinct(cell for block in table[scale.name] for cell in _cells(scale, *block))

    return grid


def _cells(
    scale: Scale, measure: str, methods: Sequence[str], workloads: Sequence[str], repeats: Table
) -> Iterator[Cell]:
    """The cells of a block, those of one interest next to each other.

    ``repeats`` has the number of ``seeds``, which the user may choose, and the ``most`` of them.
    """
    chosen = scale.seeds if scale.seeds is not None else repeats.get("seeds", repeats.get("most"))
    choices = [one for text in methods for one in alternatives(options_of(text))]
    for workload in (one for text in workloads for one in alternatives(options_of(text))):
        if workload.get("popularity") == "zipf":
            workload.setdefault("alpha", 2.0)
        for seed in range(min(chosen, repeats.get("most", chosen))):
            for one in choices:
                options = {key: _option(value, workload) for key, value in one.items() if key != "method"}
                yield Cell(measure, one["method"], workload, options, seed)


def _option(value: Any, workload: Table) -> Any:
    """The value of an option; ``nodes/100`` is a partition for each 100 nodes."""
    return workload["nodes"] // 100 if value == "nodes/100" else value


def _panels(table: Table, names: Mapping[str, str]) -> Iterator[Panel]:
    """A panel; one for each popularity where the title has a place for its name."""
    for popularity in POPULARITIES if "{}" in table["title"] else (None,):
        more = {"popularity": popularity} if popularity else {}
        title = table["title"].format(POPULARITIES[popularity]) if popularity else table["title"]
        lines = [line for label, text in table["lines"].items() for line in _lines(label, text, names, more)]
        yield Panel(
            title,
            table["x"],
            table["x_label"],
            table["y_label"],
            lines,
            log_x=table.get("log_x", False),
            log_y=table.get("log_y", False),
        )


def _lines(label: str, text: str, names: Mapping[str, str], more: Table) -> Iterator[Line]:
    """A curve; one for each popularity where the label has a place for its name."""
    term = Formula(text, names).term()
    if "{}" in label:
        for popularity, name in POPULARITIES.items():
            yield Line(label.format(name), term.metric, {**term.where, "popularity": popularity})
    else:
        yield Line(label, term.metric, {**term.where, **more})


def _published(row: Sequence[Any], names: Mapping[str, str]) -> Published:
    """A row: what is said, how ours should stand to it, the number, ours, and whatever is not as usual."""
    says, relation, value, ours, *more = row
    rest: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for one in more for key, value in one.items()
    }
    return Published(says, value, Formula(ours, names), relation, **rest)


def _tables(tables: Sequence[Table], names: Mapping[str, str]) -> Callable[[Results], str]:
    """Markdown tables, one below the other."""

    def written(results: Results) -> str:
        return "\n\n".join(_table(results, table, names) for table in tables)

    return written


def _table(results: Results, table: Table, names: Mapping[str, str]) -> str:
    if "python" in table:
        return TABLES[table["python"]](results)
    if "by" in table:
        columns = {label: Formula(text, names) for label, text in table["columns"].items()}
        return table_by(results, table["by"], tuple(DATASETS), columns)
    heads, metrics = table["heads"], table["metrics"]
    lines = [_row([*heads, *metrics]), "|---" * len(heads) + "|" + "--:|" * len(metrics)]
    for *row, conditions in table["rows"]:
        where = options_of(conditions, names)
        lines.append(_row([*row, *(f"{results.mean(metric, **where):,.2f}" for metric in metrics.values())]))
    return "\n".join(lines)


def table_by(results: Results, x: str, rows: Sequence[Any], columns: Mapping[str, Formula]) -> str:
    """Markdown table of means: a row for each value of a column of the results, where there is one."""
    terms = {label: formula.term() for label, formula in columns.items()}
    found = {label: results.by(x, term.metric, **term.where) for label, term in terms.items()}
    lines = [_row(["", *columns]).replace("|  |", "| |", 1), "|---|" + "--:|" * len(columns)]
    for row in rows:
        if any(row in means.index for means in found.values()):
            lines.append(
                _row([row, *(f"{means[row]:,.2f}" if row in means.index else "–" for means in found.values())])
            )
    return "\n".join(lines)


def _row(values: Sequence[str]) -> str:
    return "| " + " | ".join(values) + " |"
