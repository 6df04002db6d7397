"""ktco-gm2-hararypt, §VIII and Appendix D: what the text says of curves without a number."""

from collections.abc import Callable
from typing import Any

from topicloom_papers.cells.studies import AT_LEAST, AT_MOST, Published
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.ktco.ktco_shared import CYCLE, DEGREE, GM, GM2, PLOTTED
from topicloom_papers.studies.shared import (
    POPULARITIES,
    growth,
    linearity,
    ratio,
    trend,
    tried,
)

SKEWED = ("exponential", "zipf")


def _of_all(pick: Callable[..., float], step: Callable[..., float], x: str, **where: Any) -> Callable[[Results], float]:
    """The largest or smallest answer among the popularities."""
    return lambda results: pick(step(results, x, DEGREE, **where, popularity=p) for p in POPULARITIES)


def _harary(k: int) -> dict[str, Any]:
    return {"method": "harary-pt", "k": k}


def _largest_over(results: Results, x: str, one: dict[str, Any], other: dict[str, Any]) -> float:
    """Largest ratio of two curves, over all points and popularities."""
    return max(
        float((results.by(x, DEGREE, **one, popularity=p) / results.by(x, DEGREE, **other, popularity=p)).max())
        for p in POPULARITIES
    )


def by_nodes() -> list[Published]:
    """Figure 3."""
    fall = "degree at the most nodes over that at the fewest, largest of the popularities (it falls)"
    ks = {"method": "harary-pt", "k": PLOTTED}
    return [
        *(
            trend(f"{name}'s {fall}", 1, _of_all(max, growth, "nodes", **method), AT_MOST)
            for name, method in (("GM2", GM2), ("GM", GM))
        ),
        trend(
            "CyclePT's degree at the most nodes over that at the fewest, least of the popularities (it rises)",
            1,
            _of_all(min, growth, "nodes", **CYCLE),
            AT_LEAST,
        ),
        trend(
            "GM2's degree over that of HararyPT's 2TCO, largest of all (GM2 outperforms HararyPT)",
            1,
            lambda r: _largest_over(r, "nodes", GM2, _harary(2)),
            AT_MOST,
        ),
        trend(
            "HararyPT's degree at k = 10 over that at k = 2, least of the popularities (it increases with k)",
            1,
            _of_all(min, growth, "k", **ks),
            AT_LEAST,
        ),
        trend(
            "HararyPT's degree under Expo and Zipf over that under Unif, largest of all even k (better where skewed)",
            1,
            lambda r: max(
                float((r.by("k", DEGREE, **ks, popularity=p) / r.by("k", DEGREE, **ks, popularity="uniform")).max())
                for p in SKEWED
            ),
            AT_MOST,
        ),
    ]


def _advantage(results: Results, popularity: str) -> float:
    return ratio(results, "topics", DEGREE, {**CYCLE, "popularity": popularity}, {**GM2, "popularity": popularity})


def _gm2_growth(results: Results, popularity: str) -> float:
    return growth(results, "topics", DEGREE, **GM2, popularity=popularity)


def by_topics() -> list[Published]:
    """Figure 4 and Appendix D-A."""
    rise = "degree at the most topics over that at the fewest, least of the popularities (it increases)"
    return [
        *(
            trend(f"{name}'s {rise}", 1, _of_all(min, growth, "topics", **method), AT_LEAST)
            for name, method in (("GM2", GM2), ("GM", GM))
        ),
        trend(
            "HararyPT's degree at the most topics over that at the fewest, least of all popularities and even k (it "
            "increases)",
            1,
            lambda r: min(_of_all(min, growth, "topics", **_harary(k))(r) for k in PLOTTED),
            AT_LEAST,
        ),
        trend(
            "growth of GM2's degree with topics under Unif over that under Expo or Zipf (more pronounced for Unif)",
            1,
            lambda r: _gm2_growth(r, "uniform") / max(_gm2_growth(r, p) for p in SKEWED),
            AT_LEAST,
        ),
        trend(
            "CyclePT's degree over GM2's under Expo or Zipf over that under Unif (more advantage where correlated)",
            1,
            lambda r: min(_advantage(r, p) for p in SKEWED) / _advantage(r, "uniform"),
            AT_LEAST,
        ),
    ]


def _gap(results: Results, popularity: str, few: int) -> float:
    """GM2's degree above GM's at 100 topics per node, over the same at fewer."""
    many, less = (
        results.mean(DEGREE, **GM2, popularity=popularity, subscriptions=s)
        - results.mean(DEGREE, **GM, popularity=popularity, subscriptions=s)
        for s in (100, few)
    )
    return many / less


def by_sizes() -> list[Published]:
    """Figure 5 and Appendix D-B."""
    shrinks = "GM2's degree above GM's at 100 per node over that at {}, {} (the difference shrinks)"
    return [
        trend(
            "GM's degree at 100 per node over that at 10, largest of the popularities (it decreases)",
            1,
            _of_all(max, growth, "subscriptions", **GM),
            AT_MOST,
            why="gm2-by-size",
            shown_by=("gm-from-50",),
        ),
        tried(
            "GM's degree at 100 per node over that at 50, largest of the popularities",
            1,
            _of_all(max, growth, "subscriptions", **GM, subscriptions=(50, 60, 100)),
            AT_MOST,
            key="gm-from-50",
        ),
        *(
            trend(
                shrinks.format(10, name),
                1,
                lambda r, p=p: _gap(r, p, 10),  # type: ignore[misc]
                AT_MOST,
                why="gm2-by-size",
                shown_by=(f"gap-from-50-{p}",),
            )
            for p, name in POPULARITIES.items()
        ),
        *(
            tried(
                shrinks.format(50, name).partition(" (")[0],
                1,
                lambda r, p=p: _gap(r, p, 50),  # type: ignore[misc]
                AT_MOST,
                key=f"gap-from-50-{p}",
            )
            for p, name in POPULARITIES.items()
        ),
        trend(
            "correlation of CyclePT's degree with the topics per node, least of the popularities (it is linear)",
            1,
            _of_all(min, linearity, "subscriptions", **CYCLE),
        ),
        trend(
            "HararyPT's degree over CyclePT's, largest of all even k up to 10, sizes and popularities (it is lower for "
            "all k)",
            1,
            lambda r: max(_largest_over(r, "subscriptions", _harary(k), CYCLE) for k in PLOTTED),
            AT_MOST,
            why="harary-by-size",
            shown_by=("harary-from-50",),
        ),
        tried(
            "HararyPT's degree over CyclePT's, largest of all even k up to 10 and popularities, 50 per node and more",
            1,
            lambda r: max(
                _largest_over(r, "subscriptions", {**_harary(k), "subscriptions": (50, 60, 100)}, CYCLE)
                for k in PLOTTED
            ),
            AT_MOST,
            key="harary-from-50",
        ),
    ]
