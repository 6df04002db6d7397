"""What the bench measures, and what each measurement must reach."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

from benchmarks.instances import (
    EXPONENTIAL_1K,
    EXPONENTIAL_2K,
    EXPONENTIAL_10K,
    GROWTH,
    TWITTER,
    UNIFORM_1K,
    UNIFORM_2K,
    UNIFORM_10K,
    UNIFORM_20K,
    UNIFORM_100K,
    ZIPF_1K,
    ZIPF_2K,
    ZIPF_100K,
    Instance,
)
from benchmarks.runner import Runner

LOW_ODA = "low-oda:rho=3"


@dataclass(frozen=True)
class Case:
    """A method on an instance, its time beside that of another (method, instance) of the same run.

    Either ``faster`` (the other takes at least that many times as long) or ``slower`` (at most that many times
    its time) is required, or nothing; so for the memory, in megabytes over a process that only loads the instance,
    or as a multiple of the other's. ``links_times`` is the most links, as a multiple of the other's.
    """

    instance: Instance
    method: str = "gm"
    other: str | None = "literal"
    other_instance: Instance | None = None
    faster: float | None = None
    slower: float | None = None
    megabytes: float | None = None
    memory_times: float | None = None
    links_times: float | None = None

    @property
    def name(self) -> str:
        """Name on the command line."""
        return f"{self.method.partition(':')[0]}/{self.instance.name}"


CASES = (
    Case(UNIFORM_10K, faster=5, megabytes=250),
    Case(EXPONENTIAL_10K, faster=5, megabytes=250),
    Case(UNIFORM_20K, faster=12, megabytes=600),
    Case(UNIFORM_2K, faster=5),
    Case(ZIPF_2K, faster=5),
    Case(EXPONENTIAL_2K, faster=5),
    Case(TWITTER, other_instance=UNIFORM_20K, slower=0.35, megabytes=2000),
    Case(UNIFORM_100K, other=None, megabytes=8000),
    *(
        Case(instance, method, other="gm", slower=3, memory_times=2)
        for instance in (UNIFORM_2K, UNIFORM_10K)
        for method in (LOW_ODA, "minmax-oda")
    ),
    *(Case(instance, method, other="gm") for instance in (TWITTER, UNIFORM_100K) for method in (LOW_ODA, "minmax-oda")),
    *(
        Case(instance, "weighted-gm", other="gm", slower=2.5, links_times=links)
        for instance, links in (
            (ZIPF_1K, 0.83),
            (EXPONENTIAL_1K, 0.81),
            (UNIFORM_1K, 1.002),
            (UNIFORM_2K, 1.005),
            (ZIPF_2K, 1.005),
            (EXPONENTIAL_2K, 1.005),
            (UNIFORM_10K, 1.005),
            (EXPONENTIAL_10K, 1.005),
            (UNIFORM_20K, 1.005),
            (TWITTER, 1.005),
            (UNIFORM_100K, 1.005),
            (ZIPF_100K, 0.88),
        )
    ),
)
QUICK = ("gm/2k-uniform", "gm/2k-zipf", "low-oda/2k-uniform", "minmax-oda/2k-uniform", "weighted-gm/2k-zipf")


def together(cases: Iterable[Case]) -> dict[str, list[str]]:
    """{instance: methods that the cases need on it}: what is compared must be measured in turns."""
    plan: dict[str, list[str]] = {}
    for case in cases:
        for instance, method in ((case.instance, case.method), (case.other_instance or case.instance, case.other)):
            methods = plan.setdefault(instance.name, [])
            if method and method not in methods:
                methods.append(method)
    return plan


def run_case(runner: Runner, case: Case, plan: dict[str, list[str]]) -> dict:
    """Measure a case, with the others of its instance; the row of the table as a dictionary."""
    other_instance = case.other_instance or case.instance
    for instance in (other_instance, case.instance):
        runner.measure(instance, *plan[instance.name])
    ours = runner.done[case.method, case.instance.name]
    other = runner.done[case.other, other_instance.name] if case.other else None
    row = {"case": case.name, "title": case.instance.title, **ours.to_dict()}
    met = []
    if other:
        row |= {"other": other.to_dict(), "ratio": round(ours.seconds / other.seconds, 4)}
        if case.faster:
            met.append(other.seconds >= case.faster * ours.seconds)
            row |= {"must": f"≥ {case.faster:g} × faster"}
        elif case.slower:
            met.append(ours.seconds <= case.slower * other.seconds)
            row |= {"must": f"≤ {case.slower:g} × its time"}
        if case.links_times:
            row |= {"links_ratio": round(ours.facts["links"] / other.facts["links"], 4)}
            met.append(row["links_ratio"] <= case.links_times)
            row["must"] = f"{row['must']}, ≤ {case.links_times:g} × its links ({row['links_ratio']:.3f})"
    if case.megabytes:
        met.append(ours.peak <= case.megabytes * 1e6)
        row |= {"memory_must": f"≤ {case.megabytes:,.0f} MB"}
    if case.memory_times and other:
        met.append(ours.peak <= case.memory_times * other.peak)
        row |= {"memory_must": f"≤ {case.memory_times:g} × {other.method}'s"}
    row["met"] = all(met) if met else None
    return row


def run_growth(runner: Runner) -> dict:
    """Time against nodes, and the exponent of a power of the nodes that fits it best, for ours and the literal one."""
    rows = []
    for instance in GROWTH:
        ours, literal = runner.measure(instance, "gm", "literal")
        rows.append({"nodes": instance.nodes, "gm": ours.seconds, "literal": literal.seconds})
    return {
        "topics": GROWTH[0].topics,
        "subscriptions": GROWTH[0].subscriptions,
        "rows": rows,
        **{
            f"{name}_exponent": round(exponent([(r["nodes"], r[name]) for r in rows])[0], 2)
            for name in ("gm", "literal")
        },
    }


def exponent(points: list[tuple[float, float]]) -> tuple[float, float]:
    """(b, a) of the least-squares fit log y = log a + b log x."""
    xs, ys = [log(x) for x, _ in points], [log(y) for _, y in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)
    return slope, exp(mean_y - slope * mean_x)
