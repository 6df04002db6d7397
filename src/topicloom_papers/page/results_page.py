"""The page of results: every figure, what the paper found, what we find, and why they differ where they do."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from topicloom.files.write.atomic import whole_file
from topicloom_papers.cells.cell_store import write_whole
from topicloom_papers.cells.studies import Study
from topicloom_papers.page import plots, verdicts
from topicloom_papers.page.explanations import BUILT, EXPLANATIONS
from topicloom_papers.page.lookup import NotMeasuredError, Results
from topicloom_papers.page.verdicts import DIFFERS, PublishedResult, Tried, compared

_PAPERS = {
    "gm": "Constructing Scalable Overlays for Pub-Sub with Many Topics (PODC 2007)",
    "low-oda": "Low-ODA and 2D-ODA: low degrees, and topics of diameter 2 (Onus, Richa)",
    "ktco": "Constructing Fault-Tolerant Overlay Networks for Topic-based Publish/Subscribe",
    "dc": "Divide and Conquer Algorithms for Publish/Subscribe Overlay Design (ICDCS 2010; star merge)",
    "churn": "Reinforce Your Overlay with Shadows",
    "real": "The same questions, asked of six real interests",
}


def write_report(
    studies: Sequence[Study], results: dict[str, Results], out: Path, *, header: str
) -> list[PublishedResult]:
    """Write plots, the table of published numbers and the page. Returns the table.

    Parameters
    ----------
    studies : sequence of Study
    results : dict
        The values of each study's own cells, by its name.
    out : Path
        ``results.md`` and ``results/`` are written there; each file appears whole or not at all.
    header : str
        How the values came about, for the top of the page.
    """
    folder = out / "results"
    drawn = {study.name for study in studies if plots.draw(study, results[study.name], folder)}
    rows = {study.name: compared([study], results[study.name]) for study in studies}
    every = [row for found in rows.values() for row in found]
    write_whole(verdicts.as_arrow(every), folder / "published.parquet")
    tried = Tried(every)
    sections = [
        _section(study, verdicts.as_markdown(rows[study.name], tried), results[study.name], study.name in drawn)
        for study in studies
    ]
    page = [
        _top(every, header),
        _contents(studies),
        BUILT,
        *_by_paper(studies, sections),
        _explanations(every),
        _readings(every),
    ]
    _write_text("\n\n".join(part for part in page if part) + "\n", out / "results.md")
    return every


def _top(rows: Sequence[PublishedResult], header: str) -> str:
    return f"""# The papers, reproduced

The five papers state how large the degrees, sizes and diameters of their overlays are, and how long it takes to make
them. This page sets every number beside ours.

**What agrees.** {verdicts.tally(rows)}

**What does not.** {_differing(rows)}

**Why.** The papers leave settings open: a parameter, the sizes of interests, which of two equal links comes first. For
each number that differs, [the end of this page](#why-numbers-differ) names the cause, and an experiment on this page
that shows it where there is one.

{verdicts.standing(rows)}

How to read the tables: “agrees” is within 10 %. “Holds” is on the right side of a bound (≤, ≥), and “within 10 %” is
on the wrong side of a bound that is a measured number, by less than that. A claim that one of two numbers is larger, or
that a curve rises or falls, differs as soon as it is on the wrong side; curves are judged by their ends, the last point
over the first. “Same order” (~) is within a factor of ten. “Inside our seeds” is for published numbers that come from
one to four runs: whether they lie between our lowest and highest seed, or within the middle 95 % of means of as many
seeds as the paper had runs. (Shadows speaks of one sequence of rounds. kTCO's three largest differences of diameters
are multiples of a quarter: that they are means of four runs is inferred.) Degrees, sizes and diameters are means over
the seeds, and bars in the plots are standard deviations. Times are CPU times of one cell at a time (repairs under
churn: by the clock). They stand beside two denominators that the same cell measures in turn: our own Greedy Merge,
which is much faster than the papers', and Greedy Merge as printed, with one line corrected (“literal GM”,
[source](../src/topicloom_papers/printed/literal_gm.py)). “Shown” is no proof. It means that one named experiment comes
within 10 % of the published number, or that a lower bound excludes it for the interests on which the bound was
computed.

{header} `topicloom study` writes this page."""


def _differing(rows: Sequence[PublishedResult]) -> str:
    """Name the causes behind most of the numbers that differ, the most frequent first."""
    differ = [row for row in rows if row.verdict == DIFFERS and not (row.number.experiment or row.number.trend)]
    if not differ:
        return "Every number that was measured agrees."
    causes = Counter(str(row.number.why) for row in differ if row.number.why)
    named = ", ".join(f"[{cause}](#{cause}) ({count})" for cause, count in causes.most_common(4))
    return f"{len(differ)} numbers differ. The most frequent causes, with how many numbers each accounts for: {named}."


def _readings(rows: Sequence[PublishedResult]) -> str:
    return f"""## How readings were chosen

