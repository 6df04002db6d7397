#!/usr/bin/env python3
"""Check a certificate: these links connect every topic, and no overlay has fewer than the bound. Plain Python.

    python certificate_checker.py CERTIFICATE SUBSCRIPTIONS.csv

The table has a header with the columns ``node`` and ``topic``. A name that ends in ``.gz`` is unpacked.

Why a certificate proves its bound: an overlay contains a spanning tree of every topic. Let every topic pay a price for
each pair of its subscribers, such that the topics of a pair pay at most SCALE together. A link then earns at most
SCALE, and the tree of a topic costs at least its cheapest spanning tree. So SCALE · links is at least the sum of the
cheapest trees. All numbers are whole, and Python's are exact.

The format, one item a line, numbers in decimal:

    topicloom certificate 1
    interest NODES TOPICS SUBSCRIPTIONS SHA256      of the sorted lines '["node","topic"]', ASCII JSON
    bound B
    links N                                         followed by N lines 'u v'
    prices KIND                                     'pairs', 'potentials' or 'none'; a line for every topic or node
    end

Nodes and topics are numbers in the order of their names, by code point. With 'pairs' there is a line for every topic:
the price of each pair of its subscribers, (first, second), (first, third) … With 'potentials' there is a line for every
node: a number from 0 to 2^15 for each of its topics. A topic then pays for a pair SCALE times the product of both
numbers, divided by the sum of such products over the shared topics, rounded down. '0*7' stands for seven zeros.
"""

import csv
import gzip
import hashlib
import json
import re
import sys

SCALE = 1 << 20
HIGHEST_POTENTIAL = 1 << 15
MOST_DIGITS = 18
NUMBER = re.compile(r"0|[1-9][0-9]*")


class CertificateError(Exception):
    """The certificate proves nothing, and why."""


def check(lines, pairs):
    """Check a certificate against subscriptions.

    ``lines`` are those of the certificate, and ``pairs`` (node, topic), repeats allowed. Returns (links, bound). Raises
    `CertificateError` with the reason if any part of it does not hold.
    """
    wants, wanted_by, fingerprint = read_interest(pairs)
    found = iter(line.rstrip("\n") for line in lines)
    if next(found, None) != "topicloom certificate 1":
        raise CertificateError("this is not a certificate of format 1")
    subscriptions = sum(map(len, wants))
    expected = f"interest {len(wants)} {len(wanted_by)} {subscriptions} {fingerprint}"
    if next(found, None) != expected:
        raise CertificateError(f"it is for other subscriptions; those given are '{expected}'")
    bound = number_after("bound", next(found, ""))
    links = read_links(found, number_after("links", next(found, "")), len(wants))
    check_links(wanted_by, links)
    kind = next(found, "")
    if kind == "prices pairs":
        proved = proved_by_pairs(wants, wanted_by, found)
    elif kind == "prices potentials":
        proved = proved_by_potentials(wants, wanted_by, found)
    elif kind == "prices none":
        proved = proved_by_components(wants, wanted_by)
    else:
        raise CertificateError(f"'{kind[:40]}' is no kind of prices")
    if next(found, None) != "end" or next(found, None) is not None:
        raise CertificateError("it does not end where it should")
    if bound > proved:
        raise CertificateError(f"it says that no overlay has fewer than {bound} links, and proves {proved}")
    return len(links), bound


def read_interest(pairs):
    """Number nodes and topics. Returns the topics of each node, the nodes of each topic, both ascending, and a hash."""
    subscriptions = sorted(set(pairs))
    digest = hashlib.sha256()
    for node, topic in subscriptions:
        digest.update((json.dumps([node, topic], separators=(",", ":")) + "\n").encode("ascii"))
    node_number = {name: i for i, name in enumerate(sorted({node for node, _ in subscriptions}))}
    topic_number = {name: i for i, name in enumerate(sorted({topic for _, topic in subscriptions}))}
    wants = [[] for _ in node_number]
    wanted_by = [[] for _ in topic_number]
    for node, topic in subscriptions:
        wants[node_number[node]].append(topic_number[topic])
        wanted_by[topic_number[topic]].append(node_number[node])
    return wants, wanted_by, digest.hexdigest()


def number_after(word, line):
    """Read a line of a word and a number."""
    head, _, tail = line.partition(" ")
    if head != word:
        raise CertificateError(f"'{word}' is missing; there is '{line[:40]}'")
    return whole_number(tail)


def whole_number(text):
    """Read a whole number >= 0 as this format writes it."""
    if len(text) > MOST_DIGITS or not NUMBER.fullmatch(text):
        raise CertificateError(f"'{text[:40]}' is not a whole number of at most {MOST_DIGITS} digits")
    return int(text)


