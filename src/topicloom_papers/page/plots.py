"""Plots of studies: SVG and PNG, told apart with any colour vision and in print, the same for the same numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.extras import needing
from topicloom_papers.cells.studies import Line, Panel, Study
from topicloom_papers.page.lookup import NotMeasuredError, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's colours; markers and dashes differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
MOST_COLUMNS = 3


def draw(study: Study, results: Results, folder: Path) -> bool:
    """Write NAME.svg and NAME.png. Returns False when nothing of the study has been measured."""
    drawable = [(panel, lines) for panel in study.panels if (lines := _measured(panel, results))]
    if not drawable:
        return False
    with needing("plot", "drawing a figure"):
        import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    columns = min(len(drawable), MOST_COLUMNS)
    rows = -(-len(drawable) // columns)
    settings: dict[str, Any] = {"svg.hashsalt": "topicloom", "svg.fonttype": "none", "font.size": 10}
    with pyplot.rc_context(settings):  # type: ignore[arg-type]
        figure, axes = pyplot.subplots(
            rows,
            columns,
            figsize=(max(0.6 + 4.1 * columns, 6.4), 0.6 + 3.4 * rows),
            squeeze=False,
            layout="constrained",
        )
        for axis, (panel, lines) in zip(axes.flat, drawable):
            _draw_panel(axis, panel, lines, results)
        labels = [tuple(axis.get_legend_handles_labels()[1]) for axis in axes.flat[: len(drawable)]]
        if (
            len(drawable) > 1 and len(set(labels)) == 1 and len(labels[0]) > 1
        ):  # the same curves everywhere: one legend, beside none of them
            figure.legend(
                *axes.flat[0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=min(len(labels[0]), 4 * columns if len(labels[0]) <= 4 * columns else 3 * columns),
                fontsize=9,
                frameon=False,
            )
        else:
            for axis in axes.flat[: len(drawable)]:
                axis.legend(fontsize=8, framealpha=0.9)
        for axis in list(axes.flat)[len(drawable) :]:
            axis.axis("off")
        figure.suptitle(f"{study.source}:{' ' if columns > 1 else chr(10)}{study.title}", fontsize=11)
        figure.savefig(folder / f"{study.name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{study.name}.png", dpi=150, metadata={"Software": None})
        pyplot.close(figure)
    return True


def _measured(panel: Panel, results: Results) -> list[Line]:
    """The curves of a panel for which there are cells."""
    found = []
    for line in panel.lines:
        try:
            results.by(panel.x, line.metric, **line.where)
        except (NotMeasuredError, KeyError):
            continue
        found.append(line)
    return found


def _draw_panel(axis: "Axes", panel: Panel, lines: Sequence[Line], results: Results) -> None:
    for line in lines:
        number = list(panel.lines).index(line)
        means = results.by(panel.x, line.metric, **line.where)
        deviations = results.spread(panel.x, line.metric, **line.where)
        named = means.index.dtype.kind not in "if"
        places = means.index.to_numpy()
        crowded = len(places) > 30
        axis.errorbar(
            places,
            means.to_numpy(),
            yerr=deviations.to_numpy() if deviations.max() > 0 else None,
            label=line.label,
            color=COLOURS[number % len(COLOURS)],
            marker="" if crowded else MARKERS[number % len(MARKERS)],
            linestyle="none" if named else DASHES[number % len(DASHES)],
            markersize=7 if named else 4.5,
            linewidth=1.4,
            capsize=2.5,
            elinewidth=0.9,
        )
    for label, value in panel.marks:
        axis.axhline(value, color="#555555", linestyle=(0, (1, 2)), linewidth=1.2, label=label)
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    if panel.log_x:
        axis.set_xscale("log")
        _readable(axis.xaxis)
    if panel.log_y:
        axis.set_yscale("log")
        _readable(axis.yaxis)
    else:
        axis.set_ylim(bottom=0)
    if any(isinstance(place, str) for line in lines for place in results.by(panel.x, line.metric, **line.where).index):
        axis.tick_params(axis="x", labelrotation=25)
    axis.grid(alpha=0.3)


def _readable(axis: "Axis") -> None:
    """Numbers as people write them on a logarithmic axis, not powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