What a paper states is the setting of the main rows. Where it leaves its setting open or contradicts itself, several
readings were run. Where one of these accounts for more of the paper's numbers, it was made the main one *after* the
results were known. The reading that it replaced stands under “other readings”, and {_chosen(rows)}

The paper contradicts itself in [churn-fig3](#churn-fig3), whose numbers are not those of the 2,000 nodes that its text
names ([S-5](errata.md#s-5)), and in [gm-fig4a](#gm-fig4a) and [gm-fig4b](#gm-fig4b), whose rings have twice the topics
per node as degree, which rings in the order that the text names have not ([GM-6](errata.md#gm-6)).

Parameters in other readings, such as 83 % of the mass on a tenth of the topics, were found by trying values. They show
that one value accounts for several numbers, not that the authors used it. The sizes of the churn studies were picked
from some thirty settings, the weights of greedy backups from eleven, the 83 % from four, 1,000 nodes in churn-fig3 and
200 topics in gm-fig4a from two, and orders of ties from five. 8 partitions lie between 7 and 10, which were tried
first. Two numbers were not used to choose the sizes: the share and maximum of primaries, and what rebuilding
exchanges."""


def _chosen(rows: Sequence[PublishedResult]) -> str:
    """Which verdicts depend on a reading that was chosen afterwards."""
    tried = Tried(rows)
    chosen = [row for row in rows if tried.chosen_afterwards(row)]
    by_study = Counter(row.study for row in chosen)
    where = ", ".join(
        f"[{study}](#{study})" + (f" ({count})" if count > 1 else "") for study, count in by_study.items()
    )
    return f"{len(chosen)} verdicts depend on the choice: {where}." if chosen else "no verdict depends on the choice."


def _contents(studies: Sequence[Study]) -> str:
    lines = ["| study | figure | shows |", "|---|---|---|"]
    lines += [f"| [{study.name}](#{study.name}) | {study.source} | {study.title} |" for study in studies]
    return "\n".join(lines)


def _paper(study: Study) -> str:
    return next((title for start, title in _PAPERS.items() if study.name.startswith(start)), "Others")


def _by_paper(studies: Sequence[Study], sections: Sequence[str]) -> list[str]:
    parts, last = [], ""
    for study, section in zip(studies, sections):
        if _paper(study) != last:
            last = _paper(study)
            parts.append(f"## {last}")
        parts.append(section)
    return parts


def _section(study: Study, table: str, results: Results, drawn: bool) -> str:
    parts = [f'<a id="{study.name}"></a>\n### {study.name}: {study.title}']
    parts.append(f"*{study.source}.* {study.setting} {_seeds(results)}".strip())
    parts.append(f"**{'The question' if study.name.startswith('real') else 'The paper'}:** {study.found}")
    if drawn:
        parts.append(f"![{study.source}: {study.title}](results/{study.name}.svg)")
    if table:
        parts.append(table)
    if study.table is not None:
        try:
            parts.append(study.table(results))
        except NotMeasuredError:
            parts.append("Not measured: the data sets were not there.")
    if study.remark:
        parts.append(study.remark)
    return "\n\n".join(parts)


def _seeds(results: Results) -> str:
    if not len(results.frame):
        return ""
    untimed = results.frame[~results.frame["measurement"].str.startswith("time-")]
    counts = untimed.groupby("method")["seed"].nunique()
    return f"({counts.max()} seeds.)" if len(counts) else ""


def _explanations(rows: Sequence[PublishedResult]) -> str:
    differ = [row for row in rows if row.verdict == DIFFERS and not row.number.experiment]
    used = dict.fromkeys(row.number.why for row in differ if row.number.why in EXPLANATIONS)
    if not used:
        return ""
    tried = Tried(rows)
    parts = ["## Why numbers differ"]
    for key in used:
        answer, page = EXPLANATIONS[str(key)]
        more = f" [More]({page})." if page else ""
        deciding = {one.anchor: one for row in differ if row.number.why == key for one in tried.deciding(row)}
        shown = ", ".join(f"[{one.study}, {one.number.key}](#{anchor})" for anchor, one in deciding.items())
        basis = f" *Shown by* {shown}." if shown else " *Not decided by an experiment.*"
        parts.append(f'<a id="{key}"></a>\n**{key}.** {answer}{basis}{more}')
    return "\n\n".join(parts)


def _write_text(text: str, path: Path) -> None:
    with whole_file(path) as file:
        file.write(text.encode())
