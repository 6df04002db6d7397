"""Decentralised operation (star-merge §VI-C, gm-min-tco §6.4, shadows §V), for which no paper has numbers."""

from typing import Any

from topicloom_papers.cells.cells import Cell, distinct
from topicloom_papers.cells.studies import Line, Panel, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.shared import cells, table_of, workload

FAULTS: dict[str, dict[str, float]] = {
    "no faults": {},
    "10 % lost": {"loss": 0.1},
    "20 % lost": {"loss": 0.2},
    "20 % lost, 5 % crash": {"loss": 0.2, "crashes": 0.05},
}
LEAVES: dict[str, dict[str, float]] = {
    "one node": {"rack": 1},
    "one node, 20 % lost": {"rack": 1, "loss": 0.2},
    "ten neighbours at once": {"rack": 10},
    "ten neighbours at once, 20 % lost": {"rack": 10, "loss": 0.2},
}
LARGE = 10_000  # nodes; minutes of processor time for each run
CLASSES = {"star": "star nodes", "speaker": "speakers that are none", "other": "others"}
LEARNING = ("no faults", "20 % lost, 5 % crash")


def _grid(scale: Scale) -> list[Cell]:
    made: list[Cell] = []
    for n in scale.pick(quick=(200,), paper=(300, 600, 1000)):
        choices = [("dc", {"partitions": n // 100, **faults}) for faults in FAULTS.values()]
        made += cells("decentral-dc", choices, [workload(n, 100, 20)], scale.seed_range(2))
    if scale.name == "paper":
        large = [("dc", {"partitions": LARGE // 100, **FAULTS[name]}) for name in ("no faults", "20 % lost, 5 % crash")]
        made += cells("decentral-dc", large, [workload(LARGE, 100, 20)], range(1))
    sizes = [("dc", {"partitions": p}) for p in scale.pick(quick=(2, 5), paper=(2, 5, 10, 20, 40, 100))]
    made += cells("decentral-dc", sizes, [workload(scale.pick(quick=200, paper=1000), 100, 20)], scale.seed_range(2))
    learning = [("dc", {"partitions": scale.pick(quick=2, paper=10), **FAULTS[name]}) for name in LEARNING]
    made += cells("decentral-learnt", learning, [workload(scale.pick(quick=200, paper=1000), 100, 20)], range(1))
    left = [("shadow", options) for options in LEAVES.values()]
    nodes = scale.pick(quick=(200,), paper=(300, 600, 1000))
    made += cells("decentral-leaves", left, [workload(n, 100, 20) for n in nodes], scale.seed_range(2))
    return distinct(made)


def _where(faults: dict[str, float]) -> dict[str, Any]:
    return {"measurement": "decentral-dc", "loss": faults.get("loss"), "crashes": faults.get("crashes")}


def _table(results: Results) -> str:
    metrics = {
        "messages per node": "messages_per_node",
        "of these to watch peers": "watching_per_node",
        "tries per node": "tries_per_node",
        "kB per node": "kilobytes_per_node",
        "rounds": "rounds",
        "connected at": "connected_at",
        "links over the centre's": "links_of_centre",
    }
    rows = [
        ((label, f"{n:,}"), {**_where(FAULTS[label]), "nodes": n, "partitions": n // 100})
        for n, labels in ((1000, list(FAULTS)), (LARGE, ["no faults", "20 % lost, 5 % crash"]))
        for label in labels
    ]
    by_nodes = table_of(results, ["100 nodes per partition", "nodes"], metrics, rows)
    return "\n\n".join([by_nodes, _learnt(results), _leaves(results)])


def _learnt(results: Results) -> str:
    """The distribution of pn-ratio(v)."""
    percents = {"least": 0, "a quarter": 25, "half": 50, "three quarters": 75, "nine tenths": 90, "most": 100}
    lines = [
        "| pn-ratio(v) that so many nodes do not exceed, 1,000 nodes | " + " | ".join(percents) + " |",
        "|---|" + "--:|" * len(percents),
    ]
    for faults in LEARNING:
        for name, label in CLASSES.items():
            found = results.by("at", f"learnt_by_{name}", **_learning(faults), nodes=1000)
            values = " | ".join(f"{found[percent]:.1%}" for percent in percents.values())
            lines.append(f"| {label}, {faults} | {values} |")
    return "\n".join(lines)


def _learning(faults: str) -> dict[str, Any]:
    return {**_where(FAULTS[faults]), "measurement": "decentral-learnt"}


def _leaves(results: Results) -> str:
    metrics = {
        "shadows": "shadows",
        "messages": "messages_per_leave",
        "kB": "kilobytes_per_leave",
        "rounds": "rounds",
        "time": "repair_time",
        "links added": "links_per_leave",
        "by a maintainer that sees all": "central_links_per_leave",
        "backup sets renewed": "renewed",
        "messages for these": "upkeep_messages",
        "nodes that lack backups": "uncovered",
        "topics left cut": "broken_topics",
    }
    rows = [((label,), {**_left(options), "nodes": 1000}) for label, options in LEAVES.items()]
    return table_of(results, ["who fails, 1,000 nodes"], metrics, rows)


def _left(options: dict[str, float]) -> dict[str, Any]:
    return {"measurement": "decentral-leaves", "rack": options["rack"], "loss": options.get("loss")}


def _by_nodes(title: str, y_label: str, metric: str, *, log: bool = False) -> Panel:
    lines = [Line(label, metric, {**_where(faults), "partition_size": 100}) for label, faults in FAULTS.items()]
    return Panel(title, "nodes", "nodes (100 per partition)", y_label, lines, log_x=True, log_y=log)


STUDY = Study(
    name="dc-decentral",
    title="without a centre: messages, interests learnt, time",
    source="star-merge-divide-and-conquer, §VI-C and §VII, and Reinforce Your Overlay with Shadows, §V; no figure",
    setting="`tl.simulate_dc` and `tl.simulate_leaves`: 100 topics, exactly 20 per node, Unif. A message takes "
    "0.5 to 1.5 units of time, is tried up to ten times, four units apart; crashes happen within the "
    "first 60 units, and nodes look after their peers every ten units while there are crashes. A number "
    "is four bytes, a header twelve. Leaves: every fiftieth node in turn, or each two hundredth with the nine nearest "
    "to it, at once; 300 nodes and more, Low-ODA. 10,000 nodes: one seed. Every run is judged. Who is in which "
    "partition all nodes know from the start: the first step of §VI-C is not played, and its messages are not counted.",
    found="No paper counts messages. §VII says that a node has to learn the interests of its partition, and a "
    "star node those of all other star nodes as well.",
    remark="Without crashes the links are the centre's. With them, new star nodes and links take the place of "
    "those lost, and the time is that of noticing: ten tries take forty units. Speakers hand star sets "
    "on, and learn what star nodes learn. Within a class nodes learn alike: the highest pn-ratio(v), which the "
    "paper reports, is that of all star nodes, a tenth of the nodes. The one that leads a local repair has a wave "
    "look eight links further whether pieces of a topic hang together: that takes messages and saves links; few more "
    "are added than by one that sees all. After one leave Step III takes most messages: each node that lost a backup "
    "asks for candidates, and tells its neighbours and backups of its new ones. When neighbours fail together, "
    "those who lead find out by tries in vain and search the overlay for others who knew them.",
    grid=_grid,
    panels=[
        _by_nodes("messages", "messages per node", "messages_per_node"),
        _by_nodes("time until all topics are connected", "units of mean delay", "connected_at", log=True),
        Panel(
            "interests learnt, 1,000 nodes, no faults",
            "partitions",
            "partitions",
            "pn-ratio(v), mean",
            [Line(label, f"pn_ratio_{name}", {**_where({}), "nodes": 1000}) for name, label in CLASSES.items()],
            log_x=True,
            log_y=True,
        ),
        Panel(
            "interests learnt, 10 partitions",
            "at",
            "share of the nodes of a class, %",
            "pn-ratio(v) at most",
            [
                Line(f"{label}, {faults}", f"learnt_by_{name}", _learning(faults))
                for faults in LEARNING
                for name, label in CLASSES.items()
            ],
        ),
        Panel(
            "a leave",
            "nodes",
            "nodes",
            "per leave",
            [
                Line("messages", "messages_per_leave", _left(LEAVES["one node"])),
                Line("messages, 20 % lost", "messages_per_leave", _left(LEAVES["one node, 20 % lost"])),
                Line("links added", "links_per_leave", _left(LEAVES["one node"])),
                Line("links added by the centre", "central_links_per_leave", _left(LEAVES["one node"])),
                Line("messages for backups", "upkeep_messages", _left(LEAVES["one node"])),
            ],
            log_y=True,
        ),
    ],
    table=_table,
)
