"""Draw the rooms of the package by floors, with an arrow for each room that another one imports.

    python tools/draw_rooms.py docs/rooms.svg

The picture follows from the imports alone, so the same code gives the same bytes; tests/test_layers.py asserts that the
committed one is current. Arrows point down. Rooms of a floor stand in the order of `FLOORS`.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, LABORATORY = ROOT / "src" / "topicloom", ROOT / "src" / "topicloom_papers"
FLOORS = (
    ("cli", "topicloom_papers"),
    ("spark",),
    ("page", "brokers", "runs"),
    ("methods", "churn", "routing"),
    ("measures", "judge", "datasets", "files"),
    ("kernels", "model"),
)
SAYS = {
    "cli": "the commands",
    "topicloom_papers": "the laboratory",
    "spark": "sessions, steps, dc, rounds, streams",
    "page": "one HTML page per overlay",
    "brokers": "files, rehearsals, audits",
    "runs": "a whole run in one process",
    "methods": "constructions, bounds, refinement",
    "churn": "repairs, durable state",
    "routing": "trees, plans, steps",
    "measures": "degrees, hops",
    "judge": "verdicts, certificates",
    "datasets": "seeded interests",
    "files": "read, write",
    "kernels": "loops over arrays",
    "model": "Interest, Overlay",
}
# Doors only re-export, so an import of one is an import of its room.
DOORS = {"pipeline": "spark", "stream": "spark", "deploy": "brokers", "auditing": "brokers"}
WIDE, TALL, GAP, STEP, LEFT = 190, 54, 24, 118, 20


def imported(path: Path) -> set[str]:
    """Return the rooms that a module imports when it runs; imports for types alone do not count."""
    rooms: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name.startswith("topicloom_papers"):
                rooms.add("topicloom_papers")
            elif name.startswith("topicloom."):
                rooms.add(DOORS.get(name.split(".")[1], name.split(".")[1]))
    return rooms


def arrows() -> set[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports the second."""
    known = {room for floor in FLOORS for room in floor}
    return {(room, other) for room in known for path in _modules(room) for other in imported(path) & known - {room}}


def _modules(room: str) -> list[Path]:
    folder = LABORATORY if room == "topicloom_papers" else PACKAGE / room
    return sorted(folder.rglob("*.py"))


def drawn() -> str:
    """Return the picture as SVG."""
    widest = max(len(floor) for floor in FLOORS)
    width = 2 * LEFT + widest * WIDE + (widest - 1) * GAP
    height = 2 * LEFT + (len(FLOORS) - 1) * STEP + TALL
    place: dict[str, tuple[float, float]] = {}
    for number, floor in enumerate(FLOORS):
        start = (width - len(floor) * WIDE - (len(floor) - 1) * GAP) / 2
        for seat, room in enumerate(floor):
            place[room] = (start + seat * (WIDE + GAP), LEFT + number * STEP)
    lines = []
    for room, other in sorted(arrows()):
        (x, y), (u, v) = place[room], place[other]
        if v <= y:  # the three imports that point up, and neighbours on a floor, are named in the text
            continue
        x, u = x + WIDE / 2, u + WIDE / 2
        y = y + TALL
        bend = (v - y) / 2
        path = f"M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {u:.0f} {v - bend:.0f} {u:.0f} {v:.0f}"
        lines.append(f'<path d="{path}"/>')
    boxes = [box for room, at in place.items() for box in _box(room, *at)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" '
            'role="img" aria-label="The rooms of topicloom by floors; arrows point from a room to those it imports">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            '<g fill="none" stroke="#5b7aa6" stroke-opacity=".45">',
            *lines,
            "</g>",
            *boxes,
            "</svg>",
            "",
        ]
    )


def _box(room: str, x: float, y: float) -> list[str]:
    fill = "#fff4e0" if room == "topicloom_papers" else "#eef3fb"
    middle = x + WIDE / 2
    return [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDE}" height="{TALL}" rx="7" fill="{fill}" stroke="#33507e"/>',
        f'<text x="{middle:.0f}" y="{y + 22:.0f}" font-size="15" font-weight="600" text-anchor="middle" '
        f'fill="#16233a">{room}</text>',
        f'<text x="{middle:.0f}" y="{y + 41:.0f}" font-size="11" text-anchor="middle" '
        f'fill="#465672">{SAYS[room]}</text>',
    ]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawn(), encoding="utf-8")
