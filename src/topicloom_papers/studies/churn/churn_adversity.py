"""Churn under other popularities, and churn that is not random. The paper has neither."""

from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.studies import Line, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.shared import POPULARITIES, cells, over_popularities, table_of

SCENES = {
    "random": "a random node leaves",
    "hub": "the node of most links leaves",
    "rack": "twenty neighbouring nodes fail",
    "crowd": "a crowd comes for one topic, then goes",
}


def _grid(scale: Scale) -> list[Cell]:
    drawn: list[dict[str, Any]] = []
    for popularity in POPULARITIES:
        sizes = {"sizes": "power-law", "min_size": 10, "max_size": 90, "popularity": popularity}
        alpha = {"alpha": 2.0} if popularity == "zipf" else {}
        drawn.append({"nodes": scale.pick(quick=100, paper=1000), "topics": 200, **sizes, **alpha})
    rounds = {"rounds": scale.pick(quick=40, paper=400), "every": 20}
    choices = [("shadow", {"scene": scene, **rounds}) for scene in SCENES]
    return cells("adversity", choices, drawn, scale.seed_range(3))


def _table(results: Results) -> str:
    metrics = {
        "maximum degree over a fresh design's, worst look": "worst_max_degree_of_fresh",
        "average degree over a fresh design's, mean": "mean_average_degree_of_fresh",
        "links changed per event": "links_changed_per_event",
        "most in a round": "most_links_changed_in_a_round",
    }
    rows = [
        ((says, name), {"scene": scene, "popularity": popularity})
        for scene, says in SCENES.items()
        for popularity, name in POPULARITIES.items()
    ]
    return table_of(results, ["what goes", "popularity"], metrics, rows)


def _curves(popularity: str) -> list[Line]:
    where = {"popularity": popularity}
    return [Line(says, "max_degree_of_fresh", {"scene": scene, **where}) for scene, says in SCENES.items()]


STUDY = Study(
    name="churn-adversity",
    title="other popularities, and churn that is not random",
    source="shadows-churn; no figure",
    setting="1,000 nodes, 200 topics, power-law sizes from 10 to 90; Unif, Zipf 2.0, Expo; Shadow with ρ = 3 and "
    "λ = 3; 400 rounds, judged every 20 and set beside a fresh Low-ODA design of the nodes that are there. A node "
    "joins in every other round and one leaves in the next, drawn or the one of most links; or nineteen join, and then "
    "twenty neighbours leave one after the other in one round; or 200 nodes join with one topic in common and two "
    "more each, and leave again.",
    found="The paper's figures are under uniform popularity and random churn.",
    remark="The average degree stays within 13 % of a fresh design's in every scene. What grows is the maximum: half "
    "above a fresh one under random churn with uniform popularity, less where popularity is skewed, and twice as high "
    "after twenty racks. Where hubs leave, two to three times as many links change per event as under random churn; a "
    "newcomer of the crowd costs one or two.",
    grid=_grid,
    panels=over_popularities("at", "round", "maximum degree over a fresh design's", "maximum degree", _curves),
    table=_table,
)
