"""The picture of a comparison: one panel for each metric, one bar for each method."""

from collections.abc import Sequence
from pathlib import Path

from topicloom.extras import needing
from topicloom.runs.comparison import Compared

# Okabe and Ito's colours, told apart with any colour vision; lightness differs too, for print.
_BEST, _OTHER, _REFERENCE = "#0072B2", "#56B4E9", "#BBBBBB"
_PANELS = (
    ("links", "links", "links"),
    ("degree: average, and maximum |", "average_degree", "max_degree"),
    ("topic diameter: mean, and maximum |", "mean_topic_diameter", "max_topic_diameter"),
    ("hops per message, mean", "mean_hops", "mean_hops"),
    ("unwanted relays", "unwanted_relays", "unwanted_relays"),
    ("seconds", "seconds", "seconds"),
)


def draw_comparison(compared: Sequence[Compared], title: str, folder: Path) -> None:
    """Write comparison.png and comparison.svg."""
    with needing("plot", "the picture of a comparison"):
        import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    shown = [one for one in compared if one.refused is None]
    names = [f"{one.name}{' ◆' if one.survives_one_failure else ''}" for one in shown]
    colours = [_BEST if one.pareto_best else _REFERENCE if one.reference else _OTHER for one in shown]
    hatches = ["//" if one.reference else "" for one in shown]
    with pyplot.rc_context({"svg.hashsalt": "topicloom", "hatch.linewidth": 0.5}):
        figure, axes = pyplot.subplots(
            2, 3, figsize=(13, 1.8 + 0.62 * max(len(shown), 3)), sharey=True, layout="constrained"
        )
        for axis, (label, bar, tick) in zip(axes.flat, _PANELS):
            values = [getattr(one, bar) for one in shown]
            ticks = [getattr(one, tick) for one in shown]
            finite = [value for value in (*values, *ticks) if value]
            # several powers of ten apart, small bars would vanish on a linear scale
            logarithmic = bool(finite) and max(finite) > 50 * min(finite)
            left = min(finite) / 3 if logarithmic else 0
            if logarithmic:
                axis.set_xscale("log")
            axis.barh(names, [value or 0 for value in values], color=colours, hatch=hatches, edgecolor="white")
            for place, (value, high) in enumerate(zip(values, ticks)):
                if not value:
                    unknown = " –" if bar == "seconds" else " ∞"
                    axis.text(left, place, unknown if value is None else " 0", va="center", fontsize=10)
                elif bar != tick:
                    axis.plot([high], [place], "|", color="black", markersize=12)
            axis.set_title(label, fontsize=10, loc="left")
            axis.set_xlim(left=left)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0, 0].invert_yaxis()
        figure.suptitle(f"{title}\n◆ every topic survives the failure of any one node", fontsize=11, x=0.01, ha="left")
        kinds = (
            Patch(facecolor=_BEST, label="Pareto-best"),
            Patch(facecolor=_OTHER, label="another is as good in all and better in one"),
            Patch(facecolor=_REFERENCE, hatch="//", edgecolor="white", label="reference (hatched)"),
        )
        figure.legend(handles=kinds, loc="outside lower left", ncols=3, frameon=False, fontsize=9)
        figure.savefig(folder / "comparison.png", dpi=150, metadata={"Software": None})
        figure.savefig(folder / "comparison.svg", metadata={"Date": None})
        pyplot.close(figure)
