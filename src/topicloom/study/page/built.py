"""What of each paper is built, where, and how it was checked: one table for the page of results."""

_ROWS = (
    (
        "gm-min-tco §6: Greedy Merge",
        "`gm` (`methods/greedy`), as printed in `study/printed`",
        "every link replayed by brute force; judge; figures 2–4",
    ),
    (
        "gm-min-tco §6.4: repeated runs",
        "`repeated-gm`; its diameters in [ktco-variants](#ktco-variants)",
        "judge at each k; failure drills",
    ),
    (
        "gm-min-tco §6.4: distributed operation",
        "`tl.simulate_dc`, `tl.simulate_leaves`",
        "equal to the centre without faults; judge after every run; [dc-decentral](#dc-decentral)",
    ),
    (
        "gm-min-tco §7, §9: hardness, SOC",
        "[docs](methods/hardness.md); `tl.soc`, `tl.measure`",
        "fixed instances as tests",
    ),
    (
        "low-oda §1–5: MinMax-ODA, Low-ODA",
        "`minmax-oda`, `low-oda`",
        "every link replayed; counterexample to a stronger bound; figures 1–4",
    ),
    (
        "low-oda §6: diameter 2",
        "`cd-oda`, `cd-oda-1`, `cd-oda-2`, `2d-oda`",
        "judge (diameter ≤ 2); Case VII and Lemma 5 as tests; a linear program; figures 8–10, table 2",
    ),
    (
        "ktco §V: GM2",
        "`gm2`; divided: `dc` with `inner=gm2`",
        "judge at k = 2, all failures tried on small interests; figures 3–6, 8",
    ),
    (
        "ktco §VII: HararyPT; §VIII: CyclePT",
        "`harary-pt` (one order, by likeness, or one per topic), `cycle-pt`",
        "judge at k; sizes of Harary graphs; figures 3–5",
    ),
    (
        "ktco appendix: hardness",
        "[docs](methods/hardness.md)",
        "the reduction as a test",
    ),
    (
        "star-merge §V: Naive Merge, Star Merge",
        "`tl.join`; by star sets alone: `digest`, `star-set`, `join-stars`",
        "replayed from the definitions; both ways give the same links; figures 4, 5",
    ),
    (
        "star-merge §VI: divide and conquer",
        "`dc`, in memory and on Spark",
        "replayed; p = 1 and p = \\|V\\| equal `gm`; figures 6–12, table I",
    ),
    (
        "star-merge §VI-C: decentralised",
        "`tl.simulate_dc`",
        "as above; pn-ratio(v) per node",
    ),
    (
        "star-merge §VII: choosing p",
        "`partitions=auto`, three aims",
        "formulas computed apart",
    ),
    (
        "shadows §IV: naive",
        '`Maintainer(policy="naive")`',
        "replayed; judge after every event",
    ),
    (
        "shadows §V: shadows, backups",
        '`Maintainer(policy="shadow")`, `background=True`; locally: `tl.simulate_leaves`',
        "Algorithms 6–12 as printed beside it; judge, coverage and primaries after every event; figures 2–8; "
        "[churn-adversity](#churn-adversity); locally the same backups, racks that fail at once "
        "([dc-decentral](#dc-decentral))",
    ),
    (
        "errata of all five",
        "[docs](errata.md)",
        "the smallest instance of each as a test",
    ),
)

BUILT = "\n".join(
    [
        "## What of each paper is built",
        "",
        "| paper, part | where | how it is checked |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in _ROWS),
    ]
)
