"""Every study: a figure or table of a paper. A TOML file for each paper says what is measured, drawn and published."""

from collections.abc import Mapping

from topicloom_papers.cells.studies import SCALES, Scale, Study
from topicloom_papers.studies.catalogue import studies

STUDIES: Mapping[str, Study] = {study.name: study for study in studies()}


def known_kinds() -> frozenset[str]:
    """What some study asks for, at any scale and with any seed."""
    return frozenset(
        cell.kind for study in STUDIES.values() for scale in SCALES for cell in study.grid(Scale(scale, seeds=1))
    )
