"""Time the methods against the literal baseline: ``python -m benchmarks [--quick] [--no-write] [CASE …]``.

A full run rewrites benchmarks/results.json, docs/benchmarks.md and the README's table; a partial one only prints.
"""

import argparse
import sys
import time

from benchmarks import report
from benchmarks.cases import CASES, LOW_ODA, QUICK, run_case, run_growth, together
from benchmarks.runner import ROOT, Runner, in_temporary_folder


def main(argv: list[str] | None = None) -> int:
    """Run the chosen cases; 1 if one falls short of what it must reach."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__, allow_abbrev=False)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of {', '.join(names)}, growth (default: all)")
    parser.add_argument("--quick", action="store_true", help="the smallest cases, to see that the bench works")
    parser.add_argument("--no-write", action="store_true", help="print only, also after a full run")
    parser.add_argument(
        "--render", action="store_true", help="measure nothing; only rewrite the tables from results.json"
    )
    options = parser.parse_args(argv)
    chosen = set(options.cases or (QUICK if options.quick else [*names, "growth"]))
    if unknown := chosen - {*names, "growth"}:
        parser.error(f"there is no case {', '.join(sorted(unknown))}; the cases are {', '.join(names)}, growth")
    if options.render:
        report.write(ROOT, report.stored(ROOT))
        return 0

    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", file=sys.stderr, flush=True)

    results = in_temporary_folder(lambda runner: run(runner, chosen, say), say)
    print(report.document(results))
    if len(chosen) > len(names) and not options.no_write:
        report.write(ROOT, results)
        say("wrote benchmarks/results.json and docs/benchmarks.md")
    short = [row["case"] for row in results["rows"] if row["met"] is False]
    if short:
        say(f"falls short: {', '.join(short)}")
    return 1 if short else 0


def run(runner: Runner, chosen: set[str], say) -> dict:
    """Measure the chosen cases."""
    results = {"circumstances": report.circumstances(ROOT), "rows": []}
    runner.compile(("gm", LOW_ODA, "literal"))
    cases = [case for case in CASES if case.name in chosen]
    for case in cases:
        if not case.instance.present:
            say(f"{case.name}: skipped, {case.instance.dataset.name} is not in ../shared/datasets")
    cases = [case for case in cases if case.instance.present]
    plan = together(cases)
    results["rows"] = [run_case(runner, case, plan) for case in cases]
    if "growth" in chosen:
        results["growth"] = run_growth(runner)
    results["first_call"] = runner.first_call
    return results


if __name__ == "__main__":
    sys.exit(main())
