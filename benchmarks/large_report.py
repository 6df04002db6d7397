"""What ``benchmarks.large`` measured, beside what it must reach, as docs/benchmarks-large.md."""

from typing import NamedTuple

_GB = 1e9
_STAGES = {
    "read": "read and clean",
    "encode": "encode",
    "design": "design",
    "design/choose": "– choose partitions",
    "design/core": "– core",
    "design/divide": "– divide",
    "design/conquer": "– conquer",
    "design/files": "– files",
    "design/orders": "– orders",
    "design/candidates": "– candidates",
    "design/merge": "– merges",
    "verify": "verify, measure topics",
    "measure": "measure nodes and links",
    "write": "write",
}


class Demand(NamedTuple):
    """What must be reached, what was, and whether that is enough."""

    what: str
    must: str
    found: str
    met: bool


def demands(results: dict) -> list[Demand]:
    """All that can be said from the parts that were measured."""
    found = []
    if faster := results.get("faster"):
        dc, gm = faster["dc"], faster["gm"]
        ratio = gm["seconds"]["design"] / dc["seconds"]["design"]
        degree = dc["average_degree"] / gm["average_degree"]
        runs = f" (dc is the median of {', '.join(f'{seconds:.1f}' for seconds in faster['dc_design_seconds'])} s)"
        found += [
            Demand(f"{faster['size']}: dc faster than gm (design)", "≥ 20 ×", f"{ratio:.1f} ×{runs}", ratio >= 20),
            Demand(f"{faster['size']}: average degree beside gm's", "≤ 1.40", f"{degree:.3f}", degree <= 1.4),
        ]
        found += _rounds_beside(faster["rounds-gm"], gm, faster["size"]) if "rounds-gm" in faster else []
    if million := results.get("million"):
        wall = million["generate_seconds"] + million["dc"]["wall_seconds"]
        ratio = wall / million["baseline_seconds"]
        peak = max(million["dc"]["peak_pss"], million["generate_peak_pss"]) / _GB
        found += [
            Demand(f"{million['size']}: memory of all processes", "≤ 16 GB", f"{peak:.1f} GB", peak <= 16),
            Demand(
                f"{million['size']}: generate, design, verify, write, beside Spark's read, encode, write back",
                "≤ 10 ×",
                f"{ratio:.1f} × ({wall:.0f} s : {million['baseline_seconds']:.0f} s)",
                ratio <= 10,
            ),
        ]
        found += _rounds_at_a_million(million) if "rounds-gm" in million else []
    if million and (growth := results.get("growth")):
        large, small = (1e6 * part["dc"]["stage_seconds"] / part["nodes"] for part in (million, growth))
        found.append(
            Demand(
                f"time per node, {growth['nodes']:,} → {million['nodes']:,} nodes",
                "< 1.5 ×",
                f"{large / small:.2f} × ({small:.0f} → {large:.0f} µs)",
                large / small < 1.5,
            )
        )
    for name, made in results.get("real", {}).get("interests", {}).items():
        links, degree = (made["rounds-gm"][key] / made["gm"][key] for key in ("links", "max_degree"))
        found.append(Demand(f"{name}: links of rounds-gm beside gm's", "≤ 1.01", f"{links:.3f}", links <= 1.01))
        found.append(Demand(f"{name}: maximum degree beside gm's", "≤ 1.2", f"{degree:.2f}", degree <= 1.2))
    if (ten := results.get("ten_million")) and million:
        peak = ten["rounds-gm"]["peak_pss"] / _GB
        large, small = (1e6 * part["rounds-gm"]["stage_seconds"] / part["nodes"] for part in (ten, million))
        ratio = large / small
        found += [
            Demand(f"{ten['size']}: memory of all processes", "≤ 22 GB", f"{peak:.1f} GB", peak <= 22),
            Demand(f"{ten['size']}: time per node beside a million's", "≤ 1.5 ×", f"{ratio:.2f} ×", ratio <= 1.5),
        ]
    return found


def _rounds_beside(rounds: dict, gm: dict, size: str) -> list[Demand]:
    faster = gm["seconds"]["design"] / rounds["seconds"]["design"]
    links, degree = (rounds[key] / gm[key] for key in ("links", "max_degree"))
    return [
        Demand(f"{size}: links of rounds-gm beside gm's", "≤ 0.93", f"{links:.3f}", links <= 0.93),
        Demand(f"{size}: rounds-gm faster than gm (design)", "≥ 8 ×", f"{faster:.1f} ×", faster >= 8),
        Demand(f"{size}: maximum degree of rounds-gm beside gm's", "≤ 1.2", f"{degree:.2f}", degree <= 1.2),
    ]


