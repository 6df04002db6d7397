"""What ``benchmarks.large`` measured, beside what it must reach, as docs/benchmarks-large.md."""

from typing import NamedTuple

from benchmarks.wrapped import wrapped

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
    """What must be reached, what was, and whether that is enough.

    A ``doubtful`` one compares times of a busy machine.
    """

    what: str
    must: str
    found: str
    met: bool
    doubtful: bool = False

    @property
    def verdict(self) -> str:
        """Whether it is met, in a word or two."""
        return "not settled (busy machine)" if self.doubtful else "yes" if self.met else "**no**"


def demands(results: dict) -> list[Demand]:
    """All that can be said from the parts that were measured."""
    found = []
    if small := results.get("small"):
        found += [
            _at_most(f"{small['size']}: links", 0.87, _ratio(small, "links")),
            _at_most(f"{small['size']}: CPU seconds", 1.5, _ratio(small, "cpu_seconds")),
            _at_most(f"{small['size']}: maximum degree", 1.2, _ratio(small, "max_degree")),
        ]
    if faster := results.get("faster"):
        found += _dc_beside(faster, _shared(faster))
        found += _rounds_beside(faster, 0.93, 8.0, _shared(faster)) if "rounds-gm" in faster else []
    for law, most in (("uniform", 1.04), ("exponential", 0.95)):
        if laws := results.get("laws"):
            found += _rounds_beside(laws[law], most, 1.0, _shared(laws))
    if million := results.get("million"):
        found += _at_a_million(million)
    if million and (growth := results.get("growth")):
        large, small = (1e6 * part["dc"]["stage_seconds"] / part["nodes"] for part in (million, growth))
        what = f"time per node of dc, {growth['nodes']:,} → {million['nodes']:,} nodes ({small:.0f} → {large:.0f} µs)"
        found.append(_at_most(what, 1.5, large / small))
    if million and (before := results.get("before")):
        ours, theirs = (
            sum(part["dc"]["seconds"][stage] for stage in ("verify", "measure")) for part in (million, before)
        )
        what = f"{million['size']}: verify and measure dc's overlay, beside commit {before['commit']}"
        found.append(_at_most(f"{what} ({ours:.0f} s : {theirs:.0f} s)", 0.5, ours / theirs))
    for name, made in results.get("real", {}).get("interests", {}).items():
        found.append(_at_most(f"{name}: links of rounds-gm beside gm's", 1.01, _ratio(made, "links")))
        found.append(_at_most(f"{name}: maximum degree beside gm's", 1.2, _ratio(made, "max_degree")))
    if (ten := results.get("ten_million")) and million:
        large, small = (1e6 * part["rounds-gm"]["stage_seconds"] / part["nodes"] for part in (ten, million))
        found += [
            _at_most(f"{ten['size']}: GB of all processes", 22, ten["rounds-gm"]["peak_pss"] / _GB),
            _at_most(f"{ten['size']}: time per node beside a million's", 1.5, large / small),
        ]
    return found


def _ratio(part: dict, key: str) -> float:
    return float(part["rounds-gm"][key] / part["gm"][key])


def _at_most(what: str, most: float, value: float) -> Demand:
    return Demand(what, f"≤ {most:g}", f"{value:.3f}" if value < 2 else f"{value:.1f}", value <= most)


def _dc_beside(faster: dict, doubtful: bool) -> list[Demand]:
    dc, gm = faster["dc"], faster["gm"]
    ratio = gm["seconds"]["design"] / dc["seconds"]["design"]
    return [
        Demand(f"{faster['size']}: dc faster than gm (design)", "≥ 20 ×", f"{ratio:.1f} ×", ratio >= 20, doubtful),
        _at_most(
            f"{faster['size']}: average degree of dc beside gm's", 1.4, dc["average_degree"] / gm["average_degree"]
        ),
    ]


def _rounds_beside(part: dict, most: float, least: float, doubtful: bool) -> list[Demand]:
    size, times = part["size"], part["gm"]["seconds"]["design"] / part["rounds-gm"]["seconds"]["design"]
    return [
        _at_most(f"{size}: links of rounds-gm beside gm's", most, _ratio(part, "links")),
        Demand(
            f"{size}: rounds-gm faster than gm (design)", f"≥ {least:g} ×", f"{times:.1f} ×", times >= least, doubtful
        ),
        _at_most(f"{size}: maximum degree of rounds-gm beside gm's", 1.2, _ratio(part, "max_degree")),
    ]


