"""Every study, one file each. A new file is found by its ``STUDY`` or ``STUDIES``."""

import re
from collections.abc import Mapping
from importlib import import_module
from pkgutil import walk_packages

from topicloom_papers.cells.studies import SCALES, Scale, Study

# In the order of the papers; within a paper that of its figures. Others come last.
_ORDER = ("gm", "low-oda", "ktco", "dc", "churn", "real")


def _rank(name: str) -> tuple[int, list[int]]:
    paper = next((number for number, start in enumerate(_ORDER) if name.startswith(start)), len(_ORDER))
    return paper, [int(number) for number in re.findall(r"fig(\d+)", name)] or [1000]


def _found() -> Mapping[str, Study]:
    studies: list[Study] = []
    for found in walk_packages(__path__, f"{__name__}."):
        module = import_module(found.name)
        studies += [*getattr(module, "STUDIES", ()), *([module.STUDY] if hasattr(module, "STUDY") else [])]
    return {study.name: study for study in sorted(studies, key=lambda study: _rank(study.name))}


STUDIES: Mapping[str, Study] = _found()


def known_kinds() -> frozenset[str]:
    """What some study asks for, at any scale and with any seed."""
    return frozenset(
        cell.kind for study in STUDIES.values() for scale in SCALES for cell in study.grid(Scale(scale, seeds=1))
    )
