"""Why a number of ours differs from the published one: what was tried, and where it is written down."""

from typing import NamedTuple


class Explanation(NamedTuple):
    """A short answer, and the page with the whole of it."""

    answer: str
    page: str = ""


_DIAMETER_TWO = "algorithms/diameter-two.md#the-papers-experiments"
_CHURN = "algorithms/churn.md"

EXPLANATIONS = {
    "rho-one": Explanation(
        "At rho = 1 Low-ODA already spares the maximum degree among equally good links, which GM does not; that alone "
        "takes away half or more of what a larger rho can, and from 1.5 or 2 on the maximum degree stays where it is.",
        "algorithms/degree.md#what-rho-buys",
    ),
    "two-diameter": Explanation(
        "A star per topic cannot come near GM's degree: at 1,000 nodes a lower bound for *any* overlay of one star per "
        "topic is 1.16 × GM, above the published 1.09. Seven readings of the formula were tried, none comes near. What "
        "would explain the figures is 2D-ODA's degree taken as links / nodes and the others' as 2 · links / nodes: see "
        "the rows under “other readings”.",
        _DIAMETER_TWO,
    ),
    "cd-oda-gain": Explanation("to be written", _DIAMETER_TWO),
    "harary-k": Explanation("to be written"),
    "harary-peak": Explanation("to be written"),
    "gm2-by-size": Explanation("to be written"),
    "harary-skew": Explanation("to be written"),
    "diameter-ties": Explanation("to be written"),
    "join-difference": Explanation("to be written"),
    "table-one": Explanation("to be written"),
    "ring-order": Explanation("to be written"),
    "degree-by-size": Explanation("to be written"),
    "dc-topics": Explanation("to be written"),
    "backup-sets": Explanation("to be written", _CHURN),
    "greedy-backups": Explanation("to be written", _CHURN),
    "churn-start": Explanation("to be written", _CHURN),
    "churn-creep": Explanation("to be written", _CHURN),
    "repair-ratio": Explanation("to be written", _CHURN),
    "rebuild-ties": Explanation("to be written", _CHURN),
    "shadow-sets": Explanation("to be written", _CHURN),
}
