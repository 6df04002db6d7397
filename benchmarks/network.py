"""Measure designs for networks in sites: ``python -m benchmarks.network [PART …] [--seeds 5]``.

Every design is judged by plain Python, and every bound by the checker. A row is stored in benchmarks/network.json when
it is finished, and docs/benchmarks-network.md is written from that.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import mean

import numpy as np

import topicloom as tl
from benchmarks.networks_in_sites import (
    SIZES,
    faults,
    hubs_meshed,
    hubs_of,
    network_in_sites,
    price_of_overlay,
    rules_of,
)
from benchmarks.report import circumstances
from topicloom.methods.bounds.price_bound import price_bound
from topicloom.methods.network.design_network import design_network
from topicloom.methods.network.open_network import open_network

ROOT = Path(__file__).parents[1]
STORED, PAGE = ROOT / "benchmarks" / "network.json", ROOT / "docs" / "benchmarks-network.md"
ROW_PRICES = (0.0, 0.3, 1.0, 3.0)
MUST = {"6 × 8": 1.06, "20 × 50": 1.08, "relays": 1.02, "hubs": 0.4, "survive": 1.10, "gm2": 0.5}


def designed(interest, site, price, effort=1.0, bound_effort=1.0, **rules):
    """Design, judge and bound one network. Returns the facts, or raises if the design breaks a promise."""
    network = rules_of(interest, site, price, **rules)
    began = time.process_time()
    overlay = design_network(interest, network, effort=effort)
    seconds = time.process_time() - began
    broken = faults(interest, network, overlay)
    if broken:
        raise AssertionError(f"a design breaks {len(broken)} rules, the first of them {broken[0]}")
    bound = price_bound(interest, network, effort=bound_effort)
    if not bound.check(interest, network):
        raise AssertionError("a bound is not proved by its shares")
    paid = price_of_overlay(site, price, rules.get("row_price", 0.0), overlay)
    return {
        "price": paid,
        "bound": bound.price,
        "ratio": paid / bound.price,
        "seconds": seconds,
        "rows": len(overlay.relays),
    }


def prices(seeds):
    """Prices alone, beside gm."""
    for size in SIZES:
        found = []
        for seed in range(1, seeds + 1):
            interest, site, price = network_in_sites(size, seed)
            facts = designed(interest, site, price)
            facts["gm"] = price_of_overlay(site, price, 0, tl.greedy_merge(interest)) / facts["bound"]
            found.append(facts)
        yield ({"size": size, "must": MUST[size], **means(found)})


def relays(seeds):
    """Six hubs may relay, at several prices of a row; without and with the failure of any site."""
    for survive in (False, True):
        for row_price in ROW_PRICES:
            found = []
            for seed in range(1, (1 if survive else min(seeds, 2)) + 1):
                interest, site, price = network_in_sites("6 × 8", seed)
                facts = designed(
                    interest, site, price, relays=hubs_of(interest, site), row_price=row_price, survive=survive
                )
                facts["meshed"] = facts["price"] / hubs_meshed(interest, site, price, row_price)
                found.append(facts)
            yield ({"survive": survive, "row_price": row_price, "must": MUST["relays"], **means(found)})


def survive(seeds):
    """Any site may fail, and nobody relays; beside gm2, which survives any one node."""
    found = []
    for seed in range(1, seeds + 1):
        interest, site, price = network_in_sites("6 × 8", seed)
        facts = designed(interest, site, price, survive=True)
        facts["gm2"] = facts["price"] / price_of_overlay(site, price, 0, tl.design(interest, "gm2"))
        found.append(facts)
    yield {"size": "6 × 8", "must": MUST["survive"], **means(found)}


def caps(_):
    """The smallest of some caps for which a design is found."""
    for popularity, tried in (("uniform", (8,)), ("zipf", (6, 5)), ("exponential", (6, 5))):
        interest = tl.generate(nodes=2000, topics=200, subscriptions=20, popularity=popularity, seed=1)
        found = None
        began = time.process_time()
        for cap in tried:
            network = open_network(2000, interest.n_topics, cap=np.full(2000, cap))
            overlay = design_network(interest, network, effort=1.0)
            if not overlay.verify().ok or overlay.degree().max() > cap:
                break
            found = {"cap": cap, "links": overlay.n_links}
        greedy = int(tl.minmax_oda(interest).degree().max())
        yield (
            {
                "popularity": popularity,
                "minmax": greedy,
                "seconds": time.process_time() - began,
                **(found or {"cap": None, "links": None}),
            }
        )


def keep(_):
    """A network after a year: what keeping links costs, and saves in changes."""
    interest, site, price = network_in_sites("6 × 8", 1)
    old = design_network(interest, rules_of(interest, site, price), effort=0.3)
    rng = np.random.default_rng(1)
    moved = rng.permutation(interest.n_subscriptions)[: interest.n_subscriptions // 10]
    topics = interest.topics.copy()
    topics[moved] = topics[rng.permutation(moved)]
    now = tl.Interest.from_ids(interest.nodes, topics, n_nodes=interest.n_nodes, n_topics=interest.n_topics)
    for share in (0.0, 0.2, 0.4, 0.6, 0.8):
        network = rules_of(now, site, price, standing=old.links, keep=share)
        overlay = design_network(now, network)
        if faults(now, network, overlay):
            raise AssertionError("a design that keeps links breaks a rule")
        facts = overlay.report["network"]
        yield (
            {
                "keep": share,
                "price": facts["price_of_links"],
                "kept": facts["kept"],
                "added": facts["added"],
                "removed": facts["removed"],
            }
        )


def means(found):
    """Mean of each fact over seeds, with the worst ratio and the number of seeds."""
    facts = {name: mean(one[name] for one in found) for name in found[0]}
    return {**facts, "worst": max(one["ratio"] for one in found), "seeds": len(found)}


PARTS = {"prices": prices, "relays": relays, "survive": survive, "caps": caps, "keep": keep}


def document(results):
    """The page of docs/, from what is stored."""
    lines = ["# Designs for networks in sites", "", *(f"{line}" for line in _INTRODUCTION), ""]
    if "prices" in results:
        lines += _table(
            "Prices",
            ("sites × brokers", "seeds", "gm / bound", "ours / bound", "worst", "must be", "CPU s"),
            (
                [
                    r["size"],
                    r["seeds"],
                    f"{r['gm']:.2f}",
                    f"**{r['ratio']:.3f}**",
                    f"{r['worst']:.3f}",
                    f"≤ {r['must']}",
                    f"{r['seconds']:.1f}",
                ]
                for r in results["prices"]
            ),
        )
    if "relays" in results:
        lines += _table(
            "Six hubs may relay, 6 × 8",
            (
                "any site may fail",
                "price of a row",
                "seeds",
                "price",
                "bound",
                "ours / bound",
                "must be",
                "ours / hubs meshed",
                "must be",
            ),
            (
                [
                    "yes" if r["survive"] else "no",
                    r["row_price"],
                    r["seeds"],
                    f"{r['price']:.1f}",
                    f"{r['bound']:.1f}",
                    f"**{r['ratio']:.3f}**",
                    f"≤ {r['must']}",
                    f"{r['meshed']:.2f}",
                    f"≤ {MUST['hubs']}",
                ]
                for r in results["relays"]
            ),
        )
    if "survive" in results:
        lines += _table(
            "Any site may fail, nobody relays",
            ("sites × brokers", "seeds", "ours / bound", "worst", "must be", "ours / gm2", "must be"),
            (
                [
                    r["size"],
                    r["seeds"],
                    f"**{r['ratio']:.3f}**",
                    f"{r['worst']:.3f}",
                    f"≤ {r['must']}",
                    f"{r['gm2']:.2f}",
                    f"≤ {MUST['gm2']}",
                ]
                for r in results["survive"]
            ),
        )
    if "caps" in results:
        lines += _table(
            "Caps: 2,000 nodes, 200 topics, 20 subscriptions each",
            ("popularity", "maximum of minmax-oda", "cap kept", "links", "CPU s"),
            (
                [
                    r["popularity"],
                    r["minmax"],
                    f"**{r['cap'] or 'none of those tried'}**",
                    r["links"] or "–",
                    f"{r['seconds']:.0f}",
                ]
                for r in results["caps"]
            ),
        )
    if "keep" in results:
        lines += _table(
            "Links that stand, 6 × 8 after a tenth of the subscriptions moved",
            ("keep", "price", "kept", "added", "removed"),
            ([r["keep"], f"{r['price']:.1f}", r["kept"], r["added"], r["removed"]] for r in results["keep"]),
        )
    run = results["run"]
    lines += [
        f"Measured on {run['date']} at {run['commit']} on {run['cpu']}, {run['cores']} cores, Python {run['python']}."
    ]
    return "\n".join(lines) + "\n"


_INTRODUCTION = (
    "Written by `python -m benchmarks.network` from `benchmarks/network.json`. The networks are drawn by",
    "`benchmarks/networks_in_sites.py`: a link costs 1 inside a site and 10 to 100 between sites. Every design was",
    "judged by plain Python that shares no code with the engine, failures of sites by deletion. The bound is",
    "certified: no design costs less.",
)


def _table(title, head, rows):
    body = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return [f"## {title}", "", "| " + " | ".join(head) + " |", "|" + "--|" * len(head), *body, ""]


def main():
    """Measure the parts asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all unless given")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    results = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for name in given.parts or PARTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        results[name] = []
        for row in PARTS[name](given.seeds):
            results[name].append(row)
            results["run"] = circumstances(ROOT)
            STORED.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            PAGE.write_text(document(results), encoding="utf-8")
    print(document(results))


if __name__ == "__main__":
    main()