def _at_a_million(million: dict) -> list[Demand]:
    size, base = million["size"], million["baseline_seconds"]
    peak = max(million["dc"]["peak_pss"], million["generate_peak_pss"]) / _GB
    walls = {
        name: million["generate_seconds"] + million[name]["wall_seconds"]
        for name in ("dc", "rounds-gm")
        if name in million
    }
    whole = f"{size}: generate, design, verify, write, beside Spark's read, encode, write back"
    found = [_at_most(f"{size}: GB of all processes, dc", 16, peak)]
    for (name, wall), most in zip(walls.items(), (10, 6)):
        found.append(_at_most(f"{whole}, {name} ({wall:.0f} s : {base:.0f} s)", most, wall / base))
    if "rounds-gm" not in million:
        return found
    rounds, dc = million["rounds-gm"], million["dc"]
    times = rounds["seconds"]["design"] / dc["seconds"]["design"]
    return [
        *found,
        _at_most(f"{size}: average degree of rounds-gm (dc: {dc['average_degree']:.2f})", 10, rounds["average_degree"]),
        _at_most(f"{size}: maximum degree of rounds-gm", 150, rounds["max_degree"]),
        _at_most(f"{size}: design time of rounds-gm beside dc's", 4, times),
    ]


def page(results: dict) -> str:
    """The whole page."""
    parts = [
        "# Large interests",
        "",
        "Written by `make bench-large`; do not edit. Every column is a run of the command line in processes of its own "
        "whose overlay was verified by the judge on Spark. The real interests and the smallest one were designed and "
        "verified in memory. Seconds are those of `run.json`: the start of Spark and of its Python workers and the "
        "loading of kernels are not in them, except where it says wall. Memory is the most that all processes of a run "
        "(driver, JVM, Python workers) held at one moment; pages that they share count once.",
        "",
        "| what | must be | is | met |",
        "|---|---|---|---|",
        *(f"| {one.what} | {one.must} | {one.found} | {one.verdict} |" for one in demands(results)),
        "",
        *_runs(results),
        "",
        *_sample(results),
        *_busy(results),
        *(_circumstances(name, part) for name, part in results.items()),
        "",
    ]
    return wrapped("\n".join(parts))


def _runs(results: dict) -> list[str]:
    """A column per run: the seconds of its stages, its memory and its overlay."""
    parts = [results[name] for name in ("faster", "growth", "million", "ten_million") if name in results]
    parts += [part for law, part in results.get("laws", {}).items() if law != "circumstances"]
    runs = {
        f"{part['size']}, {name}": part[name] for part in parts for name in ("dc", "gm", "rounds-gm") if name in part
    }
    partitions = {f"{part['size']}, dc": part["partitions"] for part in parts if "dc" in part}
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
    if "small" not in results:
        return []
    cells = [
        f"`{name}` {one['links']:,} links, average degree {one['degree']:.3f}, maximum {one['max_degree']}, "
        f"{one['cpu_seconds']:.1f} CPU s"
        for name, one in results["small"].items()
        if name in ("gm", "dc", "rounds-gm")
    ]
    return [f"{results['small']['size']}, in memory: {'; '.join(cells)}.", ""]


def _shared(part: dict) -> bool:
    """Whether others used the machine, too: a run of this bench alone makes a load of about one and a half a core."""
    return bool(part["circumstances"]["load"] > 2 * part["circumstances"]["cores"])


def _busy(results: dict) -> list[str]:
    """A warning of parts that had to share the machine."""
    busy = [name for name, part in results.items() if _shared(part)]
    if not busy:
        return []
    return [
        f"Others used the machine while {', '.join(busy)} ran (a load of over twice the cores). Links, degrees and "
        "memory do not depend on that. Seconds by the clock are too high, each by another factor, and two threads get "
        "more of a busy machine than one: their ratios settle nothing.",
        "",
    ]


def _circumstances(name: str, part: dict) -> str:
    at = part["circumstances"]
    return (
        f"- {name}: {at['date']}, commit {at['commit']}, {at['cpu']}, {at['cores']} cores (load {at['load']} at the "
        f"end), Python {at['python']}"
    )
