"""The papers' questions, asked of six real interests, which no paper did."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import DATASETS
from topicloom_papers.cells.studies import Line, Panel, Scale, Study
from topicloom_papers.page.lookup import Results
from topicloom_papers.studies.shared import Choice, Column, cells, table_by

SMALL = ("ros2_autoware", "mastodon_instances", "mastodon_accounts")
MEDIUM = (*SMALL, "github_follow", "msweb_areas")
PARTITIONS = {
    "ros2_autoware": 5,
    "mastodon_instances": 5,
    "mastodon_accounts": 10,
    "github_follow": 20,
    "msweb_areas": 30,
    "twitter_follow": 70,
}
DEGREE = "average_degree"
SETTING = "Real interests, from 94 nodes (ROS 2) to 70,095 (Twitter); they are not part of the project."


def _cells(
    measurement: str, choices: Sequence[Choice], names: Sequence[str], seeds: Mapping[str, int], scale: Scale
) -> list[Cell]:
    chosen = scale.pick(quick=SMALL[:1], paper=names)
    return [
        cell
        for name in chosen
        if name in names
        for cell in cells(measurement, choices, [{"dataset": name}], scale.seed_range(seeds.get(name, 1)))
    ]


SEEDS = {"ros2_autoware": 10, "mastodon_instances": 10, "mastodon_accounts": 10, "github_follow": 2, "msweb_areas": 2}


def _degrees(scale: Scale) -> list[Cell]:
    others = _cells("design", [("low-oda", {"rho": 3}), ("minmax-oda", {})], MEDIUM, SEEDS, scale)
    return [*_cells("design", [("gm", {}), ("ring-pt", {})], tuple(DATASETS), SEEDS, scale), *others]


def _diameters(scale: Scale) -> list[Cell]:
    choices: list[Choice] = [
        ("gm", {}),
        ("2d-oda", {}),
        ("cd-oda", {}),
        ("cd-oda-1", {}),
        ("cd-oda-2", {}),
        ("gm2", {}),
    ]
    return _cells("diameters", choices, SMALL, SEEDS, scale)


def _failures(scale: Scale) -> list[Cell]:
    choices: list[Choice] = [("gm", {}), ("gm2", {}), ("cycle-pt", {}), *(("harary-pt", {"k": k}) for k in (2, 4))]
    return _cells("design", choices, SMALL, SEEDS, scale)


def _divided(scale: Scale) -> list[Cell]:
    made = _cells("design", [("gm", {})], tuple(DATASETS), SEEDS, scale)
    for name, partitions in PARTITIONS.items():
        divisions = ("random", "similar") if name in MEDIUM else ("similar",)
        choices: list[Choice] = [("dc", {"partitions": partitions, "division": division}) for division in divisions]
        made += _cells("design", choices, (name,), SEEDS, scale)
    return made


def _panel(title: str, metric: str, y_label: str, curves: Mapping[str, dict[str, Any]]) -> Panel:
    lines = [Line(label, metric, where) for label, where in curves.items()]
    return Panel(title, "dataset", "", y_label, lines, log_y=True)


def _by_dataset(columns: Mapping[str, Column]) -> Callable[[Results], str]:
    return lambda results: table_by(results, "dataset", tuple(DATASETS), columns)


_FEW = {"GM": {"method": "gm"}, "Low-ODA": {"method": "low-oda"}, "MinMax-ODA": {"method": "minmax-oda"}}
STUDIES = (
    Study(
        name="real-degree",
        title="what interest-aware links save",
        source="Real interests",
        setting=SETTING,
        found="gm-min-tco and low-oda ask for average and maximum degrees of GM, Low-ODA, MinMax-ODA and a ring per "
        "topic.",
        remark="GM needs fewer links than a ring per topic everywhere, and the more topics a node wants the fewer: "
        "most on twitter_follow and mastodon_instances. Its hubs are the price: on msweb_areas, with few and huge "
        "topics, GM's maximum degree is far above that of the rings, and Low-ODA takes it down to a fortieth of GM's "
        "for a few per cent more links. On the social graphs Low-ODA halves it. MinMax-ODA gains next to nothing over "
        "Low-ODA and costs many links.",
        grid=_degrees,
        panels=[
            _panel("average degree", DEGREE, "average degree", {"RingPT": {"method": "ring-pt"}, **_FEW}),
            _panel("maximum degree", "max_degree", "maximum degree", {"RingPT": {"method": "ring-pt"}, **_FEW}),
        ],
        table=_by_dataset(
            {
                f"{name}, {what}": (metric, where)
                for what, metric in (("average", DEGREE), ("maximum", "max_degree"))
                for name, where in {"RingPT": {"method": "ring-pt"}, **_FEW}.items()
            }
        ),
    ),
    Study(
        name="real-failures",
        title="what it costs to survive failures",
        source="Real interests",
        setting=f"{SETTING} The three smallest.",
        found="ktco asks for the degrees of GM2 (k = 2), CyclePT (k = 2) and HararyPT (any k), beside GM (k = 1).",
        remark="As in the paper GM2 needs less than twice GM's links, and a third to a half of CyclePT's on the two "
        "social graphs. Not on ros2_autoware: its topics have few subscribers, a ring is hardly more than a tree, and "
        "HararyPT's k = 2 has fewer links than GM2.",
        grid=_failures,
        panels=[
            _panel(
                "average degree",
                DEGREE,
                "average degree",
                {
                    "CyclePT": {"method": "cycle-pt"},
                    "HararyPT, k = 4": {"method": "harary-pt", "k": 4},
                    "HararyPT, k = 2": {"method": "harary-pt", "k": 2},
                    "GM2": {"method": "gm2"},
                    "GM": {"method": "gm"},
                },
            )
        ],
        table=_by_dataset(
            {
                "GM (k = 1)": (DEGREE, {"method": "gm"}),
                "GM2 (k = 2)": (DEGREE, {"method": "gm2"}),
                "CyclePT (k = 2)": (DEGREE, {"method": "cycle-pt"}),
                "HararyPT, k = 2": (DEGREE, {"method": "harary-pt", "k": 2}),
                "HararyPT, k = 4": (DEGREE, {"method": "harary-pt", "k": 4}),
            }
        ),
    ),
    Study(
        name="real-diameter",
        title="short paths",
        source="Real interests",
        setting=f"{SETTING} The three smallest.",
        found="low-oda asks for the links of overlays of topic diameter 2, ktco for the diameters of GM and GM2.",
        remark="Here 2D-ODA does come near GM, which it does not on the paper's uniform workloads: many topics are "
        "small, and a star is as good as a tree. CD-ODA-I and II are as good or better.",
        grid=_diameters,
        panels=[
            _panel(
                "average degree",
                DEGREE,
                "average degree",
                {
                    "CD-ODA": {"method": "cd-oda"},
                    "CD-ODA-I": {"method": "cd-oda-1"},
                    "CD-ODA-II": {"method": "cd-oda-2"},
                    "2D-ODA": {"method": "2d-oda"},
                    "GM": {"method": "gm"},
                },
            ),
            _panel(
                "largest topic diameter",
                "max_topic_diameter",
                "largest topic diameter",
                {"GM": {"method": "gm"}, "GM2": {"method": "gm2"}, "2D-ODA": {"method": "2d-oda"}},
            ),
        ],
        table=_by_dataset(
            {
                **{
                    f"{name}, degree": (DEGREE, {"method": method})
                    for method, name in (
                        ("gm", "GM"),
                        ("2d-oda", "2D-ODA"),
                        ("cd-oda", "CD-ODA"),
                        ("cd-oda-1", "CD-ODA-I"),
                        ("cd-oda-2", "CD-ODA-II"),
                    )
                },
                **{
                    f"{name}, largest diameter": ("max_topic_diameter", {"method": method})
                    for method, name in (("gm", "GM"), ("gm2", "GM2"), ("2d-oda", "2D-ODA"))
                },
            }
        ),
    ),
    Study(
        name="real-dc",
        title="divide and conquer",
        source="Real interests",
        setting=f"{SETTING} {', '.join(f'{name} in {count}' for name, count in PARTITIONS.items())} partitions.",
        found="star-merge asks how far DC's degree is above GM's; the division by likeness is ours.",
        remark="Random partitions cost up to half more links than GM. Dividing by the rarest topics, with a core, "
        "leaves little of that, at the price of higher maximum degrees.",
        grid=_divided,
        panels=[
            _panel(
                "average degree",
                DEGREE,
                "average degree",
                {
                    "DC, random": {"method": "dc", "division": "random"},
                    "DC, similar": {"method": "dc", "division": "similar"},
                    "GM": {"method": "gm"},
                },
            )
        ],
        table=_by_dataset(
            {
                "GM": (DEGREE, {"method": "gm"}),
                "DC, random": (DEGREE, {"method": "dc", "division": "random"}),
                "DC, similar": (DEGREE, {"method": "dc", "division": "similar"}),
                "GM, maximum": ("max_degree", {"method": "gm"}),
                "DC, random, maximum": ("max_degree", {"method": "dc", "division": "random"}),
                "DC, similar, maximum": ("max_degree", {"method": "dc", "division": "similar"}),
            }
        ),
    ),
)