def _rounds_at_a_million(million: dict) -> list[Demand]:
    rounds, size = million["rounds-gm"], million["size"]
    degree, most = rounds["average_degree"], rounds["max_degree"]
    slower = rounds["seconds"]["design"] / million["dc"]["seconds"]["design"]
    whole = (million["generate_seconds"] + rounds["wall_seconds"]) / million["baseline_seconds"]
    return [
        Demand(f"{size}: average degree of rounds-gm", "≤ 10", f"{degree:.2f}", degree <= 10),
        Demand(f"{size}: maximum degree of rounds-gm", "≤ 150", f"{most}", most <= 150),
        Demand(f"{size}: design time of rounds-gm beside dc's", "≤ 4 ×", f"{slower:.1f} ×", slower <= 4),
        Demand(
            f"{size}: all of rounds-gm, beside Spark's read, encode, write back", "≤ 6 ×", f"{whole:.1f} ×", whole <= 6
        ),
    ]


def page(results: dict) -> str:
    """The whole page."""
    parts = [
        "# Large interests",
        "",
        "Written by `make bench-large`; do not edit. Every row is a run of the command line in processes of its own, "
        "and every overlay was verified by the judge on Spark. Seconds are those of `run.json`: the start of Spark "
        "and of its Python workers and the loading of kernels are not in them, except where it says wall. Memory is "
        "the most that all processes of a run (driver, JVM, Python workers) held at one moment; pages that they share "
        "count once.",
        "",
        "| what | must be | is | met |",
        "|---|---|---|---|",
        *(f"| {one.what} | {one.must} | {one.found} | {'yes' if one.met else '**no**'} |" for one in demands(results)),
        "",
        *_runs(results),
        "",
        *_sample(results),
        *(_circumstances(name, part) for name, part in results.items()),
        "",
    ]
    return "\n".join(parts)


def _runs(results: dict) -> list[str]:
    """A column per run: the seconds of its stages, its memory and its overlay."""
    runs = {
        f"{part['size']}, {method}": part[method]
        for part in results.values()
        for method in ("dc", "gm", "rounds-gm")
        if method in part
    }
    partitions = {f"{part['size']}, dc": part["partitions"] for part in results.values() if "dc" in part}
    lines = ["| | " + " | ".join(runs) + " |", "|---|" + "--:|" * len(runs)]
    rows = {"partitions": [f"{partitions[name]:,}" if name in partitions else "" for name in runs]}
    for stage, title in _STAGES.items():
        cells = [_stage(one["seconds"], stage) for one in runs.values()]
        if any(cells):
            rows[title] = cells
    rows["all stages"] = [f"{one['stage_seconds']:.1f} s" for one in runs.values()]
    rows["wall"] = [f"{one['wall_seconds']:.1f} s" for one in runs.values()]
    rows["peak memory"] = [f"{one['peak_pss'] / _GB:.1f} GB" for one in runs.values()]
    rows["links"] = [f"{one['links']:,}" for one in runs.values()]
    rows["average degree"] = [f"{one['average_degree']:.3f}" for one in runs.values()]
    rows["maximum degree"] = [f"{one['max_degree']:,}" for one in runs.values()]
    rows["star nodes"] = [
        f"{one['report']['star_nodes']:,}" if "star_nodes" in one["report"] else "" for one in runs.values()
    ]
    rows["diameters sampled"] = [f"{one['sampled_diameters']:,}" for one in runs.values()]
    return lines + [f"| {title} | " + " | ".join(cells) + " |" for title, cells in rows.items()]


def _stage(seconds: dict, stage: str) -> str:
    found = [value for name, value in seconds.items() if name == stage or name.startswith(f"{stage} ")]
    return f"{sum(found):.1f} s" if found else ""


def _sample(results: dict) -> list[str]:
    if "million" not in results:
        return []
    million = results["million"]
    degree = million["sample"]["degree"]
    return [
        f"Average degree of `dc` at {million['size']}: {million['dc']['average_degree']:.3f}. On a sample of that "
        f"interest ({million['sample']['size']}): `gm` {degree['gm']:.3f}, `dc` in partitions of the same size "
        f"{degree['dc']:.3f}. A greedy overlay's degree falls as nodes are added, so the sample's is not a bound for "
        "the whole.",
        "",
    ]


def _circumstances(name: str, part: dict) -> str:
    at = part["circumstances"]
    return (
        f"- {name}: {at['date']}, commit {at['commit']}, {at['cpu']}, {at['cores']} cores (load {at['load']} at the "
        f"end), Python {at['python']}"
    )