def read_links(lines, count, nodes):
    """Read the given number of links u < v, none of them twice."""
    links = set()
    for _ in range(count):
        ends = next(lines, "").split(" ")
        u, v = (whole_number(ends[0]), whole_number(ends[1])) if len(ends) == 2 else (0, 0)
        if not u < v < nodes or (u, v) in links:
            raise CertificateError(f"'{' '.join(ends)[:40]}' is no link, or one that was named before")
        links.add((u, v))
    return links


def check_links(wanted_by, links):
    """Refuse links over which the subscribers of a topic do not all reach each other among themselves."""
    near = {}
    for u, v in links:
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    for topic, members in enumerate(wanted_by):
        left = set(members)
        waiting = [members[0]]
        left.discard(members[0])
        while waiting:
            for other in near.get(waiting.pop(), ()):
                if other in left:
                    left.discard(other)
                    waiting.append(other)
        if left:
            raise CertificateError(f"the links leave topic number {topic} in pieces")


def read_prices(lines, count, highest):
    """Read a line with the given number of numbers, each from 0 to the highest."""
    prices = []
    for word in next(lines, "").split(" "):
        if word.startswith("0*"):
            zeros = whole_number(word[2:])
            if not 0 < zeros <= count - len(prices):
                raise CertificateError("a line has too many zeros")
            prices.extend([0] * zeros)
        elif word:
            prices.append(whole_number(word))
    if len(prices) != count or max(prices, default=0) > highest:
        raise CertificateError(f"a line needs {count} numbers from 0 to {highest}")
    return prices


def proved_by_pairs(wants, wanted_by, lines):
    """Add up the cheapest trees under prices of pairs. Refuses prices that a pair cannot have."""
    paid = [{} for _ in wants]
    total = 0
    for members in wanted_by:
        size = len(members)
        prices = read_prices(lines, size * (size - 1) // 2, SCALE)
        start, rows = 0, []
        for i, u in enumerate(members):
            row = prices[start : start + size - i - 1]
            start += size - i - 1
            rows.append(row)
            own = paid[u]
            for v, price in zip(members[i + 1 :], row):
                if price:
                    own[v] = own.get(v, 0) + price
                    if own[v] > SCALE:
                        raise CertificateError(f"the topics of nodes {u} and {v} pay {own[v]}, more than {SCALE}")
        total += cheapest_tree(size, lambda i, j, rows=rows: rows[i][j - i - 1] if i < j else rows[j][i - j - 1])
    return -(-total // SCALE)


def proved_by_potentials(wants, wanted_by, lines):
    """Add up the cheapest trees under prices that follow from a number for every subscription."""
    potential = [dict(zip(topics, read_prices(lines, len(topics), HIGHEST_POTENTIAL))) for topics in wants]
    total = 0
    for topic, members in enumerate(wanted_by):
        if any(potential[v][topic] for v in members):

            def price(i, j, topic=topic, members=members):
                one, other = potential[members[i]], potential[members[j]]
                product = one[topic] * other[topic]
                return product * SCALE // sum(one[t] * other[t] for t in one.keys() & other.keys()) if product else 0

            total += cheapest_tree(len(members), price)
    return -(-total // SCALE)


def cheapest_tree(size, price):
    """Cost of the cheapest spanning tree (Prim)."""
    cheapest = {j: price(0, j) for j in range(1, size)}
    total = 0
    while cheapest:
        nearest = min(cheapest, key=cheapest.__getitem__)
        total += cheapest.pop(nearest)
        for j, least in cheapest.items():
            cheapest[j] = min(least, price(nearest, j))
    return total


def proved_by_components(wants, wanted_by):
    """Count nodes less the pieces that shared topics join them to. Any overlay has at least that many links."""
    seen, pieces = set(), 0
    for first in range(len(wants)):
        if first not in seen:
            pieces += 1
            seen.add(first)
            waiting = [first]
            while waiting:
                for topic in wants[waiting.pop()]:
                    fresh = [v for v in wanted_by[topic] if v not in seen]
                    seen.update(fresh)
                    waiting.extend(fresh)
    return len(wants) - pieces


def opened(path):
    """Open a text file, unpacked if its name says so."""
    return (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="")


def main(certificate, table):
    """Print what a certificate proves. Returns the exit code: 0 it holds, 1 it does not."""
    csv.field_size_limit(1 << 20)
    with opened(table) as rows:
        pairs = [(row["node"], row["topic"]) for row in csv.DictReader(rows)]
    with opened(certificate) as lines:
        try:
            links, bound = check(lines, pairs)
        except CertificateError as reason:
            print(f"refused: {reason}")
            return 1
    print(f"these {links} links connect every topic; no overlay has fewer than {bound}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]) if len(sys.argv) == 3 else __doc__)
